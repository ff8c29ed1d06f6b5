// SPDX-License-Identifier: MIT
#include "cluster/cluster.h"
#include "runtime/kernel.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "ir/limits.h"
#include "runtime/buffer.h"
#include "runtime/check.h"
#include "runtime/decision.h"
#include "runtime/learn.h"
#include "runtime/resize.h"
#include "runtime/review.h"
#include "runtime/runtime.h"
#include "runtime/sync.h"
#include "runtime/submit.h"
#include "runtime/sweep.h"
#include "runtime/tuning.h"

#include <stdlib.h>
#include <string.h>

// ---- plans --------------------------------------------------------------------------------------

enum { PLANS_FULL = KERNEL_PLANS * 3 / 4 };
#define COARSE ((uint64_t)1 << 63) // of the keys of buckets that are told apart by bytes alone

static uint32_t slot_of(uint64_t key) {
  return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 57); // 7 bits: KERNEL_PLANS
}

plan *kernel_find_plan(const vyre_kernel *k, uint64_t key) {
  for (uint32_t at = slot_of(key);; at = (at + 1) % KERNEL_PLANS) {
    plan *p = atomic_load_explicit(&((vyre_kernel *)k)->plans[at], memory_order_acquire);
    if (!p || p->key == key) return p;
  }
}

plan *kernel_add_plan(vyre_kernel *k, plan *p) {
  for (uint32_t at = slot_of(p->key);; at = (at + 1) % KERNEL_PLANS) {
    plan *there = NULL;
    if (atomic_compare_exchange_strong(&k->plans[at], &there, p)) {
      atomic_fetch_add(&k->plan_count, 1);
      return p;
    }
    if (there->key == p->key) return there;
  }
}

const char *kernel_backend(const vyre_kernel *k) {
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&((vyre_kernel *)k)->plans[i]);
    if (p) return atomic_load(&p->current)->code->backend;
  }
  return "";
}

// A bucket that is new. What compiling takes is taken from the time limit of the dispatch.
static vyre_status make_plan(vyre_kernel *k, uint64_t key, vyre_dispatch_args *args, plan **out,
                             vyre_error *error) {
  if (atomic_load(&k->plan_count) >= PLANS_FULL) {
    for (uint32_t i = 0; i < k->input_count; i++) key >>= 7; // the bytes stand first
    *out = kernel_find_plan(k, key |= COARSE);
    if (*out) return VYRE_OK;
  }
  uint64_t start = clock_now_ns();
  vyre_status status = plan_make(k, key, args, out, error);
  uint64_t spent = clock_now_ns() - start;
  if (args->timeout_ns) args->timeout_ns = args->timeout_ns > spent ? args->timeout_ns - spent : 1;
  return status;
}

// ---- the first code -----------------------------------------------------------------------------

vyre_status kernel_first_within(vyre_kernel *k, uint64_t timeout_ns, code **out,
                                vyre_error *error) {
  const vyre_runtime *rt = k->runtime;
  vyre_error why = {0};
  *out = atomic_load_explicit(&k->first, memory_order_acquire);
  if (*out) return VYRE_OK;
  code_request request = {.backend = rt->backend[0] ? rt->backend : backend_usual()->id,
                          .tier = VYRE_TIER_QUICK,
                          .timeout_ns = timeout_ns};
  vyre_status status = code_make(k, &request, out, &why);
  bool can_fall_back = status == VYRE_ERROR_BACKEND || status == VYRE_ERROR_UNSUPPORTED ||
                       status == VYRE_ERROR_VERIFY;
  if (can_fall_back && !rt->backend[0]) {
    runtime_notice(k->runtime, NOTICE_BACKEND_FAILED,
                   "the %s backend cannot run `%s`, so the interpreter does, slowly: %s",
                   request.backend, k->program->name, why.message);
    request.backend = backend_oracle()->id;
    status = code_make(k, &request, out, &why);
  }
  if (error && status != VYRE_OK) *error = why;
  if (status != VYRE_OK) return status;
  code_passed(*out);
  atomic_store_explicit(&k->first, *out, memory_order_release);
  return VYRE_OK;
}

vyre_status kernel_first(vyre_kernel *k, code **out, vyre_error *error) {
  return kernel_first_within(k, 0, out, error);
}

