// SPDX-License-Identifier: MIT
//
// A program is compiled in up to two ways: plain, and with kernels that poll a stop flag, which is
// used only when a dispatch has a time limit and the program could run for long. A running kernel
// cannot be killed through OpenCL; see docs/BACKENDS.md for what a time limit means here.
#include "backend/opencl/opencl.h"

#include "backend/opencl/forms.h"
#include "backend/opencl/instance.h"
#include "backend/opencl/residency.h"
#include "backend/opencl/room.h"
#include "backend/warm.h"
#include "base/error.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// More invocations than this are not waited for without polling.
#define SHORT_INVOCATIONS ((uint64_t)1 << 24)

enum { PLAIN, POLLED, WAY_COUNT };

typedef struct opencl_state {
  opencl_device *device;
  vyre_program *program; // without mathematical functions
  vyre_tier tier;
  bool has_long_kernel;
  bool only_cached;         // while it is made
  atomic_uint references;   // of the executable, and of preparations under way
  warm_set warm;            // launches that the driver has compiled for
  pthread_mutex_t building; // held by whoever builds
  pthread_mutex_t lock;     // guards what follows
  bool is_built[WAY_COUNT];
  opencl_build builds[WAY_COUNT];
  instance *at_rest[WAY_COUNT];
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

// ---- compile ------------------------------------------------------------------------------------

static void opencl_release(void *state) {
  opencl_state *s = state;
  if (!s || opencl_check_process(NULL) != VYRE_OK) return; // it belongs to the parent
  if (atomic_fetch_sub(&s->references, 1) > 1) return;
  for (int way = 0; way < WAY_COUNT; way++) {
    for (instance *next; s->at_rest[way]; s->at_rest[way] = next) {
      next = s->at_rest[way]->next;
      instance_free(s->at_rest[way]);
    }
    if (s->is_built[way]) opencl_build_fini(&s->builds[way], s->device);
  }
  pthread_mutex_destroy(&s->lock);
  pthread_mutex_destroy(&s->building);
  warm_fini(&s->warm);
  vyre_program_release(s->program);
  free(s);
}

// Limits that do not depend on the kernel's text.
static vyre_status check_limits(const opencl_device *d, const vyre_program *p, vyre_error *error) {
  for (uint32_t i = 0; i < p->region_count; i++) {
    const region *r = &p->regions[i];
    uint64_t shared = 0;
    bool fits = true; // the number of all invocations is looked at when the program is lowered
    for (uint32_t k = r->shared.first; k < r->shared.end; k++)
      shared += (uint64_t)p->shared[k].length * type_bytes(p->shared[k].type);
    for (int k = 0; k < 3; k++) fits &= r->workgroup[k] <= d->max_workgroup[k];
    if (!r->is_elastic && !fits)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "region `%s` needs a workgroup of %u x %u x %u, the device takes %u x %u x "
                       "%u. Fix: use smaller workgroups, or another backend",
                       r->name, r->workgroup[0], r->workgroup[1], r->workgroup[2],
                       d->max_workgroup[0], d->max_workgroup[1], d->max_workgroup[2]);
    if (shared > d->local_bytes)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "region `%s` needs %llu bytes of shared memory, the device has %llu. Fix: "
                       "use smaller shared arrays, or another backend",
                       r->name, (unsigned long long)shared, (unsigned long long)d->local_bytes);
  }
  return VYRE_OK;
}

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

static bool is_built(opencl_state *s, int way) {
  pthread_mutex_lock(&s->lock);
  bool built = s->is_built[way];
  pthread_mutex_unlock(&s->lock);
  return built;
}

// Nobody who needs something else waits for the driver's compiler.
static vyre_status build(opencl_state *s, int way, vyre_error *error) {
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&s->building);
  if (!is_built(s, way)) {
    opencl_build made;
    opencl_build_how how = {way == POLLED, s->tier, s->only_cached};
    status = opencl_build_init(&made, s->device, s->program, &how, error);
    if (status == VYRE_OK && (status = check_args(s->device, &made.source, error)) != VYRE_OK)
      opencl_build_fini(&made, s->device);
    pthread_mutex_lock(&s->lock);
    if (status == VYRE_OK) s->builds[way] = made;
    s->is_built[way] = status == VYRE_OK;
    pthread_mutex_unlock(&s->lock);
  }
  pthread_mutex_unlock(&s->building);
  return status;
}

