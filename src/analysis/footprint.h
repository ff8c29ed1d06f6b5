// SPDX-License-Identifier: MIT
//
// What a part of a launch may touch: for a box of the grid and the numbers of one launch, which
// elements of each buffer the invocations of the box may read, write, or use atomically. It is a
// *may*: outside of it nothing happens, inside of it nothing is said. What cannot be inferred is
// the whole buffer. docs/CLUSTER.md says how it is used, docs/PROOFS.md why it is right.
//
// A footprint_region belongs to a program, which outlives it; it is read-only once made. Any
// thread.
#ifndef VYRE_ANALYSIS_FOOTPRINT_H
#define VYRE_ANALYSIS_FOOTPRINT_H

#include "base/intervals.h"
#include "ir/program.h"

typedef struct footprint_region footprint_region;

// Which operations indices depend on; NULL when out of memory.
footprint_region *footprint_new(const vyre_program *program, uint32_t region);
void footprint_free(footprint_region *r);

typedef struct footprint_launch {
  const uint64_t *params;  // canonical bits
  const uint64_t *lengths; // of the buffers, in elements
  uint64_t grid[3];        // invocations
} footprint_launch;

// Of invocations where the region is elastic, of workgroups where it is rigid; first <= x < end.
typedef struct footprint_box {
  uint64_t first[3], end[3];
} footprint_box;

typedef struct footprint {
  intervals reads, writes, atomics; // elements
} footprint;

// Adds to `out`, one per buffer of the program. False when out of memory.
bool footprint_find(const footprint_region *r, const footprint_launch *launch,
                    const footprint_box *box, footprint *out);
// Of several boxes, for each of them one per buffer.
bool footprint_find_each(const footprint_region *r, const footprint_launch *launch,
                         const footprint_box *boxes, uint32_t box_count, footprint *out);
void footprints_fini(footprint *out, uint32_t buffer_count);

// The extents that boxes are cut from.
void footprint_extents(const footprint_region *r, const uint64_t grid[3], uint64_t extents[3]);

// How a region uses a buffer, whatever its numbers are.
typedef struct footprint_kind {
  bool is_read, is_written, is_atomic;
  // Of its atomics: all of one kind that commutes and whose results nobody uses, on integers. Then
  // `op` is that kind, with ATOMIC_ADD for ATOMIC_SUB, too.
  bool commutes;
  uint8_t op;
} footprint_kind;
footprint_kind footprint_kind_of(const footprint_region *r, uint32_t buffer);

#endif