// The best of those that are trusted; the first code is always one of them.
static variant *replacement(vyre_kernel *k, plan *p) {
  code *first;
  variant *best = NULL;
  if (kernel_first(k, &first, NULL) == VYRE_OK) best = plan_variant(k, p, first, NULL);
  pthread_mutex_lock(&k->lock);
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++) {
    variant *v = p->variants[i];
    double ns = plan_estimate_ns(p, v), best_ns = best ? plan_estimate_ns(p, best) : 0;
    if (code_is_trusted(v->code) && ns > 0 && (best_ns <= 0 || ns < best_ns)) best = v;
  }
  pthread_mutex_unlock(&k->lock);
  return best;
}

void kernel_forsake(vyre_kernel *k, code *c) {
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&k->plans[i]);
    const variant *current = p ? atomic_load(&p->current) : NULL;
    if (!current || current->code != c) continue;
    variant *instead = replacement(k, p);
    if (!instead) continue;
    pthread_mutex_lock(&k->lock);
    plan_adopt(p, instead, code_is_wrong(c) ? REASON_WRONG_RESULT : REASON_FAILED, c->detail);
    pthread_mutex_unlock(&k->lock);
    decision_keep(k, p);
  }
}

// ---- dispatch -----------------------------------------------------------------------------------

enum { REGIONS_ON_STACK = 32 };

// Asking what the CPU was used for takes a microsecond: only where that is little.
#define LONG_NS UINT64_C(200000)

static bool is_long_on_host(const variant *v) {
  variant *w = (variant *)v;
  uint64_t count = atomic_load_explicit(&w->count, memory_order_relaxed);
  uint64_t total = atomic_load_explicit(&w->total_ns, memory_order_relaxed);
  return total > LONG_NS && total / LONG_NS > count &&
         executable_backend(v->code->executable)->is_host;
}

static void record_effort(code *c, const vyre_report *r, const vyre_dispatch_args *args) {
  for (uint32_t i = 0; c->effort && i < r->region_count && i < c->sums_count; i++) {
    uint64_t each, all;
    if (effort_of_invocation(c->effort, i, args, &each) &&
        !__builtin_mul_overflow(each, r->regions[i].invocations, &all))
      atomic_fetch_add_explicit(&c->sums[i].operations, all, memory_order_relaxed);
  }
}

static void record(vyre_kernel *k, variant *v, const vyre_report *r, uint64_t ns,
                   bool is_disturbed) {
  worker *w = k->runtime->worker;
  code *c = v->code;
  uint64_t invocations = 0;
  variant_record(v, ns + !ns, is_disturbed);
  atomic_fetch_add_explicit(&c->runs, 1, memory_order_relaxed);
  for (uint32_t i = 0; i < r->region_count; i++) {
    const vyre_region_report *row = &r->regions[i];
    invocations += row->invocations;
    if (i < c->sums_count) evidence_region_add(&c->sums[i], row->time_ns, row->bytes);
  }
  atomic_store_explicit(&v->invocations, invocations, memory_order_relaxed);
  if (w && !worker_is_poked(w)) worker_poke(w);
}

// What a backend that failed on the way left there is not what the caller gave.
static bool may_have_changed_inputs(const vyre_program *p, vyre_status status) {
  for (uint32_t i = 0; status == VYRE_ERROR_BACKEND && i < p->buffer_count; i++)
    if (!p->buffers[i].is_transient && p->buffers[i].access == VYRE_READWRITE) return true;
  return false;
}

// A code that fails where the first one works is given up, as below; but nobody can answer this
// dispatch any more.
static vyre_status give_up(vyre_kernel *k, code *failed, vyre_error *error) {
  vyre_error why = *error;
  char *fix = strstr(why.message, ". Fix:");
  if (fix) *fix = 0;
  code_fail(k, failed, error->message, true);
  return error_set(error, VYRE_ERROR_BACKEND,
                   "%.400s; it may have changed buffers that the program reads and writes. Fix: "
                   "dispatch again with fresh ones, which goes to another variant",
                   why.message);
}

// A code that fails where the first one works is given up; the answer comes from the first one.
static vyre_status fall_back(vyre_kernel *k, plan *p, variant **v, const vyre_dispatch_args *args,
                             vyre_report *report, vyre_error *error) {
  vyre_error why = {0};
  code *first, *failed = (*v)->code;
  if (error) why = *error;
  vyre_status status = kernel_first(k, &first, error);
  if (status == VYRE_OK) status = executable_dispatch(first->executable, args, report, error);
  if (status != VYRE_OK) return status;
  variant *instead = plan_variant(k, p, first, NULL);
  if (instead) *v = instead;
  code_fail(k, failed, why.message, true);
  return VYRE_OK;
}

