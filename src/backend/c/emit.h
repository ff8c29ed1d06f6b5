// SPDX-License-Identifier: MIT
//
// A program as one C11 file that needs nothing but the C library: a function with the program's
// parameters and buffers, which gives the same bits as every backend. It runs in the caller's
// thread, one invocation after the other; at a barrier an invocation keeps its values in a frame
// and the next one runs. Pure function: any thread.
#ifndef VYRE_BACKEND_C_EMIT_H
#define VYRE_BACKEND_C_EMIT_H

#include "ir/program.h"

typedef enum c_form {
  C_FILE,   // with the function
  C_HEADER, // its declaration
  C_MODULE, // with C_ENTRY instead
} c_form;

// Of the type c_entry in c.c. Buffers and lengths have an entry per buffer of the program; *region
// is the number behind the last region that was begun.
#define C_ENTRY "entry_of_vyre"

// What either of them returns.
typedef enum c_result {
  C_RAN,
  C_NO_MEMORY,
  C_BAD_EXTENT, // a grid or a length is negative, too large, or not what was passed
  C_DIVERGED,   // only some of a workgroup reached a barrier
  C_STOPPED,
} c_result;

// *text is malloc'ed. `is_polled`: the function takes a stop flag.
vyre_status c_emit(const vyre_program *program, c_form form, bool is_polled, char **text,
                   size_t *size, vyre_error *error);

#endif
