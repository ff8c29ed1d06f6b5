// SPDX-License-Identifier: MIT
#include "backend/vulkan/memory.h"

#include <stdlib.h>

typedef struct stretch {
  VkDeviceSize offset, size;
} stretch;

struct vulkan_block {
  vulkan_block *next;
  VkDeviceMemory memory;
  VkBuffer buffer;
  VkDeviceSize size;
  uint64_t serial;
  uint32_t type;
  char *mapped;
  vec(stretch) free; // by offset; no two touch
};

// Smaller programs need one block; larger buffers get one of their own.
#define BLOCK_BYTES ((VkDeviceSize)32 << 20)

enum { ALIGNMENT = 256 }; // no device asks for more, of offsets of any kind

static const VkBufferUsageFlags all_uses =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

static VkDeviceSize round_up(VkDeviceSize size, VkDeviceSize to) {
  return (size + to - 1) / to * to;
}

// ---- blocks -------------------------------------------------------------------------------------

static void free_block(vulkan_device *d, vulkan_block *b) {
  if (b->buffer) d->vk.DestroyBuffer(d->handle, b->buffer, NULL);
  if (b->memory) d->vk.FreeMemory(d->handle, b->memory, NULL); // also unmaps it
  vec_free(&b->free);
  free(b);
}

static VkResult fill_block(vulkan_device *d, vulkan_block *b, bool is_mapped) {
  VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = b->size, .usage = all_uses};
  VkMemoryRequirements needs;
  VkResult code = d->vk.CreateBuffer(d->handle, &info, NULL, &b->buffer);
  if (code != VK_SUCCESS) return code;
  d->vk.GetBufferMemoryRequirements(d->handle, b->buffer, &needs);
  if (!(needs.memoryTypeBits >> b->type & 1)) return VK_ERROR_FEATURE_NOT_PRESENT;
  VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = needs.size,
                                 .memoryTypeIndex = b->type};
  code = d->vk.AllocateMemory(d->handle, &memory, NULL, &b->memory);
  b->serial = atomic_fetch_add(&d->allocations, 1) + 1;
  if (code == VK_SUCCESS) code = d->vk.BindBufferMemory(d->handle, b->buffer, b->memory, 0);
  if (code == VK_SUCCESS && is_mapped)
    code = d->vk.MapMemory(d->handle, b->memory, 0, VK_WHOLE_SIZE, 0, (void **)&b->mapped);
  if (code == VK_SUCCESS && !vec_push(&b->free, (stretch){0, b->size}))
    code = VK_ERROR_OUT_OF_HOST_MEMORY;
  return code;
}

static VkResult make_block(vulkan_device *d, uint32_t type, bool is_mapped, VkDeviceSize size,
                           vulkan_block **out) {
  vulkan_block *b = calloc(1, sizeof *b);
  if (!b) return VK_ERROR_OUT_OF_HOST_MEMORY;
  b->size = size > BLOCK_BYTES / 2 ? size : BLOCK_BYTES;
  b->type = type;
  VkResult code = fill_block(d, b, is_mapped);
  if (code != VK_SUCCESS) {
    free_block(d, b);
    return code;
  }
  b->next = d->blocks;
  d->blocks = b;
  *out = b;
  return VK_SUCCESS;
}

// ---- pieces -------------------------------------------------------------------------------------

static bool take_from(vulkan_block *b, VkDeviceSize size, vulkan_memory *out) {
  for (size_t i = 0; i < b->free.count; i++) {
    stretch *s = &b->free.at[i];
    if (s->size < size) continue;
    *out = (vulkan_memory){.block = b,
                           .buffer = b->buffer,
                           .offset = s->offset,
                           .size = size,
                           .mapped = b->mapped ? b->mapped + s->offset : NULL,
                           .serial = b->serial};
    s->offset += size;
    s->size -= size;
    if (!s->size) {
      for (size_t k = i + 1; k < b->free.count; k++) b->free.at[k - 1] = b->free.at[k];
      b->free.count--;
    }
    return true;
  }
  return false;
}

VkResult vulkan_memory_take(vulkan_device *d, memory_kind kind, VkDeviceSize size,
                            vulkan_memory *out) {
  uint32_t type = kind == MEMORY_HOST ? d->host_type : d->device_type;
  bool is_mapped = kind == MEMORY_HOST || d->shares_memory;
  VkResult code = VK_SUCCESS;
  *out = (vulkan_memory){0};
  size = round_up(size ? size : 1, ALIGNMENT);
  pthread_mutex_lock(&d->memory_lock);
  for (vulkan_block *b = d->blocks; b && !out->block; b = b->next)
    if (b->type == type && !b->mapped == !is_mapped) take_from(b, size, out);
  if (!out->block) {
    vulkan_block *b;
    code = make_block(d, type, is_mapped, size, &b);
    if (code == VK_SUCCESS) take_from(b, size, out);
  }
  d->taken_bytes += out->size;
  pthread_mutex_unlock(&d->memory_lock);
  return code;
}

