// SPDX-License-Identifier: MIT
#include "runtime/kernel.h"

#include "backend/conformance.h"
#include "base/clock.h"
#include "base/error.h"
#include "profile/size_class.h"
#include "runtime/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const reason_names[REASON_COUNT] = {
    [REASON_NONE] = "none",
    [REASON_FASTER] = "faster",
    [REASON_ROUTED] = "routed",
    [REASON_OPTIMIZED] = "optimized",
    [REASON_NOT_FASTER] = "not-faster",
    [REASON_WRONG_RESULT] = "wrong-result",
    [REASON_FAILED] = "failed",
    [REASON_UNSUPPORTED] = "unsupported",
    [REASON_INPUTS_TOO_LARGE] = "inputs-too-large",
    [REASON_NO_MEMORY] = "no-memory",
    [REASON_ONLY_ONE] = "nothing-to-choose",
};

const char *plan_reason_name(plan_reason reason) {
  return reason_names[reason];
}

// ---- variants -----------------------------------------------------------------------------------

void variant_free(variant *v) {
  vyre_executable_release(v->executable);
  opt_report_free(&v->report);
  free(v->decisions);
  free(v->sums);
  free(v);
}

void variant_unlink(vyre_kernel *k, variant *v) {
  variant **at = &k->variants;
  while (*at != v) at = &(*at)->next;
  *at = v->next;
}

static vyre_status compile_variant(variant *v, vyre_program *program,
                                   const variant_request *request, const vyre_kernel *k,
                                   vyre_error *error) {
  optimize_options options = {.mode = request->optimize ? OPTIMIZE_SELECTED : OPTIMIZE_NOTHING,
                              .hints = k->runtime->hints,
                              .previous = request->optimize ? &k->earlier : NULL,
                              .lengths = request->lengths};
  optimize_result optimized;
  vyre_status status = optimize_program(program, &options, &optimized, error);
  if (status == VYRE_OK) {
    vyre_compile_options how = {.tier = request->tier};
    status = vyre_compile(optimized.program, request->backend, &how, &v->executable, error);
    v->report = optimized.report;
    v->decisions = optimized.decisions;
    v->pass_count = optimized.pass_count;
    v->region_count = optimized.region_count;
    optimized.report = (opt_report){0};
    optimized.decisions = NULL;
  }
  optimize_result_fini(&optimized);
  return status;
}

vyre_status variant_make(vyre_kernel *k, const variant_request *request, variant **out,
                         vyre_error *error) {
  *out = NULL;
  vyre_program *program = request->program ? request->program : k->program;
  // Whoever chose the backend gets it; otherwise one that failed what the program needs is out.
  if (!k->runtime->backend[0] && !conformance_allows_backend(request->backend, program, error))
    return VYRE_ERROR_UNSUPPORTED;
  variant *v = calloc(1, sizeof *v);
  if (!v) return error_out_of_memory(error);
  v->origin = request->origin;
  if (request->optimize) evidence_load_passes(k);
  uint64_t start = clock_now_ns();
  vyre_status status = compile_variant(v, program, request, k, error);
  v->compile_ns = clock_now_ns() - start;
  if (status == VYRE_OK) {
    v->sums_count = executable_program(v->executable)->region_count;
    v->sums = calloc(v->sums_count + 1u, sizeof *v->sums);
    if (!v->sums) status = error_out_of_memory(error);
  }
  if (status != VYRE_OK) {
    variant_free(v);
    return status;
  }
  v->backend = executable_backend(v->executable)->id;
  v->device = evidence_device(k->runtime, v->backend);
  if (request->optimize && !request->program) evidence_keep_passes(k, &v->report);
  pthread_mutex_lock(&k->lock);
  v->next = k->variants;
  k->variants = v;
  pthread_mutex_unlock(&k->lock);
  *out = v;
  return VYRE_OK;
}

// ---- plans --------------------------------------------------------------------------------------

