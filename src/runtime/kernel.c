// SPDX-License-Identifier: MIT
#include "runtime/kernel.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "runtime/buffer.h"
#include "runtime/learn.h"
#include "runtime/resize.h"
#include "runtime/runtime.h"
#include "runtime/special.h"
#include "runtime/submit.h"

#include <stdlib.h>

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
  vyre_status status = executable_dispatch(p->first->executable, args, report, error);
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
  vyre_status status = executable_dispatch((*v)->executable, &shaped, report, error);
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
  if (k && args && (args->buffers || args->handles || !args->buffer_count))
    return runtime_check(k->runtime, error);
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "a kernel was dispatched with NULL. Fix: pass a kernel, arguments and as many "
                   "spans as buffer_count says");
}

// What compiling takes is taken from the time limit of the dispatch.
static vyre_status make_plan(vyre_kernel *k, uint32_t size_class, vyre_dispatch_args *args,
                             plan **out, vyre_error *error) {
  uint64_t start = clock_now_ns();
  vyre_status status = plan_make(k, size_class, args->timeout_ns, out, error);
  uint64_t spent = clock_now_ns() - start;
  if (args->timeout_ns) args->timeout_ns = args->timeout_ns > spent ? args->timeout_ns - spent : 1;
  return status;
}

static vyre_status dispatch(vyre_kernel *k, const vyre_dispatch_args *given, vyre_report *report,
                            vyre_error *error) {
  vyre_status status = VYRE_OK;
  vyre_dispatch_args own_args = *given, *args = &own_args;
  uint32_t size_class = plan_size_class(args);
  plan *p = atomic_load_explicit(&k->plans[size_class], memory_order_acquire);
  if (!p && (status = make_plan(k, size_class, args, &p, error)) != VYRE_OK) return status;
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
  FPENV_SCOPE;
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
  FPENV_SCOPE;
  if (!rt || !program || !out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_runtime_load was called with NULL. Fix: pass a runtime, a program and "
                     "where the kernel goes");
  *out = NULL;
  vyre_status status = runtime_check(rt, error);
  if (status != VYRE_OK) return status;
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
  FPENV_SCOPE;
  if (!k || runtime_check(k->runtime, NULL) != VYRE_OK) return; // it is the parent's
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
