// SPDX-License-Identifier: MIT
//
// A short conformance run: what a device does with integers, small and wide types, control flow,
// barriers and atomics is compared with the reference the first time that a device and driver are
// used. What it gets wrong is recorded as `vyre conform` does, so that the runtime gives it no
// program that needs it. Not while the same device is examined by another thread.
#ifndef VYRE_BACKEND_VULKAN_TRUST_H
#define VYRE_BACKEND_VULKAN_TRUST_H

#include "backend/vulkan/device.h"

// d->target is what was found out about its arithmetic. *failed counts what was recorded.
vyre_status trust_device(vulkan_device *d, uint32_t *failed, vyre_error *error);

#endif
