// SPDX-License-Identifier: MIT
//
// CUDA devices, through the driver that is found at run time.
#ifndef VYRE_BACKEND_CUDA_CUDA_H
#define VYRE_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"

extern const backend cuda_backend;

#endif