// Values of tunables that fitted other dispatches may not fit this one: a grid may be no multiple
// of another workgroup. That is no error of the caller's, for whom the program is as declared.
static vyre_status run_declared(vyre_kernel *k, plan *p, variant **v,
                                const vyre_dispatch_args *args, vyre_report *report,
                                vyre_error *error) {
  code *first;
  vyre_status status = kernel_first(k, &first, error);
  variant *best = status == VYRE_OK ? plan_variant(k, p, first, NULL) : NULL;
  if (!best) return status == VYRE_OK ? error_out_of_memory(error) : status;
  pthread_mutex_lock(&k->lock);
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++) {
    variant *other = p->variants[i];
    double ns = plan_estimate_ns(p, other), best_ns = plan_estimate_ns(p, best);
    bool is_declared = !other->code->configuration[0] && !other->shape[0];
    if (!is_declared || !code_is_trusted(other->code) || ns <= 0) continue;
    if (best_ns <= 0 || ns < best_ns) best = other;
  }
  pthread_mutex_unlock(&k->lock);
  *v = best;
  return executable_dispatch(best->code->executable, args, report, error);
}

static bool is_about_launch(vyre_status status) {
  return status == VYRE_ERROR_BINDING || status == VYRE_ERROR_LIMIT;
}

// *v becomes the variant that answered.
static vyre_status run(vyre_kernel *k, plan *p, variant **v, const vyre_dispatch_args *args,
                       vyre_report *report, vyre_error *error) {
  vyre_dispatch_args shaped;
  const vyre_dispatch_args *used = args;
  bool is_open = !args->workgroup[0] && !args->workgroup[1] && !args->workgroup[2];
  if (is_open && (*v)->shape[0]) {
    shaped = *args;
    memcpy(shaped.workgroup, (*v)->shape, sizeof shaped.workgroup);
    used = &shaped;
  }
  vyre_error own;
  if (!error) error = &own;
  vyre_status status = executable_dispatch((*v)->code->executable, used, report, error);
  if (is_about_launch(status) && (*v)->code->configuration[0])
    return run_declared(k, p, v, args, report, error);
  bool is_backends_fault = status == VYRE_ERROR_BACKEND || status == VYRE_ERROR_UNSUPPORTED;
  if (!is_backends_fault || (*v)->code == atomic_load(&k->first)) return status;
  if (may_have_changed_inputs(k->program, status)) return give_up(k, (*v)->code, error);
  return fall_back(k, p, v, args, report, error);
}

static bool is_time_to_learn(const vyre_kernel *k, plan *p) {
  const vyre_runtime *rt = k->runtime;
  if (!rt->worker) return false;
  uint64_t own = plan_dispatches(p), count = own + atomic_load(&p->specials);
  if (count && p->routed[0] && atomic_load(&p->state) == PLAN_COLD) return true;
  bool has_choice = sweep_region(k->program) || tuning_has_space(k);
  if (rt->tune_mode == TUNE_ON && has_choice) return true;
  if (rt->options.learn_after) return count >= rt->options.learn_after;
  bool is_hot = own >= 2 && plan_total_ns(p) / own >= HINTS_HOT_MEAN_NS;
  return count >= DEFAULT_LEARN_AFTER || is_hot;
}

// An alternative is not tried when the caller waits with a limit that it might not keep.
static bool may_take(const vyre_dispatch_args *args, uint64_t expected_ns) {
  return !args->timeout_ns || expected_ns < args->timeout_ns / 4;
}

// Neither is what the caller has copied for the background.
static bool may_copy(const vyre_dispatch_args *args) {
  uint64_t bytes = 0; // one takes less than a nanosecond, pages that are new included
  for (uint32_t i = 0; i < args->buffer_count; i++) bytes += args->buffers[i].size_bytes;
  return may_take(args, bytes);
}

// The variants that are known take turns; after the last turn it is looked who was fastest.
static variant *next_in_turn(vyre_kernel *k, plan *p, const vyre_dispatch_args *args,
                             variant *usual) {
  uint32_t variants = atomic_load(&p->variant_count);
  unsigned turn = atomic_fetch_add(&p->opening, 1);
  if (turn < PLAN_TURNS * variants) {
    variant *v = p->variants[turn % variants];
    return code_is_trusted(v->code) && may_take(args, v->predicted_ns) ? v : usual;
  }
  if (turn > PLAN_TURNS * variants) return usual;
  review_opening(k, p);
  return atomic_load(&p->current);
}

