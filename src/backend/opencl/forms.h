// SPDX-License-Identifier: MIT
//
// What the OpenCL backend shows of a program: its OpenCL C. Constant data: any thread.
#ifndef VYRE_BACKEND_OPENCL_FORMS_H
#define VYRE_BACKEND_OPENCL_FORMS_H

#include "backend/backend.h"

extern const backend_form opencl_forms[];

#endif
