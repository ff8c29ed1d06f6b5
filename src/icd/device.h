// SPDX-License-Identifier: MIT
//
// Devices: one per device of a backend that runs in this process (not of OpenCL drivers: those
// are platforms of their own), and one that routes through a runtime of vyre. They are made once;
// retaining and releasing them does nothing.
#ifndef VYRE_ICD_DEVICE_H
#define VYRE_ICD_DEVICE_H

#include "icd/object.h"

#include <vyre/vyre.h>

struct _cl_device_id {
  object base;
  const char *backend; // NULL: routed
  vyre_device about;
  cl_device_type type;
  char name[320];
  uint64_t memory_bytes, most_bytes; // of all memory, of one buffer
};

// What kernels may have; the same for every device, because every device runs the same programs.
enum {
  DEVICE_MOST_WORKGROUP = 1024,
  DEVICE_LOCAL_BYTES = 1 << 18,
  DEVICE_CONSTANT_BYTES = 1 << 26,
  DEVICE_ALIGN_BYTES = 128, // of buffers, and of where sub-buffers begin
  DEVICE_PRINTF_BYTES = 1 << 20,
  DEVICE_MOST_IMAGE_2D = 16384,
  DEVICE_MOST_IMAGE_3D = 2048,
  DEVICE_MOST_LAYERS = 2048,
  DEVICE_MOST_IMAGE_PIXELS = 1 << 27, // of a buffer as an image
  DEVICE_SUBGROUP = 32,
};

void device_find_all(cl_device_id *out, cl_uint room, cl_uint *count);
// The runtime that the routed device uses; made when it is first needed. NULL, and the error says
// why, when it cannot be made.
vyre_runtime *device_runtime(vyre_error *error);
bool device_is_routed(cl_device_id device);
uint64_t device_now_ns(void); // the clock of events

#endif
