// SPDX-License-Identifier: MIT
//
// Programs from files, in the language that the words, the first bytes or the name say; `-` is
// standard input. FILE:ENTRY names one of a file's entries. The caller releases the program. Any
// thread.
#ifndef VYRE_CLI_LOAD_H
#define VYRE_CLI_LOAD_H

#include "cli/source.h"

typedef struct loaded {
  vyre_program *program;
  vyre_language_info language;
  char *source; // the bytes of the file; freed by load_free
  size_t size;
} loaded;

// `words` may be NULL.
vyre_status load_program(const char *path, const source_words *words, loaded *out,
                         vyre_error *error);
void load_free(loaded *l);
// The language of a file that was not read yet, by the words and its name.
vyre_language_info load_language(const char *path, const source_words *words);

#endif
