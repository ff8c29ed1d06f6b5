// SPDX-License-Identifier: MIT
//
// The part of the CUDA driver API that the backend calls, declared from its documentation, so that
// no toolkit is needed to build; found at run time in libcuda.so.1, so that a machine without a
// driver runs vyre. The library is opened once and never closed. Any thread.
#ifndef VYRE_BACKEND_CUDA_API_H
#define VYRE_BACKEND_CUDA_API_H

#include <vyre/vyre.h>

typedef int cu_result;
typedef int cu_device;
typedef struct cu_context_s *cu_context;
typedef struct cu_module_s *cu_module;
typedef struct cu_function_s *cu_function;
typedef struct cu_stream_s *cu_stream;
typedef struct cu_event_s *cu_event;
typedef struct cu_link_s *cu_link;
typedef unsigned long long cu_address;

enum {
  CU_SUCCESS = 0,
  CU_ERROR_INVALID_VALUE = 1,
  CU_ERROR_OUT_OF_MEMORY = 2,
  CU_ERROR_NOT_INITIALIZED = 3,
  CU_ERROR_DEINITIALIZED = 4,
  CU_ERROR_DEVICE_UNAVAILABLE = 46,
  CU_ERROR_NO_DEVICE = 100,
  CU_ERROR_INVALID_IMAGE = 200,
  CU_ERROR_INVALID_CONTEXT = 201,
  CU_ERROR_NO_BINARY_FOR_GPU = 209,
  CU_ERROR_ECC_UNCORRECTABLE = 214,
  CU_ERROR_INVALID_PTX = 218,
  CU_ERROR_NVLINK_UNCORRECTABLE = 220,
  CU_ERROR_JIT_COMPILER_NOT_FOUND = 221,
  CU_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CU_ERROR_CONTAINED = 226,
  CU_ERROR_INVALID_HANDLE = 400,
  CU_ERROR_NOT_FOUND = 500,
  CU_ERROR_NOT_READY = 600,
  CU_ERROR_ILLEGAL_ADDRESS = 700,
  CU_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CU_ERROR_LAUNCH_TIMEOUT = 702,
  CU_ERROR_CONTEXT_IS_DESTROYED = 709,
  CU_ERROR_ASSERT = 710,
  CU_ERROR_HARDWARE_STACK = 714,
  CU_ERROR_ILLEGAL_INSTRUCTION = 715,
  CU_ERROR_MISALIGNED_ADDRESS = 716,
  CU_ERROR_INVALID_ADDRESS_SPACE = 717,
  CU_ERROR_INVALID_PC = 718,
  CU_ERROR_LAUNCH_FAILED = 719,
  CU_ERROR_EXTERNAL_DEVICE = 911,
  CU_ERROR_UNKNOWN = 999,
};

enum { // of a device
  CU_MAX_THREADS_PER_BLOCK = 1,
  CU_MAX_BLOCK_DIM_X = 2,
  CU_MAX_GRID_DIM_X = 5,
  CU_MULTIPROCESSOR_COUNT = 16,
  CU_CAN_MAP_HOST_MEMORY = 19,
  CU_COMPUTE_MODE = 20,
  CU_UNIFIED_ADDRESSING = 41,
  CU_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_COMPUTE_CAPABILITY_MINOR = 76,
  CU_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};
