// SPDX-License-Identifier: MIT
//
// The SPEC of `vyre run NAME=SPEC`: a literal, a file or a generator.
//
//   2.5, -7, 0xff, nan, true   a literal; for a buffer also a list: 1,2,3
//   @x.npy @x.csv @x.png       a file: see array_file.h
//   zeros[:N] ones[:N]         N elements that are 0 or 1
//   iota[:N]                   0, 1, 2, ...
//   rand[:N[:SEED]]            the same numbers for the same seed, on every machine: floats uniform
//                              in [0, 1), integers over the type's whole range
//   fill:V[:N]                 N times V
//   local:BYTES                room in workgroup-shared memory
//
// N may be 1e6, 1M or 64Ki, and a product, 480x640x4: the shape of an image, rows first. N may be
// left out where the program declares the buffer's length. Any thread.
#ifndef VYRE_CLI_SPEC_H
#define VYRE_CLI_SPEC_H

#include <vyre/vyre.h>

enum { SPEC_MOST_AXES = 4 }; // layers or depth, rows, columns, channels

typedef enum spec_kind {
  SPEC_LITERAL,
  SPEC_FILE,
  SPEC_ZEROS,
  SPEC_ONES,
  SPEC_IOTA,
  SPEC_RAND,
  SPEC_FILL,
  SPEC_LOCAL,
} spec_kind;

typedef struct spec {
  spec_kind kind;
  const char *text; // borrowed: the literal or list, the path, the value of fill with what follows
  size_t text_size; // of a fill's value
  bool has_count;
  uint64_t count; // elements; bytes for local
  uint64_t shape[SPEC_MOST_AXES];
  uint32_t rank; // of a product; else 0
  uint64_t seed;
} spec;

// `text` is borrowed and must outlive the spec.
vyre_status spec_parse(const char *text, spec *out, vyre_error *error);
static inline bool spec_is_generator(const spec *s) {
  return s->kind >= SPEC_ZEROS;
}
// Elements of a literal list.
uint64_t spec_list_count(const spec *s);
// Fills `count` elements from a list or a generator.
vyre_status spec_fill(const spec *s, vyre_type type, uint64_t count, void *data, vyre_error *error);
// The same of a generator, from element `first` on.
vyre_status spec_fill_part(const spec *s, vyre_type type, uint64_t first, uint64_t count,
                           void *data, vyre_error *error);

#endif
