// SPDX-License-Identifier: MIT
//
// What happens when a plan is worth learning about. The dispatching thread copies its inputs and
// goes on. In the background, candidates are compiled: this CPU with all that selection says, and
// every other backend that has a device; or just the one that an earlier process decided for. Each
// is run on the copied inputs and compared with what the first variant gives; one that differs is
// rejected with the first differing element. Those that agree are timed in turn, and the fastest is
// taken when it is faster by more than the noise. The decision goes to the routing table, for the
// next process. Evidence that is wrong or missing can cost time here, never the answer.
#include "runtime/learn.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "ir/limits.h"
#include "runtime/buffer.h"
#include "runtime/capture.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"
#include "runtime/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct learn_job {
  vyre_kernel *kernel;
  plan *plan;
  capture inputs;
  capture_output expected;
  variant *variants[MAX_CANDIDATES]; // number 0 is the first variant
  trial_candidate trials[MAX_CANDIDATES];
  uint32_t count;
  uint64_t deadline_ns;
} learn_job;

// Timing ends after this long with what there is.
#define TRIAL_BUDGET_NS UINT64_C(3000000000)

// ---- candidates ---------------------------------------------------------------------------------

static void note_failure(learn_job *j, const char *backend, const char *origin, vyre_status status,
                         const char *detail) {
  plan *p = j->plan;
  if (p->note_count == MAX_CANDIDATES) return;
  candidate_note *n = &p->notes[p->note_count++];
  *n = (candidate_note){.origin = origin};
  n->reason = status == VYRE_ERROR_UNSUPPORTED ? REASON_UNSUPPORTED : REASON_FAILED;
  snprintf(n->backend, sizeof n->backend, "%s", backend);
  snprintf(n->detail, sizeof n->detail, "%.159s", detail);
}

static void add_candidate(learn_job *j, const char *backend, const char *origin) {
  uint64_t lengths[LIMIT_BUFFERS];
  variant_request request = {.backend = backend,
                             .origin = origin,
                             .tier = VYRE_TIER_FULL,
                             .optimize = true,
                             .lengths = capture_lengths(&j->inputs, lengths) ? lengths : NULL};
  vyre_error error = {0};
  variant *made;
  if (j->count == MAX_CANDIDATES) return;
  vyre_status status = variant_make(j->kernel, &request, &made, &error);
  if (status != VYRE_OK) {
    note_failure(j, backend, origin, status, error.message);
    return;
  }
  j->trials[j->count].name = made->backend;
  j->variants[j->count++] = made;
}

static void gather(learn_job *j) {
  const plan *p = j->plan;
  j->variants[0] = p->first;
  j->trials[0].name = p->first->backend;
  j->count = 1;
  if (p->routed[0]) { // decided before: only to be proven again
    add_candidate(j, p->routed, "route");
    return;
  }
  add_candidate(j, p->first->backend, "optimized");
  if (j->kernel->runtime->backend[0]) return; // the caller chose the backend
  for (uint32_t i = 0; vyre_backend_name(i); i++) {
    const char *id = vyre_backend_name(i);
    // The interpreter is the oracle, not a contender.
    if (backend_is_oracle(id) || !strcmp(id, p->first->backend)) continue;
    vyre_error error = {0};
    uint32_t count = 0;
    vyre_status status = vyre_backend_devices(id, NULL, 0, &count, &error);
    if (status == VYRE_OK && count)
      add_candidate(j, id, "route");
    else
      note_failure(j, id, "route", VYRE_ERROR_UNSUPPORTED, error.message);
  }
}

// ---- proof and time -----------------------------------------------------------------------------

enum { SHORT_RUNS = 16, SHORT_NS = 200000 };

static vyre_status run_candidate(void *context, uint32_t i, uint64_t *elapsed_ns,
                                 vyre_error *error) {
  learn_job *j = context;
  uint64_t best = UINT64_MAX, spent = 0;
  vyre_status status = VYRE_OK;
  // What takes microseconds is disturbed by whatever ran before it: the best of several counts.
  for (int n = 0; n < SHORT_RUNS && spent < SHORT_NS && status == VYRE_OK; n++) {
    vyre_report report = {0};
    status = capture_run(&j->inputs, j->variants[i]->executable, NULL, &report, error);
    spent += report.wall_ns; // refilling the inputs is not the candidate's time
    if (report.wall_ns < best) best = report.wall_ns;
  }
  *elapsed_ns = best;
  return status;
}

static vyre_status check_candidate(void *context, uint32_t i, vyre_error *error) {
  learn_job *j = context;
  char detail[160];
  vyre_status status = capture_run(&j->inputs, j->variants[i]->executable, NULL, NULL, error);
  if (status != VYRE_OK) return status;
  if (capture_matches(&j->inputs, &j->expected, detail, sizeof detail)) return VYRE_OK;
  runtime_notice(j->kernel->runtime, NOTICE_WRONG_RESULT,
                 "backend %s gives a wrong answer for `%s` (%s) and is not used for it",
                 j->variants[i]->backend, j->kernel->program->name, detail);
  // No backend reports this status itself: it marks a difference for the notes below.
  return error_set(error, VYRE_ERROR_VERIFY, "%s", detail);
}

