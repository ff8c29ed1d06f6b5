// SPDX-License-Identifier: MIT
#include "backend/vulkan/record.h"

#include "ir/limits.h"

#include <string.h>

// ---- facts --------------------------------------------------------------------------------------

static uint32_t fact_word(const launch *l, const runner_step *s, vulkan_fact f) {
  if (!l) return 0;
  switch ((vulkan_fact_kind)f.kind) {
  case FACT_OF_PARAM: return (uint32_t)(l->params[f.index] >> (f.part ? 32 : 0));
  case FACT_OF_LENGTH: return (uint32_t)l->buffers[f.index].length;
  case FACT_OF_GRID: return (uint32_t)l->regions[s->region].grid[f.index];
  case FACT_OF_BASE: return s->base[f.index];
  case FACT_OF_ZERO: break;
  }
  return 0;
}

static VkDeviceSize uniform_stride(const runner *i, const vulkan_shader *s) {
  VkDeviceSize unit = i->device->properties.limits.minUniformBufferOffsetAlignment;
  VkDeviceSize size = 4 * (VkDeviceSize)s->fact_count;
  return unit ? (size + unit - 1) / unit * unit : size;
}

VkResult record_uniform(runner *i, const launch *l) {
  const vulkan_shader *shaders = i->build->source.shaders;
  VkDeviceSize size = 0;
  for (size_t n = 0; n < i->steps.count; n++) {
    const vulkan_shader *s = &shaders[i->steps.at[n].region];
    if (!s->has_uniform) continue;
    i->steps.at[n].uniform = (uint32_t)size;
    size += uniform_stride(i, s);
  }
  if (!size) return VK_SUCCESS;
  if (i->uniform.size < size) {
    vulkan_memory_give(i->device, &i->uniform);
    VkResult code = vulkan_memory_take(i->device, MEMORY_HOST, size, &i->uniform);
    if (code != VK_SUCCESS) return code;
  }
  for (size_t n = 0; n < i->steps.count; n++) {
    const runner_step *step = &i->steps.at[n];
    const vulkan_shader *s = &shaders[step->region];
    uint32_t *to = (uint32_t *)((char *)i->uniform.mapped + step->uniform);
    for (uint32_t k = 0; k < s->fact_count && s->has_uniform; k++)
      to[k] = fact_word(l, step, s->facts[k]);
  }
  return VK_SUCCESS;
}

// ---- the plan -----------------------------------------------------------------------------------

static bool add_words(runner *i, const void *data, size_t bytes) {
  size_t words = bytes / sizeof(uint32_t);
  if (!vec_reserve(&i->plan, words)) return false;
  memcpy(i->plan.at + i->plan.count, data, bytes);
  i->plan.count += words;
  return true;
}

// All that goes into the command buffer and the descriptors, as words.
static bool make_plan(runner *i, const launch *l, const record_batch *batch) {
  bool ok = true;
  i->plan.count = 0;
  uint32_t head[] = {batch->begins, batch->ends, batch->is_dry, i->is_timed};
  ok &= add_words(i, head, sizeof head);
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    const runner_place *p = &i->places[b];
    bool is_staged = p->is_copied && !p->own.mapped;
    uint64_t bound[] = {p->serial,
                        p->offset,
                        p->size,
                        p->is_copied,
                        p->first,
                        is_staged ? p->staging.serial : 0,
                        is_staged ? p->staging.offset : 0};
    ok &= add_words(i, bound, sizeof bound);
  }
  uint64_t uniform[] = {i->uniform.serial, i->uniform.offset};
  ok &= add_words(i, uniform, sizeof uniform);
  for (size_t n = 0; n < i->steps.count; n++) {
    const runner_step *s = &i->steps.at[n];
    const vulkan_shader *shader = &i->build->source.shaders[s->region];
    uint64_t pipeline = (uint64_t)(uintptr_t)i->shapes[s->region].pipeline;
    ok &= add_words(i, &pipeline, sizeof pipeline);
    uint32_t part[] = {s->region, s->begins};
    ok &= add_words(i, part, sizeof part);
    ok &= add_words(i, s->groups, sizeof s->groups);
    ok &= add_words(i, &s->uniform, sizeof s->uniform);
    for (uint32_t k = 0; k < shader->fact_count && !shader->has_uniform; k++) {
      uint32_t word = fact_word(l, s, shader->facts[k]);
      ok &= add_words(i, &word, sizeof word);
    }
  }
  return ok;
}

static bool is_recorded(const runner *i) {
  return i->plan.count == i->recorded.count &&
         !memcmp(i->plan.at, i->recorded.at, i->plan.count * sizeof *i->plan.at);
}

// ---- descriptors --------------------------------------------------------------------------------

