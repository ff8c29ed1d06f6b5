// SPDX-License-Identifier: MIT
#include "backend/vulkan/runner.h"

#include "backend/vulkan/record.h"
#include "backend/vulkan/residency.h"
#include "base/clock.h"
#include "base/error.h"
#include "lower/storage.h"

#include <stdlib.h>
#include <string.h>

enum { FLAGS_BYTES = RECORD_NONE_OFFSET + RECORD_NONE_BYTES };

// How long a device that was told to stop may go on, when it uses no memory of the caller.
#define GRACE_NS 2000000000u

// How often somebody looks whether the caller wants it ended.
#define LOOK_NS 10000000u

// What is submitted at once under a limit. A device that was told to stop still goes through
// the invocations of what was submitted, each of which takes about a nanosecond to leave.
#define PIECE_INVOCATIONS ((uint64_t)1 << 22)

// Steps of a batch: a command buffer for each is a few bytes, all pieces of a large grid are not.
enum { STEPS_AT_ONCE = 4096 };

// ---- life ---------------------------------------------------------------------------------------

static VkResult make_descriptors(runner *i) {
  vulkan_device *d = i->device;
  const vulkan_source *s = &i->build->source;
  uint32_t storage = 0, uniform = 0, count = s->shader_count;
  for (uint32_t r = 0; r < count; r++) {
    storage += s->shaders[r].use_count + s->is_polled;
    uniform += s->shaders[r].has_uniform;
  }
  VkDescriptorPoolSize sizes[] = {
      {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, storage ? storage : 1},
      {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, uniform ? uniform : 1}};
  VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                     .maxSets = count ? count : 1,
                                     .poolSizeCount = 2,
                                     .pPoolSizes = sizes};
  VkResult code = d->vk.CreateDescriptorPool(d->handle, &info, NULL, &i->descriptors);
  for (uint32_t r = 0; r < count && code == VK_SUCCESS; r++) {
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = i->descriptors,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &i->build->regions[r].bindings};
    code = d->vk.AllocateDescriptorSets(d->handle, &set, &i->sets[r]);
  }
  return code;
}

static VkResult make_commands(runner *i) {
  vulkan_device *d = i->device;
  VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                  .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                  .queueFamilyIndex = d->queue_family};
  VkResult code = d->vk.CreateCommandPool(d->handle, &pool, NULL, &i->commands);
  if (code != VK_SUCCESS) return code;
  VkCommandBufferAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                     .commandPool = i->commands,
                                     .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                     .commandBufferCount = 1};
  VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                   .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = i->program->region_count + 1};
  code = d->vk.AllocateCommandBuffers(d->handle, &one, &i->recording);
  if (code == VK_SUCCESS) code = d->vk.CreateFence(d->handle, &fence, NULL, &i->fence);
  if (code == VK_SUCCESS && d->tick_ns > 0)
    code = d->vk.CreateQueryPool(d->handle, &queries, NULL, &i->queries);
  return code;
}

vyre_status runner_new(vulkan_build *build, const vyre_program *program, runner **out,
                       vyre_error *error) {
  runner *i = calloc(1, sizeof *i);
  if (!i) return error_out_of_memory(error);
  *i = (runner){.device = build->device, .build = build, .program = program};
  uint32_t regions = program->region_count;
  i->sets = calloc(regions + 1u, sizeof *i->sets);
  i->shapes = calloc(regions + 1u, sizeof *i->shapes);
  i->times_ns = calloc(regions + 1u, sizeof *i->times_ns);
  i->places = calloc(program->buffer_count + 1u, sizeof *i->places);
  VkResult code =
      i->sets && i->shapes && i->times_ns && i->places ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
  if (code == VK_SUCCESS) code = vulkan_memory_take(i->device, MEMORY_HOST, FLAGS_BYTES, &i->flags);
  if (code == VK_SUCCESS) code = make_commands(i);
  if (code == VK_SUCCESS) code = make_descriptors(i);
  if (code != VK_SUCCESS) {
    runner_free(i);
    return vulkan_device_error(build->device, error, code, "make what a launch needs");
  }
  memset(i->flags.mapped, 0, FLAGS_BYTES);
  *out = i;
  return VYRE_OK;
}

