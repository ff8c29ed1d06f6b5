// SPDX-License-Identifier: MIT
//
// A running kernel cannot be killed: see docs/BACKENDS.md for what a time limit means here.
#include "backend/cuda/cuda.h"

#include "backend/cuda/forms.h"
#include "backend/cuda/residency.h"
#include "backend/cuda/runner.h"
#include "backend/cuda/trust.h"
#include "backend/fit.h"
#include "backend/traits.h"
#include "backend/ways.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct cuda_state {
  ways ways;
  cuda_device *device;
  vyre_program *program;
  bool is_quick, has_long_kernel;
  cuda_build builds[WAY_COUNT];
} cuda_state;

// ---- probe --------------------------------------------------------------------------------------

static vyre_status cuda_probe(const backend *self, vyre_device *out, uint32_t capacity,
                              uint32_t *count, vyre_error *error) {
  (void)self;
  vyre_error own; // the status is read from it
  if (!error) error = &own;
  cuda_device *all = cuda_devices(count, error);
  if (!all) return error->status;
  for (uint32_t i = 0; i < *count && i < capacity; i++) {
    out[i] = all[i].info;
    if (atomic_load(&all[i].is_lost)) strcpy(out[i].unusable, "it was lost");
  }
  return VYRE_OK;
}

static vyre_status cuda_describe(const char *adapter, strbuf *out, vyre_error *error) {
  vyre_error own;
  if (!error) error = &own;
  cuda_device *d = cuda_device_find(adapter, error);
  vyre_status status = d ? cuda_trust(d, error) : error->status;
  if (status != VYRE_OK) return status;
  strbuf_puts(out, "compared with the reference on this machine: all programs of the short run "
                   "gave the same bits\n");
  strbuf_puts(out, "nobody has run this backend on more than the tests' own evaluator of PTX: "
                   "`vyre conform --backend cuda` compares more\n");
  strbuf_printf(out, "shared memory up to %u bytes, workgroups up to %u\n", d->most_shared,
                d->most_threads);
  return VYRE_OK;
}

// ---- ways ---------------------------------------------------------------------------------------

static vyre_status build(void *state, int way, const volatile uint32_t *stop, vyre_error *error) {
  cuda_state *s = state;
  return cuda_build_init(&s->builds[way], s->device, s->program, way == WAY_POLLED, s->is_quick,
                         stop, error);
}

static void unbuild(void *state, int way) {
  cuda_state *s = state;
  cuda_build_fini(&s->builds[way]);
}

static vyre_status make_runner(void *state, int way, ways_runner **out, vyre_error *error) {
  cuda_state *s = state;
  cuda_runner *i;
  vyre_status status = cuda_runner_new(&s->builds[way], s->program, &i, error);
  if (status == VYRE_OK) *out = &i->rest;
  return status;
}

static void free_runner(ways_runner *i) {
  cuda_runner_free((cuda_runner *)i);
}

// The way that time limits need is compiled when the first one comes: apart from the limit, on a
// thread that may be left.
static vyre_status build_way(void *state, int way, const launch_region *regions,
                             const volatile uint32_t *stop, vyre_error *error) {
  cuda_state *s = state;
  (void)regions;
  cu_result code = cuda_enter(s->device);
  if (code != CU_SUCCESS) return cuda_device_error(s->device, error, code, "use a device");
  vyre_status status = ways_build(&s->ways, way, stop, error);
  cuda_leave(s->device);
  return status;
}

// A device that cannot be entered keeps what it has.
static void cuda_release(void *state) {
  cuda_state *s = state;
  if (!s || cuda_check_process(NULL) != VYRE_OK) return; // it belongs to the parent
  if (!ways_drop(&s->ways)) return;
  bool is_in = cuda_enter(s->device) == CU_SUCCESS;
  ways_clear(&s->ways); // calls for a device that is gone fail, and there is nothing to do about it
  if (is_in) cuda_leave(s->device);
  ways_fini(&s->ways);
  vyre_program_release(s->program);
  free(s);
}

static const ways_how cuda_ways = {
    .build = build,
    .unbuild = unbuild,
    .runner_new = make_runner,
    .runner_free = free_runner,
    .warm = {.run = build_way, .hold = ways_hold, .release = cuda_release},
};

// ---- compile ------------------------------------------------------------------------------------

