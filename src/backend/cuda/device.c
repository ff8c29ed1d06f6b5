// SPDX-License-Identifier: MIT
#include "backend/cuda/device.h"

#include "backend/backend.h"
#include "backend/cuda/codegen.h"
#include "backend/driver.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/limited.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 16 };

static driver asked = {.name = "CUDA", .once = PTHREAD_ONCE_INIT};
static cuda_device *devices;
static uint32_t device_count;
static vyre_error find_error;

// ---- contexts -----------------------------------------------------------------------------------

cu_result cuda_enter(cuda_device *d) {
  return d->api.CtxPushCurrent(d->context);
}

void cuda_leave(cuda_device *d) {
  cu_context ours;
  d->api.CtxPopCurrent(&ours);
}

vyre_status cuda_device_error(cuda_device *d, vyre_error *error, cu_result code, const char *what) {
  if (cuda_is_loss(code)) atomic_store(&d->is_lost, true);
  return cuda_error(error, code, what);
}

// ---- one device ---------------------------------------------------------------------------------

// 0 where the driver does not say.
static uint32_t ask(cuda_device *d, int attribute) {
  int value = 0;
  if (d->api.DeviceGetAttribute(&value, attribute, d->handle) != CU_SUCCESS || value < 0) return 0;
  return (uint32_t)value;
}

static void read_limits(cuda_device *d) {
  d->major = (int)ask(d, CU_COMPUTE_CAPABILITY_MAJOR);
  d->minor = (int)ask(d, CU_COMPUTE_CAPABILITY_MINOR);
  d->most_threads = ask(d, CU_MAX_THREADS_PER_BLOCK);
  for (int k = 0; k < 3; k++) {
    d->most_block[k] = ask(d, CU_MAX_BLOCK_DIM_X + k);
    d->most_grid[k] = ask(d, CU_MAX_GRID_DIM_X + k);
  }
  d->most_shared = ask(d, CU_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
}

static void read_info(cuda_device *d) {
  size_t bytes = 0;
  char version[32];
  int v = d->api.version;
  if (d->api.DeviceGetName(d->name, sizeof d->name, d->handle) != CU_SUCCESS)
    snprintf(d->name, sizeof d->name, "GPU");
  d->name[sizeof d->name - 1] = 0;
  if (d->api.DeviceTotalMem(&bytes, d->handle) != CU_SUCCESS) bytes = 0;
  snprintf(version, sizeof version, "%d.%d", v / 1000, v % 1000 / 10);
  d->info = (vyre_device){.memory_bytes = bytes,
                          .compute_units = ask(d, CU_MULTIPROCESSOR_COUNT),
                          .max_workgroup = d->most_threads,
                          .has_f64 = true,
                          .has_i64 = true,
                          .has_i64_atomics = true};
  snprintf(d->info.description, sizeof d->info.description, "%.100s (GPU, sm_%d%d, CUDA %s)",
           d->name, d->major, d->minor, version);
  device_adapter_name(d->info.adapter, sizeof d->info.adapter, "cuda", d->name, version);
}

static const char *open_device(cuda_device *d) {
  bool has_limits = d->most_threads && d->most_block[0] && d->most_block[1] && d->most_block[2] &&
                    d->most_grid[0] && d->most_grid[1] && d->most_grid[2];
  if (!has_limits || !d->major) return "the driver does not say what it can do";
  if (10 * d->major + d->minor < CUDA_OLDEST) return "its architecture is older than sm_75";
  if (!ask(d, CU_CAN_MAP_HOST_MEMORY) || !ask(d, CU_UNIFIED_ADDRESSING))
    return "it does not see the host's memory";
  if (ask(d, CU_COMPUTE_MODE) == CU_COMPUTE_MODE_PROHIBITED) return "its owner prohibits computing";
  if (d->api.DevicePrimaryCtxRetain(&d->context, d->handle) != CU_SUCCESS)
    return "the driver does not open it";
  return NULL;
}

static void read_device(cuda_device *d, const cuda_api *api, int ordinal) {
  d->api = *api;
  pthread_mutex_init(&d->memory_lock, NULL);
  pthread_mutex_init(&d->trust_lock, NULL);
  const char *why = NULL;
  if (api->DeviceGet(&d->handle, ordinal) != CU_SUCCESS) why = "the driver does not name it";
  read_limits(d);
  read_info(d);
  if (!why) why = open_device(d);
  snprintf(d->info.unusable, sizeof d->info.unusable, "%s", why ? why : "");
}

// ---- all ----------------------------------------------------------------------------------------

// Two of the same kind get a number.
static void number_twins(void) {
  char name[sizeof devices->info.adapter];
  for (uint32_t i = device_count; i-- > 0;) {
    unsigned number = 1;
    memcpy(name, devices[i].info.adapter, sizeof name);
    for (uint32_t k = 0; k < i; k++) number += !strcmp(devices[k].info.adapter, name);
    driver_name_twin(&devices[i].info, number);
  }
}

static void find_all(void) {
  int count = 0;
  asked.generation = fork_generation();
  const cuda_api *api = cuda_api_get(&find_error);
  if (!api) return;
  cu_result code = api->DeviceGetCount(&count);
  if (code != CU_SUCCESS || count < 0) count = 0;
  if (count > MAX_DEVICES) count = MAX_DEVICES;
  devices = calloc((size_t)count + 1, sizeof *devices);
  for (int i = 0; i < count && devices; i++) read_device(&devices[device_count++], api, i);
  limited_guard_exit(); // the driver loads more when it is asked for devices
  number_twins();
  asked.count = device_count;
  if (!device_count && code != CU_SUCCESS && code != CU_ERROR_NO_DEVICE)
    cuda_error(&find_error, code, "count its devices");
  else if (!device_count)
    error_set(&find_error, VYRE_ERROR_UNSUPPORTED,
              "CUDA has no device here. Fix: look at the output of nvidia-smi");
  if (find_error.status != VYRE_OK) find_error.status = VYRE_ERROR_UNSUPPORTED;
}

vyre_status cuda_check_process(vyre_error *error) {
  return driver_check_process(&asked, error);
}

cuda_device *cuda_devices(uint32_t *count, vyre_error *error) {
  *count = 0;
  if (driver_find(&asked, find_all, error) != VYRE_OK) return NULL;
  *count = device_count;
  if (device_count) return devices;
  if (error) *error = find_error;
  return NULL;
}

cuda_device *cuda_device_find(const char *adapter, vyre_error *error) {
  uint32_t count;
  cuda_device *all = cuda_devices(&count, error), *first = NULL;
  if (!all) return NULL;
  for (uint32_t i = 0; i < count && !first; i++) {
    cuda_device *d = &all[i];
    bool is_asked = adapter ? !strcmp(d->info.adapter, adapter)
                            : !d->info.unusable[0] && !atomic_load(&d->is_lost);
    if (is_asked) first = d;
  }
  if (!first && !adapter) first = all; // says why it cannot be used
  bool is_lost = first && atomic_load(&first->is_lost);
  bool is_allowed =
      driver_allow(&asked, adapter, first ? &first->info : NULL, is_lost, error) == VYRE_OK;
  return is_allowed ? first : NULL;
}
