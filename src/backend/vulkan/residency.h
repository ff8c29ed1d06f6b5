// SPDX-License-Identifier: MIT
//
// Buffers that stay on a Vulkan device with memory of its own; see backend/resident.h. Any thread.
#ifndef VYRE_BACKEND_VULKAN_RESIDENCY_H
#define VYRE_BACKEND_VULKAN_RESIDENCY_H

#include "backend/backend.h"
#include "backend/vulkan/memory.h"

// The device's memory of the buffer, current; made and filled where it is not there. The buffer
// keeps it. `is_written`: the host's memory is not current from now on.
VkResult vulkan_place(vulkan_device *d, const backend *self, vyre_buffer *r, bool is_written,
                      vulkan_memory *out);

// The backend's fetch, drop and keeps_memory.
vyre_status vulkan_fetch(vyre_buffer *r, vyre_error *error);
void vulkan_drop(vyre_buffer *r);
bool vulkan_keeps_memory(const backend *self);

#endif
