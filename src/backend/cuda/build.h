// SPDX-License-Identifier: MIT
//
// A program as a module of a device: PTX from the generator, assembled by the driver, and kept in
// the code cache by program, device and driver, so that the next process needs neither LLVM nor the
// driver's assembler. An image that the driver does not take, whoever made it, is made again. Ended
// by whoever began it. One thread; what is built may be used by any.
#ifndef VYRE_BACKEND_CUDA_BUILD_H
#define VYRE_BACKEND_CUDA_BUILD_H

#include "backend/cuda/codegen.h"
#include "backend/cuda/device.h"

typedef struct cuda_build {
  cuda_device *device;
  cuda_code code; // without the text when it came from the cache
  bool is_polled;
  bool is_from_cache;
  cu_module module;
  cu_function *functions; // per region
  uint32_t *most_threads; // per region: that a workgroup may have
} cuda_build;

// Between cuda_enter and cuda_leave, as the other.
vyre_status cuda_build_init(cuda_build *b, cuda_device *d, const vyre_program *program,
                            bool is_polled, bool is_quick, const volatile uint32_t *stop,
                            vyre_error *error);
void cuda_build_fini(cuda_build *b);

// The workgroup for a region: what was asked for, made to fit where the region is elastic.
void cuda_choose_workgroup(const cuda_build *b, const vyre_program *p, uint32_t region,
                           const uint32_t wanted[3], uint32_t out[3]);

#endif