uint32_t plan_size_class(const vyre_dispatch_args *args) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < args->buffer_count; i++) bytes += args->buffers[i].size_bytes;
  return size_class_of(bytes);
}

static bool has_backend(void *context, const char *backend) {
  (void)context;
  uint32_t count = 0;
  return backend_find(backend) && vyre_backend_devices(backend, NULL, 0, &count, NULL) == VYRE_OK &&
         count;
}

// What was decided in an earlier process. It says what to try first, not what is right: the backend
// still has to give the first variant's answer before it is used.
static void ask_routes(vyre_kernel *k, plan *p) {
  vyre_runtime *rt = k->runtime;
  const route_entry *entry = NULL;
  p->route = ROUTE_NO_ENTRY;
  if (!rt->routes || rt->backend[0]) return;
  route_query query = {.op_id = k->program->name,
                       .fingerprint = k->program->fingerprint,
                       .has_size_class = true,
                       .size_class = p->size_class,
                       .now = clock_unix_seconds(),
                       .max_age_seconds = ROUTE_MAX_AGE_SECONDS,
                       .has_backend = has_backend};
  pthread_mutex_lock(&rt->files);
  p->route = route_resolve(rt->routes, &query, &entry);
  char adapter[128] = "";
  if (p->route == ROUTE_USABLE) runtime_adapter(entry->backend, adapter);
  // Measured on another device of the same backend: not trusted here.
  if (p->route == ROUTE_USABLE && entry->device && strcmp(entry->device, adapter))
    p->route = ROUTE_OTHER_DEVICE;
  if (p->route == ROUTE_USABLE) snprintf(p->routed, sizeof p->routed, "%s", entry->backend);
  pthread_mutex_unlock(&rt->files);
}

// The backend that a program runs on before anything is known: this CPU, and the interpreter where
// that cannot be.
static vyre_status make_first(vyre_kernel *k, variant **out, vyre_error *error) {
  const vyre_runtime *rt = k->runtime;
  variant_request request = {.backend = rt->backend[0] ? rt->backend : "cpu",
                             .origin = "first",
                             .tier = VYRE_TIER_QUICK,
                             .optimize = false};
  vyre_status status = variant_make(k, &request, out, error);
  bool can_fall_back = status == VYRE_ERROR_BACKEND || status == VYRE_ERROR_UNSUPPORTED;
  if (!can_fall_back || rt->backend[0]) return status;
  runtime_notice(k->runtime, NOTICE_BACKEND_FAILED,
                 "the cpu backend cannot run `%s`, so the interpreter does, slowly: %s",
                 k->program->name, error ? error->message : "");
  request.backend = "ref";
  return variant_make(k, &request, out, error);
}

static vyre_status make_plan(vyre_kernel *k, uint32_t size_class, plan **out, vyre_error *error) {
  variant *first = NULL;
  pthread_mutex_lock(&k->lock);
  for (variant *v = k->variants; v; v = v->next)
    if (!strcmp(v->origin, "first")) first = v; // of another size class: code does not depend on it
  pthread_mutex_unlock(&k->lock);
  vyre_status status = first ? VYRE_OK : make_first(k, &first, error);
  if (status != VYRE_OK) return status;
  plan *made = calloc(1, sizeof *made);
  if (!made) return error_out_of_memory(error);
  made->size_class = size_class;
  made->first = first;
  atomic_init(&made->current, first);
  ask_routes(k, made);
  plan *none = NULL;
  if (!atomic_compare_exchange_strong(&k->plans[size_class], &none, made)) {
    free(made); // another thread was first
    made = none;
  }
  *out = made;
  return VYRE_OK;
}

// ---- dispatch -----------------------------------------------------------------------------------

enum { REGIONS_ON_STACK = 32 };

