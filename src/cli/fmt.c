// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/file.h"
#include "cli/args.h"
#include "cli/load.h"
#include "ir/text_format.h"

#include <stdio.h>
#include <string.h>

typedef enum fmt_mode { TO_STDOUT, IN_PLACE, ONLY_CHECK } fmt_mode;

static const args_option fmt_options[] = {
    {'w', "write", NULL}, {'c', "check", NULL}, {0, NULL, NULL}};

static vyre_status format_loaded(const loaded *l, const char *path, char **text, size_t *size,
                                 vyre_error *error) {
  if (!strcmp(l->language.name, "wire"))
    return error_set(
        error, VYRE_ERROR_ARGUMENT,
        "`%s` is in wire form, which has one layout only. Fix: `vyre convert %s` shows "
        "it as text",
        path, path);
  strbuf out = {0};
  text_format(l->source, l->size, &out);
  *text = strbuf_take(&out, size);
  return *text ? VYRE_OK : error_out_of_memory(error);
}

// Formats one file. *changed tells whether its text differs from the formatted one.
static vyre_status format_file(const char *path, const source_words *words, fmt_mode mode,
                               bool quiet, bool *changed, vyre_error *error) {
  loaded l;
  char *text = NULL;
  size_t size = 0;
  *changed = false;
  vyre_language_info language = load_language(path, NULL);
  if (language.has_launch)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "`%s` is %s, which has formatters of its own. Fix: use clang-format; "
                     "`vyre convert %s` shows the program",
                     path, language.title, path);
  vyre_status status = load_program(path, words, &l, error);
  if (status != VYRE_OK) return status;
  status = format_loaded(&l, path, &text, &size, error);
  if (status == VYRE_OK) {
    *changed = size != l.size || memcmp(text, l.source, size) != 0;
    bool to_stdout = mode == TO_STDOUT || (mode == IN_PLACE && !strcmp(path, "-"));
    if (to_stdout && !quiet) fwrite(text, 1, size, stdout);
    if (mode == IN_PLACE && !to_stdout && *changed) status = file_replace(path, text, size, error);
  }
  vyre_free(text);
  load_free(&l);
  return status;
}

static int format_all(const cli *c, int count, char **paths, const source_words *words,
                      fmt_mode mode) {
  int code = EXIT_FINE;
  json_t *files = c->json ? json_array() : NULL;
  for (int i = 0; i < count; i++) {
    vyre_error error;
    bool changed;
    vyre_status status = format_file(paths[i], words, mode, c->json, &changed, &error);
    int now = status != VYRE_OK ? cli_exit_code(status) : mode == ONLY_CHECK && changed;
    if (files) {
      json_t *o = json_object();
      json_object_set_new(o, "file", cli_text(paths[i]));
      if (status == VYRE_OK)
        json_object_set_new(o, "changed", json_boolean(changed));
      else
        json_object_set_new(o, "error", cli_error_json(&error));
      json_array_append_new(files, o);
    } else if (status != VYRE_OK) {
      cli_error(c, &error);
    } else if (changed && mode == ONLY_CHECK) {
      printf("%s: not formatted. Fix: run `vyre fmt -w %s`\n", paths[i], paths[i]);
    } else if (changed && mode == IN_PLACE && strcmp(paths[i], "-") != 0) {
      printf("%s: formatted\n", paths[i]);
    }
    if (now > code) code = now;
  }
  if (files) cli_json(json_pack("{s:o}", "files", files));
  return code;
}

static int run(cli *c, int argc, char **argv) {
  fmt_mode mode = TO_STDOUT;
  int count = 0, code = EXIT_FINE;
  source_words words = {0};
  args a = args_begin(c, fmt_options, argc, argv);
  a.takes_build = true;
  for (int letter; (letter = args_next(&a)) != ARGS_END && code == EXIT_FINE;) {
    if (letter == ARGS_ERROR)
      code = EXIT_USAGE;
    else if (letter == ARGS_BUILD)
      source_add_option(&words, a.value);
    else if (letter == 'w')
      mode = IN_PLACE;
    else if (letter == 'c')
      mode = ONLY_CHECK;
    else
      argv[count++] = a.value; // behind what was read
  }
  char *standard_input[] = {"-"};
  if (code == EXIT_FINE)
    code = format_all(c, count ? count : 1, count ? argv : standard_input, &words, mode);
  source_words_free(&words);
  return code;
}

const command fmt_command = {
    "fmt", "lay a program's text out",
    "usage: vyre fmt [-w | --check] [--json] [FILE...]\n"
    "\n"
    "Prints the programs (standard input when none is named) with the one indentation and "
    "spacing.\n"
    "What was written stays, comments and line breaks too; `vyre convert --to text` shows the\n"
    "canonical text of a program instead, with all that is short taken apart.\n"
    "\n"
    "options:\n"
    "  -w, --write   change the files instead of printing\n"
    "  -c, --check   change nothing; name the files that are not formatted, exit status 1\n"
    "      --json    say per file whether it is, or was, changed\n"
    "  -Idir         where the text includes files from, as for `vyre run`\n"
    "\n"
    "examples:\n"
    "  vyre fmt saxpy.vyre\n"
    "  vyre fmt -w kernels/*.vyre\n"
    "  vyre fmt --check kernels/*.vyre      # in continuous integration\n",
    run};
