// SPDX-License-Identifier: MIT
//
// How values differ between invocations. For each operation of a region's body: along which axes
// its value may differ, and whether it grows by a constant from one invocation to the next along x.
// For each block: along which axes invocations part there. A row of invocations whose values do not
// differ along x can be computed once; linear indices make contiguous or strided accesses.
//
// In an elastic region the axes are those of the grid. In a rigid one they are those of the
// workgroup: what is the same for a whole workgroup has no axes.
//
// The caller may assume things that it checks elsewhere (an `if` that goes one way, a conversion
// that loses nothing); blocks that are dead then are not looked at. Results live in the caller's
// arena. Reads the program only: any thread.
#ifndef VYRE_ANALYSIS_SHAPE_H
#define VYRE_ANALYSIS_SHAPE_H

#include "analysis/ranges.h"

enum { AXIS_X = 1, AXIS_Y = 2, AXIS_Z = 4, AXIS_ALL = 7 };

typedef struct shape {
  uint8_t axes;
  bool is_linear;  // along x: each invocation's value is its neighbour's plus stride, modulo 2^bits
  int64_t stride;  // not 0; as wide as the type, sign-extended
  bool is_aligned; // linear, and a multiple of `shapes_wish.vector` in the first of a vector
} shape;

typedef struct block_shape {
  uint8_t parts;     // if: axes of the condition; loops: axes along which some leave earlier
  uint8_t continues; // loops: axes along which some begin the next iteration earlier
  uint8_t returns;   // axes along which some return inside
  uint8_t exits;     // axes along which some leave this block by break, continue or return
} block_shape;

// What the caller assumes of an operation.
enum {
  ASSUME_NOTHING,
  ASSUME_TRUE,   // if: the condition holds for all
  ASSUME_FALSE,  // if: it holds for none
  ASSUME_EXACT,  // convert: of integers, loses nothing
  ASSUME_FIRST,  // min, max: the first operand is the result
  ASSUME_SECOND, // min, max: the second one is
  ASSUME_INSIDE, // load, store: in bounds
};

typedef struct shapes {
  uint32_t first;      // of the body; the arrays are indexed by operation minus this
  shape *values;       // variables and private arrays too, at their declaration
  block_shape *blocks; // at IF, FOR and WHILE
  uint8_t returns;     // axes along which some invocations return early
} shapes;

static inline const shape *shape_at(const shapes *s, uint32_t op) {
  return &s->values[op - s->first];
}
static inline const block_shape *block_at(const shapes *s, uint32_t op) {
  return &s->blocks[op - s->first];
}
static inline uint8_t shape_axes(const shapes *s, ref r) {
  return ref_is_const(r) ? 0 : shape_at(s, r)->axes;
}

// `assume` has one ASSUME_* per operation of the body, or is NULL. False: out of memory.
bool shapes_compute(arena *a, const vyre_program *p, const region *r, const ranges *known,
                    const uint8_t *assume, shapes *out);
// The same in a workgroup that runs in vectors: of `vector` invocations along x, a power of two, of
// which the first has a local id that is a multiple of it; 0: anywhere. What is the same for each
// vector has no x among its axes then, though it differs between vectors: local_id.x / 32 in
// vectors of 32. What `is_plain` marks has the shape that it has in `plain`: it is also used where
// the assumptions need not hold. NULL: nothing has.
typedef struct shapes_wish {
  const uint8_t *assume;
  const shapes *plain;
  const bool *is_plain;
  uint32_t vector;
} shapes_wish;
bool shapes_compute_in_vectors(arena *a, const vyre_program *p, const region *r,
                               const ranges *known, shapes_wish wish, shapes *out);
// The same with another axis in the place of x, and x in its place.
bool shapes_compute_along(arena *a, const vyre_program *p, const region *r, const ranges *known,
                          uint32_t lanes, shapes *out);
// The same for invocations that do not run in step: what one loads may differ from what another
// loads at the same index, unless it is of a buffer that nobody in the region writes.
bool shapes_compute_apart(arena *a, const vyre_program *p, const region *r, const ranges *known,
                          shapes *out);
// Whether a block that opens at `op` is dead under the assumptions: the IF's first block when
// `is_else` is false, its ELSE block otherwise.
static inline bool assume_is_dead(const uint8_t *assume, uint32_t offset, bool is_else) {
  return assume && assume[offset] == (is_else ? ASSUME_TRUE : ASSUME_FALSE);
}

#endif
