// SPDX-License-Identifier: MIT
//
// The OpenCL functions that the backend calls, found at run time in the ICD loader, so that a
// machine without OpenCL runs vyre. The loader is opened once and never closed. Any thread.
#ifndef VYRE_BACKEND_OPENCL_API_H
#define VYRE_BACKEND_OPENCL_API_H

#include <vyre/vyre.h>

#define CL_TARGET_OPENCL_VERSION          120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS 1
#include <CL/cl.h>

#define OPENCL_FUNCTIONS(F)                                                                        \
  F(GetPlatformIDs)                                                                                \
  F(GetPlatformInfo)                                                                               \
  F(GetDeviceIDs)                                                                                  \
  F(GetDeviceInfo)                                                                                 \
  F(CreateContext)                                                                                 \
  F(CreateCommandQueue)                                                                            \
  F(ReleaseCommandQueue)                                                                           \
  F(CreateBuffer)                                                                                  \
  F(ReleaseMemObject)                                                                              \
  F(CreateProgramWithSource)                                                                       \
  F(CreateProgramWithBinary)                                                                       \
  F(BuildProgram)                                                                                  \
  F(GetProgramInfo)                                                                                \
  F(GetProgramBuildInfo)                                                                           \
  F(ReleaseProgram)                                                                                \
  F(CreateKernel)                                                                                  \
  F(ReleaseKernel)                                                                                 \
  F(SetKernelArg)                                                                                  \
  F(GetKernelWorkGroupInfo)                                                                        \
  F(EnqueueNDRangeKernel)                                                                          \
  F(EnqueueReadBuffer)                                                                             \
  F(EnqueueWriteBuffer)                                                                            \
  F(EnqueueFillBuffer)                                                                             \
  F(EnqueueMapBuffer)                                                                              \
  F(EnqueueUnmapMemObject)                                                                         \
  F(Flush)                                                                                         \
  F(Finish)                                                                                        \
  F(GetEventInfo)                                                                                  \
  F(GetEventProfilingInfo)                                                                         \
  F(ReleaseEvent)

typedef struct opencl_api {
#define MEMBER(name) __typeof__(&cl##name) name;
  OPENCL_FUNCTIONS(MEMBER)
#undef MEMBER
} opencl_api;

// NULL with an error when there is no loader, or one without a function. Sets
// POCL_SIGFPE_HANDLER=0 in the environment before it loads anything, unless the user set it:
// PoCL otherwise takes the whole process's SIGFPE. VYRE_OPENCL=off leaves OpenCL alone.
const opencl_api *opencl_api_get(vyre_error *error);

// Fills an error for a call that failed: what was done, the code's name, and a log (may be NULL).
vyre_status opencl_error(vyre_error *error, cl_int code, const char *what, const char *log);

#endif
