// SPDX-License-Identifier: MIT
//
// Buffers that stay on a Vulkan device. Where a device computes in the host's memory there is
// nothing to keep: the host's memory is used in place.
#include "backend/vulkan/residency.h"

#include "backend/numbered.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct vulkan_resident {
  vulkan_device *device;
  vulkan_memory memory;
} vulkan_resident;

void vulkan_drop(vyre_buffer *r) {
  vulkan_resident *o = r->device;
  vulkan_memory_give(o->device, &o->memory);
  free(o);
  r->device = NULL;
  r->backend = NULL;
}

bool vulkan_keeps_memory(const backend *self) {
  const vulkan_device *d = vulkan_device_find(numbered_adapter(self), NULL);
  return d && !d->is_in_place;
}

// ---- copies outside of dispatches ---------------------------------------------------------------

static VkResult record_copy(const vulkan_device *d, VkCommandBuffer commands,
                            const vulkan_memory *from, const vulkan_memory *to, VkDeviceSize size) {
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                    .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  VkMemoryBarrier done = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                          .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                          .dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_SHADER_READ_BIT |
                                           VK_ACCESS_SHADER_WRITE_BIT};
  VkBufferCopy part = {from->offset, to->offset, size};
  VkResult code = d->vk.BeginCommandBuffer(commands, &begin);
  if (code != VK_SUCCESS) return code;
  d->vk.CmdCopyBuffer(commands, from->buffer, to->buffer, 1, &part);
  d->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                           VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
                           &done, 0, NULL, 0, NULL);
  return d->vk.EndCommandBuffer(commands);
}

static VkResult run_copy(vulkan_device *d, VkCommandPool pool, VkFence fence,
                         const vulkan_memory *from, const vulkan_memory *to, VkDeviceSize size) {
  VkCommandBuffer commands;
  VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                     .commandPool = pool,
                                     .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                     .commandBufferCount = 1};
  VkResult code = d->vk.AllocateCommandBuffers(d->handle, &one, &commands);
  if (code == VK_SUCCESS) code = record_copy(d, commands, from, to, size);
  if (code != VK_SUCCESS) return code;
  VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                       .commandBufferCount = 1,
                       .pCommandBuffers = &commands};
  pthread_mutex_lock(&d->queue_lock);
  code = d->vk.QueueSubmit(d->queue, 1, &info, fence);
  pthread_mutex_unlock(&d->queue_lock);
  return code == VK_SUCCESS ? d->vk.WaitForFences(d->handle, 1, &fence, VK_TRUE, UINT64_MAX) : code;
}

static VkResult copy(vulkan_device *d, const vulkan_memory *from, const vulkan_memory *to,
                     VkDeviceSize size) {
  VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                       .queueFamilyIndex = d->queue_family};
  VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkCommandPool pool = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
  VkResult code = d->vk.CreateCommandPool(d->handle, &pool_info, NULL, &pool);
  if (code == VK_SUCCESS) code = d->vk.CreateFence(d->handle, &fence_info, NULL, &fence);
  if (code == VK_SUCCESS) code = run_copy(d, pool, fence, from, to, size);
  if (fence) d->vk.DestroyFence(d->handle, fence, NULL);
  if (pool) d->vk.DestroyCommandPool(d->handle, pool, NULL);
  return code;
}

// Bytes behind the end, up to a whole word, are zero on the device.
static VkResult transfer(vulkan_device *d, vulkan_memory *memory, void *host, size_t size,
                         bool is_there) {
  VkDeviceSize padded = ((VkDeviceSize)size + 3) / 4 * 4;
  vulkan_memory staging = {0};
  VkResult code = VK_SUCCESS;
  if (!memory->mapped) code = vulkan_memory_take(d, MEMORY_HOST, padded, &staging);
  if (code != VK_SUCCESS) return code;
  char *seen = memory->mapped ? memory->mapped : staging.mapped;
  if (is_there) {
    memcpy(seen, host, size);
    memset(seen + size, 0, padded - size);
  }
  if (!memory->mapped)
    code = is_there ? copy(d, &staging, memory, padded) : copy(d, memory, &staging, padded);
  if (code == VK_SUCCESS && !is_there) memcpy(host, seen, size);
  vulkan_memory_give(d, &staging);
  return code;
}

vyre_status vulkan_fetch(vyre_buffer *r, vyre_error *error) {
  vulkan_resident *o = r->device;
  VkResult code = transfer(o->device, &o->memory, r->host, r->size_bytes, false);
  return code == VK_SUCCESS ? VYRE_OK
                            : vulkan_device_error(o->device, error, code, "read a buffer");
}

// ---- placing ------------------------------------------------------------------------------------

static VkResult make_resident(vulkan_device *d, size_t size, vulkan_resident **out) {
  vulkan_resident *o = calloc(1, sizeof *o);
  if (!o) return VK_ERROR_OUT_OF_HOST_MEMORY;
  o->device = d;
  VkResult code = vulkan_memory_take(d, MEMORY_DEVICE, size + 3, &o->memory);
  if (code == VK_SUCCESS)
    *out = o;
  else
    free(o);
  return code;
}

// With the resident's lock held, and the host current where the device is not.
static VkResult place(vulkan_device *d, const backend *self, vyre_buffer *r) {
  vulkan_resident *o = r->device;
  VkResult code = VK_SUCCESS;
  if (r->backend == self && o->device != d && !r->is_host_current) { // another device of ours
    code = transfer(o->device, &o->memory, r->host, r->size_bytes, false);
    if (code != VK_SUCCESS) return code;
    r->is_host_current = true;
  }
  if (r->backend && (r->backend != self || o->device != d)) {
    r->backend->drop(r);
    r->is_device_current = false;
  }
  if (!r->backend) {
    code = make_resident(d, r->size_bytes, &o);
    if (code != VK_SUCCESS) return code;
    r->device = o;
    r->backend = self;
  }
  if (r->is_device_current) return VK_SUCCESS;
  code = transfer(d, &o->memory, r->host, r->size_bytes, true);
  if (code != VK_SUCCESS) return code;
  r->is_device_current = true;
  r->moved_bytes += r->size_bytes;
  return VK_SUCCESS;
}

VkResult vulkan_place(vulkan_device *d, const backend *self, vyre_buffer *r, bool is_written,
                      vulkan_memory *out) {
  pthread_mutex_lock(&r->lock);
  VkResult code = place(d, self, r);
  if (code == VK_SUCCESS) {
    *out = ((vulkan_resident *)r->device)->memory;
    if (is_written) r->is_host_current = false;
  }
  pthread_mutex_unlock(&r->lock);
  return code;
}