static vyre_status prepare(opencl_state *s, vyre_program *program,
                           const vyre_compile_options *options, const volatile uint32_t *stop,
                           vyre_error *error) {
  s->tier = options->tier;
  s->device = opencl_device_find(options->device, error);
  if (!s->device) return error ? error->status : VYRE_ERROR_UNSUPPORTED;
  vyre_status status = opencl_check_room(s->device, error);
  if (status == VYRE_OK) status = check_limits(s->device, program, error);
  s->program = vyre_program_retain(program);
  if (status == VYRE_OK) status = build(s, PLAIN, error);
  s->only_cached = false; // whatever else it needs later
  for (uint32_t i = 0; i < program->region_count && status == VYRE_OK; i++)
    s->has_long_kernel |= s->builds[PLAIN].source.kernels[i].has_loop;
  if (status == VYRE_OK)
    status = instance_new(s->device, &s->builds[PLAIN], s->program, &s->at_rest[PLAIN], error);
  if (status == VYRE_OK && __atomic_load_n(stop, __ATOMIC_RELAXED))
    return launch_compiling_error(program, error);
  if (status == VYRE_OK) status = instance_warm(s->at_rest[PLAIN], error);
  return status;
}

static vyre_status make_state(vyre_program *program, const vyre_compile_options *options,
                              const volatile uint32_t *stop, bool only_cached, void **state,
                              vyre_error *error) {
  vyre_error own; // the status is read from it
  if (!error) error = &own;
  opencl_state *s = calloc(1, sizeof *s);
  if (!s) return error_out_of_memory(error);
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_init(&s->building, NULL);
  warm_init(&s->warm);
  atomic_init(&s->references, 1);
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

// ---- instances ----------------------------------------------------------------------------------

static vyre_status take_instance(opencl_state *s, int way, instance **out, vyre_error *error) {
  vyre_status status = is_built(s, way) ? VYRE_OK : build(s, way, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&s->lock);
  *out = s->at_rest[way];
  if (*out) s->at_rest[way] = (*out)->next;
  pthread_mutex_unlock(&s->lock);
  if (*out) return VYRE_OK;
  return instance_new(s->device, &s->builds[way], s->program, out, error);
}

static void give_instance(opencl_state *s, int way, instance *i) {
  pthread_mutex_lock(&s->lock);
  i->next = s->at_rest[way];
  s->at_rest[way] = i;
  pthread_mutex_unlock(&s->lock);
}

static int choose_way(const opencl_state *s, const launch *l) {
  if (!l->timeout_ns) return PLAIN;
  for (uint32_t i = 0; i < s->program->region_count; i++)
    if (l->regions[i].invocations > SHORT_INVOCATIONS) return POLLED;
  return s->has_long_kernel ? POLLED : PLAIN;
}

// ---- the driver's compiler ----------------------------------------------------------------------

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
  vyre_status status = take_instance(s, way, &i, error);
  if (status != VYRE_OK) return status;
  if (!__atomic_load_n(stop, __ATOMIC_RELAXED)) status = instance_warm_for(i, regions, error);
  give_instance(s, way, i);
  return status;
}

static void hold(void *state) {
  opencl_state *s = state;
  atomic_fetch_add(&s->references, 1);
}

static const warm_how warming = {.run = warm_for, .hold = hold, .release = opencl_release};

// ---- dispatch -----------------------------------------------------------------------------------

static vyre_status opencl_dispatch(void *state, const launch *l, vyre_report *report,
                                   vyre_error *error) {
  opencl_state *s = state;
  int way = choose_way(s, l);
  instance *i;
  bool is_stuck = false;
  vyre_status status = opencl_check_process(error);
  if (status == VYRE_OK)
    status = warm_launch(&s->warm, &warming, s, way, launch_key(l, way), l, error);
  if (status == VYRE_OK) status = take_instance(s, way, &i, error);
  if (status != VYRE_OK) return status;
  status = instance_submit(i, l, error);
  if (status == VYRE_OK) status = instance_finish(i, l, report, &is_stuck, error);
  if (is_stuck)
    atomic_store(&s->device->is_lost, true); // and the instance is left to the device
  else
    give_instance(s, way, i);
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
