// SPDX-License-Identifier: MIT
//
// What a dispatch does on this rank: per region, what travels before it, which box of its grid runs
// here, and what is combined after it. A plan follows from the numbers of the launch and from who
// has what of the buffers, so that every rank makes its own and they fit together. It is made once
// and replayed. One thread.
#ifndef VYRE_CLUSTER_CLUSTER_PLAN_H
#define VYRE_CLUSTER_CLUSTER_PLAN_H

#include "cluster/layout.h"
#include "cluster/split.h"
#include "cluster/transport.h"

typedef struct cluster_piece { // bytes of a buffer
  uint32_t buffer;
  uint64_t lo, hi;
} cluster_piece;

typedef struct cluster_message { // with one rank
  uint32_t rank;
  uint64_t bytes;
  vec(cluster_piece) pieces;
} cluster_message;

typedef struct cluster_combine { // of one buffer
  uint32_t buffer;
  vyre_type type;
  vyre_op op;
  intervals bytes;
} cluster_combine;

typedef vec(cluster_message) cluster_messages;

typedef struct cluster_choice { // between two ways, by what they took
  uint64_t ns[2];               // running means
  uint32_t tries[2];
} cluster_choice;

typedef struct cluster_region {
  bool runs_here, is_split;
  bool is_everywhere; // whole, on every rank
  uint32_t runs_on;   // the rank, where it is whole and not everywhere
  footprint_box box;  // of this rank
  // What of the box, along an axis, neither needs what travels nor changes it: it may run
  // meanwhile.
  bool has_interior;
  uint64_t overlap; // by which parts go on into others
  uint32_t axis;
  uint64_t interior_first, interior_end;
  uint64_t invocations, here; // of the grid, and of the box, where it is split
  cluster_choice choice;      // whether the interior goes first: of this rank alone
  cluster_messages sends, receives;
  vec(cluster_combine) combines;
  char reason[SPLIT_REASON];
} cluster_region;

typedef struct cluster_plan {
  struct cluster_plan *next;
  uint64_t hash;
  void *key; // its bytes
  size_t key_bytes;
  uint32_t region_count, buffer_count;
  cluster_region *regions;
  layout **before, **after; // per buffer; the former are part of the key
  void *staging;            // for messages that are gathered from pieces: to others, then from them
  uint64_t staging_bytes;
  transport_message *messages; // room for those of a region: to others, then from them
} cluster_plan;

typedef struct cluster_facts {
  const vyre_program *program;
  footprint_region *const *footprints; // per region
  const uint64_t *params, *lengths;
  const uint64_t (*grids)[3];
  layout *const *before;
  uint32_t rank, ranks;
  uint64_t split_least;
  const uint32_t *weights; // per rank; NULL: all the same
  uint32_t depth; // of halos: parts may be computed twice so that less often something travels
} cluster_facts;

// NULL when out of memory.
cluster_plan *cluster_plan_make(layout_table *layouts, const cluster_facts *facts);
void cluster_plan_free(layout_table *layouts, cluster_plan *p);

// Who has to send what, so that each rank has what it wants (per rank, in bytes of one buffer, with
// these sets): adds this rank's messages, and adds to the sets. False when out of memory.
bool cluster_moves(uint32_t rank, uint32_t ranks, uint32_t buffer, const intervals *wants,
                   intervals *has, cluster_messages *sends, cluster_messages *receives);
void cluster_messages_free(cluster_messages *m);

#endif
