// SPDX-License-Identifier: MIT
//
// What happens when a plan is worth learning about. The dispatching thread copies its inputs and
// goes on. In the background, candidates are compiled, in stages of growing cost: this CPU with
// each profile of passes, launch shapes of the best, the other backends. Each is run on the copied
// inputs and compared with what the first code gives; one that differs is condemned. Those that
// agree are timed in turn, and the fastest is taken when it is faster by more than the noise. From
// then on dispatches measure it. Evidence that is wrong or missing can cost time here, never the
// answer.
#include "runtime/learn.h"

#include "backend/numbered.h"
#include "base/clock.h"
#include "base/error.h"
#include "ir/limits.h"
#include "runtime/begin.h"
#include "runtime/buffer.h"
#include "runtime/capture.h"
#include "runtime/decision.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"
#include "runtime/shape.h"
#include "runtime/sync.h"
#include "runtime/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct learn_job {
  vyre_kernel *kernel;
  plan *plan;
  unsigned stages;
  capture inputs;
  capture_output expected;
  variant *variants[PLAN_VARIANTS]; // number 0 is the first code's
  trial_candidate trials[PLAN_VARIANTS];
  uint32_t count;
  uint64_t spent_ns;  // on timing
  double usual_ns;    // what a dispatch takes now
  const variant *led; // by what others found fastest; NULL: by nothing
} learn_job;

// Timing ends after this long with what there is, but not before each has its samples.
#define TRIAL_BUDGET_NS UINT64_C(3000000000)

// ---- candidates ---------------------------------------------------------------------------------

static void note_failure(learn_job *j, const code_request *r, vyre_status status,
                         const char *detail) {
  char name[VARIANT_TEXT];
  variant_name_format(&(variant_name){.backend = r->backend, .tier = r->tier, .passes = r->passes},
                      name);
  variant_reason reason = status == VYRE_ERROR_UNSUPPORTED ? REASON_UNSUPPORTED
                          : status == VYRE_ERROR_VERIFY    ? REASON_WRONG_RESULT
                                                           : REASON_FAILED;
  plan_note_candidate(j->kernel, j->plan, name, reason, detail);
}

static void add_variant(learn_job *j, variant *v) {
  if (!v || j->count == PLAN_VARIANTS || code_is_wrong(v->code)) return;
  if (atomic_load(&v->code->verdict) == CODE_FAILED) return;
  for (uint32_t i = 0; i < j->count; i++)
    if (j->variants[i] == v) return;
  j->trials[j->count].name = v->code->backend;
  j->variants[j->count++] = v;
}

// Nobody waits for what is being learned while the runtime is freed.
static bool is_ending(const learn_job *j) {
  return worker_is_ending(j->kernel->runtime->worker);
}

static void add_code(learn_job *j, const char *backend, variant_passes passes) {
  uint64_t lengths[LIMIT_BUFFERS];
  code_request request = {.backend = backend,
                          .tier = VYRE_TIER_FULL,
                          .passes = passes,
                          .lengths = capture_lengths(&j->inputs, lengths) ? lengths : NULL};
  vyre_error error = {0};
  code *made;
  if (is_ending(j)) return;
  vyre_status status = code_make(j->kernel, &request, &made, &error);
  if (status == VYRE_OK)
    add_variant(j, plan_variant(j->kernel, j->plan, made, NULL));
  else
    note_failure(j, &request, status, error.message);
}

// What an earlier process decided for, where that has values of tunables: it is no other backend's,
// and is not found by trying passes.
static void add_routed(learn_job *j) {
  char backend[VARIANT_TEXT];
  variant_name name;
  code *made;
  if (!variant_name_parse(j->plan->routed, backend, &name) || !name.configuration[0]) return;
  code_request request = {.configuration = name.configuration,
                          .backend = backend,
                          .tier = name.tier,
                          .passes = name.passes};
  if (code_make(j->kernel, &request, &made, NULL) == VYRE_OK)
    add_variant(j, plan_variant(j->kernel, j->plan, made, name.shape));
}

