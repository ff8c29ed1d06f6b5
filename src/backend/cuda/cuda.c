// SPDX-License-Identifier: MIT
//
// A program is compiled in up to two ways: plain, and with kernels that poll a stop flag, which is
// used only when a dispatch may be ended early and the program could run for long. A running kernel
// cannot be killed: see docs/BACKENDS.md for what a time limit means here.
#include "backend/cuda/cuda.h"

#include "backend/cuda/forms.h"
#include "backend/cuda/residency.h"
#include "backend/cuda/runner.h"
#include "backend/cuda/trust.h"
#include "backend/traits.h"
#include "backend/warm.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// More invocations than this are not waited for without polling.
#define SHORT_INVOCATIONS ((uint64_t)1 << 24)

enum { PLAIN, POLLED, WAY_COUNT };

typedef struct cuda_state {
  struct cuda_state *next; // of those that are left to a device
  cuda_device *device;
  vyre_program *program;
  bool is_quick, has_long_kernel;
  atomic_uint references;   // of the executable, and of preparations under way
  warm_set warm;            // ways that are built
  pthread_mutex_t building; // held by whoever builds
  pthread_mutex_t lock;     // guards what follows
  bool is_built[WAY_COUNT];
  cuda_runner *stuck; // the device may still run these
  cuda_build builds[WAY_COUNT];
  cuda_runner *at_rest[WAY_COUNT];
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

// ---- compile ------------------------------------------------------------------------------------

// Entered by whoever calls; a device that cannot be entered keeps what it has.
static void free_all(cuda_state *s) {
  for (int way = 0; way < WAY_COUNT; way++) {
    for (cuda_runner *next; s->at_rest[way]; s->at_rest[way] = next) {
      next = s->at_rest[way]->next;
      cuda_runner_free(s->at_rest[way]);
    }
    if (s->is_built[way]) cuda_build_fini(&s->builds[way]);
  }
}

// A device that did not end what it was given may still use all of it.
static void keep_for_device(cuda_state *s) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static cuda_state *kept;
  pthread_mutex_lock(&lock);
  s->next = kept;
  kept = s;
  pthread_mutex_unlock(&lock);
}

static void cuda_release(void *state) {
  cuda_state *s = state;
  if (!s || cuda_check_process(NULL) != VYRE_OK) return; // it belongs to the parent
  if (atomic_fetch_sub(&s->references, 1) > 1) return;
  if (s->stuck) {
    keep_for_device(s);
    return;
  }
  bool is_in = cuda_enter(s->device) == CU_SUCCESS;
  free_all(s); // calls for a device that is gone fail, and there is nothing to do about it
  if (is_in) cuda_leave(s->device);
  pthread_mutex_destroy(&s->lock);
  pthread_mutex_destroy(&s->building);
  warm_fini(&s->warm);
  vyre_program_release(s->program);
  free(s);
}

// Limits that do not depend on the kernel's code.
static vyre_status check_limits(const cuda_device *d, const vyre_program *p, vyre_error *error) {
  for (uint32_t i = 0; i < p->region_count; i++) {
    const region *r = &p->regions[i];
    const uint32_t *size = r->workgroup;
    uint64_t shared = 0;
    bool fits = (uint64_t)size[0] * size[1] * size[2] <= d->most_threads;
    for (int k = 0; k < 3; k++) fits &= size[k] <= d->most_block[k];
    if (!r->is_elastic && !fits)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "region `%s` needs a workgroup of %u x %u x %u, the device takes %u x %u x "
                       "%u and %u in all. Fix: use smaller workgroups, or another backend",
                       r->name, size[0], size[1], size[2], d->most_block[0], d->most_block[1],
                       d->most_block[2], d->most_threads);
    for (uint32_t k = r->shared.first; k < r->shared.end; k++)
      shared += ((uint64_t)p->shared[k].length * type_bytes(p->shared[k].type) + 7) / 8 * 8;
    if (shared > d->most_shared)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "region `%s` needs %llu bytes of shared memory, the device has %u. Fix: use "
                       "smaller shared arrays, or another backend",
                       r->name, (unsigned long long)shared, d->most_shared);
  }
  return VYRE_OK;
}

static bool is_built(cuda_state *s, int way) {
  pthread_mutex_lock(&s->lock);
  bool built = s->is_built[way];
  pthread_mutex_unlock(&s->lock);
  return built;
}

