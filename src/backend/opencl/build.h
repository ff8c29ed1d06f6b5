// SPDX-License-Identifier: MIT
//
// Compiled kernels: source through the driver's compiler, or a binary from the cache. Binaries are
// kept under vyre's own checksum, because some drivers crash on a damaged one, and keyed by device,
// driver, options and source. The caller ends what it got with opencl_build_fini. Any thread.
#ifndef VYRE_BACKEND_OPENCL_BUILD_H
#define VYRE_BACKEND_OPENCL_BUILD_H

#include "backend/opencl/device.h"

typedef struct opencl_build {
  opencl_source source;
  cl_program program;
  bool is_polled; // its kernels look at a stop flag
  bool was_cached;
} opencl_build;

typedef struct opencl_build_how {
  bool is_polled;
  vyre_tier tier;   // the quick one compiles without optimisation
  bool only_cached; // VYRE_ERROR_UNSUPPORTED when it would have to be compiled
} opencl_build_how;

vyre_status opencl_build_init(opencl_build *b, opencl_device *d, const vyre_program *program,
                              const opencl_build_how *how, vyre_error *error);
void opencl_build_fini(opencl_build *b, const opencl_device *d);

#endif
