// SPDX-License-Identifier: MIT
#include "icd/platform.h"

#include "icd/info.h"

#include <vyre/vyre.h>

#include <pthread.h>
#include <stdio.h>

static cl_platform_id platform;
static char version_text[64];

static const cl_name_version extensions[] = {{CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"}};

static void make(void) {
  snprintf(version_text, sizeof version_text, PLATFORM_VERSION " %s", vyre_version());
  cl_platform_id made = object_new(OBJECT_PLATFORM);
  if (!made) return;
  device_find_all(made->devices, MOST_DEVICES, &made->device_count);
  platform = made;
}

cl_platform_id platform_get(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make);
  return platform;
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *out, cl_uint *count) {
  if ((!out && !count) || (out && !room)) return CL_INVALID_VALUE;
  cl_platform_id only = platform_get();
  if (!only) return CL_OUT_OF_HOST_MEMORY;
  if (out) out[0] = only;
  if (count) *count = 1;
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id asked, cl_platform_info what, size_t room, void *value,
                         size_t *size) {
  info i = {0};
  if (asked && !object_is(asked, OBJECT_PLATFORM)) return CL_INVALID_PLATFORM;
  platform_get();
  switch (what) {
  case CL_PLATFORM_PROFILE: info_text(&i, "FULL_PROFILE"); break;
  case CL_PLATFORM_VERSION: info_text(&i, version_text); break;
  case CL_PLATFORM_NUMERIC_VERSION: info_u32(&i, CL_MAKE_VERSION(3, 0, 0)); break;
  case CL_PLATFORM_NAME: info_text(&i, "vyre"); break;
  case CL_PLATFORM_VENDOR: info_text(&i, "The vyre project"); break;
  case CL_PLATFORM_EXTENSIONS: info_text(&i, "cl_khr_icd"); break;
  case CL_PLATFORM_EXTENSIONS_WITH_VERSION: info_bytes(&i, extensions, sizeof extensions); break;
  case CL_PLATFORM_ICD_SUFFIX_KHR: info_text(&i, "VYRE"); break;
  case CL_PLATFORM_HOST_TIMER_RESOLUTION: info_u64(&i, 1); break;
  default: return CL_INVALID_VALUE;
  }
  return info_answer(&i, room, value, size);
}

cl_int clUnloadPlatformCompiler(cl_platform_id asked) {
  return object_is(asked, OBJECT_PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

cl_int clUnloadCompiler(void) {
  return CL_SUCCESS;
}
