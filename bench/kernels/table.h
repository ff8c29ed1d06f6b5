// SPDX-License-Identifier: MIT
//
// The kernels that bench_kernels measures: what they are launched with, and what is done with the
// answers. The table is constant.
#ifndef VYRE_BENCH_TABLE_H
#define VYRE_BENCH_TABLE_H

#include "kernels/native.h"

#include <stdbool.h>

enum { MAX_BUFFERS = 10 };

// What the memory could do at best, with the same arrays.
typedef enum roof_kind {
  ROOF_NONE,
  ROOF_READ,   // all buffers but the last, which is small
  ROOF_COPY,   // first to last
  ROOF_UPDATE, // the last from the first and itself
  ROOF_TRIAD   // first two to last
} roof_kind;

typedef struct kernel {
  const char *label;
  const char *name;   // k_NAME in the OpenCL C file; NAME.vyre where vyre has a text of its own
  const char *source; // the OpenCL C file; vyre reads it too, where it has no text of its own
  bool has_text;
  native_id native;
  uint32_t sizes[3], size_count; // the C loops may see more of them than the kernel
  float scalars[2];
  uint32_t scalar_count;
  uint32_t grid[3], group[3]; // a group of 0 is the driver's choice
  struct {
    // f floats, u random numbers below `below`, b bytes; F, U (zeros), V (random) and B are written
    char kind;
    uint32_t count, below;
  } buffers[MAX_BUFFERS];
  void (*prepare)(void *const *buffers); // after the random numbers; may be NULL
  bool is_compute_bound;
  bool is_of_suites;       // of a kind at which public suites found vyre behind PoCL
  bool is_without_drivers; // PoCL would take minutes
  roof_kind roof;          // of kernels that stream through memory
  double flops;            // 0: not counted
  double tolerance;        // of floats, over the largest; 0: the usual one
  double share;            // of integers that may differ, because floats decided them
} kernel;

extern const kernel bench_kernels[];
extern const uint32_t bench_kernel_count;

bool kernel_is_integer(const kernel *k);
double kernel_bytes(const kernel *k); // read and written by one run, each once

#endif
