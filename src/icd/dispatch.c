// SPDX-License-Identifier: MIT
//
// The table that the loader calls through, and what it asks for by name. What is shared with
// graphics is not there: the entries are NULL.
#include "icd/icd.h"

#include "icd/platform.h"

#include <string.h>

// clang-format off
#define CALLS(X) \
  X(clGetPlatformIDs) \
  X(clGetPlatformInfo) \
  X(clGetDeviceIDs) \
  X(clGetDeviceInfo) \
  X(clCreateContext) \
  X(clCreateContextFromType) \
  X(clRetainContext) \
  X(clReleaseContext) \
  X(clGetContextInfo) \
  X(clCreateCommandQueue) \
  X(clRetainCommandQueue) \
  X(clReleaseCommandQueue) \
  X(clGetCommandQueueInfo) \
  X(clSetCommandQueueProperty) \
  X(clCreateBuffer) \
  X(clCreateImage2D) \
  X(clCreateImage3D) \
  X(clRetainMemObject) \
  X(clReleaseMemObject) \
  X(clGetSupportedImageFormats) \
  X(clGetMemObjectInfo) \
  X(clGetImageInfo) \
  X(clCreateSampler) \
  X(clRetainSampler) \
  X(clReleaseSampler) \
  X(clGetSamplerInfo) \
  X(clCreateProgramWithSource) \
  X(clCreateProgramWithBinary) \
  X(clRetainProgram) \
  X(clReleaseProgram) \
  X(clBuildProgram) \
  X(clUnloadCompiler) \
  X(clGetProgramInfo) \
  X(clGetProgramBuildInfo) \
  X(clCreateKernel) \
  X(clCreateKernelsInProgram) \
  X(clRetainKernel) \
  X(clReleaseKernel) \
  X(clSetKernelArg) \
  X(clGetKernelInfo) \
  X(clGetKernelWorkGroupInfo) \
  X(clWaitForEvents) \
  X(clGetEventInfo) \
  X(clRetainEvent) \
  X(clReleaseEvent) \
  X(clGetEventProfilingInfo) \
  X(clFlush) \
  X(clFinish) \
  X(clEnqueueReadBuffer) \
  X(clEnqueueWriteBuffer) \
  X(clEnqueueCopyBuffer) \
  X(clEnqueueReadImage) \
  X(clEnqueueWriteImage) \
  X(clEnqueueCopyImage) \
  X(clEnqueueCopyImageToBuffer) \
  X(clEnqueueCopyBufferToImage) \
  X(clEnqueueMapBuffer) \
  X(clEnqueueMapImage) \
  X(clEnqueueUnmapMemObject) \
  X(clEnqueueNDRangeKernel) \
  X(clEnqueueTask) \
  X(clEnqueueNativeKernel) \
  X(clEnqueueMarker) \
  X(clEnqueueWaitForEvents) \
  X(clEnqueueBarrier) \
  X(clGetExtensionFunctionAddress) \
  X(clSetEventCallback) \
  X(clCreateSubBuffer) \
  X(clSetMemObjectDestructorCallback) \
  X(clCreateUserEvent) \
  X(clSetUserEventStatus) \
  X(clEnqueueReadBufferRect) \
  X(clEnqueueWriteBufferRect) \
  X(clEnqueueCopyBufferRect) \
  X(clCreateSubDevices) \
  X(clRetainDevice) \
  X(clReleaseDevice) \
  X(clCreateImage) \
  X(clCreateProgramWithBuiltInKernels) \
  X(clCompileProgram) \
  X(clLinkProgram) \
  X(clUnloadPlatformCompiler) \
  X(clGetKernelArgInfo) \
  X(clEnqueueFillBuffer) \
  X(clEnqueueFillImage) \
  X(clEnqueueMigrateMemObjects) \
  X(clEnqueueMarkerWithWaitList) \
  X(clEnqueueBarrierWithWaitList) \
  X(clGetExtensionFunctionAddressForPlatform) \
  X(clCreateCommandQueueWithProperties) \
  X(clCreatePipe) \
  X(clGetPipeInfo) \
  X(clSVMAlloc) \
  X(clSVMFree) \
  X(clEnqueueSVMFree) \
  X(clEnqueueSVMMemcpy) \
  X(clEnqueueSVMMemFill) \
  X(clEnqueueSVMMap) \
  X(clEnqueueSVMUnmap) \
  X(clCreateSamplerWithProperties) \
  X(clSetKernelArgSVMPointer) \
  X(clSetKernelExecInfo) \
  X(clCloneKernel) \
  X(clCreateProgramWithIL) \
  X(clEnqueueSVMMigrateMem) \
  X(clGetDeviceAndHostTimer) \
  X(clGetHostTimer) \
  X(clGetKernelSubGroupInfo) \
  X(clSetDefaultDeviceCommandQueue) \
  X(clSetProgramReleaseCallback) \
  X(clSetProgramSpecializationConstant) \
  X(clCreateBufferWithProperties) \
  X(clCreateImageWithProperties) \
  X(clSetContextDestructorCallback)
// clang-format on

const cl_icd_dispatch icd_dispatch = {
#define ENTRY(name) .name = name,
    CALLS(ENTRY)
#undef ENTRY
        .clGetKernelSubGroupInfoKHR = clGetKernelSubGroupInfo,
};

// The functions that the loader looks for in a driver.
#define EXPORTED __attribute__((visibility("default")))

EXPORTED cl_int clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *out, cl_uint *count) {
  return clGetPlatformIDs(room, out, count);
}

typedef struct call_row {
  const char *name;
  void *address;
} call_row;

EXPORTED void *clGetExtensionFunctionAddress(const char *name) {
  static const call_row rows[] = {
      {"clIcdGetPlatformIDsKHR", __extension__(void *) clIcdGetPlatformIDsKHR},
      {"clGetPlatformInfo", __extension__(void *) clGetPlatformInfo},
      {"clGetKernelSubGroupInfoKHR", __extension__(void *) clGetKernelSubGroupInfo},
  };
  for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name)) return rows[i].address;
  return NULL;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name) {
  return object_is(platform, OBJECT_PLATFORM) ? clGetExtensionFunctionAddress(name) : NULL;
}
