// SPDX-License-Identifier: MIT
//
// Reads the words of a command line against a table of options: --name value, --name=value, -n
// value, flags, and plain words in any order; -- ends the options. The words are borrowed. One
// thread.
#ifndef VYRE_CLI_ARGS_H
#define VYRE_CLI_ARGS_H

#include "cli/cli.h"

typedef struct args_option {
  char letter;       // what args_next returns; also -x, unless it is an upper-case letter
  const char *name;  // without the dashes; NULL ends the table
  const char *value; // what to call its value in messages; NULL for a flag
} args_option;

enum { ARGS_END = -1, ARGS_ERROR = -2, ARGS_WORD = -3, ARGS_BUILD = -4 };

typedef struct args {
  const cli *cli;
  const args_option *options;
  int count, next;
  char **words;
  bool only_words;
  bool takes_build; // give words such as -DN=4 as ARGS_BUILD; set after args_begin
  bool ends_build;  // the next word belongs to a lone -D, -U or -I
  char *value;      // of the option, or the word
} args;

args args_begin(const cli *c, const args_option *options, int argc, char **argv);
// The letter of an option, ARGS_WORD, ARGS_BUILD for an option of OpenCL's compiler, ARGS_END, or
// ARGS_ERROR after the message was printed.
int args_next(args *a);

// Values. Each prints its message and returns false when the text is not one.
bool args_u64(const args *a, const char *option, uint64_t *out);
bool args_count(const args *a, const char *option, uint64_t most, uint64_t *out); // from 1
bool args_seconds(const args *a, const char *option, uint64_t *out_ns);
// One to three numbers, separated by commas; those left out become `rest`.
bool args_extents(const args *a, const char *option, uint64_t limit, uint64_t rest,
                  uint64_t out[3]);

#endif