// What the background asked for, beside the work itself. Returns the variant to run.
static variant *attend(vyre_kernel *k, plan *p, const vyre_dispatch_args *args, unsigned attention,
                       variant *v) {
  const unsigned COPIES = ATTEND_COLD | ATTEND_LEARN | ATTEND_RESIZE;
  if ((attention & COPIES) && !may_copy(args)) attention &= ~COPIES;
  if ((attention & ATTEND_COLD) && is_time_to_learn(k, p)) learn_begin(k, p, args, STAGE_PASSES);
  if (attention & ATTEND_LEARN) learn_begin(k, p, args, 0);
  if (attention & ATTEND_RESIZE) resize_begin(k, p, args);
  if (attention & ATTEND_OPENING) v = next_in_turn(k, p, args, v);
  variant *other = attention & ATTEND_EXPLORE ? atomic_load(&p->explore) : NULL;
  if (other && may_take(args, atomic_load(&p->explore_ns))) {
    other = atomic_exchange(&p->explore, NULL);
    atomic_fetch_and(&p->attention, ~(unsigned)ATTEND_EXPLORE);
    if (other && code_is_trusted(other->code)) {
      atomic_store(&p->explored, other);
      v = other;
    }
  }
  return v;
}

vyre_status kernel_check_arguments(const vyre_kernel *k, const vyre_dispatch_args *args,
                                   vyre_error *error) {
  if (k && args && (args->buffers || args->handles || !args->buffer_count))
    return runtime_check(k->runtime, error);
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "a kernel was dispatched with NULL. Fix: pass a kernel, arguments and as many "
                   "spans as buffer_count says");
}

// What was not run before, or not for a while, says little of itself the first time.
static bool is_warm_up(plan *p, const variant *v) {
  if (atomic_load_explicit(&p->explored, memory_order_relaxed) == v)
    return !atomic_load(&p->tries) && atomic_load(&p->usual_ns) < PLAN_WARM_UP_NS;
  return atomic_load_explicit(&p->state, memory_order_relaxed) == PLAN_OPENING &&
         !atomic_load(&((variant *)v)->count);
}

static variant *choose(vyre_kernel *k, plan *p, const vyre_dispatch_args *args) {
  variant *v = atomic_load_explicit(&p->current, memory_order_acquire);
  unsigned attention = atomic_load_explicit(&p->attention, memory_order_relaxed);
  if (attention) v = attend(k, p, args, attention, v);
  variant *special = k->predictor ? special_enter(k, p, args) : NULL;
  if (special) {
    atomic_fetch_add_explicit(&p->specials, 1, memory_order_relaxed);
    v = special;
  }
  return args->handles ? buffers_nearest(k, p, v, args) : v;
}

static vyre_status dispatch(vyre_kernel *k, const vyre_dispatch_args *args, vyre_report *report,
                            vyre_error *error) {
  vyre_status status = VYRE_OK;
  vyre_dispatch_args late; // with what is left of the time limit
  uint64_t key = plan_key(k, args);
  plan *p = kernel_find_plan(k, key);
  if (!p) {
    late = *args;
    status = make_plan(k, key, &late, &p, error);
    if (status != VYRE_OK) return status;
    args = &late;
  }
  variant *v = choose(k, p, args);
  check *c = check_is_due(v) ? check_begin(k, p, v, args) : NULL;

  vyre_region_report regions[REGIONS_ON_STACK];
  vyre_report own = {.regions = regions, .region_capacity = REGIONS_ON_STACK};
  vyre_report *r = report && report->region_capacity ? report : &own;
  const variant *chosen = v;
  bool is_long = is_long_on_host(v);
  clock_use before = is_long ? clock_thread_use() : (clock_use){0};
  status = run(k, p, &v, args, r, error);
  uint64_t ns = is_long ? clock_undisturbed_ns(r->wall_ns, &before) : r->wall_ns;
  bool is_disturbed = (c && check_is_disturbing(c)) || is_warm_up(p, v);
  if (status == VYRE_OK) record(k, v, r, ns, is_disturbed);
  if (status == VYRE_OK && v->code->effort) record_effort(v->code, r, args);
  if (atomic_load_explicit(&p->explored, memory_order_relaxed) == v) review_explored(k, p, v, ns);
  if (c) check_end(c, args, status == VYRE_OK && v == chosen);
  if (k->predictor) special_leave(k);
  if (report && r == &own) {
    report->wall_ns = own.wall_ns;
    report->device_ns = own.device_ns;
    report->operations = own.operations;
    report->region_count = 0;
  }
  return status;
}

