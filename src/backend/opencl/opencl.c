// SPDX-License-Identifier: MIT
//
// A running kernel cannot be killed through OpenCL; see docs/BACKENDS.md for what a time limit
// means here.
#include "backend/opencl/opencl.h"

#include "backend/fit.h"
#include "backend/opencl/forms.h"
#include "backend/opencl/instance.h"
#include "backend/opencl/residency.h"
#include "backend/opencl/room.h"
#include "backend/ways.h"
#include "base/error.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

typedef struct opencl_state {
  ways ways;
  opencl_device *device;
  vyre_program *program; // without mathematical functions
  vyre_tier tier;
  bool has_long_kernel;
  bool only_cached; // while it is made
  opencl_build builds[WAY_COUNT];
} opencl_state;

// ---- probe --------------------------------------------------------------------------------------

static vyre_status opencl_probe(const backend *self, vyre_device *devices, uint32_t capacity,
                                uint32_t *count, vyre_error *error) {
  (void)self;
  opencl_device *all = opencl_devices(count, error);
  if (!all) return error ? error->status : VYRE_ERROR_UNSUPPORTED;
  for (uint32_t i = 0; i < *count && i < capacity; i++) {
    devices[i] = all[i].info;
    if (atomic_load(&all[i].is_lost)) strcpy(devices[i].unusable, "it was lost");
  }
  return VYRE_OK;
}

// ---- ways ---------------------------------------------------------------------------------------

static vyre_status check_args(const opencl_device *d, const opencl_source *source,
                              vyre_error *error) {
  for (uint32_t i = 0; i < source->kernel_count; i++)
    if (source->kernels[i].arg_count * sizeof(uint64_t) > d->max_arg_bytes)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "kernel `%s` has %u arguments, more than the device takes. Fix: use fewer "
                       "buffers and parameters in a region",
                       source->kernels[i].name, source->kernels[i].arg_count);
  return VYRE_OK;
}

static vyre_status build(void *state, int way, const volatile uint32_t *stop, vyre_error *error) {
  opencl_state *s = state;
  opencl_build_how how = {way == WAY_POLLED, s->tier, s->only_cached};
  (void)stop; // a driver's compiler cannot be ended
  vyre_status status = opencl_build_init(&s->builds[way], s->device, s->program, &how, error);
  if (status != VYRE_OK) return status;
  status = check_args(s->device, &s->builds[way].source, error);
  if (status != VYRE_OK) opencl_build_fini(&s->builds[way], s->device);
  return status;
}

static void unbuild(void *state, int way) {
  opencl_state *s = state;
  opencl_build_fini(&s->builds[way], s->device);
}

static vyre_status make_instance(void *state, int way, ways_runner **out, vyre_error *error) {
  opencl_state *s = state;
  instance *i;
  vyre_status status = instance_new(s->device, &s->builds[way], s->program, &i, error);
  if (status == VYRE_OK) *out = &i->rest;
  return status;
}

static void free_instance(ways_runner *runner) {
  instance_free((instance *)runner);
}

static vyre_status take(opencl_state *s, int way, instance **out, vyre_error *error) {
  static const volatile uint32_t never = 0;
  ways_runner *runner;
  vyre_status status = ways_take(&s->ways, way, &never, &runner, error);
  if (status == VYRE_OK) *out = (instance *)runner;
  return status;
}

// What drivers compile for: the workgroups, the order of magnitude of the grids, and the way.
static uint64_t launch_key(const launch *l, int way) {
  uint64_t key = (uint64_t)way + 1;
  for (uint32_t r = 0; r < l->program->region_count; r++) {
    const launch_region *shape = &l->regions[r];
    for (int k = 0; k < 3; k++) {
      int magnitude = shape->grid[k] ? 64 - __builtin_clzll(shape->grid[k]) : 0;
      key = warm_key(key, (uint64_t)magnitude << 32 | shape->workgroup[k]);
    }
  }
  return key;
}

static vyre_status warm_for(void *state, int way, const launch_region *regions,
                            const volatile uint32_t *stop, vyre_error *error) {
  opencl_state *s = state;
  instance *i;
  vyre_status status = take(s, way, &i, error);
  if (status != VYRE_OK) return status;
  if (!__atomic_load_n(stop, __ATOMIC_RELAXED)) status = instance_warm_for(i, regions, error);
  ways_give(&s->ways, way, &i->rest);
  return status;
}

static void opencl_release(void *state) {
  opencl_state *s = state;
  if (!s || opencl_check_process(NULL) != VYRE_OK) return; // it belongs to the parent
  if (!ways_drop(&s->ways)) return;
  ways_clear(&s->ways);
  ways_fini(&s->ways);
  vyre_program_release(s->program);
  free(s);
}

