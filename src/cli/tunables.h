// SPDX-License-Identifier: MIT
//
// The space that a program is tuned over: --tunable NAME=V1,V2,... and --where EXPR on the command
// line, lines of the source such as
//   // vyre tunable TILE in 4, 8, 16, 32 where TILE * TILE <= 1024
// the tunables of a program in the text or the wire form, or a file in the T1 format of the
// autotuning community (ConfigurationSpace with TuningParameters and Conditions). A name becomes a
// macro of OpenCL C or the value of a tunable, and can stand in braces in words of the command:
// `tile=local:{TILE * TILE * 4}`. One thread.
#ifndef VYRE_CLI_TUNABLES_H
#define VYRE_CLI_TUNABLES_H

#include "base/vec.h"
#include "cli/args.h"
#include "policy/space.h"

typedef struct tunables {
  vec(const char *) given;  // NAME=V1,V2
  vec(const char *) wheres; // expressions
  const char *file;         // T1; NULL: none
} tunables;

// The letters Q, V and X are taken.
#define TUNABLES_OPTIONS                                                                           \
  {'V', "tunable", "NAME=VALUE,VALUE,..."}, {'X', "where", "an expression"}, {                     \
    'Q', "space", "FILE.json"                                                                      \
  }

bool tunables_option(tunables *t, int letter, const char *value, bool *ok);
void tunables_fini(tunables *t);

// What declares them: the text of the source, and the program where the language has tunables of
// its own (borrowed; NULL otherwise).
typedef struct tunables_source {
  const char *text;
  size_t size;
  const vyre_program *program;
} tunables_source;

// Names that are no macros and no tunables of a program: how many lanes a vector has, how many
// threads there are, and which profile of passes. They stand beside what the source declares.
typedef enum tunables_kind {
  CHOICE_NONE,
  CHOICE_WIDTH,
  CHOICE_THREADS,
  CHOICE_PASSES
} tunables_kind;
tunables_kind tunables_choice(const char *name);

// Whether there are any, on the command line or in the source.
bool tunables_are_there(const tunables *t, const tunables_source *source);
vyre_status tunables_space(const tunables *t, const tunables_source *source, space *out,
                           vyre_error *error);
// The number of the program's tunable of that name, or SPACE_NONE; the program may be NULL.
int tunables_find(const vyre_program *program, const char *name);

// The text with what stands in braces replaced by its value in a configuration; the caller frees.
vyre_status tunables_substitute(const space *s, uint32_t config, const char *text, char **out,
                                vyre_error *error);

#endif
