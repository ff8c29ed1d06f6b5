// SPDX-License-Identifier: MIT
//
// Which numbers an integer may be, over a box of invocations: a sum of strides. Dimensions are
// numbers that vary (ids, counters of loops, values that nothing more is known of), each within
// first..last. A reach of a value of w bits says: at any time there are numbers within the
// dimensions, and one within lo..hi, such that
//   value = lo..hi + sum of factor * dimension   modulo 2^w.
// It is exact where that sum cannot leave the numbers of the type: then "modulo" does nothing.
// Two reaches that mention a dimension mean the same number of it only at the same time: what is
// kept from turn to turn of a loop has to be flattened.
//
// All sums stay below 2^61, so that nothing here can overflow; what would not is `is_any`. Values.
#ifndef VYRE_ANALYSIS_REACH_H
#define VYRE_ANALYSIS_REACH_H

#include "base/intervals.h"
#include "ir/types.h"

enum { REACH_TERMS = 6 };

typedef struct reach_term {
  uint32_t dim;
  int64_t factor; // not 0
} reach_term;

typedef struct reach {
  int64_t lo, hi;
  uint32_t count;
  bool is_any;                   // nothing is known
  reach_term terms[REACH_TERMS]; // by rising dimension
} reach;

typedef struct reach_space { // per dimension
  int64_t *first, *last;
} reach_space;

typedef enum reach_certainty {
  REACH_EXACT, // the value is the sum, and within the bounds
  REACH_RANGE, // the value is within the bounds, which are those of its type
  REACH_NOTHING,
} reach_certainty;

reach reach_any(void);
reach reach_number(int64_t value);
reach reach_interval(int64_t lo, int64_t hi);
reach reach_dimension(const reach_space *s, uint32_t dim); // the number of a dimension
// lo..hi as a dimension, which is made to be 0..hi - lo.
reach reach_along(reach_space *s, uint32_t dim, int64_t lo, int64_t hi);
// The numbers of a type; false where they pass what is computed with here.
bool reach_type_range(vyre_type type, int64_t *lo, int64_t *hi);

void reach_hull(const reach_space *s, const reach *r, int64_t *lo, int64_t *hi); // not of any
reach_certainty reach_bounds(const reach_space *s, const reach *r, vyre_type type, int64_t *lo,
                             int64_t *hi);
bool reach_is_same(const reach *a, const reach *b);

// The same value, moved by a multiple of 2^w to where it is exact, if there is such a place.
reach reach_settled(const reach_space *s, reach r, vyre_type type);
reach reach_sum(const reach_space *s, reach a, reach b);
reach reach_scaled(const reach_space *s, reach a, int64_t factor);
reach reach_joined(const reach_space *s, reach a, reach b); // one of the two
// Without dimensions from `from` on: what they reach goes to lo..hi.
reach reach_flattened(const reach_space *s, reach r, uint32_t from);
// add, sub, mul, div, rem, min, max, and, or, xor, shl, shr of integers or bools; `dim` becomes
// what the result varies along where its strides are not known.
reach reach_binary(reach_space *s, vyre_op op, vyre_type type, reach a, reach b, uint32_t dim);

// Adds the elements 0..length - 1 that an index of this type may name; false: out of memory.
bool reach_elements(const reach_space *s, const reach *index, vyre_type type, uint64_t length,
                    intervals *out);

int64_t reach_floor(int64_t x, int64_t by); // x / by towards minus infinity; by > 0

#endif