// Back among the free stretches, joined with those that it touches.
static bool give_to(vulkan_block *b, VkDeviceSize offset, VkDeviceSize size) {
  size_t i = 0;
  while (i < b->free.count && b->free.at[i].offset < offset) i++;
  bool joins_before = i > 0 && b->free.at[i - 1].offset + b->free.at[i - 1].size == offset;
  bool joins_after = i < b->free.count && offset + size == b->free.at[i].offset;
  if (joins_before) {
    b->free.at[i - 1].size += size + (joins_after ? b->free.at[i].size : 0);
    if (!joins_after) return true;
    for (size_t k = i + 1; k < b->free.count; k++) b->free.at[k - 1] = b->free.at[k];
    b->free.count--;
  } else if (joins_after) {
    b->free.at[i].offset = offset;
    b->free.at[i].size += size;
  } else {
    if (!vec_reserve(&b->free, 1)) return false; // lost until the block goes
    for (size_t k = b->free.count++; k > i; k--) b->free.at[k] = b->free.at[k - 1];
    b->free.at[i] = (stretch){offset, size};
  }
  return true;
}

static bool is_idle(const vulkan_block *b) {
  return b->free.count == 1 && b->free.at[0].size == b->size;
}

// One idle block of a kind is kept for the next who asks; more go back to the driver, and large
// ones do at once.
static void drop_idle(vulkan_device *d, const vulkan_block *given) {
  bool has_other = given->size > BLOCK_BYTES;
  for (const vulkan_block *b = d->blocks; b; b = b->next)
    has_other |= b != given && is_idle(b) && b->type == given->type && !b->mapped == !given->mapped;
  if (!is_idle(given) || !has_other) return;
  for (vulkan_block **at = &d->blocks; *at; at = &(*at)->next) {
    if (*at != given) continue;
    vulkan_block *gone = *at;
    *at = gone->next;
    free_block(d, gone);
    return;
  }
}

void vulkan_memory_give(vulkan_device *d, vulkan_memory *m) {
  if (!m->block) return;
  pthread_mutex_lock(&d->memory_lock);
  d->taken_bytes -= m->size;
  if (give_to(m->block, m->offset, m->size)) drop_idle(d, m->block);
  pthread_mutex_unlock(&d->memory_lock);
  *m = (vulkan_memory){0};
}

// ---- the host's memory --------------------------------------------------------------------------

static bool make_import(vulkan_device *d, char *first, VkDeviceSize size, vulkan_import *out) {
  const VkExternalMemoryHandleTypeFlagBits kind =
      VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkMemoryHostPointerPropertiesEXT found = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  if (d->vk.GetMemoryHostPointerPropertiesEXT(d->handle, kind, first, &found) != VK_SUCCESS)
    return false;
  VkExternalMemoryBufferCreateInfo outside = {
      .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = kind};
  VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                             .pNext = &outside,
                             .size = size,
                             .usage = all_uses};
  VkMemoryRequirements needs;
  if (d->vk.CreateBuffer(d->handle, &info, NULL, &out->buffer) != VK_SUCCESS) return false;
  d->vk.GetBufferMemoryRequirements(d->handle, out->buffer, &needs);
  uint32_t types = needs.memoryTypeBits & found.memoryTypeBits;
  if (!types || needs.size > size) return false;
  VkImportMemoryHostPointerInfoEXT pages = {
      .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
      .handleType = kind,
      .pHostPointer = first};
  VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = &pages,
                                 .allocationSize = size,
                                 .memoryTypeIndex = (uint32_t)__builtin_ctz(types)};
  out->serial = atomic_fetch_add(&d->allocations, 1) + 1;
  return d->vk.AllocateMemory(d->handle, &memory, NULL, &out->memory) == VK_SUCCESS &&
         d->vk.BindBufferMemory(d->handle, out->buffer, out->memory, 0) == VK_SUCCESS;
}

bool vulkan_import_take(vulkan_device *d, void *data, size_t size, vulkan_import *out) {
  *out = (vulkan_import){0};
  VkDeviceSize unit = d->import_alignment;
  if (!d->is_in_place || !unit) return false;
  uintptr_t at = (uintptr_t)data, first = at / unit * unit;
  out->offset = at - first;
  if (out->offset % d->properties.limits.minStorageBufferOffsetAlignment) return false;
  // Whole pages around the data: those are mapped when a byte of them is.
  VkDeviceSize bytes = round_up(out->offset + size, unit);
  if (make_import(d, (char *)data - out->offset, bytes, out)) return true;
  vulkan_import_give(d, out);
  return false;
}

void vulkan_import_give(vulkan_device *d, vulkan_import *i) {
  if (i->buffer) d->vk.DestroyBuffer(d->handle, i->buffer, NULL);
  if (i->memory) d->vk.FreeMemory(d->handle, i->memory, NULL);
  *i = (vulkan_import){0};
}
