// SPDX-License-Identifier: MIT
//
// What happens when a plan is worth learning about. The dispatching thread copies its inputs and
// goes on. In the background, candidates are compiled: this CPU with all that selection says, and
// every other backend that has a device. Each is run on the copied inputs and compared with what
// the first variant gives; one that differs is rejected with the first differing element. Those
// that agree are timed in turn, so that a noisy moment hits all of them, and the fastest is taken
// when it is faster by more than the noise. Evidence that is wrong or missing can cost time here,
// never the answer.
#include "runtime/kernel.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct learn_job {
  vyre_kernel *kernel;
  plan *plan;
  capture inputs;
} learn_job;

enum { ROUNDS = 5 };
// A trial ends early when its rounds have taken this long together.
#define TRIAL_BUDGET_NS UINT64_C(2000000000)

typedef struct candidate {
  variant *variant;
  candidate_note *note;
  uint64_t samples[ROUNDS];
  uint32_t sample_count;
} candidate;

static candidate_note *add_note(plan *p, const char *backend, const char *origin) {
  if (p->note_count == MAX_CANDIDATES) return NULL;
  candidate_note *n = &p->notes[p->note_count++];
  *n = (candidate_note){.origin = origin};
  snprintf(n->backend, sizeof n->backend, "%s", backend);
  return n;
}

// Compiles a candidate and compares its output; false, with a note, when it is out.
static bool try_candidate(learn_job *j, const char *backend, const char *origin,
                          const capture_output *expected, candidate *out) {
  vyre_kernel *k = j->kernel;
  candidate_note *note = add_note(j->plan, backend, origin);
  if (!note) return false;
  vyre_error error = {0};
  variant_request request = {
      .backend = backend, .origin = origin, .tier = VYRE_TIER_FULL, .optimize = true};
  vyre_status status = variant_make(k, &request, &out->variant, &error);
  if (status == VYRE_OK) {
    note->compile_ns = out->variant->compile_ns;
    status = capture_run(&j->inputs, out->variant->executable, NULL, NULL, &error);
  }
  if (status != VYRE_OK) {
    note->reason = status == VYRE_ERROR_UNSUPPORTED ? REASON_UNSUPPORTED : REASON_FAILED;
    snprintf(note->detail, sizeof note->detail, "%.159s", error.message);
    return false;
  }
  if (!capture_matches(&j->inputs, expected, note->detail, sizeof note->detail)) {
    note->reason = REASON_WRONG_RESULT;
    runtime_notice(k->runtime, NOTICE_WRONG_RESULT,
                   "backend %s gives a wrong answer for `%s` (%s) and is not used for it", backend,
                   k->program->name, note->detail);
    return false;
  }
  note->reason = REASON_NOT_FASTER; // until it turns out to be
  out->note = note;
  return true;
}

static bool has_device(const char *backend) {
  uint32_t count = 0;
  return vyre_backend_devices(backend, NULL, 0, &count, NULL) == VYRE_OK && count > 0;
}

// All candidates that agree with the first variant; the first variant itself is number 0.
static uint32_t gather(learn_job *j, const capture_output *expected, candidate *candidates) {
  vyre_kernel *k = j->kernel;
  candidate_note *first = add_note(j->plan, j->plan->first->backend, j->plan->first->origin);
  candidates[0] = (candidate){.variant = j->plan->first, .note = first};
  if (first) first->compile_ns = j->plan->first->compile_ns;
  uint32_t count = 1;
  count += try_candidate(j, j->plan->first->backend, "optimized", expected, &candidates[count]);
  if (k->runtime->backend[0]) return count; // the caller chose the backend
  for (uint32_t i = 0; vyre_backend_name(i) && count < MAX_CANDIDATES; i++) {
    const char *id = vyre_backend_name(i);
    // The interpreter is the oracle, not a contender.
    if (!strcmp(id, "ref") || !strcmp(id, j->plan->first->backend) || !has_device(id)) continue;
    count += try_candidate(j, id, "route", expected, &candidates[count]);
  }
  return count;
}

static int compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

// One warm-up each was the comparison; then rounds in turn.
static void measure(learn_job *j, candidate *candidates, uint32_t count) {
  uint64_t start = clock_now_ns();
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (uint32_t i = 0; i < count; i++) {
      candidate *c = &candidates[i];
      vyre_report report = {0};
      if (capture_run(&j->inputs, c->variant->executable, NULL, &report, NULL) != VYRE_OK) continue;
      c->samples[c->sample_count++] = report.wall_ns;
    }
    if (round >= 2 && clock_now_ns() - start > TRIAL_BUDGET_NS) break;
  }
  for (uint32_t i = 0; i < count; i++) {
    candidate *c = &candidates[i];
    qsort(c->samples, c->sample_count, sizeof *c->samples, compare_u64);
    c->variant->median_ns = c->sample_count ? c->samples[c->sample_count / 2] : UINT64_MAX;
    if (c->note) c->note->median_ns = c->variant->median_ns;
  }
}

// The spread of the samples around the median is the noise; a winner's gain has to be above it.
static bool is_clearly_faster(const candidate *a, const candidate *b) {
  if (a->sample_count < 3 || b->sample_count < 3) return false;
  uint64_t mine = a->variant->median_ns, other = b->variant->median_ns;
  uint64_t noise = (a->samples[a->sample_count - 2] - a->samples[0]) / 2;
  uint64_t margin = other / 50 > noise / 2 ? other / 50 : noise / 2;
  return mine < other && other - mine > margin;
}

static void choose(learn_job *j, candidate *candidates, uint32_t count) {
  candidate *best = &candidates[0];
  for (uint32_t i = 1; i < count; i++)
    if (is_clearly_faster(&candidates[i], best)) best = &candidates[i];
  if (best->note) best->note->reason = REASON_FASTER;
  j->plan->reason = count == 1 ? REASON_ONLY_ONE : best->note ? best->note->reason : REASON_NONE;
  atomic_store_explicit(&j->plan->current, best->variant, memory_order_release);
}

static void learn(learn_job *j) {
  capture_output expected = {0};
  candidate candidates[MAX_CANDIDATES] = {{0}};
  vyre_error error;
  bool ok = capture_run(&j->inputs, j->plan->first->executable, NULL, NULL, &error) == VYRE_OK &&
            capture_keep(&j->inputs, &expected);
  if (ok) {
    uint32_t count = gather(j, &expected, candidates);
    if (count > 1) measure(j, candidates, count);
    choose(j, candidates, count);
  } else {
    j->plan->reason = REASON_FAILED;
  }
  capture_output_fini(&expected);
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
  if (!capture_can_take(k->program, args)) return;
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
