// SPDX-License-Identifier: MIT
#include "backend/vulkan/build.h"

#include "backend/cache.h"
#include "backend/launch.h"
#include "base/error.h"
#include "ir/limits.h"

#include <stdlib.h>
#include <string.h>

// ---- the driver's cache -------------------------------------------------------------------------

static void make_key(const vulkan_build *b, cache_key *key) {
  const VkPhysicalDeviceProperties *p = &b->device->properties;
  cache_key_init(key, "vulkan");
  cache_key_add_number(key, p->vendorID);
  cache_key_add_number(key, p->deviceID);
  cache_key_add_number(key, p->driverVersion);
  cache_key_add(key, p->pipelineCacheUUID, VK_UUID_SIZE);
  cache_key_add_string(key, p->deviceName);
  cache_key_add_string(key, b->device->driver);
  for (uint32_t i = 0; i < b->source.shader_count; i++)
    cache_key_add(key, b->source.shaders[i].code, b->source.shaders[i].words * sizeof(uint32_t));
}

// As the specification lays it out.
static bool is_of_device(const vulkan_device *d, const void *data, size_t size) {
  const VkPhysicalDeviceProperties *p = &d->properties;
  uint32_t head[4];
  if (size < sizeof head + VK_UUID_SIZE) return false;
  memcpy(head, data, sizeof head);
  return head[0] >= sizeof head + VK_UUID_SIZE && head[0] <= size &&
         head[1] == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && head[2] == p->vendorID &&
         head[3] == p->deviceID &&
         !memcmp((const char *)data + sizeof head, p->pipelineCacheUUID, VK_UUID_SIZE);
}

static void open_cache(vulkan_build *b, const cache_key *key) {
  vulkan_device *d = b->device;
  void *data = NULL;
  size_t size = 0;
  bool found = cache_load(key, &data, &size);
  b->was_cached = found && is_of_device(d, data, size);
  VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                    .initialDataSize = b->was_cached ? size : 0,
                                    .pInitialData = b->was_cached ? data : NULL};
  // Without one, things are only slower.
  if (d->vk.CreatePipelineCache(d->handle, &info, NULL, &b->cache) != VK_SUCCESS)
    b->cache = VK_NULL_HANDLE;
  if (found) free(data);
}

// Some drivers remember nothing: a header alone is not worth a file.
static void store_cache(const vulkan_build *b, const cache_key *key) {
  const vulkan_device *d = b->device;
  size_t size = 0;
  if (!b->cache || b->was_cached || !cache_is_on() ||
      d->vk.GetPipelineCacheData(d->handle, b->cache, &size, NULL) != VK_SUCCESS || size <= 64)
    return;
  void *data = malloc(size);
  if (data && d->vk.GetPipelineCacheData(d->handle, b->cache, &size, data) == VK_SUCCESS &&
      is_of_device(d, data, size))
    cache_store(key, data, size);
  free(data);
}

// ---- layouts ------------------------------------------------------------------------------------

static VkDescriptorSetLayoutBinding binding_of(uint32_t number, VkDescriptorType type) {
  return (VkDescriptorSetLayoutBinding){.binding = number,
                                        .descriptorType = type,
                                        .descriptorCount = 1,
                                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
}

static VkResult make_layout(vulkan_build *b, uint32_t index) {
  const vulkan_shader *s = &b->source.shaders[index];
  vulkan_region *r = &b->regions[index];
  vulkan_device *d = b->device;
  VkDescriptorSetLayoutBinding bindings[LIMIT_BUFFERS + 2];
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->use_count; i++)
    bindings[count++] = binding_of(s->uses[i].buffer, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
  if (b->source.is_polled)
    bindings[count++] = binding_of(b->stop_binding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
  if (s->has_uniform)
    bindings[count++] = binding_of(b->uniform_binding, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC);
  VkDescriptorSetLayoutCreateInfo info = {.sType =
                                              VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                          .bindingCount = count,
                                          .pBindings = bindings};
  VkResult code = d->vk.CreateDescriptorSetLayout(d->handle, &info, NULL, &r->bindings);
  if (code != VK_SUCCESS) return code;
  bool is_pushed = s->fact_count && !s->has_uniform;
  VkPushConstantRange pushed = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 4 * s->fact_count};
  VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &r->bindings,
                                       .pushConstantRangeCount = is_pushed,
                                       .pPushConstantRanges = &pushed};
  return d->vk.CreatePipelineLayout(d->handle, &layout, NULL, &r->layout);
}

static VkResult make_region(vulkan_build *b, uint32_t index) {
  const vulkan_shader *s = &b->source.shaders[index];
  vulkan_device *d = b->device;
  VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                   .codeSize = s->words * sizeof *s->code,
                                   .pCode = s->code};
  VkResult code = d->vk.CreateShaderModule(d->handle, &info, NULL, &b->regions[index].module);
  return code == VK_SUCCESS ? make_layout(b, index) : code;
}

static vyre_status check_limits(const vulkan_build *b, vyre_error *error) {
  const VkPhysicalDeviceLimits *l = &b->device->properties.limits;
  uint32_t most = l->maxPerStageDescriptorStorageBuffers;
  for (uint32_t i = 0; i < b->source.shader_count; i++) {
    const vulkan_shader *s = &b->source.shaders[i];
    uint32_t count = s->use_count + b->source.is_polled;
    if (count > most || count + s->has_uniform > l->maxPerStageResources)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "shader `%s` uses %u buffers, the device takes %u. Fix: use fewer buffers "
                       "in a region, or another backend",
                       s->entry, count, most);
    if (s->has_uniform && 4 * s->fact_count > l->maxUniformBufferRange)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "shader `%s` has more parameters than the device takes. Fix: use fewer",
                       s->entry);
  }
  return VYRE_OK;
}

