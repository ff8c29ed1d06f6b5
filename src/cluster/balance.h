// SPDX-License-Identifier: MIT
//
// Decisions that all ranks of a cluster make alike from what each of them measured: how much of a
// grid each takes, and how deep halos are. Pure functions; they change who computes what, never the
// bits. Any thread.
#ifndef VYRE_CLUSTER_BALANCE_H
#define VYRE_CLUSTER_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct balance_said { // by a rank, of the time since they spoke last
  uint64_t whole_ns;          // what was split, had this rank run all of it; 0: it ran nothing
  uint64_t busy_ns;           // computing in dispatches of the kernel that is asked about
  uint64_t travel_ns; // from the start of its messages to their end, where it waited for them
  uint64_t travels, dispatches;
  uint64_t rows; // of the smallest part along the axis that was split, in the latest; 0: none
} balance_said;

// Changes the weights (each 1 to BALANCE_MOST) when what is gained is more than `least_gain`, such
// as 0.05. True when it did.
enum { BALANCE_MOST = 4096 };
bool balance_weights(const balance_said *all, uint32_t ranks, double least_gain, uint32_t *weights);

typedef struct balance_travel { // how long messages take, by the depth of halos: two that were seen
  uint32_t depth[2];            // 0: none
  double ns[2];
} balance_travel;

// The depth to go on with, by how long a dispatch is expected to take: computing, with rows that
// two ranks compute, and what of the messages is not hidden behind it.
uint32_t balance_depth(const balance_said *all, uint32_t ranks, uint32_t depth,
                       balance_travel *seen);

#endif
