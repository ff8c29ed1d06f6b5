// SPDX-License-Identifier: MIT
//
// The one platform, and its devices: made when they are first asked for, and there to stay.
#ifndef VYRE_ICD_PLATFORM_H
#define VYRE_ICD_PLATFORM_H

#include "icd/device.h"
#include "icd/object.h"

enum { MOST_DEVICES = 16 };

struct _cl_platform_id {
  object base;
  cl_uint device_count;
  cl_device_id devices[MOST_DEVICES];
};

#define PLATFORM_VERSION "OpenCL 3.0 vyre"

// NULL when out of memory.
cl_platform_id platform_get(void);

#endif
