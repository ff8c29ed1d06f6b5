// SPDX-License-Identifier: MIT
#include "base/file.h"
#include "cli/args.h"
#include "cli/load.h"
#include "ir/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const args_option check_options[] = {{'q', "quiet", NULL}, SOURCE_OPTIONS, {0, NULL, NULL}};

// `errors` are all of a file, where more than the first is known; taken.
static json_t *file_json(const char *path, const vyre_program *p, const vyre_error *error,
                         json_t *errors) {
  json_t *o = json_object();
  json_object_set_new(o, "file", cli_text(path));
  json_object_set_new(o, "ok", json_boolean(p != NULL));
  if (p) {
    json_object_set_new(o, "program", json_string(vyre_program_name(p)));
    json_object_set_new(o, "regions", json_integer(vyre_program_region_count(p)));
  } else {
    json_object_set_new(o, "error", cli_error_json(error));
    if (errors) json_object_set_new(o, "errors", errors);
  }
  return o;
}

typedef struct checking {
  const cli *cli;
  const char *path;
  bool is_quiet;
  json_t *files; // NULL: print
  int code;
} checking;

// `name` is the file, or the file and a kernel.
static void show_result(checking *k, const char *name, const vyre_program *p,
                        const vyre_error *error) {
  int now = p ? EXIT_FINE : cli_exit_code(error->status);
  if (k->files)
    json_array_append_new(k->files, file_json(name, p, error, NULL));
  else if (!p)
    cli_error(k->cli, error);
  else if (!k->is_quiet) {
    vyre_stats s = vyre_program_stats(p);
    printf("%s: ok, program `%s`, %llu region%s, %llu operations\n", name, vyre_program_name(p),
           (unsigned long long)s.top_level_regions, s.top_level_regions == 1 ? "" : "s",
           (unsigned long long)s.instruction_count);
  }
  if (now > k->code) k->code = now;
}

typedef struct telling {
  const checking *k;
  json_t *errors; // NULL: print
  unsigned count;
} telling;

static void tell(void *data, const vyre_error *mistake) {
  telling *t = data;
  t->count++;
  if (t->errors)
    json_array_append_new(t->errors, cli_error_json(mistake));
  else
    cli_error(t->k->cli, mistake);
}

// Every mistake of a source that is one program. False when it is to be shown in another way.
static bool show_mistakes(checking *k, const source_words *words, const vyre_error *first) {
  char *text = NULL;
  size_t size;
  vyre_error error;
  bool is_known = !strcmp(load_language(k->path, words).name, "text") && strcmp(k->path, "-") != 0;
  if (!is_known || access(k->path, F_OK) != 0 ||
      file_read(k->path, LIMIT_SOURCE_BYTES, &text, &size, &error) != VYRE_OK)
    return false;
  // What begins with the bytes of another language is that, whatever its name.
  if (!words->language && strcmp(vyre_language_guess(k->path, text, size), "text") != 0) {
    free(text);
    return false;
  }
  telling t = {k, k->files ? json_array() : NULL, 0};
  source_check("text", text, size, k->path, words, tell, &t, &error);
  free(text);
  if (!t.count) {
    json_decref(t.errors);
    return false;
  }
  if (k->files)
    json_array_append_new(k->files, file_json(k->path, NULL, first, t.errors));
  else if (t.count > 1)
    fprintf(stderr, "%s: %u mistakes\n", k->path, t.count);
  int now = cli_exit_code(first->status);
  if (now > k->code) k->code = now;
  return true;
}

static void check_file(checking *k, const source_words *words) {
  loaded l;
  vyre_error error;
  load_program(k->path, words, &l, &error);
  if (l.program || !show_mistakes(k, words, &error)) show_result(k, k->path, l.program, &error);
  load_free(&l);
}

static void check_entry(void *data, const vyre_source_result *r) {
  checking *k = data;
  strbuf one = {0};
  strbuf_puts(&one, k->path);
  if (r->count > 1) strbuf_printf(&one, ":%s", r->entry);
  char *name = strbuf_take(&one, NULL);
  show_result(k, name ? name : k->path, r->program, r->error);
  free(name);
}

// All entries of a file.
static void check_entries(checking *k, const char *language, const source_words *words) {
  char *text = NULL;
  size_t size;
  vyre_error error;
  const char *name = strcmp(k->path, "-") ? k->path : "<stdin>";
  if (file_read(k->path, LIMIT_SOURCE_BYTES, &text, &size, &error) != VYRE_OK ||
      source_each(language, text, size, name, words, check_entry, k, &error) != VYRE_OK) {
    if (!error.file[0]) snprintf(error.file, sizeof error.file, "%s", name);
    show_result(k, k->path, NULL, &error);
  }
  free(text);
}

static int check_all(const cli *c, int count, char **paths, const source_words *words, bool quiet) {
  checking k = {.cli = c, .is_quiet = quiet, .files = c->json ? json_array() : NULL};
  for (int i = 0; i < count; i++) {
    k.path = paths[i];
    vyre_language_info language = load_language(paths[i], words);
    bool is_file = access(paths[i], F_OK) == 0 || !strcmp(paths[i], "-");
    if (language.has_launch && is_file)
      check_entries(&k, language.name, words);
    else
      check_file(&k, words);
  }
  if (k.files) cli_json(json_pack("{s:o}", "files", k.files));
  return k.code;
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
    "mistake is shown with its place, its rule (docs/IR.md lists them) and what to do: all of a "
    ".vyre\n"
    "file (up to 100), the first of each kernel of a .cl file.\n"
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
