// SPDX-License-Identifier: MIT
//
// The random numbers behind generated programs, inputs and searches: splitmix64, the same on every
// machine. Calls have side effects, so two of them never stand in one expression: a compiler may
// evaluate operands in any order. The state belongs to its caller.
#ifndef VYRE_BASE_RANDOM_H
#define VYRE_BASE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct random_state {
  uint64_t at;
} random_state;

static inline uint64_t random_bits(random_state *r) {
  uint64_t z = r->at += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// As after so many calls of random_bits.
static inline void random_skip(random_state *r, uint64_t count) {
  r->at += count * 0x9e3779b97f4a7c15u;
}

// 0 <= result < count; 0 for a count of 0.
static inline uint32_t random_below(random_state *r, uint32_t count) {
  return (uint32_t)((random_bits(r) >> 32) * count >> 32);
}

// lo <= result <= hi
static inline uint32_t random_range(random_state *r, uint32_t lo, uint32_t hi) {
  return lo + random_below(r, hi - lo + 1);
}

// 0 <= result < 1
static inline double random_unit(random_state *r) {
  return (double)(random_bits(r) >> 11) * 0x1p-53;
}

static inline bool random_chance(random_state *r, uint32_t percent) {
  return random_below(r, 100) < percent;
}

#endif
