// SPDX-License-Identifier: MIT
//
// Programs from files: OpenCL C (.cl), text or wire form, the last two told apart by the first
// byte;
// `-` is standard input. FILE:ENTRY names one of a file's kernels. The caller releases the program.
// Any thread.
#ifndef VYRE_CLI_LOAD_H
#define VYRE_CLI_LOAD_H

#include "cli/opencl.h"

typedef struct loaded {
  vyre_program *program;
  bool is_wire, is_opencl;
  char *source; // the bytes of the file; freed by load_free
  size_t size;
} loaded;

// `words` (may be NULL) is for OpenCL C only.
vyre_status load_program(const char *path, const opencl_words *words, loaded *out,
                         vyre_error *error);
void load_free(loaded *l);
bool load_is_opencl(const char *path); // by its name, with or without :ENTRY
const char *load_form_name(const loaded *l);

#endif
