// SPDX-License-Identifier: MIT
//
// Sets of numbers as intervals lo <= x < hi, in rising order, none of them empty, no two of them
// touching: what a part of a launch reads and writes, and who has which elements of a buffer. The
// owner frees them (intervals_free). Functions that can run out of memory return false and leave a
// set that may lack something: the caller gives up. One thread at a time.
#ifndef VYRE_BASE_INTERVALS_H
#define VYRE_BASE_INTERVALS_H

#include "base/vec.h"

#include <stdint.h>

typedef struct interval {
  uint64_t lo, hi;
} interval;

typedef struct intervals {
  interval *at;
  size_t count, capacity;
} intervals;

void intervals_free(intervals *s);
// In any order, as many as there are; then they are put in order once.
bool intervals_push(intervals *s, uint64_t lo, uint64_t hi);
void intervals_order(intervals *s);

// `s` with one more interval, in order again.
bool intervals_add(intervals *s, uint64_t lo, uint64_t hi);
bool intervals_copy(const intervals *from, intervals *to); // `to` has nothing
bool intervals_unite(intervals *s, const intervals *other);
bool intervals_subtract(intervals *s, const intervals *other);
// Adds to `out` (in order again) what both have.
bool intervals_common(const intervals *a, const intervals *b, intervals *out);

bool intervals_meet(const intervals *a, const intervals *b);
bool intervals_have(const intervals *s, uint64_t x);
bool intervals_are_same(const intervals *a, const intervals *b);
uint64_t intervals_size(const intervals *s); // numbers in it

#endif
