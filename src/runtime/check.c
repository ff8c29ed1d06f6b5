// SPDX-License-Identifier: MIT
#include "runtime/check.h"

#include "analysis/order.h"
#include "base/clock.h"
#include "runtime/capture.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

struct check {
  vyre_kernel *kernel;
  variant *variant; // of a check that is made at once
  code *code;
  uint32_t shape[3];
  capture inputs;
  capture_output answer;
  bool is_at_once;
  uint64_t expected_ns; // that it takes when it is made at once; 0: not known
  bool is_free;         // within the first second of its code, which costs what it costs
};

// 300 answers without a fault say, with 95 % confidence, that less than one in a hundred is wrong:
// up to there each one is compared, and then half as many after every 16.
enum { HALVED_AFTER = 16, MOST_HALVINGS = 20 };
enum { MAX_WAITING = 32, SHARE = 25, COPY_SHARE = 20, BEHIND = 4 };
#define MAX_BYTES    ((uint64_t)64 << 20)
#define NEVER        (UINT64_MAX / 2)
#define FREE_NS      UINT64_C(1000000000)
#define COPY_FREE_NS UINT64_C(5000000)
#define TIMEOUT_NS   UINT64_C(60000000000)

// At once: what costs less than handing it over; otherwise this much of the caller's time, and one
// part in so many of the time that the code runs; and as long as the caller waits hardly longer
// than before the code was adopted, up to this much.
enum { AT_ONCE_SHARE = 50 };
#define CHEAP_NS   UINT64_C(10000)
#define AT_ONCE_NS UINT64_C(20000000)
// Where a check takes less, the next dispatch is slower for what ran between it and the one before.
#define DISTURBED_NS UINT64_C(100000)

static uint64_t gap(const code *c) {
  uint64_t passed = atomic_load_explicit(&((code *)c)->checks, memory_order_relaxed);
  if (passed < CHECK_ALL_UP_TO) return 1;
  uint64_t halvings = (passed - CHECK_ALL_UP_TO) / HALVED_AFTER;
  return UINT64_C(1) << (halvings < MOST_HALVINGS ? halvings : MOST_HALVINGS);
}

// Whether this dispatch is the one: of several at once, one claims it.
static bool claim(variant *v) {
  uint64_t due = atomic_load(&v->next_check), count = atomic_load(&v->count);
  return count >= due && atomic_compare_exchange_strong(&v->next_check, &due, count + gap(v->code));
}

static bool is_in_first_second(code *c) {
  uint64_t none = 0, now = clock_now_ns();
  if (atomic_compare_exchange_strong(&c->checked_from_ns, &none, now)) return true;
  return now - none < FREE_NS;
}

// What it cost the last time, or what the first code took where it ran in this plan.
static uint64_t expected_cost_ns(vyre_kernel *k, const plan *p, variant *v) {
  uint64_t known = atomic_load(&v->check_ns);
  if (known) return known;
  const code *first = atomic_load(&k->first);
  double ns = 0;
  pthread_mutex_lock(&k->lock);
  for (uint32_t i = 0; i < atomic_load(&((plan *)p)->variant_count); i++)
    if (p->variants[i]->code == first) ns = plan_estimate_ns(p, p->variants[i]);
  pthread_mutex_unlock(&k->lock);
  return (uint64_t)ns;
}

static bool is_for_now(vyre_kernel *k, const plan *p, variant *v, const vyre_dispatch_args *args,
                       uint64_t *expected_ns) {
  plan *q = (plan *)p;
  // Where variants are compared by their time, nothing else is to run in between.
  bool is_compared = atomic_load(&q->state) == PLAN_OPENING || atomic_load(&q->explored) == v;
  if (args->timeout_ns || !atomic_load(&k->first) || is_compared) return false;
  uint64_t cost = *expected_ns = expected_cost_ns(k, p, v), spent = atomic_load(&v->code->check_ns);
  uint64_t count = atomic_load(&v->count), total = atomic_load(&v->total_ns);
  uint64_t usual = count ? total / count : 0, before = atomic_load(&q->before_ns);
  if (spent + cost < AT_ONCE_NS || spent + cost < total / AT_ONCE_SHARE) return true;
  if (cost < CHEAP_NS && gap(v->code) > 1) return true;
  return cost + usual < before + before / 4 && spent < CHECK_AT_ONCE_NS;
}