static void bind_region(runner *i, uint32_t r, bool is_dry) {
  const vulkan_shader *s = &i->build->source.shaders[r];
  VkDescriptorBufferInfo infos[LIMIT_BUFFERS + 2];
  VkWriteDescriptorSet writes[LIMIT_BUFFERS + 2];
  const VkDescriptorBufferInfo none = {i->flags.buffer, i->flags.offset + RECORD_NONE_OFFSET,
                                       RECORD_NONE_BYTES};
  uint32_t count = 0;
  for (; count < s->use_count; count++) {
    const runner_place *p = &i->places[s->uses[count].buffer];
    infos[count] = is_dry ? none : (VkDescriptorBufferInfo){p->buffer, p->offset, p->size};
    writes[count].dstBinding = s->uses[count].buffer;
    writes[count].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  }
  if (i->build->source.is_polled) {
    infos[count] = (VkDescriptorBufferInfo){i->flags.buffer, i->flags.offset, 4};
    writes[count].dstBinding = i->build->stop_binding;
    writes[count++].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  }
  if (s->has_uniform) {
    infos[count] =
        (VkDescriptorBufferInfo){i->uniform.buffer, i->uniform.offset, 4 * s->fact_count};
    writes[count].dstBinding = i->build->uniform_binding;
    writes[count++].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
  }
  for (uint32_t k = 0; k < count; k++)
    writes[k] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .dstSet = i->sets[r],
                                       .dstBinding = writes[k].dstBinding,
                                       .descriptorCount = 1,
                                       .descriptorType = writes[k].descriptorType,
                                       .pBufferInfo = &infos[k]};
  i->device->vk.UpdateDescriptorSets(i->device->handle, count, writes, 0, NULL);
}

// ---- commands -----------------------------------------------------------------------------------

typedef struct recording {
  runner *i;
  const vulkan_calls *vk;
  bool is_written[LIMIT_BUFFERS], is_read[LIMIT_BUFFERS]; // since the last barrier
} recording;

static void barrier(recording *c, VkPipelineStageFlags from, VkAccessFlags written,
                    VkPipelineStageFlags to, VkAccessFlags wanted) {
  VkMemoryBarrier all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = written, .dstAccessMask = wanted};
  c->vk->CmdPipelineBarrier(c->i->recording, from, to, 0, 1, &all, 0, NULL, 0, NULL);
}

static const VkAccessFlags shader_access = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;

// Whether the memory of a transient buffer was another's before.
static bool is_shared(const runner *i, uint32_t b) {
  for (uint32_t k = 0; k < i->program->buffer_count; k++) {
    const runner_place *p = &i->places[k];
    if (k == b || !i->program->buffers[k].is_transient || p->is_empty) continue;
    if (p->slot == i->places[b].slot && p->first < i->places[b].first) return true;
  }
  return false;
}

// What a launch begins with: copies to the device, and the transient buffers cleared that are the
// first in their memory.
static void put_beginning(recording *c) {
  const runner *i = c->i;
  bool has_transfer = false;
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    const runner_place *p = &i->places[b];
    if (p->is_copied && !p->own.mapped) {
      VkBufferCopy copy = {p->staging.offset, p->own.offset, p->size};
      c->vk->CmdCopyBuffer(i->recording, p->staging.buffer, p->own.buffer, 1, &copy);
      has_transfer = true;
    }
    if (i->program->buffers[b].is_transient && !p->is_empty && !is_shared(i, b)) {
      c->vk->CmdFillBuffer(i->recording, p->buffer, p->offset, p->size, 0);
      has_transfer = true;
    }
  }
  if (has_transfer)
    barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, shader_access);
}

static void put_end(recording *c) {
  const runner *i = c->i;
  bool has_transfer = false;
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    const runner_place *p = &i->places[b];
    if (!p->is_copied || p->own.mapped || i->program->buffers[b].access == VYRE_READ) continue;
    if (!has_transfer)
      barrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
              VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    has_transfer = true;
    VkBufferCopy copy = {p->own.offset, p->staging.offset, p->size};
    c->vk->CmdCopyBuffer(i->recording, p->own.buffer, p->staging.buffer, 1, &copy);
  }
}

// Whether the region needs what is not done yet: it touches what was written since the last
// barrier, or writes what was read.
static bool must_wait(const recording *c, const vulkan_shader *s) {
  for (uint32_t k = 0; k < s->use_count; k++) {
    const vulkan_use *u = &s->uses[k];
    if (c->is_written[u->buffer] || (u->is_written && c->is_read[u->buffer])) return true;
  }
  return false;
}

static void note_uses(recording *c, const vulkan_shader *s) {
  for (uint32_t k = 0; k < s->use_count; k++) {
    c->is_written[s->uses[k].buffer] |= s->uses[k].is_written;
    c->is_read[s->uses[k].buffer] |= s->uses[k].is_read;
  }
}

