// SPDX-License-Identifier: MIT
#include "icd/device.h"

#include "base/clock.h"
#include "icd/platform.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  pthread_mutex_t lock;
  vyre_runtime *runtime;
  pid_t owner; // a child of fork() makes its own
} routed = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void end_runtime(void) {
  pthread_mutex_lock(&routed.lock);
  vyre_runtime *runtime = routed.owner == getpid() ? routed.runtime : NULL;
  routed.runtime = NULL;
  pthread_mutex_unlock(&routed.lock);
  if (runtime) vyre_runtime_free(runtime);
}

vyre_runtime *device_runtime(vyre_error *error) {
  static bool is_registered;
  pthread_mutex_lock(&routed.lock);
  if (routed.owner != getpid()) routed.runtime = NULL;
  if (!routed.runtime) {
    vyre_runtime_options options = {.without = "opencl"};
    if (vyre_runtime_new(&options, &routed.runtime, error) != VYRE_OK) routed.runtime = NULL;
    routed.owner = getpid();
    if (!is_registered) is_registered = !atexit(end_runtime);
  }
  vyre_runtime *runtime = routed.runtime;
  pthread_mutex_unlock(&routed.lock);
  return runtime;
}

bool device_is_routed(cl_device_id device) {
  return !device->backend;
}

uint64_t device_now_ns(void) {
  return clock_now_ns();
}

// One buffer may have as many bytes as the lengths of programs can say.
static void size_memory(cl_device_id d) {
  uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t most = UINT32_MAX / DEVICE_ALIGN_BYTES * DEVICE_ALIGN_BYTES;
  d->memory_bytes = d->about.memory_bytes ? d->about.memory_bytes : pages * page;
  d->most_bytes = d->memory_bytes / 2 < most ? d->memory_bytes / 2 : most;
}

static void add(const char *backend, const vyre_device *about, cl_device_type type,
                const char *name, cl_device_id *out, cl_uint room, cl_uint *count) {
  cl_device_id made = *count < room ? object_new(OBJECT_DEVICE) : NULL;
  if (!made) return;
  made->backend = backend;
  made->about = *about;
  made->type = type;
  snprintf(made->name, sizeof made->name, "%s", name);
  size_memory(made);
  out[(*count)++] = made;
}

static bool is_gpu(const vyre_device *d) {
  return !strstr(d->adapter, "llvmpipe") && !strstr(d->adapter, "lavapipe") &&
         !strstr(d->description, "llvmpipe");
}

void device_find_all(cl_device_id *out, cl_uint room, cl_uint *count) {
  vyre_device found[8];
  uint32_t n = 0;
  *count = 0;
  if (vyre_backend_devices("cpu", found, 8, &n, NULL) == VYRE_OK && n) {
    char name[320];
    snprintf(name, sizeof name, "vyre cpu: %s", found[0].description);
    add("cpu", &found[0], CL_DEVICE_TYPE_CPU, name, out, room, count);
    add(NULL, &found[0], CL_DEVICE_TYPE_ACCELERATOR, "vyre adaptive", out, room, count);
  }
  n = 0;
  if (vyre_backend_devices("vulkan", found, 8, &n, NULL) != VYRE_OK) return;
  for (uint32_t i = 0; i < n && i < 8; i++) {
    char name[320];
    snprintf(name, sizeof name, "vyre vulkan: %s", found[i].description);
    if (!found[i].unusable[0])
      add("vulkan", &found[i], is_gpu(&found[i]) ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_ACCELERATOR,
          name, out, room, count);
  }
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *out,
                      cl_uint *count) {
  if (platform && !object_is(platform, OBJECT_PLATFORM)) return CL_INVALID_PLATFORM;
  if (!platform) platform = platform_get();
  if (!platform) return CL_OUT_OF_HOST_MEMORY;
  const cl_device_type known = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                               CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_DEFAULT |
                               CL_DEVICE_TYPE_CUSTOM;
  if (type != CL_DEVICE_TYPE_ALL && (!type || (type & ~known))) return CL_INVALID_DEVICE_TYPE;
  if ((!out && !count) || (out && !room)) return CL_INVALID_VALUE;
  cl_uint found = 0;
  for (cl_uint i = 0; i < platform->device_count; i++) {
    cl_device_type own = platform->devices[i]->type | (i == 0 ? CL_DEVICE_TYPE_DEFAULT : 0);
    if (!(type & own)) continue;
    if (out && found < room) out[found] = platform->devices[i];
    found++;
  }
  if (count) *count = found;
  return found ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int clRetainDevice(cl_device_id device) {
  return object_is(device, OBJECT_DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int clReleaseDevice(cl_device_id device) {
  return object_is(device, OBJECT_DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties,
                          cl_uint room, cl_device_id *out, cl_uint *count) {
  (void)room, (void)out, (void)count;
  if (!object_is(device, OBJECT_DEVICE)) return CL_INVALID_DEVICE;
  (void)properties; // there is no partition that is supported
  return CL_INVALID_VALUE;
}
