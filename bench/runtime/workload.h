// SPDX-License-Identifier: MIT
//
// Kernels of bench/kernels with arguments for any number of work items. workload_fini frees them.
#ifndef VYRE_BENCH_RUNTIME_WORKLOAD_H
#define VYRE_BENCH_RUNTIME_WORKLOAD_H

#include <vyre/vyre.h>

enum { WORKLOADS = 9, WORKLOAD_PARAMS = 3, WORKLOAD_BUFFERS = 4 };

typedef struct workload {
  const char *name;
  vyre_program *program;
  vyre_scalar params[WORKLOAD_PARAMS];
  vyre_span spans[WORKLOAD_BUFFERS];
  vyre_dispatch_args args;
} workload;

const char *workload_name(uint32_t which);
void workload_init(workload *w, uint32_t which, uint32_t n);
void workload_fini(workload *w);

#endif
