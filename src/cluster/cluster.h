// SPDX-License-Identifier: MIT
//
// Ranks that work on one program together: each has a part of every grid, and of every buffer what
// its parts read and write. Kernels and buffers of a runtime that was made by vyre_cluster_new come
// here. All ranks make the same calls in the same order; the plans that they make apart fit
// together because they follow from the same numbers. A kernel is freed before its cluster. One
// thread at a time.
#ifndef VYRE_CLUSTER_CLUSTER_H
#define VYRE_CLUSTER_CLUSTER_H

#include "backend/backend.h"
#include "cluster/transport.h"

typedef struct checkpoint checkpoint;
typedef struct cluster cluster;
typedef struct cluster_kernel cluster_kernel;

typedef enum cluster_interior { // what does not need messages runs while they travel...
  INTERIOR_MEASURED,            // ...where that is faster
  INTERIOR_FIRST,
  INTERIOR_LAST // never
} cluster_interior;

// All of them but the first are the same on every rank; 0 is as usual.
typedef struct cluster_options {
  const char *backend;     // of this host; NULL: the usual one
  uint64_t split_least;    // invocations below which a region is not split
  const uint32_t *weights; // per rank, how much of a grid each takes at first; NULL: the same
  uint32_t depth;          // of halos, from 1; 0: as measured
  uint32_t adapt_every;    // dispatches of a kernel after which shares are measured again
  bool keeps_shares;       // the weights stay as they are
  cluster_interior interior;
} cluster_options;

// Opens the transport; NULL: that of MPI.
vyre_status cluster_new(const cluster_transport *transport, int32_t communicator,
                        const cluster_options *options, cluster **out, vyre_error *error);
void cluster_free(cluster *c);
uint32_t cluster_rank(const cluster *c);
uint32_t cluster_size(const cluster *c);

vyre_status cluster_kernel_new(cluster *c, vyre_program *program, cluster_kernel **out,
                               vyre_error *error);
void cluster_kernel_free(cluster_kernel *k);
// All buffers are handles. Times and invocations of the report are of this rank's parts.
vyre_status cluster_dispatch(cluster_kernel *k, const vyre_dispatch_args *args, vyre_report *report,
                             vyre_error *error);
// How each region was shared out in the latest dispatch, a line each; "" before the first.
vyre_status cluster_explain(const cluster_kernel *k, strbuf *out);

vyre_status cluster_buffer_init(cluster *c, vyre_buffer *b, size_t size_bytes, vyre_error *error);
void cluster_buffer_fini(cluster *c, vyre_buffer *b);
// Each rank gives what it has, or wants, and the others need not do the same; a size of 0 is
// nothing. Where ranks give the same bytes, those of the lowest count.
vyre_status cluster_write(cluster *c, vyre_buffer *b, size_t offset, const void *data,
                          size_t size_bytes, vyre_error *error);
vyre_status cluster_read(cluster *c, vyre_buffer *b, size_t offset, void *data, size_t size_bytes,
                         vyre_error *error);
// What is borrowed of the checkpoint, and the step where it is saved, is filled in.
vyre_status cluster_save(cluster *c, checkpoint *k, vyre_error *error);
vyre_status cluster_load(cluster *c, checkpoint *k, vyre_error *error);

#endif
