// SPDX-License-Identifier: MIT
//
// A grid cut into pieces of bounded work, so that a device that was told to stop is asked again
// between them. Pure functions on the caller's storage; any thread.
#ifndef VYRE_BACKEND_PIECES_H
#define VYRE_BACKEND_PIECES_H

#include "ir/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pieces {
  size_t global[3]; // of the whole, in whole workgroups
  size_t piece[3];  // of the first one; those at the ends may be smaller
  size_t at[3];     // where the next one begins
  bool is_over;
} pieces;

// Pieces of whole workgroups, of at most `most` invocations where one workgroup has no more.
void pieces_begin(pieces *p, const size_t global[3], const size_t local[3], uint64_t most);
// The next piece, x first; false when there is none left.
bool pieces_next(pieces *p, size_t offset[3], size_t size[3]);
bool pieces_are_many(const pieces *p);
// How many others an invocation of the region counts for: who is told to stop has cleared its part
// of the shared arrays before it asks.
uint64_t pieces_weight(const vyre_program *p, const region *r);

#endif
