// SPDX-License-Identifier: MIT
//
// Memory of a device, pooled: blocks of many megabytes are taken from the driver, each with one
// VkBuffer over all of it, and pieces of them are handed out. And the host's own memory, where a
// device computes in it. Any thread.
#ifndef VYRE_BACKEND_VULKAN_MEMORY_H
#define VYRE_BACKEND_VULKAN_MEMORY_H

#include "backend/vulkan/device.h"

typedef enum memory_kind {
  MEMORY_DEVICE, // for shaders; mapped where the device shares the host's memory
  MEMORY_HOST,   // for copies and flags: always mapped
} memory_kind;

typedef struct vulkan_memory {
  vulkan_block *block; // NULL: none
  VkBuffer buffer;
  VkDeviceSize offset, size;
  void *mapped;    // NULL where the host does not see it
  uint64_t serial; // of the buffer: drivers use handles again
} vulkan_memory;

// The size is rounded up; the content is open.
VkResult vulkan_memory_take(vulkan_device *d, memory_kind kind, VkDeviceSize size,
                            vulkan_memory *out);
void vulkan_memory_give(vulkan_device *d, vulkan_memory *m); // also one that holds nothing

// Pages of the host as a buffer.
typedef struct vulkan_import {
  VkDeviceMemory memory;
  VkBuffer buffer;
  VkDeviceSize offset; // of the host's data in it
  uint64_t serial;     // of the buffer
} vulkan_import;

// False where the device cannot use this memory in place.
bool vulkan_import_take(vulkan_device *d, void *data, size_t size, vulkan_import *out);
void vulkan_import_give(vulkan_device *d, vulkan_import *i); // also one that holds nothing

#endif
