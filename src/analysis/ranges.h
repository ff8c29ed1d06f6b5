// SPDX-License-Identifier: MIT
//
// Static bounds of integer values, from constants, limits of the launch, types and arithmetic. They
// hold for every value that an invocation really computes. Results live in the caller's arena.
// Reads the program only: any thread.
#ifndef VYRE_ANALYSIS_RANGES_H
#define VYRE_ANALYSIS_RANGES_H

#include "ir/program.h"

typedef struct value_range { // lo <= value <= hi
  int64_t lo, hi;            // INT64_MIN..INT64_MAX: nothing is known, also of a u64
} value_range;

typedef struct ranges {
  const vyre_program *p;
  uint32_t first;
  value_range *at; // per operation of the body
} ranges;

// False: out of memory.
bool ranges_compute(arena *a, const vyre_program *p, const region *r, ranges *out);

value_range range_of_type(vyre_type type); // all that the type holds
value_range range_of(const ranges *r, ref value);
static inline bool range_is_known(value_range r) {
  return r.lo != INT64_MIN || r.hi != INT64_MAX;
}
static inline bool range_is_within(value_range r, int64_t lo, int64_t hi) {
  return range_is_known(r) && r.lo >= lo && r.hi <= hi;
}

#endif