static void record(vyre_kernel *k, plan *p, variant *v, const vyre_report *r) {
  vyre_runtime *rt = k->runtime;
  uint64_t number = atomic_fetch_add_explicit(&p->dispatches, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&p->total_ns, r->wall_ns, memory_order_relaxed);
  atomic_store_explicit(&p->ring[number % RING], evidence_sample(v->device, r->wall_ns),
                        memory_order_relaxed);
  uint64_t invocations = 0;
  for (uint32_t i = 0; i < r->region_count; i++) {
    const vyre_region_report *row = &r->regions[i];
    invocations += row->invocations;
    hints_record(rt->hints, row->name, row->time_ns, row->bytes);
    if (i < v->sums_count) evidence_region_add(&v->sums[i], row->time_ns, row->bytes);
  }
  atomic_fetch_add_explicit(&p->invocations, invocations, memory_order_relaxed);
  if (rt->worker && !worker_is_poked(rt->worker)) worker_poke(rt->worker);
}

// A variant that fails where the first one worked is given up for good; the answer comes from the
// first one.
static vyre_status fall_back(vyre_kernel *k, plan *p, variant *failed,
                             const vyre_dispatch_args *args, vyre_report *report,
                             vyre_error *error) {
  vyre_error why = {0};
  if (error) why = *error;
  vyre_status status = vyre_dispatch(p->first->executable, args, report, error);
  if (status != VYRE_OK) return status;
  atomic_fetch_add_explicit(&p->failures, 1, memory_order_relaxed);
  atomic_compare_exchange_strong(&p->current, &failed, p->first);
  runtime_notice(k->runtime, NOTICE_BACKEND_FAILED,
                 "backend %s failed on `%s` and is not used for it any more: %s", failed->backend,
                 k->program->name, why.message);
  return VYRE_OK;
}

// *v becomes the first variant when it had to answer instead.
static vyre_status run_plan(vyre_kernel *k, plan *p, variant **v, const vyre_dispatch_args *args,
                            vyre_report *report, vyre_error *error) {
  vyre_dispatch_args shaped = *args;
  // A shape was found for one backend; another has its own idea of a good one.
  bool is_open = !args->workgroup[0] && !args->workgroup[1] && !args->workgroup[2];
  const variant *current = atomic_load_explicit(&p->current, memory_order_relaxed);
  if (is_open && (*v)->backend == current->backend) plan_shape(p, shaped.workgroup);
  vyre_status status = vyre_dispatch((*v)->executable, &shaped, report, error);
  bool is_backends_fault = status == VYRE_ERROR_BACKEND || status == VYRE_ERROR_UNSUPPORTED;
  if (!is_backends_fault || *v == p->first) return status;
  status = fall_back(k, p, *v, args, report, error);
  *v = p->first;
  return status;
}

static bool is_time_to_learn(const vyre_kernel *k, plan *p) {
  const vyre_runtime *rt = k->runtime;
  if (atomic_load_explicit(&p->state, memory_order_relaxed) != PLAN_COLD || !rt->worker)
    return false;
  uint64_t count = atomic_load_explicit(&p->dispatches, memory_order_relaxed);
  if (rt->options.learn_after && !p->routed[0]) return count >= rt->options.learn_after;
  if (count >= DEFAULT_LEARN_AFTER || (count && p->routed[0])) return true;
  if (count < 2) return false;
  for (uint32_t i = 0; i < k->program->region_count; i++)
    if (hints_is_hot(rt->hints, k->program->regions[i].name)) return true;
  return false;
}

vyre_status kernel_check_arguments(const vyre_kernel *k, const vyre_dispatch_args *args,
                                   vyre_error *error) {
  if (k && args && (args->buffers || args->handles || !args->buffer_count)) return VYRE_OK;
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "a kernel was dispatched with NULL. Fix: pass a kernel, arguments and as many "
                   "spans as buffer_count says");
}