// A CPU runs one command after the other, and waits for what it has begun where the end is asked
// for.
static void put_timestamp(recording *c) {
  bool is_cpu = c->i->device->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  VkPipelineStageFlagBits stage = is_cpu || !c->i->marks.count
                                      ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT
                                      : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
  if (c->i->is_timed)
    c->vk->CmdWriteTimestamp(c->i->recording, stage, c->i->queries, (uint32_t)c->i->marks.count);
}

// Clears the transient buffers that begin with a region, where others were in their memory before.
// All that ran is waited for.
static void clear_shared(recording *c, uint32_t r) {
  const runner *i = c->i;
  bool has_transfer = false;
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    const runner_place *p = &i->places[b];
    if (!i->program->buffers[b].is_transient || p->is_empty || p->first != r) continue;
    if (!is_shared(i, b)) continue;
    if (!has_transfer)
      barrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
              VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
    has_transfer = true;
    c->vk->CmdFillBuffer(i->recording, p->buffer, p->offset, p->size, 0);
  }
  if (!has_transfer) return;
  barrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
          VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, shader_access);
  memset(c->is_written, 0, sizeof c->is_written);
  memset(c->is_read, 0, sizeof c->is_read);
}

static void begin_region(recording *c, const runner_step *step) {
  uint32_t r = step->region;
  const vulkan_shader *s = &c->i->build->source.shaders[r];
  if (step->begins) clear_shared(c, r);
  if (must_wait(c, s)) {
    barrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, shader_access);
    memset(c->is_written, 0, sizeof c->is_written);
    memset(c->is_read, 0, sizeof c->is_read);
  }
  note_uses(c, s);
  c->vk->CmdBindPipeline(c->i->recording, VK_PIPELINE_BIND_POINT_COMPUTE, c->i->shapes[r].pipeline);
}

static void put_step(recording *c, const launch *l, const runner_step *step, bool is_first) {
  const runner *i = c->i;
  const vulkan_shader *s = &i->build->source.shaders[step->region];
  VkPipelineLayout layout = i->build->regions[step->region].layout;
  uint32_t words[64];
  if (is_first || s->has_uniform)
    c->vk->CmdBindDescriptorSets(i->recording, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1,
                                 &i->sets[step->region], s->has_uniform, &step->uniform);
  for (uint32_t k = 0; k < s->fact_count && !s->has_uniform; k++)
    words[k] = fact_word(l, step, s->facts[k]);
  if (s->fact_count && !s->has_uniform)
    c->vk->CmdPushConstants(i->recording, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4 * s->fact_count,
                            words);
  c->vk->CmdDispatch(i->recording, step->groups[0], step->groups[1], step->groups[2]);
}

static bool put_steps(recording *c, const launch *l) {
  runner *i = c->i;
  for (size_t n = 0; n < i->steps.count; n++) {
    const runner_step *s = &i->steps.at[n];
    bool is_first = !n || s[-1].region != s->region;
    bool is_last = n + 1 == i->steps.count || s[1].region != s->region;
    if (is_first) begin_region(c, s);
    put_step(c, l, s, is_first);
    if (!is_last) continue;
    if (!vec_push(&i->marks, s->region)) return false;
    put_timestamp(c);
  }
  return true;
}

VkResult record_commands(runner *i, const launch *l, const record_batch *batch) {
  if (!make_plan(i, l, batch)) return VK_ERROR_OUT_OF_HOST_MEMORY;
  if (is_recorded(i)) return VK_SUCCESS;
  i->recorded.count = 0;
  recording c = {.i = i, .vk = &i->device->vk};
  for (size_t n = 0; n < i->steps.count; n++)
    if (!n || i->steps.at[n - 1].region != i->steps.at[n].region)
      bind_region(i, i->steps.at[n].region, batch->is_dry);
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  VkResult code = c.vk->BeginCommandBuffer(i->recording, &begin);
  if (code != VK_SUCCESS) return code;
  i->marks.count = 0;
  if (i->is_timed)
    c.vk->CmdResetQueryPool(i->recording, i->queries, 0, i->program->region_count + 1);
  if (batch->begins) put_beginning(&c);
  put_timestamp(&c);
  bool ok = put_steps(&c, l);
  if (batch->ends) put_end(&c);
  // For the host, and for what is submitted next.
  barrier(&c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
          VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
              VK_PIPELINE_STAGE_TRANSFER_BIT,
          VK_ACCESS_HOST_READ_BIT | shader_access | VK_ACCESS_TRANSFER_READ_BIT |
              VK_ACCESS_TRANSFER_WRITE_BIT);
  code = c.vk->EndCommandBuffer(i->recording);
  if (!ok) return VK_ERROR_OUT_OF_HOST_MEMORY;
  // What is recorded now is the plan: the two change places.
  runner_words old = i->recorded;
  if (code == VK_SUCCESS) i->recorded = i->plan, i->plan = old;
  return code;
}