static vyre_status check_limits(const cuda_device *d, const vyre_program *p, vyre_error *error) {
  device_room room = {
      .invocations = d->most_threads, .shared_bytes = d->most_shared, .shared_alignment = 8};
  memcpy(room.workgroup, d->most_block, sizeof room.workgroup);
  return fit_check(p, &room, error);
}

static vyre_status prepare(cuda_state *s, const volatile uint32_t *stop, vyre_error *error) {
  vyre_status status = check_limits(s->device, s->program, error);
  if (status != VYRE_OK) return status;
  cu_result code = cuda_enter(s->device);
  if (code != CU_SUCCESS) return cuda_device_error(s->device, error, code, "use a device");
  ways_runner *i;
  status = ways_take(&s->ways, WAY_PLAIN, stop, &i, error);
  if (status == VYRE_OK) ways_give(&s->ways, WAY_PLAIN, i);
  cuda_leave(s->device);
  return status;
}

vyre_status cuda_compile_for(struct cuda_device *d, vyre_program *program, bool is_quick,
                             const volatile uint32_t *stop, void **state, vyre_error *error) {
  cuda_state *s = calloc(1, sizeof *s);
  if (!s) return error_out_of_memory(error);
  s->device = d;
  s->program = vyre_program_retain(program);
  s->is_quick = is_quick;
  for (uint32_t i = 0; i < program->region_count; i++)
    s->has_long_kernel |= traits_is_long(program, &program->regions[i]);
  ways_init(&s->ways, &cuda_ways);
  vyre_status status = prepare(s, stop, error);
  if (status == VYRE_OK)
    *state = s;
  else
    cuda_release(s);
  return status;
}

static vyre_status cuda_compile(const backend *self, vyre_program *program,
                                const vyre_compile_options *options, const volatile uint32_t *stop,
                                void **state, vyre_error *error) {
  (void)self;
  vyre_error own; // the status is read from it
  if (!error) error = &own;
  cuda_device *d = cuda_device_find(options->device, error);
  if (!d) return error->status;
  vyre_status status = cuda_trust(d, error);
  if (status != VYRE_OK) return status;
  return cuda_compile_for(d, program, options->tier == VYRE_TIER_QUICK, stop, state, error);
}

// ---- dispatch -----------------------------------------------------------------------------------

static vyre_status run(cuda_state *s, int way, const launch *l, vyre_report *report,
                       vyre_error *error) {
  static const volatile uint32_t never = 0;
  ways_runner *i;
  bool is_stuck = false;
  vyre_status status = ways_take(&s->ways, way, &never, &i, error);
  if (status != VYRE_OK) return status;
  status = cuda_runner_run((cuda_runner *)i, l, report, &is_stuck, error);
  if (!is_stuck) {
    ways_give(&s->ways, way, i);
    return status;
  }
  atomic_store(&s->device->is_lost, true);
  ways_leave(&s->ways, i);
  return status;
}

static vyre_status cuda_dispatch(void *state, const launch *l, vyre_report *report,
                                 vyre_error *error) {
  cuda_state *s = state;
  vyre_status status = cuda_check_process(error);
  if (status != VYRE_OK) return status;
  if (atomic_load(&s->device->is_lost))
    return error_set(error, VYRE_ERROR_BACKEND,
                     "the CUDA device %s was lost. Fix: use another backend until the process ends",
                     s->device->info.adapter);
  int way = ways_choose(l, s->has_long_kernel);
  status = ways_warm(&s->ways, way, warm_key(1, (uint64_t)way), l, error);
  if (status != VYRE_OK) return status;
  cu_result code = cuda_enter(s->device);
  if (code != CU_SUCCESS) return cuda_device_error(s->device, error, code, "use a device");
  status = run(s, way, l, report, error);
  cuda_leave(s->device);
  return status;
}

const backend cuda_backend = {
    .id = "cuda",
    .has_devices = true,
    .summary = "CUDA devices: GPUs of NVIDIA, once they agree with the reference",
    .forms = cuda_forms,
    .probe = cuda_probe,
    .describe = cuda_describe,
    .compile = cuda_compile,
    .dispatch = cuda_dispatch,
    .release = cuda_release,
    .keeps_memory = cuda_keeps_memory,
    .fetch = cuda_fetch,
    .drop = cuda_drop,
};