// What machines of this kind found fastest stands in for all that is not known here yet. Who says
// when to learn wants all of it.
static bool add_led(learn_job *j) {
  char backend[VARIANT_TEXT];
  variant_name name;
  code *made;
  const store_latency_row *lead = begin_lead(j->kernel, j->plan);
  if (!lead || j->kernel->runtime->options.learn_after || j->kernel->runtime->tune_mode == TUNE_ON)
    return false;
  if (!variant_name_parse(lead->variant, backend, &name)) return false;
  code_request request = {.configuration = name.configuration,
                          .backend = backend,
                          .tier = name.tier,
                          .passes = name.passes};
  if (code_make(j->kernel, &request, &made, NULL) != VYRE_OK) return false;
  variant *v = plan_variant(j->kernel, j->plan, made, name.shape);
  if (v == j->variants[0]) return false; // they had nothing better than what everybody begins with
  add_variant(j, v);
  j->led = v;
  if (v) j->plan->was_led = true;
  return v != NULL;
}

static bool is_known(const learn_job *j, const char *id) {
  return begin_is_routed(j->plan, id) || begin_has_hope(j->kernel, j->plan, id, j->usual_ns);
}

// All of them, or those that were decided for or fast before: that is asked before a driver is
// opened, and then for each of its devices, which are contenders of their own.
static void add_backends(learn_job *j, const char *usual, bool only_known) {
  vyre_runtime *rt = j->kernel->runtime;
  for (uint32_t i = 0; vyre_backend_name(i); i++) {
    const char *id = vyre_backend_name(i), *ids[NUMBERED_MOST];
    // The interpreter is the oracle, not a contender, unless somebody says so.
    bool is_routed = begin_is_routed(j->plan, id);
    if ((!backend_is_contender(id) && !is_routed) || !strcmp(id, usual)) continue;
    if (backend_is_of(id, rt->without) || (only_known && !is_known(j, id))) continue;
    vyre_error error = {0};
    uint64_t start = clock_thread_cpu_ns();
    uint32_t count = backend_device_ids(id, !is_routed, ids, NUMBERED_MOST, &error);
    if (!count)
      note_failure(j, &(code_request){.backend = id}, VYRE_ERROR_UNSUPPORTED, error.message);
    for (uint32_t k = 0; k < count; k++)
      if (!backend_is_of(ids[k], rt->without) && (!only_known || is_known(j, ids[k])))
        add_code(j, ids[k], PASSES_RELEASE);
    runtime_note_compile_cost(rt, clock_thread_cpu_ns() - start);
  }
}

// The present variants of the plan compete again: times of one trial are comparable, others not.
static void add_present(learn_job *j) {
  const plan *p = j->plan;
  add_variant(j, atomic_load(&((plan *)p)->current));
  for (uint32_t i = 0; i < atomic_load(&((plan *)p)->variant_count); i++)
    add_variant(j, p->variants[i]);
}

static bool gather(learn_job *j, code *first) {
  const vyre_runtime *rt = j->kernel->runtime;
  add_variant(j, plan_variant(j->kernel, j->plan, first, NULL));
  if (!j->count) return false;
  add_present(j);
  j->led = NULL;
  if ((j->stages & STAGE_PASSES) && !j->plan->was_led && add_led(j)) return true;
  if (j->stages & STAGE_PASSES)
    for (int i = PASSES_NONE; i < PASSES_COUNT; i++) add_code(j, first->backend, (variant_passes)i);
  if (rt->backend[0]) return true; // the caller chose the backend
  add_routed(j);
  add_backends(j, first->backend, !(j->stages & STAGE_BACKENDS));
  return true;
}

// ---- proof and time -----------------------------------------------------------------------------

static vyre_status run_candidate(void *context, uint32_t i, uint64_t *elapsed_ns,
                                 vyre_error *error) {
  learn_job *j = context;
  const variant *v = j->variants[i];
  return capture_time(&j->inputs, v->code->executable, v->shape, elapsed_ns, &j->spent_ns, error);
}

static vyre_status check_candidate(void *context, uint32_t i, vyre_error *error) {
  learn_job *j = context;
  code *c = j->variants[i]->code;
  char detail[160];
  vyre_status status = capture_answer(&j->inputs, c->executable, j->variants[i]->shape, error);
  if (status != VYRE_OK) return status;
  if (capture_matches(&j->inputs, &j->expected, detail, sizeof detail)) {
    code_passed(c);
    return VYRE_OK;
  }
  code_condemn(j->kernel, c, detail);
  // No backend reports this status itself: it marks a difference for the notes below.
  return error_set(error, VYRE_ERROR_VERIFY, "%s", detail);
}