static void empty_place(vulkan_device *d, runner_place *p) {
  vulkan_import_give(d, &p->import);
  vulkan_memory_give(d, &p->own);
  vulkan_memory_give(d, &p->staging);
  *p = (runner_place){0};
}

void runner_free(runner *i) {
  vulkan_device *d = i->device;
  if (i->descriptors) d->vk.DestroyDescriptorPool(d->handle, i->descriptors, NULL);
  if (i->queries) d->vk.DestroyQueryPool(d->handle, i->queries, NULL);
  if (i->fence) d->vk.DestroyFence(d->handle, i->fence, NULL);
  if (i->commands) d->vk.DestroyCommandPool(d->handle, i->commands, NULL);
  for (uint32_t b = 0; b < i->program->buffer_count && i->places; b++)
    empty_place(d, &i->places[b]);
  vulkan_memory_give(d, &i->flags);
  vulkan_memory_give(d, &i->uniform);
  for (size_t k = 0; k < i->slots.count; k++) vulkan_memory_give(d, &i->slots.at[k].memory);
  vec_free(&i->slots);
  vec_free(&i->steps);
  vec_free(&i->marks);
  vec_free(&i->plan);
  vec_free(&i->recorded);
  free(i->sets);
  free(i->shapes);
  free(i->times_ns);
  free(i->places);
  free(i);
}

// ---- memory -------------------------------------------------------------------------------------

static size_t bytes_of(const runner *i, const launch *l, uint32_t b) {
  return l->buffers[b].length * type_bytes(i->program->buffers[b].type);
}

// Copies go in whole words; what shaders read as words is zero behind the end.
static VkDeviceSize padded(size_t size) {
  return ((VkDeviceSize)size + 3) / 4 * 4;
}

static VkResult grow(vulkan_device *d, vulkan_memory *m, memory_kind kind, VkDeviceSize size) {
  if (m->block && m->size >= size) return VK_SUCCESS;
  vulkan_memory_give(d, m);
  return vulkan_memory_take(d, kind, size, m);
}

static VkResult place_own(runner *i, runner_place *p, size_t size, bool is_copied) {
  vulkan_device *d = i->device;
  VkResult code = grow(d, &p->own, MEMORY_DEVICE, padded(size));
  if (code == VK_SUCCESS && is_copied && !p->own.mapped)
    code = grow(d, &p->staging, MEMORY_HOST, padded(size));
  if (code != VK_SUCCESS) return code;
  p->buffer = p->own.buffer;
  p->offset = p->own.offset;
  p->serial = p->own.serial;
  p->size = padded(size);
  p->is_copied = is_copied;
  return VK_SUCCESS;
}

// Words at the end of a buffer that has no whole number of them would be somebody else's too. What
// may be refused in the middle leaves the caller's memory as it was, for somebody else to try.
static bool can_be_in_place(const runner *i, uint32_t b, size_t size) {
  bool is_words = storage_words(&i->build->target.lower, i->program->buffers[b].type) != 0;
  bool may_refuse = i->build->target.most_turns && i->build->source.is_polled;
  return i->device->is_in_place && !may_refuse && (!is_words || size % 4 == 0);
}

static VkResult place_bound(runner *i, uint32_t b, void *data, size_t size) {
  runner_place *p = &i->places[b];
  if (!can_be_in_place(i, b, size)) return place_own(i, p, size, true);
  bool is_kept = p->import.buffer && p->host == data && p->host_size == size;
  if (!is_kept) {
    vulkan_import_give(i->device, &p->import);
    if (!vulkan_import_take(i->device, data, size, &p->import)) return place_own(i, p, size, true);
    p->host = data;
    p->host_size = size;
  }
  p->buffer = p->import.buffer;
  p->offset = p->import.offset;
  p->serial = p->import.serial;
  p->size = size;
  p->is_copied = false;
  return VK_SUCCESS;
}

