// SPDX-License-Identifier: MIT
//
// The OpenCL devices of this machine, found once per process: what each can do, its stable name,
// and why one cannot be used. Devices and their contexts live as long as the process. Any thread.
#ifndef VYRE_BACKEND_OPENCL_DEVICE_H
#define VYRE_BACKEND_OPENCL_DEVICE_H

#include "backend/opencl/api.h"
#include "backend/opencl/emit.h"

#include <stdatomic.h>

typedef struct opencl_device {
  const opencl_api *cl;
  cl_platform_id platform;
  cl_device_id id;
  cl_context context; // NULL when the device cannot be used
  cl_device_type type;
  vyre_device info; // info.unusable says why, if so
  lower_target target;
  char platform_name[128], platform_version[160], name[128], version[128], driver[64];
  uint64_t max_alloc_bytes, local_bytes;
  uint32_t max_workgroup[3];
  size_t max_arg_bytes;
  bool shares_memory; // with the host: buffers are used in place
  bool is_in_place;   // such a buffer is the host's memory itself, without mapping
  atomic_bool is_lost;
} opencl_device;

// Whether OpenCL can be used in this process: not in a child of one that used it.
vyre_status opencl_check_process(vyre_error *error);
// The list and its length; NULL with an error when there is no OpenCL at all.
opencl_device *opencl_devices(uint32_t *count, vyre_error *error);

// By adapter name; the first usable one for NULL. NULL with an error otherwise.
opencl_device *opencl_device_find(const char *adapter, vyre_error *error);

// As opencl_error; remembers when the code says that the device is gone.
vyre_status opencl_device_error(opencl_device *d, vyre_error *error, cl_int code, const char *what,
                                const char *log);

#endif
