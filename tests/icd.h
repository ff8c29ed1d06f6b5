// SPDX-License-Identifier: MIT
//
// What the tests of the OpenCL driver share: they are clients like any other, through the loader,
// which is told to look for drivers in the build tree only. A test begins with icd_begin, which
// makes a context, a queue and a program for the first device, and ends with icd_end.
#ifndef VYRE_TESTS_ICD_H
#define VYRE_TESTS_ICD_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define OK(call)          assert_int_equal(call, CL_SUCCESS)
#define FAILS(code, call) assert_int_equal(call, code)

typedef struct icd {
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program; // NULL without a source
} icd;

// Before the first call of OpenCL: drivers of the build tree.
static inline void icd_choose_driver(void) {
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path - 16);
  assert_true(size > 0);
  path[size] = 0;
  strcpy(strrchr(path, '/'), "/vendors");
  setenv("OCL_ICD_VENDORS", path, 1);
}

static inline cl_program icd_build(const icd *i, const char *source, const char *options) {
  cl_int code;
  cl_program made = clCreateProgramWithSource(i->context, 1, &source, NULL, &code);
  OK(code);
  code = clBuildProgram(made, 0, NULL, options, NULL, NULL);
  if (code != CL_SUCCESS) {
    char log[4096] = "";
    clGetProgramBuildInfo(made, i->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    print_message("%s\n", log);
    if (strstr(log, "libvyre-clang") || strstr(log, "clang-19")) skip();
  }
  OK(code);
  return made;
}

static inline icd icd_begin_device(const char *source, cl_command_queue_properties properties,
                                   cl_device_type type) {
  icd i = {0};
  cl_int code;
  icd_choose_driver();
  OK(clGetPlatformIDs(1, &i.platform, NULL));
  OK(clGetDeviceIDs(i.platform, type, 1, &i.device, NULL));
  i.context = clCreateContext(NULL, 1, &i.device, NULL, NULL, &code);
  OK(code);
  i.queue = clCreateCommandQueue(i.context, i.device, properties, &code);
  OK(code);
  if (source) i.program = icd_build(&i, source, NULL);
  return i;
}

static inline icd icd_begin(const char *source, cl_command_queue_properties properties) {
  return icd_begin_device(source, properties, CL_DEVICE_TYPE_CPU);
}

static inline void icd_end(icd *i) {
  if (i->program) OK(clReleaseProgram(i->program));
  OK(clReleaseCommandQueue(i->queue));
  OK(clReleaseContext(i->context));
}

static inline cl_kernel icd_kernel(const icd *i, const char *name) {
  cl_int code;
  cl_kernel made = clCreateKernel(i->program, name, &code);
  OK(code);
  return made;
}

static inline cl_mem icd_buffer(const icd *i, size_t size, const void *from) {
  cl_int code;
  cl_mem made = clCreateBuffer(i->context, from ? CL_MEM_COPY_HOST_PTR : 0, size,
                               (void *)(uintptr_t)from, &code);
  OK(code);
  return made;
}

static inline void icd_run(const icd *i, cl_kernel kernel, size_t size) {
  OK(clEnqueueNDRangeKernel(i->queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
}

static inline void icd_read(const icd *i, cl_mem from, size_t size, void *to) {
  OK(clEnqueueReadBuffer(i->queue, from, CL_TRUE, 0, size, to, 0, NULL, NULL));
}

#endif
