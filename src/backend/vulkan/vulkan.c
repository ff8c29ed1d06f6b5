// SPDX-License-Identifier: MIT
//
// A program is compiled in up to two ways: plain, and with shaders that poll a stop flag, which is
// used only when a dispatch has a time limit and the program could run for long. A running shader
// cannot be killed through Vulkan; see docs/BACKENDS.md for what a time limit means here.
#include "backend/vulkan/vulkan.h"

#include "backend/vulkan/forms.h"
#include "backend/vulkan/runner.h"
#include "backend/vulkan/probe.h"
#include "backend/vulkan/residency.h"
#include "backend/warm.h"
#include "base/environment.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// More invocations than this are not waited for without polling.
#define SHORT_INVOCATIONS ((uint64_t)1 << 24)

enum { PLAIN, POLLED, WAY_COUNT };

typedef struct vulkan_state {
  vulkan_device *device;
  vulkan_target target;
  vyre_program *program;
  bool has_long_shader;
  atomic_uint references;   // of the executable, and of preparations under way
  warm_set warm;            // launches that the driver has compiled for
  pthread_mutex_t building; // held by whoever builds
  pthread_mutex_t lock;     // guards what follows
  bool is_built[WAY_COUNT];
  vulkan_build builds[WAY_COUNT];
  runner *at_rest[WAY_COUNT];
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

// ---- compile ------------------------------------------------------------------------------------

static void vulkan_release(void *state) {
  vulkan_state *s = state;
  if (!s || vulkan_check_process(NULL) != VYRE_OK) return; // it belongs to the parent
  if (atomic_fetch_sub(&s->references, 1) > 1) return;
  for (int way = 0; way < WAY_COUNT; way++) {
    for (runner *next; s->at_rest[way]; s->at_rest[way] = next) {
      next = s->at_rest[way]->next;
      runner_free(s->at_rest[way]);
    }
    if (s->is_built[way]) vulkan_build_fini(&s->builds[way]);
  }
  pthread_mutex_destroy(&s->lock);
  pthread_mutex_destroy(&s->building);
  warm_fini(&s->warm);
  vyre_program_release(s->program);
  free(s);
}

// Limits that do not depend on the shader's code.
static vyre_status check_limits(const vulkan_device *d, const vyre_program *p, vyre_error *error) {
  const VkPhysicalDeviceLimits *l = &d->properties.limits;
  for (uint32_t i = 0; i < p->region_count; i++) {
    const region *r = &p->regions[i];
    uint64_t shared = 0;
    bool fits = true; // the number of all invocations is looked at when the program is lowered
    for (uint32_t k = r->shared.first; k < r->shared.end; k++)
      shared += (uint64_t)p->shared[k].length * type_bytes(p->shared[k].type);
    for (int k = 0; k < 3; k++) fits &= r->workgroup[k] <= l->maxComputeWorkGroupSize[k];
    if (!r->is_elastic && !fits)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "region `%s` needs a workgroup of %u x %u x %u, the device takes %u x %u x "
                       "%u. Fix: use smaller workgroups, or another backend",
                       r->name, r->workgroup[0], r->workgroup[1], r->workgroup[2],
                       l->maxComputeWorkGroupSize[0], l->maxComputeWorkGroupSize[1],
                       l->maxComputeWorkGroupSize[2]);
    if (shared > l->maxComputeSharedMemorySize)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "region `%s` needs %llu bytes of shared memory, the device has %u. Fix: use "
                       "smaller shared arrays, or another backend",
                       r->name, (unsigned long long)shared, l->maxComputeSharedMemorySize);
  }
  return VYRE_OK;
}

static bool is_built(vulkan_state *s, int way) {
  pthread_mutex_lock(&s->lock);
  bool built = s->is_built[way];
  pthread_mutex_unlock(&s->lock);
  return built;
}

