// SPDX-License-Identifier: MIT
//
// A running shader cannot be killed through Vulkan; see docs/BACKENDS.md for what a time limit
// means here.
#include "backend/vulkan/vulkan.h"

#include "backend/fit.h"
#include "backend/vulkan/forms.h"
#include "backend/vulkan/runner.h"
#include "backend/vulkan/probe.h"
#include "backend/vulkan/residency.h"
#include "backend/ways.h"
#include "base/environment.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct vulkan_state {
  ways ways;
  vulkan_device *device;
  vulkan_target target;
  vyre_program *program;
  bool has_long_shader;
  vulkan_build builds[WAY_COUNT];
} vulkan_state;

// ---- probe --------------------------------------------------------------------------------------

static vyre_status vulkan_probe(const backend *self, vyre_device *out, uint32_t capacity,
                                uint32_t *count, vyre_error *error) {
  (void)self;
  vulkan_device *all = vulkan_devices(count, error);
  if (!all) return error ? error->status : VYRE_ERROR_UNSUPPORTED;
  for (uint32_t i = 0; i < *count && i < capacity; i++) {
    out[i] = all[i].info;
    if (atomic_load(&all[i].is_lost)) strcpy(out[i].unusable, "it was lost");
  }
  return VYRE_OK;
}

// A CPU through Vulkan is slower than this CPU without: it is there to be compared, and is chosen
// where somebody asks for it.
static bool vulkan_is_offered(const vyre_device *device) {
  uint32_t count;
  const vulkan_device *all = vulkan_devices(&count, NULL);
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(all[i].info.adapter, device->adapter))
      return all[i].properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU ||
             environment_is("VYRE_VULKAN", "on");
  return false;
}

static void list_findings(const vulkan_device *d, bool native, const char *title, strbuf *out) {
  probe_finding f;
  const char *between = title;
  for (uint32_t i = 0; probe_finding_at(d, i, &f); i++) {
    if (f.is_native != native) continue;
    strbuf_printf(out, "%s%s", between, f.name);
    between = "; ";
  }
  if (between != title) strbuf_putc(out, '\n');
}

static vyre_status vulkan_describe(const char *adapter, strbuf *out, vyre_error *error) {
  vyre_error own;
  if (!error) error = &own;
  vulkan_device *d = vulkan_device_find(adapter, error);
  vyre_status status = d ? probe_device(d, error) : error->status;
  if (status != VYRE_OK) return status;
  const lower_target *t = &d->target.lower;
  list_findings(d, true, "exact by itself: ", out);
  list_findings(d, false, "by recipes: ", out);
  if (!t->has_small_storage) strbuf_puts(out, "by recipes: elements of 8 and 16 bits\n");
  if (!t->has_i64) strbuf_puts(out, "by recipes: integers of 64 bits\n");
  if (d->target.most_turns)
    strbuf_printf(out, "launches are refused when an invocation makes more than %u iterations\n",
                  d->target.most_turns);
  strbuf_printf(out, "buffers up to %llu bytes, %s\n", (unsigned long long)t->largest_buffer_bytes,
                d->is_in_place     ? "used in place"
                : d->shares_memory ? "copied to memory that is shared"
                                   : "copied to memory of its own");
  return VYRE_OK;
}

// ---- ways ---------------------------------------------------------------------------------------

static vyre_status build(void *state, int way, const volatile uint32_t *stop, vyre_error *error) {
  vulkan_state *s = state;
  return vulkan_build_init(&s->builds[way], s->device, &s->target, s->program, way == WAY_POLLED,
                           stop, error);
}

static void unbuild(void *state, int way) {
  vulkan_state *s = state;
  vulkan_build_fini(&s->builds[way]);
}

static vyre_status make_runner(void *state, int way, ways_runner **out, vyre_error *error) {
  vulkan_state *s = state;
  runner *i;
  vyre_status status = runner_new(&s->builds[way], s->program, &i, error);
  if (status == VYRE_OK) *out = &i->rest;
  return status;
}

static void free_runner(ways_runner *i) {
  runner_free((runner *)i);
}

static vyre_status take(vulkan_state *s, int way, const volatile uint32_t *stop, runner **out,
                        vyre_error *error) {
  ways_runner *i;
  vyre_status status = ways_take(&s->ways, way, stop, &i, error);
  if (status == VYRE_OK) *out = (runner *)i;
  return status;
}

// Drivers compile for a workgroup that they have not seen.
static uint64_t launch_key(const launch *l, int way) {
  uint64_t key = UINT64_C(0xcbf29ce484222325) * ((uint64_t)way + 1);
  for (uint32_t r = 0; r < l->program->region_count; r++)
    for (int k = 0; k < 3; k++) key = warm_key(key, l->regions[r].workgroup[k]);
  return key;
}

static vyre_status warm_for(void *state, int way, const launch_region *regions,
                            const volatile uint32_t *stop, vyre_error *error) {
  vulkan_state *s = state;
  runner *i;
  vyre_status status = take(s, way, stop, &i, error);
  if (status != VYRE_OK) return status;
  if (!__atomic_load_n(stop, __ATOMIC_RELAXED)) status = runner_warm(i, regions, error);
  ways_give(&s->ways, way, &i->rest);
  return status;
}

