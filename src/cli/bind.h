// SPDX-License-Identifier: MIT
//
// The arguments of a dispatch from the words of a command line: NAME=SPEC for parameters and
// buffers, --grid for the parameters grid_x, grid_y, grid_z. The parameters NAME.width and so on of
// an image are taken from the shape of the buffer NAME when they are not given. Buffers that are
// only written and have a declared length need no word. bind_free releases what was allocated. One
// thread.
#ifndef VYRE_CLI_BIND_H
#define VYRE_CLI_BIND_H

#include "cli/npy.h"
#include "cli/spec.h"

typedef struct named_buffer {
  vyre_buffer_info info;
  bool is_given;
  spec spec;
  uint64_t count; // elements
  uint64_t shape[SPEC_MOST_AXES];
  uint32_t rank;  // of what was given; 0: it has no shape
  void *data;     // NULL for a transient one
  bool is_later;  // what it holds is read or made in parts, by bind_fill
  npy_array file; // of a file that is read later, without its data
  uint64_t file_elements;
  void *storage; // what to free
} named_buffer;

typedef struct bindings {
  const vyre_program *program;
  uint32_t param_count, buffer_count, span_count;
  vyre_scalar *params;
  bool *param_given;
  named_buffer *buffers; // all of the program's, transient ones too
  vyre_span *spans;      // without the transient ones
  bool is_later;
} bindings;

// `grid` has grid_count extents, 0 when --grid was not used. The words are borrowed.
vyre_status bind_words(const vyre_program *program, char **words, size_t word_count,
                       const uint64_t *grid, uint32_t grid_count, bindings *out, vyre_error *error);
// The same for one of several ranks: `data` of what can be made in parts stays as it is, which
// takes no memory.
vyre_status bind_words_later(const vyre_program *program, char **words, size_t word_count,
                             const uint64_t *grid, uint32_t grid_count, bindings *out,
                             vyre_error *error);
// Elements of a buffer as it was given.
vyre_status bind_fill(const named_buffer *buf, uint64_t first, uint64_t count, void *to,
                      vyre_error *error);
void bind_free(bindings *b);
// The axes of a buffer: those of an image, with its channels last; those that it was given with;
// those of inputs that have as many elements, or as many rows and columns; or one. Returns how
// many.
uint32_t bind_shape(const bindings *b, const named_buffer *buf, uint64_t shape[SPEC_MOST_AXES]);
// The buffer of printf; NULL when the program has none. It need not be given.
named_buffer *bind_printf(bindings *b);
// NULL, with a message, when there is none; transient buffers cannot be looked at.
named_buffer *bind_find(bindings *b, const char *name, vyre_error *error);

#endif
