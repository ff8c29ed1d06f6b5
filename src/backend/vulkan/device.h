// SPDX-License-Identifier: MIT
//
// The Vulkan devices of this machine, found once per process: what each can do, its stable name,
// and why one cannot be used. Devices live as long as the process. What a device computes exactly
// is known when it is first used (probe.h), because asking takes compiling. Any thread.
#ifndef VYRE_BACKEND_VULKAN_DEVICE_H
#define VYRE_BACKEND_VULKAN_DEVICE_H

#include "backend/vulkan/api.h"
#include "backend/vulkan/emit.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct vulkan_block vulkan_block; // memory.h

typedef struct vulkan_device {
  const vulkan_api *api;
  vulkan_calls vk;
  VkPhysicalDevice physical;
  VkDevice handle; // NULL when the device cannot be used
  VkQueue queue;
  uint32_t queue_family;
  pthread_mutex_t queue_lock; // of vkQueueSubmit
  VkPhysicalDeviceProperties properties;
  VkPhysicalDeviceMemoryProperties memory;
  vyre_device info; // info.unusable says why, if so
  char driver[400]; // name and version, for the keys of caches
  vulkan_target target;
  double tick_ns;          // of timestamps; 0: the queue has none
  uint64_t timestamp_mask; // their valid bits
  bool is_in_place;        // a bound buffer is the host's memory itself
  bool shares_memory;      // device memory is the host's too, and mapped
  VkDeviceSize import_alignment;
  uint32_t device_type, host_type; // memory types: for shaders, for copies

  pthread_mutex_t memory_lock;
  vulkan_block *blocks;
  atomic_ullong allocations; // calls of vkAllocateMemory so far
  VkDeviceSize taken_bytes;  // of the blocks, that are in use
  pthread_mutex_t probe_lock;
  bool is_probed;
  uint32_t claims; // what the probe found, see probe.c
  atomic_bool is_lost;
} vulkan_device;

// Whether Vulkan can be used in this process: not in a child of one that used it.
vyre_status vulkan_check_process(vyre_error *error);
// The list and its length; NULL with an error when there is no Vulkan at all.
vulkan_device *vulkan_devices(uint32_t *count, vyre_error *error);

// By adapter name; the first usable one for NULL. NULL with an error otherwise.
vulkan_device *vulkan_device_find(const char *adapter, vyre_error *error);

// As vulkan_error; remembers when the code says that the device is gone.
vyre_status vulkan_device_error(vulkan_device *d, vyre_error *error, VkResult code,
                                const char *what);

#endif
