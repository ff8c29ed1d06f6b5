// SPDX-License-Identifier: MIT
//
// The OpenCL backend: a program as OpenCL C, through whatever driver the machine has.
#ifndef VYRE_BACKEND_OPENCL_OPENCL_H
#define VYRE_BACKEND_OPENCL_OPENCL_H

#include "backend/backend.h"

extern const backend opencl_backend;

#endif