static VkResult place_handle(runner *i, const launch *l, uint32_t b, vyre_buffer *handle) {
  vulkan_memory memory;
  bool is_written = i->program->buffers[b].access != VYRE_READ;
  VkResult code = vulkan_place(i->device, l->owner, handle, is_written, &memory);
  if (code != VK_SUCCESS) return code;
  runner_place *p = &i->places[b];
  p->buffer = memory.buffer;
  p->offset = memory.offset;
  p->serial = memory.serial;
  p->size = padded(handle->size_bytes);
  p->is_copied = false;
  return VK_SUCCESS;
}

// The regions of the launch between which a buffer has to keep what is in it; false when none uses
// it.
static bool find_lifetime(const runner *i, const launch *l, uint32_t b, uint32_t *first,
                          uint32_t *last) {
  bool is_used = false;
  for (uint32_t r = 0; r < i->program->region_count; r++) {
    const vulkan_shader *s = &i->build->source.shaders[r];
    for (uint32_t k = 0; k < s->use_count && l->regions[r].invocations; k++) {
      if (s->uses[k].buffer != b) continue;
      if (!is_used) *first = r;
      *last = r;
      is_used = true;
    }
  }
  return is_used;
}

// Transient buffers that no region of the launch uses are as empty ones.
static VkResult place(runner *i, const launch *l, uint32_t b, size_t size) {
  vyre_buffer *handle = launch_handle(l, b);
  runner_place *p = &i->places[b];
  bool is_transient = i->program->buffers[b].is_transient;
  uint32_t last;
  p->is_empty = !size || (is_transient && !find_lifetime(i, l, b, &p->first, &last));
  if (is_transient && !p->is_empty) return VK_SUCCESS; // see place_transients
  if (p->is_empty) {
    p->buffer = i->flags.buffer;
    p->offset = i->flags.offset + RECORD_NONE_OFFSET;
    p->serial = i->flags.serial;
    p->size = RECORD_NONE_BYTES;
    p->is_copied = false;
    return VK_SUCCESS;
  }
  if (handle && !i->device->is_in_place) return place_handle(i, l, b, handle);
  return place_bound(i, b, l->buffers[b].data, size);
}

// ---- transient buffers --------------------------------------------------------------------------

// A slot that is free again, one of the right size before others; a new one where there is none.
static runner_slot *choose_slot(runner *i, uint32_t count, uint32_t first, VkDeviceSize size) {
  runner_slot *best = NULL;
  for (uint32_t k = 0; k < count; k++) {
    runner_slot *s = &i->slots.at[k];
    if (s->last >= first) continue;
    bool fits = s->size >= size;
    if (!best || (fits ? best->size < size || s->size < best->size
                       : best->size < size && s->size > best->size))
      best = s;
  }
  if (best) return best;
  if (count == i->slots.count && !vec_push(&i->slots, (runner_slot){0})) return NULL;
  best = &i->slots.at[count];
  best->size = 0;
  return best;
}