// ---- pipelines ----------------------------------------------------------------------------------

void vulkan_choose_workgroup(const vulkan_device *d, const region *r, const uint32_t wanted[3],
                             uint32_t out[3]) {
  const VkPhysicalDeviceLimits *l = &d->properties.limits;
  for (uint32_t k = 0; k < 3; k++) out[k] = k < r->rank ? wanted[k] : 1;
  if (!r->is_elastic) return;
  for (uint32_t k = 0; k < 3; k++)
    while (out[k] > l->maxComputeWorkGroupSize[k] && out[k] > 1) out[k] = (out[k] + 1) / 2;
  while (out[0] * out[1] * out[2] > l->maxComputeWorkGroupInvocations) {
    int largest = out[0] >= out[1] && out[0] >= out[2] ? 0 : out[1] >= out[2] ? 1 : 2;
    out[largest] = (out[largest] + 1) / 2;
  }
}

static VkResult make_pipeline(const vulkan_build *b, uint32_t index, const uint32_t size[3],
                              VkPipeline *out) {
  static const VkSpecializationMapEntry entries[3] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}};
  const vulkan_region *r = &b->regions[index];
  VkSpecializationInfo special = {3, entries, 12, size};
  VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = r->module,
                .pName = b->source.shaders[index].entry,
                .pSpecializationInfo = &special},
      .layout = r->layout};
  return b->device->vk.CreateComputePipelines(b->device->handle, b->cache, 1, &info, NULL, out);
}

vyre_status vulkan_build_pipeline(vulkan_build *b, uint32_t index, const uint32_t size[3],
                                  VkPipeline *out, vyre_error *error) {
  VkResult code = VK_SUCCESS;
  pthread_mutex_lock(&b->lock);
  *out = VK_NULL_HANDLE;
  for (size_t i = 0; i < b->pipelines.count && !*out; i++) {
    const vulkan_pipeline *p = &b->pipelines.at[i];
    if (p->region == index && !memcmp(p->workgroup, size, sizeof p->workgroup)) *out = p->handle;
  }
  if (!*out) {
    vulkan_pipeline made = {.region = index, .workgroup = {size[0], size[1], size[2]}};
    if (!vec_reserve(&b->pipelines, 1)) code = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (code == VK_SUCCESS) code = make_pipeline(b, index, size, &made.handle);
    if (code == VK_SUCCESS) b->pipelines.at[b->pipelines.count++] = made;
    *out = made.handle;
  }
  pthread_mutex_unlock(&b->lock);
  return code == VK_SUCCESS ? VYRE_OK
                            : vulkan_device_error(b->device, error, code, "compile a shader");
}

// ---- life ---------------------------------------------------------------------------------------

static vyre_status make_all(vulkan_build *b, const vyre_program *program,
                            const volatile uint32_t *stop, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < b->source.shader_count && status == VYRE_OK; i++) {
    uint32_t size[3];
    VkPipeline made;
    if (__atomic_load_n(stop, __ATOMIC_RELAXED)) return launch_compiling_error(program, error);
    VkResult code = make_region(b, i);
    if (code != VK_SUCCESS) return vulkan_device_error(b->device, error, code, "take a shader");
    vulkan_choose_workgroup(b->device, &program->regions[i], program->regions[i].workgroup, size);
    status = vulkan_build_pipeline(b, i, size, &made, error);
  }
  return status;
}

vyre_status vulkan_build_init(vulkan_build *b, vulkan_device *d, const vulkan_target *target,
                              const vyre_program *program, bool is_polled,
                              const volatile uint32_t *stop, vyre_error *error) {
  cache_key key;
  *b = (vulkan_build){.device = d,
                      .target = *target,
                      .stop_binding = vulkan_stop_binding(program),
                      .uniform_binding = vulkan_uniform_binding(program)};
  vyre_status status = vulkan_emit(program, target, is_polled, &b->source, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_init(&b->lock, NULL);
  b->regions = calloc(b->source.shader_count + 1u, sizeof *b->regions);
  if (!b->regions) status = error_out_of_memory(error);
  if (status == VYRE_OK) status = check_limits(b, error);
  if (status == VYRE_OK) {
    make_key(b, &key);
    open_cache(b, &key);
    status = make_all(b, program, stop, error);
  }
  if (status == VYRE_OK)
    store_cache(b, &key);
  else
    vulkan_build_fini(b);
  return status;
}

void vulkan_build_fini(vulkan_build *b) {
  vulkan_device *d = b->device;
  for (size_t i = 0; i < b->pipelines.count; i++)
    d->vk.DestroyPipeline(d->handle, b->pipelines.at[i].handle, NULL);
  for (uint32_t i = 0; i < b->source.shader_count && b->regions; i++) {
    const vulkan_region *r = &b->regions[i];
    if (r->layout) d->vk.DestroyPipelineLayout(d->handle, r->layout, NULL);
    if (r->bindings) d->vk.DestroyDescriptorSetLayout(d->handle, r->bindings, NULL);
    if (r->module) d->vk.DestroyShaderModule(d->handle, r->module, NULL);
  }
  if (b->cache) d->vk.DestroyPipelineCache(d->handle, b->cache, NULL);
  vec_free(&b->pipelines);
  free(b->regions);
  vulkan_source_fini(&b->source);
  pthread_mutex_destroy(&b->lock);
}
