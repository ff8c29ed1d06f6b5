// SPDX-License-Identifier: MIT
#include "backend/opencl/device.h"

#include "backend/backend.h"
#include "backend/driver.h"
#include "backend/opencl/bugs.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/limited.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// Of private arrays: drivers for CPUs keep those of a whole workgroup on one stack.
enum { PRIVATE_BYTES = 1 << 16 };

typedef vec(opencl_device) device_list;

static device_list devices;
static vyre_error find_error;
static driver asked = {.name = "OpenCL", .once = PTHREAD_ONCE_INIT};

// ---- asking -------------------------------------------------------------------------------------

static void ask_text(const opencl_device *d, cl_device_info what, char *out, size_t size) {
  char text[512] = "";
  size_t used = 0;
  d->cl->GetDeviceInfo(d->id, what, sizeof text - 1, text, &used);
  snprintf(out, size, "%.*s", (int)size - 1, text);
}

static uint64_t ask_number(const opencl_device *d, cl_device_info what, size_t size) {
  uint64_t value = 0;
  if (d->cl->GetDeviceInfo(d->id, what, size, &value, NULL) != CL_SUCCESS) return 0;
  return value;
}

static bool has_extension(const opencl_device *d, const char *name) {
  size_t size = 0, length = strlen(name);
  d->cl->GetDeviceInfo(d->id, CL_DEVICE_EXTENSIONS, 0, NULL, &size);
  char *all = calloc(1, size + 1);
  if (!all) return false;
  d->cl->GetDeviceInfo(d->id, CL_DEVICE_EXTENSIONS, size, all, NULL);
  bool found = false;
  for (char *at = all; (at = strstr(at, name)); at += length)
    found |= (at == all || at[-1] == ' ') && (at[length] == ' ' || !at[length]);
  free(all);
  return found;
}

static bool is_at_least_1_2(const char *version) {
  int major = 0, minor = 0;
  sscanf(version, "OpenCL %d.%d", &major, &minor);
  return major > 1 || (major == 1 && minor >= 2);
}

static const char *why_unusable(const opencl_device *d) {
  if (!ask_number(d, CL_DEVICE_AVAILABLE, sizeof(cl_bool))) return "the driver says unavailable";
  if (!ask_number(d, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool)))
    return "the driver has no compiler for it";
  if (!ask_number(d, CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool))) return "it is big-endian";
  if (!is_at_least_1_2(d->version)) return "its OpenCL is older than 1.2";
  return NULL;
}

// ---- one device ---------------------------------------------------------------------------------

static void read_target(opencl_device *d) {
  uint64_t f32 = ask_number(d, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config));
  uint64_t f64 = ask_number(d, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config));
  char profile[32];
  ask_text(d, CL_DEVICE_PROFILE, profile, sizeof profile);
  bool is_full = !strcmp(profile, "FULL_PROFILE");
  lower_target *t = &d->target;
  *t = opencl_full_target;
  t->has_f64 = f64 != 0;
  t->has_i64 = is_full || has_extension(d, "cles_khr_int64");
  t->has_i64_atomics = has_extension(d, "cl_khr_int64_base_atomics");
  t->has_i64_extended_atomics = has_extension(d, "cl_khr_int64_extended_atomics");
  t->rounds_f32_division = (f32 & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  t->keeps_f32_subnormals = (f32 & CL_FP_DENORM) != 0;
  t->keeps_f64_subnormals = (f64 & CL_FP_DENORM) != 0;
  if (opencl_has_bug(d, BUG_ROUNDING_OF_CONSTANTS)) t->has_rint = t->has_f64_rounding = false;
}

static void read_limits(opencl_device *d) {
  size_t sizes[16] = {0};
  d->cl->GetDeviceInfo(d->id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
  for (int k = 0; k < 3; k++)
    d->max_workgroup[k] = sizes[k] < UINT32_MAX ? (uint32_t)sizes[k] : UINT32_MAX;
  d->max_alloc_bytes = ask_number(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
  d->local_bytes = ask_number(d, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
  d->max_arg_bytes = ask_number(d, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t));
  d->shares_memory = ask_number(d, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool)) != 0;
  // PoCL's CPU devices compute in the host's memory; the standard alone does not promise it.
  d->is_in_place = d->shares_memory && (d->type & CL_DEVICE_TYPE_CPU) &&
                   !strcmp(d->platform_name, "Portable Computing Language");
}

static void read_info(opencl_device *d) {
  vyre_device *info = &d->info;
  *info = (vyre_device){
      .memory_bytes = ask_number(d, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong)),
      .compute_units = (uint32_t)ask_number(d, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)),
      .max_workgroup = (uint32_t)ask_number(d, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)),
      .has_f64 = d->target.has_f64,
      .has_i64 = d->target.has_i64,
      .has_i64_atomics = d->target.has_i64_atomics};
  const char *kind = d->type & CL_DEVICE_TYPE_GPU           ? "GPU"
                     : d->type & CL_DEVICE_TYPE_CPU         ? "CPU"
                     : d->type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                            : "device";
  snprintf(info->description, sizeof info->description, "%.90s (%s, %.80s, driver %.60s)", d->name,
           kind, d->platform_name, d->driver);
  device_adapter_name(info->adapter, sizeof info->adapter, "opencl", d->name, d->driver);
}