static bool has_time(void *context, uint32_t done, uint32_t expected) {
  (void)expected;
  const learn_job *j = context;
  return done < 2 * j->count || clock_now_ns() < j->deadline_ns;
}

static void take_notes(learn_job *j, int winner, plan_reason why) {
  plan *p = j->plan;
  for (uint32_t i = 0; i < j->count && p->note_count < MAX_CANDIDATES; i++) {
    const trial_candidate *t = &j->trials[i];
    candidate_note *n = &p->notes[p->note_count++];
    *n = (candidate_note){.origin = j->variants[i]->origin,
                          .median_ns = t->median_ns,
                          .compile_ns = j->variants[i]->compile_ns};
    snprintf(n->backend, sizeof n->backend, "%s", j->variants[i]->backend);
    n->reason = (int)i == winner                            ? why
                : !t->rejected                              ? REASON_NOT_FASTER
                : t->error.status == VYRE_ERROR_VERIFY      ? REASON_WRONG_RESULT
                : t->error.status == VYRE_ERROR_UNSUPPORTED ? REASON_UNSUPPORTED
                                                            : REASON_FAILED;
    if (t->rejected) snprintf(n->detail, sizeof n->detail, "%.159s", t->error.message);
    j->variants[i]->median_ns = t->median_ns;
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
    status = vyre_dispatch(v->executable, &args, &report, NULL);
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

// The fastest proven variant of each backend, with what it costs to bring buffers to it.
static void keep_routes(learn_job *j) {
  plan *p = j->plan;
  for (uint32_t i = 0; i < j->count; i++) {
    const trial_candidate *t = &j->trials[i];
    const backend *b = executable_backend(j->variants[i]->executable);
    if (t->rejected || !t->sample_count) continue;
    uint32_t at = 0;
    while (at < p->route_count && strcmp(p->routes[at].variant->backend, b->id)) at++;
    if (at < p->route_count && p->routes[at].resident_ns <= t->median_ns) continue;
    p->routes[at] = (plan_route){.variant = j->variants[i], .resident_ns = t->median_ns};
    if (at == p->route_count) p->route_count++;
  }
  for (uint32_t i = 0; i < p->route_count; i++) {
    plan_route *r = &p->routes[i];
    const backend *b = executable_backend(r->variant->executable);
    if (!b->keeps_memory || !b->keeps_memory()) continue;
    uint64_t with_copies = r->resident_ns, ns = time_resident(j, r->variant);
    if (!ns || ns >= with_copies) continue;
    r->resident_ns = ns;
    r->copy_ns_per_byte = (double)(with_copies - ns) / (double)(copied_bytes(j) + 1);
  }
}

// ---- keeping it ---------------------------------------------------------------------------------

static int by_latency(const void *a, const void *b) {
  const route_observation *x = a, *y = b;
  if (x->latency_ns != y->latency_ns) return x->latency_ns < y->latency_ns ? -1 : 1;
  return strcmp(x->backend, y->backend);
}

// One observation per backend: its fastest variant.
static uint32_t observe(const learn_job *j, route_observation *out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < j->count; i++) {
    uint32_t k = 0;
    if (j->trials[i].rejected || !j->trials[i].sample_count) continue;
    while (k < count && strcmp(out[k].backend, j->variants[i]->backend)) k++;
    if (k == count) out[count++] = (route_observation){j->variants[i]->backend, UINT64_MAX};
    if (j->trials[i].median_ns < out[k].latency_ns) out[k].latency_ns = j->trials[i].median_ns;
  }
  qsort(out, count, sizeof *out, by_latency);
  return count;
}

// What the trials measured is evidence as well: of each backend, its fastest variant's samples.
static void keep_samples(const learn_job *j) {
  vyre_runtime *rt = j->kernel->runtime;
  store_latency rows[MAX_CANDIDATES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < j->count; i++) {
    bool is_fastest = !j->trials[i].rejected && j->trials[i].sample_count;
    for (uint32_t k = 0; k < j->count && is_fastest; k++)
      is_fastest = k == i || strcmp(j->variants[k]->backend, j->variants[i]->backend) ||
                   j->trials[k].rejected || j->trials[k].median_ns > j->trials[i].median_ns ||
                   (j->trials[k].median_ns == j->trials[i].median_ns && k > i);
    if (is_fastest)
      rows[count++] = (store_latency){evidence_device_name(rt, j->variants[i]->device),
                                      j->kernel->program->name,
                                      j->variants[i]->backend,
                                      j->kernel->program->fingerprint,
                                      j->plan->size_class,
                                      j->trials[i].samples,
                                      j->trials[i].sample_count};
  }
  evidence_keep_latencies(rt, rows, count);
}

static void keep_route(learn_job *j, const variant *winner, trial_reason reason) {
  vyre_runtime *rt = j->kernel->runtime;
  if (!rt->routes || rt->backend[0]) return;
  route_observation observations[MAX_CANDIDATES];
  route_rejection rejections[MAX_CANDIDATES];
  uint32_t rejected = 0;
  for (uint32_t i = 0; i < j->plan->note_count; i++) {
    const candidate_note *n = &j->plan->notes[i];
    bool is_out = n->reason == REASON_WRONG_RESULT || n->reason == REASON_FAILED;
    if (is_out) rejections[rejected++] = (route_rejection){n->backend, n->detail};
  }
  char hex[HASH_HEX], adapter[128];
  hash_hex(j->kernel->program->fingerprint, hex);
  runtime_adapter(winner->backend, adapter);
  route_entry entry = {.op_id = j->kernel->program->name,
                       .backend = winner->backend,
                       .reason = trial_reason_name(reason),
                       .fingerprint = hex,
                       .device = adapter,
                       .has_size_class = true,
                       .size_class = j->plan->size_class,
                       .date = clock_unix_seconds(),
                       .observations = observations,
                       .observation_count = observe(j, observations),
                       .rejections = rejections,
                       .rejection_count = rejected};
  pthread_mutex_lock(&rt->files);
  (void)route_table_put(rt->routes, &entry, NULL);
  pthread_mutex_unlock(&rt->files);
  runtime_save_routes(rt);
}

// ---- the job ------------------------------------------------------------------------------------

// A routed backend is adopted when it is proven; the others have to win.
static void decide(learn_job *j) {
  plan *p = j->plan;
  trial_options options = TRIAL_PLAIN;
  // Noise must not leave a program with its quick compile: the full one stays unless beaten.
  bool has_full = j->count > 1 && !strcmp(j->variants[1]->origin, "optimized");
  options.default_index = has_full ? 1 : 0;
  options.max_rounds = 3 * TRIAL_ROUNDS;
  options.run = run_candidate;
  options.check = check_candidate;
  options.keep_going = has_time;
  options.context = j;
  trial_decision d = trial_measure(j->trials, j->count, &options);
  bool is_routed = p->routed[0] && j->count == 2 && !j->trials[1].rejected;
  int winner = is_routed ? 1 : d.winner == TRIAL_NONE ? 0 : d.winner;
  plan_reason why = is_routed                                              ? REASON_ROUTED
                    : j->count == 1                                        ? REASON_ONLY_ONE
                    : winner == 1 && has_full && d.reason != TRIAL_FASTEST ? REASON_OPTIMIZED
                    : winner                                               ? REASON_FASTER
                                                                           : REASON_NOT_FASTER;
  take_notes(j, winner, why);
  p->reason = why;
  keep_samples(j);
  keep_routes(j);
  if (!is_routed && j->count > 1) keep_route(j, j->variants[winner], d.reason);
  shape_choose(j->kernel, p, &j->inputs, &j->expected, j->variants[winner]);
  atomic_store_explicit(&p->current, j->variants[winner], memory_order_release);
}

static void learn(learn_job *j) {
  bool ok = capture_run(&j->inputs, j->plan->first->executable, NULL, NULL, NULL) == VYRE_OK &&
            capture_keep(&j->inputs, &j->expected);
  j->deadline_ns = clock_now_ns() + TRIAL_BUDGET_NS;
  if (ok) {
    gather(j);
    decide(j);
  } else {
    j->plan->reason = REASON_FAILED;
  }
  capture_output_fini(&j->expected);
  atomic_store_explicit(&j->plan->state, ok ? PLAN_LEARNED : PLAN_DECLINED, memory_order_release);
}

static void run_job(void *context, bool given_up) {
  learn_job *j = context;
  vyre_kernel *k = j->kernel;
  if (!given_up) learn(j);
  capture_fini(&j->inputs);
  free(j);
  atomic_fetch_sub(&k->pending, 1);
}

static void decline(plan *p, plan_reason reason) {
  p->reason = reason;
  atomic_store_explicit(&p->state, PLAN_DECLINED, memory_order_release);
}

void learn_begin(vyre_kernel *k, plan *p, const vyre_dispatch_args *args) {
  unsigned cold = PLAN_COLD;
  if (!capture_can_take(k->program, args) || !buffers_to_host(args)) return;
  if (!atomic_compare_exchange_strong(&p->state, &cold, PLAN_LEARNING)) return;
  learn_job *j = calloc(1, sizeof *j);
  capture_result taken = j ? capture_take(&j->inputs, k->program, args) : CAPTURE_NO_MEMORY;
  if (taken != CAPTURE_TAKEN) {
    free(j);
    decline(p, taken == CAPTURE_TOO_LARGE ? REASON_INPUTS_TOO_LARGE : REASON_NO_MEMORY);
    return;
  }
  j->kernel = k;
  j->plan = p;
  // A time limit is the caller's for its own dispatch; a trial must end too.
  j->inputs.args.timeout_ns = args->timeout_ns ? args->timeout_ns : UINT64_C(60000000000);
  atomic_fetch_add(&k->pending, 1);
  if (worker_add(k->runtime->worker, run_job, j)) return;
  decline(p, REASON_NO_MEMORY);
  run_job(j, true);
}