enum { CU_COMPUTE_MODE_PROHIBITED = 2 };
enum { CU_FUNC_MAX_THREADS_PER_BLOCK = 0, CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
enum { CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2 };
enum { CU_JIT_INPUT_PTX = 1, CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DEFAULT = 0 };

// F(member, symbol, parameters): symbols have the suffix of the version that is declared here.
#define CUDA_FUNCTIONS(F)                                                                          \
  F(Init, "cuInit", (unsigned flags))                                                              \
  F(DriverGetVersion, "cuDriverGetVersion", (int *version))                                        \
  F(DeviceGetCount, "cuDeviceGetCount", (int *count))                                              \
  F(DeviceGet, "cuDeviceGet", (cu_device * device, int ordinal))                                   \
  F(DeviceGetName, "cuDeviceGetName", (char *name, int size, cu_device device))                    \
  F(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, cu_device device))                     \
  F(DeviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, cu_device device))     \
  F(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (cu_context * context, cu_device device))  \
  F(CtxPushCurrent, "cuCtxPushCurrent_v2", (cu_context context))                                   \
  F(CtxPopCurrent, "cuCtxPopCurrent_v2", (cu_context * context))                                   \
  F(ModuleLoadData, "cuModuleLoadData", (cu_module * module, const void *image))                   \
  F(ModuleUnload, "cuModuleUnload", (cu_module module))                                            \
  F(ModuleGetFunction, "cuModuleGetFunction",                                                      \
    (cu_function * function, cu_module module, const char *name))                                  \
  F(FuncGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, cu_function function))     \
  F(FuncSetAttribute, "cuFuncSetAttribute", (cu_function function, int attribute, int value))      \
  F(LinkCreate, "cuLinkCreate_v2", (unsigned count, int *options, void **values, cu_link *link))   \
  F(LinkAddData, "cuLinkAddData_v2",                                                               \
    (cu_link link, int type, void *data, size_t size, const char *name, unsigned count,            \
     int *options, void **values))                                                                 \
  F(LinkComplete, "cuLinkComplete", (cu_link link, void **image, size_t *size))                    \
  F(LinkDestroy, "cuLinkDestroy", (cu_link link))                                                  \
  F(MemAlloc, "cuMemAlloc_v2", (cu_address * address, size_t bytes))                               \
  F(MemFree, "cuMemFree_v2", (cu_address address))                                                 \
  F(MemHostAlloc, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags))                 \
  F(MemFreeHost, "cuMemFreeHost", (void *memory))                                                  \
  F(MemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2",                                       \
    (cu_address * address, void *memory, unsigned flags))                                          \
  F(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                       \
    (cu_address to, const void *from, size_t bytes, cu_stream stream))                             \
  F(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                       \
    (void *to, cu_address from, size_t bytes, cu_stream stream))                                   \
  F(MemsetD8Async, "cuMemsetD8Async",                                                              \
    (cu_address to, unsigned char value, size_t bytes, cu_stream stream))                          \
  F(StreamCreate, "cuStreamCreate", (cu_stream * stream, unsigned flags))                          \
  F(StreamDestroy, "cuStreamDestroy_v2", (cu_stream stream))                                       \
  F(StreamQuery, "cuStreamQuery", (cu_stream stream))                                              \
  F(StreamSynchronize, "cuStreamSynchronize", (cu_stream stream))                                  \
  F(EventCreate, "cuEventCreate", (cu_event * event, unsigned flags))                              \
  F(EventDestroy, "cuEventDestroy_v2", (cu_event event))                                           \
  F(EventRecord, "cuEventRecord", (cu_event event, cu_stream stream))                              \
  F(EventElapsedTime, "cuEventElapsedTime", (float *ms, cu_event first, cu_event last))            \
  F(LaunchKernel, "cuLaunchKernel",                                                                \
    (cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,    \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, cu_stream stream, void **params,   \
     void **extra))

typedef struct cuda_api {
#define MEMBER(name, symbol, parameters) cu_result(*name) parameters;
  CUDA_FUNCTIONS(MEMBER)
#undef MEMBER
  int version; // 13000 is CUDA 13.0
} cuda_api;

// NULL with an error when there is no driver, and where VYRE_CUDA=off turns it off.
const cuda_api *cuda_api_get(vyre_error *error);

// Whether the device, or what the process has of it, is of no use after this.
bool cuda_is_loss(cu_result code);
// Fills an error for a call that failed: what was done, and the code's name.
vyre_status cuda_error(vyre_error *error, cu_result code, const char *what);

#endif