static bool has_time(void *context, uint32_t done, uint32_t expected) {
  (void)expected;
  const learn_job *j = context;
  if (is_ending(j)) return false;
  return done < (TRIAL_WARMUPS + TRIAL_ROUNDS) * j->count || j->spent_ns < TRIAL_BUDGET_NS;
}

static void take_notes(learn_job *j) {
  uint32_t number = ++j->plan->trials; // one job at a time learns about a plan
  for (uint32_t i = 0; i < j->count; i++) {
    const trial_candidate *t = &j->trials[i];
    variant *v = j->variants[i];
    if (t->rejected && t->error.status != VYRE_ERROR_VERIFY)
      code_fail(j->kernel, v->code, t->error.message, false);
    pthread_mutex_lock(&j->kernel->lock);
    if (!t->rejected) variant_tried(v, t, number);
    v->reason = !t->rejected                                ? REASON_NOT_FASTER
                : t->error.status == VYRE_ERROR_VERIFY      ? REASON_WRONG_RESULT
                : t->error.status == VYRE_ERROR_UNSUPPORTED ? REASON_UNSUPPORTED
                                                            : REASON_FAILED;
    pthread_mutex_unlock(&j->kernel->lock);
  }
}

// ---- where buffers are --------------------------------------------------------------------------

// How long a variant takes when its buffers are on its device already; 0: it cannot be said.
static uint64_t time_resident(learn_job *j, const variant *v) {
  enum { RUNS = 3 };
  capture *in = &j->inputs;
  vyre_buffer buffers[LIMIT_BUFFERS], *handles[LIMIT_BUFFERS];
  uint64_t samples[RUNS] = {0};
  uint32_t made = 0;
  vyre_status status = VYRE_OK;
  for (; made < in->args.buffer_count; made++) {
    if (!resident_init(&buffers[made], in->inputs[made].size_bytes)) break;
    handles[made] = &buffers[made];
    if (in->inputs[made].data)
      memcpy(buffers[made].host, in->inputs[made].data, in->inputs[made].size_bytes);
  }
  vyre_dispatch_args args = in->args;
  args.handles = handles;
  for (int i = 0; i <= RUNS && made == in->args.buffer_count && status == VYRE_OK; i++) {
    vyre_report report = {0};
    status = vyre_dispatch(v->code->executable, &args, &report, NULL);
    if (i) samples[i - 1] = report.wall_ns;
  }
  bool ok = status == VYRE_OK && made == in->args.buffer_count;
  while (made) resident_fini(&buffers[--made]);
  return ok ? trial_median(samples, RUNS) : 0;
}

// Bytes that a dispatch with borrowed memory copies: all of it there, what is written back.
static uint64_t copied_bytes(const learn_job *j) {
  const vyre_program *p = j->kernel->program;
  uint64_t bytes = j->inputs.bytes;
  for (uint32_t i = 0, next = 0; i < p->buffer_count; i++) {
    if (p->buffers[i].is_transient) continue;
    if (p->buffers[i].access & VYRE_WRITE) bytes += j->inputs.inputs[next].size_bytes;
    next++;
  }
  return bytes;
}

// What bringing buffers to a variant costs, for dispatches whose buffers are somewhere already.
static void time_copies(learn_job *j) {
  for (uint32_t i = 0; i < j->count; i++) {
    variant *v = j->variants[i];
    const backend *b = executable_backend(v->code->executable);
    if (j->trials[i].rejected || !j->trials[i].sample_count) continue;
    uint64_t with_copies = j->trials[i].median_ns, resident = with_copies;
    bool is_apart = b->keeps_memory && b->keeps_memory(b);
    if (is_apart) resident = time_resident(j, v);
    bool is_known = resident && resident < with_copies;
    pthread_mutex_lock(&j->kernel->lock);
    v->resident_ns = is_known ? resident : with_copies;
    v->copy_ns_per_byte =
        is_known ? (double)(with_copies - resident) / (double)(copied_bytes(j) + 1) : 0;
    pthread_mutex_unlock(&j->kernel->lock);
  }
}