// Buffers whose lifetimes do not meet share memory. In the order of their beginnings, so that what
// is free stays free.
static VkResult place_transients(runner *i, const launch *l) {
  const vyre_program *p = i->program;
  uint32_t count = 0, last = 0;
  for (uint32_t r = 0; r < p->region_count; r++)
    for (uint32_t b = 0; b < p->buffer_count; b++) {
      runner_place *place = &i->places[b];
      if (!p->buffers[b].is_transient || place->is_empty) continue;
      if (!find_lifetime(i, l, b, &place->first, &last) || place->first != r) continue;
      VkDeviceSize size = padded(bytes_of(i, l, b));
      runner_slot *slot = choose_slot(i, count, r, size);
      if (!slot) return VK_ERROR_OUT_OF_HOST_MEMORY;
      place->slot = (uint32_t)(slot - i->slots.at);
      if (place->slot == count) count++;
      slot->last = last;
      if (slot->size < size) slot->size = size;
      place->size = size;
    }
  VkResult code = VK_SUCCESS;
  for (uint32_t k = 0; k < count && code == VK_SUCCESS; k++)
    code = grow(i->device, &i->slots.at[k].memory, MEMORY_DEVICE, i->slots.at[k].size);
  for (uint32_t b = 0; b < p->buffer_count && code == VK_SUCCESS; b++) {
    runner_place *place = &i->places[b];
    if (!p->buffers[b].is_transient || place->is_empty) continue;
    const vulkan_memory *memory = &i->slots.at[place->slot].memory;
    place->buffer = memory->buffer;
    place->offset = memory->offset;
    place->serial = memory->serial;
    place->is_copied = false;
  }
  return code;
}

static vyre_status place_buffers(runner *i, const launch *l, vyre_error *error) {
  uint64_t most = i->build->target.lower.largest_buffer_bytes;
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    size_t size = bytes_of(i, l, b);
    if (l->buffers[b].length > INT32_MAX || padded(size) > most)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "buffer `%s` has %llu elements, %zu bytes; this device takes 2147483647 "
                       "elements and %llu bytes. Fix: split it, or use another backend",
                       i->program->buffers[b].name, (unsigned long long)l->buffers[b].length, size,
                       (unsigned long long)most);
    VkResult code = place(i, l, b, size);
    if (code != VK_SUCCESS) return vulkan_device_error(i->device, error, code, "place a buffer");
  }
  VkResult code = place_transients(i, l);
  if (code != VK_SUCCESS) return vulkan_device_error(i->device, error, code, "place a buffer");
  return VYRE_OK;
}

static void copy_in(runner *i, const launch *l) {
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    const runner_place *p = &i->places[b];
    size_t size = bytes_of(i, l, b);
    if (!p->is_copied || !size) continue;
    char *to = p->own.mapped ? p->own.mapped : p->staging.mapped;
    memcpy(to, l->buffers[b].data, size);
    memset(to + size, 0, padded(size) - size);
  }
}

static void copy_out(const runner *i, const launch *l) {
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    const runner_place *p = &i->places[b];
    size_t size = bytes_of(i, l, b);
    if (!p->is_copied || !size || i->program->buffers[b].access == VYRE_READ) continue;
    memcpy(l->buffers[b].data, p->own.mapped ? p->own.mapped : p->staging.mapped, size);
  }
}

// ---- steps --------------------------------------------------------------------------------------

static vyre_status choose_shape(runner *i, uint32_t r, const launch_region *wanted,
                                vyre_error *error) {
  runner_shape *s = &i->shapes[r];
  uint32_t size[3];
  vulkan_choose_workgroup(i->device, &i->program->regions[r], wanted->workgroup, size);
  if (s->pipeline && !memcmp(s->workgroup, size, sizeof size)) return VYRE_OK;
  memcpy(s->workgroup, size, sizeof size);
  return vulkan_build_pipeline(i->build, r, size, &s->pipeline, error);
}

// Whether a launch is looked after: its time is limited, or the caller may end what can be ended.
static bool is_limited(const runner *i, const launch *l) {
  return l->timeout_ns || (l->stop && i->build->source.is_polled);
}

static uint64_t weight_of(const runner *i, const launch *l, uint32_t r) {
  return is_limited(i, l) ? pieces_weight(i->program, &i->program->regions[r]) : 1;
}

