// SPDX-License-Identifier: MIT
//
// What a device computes exactly: asked of the device itself, by shaders over the hard cases
// (halfway, subnormal, largest, one unit around), whose answers are compared with the reference's.
// Drivers do not say it, or say too little. The verdict is kept in the code cache, by device and
// driver. Any thread.
#ifndef VYRE_BACKEND_VULKAN_PROBE_H
#define VYRE_BACKEND_VULKAN_PROBE_H

#include "backend/vulkan/device.h"

// Sees to it that d->target is true, once per process. An error when the device cannot be asked, or
// gets wrong what no recipe makes up for: then it is unusable.
vyre_status probe_device(vulkan_device *d, vyre_error *error);

// What the probe asked and found, for people: "division f32: native". False past the end.
typedef struct probe_finding {
  const char *name;
  bool is_native;
} probe_finding;
bool probe_finding_at(const vulkan_device *d, uint32_t index, probe_finding *out);

#endif
