/* SPDX-License-Identifier: MIT
 *
 * The arguments of a Python call as those of a dispatch. A signature says which argument is which
 * parameter or buffer, which parameters are taken from shapes or from `grid`; binding checks each
 * argument and names it in what it raises. With the GIL.
 */
#ifndef VYRE_PYTHON_BIND_H
#define VYRE_PYTHON_BIND_H

#include "limited.h"
#include "memory.h"

#include <vyre/vyre.h>

enum { BIND_PARAMS = 256, BIND_BUFFERS = 128, BIND_ARGS = BIND_PARAMS + BIND_BUFFERS };

typedef struct bind_arg {
  PyObject *name;      // interned, owned
  PyObject *default_;  // owned, or NULL
  PyObject *kept_name; // the bytes that want.name points to, owned
  bool is_buffer;
  uint32_t element_bytes; // of a buffer
  uint32_t index;         // of the parameter, or of the buffer among those that are bound
  memory_want want;       // of a buffer; of a parameter its name and type
} bind_arg;

typedef enum bind_source {
  BIND_FROM_SHAPE, // an extent of an argument
  BIND_FROM_COUNT, // its elements
  BIND_FROM_GRID   // an extent of `grid`
} bind_source;

typedef struct bind_derived { // a parameter that the caller does not write
  uint32_t param, arg, axis;
  bind_source source;
} bind_derived;

typedef struct signature {
  char *kernel; // its name, for messages
  uint32_t arg_count, derived_count, param_count, buffer_count, grid_rank;
  bind_arg *args;
  bind_derived *derived;
  vyre_type param_types[BIND_PARAMS];
} signature;

/* From the program, [(name, is_buffer, index, ndim, default or ...)] and
 * [(param, kind, arg, axis)]. NULL with an exception. */
signature *signature_new(const vyre_program *program, const char *name, PyObject *args,
                         PyObject *derived);
void signature_free(signature *s);

/* A bound call. Large, and not cleared: only what the counts tell is there. */
typedef struct bound {
  vyre_dispatch_args args;
  uint32_t held_count;
  vyre_scalar params[BIND_PARAMS];
  vyre_span spans[BIND_BUFFERS];
  vyre_buffer *handles[BIND_BUFFERS];
  memory held[BIND_BUFFERS]; // of those that have to be given back
} bound;

/* Binds positional arguments, and those that `names` (a tuple or NULL) tells, which stand behind
 * them: also grid, workgroup, timeout, threads and fuel, where no argument has that name. */
bool bind_call(const signature *s, PyObject *const *args, Py_ssize_t count, PyObject *names,
               bound *out);
void bind_release(bound *b);

#endif
