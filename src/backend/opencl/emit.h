// SPDX-License-Identifier: MIT
//
// From a program to readable OpenCL C 1.2: one kernel per region, names kept. What a device does
// not do as docs/IR.md says is lowered away first (lower/lower.h); the rest is spelled
// (backend/spell/spell.h). The caller ends what it got with opencl_source_fini. Pure function: any
// thread.
#ifndef VYRE_BACKEND_OPENCL_EMIT_H
#define VYRE_BACKEND_OPENCL_EMIT_H

#include "ir/program.h"
#include "lower/target.h"

extern const lower_target opencl_full_target; // what every device has, and may have

// The arguments of a kernel, in order.
typedef enum opencl_arg_kind {
  ARG_PARAM,  // scalar `index`
  ARG_BUFFER, // memory of buffer `index`
  ARG_LENGTH, // its number of elements, uint
  ARG_GRID,   // extent along axis `index`, uint
  ARG_STOP,   // one uint of global memory: not 0 asks the kernel to end
} opencl_arg_kind;

typedef struct opencl_arg {
  opencl_arg_kind kind;
  uint32_t index;
} opencl_arg;

typedef struct opencl_kernel {
  char *name;
  opencl_arg *args;
  uint32_t arg_count;
  bool has_loop; // that is not provably short
  bool has_barrier_in_loop;
} opencl_kernel;

typedef struct opencl_source {
  char *text;
  size_t size;
  opencl_kernel *kernels; // one per region
  uint32_t kernel_count;
} opencl_source;

// `is_polled`: kernels look at a stop flag, so that a time limit can end them.
// VYRE_ERROR_UNSUPPORTED names what the target lacks, or the barrier that is not provably reached
// by whole workgroups.
vyre_status opencl_emit(const vyre_program *program, const lower_target *target, bool is_polled,
                        opencl_source *out, vyre_error *error);
void opencl_source_fini(opencl_source *source);

#endif
