// SPDX-License-Identifier: MIT
//
// Programs from files: text or wire form, told apart by the first byte; `-` is standard input. The
// caller releases the program. Any thread.
#ifndef VYRE_CLI_LOAD_H
#define VYRE_CLI_LOAD_H

#include <vyre/vyre.h>

typedef struct loaded {
  vyre_program *program;
  bool is_wire;
  char *source; // the bytes of the file; freed by load_free
  size_t size;
} loaded;

// `entry` (may be NULL) names the program in the file.
vyre_status load_program(const char *path, const char *entry, loaded *out, vyre_error *error);
void load_free(loaded *l);

#endif
