// SPDX-License-Identifier: MIT
//
// What one dispatch at a time needs of a compiled program: a stream, events, and memory, all kept
// for the next dispatch. Two dispatches at once use two runners.
#ifndef VYRE_BACKEND_CUDA_RUNNER_H
#define VYRE_BACKEND_CUDA_RUNNER_H

#include "backend/backend.h"
#include "backend/cuda/build.h"
#include "backend/cuda/memory.h"
#include "backend/ways.h"

typedef struct cuda_runner_place {
  cu_address address;       // what kernels get
  cuda_memory own, staging; // kept
  bool is_copied;           // `own` gets the caller's data, and gives it back
} cuda_runner_place;

// A part of a region's grid that is launched at once.
typedef struct cuda_runner_step {
  uint32_t region;
  uint32_t base[3], groups[3]; // in workgroups
  uint32_t workgroup[3];
  uint64_t invocations;
} cuda_runner_step;

typedef struct cuda_runner {
  ways_runner rest;
  cuda_device *device;
  cuda_build *build;
  const vyre_program *program;
  cu_stream stream;
  cu_event *events;          // of a batch: its beginning, and the end of each region in it
  cuda_runner_place *places; // per buffer
  uint64_t *times_ns;        // per region
  cuda_memory flag;          // the stop flag: the host's memory, which kernels see
} cuda_runner;

// All of these between cuda_enter and cuda_leave.
vyre_status cuda_runner_new(cuda_build *build, const vyre_program *program, cuda_runner **out,
                            vyre_error *error);
void cuda_runner_free(cuda_runner *i);

// Runs a launch to its end and reports device times. On an error *is_stuck says that the device may
// still be busy with it: the runner must then not be used or freed.
vyre_status cuda_runner_run(cuda_runner *i, const launch *l, vyre_report *report, bool *is_stuck,
                            vyre_error *error);

#endif
