// SPDX-License-Identifier: MIT
//
// Compiled shaders: SPIR-V through the driver's compiler, one pipeline per region and workgroup,
// made when a launch first asks for it. What the driver remembers of its work (the pipeline cache)
// is kept in the code cache, under vyre's own checksum and with the vendor's header compared,
// because drivers may crash on a damaged one. The caller ends what it got with vulkan_build_fini.
// Any thread.
#ifndef VYRE_BACKEND_VULKAN_BUILD_H
#define VYRE_BACKEND_VULKAN_BUILD_H

#include "backend/vulkan/device.h"

typedef struct vulkan_region {
  VkShaderModule module;
  VkDescriptorSetLayout bindings;
  VkPipelineLayout layout;
} vulkan_region;

typedef struct vulkan_pipeline {
  uint32_t region, workgroup[3];
  VkPipeline handle;
} vulkan_pipeline;

typedef struct vulkan_build {
  vulkan_device *device;
  vulkan_target target; // what it was emitted for
  vulkan_source source;
  uint32_t stop_binding, uniform_binding;
  vulkan_region *regions; // one per shader
  VkPipelineCache cache;
  bool was_cached;      // the driver's cache was found
  pthread_mutex_t lock; // of what follows
  vec(vulkan_pipeline) pipelines;
} vulkan_build;

// Makes the pipelines of the declared workgroups, too. When *stop becomes other than 0 nobody waits
// for the result.
vyre_status vulkan_build_init(vulkan_build *b, vulkan_device *d, const vulkan_target *target,
                              const vyre_program *program, bool is_polled,
                              const volatile uint32_t *stop, vyre_error *error);
void vulkan_build_fini(vulkan_build *b);

// The build keeps it.
vyre_status vulkan_build_pipeline(vulkan_build *b, uint32_t region, const uint32_t workgroup[3],
                                  VkPipeline *out, vyre_error *error);

// The launch shape: as asked, made smaller for an elastic region until the device takes it.
void vulkan_choose_workgroup(const vulkan_device *d, const region *r, const uint32_t wanted[3],
                             uint32_t out[3]);

#endif
