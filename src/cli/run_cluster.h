// SPDX-License-Identifier: MIT
//
// `vyre run` with buffers that the runtime owns: as one of several ranks, which mpirun or srun
// started (they share the work, and rank 0 has the results), and in steps. One thread.
#ifndef VYRE_CLI_RUN_CLUSTER_H
#define VYRE_CLI_RUN_CLUSTER_H

#include "cli/run_steps.h"

// How many ranks a launcher says that there are, and which this is; 1 where there is none.
uint32_t run_cluster_ranks(uint32_t *rank);

enum { RUN_TIMES = 1000000 }; // of so many dispatches times are kept

typedef struct run_cluster {
  const char *backend; // of every rank; NULL: the usual one
  uint64_t repeat, timeout_ns;
  uint32_t threads;
  bool explain, is_alone; // one process, whatever a launcher says
  run_steps *steps;       // or the same `repeat` times
  void (*notice)(void *context, const char *message);
  // Filled.
  vyre_runtime *runtime; // the caller frees it, when results were written
  uint64_t *wall_ns;     // room for one per repetition or step, RUN_TIMES at most
  uint64_t count;        // of those
  vyre_report *report;
  char *explained;
  char where[32]; // "4 ranks", or the backend
} run_cluster;

// Afterwards rank 0 has what buffers hold; of the others, memory is as it was.
vyre_status run_on_cluster(vyre_program *program, const bindings *b, const vyre_dispatch_args *args,
                           run_cluster *r, vyre_error *error);

#endif