// After its first second a code may cost one part in SHARE of the time it runs.
static bool has_budget(vyre_kernel *k, const variant *v, uint64_t bytes, bool is_free) {
  kernel_checks *all = &k->checks;
  if (atomic_load(&all->waiting) >= MAX_WAITING) return false;
  if (atomic_load(&all->bytes) + 3 * bytes > MAX_BYTES) return false;
  // Short dispatches are not to become copies of themselves.
  uint64_t total = atomic_load(&((variant *)v)->total_ns);
  if (atomic_load(&all->copy_ns) > COPY_FREE_NS + total / COPY_SHARE) return false;
  return is_free || atomic_load(&all->run_ns) * SHARE < total;
}

// A caller with a time limit does not wait for copies that take a large part of it: one byte takes
// less than a nanosecond, and inputs and answers are copied.
static bool may_wait(const vyre_dispatch_args *args, uint64_t bytes) {
  return !args->timeout_ns || 2 * bytes < args->timeout_ns / 4;
}

static void hand_over(check *c, uint64_t start) {
  kernel_checks *all = &c->kernel->checks;
  c->inputs.args.timeout_ns = TIMEOUT_NS;
  atomic_fetch_add(&c->kernel->pending, 1);
  atomic_fetch_add(&all->waiting, 1);
  atomic_fetch_add(&all->bytes, 3 * c->inputs.bytes);
  atomic_fetch_add(&all->copy_ns, clock_between_ns(start, clock_stamp()));
}

check *check_begin(vyre_kernel *k, const plan *p, variant *v, const vyre_dispatch_args *args) {
  uint64_t bytes = 0;
  // Buffers of the runtime stay where they are: what they hold is proven when it is learned about.
  bool is_possible =
      k->runtime->worker && !atomic_load(&k->checks.is_off) && v->code != atomic_load(&k->first);
  if (!is_possible) {
    atomic_store(&v->next_check, NEVER);
    return NULL;
  }
  if (args->handles || !claim(v) || !capture_can_take(k->program, args)) return NULL;
  for (uint32_t i = 0; i < args->buffer_count; i++) bytes += args->buffers[i].size_bytes;
  uint64_t expected_ns = 0;
  bool is_small = 3 * bytes <= MAX_BYTES;
  bool is_at_once =
      is_small && !order_matters(k->program) && is_for_now(k, p, v, args, &expected_ns);
  bool is_free = is_in_first_second(v->code);
  // Learning goes first, and a background that is behind is not asked at every dispatch.
  bool is_later = is_small && !atomic_load(&k->learning) && has_budget(k, v, bytes, is_free) &&
                  may_wait(args, bytes);
  if (!is_at_once && !is_later) {
    atomic_fetch_add(&v->next_check, BEHIND);
    return NULL;
  }
  uint64_t start = clock_stamp();
  check *c = calloc(1, sizeof *c);
  capture_result (*take)(capture *, const vyre_program *, const vyre_dispatch_args *) =
      is_at_once ? capture_borrow : capture_take;
  if (!c || take(&c->inputs, k->program, args) != CAPTURE_TAKEN) {
    free(c);
    return NULL;
  }
  c->kernel = k;
  c->variant = v;
  c->code = v->code;
  memcpy(c->shape, v->shape, sizeof c->shape);
  c->is_at_once = is_at_once;
  c->expected_ns = expected_ns;
  c->is_free = is_free;
  if (!is_at_once) hand_over(c, start);
  return c;
}

// By what is usual: were it by the time itself, only the slow ones would be left.
bool check_is_disturbing(const check *c) {
  return c->is_at_once && c->expected_ns < DISTURBED_NS;
}

// ---- the comparison -----------------------------------------------------------------------------

// Runs the first code; true when it gives `expected` (or, when that is empty, fills it).
static bool first_gives(check *c, const code *first, capture_output *expected, char *text,
                        size_t size, bool *has_run) {
  *has_run = capture_answer(&c->inputs, first->executable, NULL, NULL) == VYRE_OK;
  if (!*has_run) return false;
  if (!expected->buffers) return capture_keep(&c->inputs, expected);
  return capture_matches(&c->inputs, expected, text, size);
}