static const ways_how opencl_ways = {
    .build = build,
    .unbuild = unbuild,
    .runner_new = make_instance,
    .runner_free = free_instance,
    .warm = {.run = warm_for, .hold = ways_hold, .release = opencl_release},
};

// ---- compile ------------------------------------------------------------------------------------

static vyre_status check_limits(const opencl_device *d, const vyre_program *p, vyre_error *error) {
  device_room room = {
      .invocations = d->info.max_workgroup, .shared_bytes = d->local_bytes, .shared_alignment = 1};
  memcpy(room.workgroup, d->max_workgroup, sizeof room.workgroup);
  return fit_check(p, &room, error);
}

static vyre_status prepare(opencl_state *s, vyre_program *program,
                           const vyre_compile_options *options, const volatile uint32_t *stop,
                           vyre_error *error) {
  instance *i;
  s->tier = options->tier;
  s->device = opencl_device_find(options->device, error);
  if (!s->device) return error ? error->status : VYRE_ERROR_UNSUPPORTED;
  vyre_status status = opencl_check_room(s->device, error);
  if (status == VYRE_OK) status = check_limits(s->device, program, error);
  s->program = vyre_program_retain(program);
  if (status == VYRE_OK) status = ways_build(&s->ways, WAY_PLAIN, stop, error);
  s->only_cached = false; // whatever else it needs later
  for (uint32_t r = 0; r < program->region_count && status == VYRE_OK; r++)
    s->has_long_kernel |= s->builds[WAY_PLAIN].source.kernels[r].has_loop;
  if (status == VYRE_OK) status = take(s, WAY_PLAIN, &i, error);
  if (status != VYRE_OK) return status;
  status = __atomic_load_n(stop, __ATOMIC_RELAXED) ? launch_compiling_error(program, error)
                                                   : instance_warm(i, error);
  ways_give(&s->ways, WAY_PLAIN, &i->rest);
  return status;
}

static vyre_status make_state(vyre_program *program, const vyre_compile_options *options,
                              const volatile uint32_t *stop, bool only_cached, void **state,
                              vyre_error *error) {
  vyre_error own; // the status is read from it
  if (!error) error = &own;
  opencl_state *s = calloc(1, sizeof *s);
  if (!s) return error_out_of_memory(error);
  ways_init(&s->ways, &opencl_ways);
  s->only_cached = only_cached;
  vyre_status status = prepare(s, program, options, stop, error);
  if (status == VYRE_OK)
    *state = s;
  else
    opencl_release(s);
  return status;
}

static vyre_status opencl_compile(const backend *self, vyre_program *program,
                                  const vyre_compile_options *options,
                                  const volatile uint32_t *stop, void **state, vyre_error *error) {
  (void)self;
  return make_state(program, options, stop, false, state, error);
}

static vyre_status opencl_compile_cached(const backend *self, vyre_program *program,
                                         const vyre_compile_options *options, void **state,
                                         vyre_error *error) {
  (void)self;
  static const uint32_t never = 0;
  return make_state(program, options, &never, true, state, error);
}

// ---- dispatch -----------------------------------------------------------------------------------

static vyre_status opencl_dispatch(void *state, const launch *l, vyre_report *report,
                                   vyre_error *error) {
  opencl_state *s = state;
  int way = ways_choose(l, s->has_long_kernel);
  instance *i;
  bool is_stuck = false;
  vyre_status status = opencl_check_process(error);
  if (status == VYRE_OK) status = ways_warm(&s->ways, way, launch_key(l, way), l, error);
  if (status == VYRE_OK) status = take(s, way, &i, error);
  if (status != VYRE_OK) return status;
  status = instance_submit(i, l, error);
  if (status == VYRE_OK) status = instance_finish(i, l, report, &is_stuck, error);
  if (!is_stuck) {
    ways_give(&s->ways, way, &i->rest);
    return status;
  }
  atomic_store(&s->device->is_lost, true);
  ways_leave(&s->ways, &i->rest);
  return status;
}

const backend opencl_backend = {
    .id = "opencl",
    .has_devices = true,
    .summary = "OpenCL devices: GPUs, and CPUs through PoCL",
    .is_compared_first = true,
    .forms = opencl_forms,
    .probe = opencl_probe,
    .compile = opencl_compile,
    .compile_cached = opencl_compile_cached,
    .dispatch = opencl_dispatch,
    .release = opencl_release,
    .keeps_memory = opencl_keeps_memory,
    .fetch = opencl_fetch,
    .drop = opencl_drop,
};
