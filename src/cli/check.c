// SPDX-License-Identifier: MIT
#include "cli/args.h"
#include "cli/load.h"

#include <stdio.h>

static const args_option check_options[] = {{'q', "quiet", NULL}, {0, NULL, NULL}};

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
static int check_file(const cli *c, const char *path, bool quiet, json_t *files) {
  loaded l;
  vyre_error error;
  vyre_status status = load_program(path, NULL, &l, &error);
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

static int run(cli *c, int argc, char **argv) {
  bool quiet = false;
  int count = 0, code = EXIT_FINE;
  args a = args_begin(c, check_options, argc, argv);
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == ARGS_ERROR) return EXIT_USAGE;
    if (letter == 'q')
      quiet = true;
    else
      argv[count++] = a.value; // behind what was read
  }
  if (!count) return cli_usage(c, "no file is named. Fix: run `vyre check FILE ...`");
  json_t *files = c->json ? json_array() : NULL;
  for (int i = 0; i < count; i++) {
    int now = check_file(c, argv[i], quiet, files);
    if (now > code) code = now;
  }
  if (files) cli_json(json_pack("{s:o}", "files", files));
  return code;
}

const command check_command = {
    "check", "say whether programs are well-formed",
    "usage: vyre check [-q] [--json] FILE...\n"
    "\n"
    "Reads each program (text or wire form; - is standard input) and verifies it. A mistake is\n"
    "shown with its place, its rule (docs/IR.md lists them) and what to do.\n"
    "\n"
    "options:\n"
    "  -q, --quiet   say nothing about files that are fine\n"
    "      --json    one object per file\n"
    "\n"
    "exit status: 0 all are fine, 1 a program is wrong, 3 a file cannot be read\n"
    "\n"
    "examples:\n"
    "  vyre check saxpy.vyre\n"
    "  vyre check -q kernels/*.vyre && echo fine\n",
    run};