static void read_device(opencl_device *d) {
  ask_text(d, CL_DEVICE_NAME, d->name, sizeof d->name);
  ask_text(d, CL_DEVICE_VERSION, d->version, sizeof d->version);
  ask_text(d, CL_DRIVER_VERSION, d->driver, sizeof d->driver);
  d->type = ask_number(d, CL_DEVICE_TYPE, sizeof(cl_device_type));
  read_target(d);
  read_limits(d);
  read_info(d);
  d->target.largest_workgroup = d->info.max_workgroup;
  d->target.largest_buffer_bytes = d->max_alloc_bytes;
  d->target.largest_private_bytes = PRIVATE_BYTES;
  const char *why = why_unusable(d);
  cl_int code = CL_SUCCESS;
  if (!why) {
    d->context = d->cl->CreateContext(NULL, 1, &d->id, NULL, NULL, &code);
    if (!d->context) why = "the driver gives no context";
  }
  snprintf(d->info.unusable, sizeof d->info.unusable, "%s", why ? why : "");
}

// ---- all ----------------------------------------------------------------------------------------

static void add_platform(const opencl_api *cl, cl_platform_id platform) {
  cl_device_id ids[64];
  cl_uint count = 0;
  if (cl->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 64, ids, &count) != CL_SUCCESS) return;
  for (cl_uint i = 0; i < count && i < 64; i++) {
    if (!vec_reserve(&devices, 1)) return;
    opencl_device *d = &devices.at[devices.count++];
    memset(d, 0, sizeof *d);
    d->cl = cl;
    d->platform = platform;
    d->id = ids[i];
    cl->GetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof d->platform_name - 1, d->platform_name,
                        NULL);
    cl->GetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof d->platform_version - 1,
                        d->platform_version, NULL);
    read_device(d);
  }
}

// GPUs first, then accelerators, CPUs, others; within a kind as the loader lists them.
static int rank(const opencl_device *d) {
  return d->type & CL_DEVICE_TYPE_GPU           ? 0
         : d->type & CL_DEVICE_TYPE_ACCELERATOR ? 1
         : d->type & CL_DEVICE_TYPE_CPU         ? 2
                                                : 3;
}

static void sort_devices(void) {
  for (size_t i = 1; i < devices.count; i++)
    for (size_t k = i; k > 0 && rank(&devices.at[k]) < rank(&devices.at[k - 1]); k--) {
      opencl_device swapped = devices.at[k];
      devices.at[k] = devices.at[k - 1];
      devices.at[k - 1] = swapped;
    }
}

// Two of the same kind get a number.
static void number_twins(void) {
  for (size_t i = 0; i < devices.count; i++) {
    unsigned number = 1;
    const char *name = devices.at[i].info.adapter;
    for (size_t k = 0; k < i; k++) number += !strcmp(devices.at[k].info.adapter, name);
    driver_name_twin(&devices.at[i].info, number);
  }
}

// The platform that vyre itself is: its devices are those of the other backends.
static bool is_vyre(const opencl_api *cl, cl_platform_id platform) {
  char name[16] = "";
  cl_int code = cl->GetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
  return code == CL_SUCCESS && !strcmp(name, "vyre");
}

static void find_all(void) {
  asked.generation = fork_generation();
  const opencl_api *cl = opencl_api_get(&find_error);
  cl_platform_id platforms[32];
  cl_uint count = 0;
  if (!cl) return;
  cl_int code = cl->GetPlatformIDs(32, platforms, &count);
  for (cl_uint i = 0; i < count && i < 32 && code == CL_SUCCESS; i++)
    if (!is_vyre(cl, platforms[i])) add_platform(cl, platforms[i]);
  limited_guard_exit(); // drivers load more when they are asked for devices
  sort_devices();
  number_twins();
  asked.count = (uint32_t)devices.count;
  if (!devices.count)
    error_set(&find_error, VYRE_ERROR_UNSUPPORTED,
              "OpenCL has no device here. Fix: install a driver, such as pocl-opencl-icd for the "
              "CPU, and look at the output of clinfo");
}

vyre_status opencl_check_process(vyre_error *error) {
  return driver_check_process(&asked, error);
}

opencl_device *opencl_devices(uint32_t *count, vyre_error *error) {
  *count = 0;
  if (driver_find(&asked, find_all, error) != VYRE_OK) return NULL;
  *count = (uint32_t)devices.count;
  if (devices.count) return devices.at;
  if (error) *error = find_error;
  return NULL;
}

opencl_device *opencl_device_find(const char *adapter, vyre_error *error) {
  uint32_t count;
  opencl_device *all = opencl_devices(&count, error), *first = NULL;
  if (!all) return NULL;
  for (uint32_t i = 0; i < count; i++) {
    opencl_device *d = &all[i];
    if (adapter ? strcmp(d->info.adapter, adapter)
                : d->info.unusable[0] || atomic_load(&d->is_lost))
      continue;
    first = d;
    break;
  }
  bool is_lost = first && atomic_load(&first->is_lost);
  bool is_allowed =
      driver_allow(&asked, adapter, first ? &first->info : NULL, is_lost, error) == VYRE_OK;
  return is_allowed ? first : NULL;
}

vyre_status opencl_device_error(opencl_device *d, vyre_error *error, cl_int code, const char *what,
                                const char *log) {
  if (code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_DEVICE || code == CL_INVALID_CONTEXT ||
      code == CL_INVALID_COMMAND_QUEUE)
    atomic_store(&d->is_lost, true);
  return opencl_error(error, code, what, log);
}