// The region's grid in pieces that the device takes at once, and that a limit can end.
static void begin_pieces(runner *i, const launch *l, uint32_t r) {
  const VkPhysicalDeviceLimits *limits = &i->device->properties.limits;
  bool can_end = launch_may_end(l) && i->build->source.is_polled;
  uint64_t most = can_end ? PIECE_INVOCATIONS / weight_of(i, l, r) : UINT64_MAX;
  const uint32_t *w = i->shapes[r].workgroup;
  size_t local[3] = {w[0], w[1], w[2]}, global[3];
  pieces *p = &i->walk.pieces;
  for (int k = 0; k < 3; k++)
    global[k] = (l->regions[r].grid[k] + local[k] - 1) / local[k] * local[k];
  pieces_begin(p, global, local, most);
  for (int k = 0; k < 3; k++) {
    size_t largest = limits->maxComputeWorkGroupCount[k] * local[k];
    if (p->piece[k] > largest) p->piece[k] = largest;
  }
}

// At the next piece that there is; false behind the last.
static bool walk_on(runner *i, const launch *l) {
  runner_walk *w = &i->walk;
  while (w->region < i->program->region_count) {
    bool is_next = w->is_inside ? !w->pieces.is_over : l->regions[w->region].invocations > 0;
    if (is_next && !w->is_inside) begin_pieces(i, l, w->region);
    w->is_inside = is_next;
    if (is_next) return true;
    w->region++;
  }
  return false;
}

static runner_step next_step(runner *i) {
  const uint32_t r = i->walk.region, *local = i->shapes[r].workgroup;
  size_t offset[3], size[3];
  pieces_next(&i->walk.pieces, offset, size);
  runner_step s = {.region = r, .invocations = (uint64_t)size[0] * size[1] * size[2]};
  for (int k = 0; k < 3; k++) {
    s.base[k] = (uint32_t)(offset[k] / local[k]);
    s.groups[k] = (uint32_t)(size[k] / local[k]);
  }
  s.begins = !(s.base[0] | s.base[1] | s.base[2]);
  return s;
}

// As many steps as may be submitted at once.
static VkResult make_steps(runner *i, const launch *l) {
  uint64_t most = is_limited(i, l) ? PIECE_INVOCATIONS : UINT64_MAX, taken = 0;
  i->steps.count = 0;
  while (i->steps.count < STEPS_AT_ONCE && walk_on(i, l)) {
    pieces before = i->walk.pieces;
    runner_step s = next_step(i);
    uint64_t work = s.invocations * weight_of(i, l, s.region);
    if (i->steps.count && taken + work > most) {
      i->walk.pieces = before;
      break;
    }
    taken += work;
    if (!vec_push(&i->steps, s)) return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  return record_uniform(i, l);
}

static vyre_status choose_shapes(runner *i, const launch *l, vyre_error *error) {
  vyre_status status = VYRE_OK;
  i->walk = (runner_walk){0};
  for (uint32_t r = 0; r < i->program->region_count && status == VYRE_OK; r++)
    if (l->regions[r].invocations) status = choose_shape(i, r, &l->regions[r], error);
  return status;
}

// ---- running ------------------------------------------------------------------------------------

static volatile uint32_t *stop_flag(const runner *i) {
  return i->flags.mapped;
}

static VkResult submit(runner *i) {
  vulkan_device *d = i->device;
  VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                       .commandBufferCount = 1,
                       .pCommandBuffers = &i->recording};
  VkResult code = d->vk.ResetFences(d->handle, 1, &i->fence);
  if (code != VK_SUCCESS) return code;
  pthread_mutex_lock(&d->queue_lock);
  code = d->vk.QueueSubmit(d->queue, 1, &info, i->fence);
  pthread_mutex_unlock(&d->queue_lock);
  return code;
}