// Nothing is learned from it.
static vyre_status dispatch_watched(vyre_kernel *k, const vyre_dispatch_args *args,
                                    vyre_report *report, vyre_error *error) {
  const vyre_runtime_options *o = &k->runtime->options;
  vyre_span spans[LIMIT_BUFFERS];
  vyre_dispatch_args bound = *args;
  if (args->handles) {
    vyre_status status = buffers_as_spans(k, args, spans, &bound, error);
    if (status != VYRE_OK) return status;
  }
  return watch_dispatch(k->watcher, &bound, o->notice, o->notice_context, report, error);
}

vyre_status vyre_kernel_dispatch(vyre_kernel *k, const vyre_dispatch_args *args,
                                 vyre_report *report, vyre_error *error) {
  FPENV_SCOPE;
  vyre_status status = kernel_check_arguments(k, args, error);
  if (status == VYRE_OK && k->clustered) return cluster_dispatch(k->clustered, args, report, error);
  if (status == VYRE_OK && k->watcher) return dispatch_watched(k, args, report, error);
  if (status != VYRE_OK || !args->handles)
    return status == VYRE_OK ? dispatch(k, args, report, error) : status;
  vyre_span spans[LIMIT_BUFFERS];
  vyre_dispatch_args bound;
  status = buffers_as_spans(k, args, spans, &bound, error);
  return status == VYRE_OK ? dispatch(k, &bound, report, error) : status;
}

// ---- life ---------------------------------------------------------------------------------------

static void find_inputs(vyre_kernel *k) {
  const vyre_program *p = k->program;
  work_input found[WORK_INPUTS];
  k->input_count = work_inputs(p, found);
  for (uint32_t i = 0; i < k->input_count; i++) {
    kernel_input *in = &k->inputs[i];
    *in = (kernel_input){.is_length = found[i].is_length, .index = found[i].index};
    if (!in->is_length) {
      unsigned bits = type_bits(p->params[in->index].type);
      in->mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
      in->name = p->params[in->index].name;
      continue;
    }
    in->name = p->buffers[in->index].name;
    for (uint32_t b = 0; b < found[i].index; b++) in->index -= p->buffers[b].is_transient;
  }
}

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
  const char *watched_on;
  if (rt->cluster) {
    status = cluster_kernel_new(rt->cluster, program, &k->clustered, error);
    if (status != VYRE_OK) {
      free(k);
      return status;
    }
  } else if (watch_is_wanted(&watched_on)) {
    status = watcher_new(program, watched_on, &k->watcher, error);
    if (status != VYRE_OK) {
      free(k);
      return status;
    }
  }
  k->runtime = rt;
  k->program = vyre_program_retain(program);
  k->begun_ns = clock_now_ns();
  k->key_count = program->param_count + program->buffer_count;
  k->predictor = rt->options.specialise && k->key_count && k->key_count <= PREDICT_MAX_VALUES
                     ? predictor_new(k->key_count, 0)
                     : NULL;
  find_inputs(k);
  pthread_mutex_init(&k->lock, NULL);
  evidence_load_kernel(k);
  sync_kernel(k);
  pthread_mutex_lock(&rt->lock);
  k->next_in_runtime = rt->kernels;
  rt->kernels = k;
  pthread_mutex_unlock(&rt->lock);
  *out = k;
  return VYRE_OK;
}

// Those that a dispatch took and the background had no time for.
static void keep_decisions(vyre_kernel *k) {
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&k->plans[i]);
    if (p && atomic_load(&p->state) == PLAN_LEARNED) decision_keep(k, p);
  }
}

void vyre_kernel_free(vyre_kernel *k) {
  FPENV_SCOPE;
  if (!k || runtime_check(k->runtime, NULL) != VYRE_OK) return; // it is the parent's
  vyre_runtime *rt = k->runtime;
  submit_wait(k);
  pthread_mutex_lock(&rt->lock);
  vyre_kernel **at = &rt->kernels;
  while (*at != k) at = &(*at)->next_in_runtime;
  *at = k->next_in_runtime;
  pthread_mutex_unlock(&rt->lock);
  // Nobody finds it any more; those that have found it end first.
  if (rt->worker && atomic_load(&k->pending)) worker_wait_idle(rt->worker);
  special_judge_all(k);
  evidence_gather(k);
  keep_decisions(k);
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) plan_free(atomic_load(&k->plans[i]));
  special_free_all(k);
  for (code *c = k->codes, *next; c; c = next) {
    next = c->next;
    code_free(c);
  }
  opt_report_free(&k->earlier);
  if (k->space) space_fini(k->space);
  free(k->space);
  arena_free(&k->memory);
  predictor_free(k->predictor);
  watcher_free(k->watcher);
  cluster_kernel_free(k->clustered);
  vyre_program_release(k->program);
  pthread_mutex_destroy(&k->lock);
  free(k);
}
