// SPDX-License-Identifier: MIT
//
// CUDA devices, through the driver that is found at run time (api.h).
#ifndef VYRE_BACKEND_CUDA_CUDA_H
#define VYRE_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"

struct cuda_device;

extern const backend cuda_backend;

// For a device that need not be trusted: the first that ask are those who find out (trust.h).
vyre_status cuda_compile_for(struct cuda_device *d, vyre_program *program, bool is_quick,
                             const volatile uint32_t *stop, void **state, vyre_error *error);

#endif