// Waits for the device, until the launch is to end: VK_TIMEOUT.
static VkResult await(runner *i, const launch *l) {
  vulkan_device *d = i->device;
  bool is_watched = is_limited(i, l);
  for (;;) {
    uint64_t now = l->timeout_ns ? clock_now_ns() : 0;
    uint64_t left = !l->timeout_ns ? UINT64_MAX : now < l->deadline_ns ? l->deadline_ns - now : 0;
    if (is_watched && l->stop && left > LOOK_NS) left = LOOK_NS;
    VkResult code = d->vk.WaitForFences(d->handle, 1, &i->fence, VK_TRUE, left);
    if (code != VK_TIMEOUT || !is_watched || launch_must_end(l)) return code;
  }
}

// Waits until the device is done. When the limit passes, or the caller asks, it is told to stop.
static VkResult finish(runner *i, const launch *l, bool *is_late, bool *is_stuck) {
  vulkan_device *d = i->device;
  VkResult code = await(i, l);
  if (is_limited(i, l) && code == VK_TIMEOUT) {
    *is_late = true;
    __atomic_store_n(stop_flag(i), STOP_ASKED_BY_HOST, __ATOMIC_RELEASE);
    uint64_t grace = i->device->is_in_place ? UINT64_MAX : GRACE_NS;
    code = d->vk.WaitForFences(d->handle, 1, &i->fence, VK_TRUE, grace);
    *is_stuck = code == VK_TIMEOUT;
  }
  return *is_stuck ? VK_SUCCESS : code;
}

// On a CPU timestamps cost more than a small shader. Where nobody wants the regions apart, its time
// is that of the host between submitting and the end.
static void choose_clock(runner *i, const launch *l, const vyre_report *report) {
  bool is_cpu = i->device->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  uint32_t regions = 0;
  for (uint32_t r = 0; r < i->program->region_count; r++) regions += l->regions[r].invocations > 0;
  i->is_timed = i->queries && !(is_cpu && (regions == 1 || !report->regions));
}

static void take_times(runner *i, uint64_t start_ns) {
  vulkan_device *d = i->device;
  uint32_t count = (uint32_t)i->marks.count + 1;
  if (!i->is_timed && count > 1) i->times_ns[i->marks.at[0]] += clock_now_ns() - start_ns;
  uint64_t *ticks = i->is_timed ? malloc(count * sizeof *ticks) : NULL;
  if (ticks && d->vk.GetQueryPoolResults(
                   d->handle, i->queries, 0, count, count * sizeof *ticks, ticks, sizeof *ticks,
                   VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT) == VK_SUCCESS)
    for (uint32_t k = 0; k + 1 < count; k++) {
      uint64_t taken = (ticks[k + 1] - ticks[k]) & d->timestamp_mask;
      i->times_ns[i->marks.at[k]] += (uint64_t)((double)taken * d->tick_ns);
    }
  free(ticks);
}

typedef struct run {
  const launch *l;
  bool is_late, is_stuck, is_over;
  uint32_t region; // at which the limit passed
} run;

// The next steps, as many as may be submitted at once.
static VkResult run_batch(runner *i, run *r, bool is_first) {
  VkResult code = make_steps(i, r->l);
  if (code != VK_SUCCESS) return code;
  r->is_over = !walk_on(i, r->l);
  record_batch batch = {.begins = is_first, .ends = r->is_over};
  code = record_commands(i, r->l, &batch);
  uint64_t start_ns = clock_now_ns();
  if (code == VK_SUCCESS) code = submit(i);
  if (code == VK_SUCCESS) code = finish(i, r->l, &r->is_late, &r->is_stuck);
  if (code == VK_SUCCESS && !r->is_stuck) take_times(i, start_ns);
  if (i->steps.count) r->region = i->steps.at[0].region;
  if (is_limited(i, r->l) && launch_must_end(r->l)) r->is_late = true;
  return code;
}

// Bytes of buffers that a region touches, estimated: at most each buffer once.
static uint64_t traffic(const runner *i, const launch *l, uint32_t r) {
  const vulkan_shader *s = &i->build->source.shaders[r];
  uint64_t bytes = 0, invocations = l->regions[r].invocations;
  for (uint32_t n = 0; n < s->use_count; n++) {
    uint32_t b = s->uses[n].buffer;
    uint64_t length = l->buffers[b].length;
    bytes +=
        (length < invocations ? length : invocations) * type_bytes(i->program->buffers[b].type);
  }
  return bytes;
}