static vyre_status dispatch(vyre_kernel *k, const vyre_dispatch_args *args, vyre_report *report,
                            vyre_error *error) {
  vyre_status status = VYRE_OK;
  uint32_t size_class = plan_size_class(args);
  plan *p = atomic_load_explicit(&k->plans[size_class], memory_order_acquire);
  if (!p && (status = make_plan(k, size_class, &p, error)) != VYRE_OK) return status;
  if (is_time_to_learn(k, p)) learn_begin(k, p, args);
  if (atomic_load_explicit(&p->wanted_x, memory_order_relaxed)) resize_begin(k, p, args);
  variant *v = k->predictor ? special_enter(k, args) : NULL;
  if (!v) v = atomic_load_explicit(&p->current, memory_order_acquire);
  if (args->handles) v = buffers_nearest(p, v, args);

  vyre_region_report regions[REGIONS_ON_STACK];
  vyre_report own = {.regions = regions, .region_capacity = REGIONS_ON_STACK};
  vyre_report *r = report && report->region_capacity ? report : &own;
  status = run_plan(k, p, &v, args, r, error);
  if (status == VYRE_OK) record(k, p, v, r);
  if (k->predictor) special_leave(k);
  if (report && r == &own) {
    report->wall_ns = own.wall_ns;
    report->device_ns = own.device_ns;
    report->operations = own.operations;
    report->region_count = 0;
  }
  return status;
}

vyre_status vyre_kernel_dispatch(vyre_kernel *k, const vyre_dispatch_args *args,
                                 vyre_report *report, vyre_error *error) {
  vyre_status status = kernel_check_arguments(k, args, error);
  if (status != VYRE_OK || !args->handles)
    return status == VYRE_OK ? dispatch(k, args, report, error) : status;
  vyre_span spans[LIMIT_BUFFERS];
  vyre_dispatch_args bound;
  status = buffers_as_spans(k, args, spans, &bound, error);
  return status == VYRE_OK ? dispatch(k, &bound, report, error) : status;
}

// ---- life ---------------------------------------------------------------------------------------

vyre_status vyre_runtime_load(vyre_runtime *rt, vyre_program *program, vyre_kernel **out,
                              vyre_error *error) {
  if (!rt || !program || !out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_runtime_load was called with NULL. Fix: pass a runtime, a program and "
                     "where the kernel goes");
  vyre_kernel *k = calloc(1, sizeof *k);
  if (!k) return error_out_of_memory(error);
  k->runtime = rt;
  k->program = vyre_program_retain(program);
  k->key_count = program->param_count + program->buffer_count;
  k->predictor = rt->options.specialise && k->key_count && k->key_count <= PREDICT_MAX_VALUES
                     ? predictor_new(k->key_count, 0)
                     : NULL;
  evidence_load_speculation(k);
  pthread_mutex_init(&k->lock, NULL);
  pthread_mutex_lock(&rt->lock);
  k->next_in_runtime = rt->kernels;
  rt->kernels = k;
  pthread_mutex_unlock(&rt->lock);
  *out = k;
  return VYRE_OK;
}

void vyre_kernel_free(vyre_kernel *k) {
  if (!k) return;
  vyre_runtime *rt = k->runtime;
  // Jobs that mention the kernel end first; a submitted dispatch may still begin one.
  submit_wait(k);
  if (rt->worker && atomic_load(&k->pending)) worker_wait_idle(rt->worker);
  special_judge_all(k);
  pthread_mutex_lock(&rt->lock);
  evidence_gather(k);
  vyre_kernel **at = &rt->kernels;
  while (*at != k) at = &(*at)->next_in_runtime;
  *at = k->next_in_runtime;
  pthread_mutex_unlock(&rt->lock);
  for (uint32_t i = 0; i < SIZE_CLASSES; i++) free(atomic_load(&k->plans[i]));
  special_free_all(k);
  for (variant *v = k->variants, *next; v; v = next) {
    next = v->next;
    variant_free(v);
  }
  opt_report_free(&k->earlier);
  arena_free(&k->memory);
  predictor_free(k->predictor);
  vyre_program_release(k->program);
  pthread_mutex_destroy(&k->lock);
  free(k);
}