// Nobody who needs something else waits for the compiler.
static vyre_status build(cuda_state *s, int way, const volatile uint32_t *stop, vyre_error *error) {
  vyre_status status = VYRE_OK;
  if (is_built(s, way)) return VYRE_OK;
  pthread_mutex_lock(&s->building);
  if (!is_built(s, way)) {
    status = cuda_build_init(&s->builds[way], s->device, s->program, way == POLLED, s->is_quick,
                             stop, error);
    pthread_mutex_lock(&s->lock);
    s->is_built[way] = status == VYRE_OK;
    pthread_mutex_unlock(&s->lock);
  }
  pthread_mutex_unlock(&s->building);
  return status;
}

static vyre_status prepare(cuda_state *s, const volatile uint32_t *stop, vyre_error *error) {
  vyre_status status = check_limits(s->device, s->program, error);
  if (status != VYRE_OK) return status;
  cu_result code = cuda_enter(s->device);
  if (code != CU_SUCCESS) return cuda_device_error(s->device, error, code, "use a device");
  status = build(s, PLAIN, stop, error);
  if (status == VYRE_OK)
    status = cuda_runner_new(&s->builds[PLAIN], s->program, &s->at_rest[PLAIN], error);
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
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_init(&s->building, NULL);
  warm_init(&s->warm);
  atomic_init(&s->references, 1);
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

// ---- runners ------------------------------------------------------------------------------------

static vyre_status take_runner(cuda_state *s, int way, cuda_runner **out, vyre_error *error) {
  static const volatile uint32_t never = 0;
  vyre_status status = build(s, way, &never, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&s->lock);
  *out = s->at_rest[way];
  if (*out) s->at_rest[way] = (*out)->next;
  pthread_mutex_unlock(&s->lock);
  return *out ? VYRE_OK : cuda_runner_new(&s->builds[way], s->program, out, error);
}

static void give_runner(cuda_state *s, int way, cuda_runner *i) {
  pthread_mutex_lock(&s->lock);
  i->next = s->at_rest[way];
  s->at_rest[way] = i;
  pthread_mutex_unlock(&s->lock);
}

// Polling costs: only where somebody could have to end something.
static int choose_way(const cuda_state *s, const launch *l) {
  if (!l->timeout_ns && !l->stop) return PLAIN;
  uint64_t invocations = launch_invocations(l, s->program->region_count);
  return s->has_long_kernel || invocations > SHORT_INVOCATIONS ? POLLED : PLAIN;
}

// ---- making ready -------------------------------------------------------------------------------

// The way that time limits need is compiled when the first one comes: apart from the limit, on a
// thread that may be left.
static vyre_status build_way(void *state, int way, const launch_region *regions,
                             const volatile uint32_t *stop, vyre_error *error) {
  cuda_state *s = state;
  (void)regions;
  cu_result code = cuda_enter(s->device);
  if (code != CU_SUCCESS) return cuda_device_error(s->device, error, code, "use a device");
  vyre_status status = build(s, way, stop, error);
  cuda_leave(s->device);
  return status;
}

static void hold(void *state) {
  cuda_state *s = state;
  atomic_fetch_add(&s->references, 1);
}

static const warm_how warming = {.run = build_way, .hold = hold, .release = cuda_release};

// ---- dispatch -----------------------------------------------------------------------------------

// What runs for ever keeps its runner, and its code.
static void leave_to_device(cuda_state *s, cuda_runner *i) {
  atomic_store(&s->device->is_lost, true);
  pthread_mutex_lock(&s->lock);
  i->next = s->stuck;
  s->stuck = i;
  pthread_mutex_unlock(&s->lock);
}

static vyre_status run(cuda_state *s, int way, const launch *l, vyre_report *report,
                       vyre_error *error) {
  cuda_runner *i;
  bool is_stuck = false;
  vyre_status status = take_runner(s, way, &i, error);
  if (status != VYRE_OK) return status;
  status = cuda_runner_run(i, l, report, &is_stuck, error);
  if (is_stuck)
    leave_to_device(s, i);
  else
    give_runner(s, way, i);
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
  int way = choose_way(s, l);
  status = warm_launch(&s->warm, &warming, s, way, warm_key(1, (uint64_t)way), l, error);
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