// Nobody who needs something else waits for the driver's compiler.
static vyre_status build(vulkan_state *s, int way, const volatile uint32_t *stop,
                         vyre_error *error) {
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&s->building);
  if (!is_built(s, way)) {
    // Its lock is not moved: nobody looks at it before is_built says so.
    status = vulkan_build_init(&s->builds[way], s->device, &s->target, s->program, way == POLLED,
                               stop, error);
    pthread_mutex_lock(&s->lock);
    s->is_built[way] = status == VYRE_OK;
    pthread_mutex_unlock(&s->lock);
  }
  pthread_mutex_unlock(&s->building);
  return status;
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
  int way = is_counted(s) ? POLLED : PLAIN;
  vyre_status status = check_limits(s->device, program, error);
  if (status == VYRE_OK) status = build(s, way, stop, error);
  if (status == VYRE_OK) status = runner_new(&s->builds[way], s->program, &s->at_rest[way], error);
  if (status == VYRE_OK && __atomic_load_n(stop, __ATOMIC_RELAXED))
    return launch_compiling_error(program, error);
  return status == VYRE_OK ? warm(s->at_rest[way], error) : status;
}

vyre_status vulkan_compile_for(vulkan_device *d, const vulkan_target *target, vyre_program *program,
                               const volatile uint32_t *stop, void **state, vyre_error *error) {
  vulkan_state *s = calloc(1, sizeof *s);
  if (!s) return error_out_of_memory(error);
  s->device = d;
  s->target = *target;
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_init(&s->building, NULL);
  warm_init(&s->warm);
  atomic_init(&s->references, 1);
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

// ---- runners ----------------------------------------------------------------------------------

static vyre_status take_runner(vulkan_state *s, int way, runner **out, vyre_error *error) {
  static const volatile uint32_t never = 0;
  vyre_status status = build(s, way, &never, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&s->lock);
  *out = s->at_rest[way];
  if (*out) s->at_rest[way] = (*out)->next;
  pthread_mutex_unlock(&s->lock);
  return *out ? VYRE_OK : runner_new(&s->builds[way], s->program, out, error);
}

static void give_runner(vulkan_state *s, int way, runner *i) {
  pthread_mutex_lock(&s->lock);
  i->next = s->at_rest[way];
  s->at_rest[way] = i;
  pthread_mutex_unlock(&s->lock);
}

// Polling costs: only where a limit could have to end something.
static int choose_way(const vulkan_state *s, const launch *l) {
  if (is_counted(s)) return POLLED;
  if (!l->timeout_ns) return PLAIN;
  uint64_t invocations = launch_invocations(l, s->program->region_count);
  return s->has_long_shader || invocations > SHORT_INVOCATIONS ? POLLED : PLAIN;
}

// ---- making ready -------------------------------------------------------------------------------

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
  vyre_status status = build(s, way, stop, error);
  if (status == VYRE_OK) status = take_runner(s, way, &i, error);
  if (status != VYRE_OK) return status;
  if (!__atomic_load_n(stop, __ATOMIC_RELAXED)) status = runner_warm(i, regions, error);
  give_runner(s, way, i);
  return status;
}

static void hold(void *state) {
  vulkan_state *s = state;
  atomic_fetch_add(&s->references, 1);
}

static const warm_how warming = {.run = warm_for, .hold = hold, .release = vulkan_release};

// ---- dispatch -----------------------------------------------------------------------------------

static vyre_status vulkan_dispatch(void *state, const launch *l, vyre_report *report,
                                   vyre_error *error) {
  vulkan_state *s = state;
  int way = choose_way(s, l);
  runner *i;
  bool is_stuck = false;
  vyre_status status = vulkan_check_process(error);
  if (status == VYRE_OK && atomic_load(&s->device->is_lost))
    status = error_set(error, VYRE_ERROR_BACKEND,
                       "the Vulkan device %s was lost. Fix: use another backend until the process "
                       "ends",
                       s->device->info.adapter);
  if (status == VYRE_OK)
    status = warm_launch(&s->warm, &warming, s, way, launch_key(l, way), l, error);
  if (status == VYRE_OK) status = take_runner(s, way, &i, error);
  if (status != VYRE_OK) return status;
  status = runner_run(i, l, report, &is_stuck, error);
  if (is_stuck)
    atomic_store(&s->device->is_lost, true); // and the runner is left to the device
  else
    give_runner(s, way, i);
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
