// SPDX-License-Identifier: MIT
//
// What every file of the OpenCL driver includes: the API at version 3.0 with all that is
// deprecated, and the table through which the loader calls. The driver is a library of its own
// (libvyre-opencl.so) over libvyre; an application's threads may call anything at any time, except
// where OpenCL itself forbids it (two threads that set arguments of one kernel).
#ifndef VYRE_ICD_ICD_H
#define VYRE_ICD_ICD_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

extern const cl_icd_dispatch icd_dispatch;

// Fills errcode_ret, which may be NULL.
static inline void *icd_fail(cl_int *errcode, cl_int code) {
  if (errcode) *errcode = code;
  return NULL;
}

#endif