// ---- the decision -------------------------------------------------------------------------------

// The full compile after the usual passes, or the plain one where those change nothing.
static bool is_full(const learn_job *j, const variant *v, variant_passes passes) {
  return v->code->tier == VYRE_TIER_FULL && v->code->passes == passes && !v->shape[0] &&
         v->code->backend == j->variants[0]->code->backend;
}

// Noise must not leave a program with its quick compile: the full one stays unless beaten. Once
// something else runs, that stays.
static int default_index(const learn_job *j) {
  const variant *current = atomic_load(&j->plan->current);
  int found = 0;
  for (uint32_t i = 0; i < j->count; i++) {
    const variant *v = j->variants[i];
    if (current != j->variants[0] && v == current) return (int)i;
    if (current != j->variants[0]) continue;
    if (is_full(j, v, PASSES_RELEASE)) return (int)i;
    if (is_full(j, v, PASSES_NONE)) found = (int)i;
  }
  return found;
}

static void adopt(learn_job *j, variant *v, variant_reason why) {
  plan *p = j->plan;
  pthread_mutex_lock(&j->kernel->lock);
  plan_adopt(p, v, why, NULL);
  pthread_mutex_unlock(&j->kernel->lock);
}

static trial_options usual_options(learn_job *j, int default_index) {
  trial_options options = TRIAL_PLAIN;
  options.default_index = default_index;
  options.max_rounds = 3 * TRIAL_ROUNDS;
  options.run = run_candidate;
  options.keep_going = has_time;
  options.context = j;
  return options;
}

// The fastest of many is also the luckiest: it has to win again, against the default alone. One
// that was far ahead, or takes so long that samples scatter little, was not just lucky. What was
// measured of the winner goes to `samples`, which may be NULL.
static bool wins_again(learn_job *j, const variant *usual, const variant *winner,
                       trial_candidate *samples) {
  enum { FAR_TIMES = 2, LONG_NS = 100000000 };
  trial_candidate rows[PLAN_VARIANTS];
  int at[2] = {-1, -1};
  for (uint32_t i = 0; i < j->count; i++) {
    if (j->variants[i] == usual) at[0] = (int)i;
    if (j->variants[i] == winner) at[1] = (int)i;
    rows[i] = (trial_candidate){.name = j->trials[i].name, .rejected = true};
  }
  if (at[0] < 0 || at[1] < 0) return false; // there was no room for it
  uint64_t usual_ns = j->trials[at[0]].median_ns, winner_ns = j->trials[at[1]].median_ns;
  if (winner_ns > LONG_NS || (winner_ns && usual_ns > FAR_TIMES * winner_ns)) return true;
  rows[at[0]].rejected = rows[at[1]].rejected = false;
  trial_options options = usual_options(j, at[0]);
  j->spent_ns = 0;
  bool has_won = trial_measure(rows, j->count, &options).winner == at[1];
  if (samples) *samples = rows[at[1]];
  return has_won;
}

// The variant that is to run from now on; NULL when nothing was decided.
static variant *decide(learn_job *j) {
  trial_options options = usual_options(j, default_index(j));
  options.check = check_candidate;
  trial_decision d = trial_measure(j->trials, j->count, &options);
  if (is_ending(j)) return NULL; // too little was measured to decide anything
  int winner = d.winner == TRIAL_NONE ? 0 : d.winner;
  bool was_lucky = winner != options.default_index && d.reason == TRIAL_FASTEST &&
                   !j->trials[options.default_index].rejected &&
                   !wins_again(j, j->variants[options.default_index], j->variants[winner], NULL);
  if (was_lucky) {
    winner = options.default_index;
    d.reason = TRIAL_WITHIN_NOISE;
  }
  take_notes(j);
  time_copies(j);
  bool is_default = winner == options.default_index;
  variant_reason why = j->count == 1                                       ? REASON_ONLY_ONE
                       : is_default && d.reason != TRIAL_FASTEST && winner ? REASON_OPTIMIZED
                       : winner                                            ? REASON_FASTER
                                                                           : REASON_NOT_FASTER;
  adopt(j, j->variants[winner], why);
  return j->variants[winner];
}