static void vulkan_release(void *state) {
  vulkan_state *s = state;
  if (!s || vulkan_check_process(NULL) != VYRE_OK) return; // it belongs to the parent
  if (!ways_drop(&s->ways)) return;
  ways_clear(&s->ways);
  ways_fini(&s->ways);
  vyre_program_release(s->program);
  free(s);
}

static const ways_how vulkan_ways = {
    .build = build,
    .unbuild = unbuild,
    .runner_new = make_runner,
    .runner_free = free_runner,
    .warm = {.run = warm_for, .hold = ways_hold, .release = vulkan_release},
};

// ---- compile ------------------------------------------------------------------------------------

static vyre_status check_limits(const vulkan_device *d, const vyre_program *p, vyre_error *error) {
  const VkPhysicalDeviceLimits *l = &d->properties.limits;
  device_room room = {.invocations = l->maxComputeWorkGroupInvocations,
                      .shared_bytes = l->maxComputeSharedMemorySize,
                      .shared_alignment = 1};
  memcpy(room.workgroup, l->maxComputeWorkGroupSize, sizeof room.workgroup);
  return fit_check(p, &room, error);
}

static vyre_status warm(runner *i, vyre_error *error) {
  const vyre_program *p = i->program;
  launch_region *declared = calloc(p->region_count + 1u, sizeof *declared);
  if (!declared) return error_out_of_memory(error);
  for (uint32_t r = 0; r < p->region_count; r++)
    memcpy(declared[r].workgroup, p->regions[r].workgroup, sizeof declared[r].workgroup);
  vyre_status status = runner_warm(i, declared, error);
  free(declared);
  return status;
}

// Its shaders count their turns, and raise the flag that polled ones look at.
static bool is_counted(const vulkan_state *s) {
  return s->target.most_turns && s->has_long_shader;
}

static vyre_status prepare(vulkan_state *s, vyre_program *program, const volatile uint32_t *stop,
                           vyre_error *error) {
  s->program = vyre_program_retain(program);
  for (uint32_t i = 0; i < program->region_count; i++)
    s->has_long_shader |= vulkan_is_long(program, &program->regions[i], &s->target);
  int way = is_counted(s) ? WAY_POLLED : WAY_PLAIN;
  runner *i;
  vyre_status status = check_limits(s->device, program, error);
  if (status == VYRE_OK) status = take(s, way, stop, &i, error);
  if (status != VYRE_OK) return status;
  status = __atomic_load_n(stop, __ATOMIC_RELAXED) ? launch_compiling_error(program, error)
                                                   : warm(i, error);
  ways_give(&s->ways, way, &i->rest);
  return status;
}

vyre_status vulkan_compile_for(vulkan_device *d, const vulkan_target *target, vyre_program *program,
                               const volatile uint32_t *stop, void **state, vyre_error *error) {
  vulkan_state *s = calloc(1, sizeof *s);
  if (!s) return error_out_of_memory(error);
  s->device = d;
  s->target = *target;
  ways_init(&s->ways, &vulkan_ways);
  vyre_status status = prepare(s, program, stop, error);
  if (status == VYRE_OK)
    *state = s;
  else
    vulkan_release(s);
  return status;
}

static vyre_status vulkan_compile(const backend *self, vyre_program *program,
                                  const vyre_compile_options *options,
                                  const volatile uint32_t *stop, void **state, vyre_error *error) {
  (void)self;
  vyre_error own; // the status is read from it
  if (!error) error = &own;
  vulkan_device *d = vulkan_device_find(options->device, error);
  if (!d) return error->status;
  vyre_status status = probe_device(d, error);
  return status == VYRE_OK ? vulkan_compile_for(d, &d->target, program, stop, state, error)
                           : status;
}

// ---- dispatch -----------------------------------------------------------------------------------

static vyre_status vulkan_dispatch(void *state, const launch *l, vyre_report *report,
                                   vyre_error *error) {
  vulkan_state *s = state;
  static const volatile uint32_t never = 0;
  int way = is_counted(s) ? WAY_POLLED : ways_choose(l, s->has_long_shader);
  runner *i;
  bool is_stuck = false;
  vyre_status status = vulkan_check_process(error);
  if (status == VYRE_OK && atomic_load(&s->device->is_lost))
    status = error_set(error, VYRE_ERROR_BACKEND,
                       "the Vulkan device %s was lost. Fix: use another backend until the process "
                       "ends",
                       s->device->info.adapter);
  if (status == VYRE_OK) status = ways_warm(&s->ways, way, launch_key(l, way), l, error);
  if (status == VYRE_OK) status = take(s, way, &never, &i, error);
  if (status != VYRE_OK) return status;
  status = runner_run(i, l, report, &is_stuck, error);
  if (!is_stuck) {
    ways_give(&s->ways, way, &i->rest);
    return status;
  }
  atomic_store(&s->device->is_lost, true);
  ways_leave(&s->ways, &i->rest);
  return status;
}

const backend vulkan_backend = {
    .id = "vulkan",
    .summary = "Vulkan devices: GPUs, and CPUs through lavapipe",
    .forms = vulkan_forms,
    .has_devices = true,
    .probe = vulkan_probe,
    .is_offered = vulkan_is_offered,
    .describe = vulkan_describe,
    .compile = vulkan_compile,
    .dispatch = vulkan_dispatch,
    .release = vulkan_release,
    .keeps_memory = vulkan_keeps_memory,
    .fetch = vulkan_fetch,
    .drop = vulkan_drop,
};
