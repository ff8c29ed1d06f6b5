// SPDX-License-Identifier: MIT
//
// How the grid of a region is shared out over ranks, from its footprints: in parts along an axis
// when no two parts may write the same element, or when they only meet in atomics that commute;
// otherwise whole. The same numbers give the same answer on every rank. Owned by whoever made it
// (split_fini). Any thread.
#ifndef VYRE_CLUSTER_SPLIT_H
#define VYRE_CLUSTER_SPLIT_H

#include "analysis/footprint.h"

typedef struct split_options {
  uint32_t ranks;
  uint64_t least;          // invocations below which it is not worth it
  const uint32_t *weights; // per rank, how much of it each takes; NULL: all the same
} split_options;

enum { SPLIT_REASON = 200 };

typedef struct split {
  bool is_split;
  bool is_steady; // every run of it gives the same bits: it may run on several ranks at once
  uint32_t axis, ranks, buffer_count;
  footprint_box *boxes;      // per rank; one alone where it is not split
  footprint *uses;           // per box, per buffer
  bool *combines;            // per buffer: what ranks add to it is combined
  char reason[SPLIT_REASON]; // for people
} split;

// False when out of memory.
bool split_make(const footprint_region *r, const vyre_program *p, const footprint_launch *l,
                const split_options *options, split *out);
void split_fini(split *s);
// The same with parts that overlap: each goes on by so much on both sides, inside of the grid.
// Those that are empty stay so. For what may be computed more than once. False when out of memory.
bool split_extend(const footprint_region *r, const footprint_launch *l, const split *from,
                  uint64_t by, split *out);

static inline const footprint *split_use(const split *s, uint32_t box, uint32_t buffer) {
  return &s->uses[(size_t)box * s->buffer_count + buffer];
}

#endif
