// SPDX-License-Identifier: MIT
#include "backend/opencl/api.h"

#include "base/environment.h"
#include "base/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static opencl_api api;
static vyre_error load_error;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  // The loader, and drivers, let variables of their own choose what they load.
  if (environment_is_foreign()) {
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "OpenCL drivers are not loaded into a process that runs with other rights than those "
              "of whoever started it. Fix: use another backend there");
    return;
  }
  if (environment_is("VYRE_OPENCL", "off")) {
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "OpenCL is turned off by VYRE_OPENCL=off. Fix: unset it");
    return;
  }
  setenv("POCL_SIGFPE_HANDLER", "0", 0);
  void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!loader) {
    const char *why = dlerror();
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "the OpenCL loader cannot be opened (%s). Fix: install an OpenCL driver and "
              "libOpenCL.so.1, such as ocl-icd-libopencl1",
              why ? why : "no reason given");
    return;
  }
  const char *missing = NULL;
#define FIND(name)                                                                                 \
  if (!(*(void **)&api.name = dlsym(loader, "cl" #name))) missing = "cl" #name;
  OPENCL_FUNCTIONS(FIND)
#undef FIND
  if (missing)
    error_set(&load_error, VYRE_ERROR_UNSUPPORTED,
              "libOpenCL.so.1 has no %s. Fix: install a loader for OpenCL 1.2 or later", missing);
}

const opencl_api *opencl_api_get(vyre_error *error) {
  pthread_once(&once, load);
  if (load_error.status == VYRE_OK) return &api;
  if (error) *error = load_error;
  return NULL;
}

static const char *code_name(cl_int code) {
  static const struct {
    cl_int code;
    const char *name;
  } names[] = {
      {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
      {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
      {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
      {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
      {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
      {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
      {CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
      {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
      {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
      {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
      {CL_INVALID_BINARY, "CL_INVALID_BINARY"},
      {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
      {CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM"},
      {CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
      {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
      {CL_INVALID_KERNEL, "CL_INVALID_KERNEL"},
      {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
      {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
      {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
      {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
      {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
      {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
      {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) return names[i].name;
  return "an unnamed error";
}

vyre_status opencl_error(vyre_error *error, cl_int code, const char *what, const char *log) {
  vyre_status status = code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE
                           ? VYRE_ERROR_MEMORY
                           : VYRE_ERROR_BACKEND;
  const char *fix = status == VYRE_ERROR_MEMORY
                        ? "use smaller buffers or another backend"
                        : "look at the driver's message, update the driver, or use another backend";
  if (log && *log)
    return error_set(error, status, "OpenCL could not %s: %s (%d). The driver says: %.320s Fix: %s",
                     what, code_name(code), (int)code, log, fix);
  return error_set(error, status, "OpenCL could not %s: %s (%d). Fix: %s", what, code_name(code),
                   (int)code, fix);
}
