// SPDX-License-Identifier: MIT
//
// What the files of a cluster share: its state, and that of a kernel. As cluster.h.
#ifndef VYRE_CLUSTER_CLUSTER_STATE_H
#define VYRE_CLUSTER_CLUSTER_STATE_H

#include "backend/executable.h"
#include "cluster/balance.h"
#include "cluster/calls.h"
#include "cluster/cluster.h"
#include "cluster/cluster_plan.h"

enum { PLAN_SLOTS = 256 };

struct cluster {
  const cluster_transport *transport;
  void *state;
  uint32_t rank, size;
  const backend *backend;
  cluster_options options; // without the weights
  uint32_t *weights;       // per rank: the same on every rank
  uint64_t weights_number; // how often they were changed
  uint64_t whole_ns;       // see balance_said
  layout_table layouts;
  calls made; // by this rank
  transport_place place;
  cluster_kernel *kernels;             // that are loaded
  uint32_t kernel_count, buffer_count; // ever made
  bool has_failed;
  char failure[600];
};

struct cluster_kernel {
  cluster *c;
  cluster_kernel *next; // of the cluster's
  uint32_t number;      // the same on every rank
  vyre_program *program;
  footprint_region **footprints;   // per region
  vyre_executable **executables;   // per region: a program of that region alone
  vyre_buffer *transients;         // per buffer; of those that are not bound
  cluster_plan *plans[PLAN_SLOTS]; // by the hash of their keys
  uint32_t plan_count;
  const cluster_plan *latest;
  uint8_t *key; // room for one
  size_t key_bytes;
  uint64_t *facts; // room for those of a call
  uint64_t dispatch_count;
  uint32_t depth;        // of halos: the same on every rank
  balance_said measured; // since the ranks spoke last
  balance_travel seen;
};

// An error when it has failed before.
vyre_status cluster_check(const cluster *c, vyre_error *error);
// Returns `status`. This rank cannot go on when it is an error, and so the others cannot.
vyre_status cluster_failed(cluster *c, vyre_status status, const vyre_error *error);

typedef struct cluster_said { // by each rank; of one size in every call, so that different ones
                              // meet
  uint64_t history, before, is_wrong;
  interval range; // of a read or write
  balance_said measured;
} cluster_said;

// Compares the calls of all ranks, the one that was added last among them. `own` is how that went
// here so far. Where a rank cannot make it, it is made by none, and they may go on. `all` has one
// per rank; NULL: nobody looks at it.
vyre_status cluster_agree(cluster *c, vyre_status own, interval range, cluster_said *all,
                          vyre_error *error);
// The same, with what was measured; `all` has one per rank.
vyre_status cluster_agree_measured(cluster *c, const balance_said *measured, cluster_said *all,
                                   vyre_error *error);

// Memory for a buffer, of which every rank has all: zeros.
vyre_status cluster_place(cluster *c, vyre_buffer *b, size_t size_bytes, vyre_error *error);
void cluster_take_layout(cluster *c, vyre_buffer *b, layout *now);

// Messages of a plan: `room` has space for all of them, `staging` for those made of pieces.
vyre_status cluster_begin(cluster *c, const cluster_messages *sends,
                          const cluster_messages *receives, void *const *memory, void *staging,
                          transport_message *room, vyre_error *error);
vyre_status cluster_end(cluster *c, const cluster_messages *sends, const cluster_messages *receives,
                        void *const *memory, transport_message *room, vyre_error *error);

#endif
