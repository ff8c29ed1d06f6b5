// SPDX-License-Identifier: MIT
//
// What the devices do not have, as their queries say: pipes, and shared virtual memory, of which
// kernels that follow pointers in memory would be the use. The calls check what they are given and
// refuse.
#include "icd/kernel.h"
#include "icd/queue.h"

// ---- pipes --------------------------------------------------------------------------------------

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

// ---- shared virtual memory ----------------------------------------------------------------------

static cl_int refuse_command(cl_command_queue queue) {
  return queue_is(queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

static cl_int refuse_argument(cl_kernel kernel) {
  return object_is(kernel, OBJECT_KERNEL) ? CL_INVALID_OPERATION : CL_INVALID_KERNEL;
}

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  (void)context, (void)flags, (void)size, (void)alignment;
  return NULL;
}

void clSVMFree(cl_context context, void *at) {
  (void)context, (void)at; // nothing was given out
}

cl_int clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void **pointers,
                        void(CL_CALLBACK *call)(cl_command_queue queue, cl_uint count, void **list,
                                                void *data),
                        void *data, cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  (void)count, (void)pointers, (void)call, (void)data, (void)wait_count, (void)wait_list, (void)out;
  return refuse_command(queue);
}

cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *to, const void *from,
                          size_t size, cl_uint wait_count, const cl_event *wait_list,
                          cl_event *out) {
  (void)blocking, (void)to, (void)from, (void)size, (void)wait_count, (void)wait_list, (void)out;
  return refuse_command(queue);
}

cl_int clEnqueueSVMMemFill(cl_command_queue queue, void *at, const void *pattern,
                           size_t pattern_bytes, size_t size, cl_uint wait_count,
                           const cl_event *wait_list, cl_event *out) {
  (void)at, (void)pattern, (void)pattern_bytes, (void)size;
  (void)wait_count, (void)wait_list, (void)out;
  return refuse_command(queue);
}

cl_int clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *at,
                       size_t size, cl_uint wait_count, const cl_event *wait_list, cl_event *out) {
  (void)blocking, (void)flags, (void)at, (void)size, (void)wait_count, (void)wait_list, (void)out;
  return refuse_command(queue);
}

cl_int clEnqueueSVMUnmap(cl_command_queue queue, void *at, cl_uint wait_count,
                         const cl_event *wait_list, cl_event *out) {
  (void)at, (void)wait_count, (void)wait_list, (void)out;
  return refuse_command(queue);
}

cl_int clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count, const void **pointers,
                              const size_t *sizes, cl_mem_migration_flags flags, cl_uint wait_count,
                              const cl_event *wait_list, cl_event *out) {
  (void)count, (void)pointers, (void)sizes, (void)flags;
  (void)wait_count, (void)wait_list, (void)out;
  return refuse_command(queue);
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *value) {
  (void)index, (void)value;
  return refuse_argument(kernel);
}

// All that it can be told is about this memory.
cl_int clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info what, size_t size,
                           const void *value) {
  (void)what, (void)size, (void)value;
  return refuse_argument(kernel);
}
