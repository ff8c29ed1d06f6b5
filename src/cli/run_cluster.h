// SPDX-License-Identifier: MIT
//
// `vyre run` as one of several ranks, which mpirun or srun started: they share the work, and rank 0
// has the results. One thread.
#ifndef VYRE_CLI_RUN_CLUSTER_H
#define VYRE_CLI_RUN_CLUSTER_H

#include "cli/bind.h"

// How many ranks a launcher says that there are, and which this is; 1 where there is none.
uint32_t run_cluster_ranks(uint32_t *rank);

typedef struct run_cluster {
  const char *backend; // of every rank; NULL: the usual one
  uint64_t repeat, timeout_ns;
  uint32_t threads;
  bool explain;
  // Filled.
  vyre_runtime *runtime; // the caller frees it, when results were written
  uint64_t *wall_ns;     // room for one per repetition
  uint64_t count;        // of those
  vyre_report *report;
  char *explained;
  char where[32]; // "4 ranks"
} run_cluster;

// Afterwards rank 0 has what buffers hold; of the others, memory is as it was.
vyre_status run_on_cluster(vyre_program *program, const bindings *b, const vyre_dispatch_args *args,
                           run_cluster *r, vyre_error *error);

#endif