// Shapes of the winner; one that is faster, also than all that are known, becomes a variant of its
// own.
static void try_shapes(learn_job *j, variant *best) {
  uint32_t shape[3];
  trial_candidate tried;
  shape_request request = {.inputs = &j->inputs,
                           .expected = &j->expected,
                           .code = best->code,
                           .may_sweep = j->stages & STAGE_SHAPES};
  if (!shape_choose(j->kernel, j->plan, &request, shape, &tried)) return;
  variant *v = plan_variant(j->kernel, j->plan, best->code, shape);
  if (!v || v == best) return;
  pthread_mutex_lock(&j->kernel->lock);
  if (tried.sample_count) variant_tried(v, &tried, 0);
  pthread_mutex_unlock(&j->kernel->lock);
  add_variant(j, v);
  bool is_faster = wins_again(j, best, v, NULL);
  if (is_faster && !is_ending(j)) adopt(j, v, REASON_FASTER);
}

// ---- tunables -----------------------------------------------------------------------------------

static int index_of(const learn_job *j, const variant *v) {
  for (uint32_t i = 0; i < j->count; i++)
    if (j->variants[i] == v) return (int)i;
  return -1;
}

// It is no variant of the plan before it has won: there is room for few.
static void race(learn_job *j, variant *contender) {
  vyre_kernel *k = j->kernel;
  plan *p = j->plan;
  char detail[160];
  trial_candidate samples = {0};
  vyre_error error;
  variant *current = atomic_load(&p->current);
  uint32_t count = j->count;
  add_variant(j, current);
  add_variant(j, contender);
  int at = index_of(j, contender);
  bool is_faster = at >= 0 && contender->code != current->code &&
                   check_candidate(j, (uint32_t)at, &error) == VYRE_OK &&
                   wins_again(j, current, contender, &samples) && !is_ending(j);
  j->count = count;
  if (!is_faster) return;
  contender->code = code_list(k, contender->code);
  variant *v = plan_variant(k, p, contender->code, NULL);
  if (!v) return;
  tuning_adopted(k, p, v, detail, sizeof detail);
  pthread_mutex_lock(&k->lock);
  if (samples.sample_count) variant_tried(v, &samples, 0);
  plan_adopt(p, v, REASON_FASTER, detail);
  pthread_mutex_unlock(&k->lock);
}

// A part of the search, and then whoever seems faster than what runs has to be so.
static void try_tunables(learn_job *j) {
  vyre_kernel *k = j->kernel;
  plan *p = j->plan;
  bool is_asked = k->runtime->options.learn_after || k->runtime->tune_mode == TUNE_ON;
  tuning_request request = {.inputs = &j->inputs,
                            .expected = &j->expected,
                            .budget_ns = is_asked ? UINT64_MAX : p->allowed_ns};
  tuning_run(k, p, &request);
  for (code *c; !is_ending(j) && (c = tuning_contender(k, p));) {
    variant *contender = calloc(1, sizeof *contender);
    if (contender) contender->code = c;
    if (contender) race(j, contender);
    if (contender) c = contender->code;
    if (!c->is_listed) code_free(c);
    free(contender);
    if (!tuning_is_over(k, p)) break;
  }
}

// ---- the job ------------------------------------------------------------------------------------

static bool learn(learn_job *j) {
  vyre_kernel *k = j->kernel;
  code *first;
  evidence_gather(k); // selection goes by what was recorded up to now
  sync_await(k);
  bool ok = kernel_first(k, &first, NULL) == VYRE_OK &&
            capture_answer(&j->inputs, first->executable, NULL, NULL) == VYRE_OK &&
            capture_keep(&j->inputs, &j->expected);
  variant *best = NULL;
  if (ok && j->stages == STAGE_TUNABLES)
    best = atomic_load(&j->plan->current); // nothing else is new
  else if (ok && gather(j, first))
    best = decide(j);
  if (best && j->led && best != j->led) { // others were wrong about this machine: all is tried
    j->count = 0;
    best = gather(j, first) ? decide(j) : NULL;
  }
  if (best && j->stages != STAGE_TUNABLES) try_shapes(j, best);
  if (best && (j->stages & STAGE_TUNABLES) && !tuning_is_over(k, j->plan)) try_tunables(j);
  capture_output_fini(&j->expected);
  return best != NULL;
}

