// SPDX-License-Identifier: MIT
//
// vyre: the library for people. Finds the command, runs it, and turns what happened into an exit
// code: 0 fine, 1 the input is wrong, 2 usage, 3 environment, 4 a check found something.
#include "base/error.h"
#include "base/format.h"
#include "base/warning.h"
#include "cli/cli.h"
#include "cli/nearest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const command *const commands[] = {
    &check_command,   &fmt_command,     &info_command,    &convert_command, &opt_command,
    &compile_command, &run_command,     &devices_command, &conform_command, &certify_command,
    &tune_command,    &explain_command, &profile_command, &report_command,  &bench_command,
    &cache_command,   &lsp_command,
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int show_help(FILE *to) {
  fputs("vyre: data-parallel kernels that give the same bits on every device\n"
        "\n"
        "usage: vyre COMMAND [words and options]\n"
        "\n",
        to);
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    fprintf(to, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
  fputs("  help      how to use a command: vyre help run\n"
        "\n"
        "Every command takes --help and --json. Programs are read from files in text form (.vyre)\n"
        "or wire form (.vyreb); - is standard input.\n"
        "\n"
        "exit status: 0 fine, 1 the input is wrong, 2 usage, 3 environment (files, devices), 4 a\n"
        "check found something\n"
        "\n"
        "examples:\n"
        "  vyre run saxpy.vyre a=2 x=iota:8 y=ones:8 --print y\n"
        "  vyre check saxpy.vyre\n",
        to);
  return to == stdout ? EXIT_FINE : EXIT_USAGE;
}

static const command *find_command(const char *name) {
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (!strcmp(commands[i]->name, name)) return commands[i];
  return NULL;
}

static int unknown_command(const cli *c, const char *name) {
  nearest n = nearest_begin(name);
  for (size_t i = 0; i < COMMAND_COUNT; i++) nearest_offer(&n, commands[i]->name);
  nearest_offer(&n, "help");
  if (n.best)
    return cli_usage(c, "there is no command `%s`. Fix: did you mean `vyre %s`?", name, n.best);
  return cli_usage(c, "there is no command `%s`. Fix: `vyre help` lists them", name);
}

static int help_command(const cli *c, const char *name) {
  if (!name) return show_help(stdout);
  const command *found = find_command(name);
  if (!found) return unknown_command(c, name);
  fputs(found->help, stdout);
  return EXIT_FINE;
}

static int show_version(const cli *c) {
  if (c->json) return cli_json(json_pack("{s:s}", "version", vyre_version()));
  printf("vyre %s\n", vyre_version());
  return EXIT_FINE;
}

// --json and --help count wherever they stand, up to a --.
static bool has_flag(int argc, char **argv, const char *flag) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (!strcmp(argv[i], flag)) return true;
  return false;
}

static int dispatch(cli *c, int argc, char **argv) {
  int first = 1;
  while (first < argc && !strcmp(argv[first], "--json")) first++;
  if (first == argc) return show_help(stderr);
  const char *name = argv[first];
  if (!strcmp(name, "help")) return help_command(c, first + 1 < argc ? argv[first + 1] : NULL);
  if (!strcmp(name, "--help") || !strcmp(name, "-h")) return show_help(stdout);
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) return show_version(c);
  c->command = find_command(name);
  if (!c->command) return unknown_command(c, name);
  if (has_flag(argc - first, argv + first, "--help")) return help_command(c, name);
  return c->command->run(c, argc - first - 1, argv + first + 1);
}

int main(int argc, char **argv) {
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  cli c = {.json = has_flag(argc, argv, "--json"),
           .color = isatty(STDERR_FILENO) && !(no_color && *no_color) &&
                    !(term && !strcmp(term, "dumb"))};
  int code = dispatch(&c, argc, argv);
  note_sink notes = cli_notes();
  warning_take(&notes);
  errno = 0;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    vyre_error error;
    error_set(&error, VYRE_ERROR_IO,
              "cannot write to standard output: %s. Fix: check where it goes",
              errno ? format_errno(errno) : "write error");
    c.json = false;
    return cli_error(&c, &error);
  }
  return code;
}
