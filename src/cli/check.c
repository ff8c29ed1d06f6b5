// SPDX-License-Identifier: MIT
#include "base/file.h"
#include "cli/args.h"
#include "cli/load.h"
#include "ir/limits.h"

#include <stdio.h>
#include <unistd.h>

static const args_option check_options[] = {{'q', "quiet", NULL}, SOURCE_OPTIONS, {0, NULL, NULL}};

static json_t *file_json(const char *path, const vyre_program *p, const vyre_error *error) {
  json_t *o = json_object();
  json_object_set_new(o, "file", cli_text(path));
  json_object_set_new(o, "ok", json_boolean(p != NULL));
  if (p) {
    json_object_set_new(o, "program", json_string(vyre_program_name(p)));
    json_object_set_new(o, "regions", json_integer(vyre_program_region_count(p)));
  } else {
    json_object_set_new(o, "error", cli_error_json(error));
  }
  return o;
}

// Adds to `files` when there is one; prints otherwise.
static int check_file(const cli *c, const char *path, const source_words *words, bool quiet,
                      json_t *files) {
  loaded l;
  vyre_error error;
  vyre_status status = load_program(path, words, &l, &error);
  if (files)
    json_array_append_new(files, file_json(path, l.program, &error));
  else if (status != VYRE_OK)
    cli_error(c, &error);
  else if (!quiet) {
    vyre_stats s = vyre_program_stats(l.program);
    printf("%s: ok, program `%s`, %llu region%s, %llu operations\n", path,
           vyre_program_name(l.program), (unsigned long long)s.top_level_regions,
           s.top_level_regions == 1 ? "" : "s", (unsigned long long)s.instruction_count);
  }
  load_free(&l);
  return cli_exit_code(status);
}

// All entries of a file; what is wrong with the file itself shows with the first.
static int check_entries(const cli *c, const char *path, const source_words *words, bool quiet,
                         json_t *files) {
  char *text = NULL;
  size_t size;
  vyre_error error;
  vyre_source_entry *entries = NULL;
  const char *language = load_language(path, words).name;
  uint32_t count = 0;
  int code = EXIT_FINE;
  if (file_read(path, LIMIT_SOURCE_BYTES, &text, &size, &error) != VYRE_OK ||
      source_entries(language, text, size, path, words, &entries, &count, &error) != VYRE_OK ||
      count < 2) {
    code = check_file(c, path, words, quiet, files);
  }
  for (uint32_t i = 0; i < count && count > 1; i++) {
    strbuf one = {0};
    strbuf_printf(&one, "%s:%s", path, entries[i].name);
    char *name = strbuf_take(&one, NULL);
    int now = name ? check_file(c, name, words, quiet, files) : EXIT_ENVIRONMENT;
    if (now > code) code = now;
    free(name);
  }
  vyre_free(entries);
  free(text);
  return code;
}

static int check_all(const cli *c, int count, char **paths, const source_words *words, bool quiet) {
  int code = EXIT_FINE;
  json_t *files = c->json ? json_array() : NULL;
  for (int i = 0; i < count; i++) {
    bool has_entries = load_language(paths[i], words).has_launch && access(paths[i], F_OK) == 0;
    int now = has_entries ? check_entries(c, paths[i], words, quiet, files)
                          : check_file(c, paths[i], words, quiet, files);
    if (now > code) code = now;
  }
  if (files) cli_json(json_pack("{s:o}", "files", files));
  return code;
}

static int run(cli *c, int argc, char **argv) {
  bool quiet = false;
  int count = 0, code = EXIT_FINE;
  source_words words = {0};
  args a = args_begin(c, check_options, argc, argv);
  a.takes_build = true;
  for (int letter; (letter = args_next(&a)) != ARGS_END && code == EXIT_FINE;) {
    bool ok = letter != ARGS_ERROR;
    if (letter == 'q')
      quiet = true;
    else if (ok && !source_take(&words, &a, letter, &ok))
      argv[count++] = a.value; // behind what was read
    if (!ok) code = EXIT_USAGE;
  }
  if (code == EXIT_FINE && !count)
    code = cli_usage(c, "no file is named. Fix: run `vyre check FILE ...`");
  if (code == EXIT_FINE) code = check_all(c, count, argv, &words, quiet);
  source_words_free(&words);
  return code;
}

const command check_command = {
    "check", "say whether programs are well-formed",
    "usage: vyre check [-q] [--json] FILE[:KERNEL]...\n"
    "\n"
    "Reads each program (text or wire form, or OpenCL C; - is standard input) and verifies it. A\n"
    "mistake is shown with its place, its rule (docs/IR.md lists them) and what to do. Of a .cl\n"
    "file all kernels are checked.\n"
    "\n"
    "options:\n"
    "  -q, --quiet   say nothing about files that are fine\n"
    "      --json    one object per file\n"
    "\n" SOURCE_HELP "\n"
    "exit status: 0 all are fine, 1 a program is wrong, 3 a file cannot be read\n"
    "\n"
    "examples:\n"
    "  vyre check saxpy.vyre\n"
    "  vyre check -q kernels/*.vyre && echo fine\n",
    run};
