// SPDX-License-Identifier: MIT
//
// What the devices do not have, as their queries say: pipes. The calls check what they are given
// and refuse.
#include "icd/context.h"

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint packets,
                    const cl_pipe_properties *properties, cl_int *errcode) {
  (void)flags, (void)packet_bytes, (void)packets, (void)properties;
  bool is_context = object_is(context, OBJECT_CONTEXT);
  return icd_fail(errcode, is_context ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT);
}

cl_int clGetPipeInfo(cl_mem pipe, cl_pipe_info what, size_t room, void *value, size_t *size) {
  (void)pipe, (void)what, (void)room, (void)value, (void)size;
  return CL_INVALID_MEM_OBJECT; // nothing is a pipe
}