static void set_state(learn_job *j, plan_state state, variant_reason reason) {
  plan *p = j->plan;
  pthread_mutex_lock(&j->kernel->lock);
  bool is_searching = !tuning_is_over(j->kernel, p);
  p->stages |= j->stages & ~(is_searching ? (unsigned)STAGE_TUNABLES : 0);
  p->is_led = j->led != NULL;
  if (p->is_led) p->stages |= STAGE_SHAPES | STAGE_BACKENDS;
  p->wanted = 0;
  if (reason != REASON_NONE) plan_adopt(p, atomic_load(&p->current), reason, NULL);
  pthread_mutex_unlock(&j->kernel->lock);
  atomic_fetch_and(&p->attention, ~(unsigned)(ATTEND_COLD | ATTEND_LEARN));
  atomic_store_explicit(&p->state, state, memory_order_release);
}

static void run_job(void *context, bool given_up) {
  learn_job *j = context;
  vyre_kernel *k = j->kernel;
  uint64_t start = clock_thread_cpu_ns();
  bool is_first = !(j->plan->stages & STAGE_PASSES), ok = !given_up && learn(j);
  if (!given_up && !is_ending(j))
    set_state(j, ok ? PLAN_LEARNED : PLAN_DECLINED, ok ? REASON_NONE : REASON_FAILED);
  if (ok) decision_keep(k, j->plan);
  pthread_mutex_lock(&k->lock);
  if (!is_first) j->plan->learned_ns += clock_thread_cpu_ns() - start;
  pthread_mutex_unlock(&k->lock);
  capture_fini(&j->inputs);
  free(j);
  atomic_fetch_sub(&k->learning, 1);
  atomic_fetch_sub(&k->pending, 1);
}

// Who says when to learn wants all of it then; so does VYRE_AUTOTUNER of shapes.
static unsigned stages_of(const vyre_kernel *k, const plan *p, unsigned stages) {
  const vyre_runtime *rt = k->runtime;
  if (!stages) return p->wanted;
  if (rt->options.learn_after) stages |= STAGE_ALL;
  if (rt->tune_mode == TUNE_ON) stages |= STAGE_SHAPES | STAGE_TUNABLES;
  return stages;
}

static bool claim(plan *p) {
  unsigned cold = PLAN_COLD, learned = PLAN_LEARNED;
  return atomic_compare_exchange_strong(&p->state, &cold, PLAN_LEARNING) ||
         atomic_compare_exchange_strong(&p->state, &learned, PLAN_LEARNING);
}

void learn_begin(vyre_kernel *k, plan *p, const vyre_dispatch_args *args, unsigned stages) {
  if (!capture_can_take(k->program, args) || !buffers_to_host(args)) return;
  learn_job *j = calloc(1, sizeof *j);
  if (!j) return;
  j->kernel = k;
  j->plan = p;
  if (!claim(p)) {
    free(j);
    return;
  }
  pthread_mutex_lock(&k->lock);
  j->stages = stages_of(k, p, stages);
  j->usual_ns = plan_estimate_ns(p, atomic_load(&p->current));
  pthread_mutex_unlock(&k->lock);
  capture_result taken = capture_take(&j->inputs, k->program, args);
  if (taken != CAPTURE_TAKEN) {
    set_state(j, PLAN_DECLINED,
              taken == CAPTURE_TOO_LARGE ? REASON_INPUTS_TOO_LARGE : REASON_NO_MEMORY);
    free(j);
    return;
  }
  // A time limit is the caller's for its own dispatch; a trial must end too.
  j->inputs.args.timeout_ns = args->timeout_ns ? args->timeout_ns : UINT64_C(60000000000);
  atomic_fetch_add(&k->pending, 1);
  atomic_fetch_add(&k->learning, 1);
  if (worker_add(k->runtime->worker, run_job, j)) return;
  set_state(j, PLAN_DECLINED, REASON_NO_MEMORY);
  run_job(j, true);
}
