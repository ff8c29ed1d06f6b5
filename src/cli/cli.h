// SPDX-License-Identifier: MIT
//
// What every command of `vyre` shares: the table of commands, the exit codes, and how results and
// errors reach a person (text, colour on a terminal) or a program (--json). One thread.
#ifndef VYRE_CLI_CLI_H
#define VYRE_CLI_CLI_H

#include "base/note.h"

#include <vyre/vyre.h>

#include <jansson.h>

enum {
  EXIT_FINE = 0,
  EXIT_INPUT = 1,       // what was given is wrong
  EXIT_USAGE = 2,       // how it was called is wrong
  EXIT_ENVIRONMENT = 3, // a file, a device, memory
  EXIT_FOUND = 4,       // a check found something
};

typedef struct command command;

typedef struct cli {
  const command *command;
  bool json;
  bool color; // of messages on standard error
} cli;

struct command {
  const char *name;
  const char *summary;                       // one line for the list
  const char *help;                          // usage, what it does, options, examples
  int (*run)(cli *c, int argc, char **argv); // argv[0] is the first word after the command
};

extern const command check_command, fmt_command, info_command, convert_command, run_command,
    devices_command, opt_command, compile_command, conform_command, certify_command, tune_command,
    explain_command, profile_command, cache_command, report_command, bench_command, lsp_command;

// Prints the error, as text on standard error or as JSON on standard output, and returns the exit
// code for its status.
int cli_error(const cli *c, const vyre_error *error);
// Shows something that was found in a program, like an error, with its kind in front.
void cli_finding(const cli *c, const char *kind, const vyre_error *finding);
// The same for a mistake in the call: the message names the command's help.
int cli_usage(const cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_exit_code(vyre_status status);

// Tells something that is no error, on standard error.
void cli_note(const vyre_error *note);
note_sink cli_notes(void); // that does so

// Prints a value on standard output and frees it.
int cli_json(json_t *value);
json_t *cli_error_json(const vyre_error *error);
// A string for JSON or a terminal: what is no UTF-8, or would steer the terminal, is shown as '?'.
json_t *cli_text(const char *text);

#endif
