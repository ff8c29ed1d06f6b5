// SPDX-License-Identifier: MIT
//
// The Vulkan backend: a program as SPIR-V, through whatever driver the machine has.
#ifndef VYRE_BACKEND_VULKAN_VULKAN_H
#define VYRE_BACKEND_VULKAN_VULKAN_H

#include "backend/backend.h"
#include "backend/vulkan/device.h"

extern const backend vulkan_backend;

// A compile as the backend's own, for a device that is believed to be like `target`: for probing.
vyre_status vulkan_compile_for(vulkan_device *d, const vulkan_target *target, vyre_program *program,
                               const volatile uint32_t *stop, void **state, vyre_error *error);

#endif