// What the dispatch left, or, where that depends on the order, what its code leaves in order.
static bool bring_answer(check *c) {
  if (c->inputs.is_ordered)
    return capture_answer(&c->inputs, c->code->executable, c->shape, NULL) == VYRE_OK;
  capture_put(&c->inputs, &c->answer);
  return true;
}

static void compare(check *c) {
  code *first;
  capture_output expected = {0};
  char text[160] = "", again[160];
  bool has_run;
  if (kernel_first(c->kernel, &first, NULL) != VYRE_OK || code_is_wrong(c->code)) return;
  if (first_gives(c, first, &expected, again, sizeof again, &has_run) && bring_answer(c)) {
    bool is_same = capture_matches(&c->inputs, &expected, text, sizeof text);
    bool is_steady = is_same || first_gives(c, first, &expected, again, sizeof again, &has_run);
    if (is_same)
      code_passed(c->code);
    else if (is_steady)
      code_condemn(c->kernel, c->code, text);
    else if (has_run) // a program whose own answers differ cannot be checked like this
      atomic_store(&c->kernel->checks.is_off, true);
  }
  capture_output_fini(&expected);
}

// The caller waits: it gets the first code's answer when the two differ.
static void compare_now(check *c, const vyre_dispatch_args *args) {
  code *first;
  char text[160] = "", again[160];
  bool has_run = false;
  capture_output expected = {0};
  if (kernel_first(c->kernel, &first, NULL) != VYRE_OK || code_is_wrong(c->code)) return;
  if (capture_answer(&c->inputs, first->executable, NULL, NULL) != VYRE_OK) return;
  if (capture_matches_spans(&c->inputs, args->buffers, text, sizeof text)) {
    code_passed(c->code);
    return;
  }
  if (capture_keep(&c->inputs, &expected) &&
      first_gives(c, first, &expected, again, sizeof again, &has_run)) {
    capture_give(&c->inputs, args->buffers);
    code_condemn(c->kernel, c->code, text);
  } else if (has_run) {
    atomic_store(&c->kernel->checks.is_off, true);
  }
  capture_output_fini(&expected);
}

// One that was interrupted does not count for much.
static void note_cost(variant *v, uint64_t old, uint64_t ns) {
  if (old && ns > 2 * old) ns = 2 * old;
  atomic_store(&v->check_ns, !old || ns < old ? ns : (7 * old + ns) / 8);
}

static void end_now(check *c, const vyre_dispatch_args *args, bool has_answer) {
  // A long one by its CPU time: on a busy machine what others take is not what it costs.
  bool is_long = c->expected_ns >= DISTURBED_NS;
  clock_use before = is_long ? clock_thread_use() : (clock_use){0};
  uint64_t start = clock_stamp();
  if (has_answer) compare_now(c, args);
  capture_fini(&c->inputs);
  uint64_t spent = clock_between_ns(start, clock_stamp());
  if (is_long) spent = clock_undisturbed_ns(spent, &before);
  if (has_answer) note_cost(c->variant, c->expected_ns, spent + 1);
  atomic_fetch_add(&c->code->check_ns, spent);
  free(c);
}

static void run_job(void *context, bool given_up) {
  check *c = context;
  vyre_kernel *k = c->kernel;
  uint64_t start = clock_thread_cpu_ns();
  if (!given_up) compare(c);
  if (!given_up && !c->is_free) atomic_fetch_add(&k->checks.run_ns, clock_thread_cpu_ns() - start);
  atomic_fetch_sub(&k->checks.bytes, 3 * c->inputs.bytes);
  atomic_fetch_sub(&k->checks.waiting, 1);
  capture_output_fini(&c->answer);
  capture_fini(&c->inputs);
  free(c);
  atomic_fetch_sub(&k->pending, 1);
}

void check_end(check *c, const vyre_dispatch_args *args, bool has_answer) {
  if (c->is_at_once) {
    end_now(c, args, has_answer);
    return;
  }
  uint64_t start = clock_stamp();
  bool can_go_on = has_answer && capture_keep_spans(&c->inputs, args->buffers, &c->answer);
  atomic_fetch_add(&c->kernel->checks.copy_ns, clock_between_ns(start, clock_stamp()));
  if (!can_go_on || !worker_add(c->kernel->runtime->worker, run_job, c)) run_job(c, true);
}