static vyre_status too_long(const runner *i, vyre_error *error) {
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "an invocation of `%s` makes more than %u iterations, after which the driver of "
                   "%s may end its loops by itself; nothing was written. Fix: use another backend, "
                   "or let more invocations do less each",
                   i->program->name, i->build->target.most_turns, i->device->info.adapter);
}

static vyre_status run_steps(runner *i, const launch *l, bool *is_stuck, vyre_error *error) {
  run r = {.l = l};
  bool is_first = true;
  VkResult code;
  memset(i->times_ns, 0, i->program->region_count * sizeof *i->times_ns);
  __atomic_store_n(stop_flag(i), 0, __ATOMIC_RELEASE);
  do {
    code = run_batch(i, &r, is_first);
    is_first = false;
  } while (code == VK_SUCCESS && !r.is_late && !r.is_over);
  *is_stuck = r.is_stuck;
  if (code != VK_SUCCESS) return vulkan_device_error(i->device, error, code, "finish a shader");
  // One that was done in time is done, however late somebody looked; where the flag is up it was
  // not, whoever raised it.
  uint32_t flag = __atomic_load_n(stop_flag(i), __ATOMIC_ACQUIRE);
  if (flag == STOP_TOO_LONG) return too_long(i, error);
  if (r.is_over && !flag) return VYRE_OK;
  return launch_stopped_error(l, i->program->regions[r.region].name, error);
}

vyre_status runner_run(runner *i, const launch *l, vyre_report *report, bool *is_stuck,
                       vyre_error *error) {
  *is_stuck = false;
  vyre_status status = place_buffers(i, l, error);
  if (status == VYRE_OK) status = choose_shapes(i, l, error);
  if (status != VYRE_OK) return status;
  choose_clock(i, l, report);
  copy_in(i, l);
  status = run_steps(i, l, is_stuck, error);
  if (status != VYRE_OK) return status;
  copy_out(i, l);
  for (uint32_t r = 0; r < i->program->region_count; r++)
    report_region(report, i->program->regions[r].name, i->times_ns[r], traffic(i, l, r),
                  l->regions[r].invocations);
  return VYRE_OK;
}

// ---- warming ------------------------------------------------------------------------------------

// With a grid of 0 the invocations of an elastic region leave at once, and where the stop flag is
// up those of all regions do.
vyre_status runner_warm(runner *i, const launch_region *regions, vyre_error *error) {
  VkResult code = VK_SUCCESS;
  vyre_status status = VYRE_OK;
  i->steps.count = 0;
  for (uint32_t r = 0; r < i->program->region_count && status == VYRE_OK; r++) {
    bool leaves = i->program->regions[r].is_elastic || i->build->source.is_polled;
    status = choose_shape(i, r, &regions[r], error);
    runner_step one = {.region = r, .groups = {1, 1, 1}};
    if (leaves && status == VYRE_OK && !vec_push(&i->steps, one))
      code = VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  i->is_timed = false;
  if (status != VYRE_OK || !i->steps.count) return status;
  run r = {.l = &(launch){.program = i->program}};
  if (code == VK_SUCCESS) code = record_uniform(i, NULL);
  __atomic_store_n(stop_flag(i), STOP_ASKED_BY_HOST, __ATOMIC_RELEASE);
  record_batch all = {.is_dry = true};
  if (code == VK_SUCCESS) code = record_commands(i, NULL, &all);
  if (code == VK_SUCCESS) code = submit(i);
  if (code == VK_SUCCESS) code = finish(i, r.l, &r.is_late, &r.is_stuck);
  return code == VK_SUCCESS ? VYRE_OK : vulkan_device_error(i->device, error, code, "run a shader");
}
