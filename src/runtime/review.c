// SPDX-License-Identifier: MIT
#include "runtime/review.h"

#include "backend/numbered.h"
#include "base/clock.h"
#include "base/format.h"
#include "policy/hope.h"
#include "runtime/begin.h"
#include "runtime/decision.h"
#include "runtime/kernel.h"
#include "runtime/resize.h"
#include "runtime/runtime.h"
#include "runtime/tuning.h"

#include <stdio.h>
#include <string.h>

enum {
  EXPLORE_SHARE = 100, // of a plan's time: one part in so many is for trying alternatives
  LEARN_SHARE = 20,    // likewise for jobs in the background
};
#define EXPLORE_EVERY_NS UINT64_C(200000000)

// ---- gathering ----------------------------------------------------------------------------------

typedef struct exploring {
  double usual_ns;
  uint64_t cost_ns;
} exploring;

static void add_cost(void *context, uint64_t ns) {
  exploring *e = context;
  if ((double)ns > e->usual_ns) e->cost_ns += ns - (uint64_t)e->usual_ns;
}

// True when the times of the current variant have changed.
static bool gather(plan *p) {
  variant *current = atomic_load(&p->current);
  bool has_changed = variant_gather(current, NULL, NULL);
  exploring e = {.usual_ns = figure_expected_ns(&current->figure)};
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++)
    if (p->variants[i] != current) (void)variant_gather(p->variants[i], add_cost, &e);
  if (atomic_load(&p->state) != PLAN_OPENING) p->explored_ns += e.cost_ns;
  return has_changed;
}

// ---- choosing -----------------------------------------------------------------------------------

// After a change what was known of the others still says whom to try: it is measured soon enough.
static variant *better_than(const plan *p, variant *current, bool has_changed) {
  variant *best = NULL;
  double usual = figure_expected_ns(&current->figure);
  for (uint32_t i = 0; i < atomic_load(&((plan *)p)->variant_count); i++) {
    variant *v = p->variants[i];
    double ns = plan_estimate_ns(p, v);
    if (v == current || !code_is_trusted(v->code) || ns <= 0) continue;
    bool is_better = has_changed
                         ? ns < usual * 0.9
                         : figure_is_faster(&v->figure, &current->figure, REVIEW_MARGIN_BPS);
    if (is_better && (!best || ns < plan_estimate_ns(p, best))) best = v;
  }
  return best;
}

// The word of others holds no longer: all is tried here, when that is worth it.
static void end_lead(plan *p) {
  p->is_led = false;
  p->stages &= ~(unsigned)(STAGE_PASSES | STAGE_SHAPES | STAGE_BACKENDS);
}

static bool choose(plan *p, bool has_changed) {
  variant *current = atomic_load(&p->current);
  if (current->figure.count < FIGURE_ENOUGH) return false;
  variant *best = better_than(p, current, has_changed);
  if (!best) return false;
  char detail[160], name[VARIANT_TEXT];
  variant_text(current, name);
  format_text(detail, sizeof detail, "`%s` takes %.3f us", name,
              figure_expected_ns(&current->figure) / 1000);
  plan_adopt(p, best, has_changed ? REASON_CHANGED : REASON_FASTER, detail);
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++) p->variants[i]->next_explore_ns = 0;
  if (p->is_led) end_lead(p);
  return true;
}

// The first dispatches of a bucket have tried what is known.
static void end_opening(plan *p) {
  uint32_t count = atomic_load(&p->variant_count);
  if (atomic_load(&p->opening) <= PLAN_TURNS * count) return;
  variant *best = atomic_load(&p->current);
  for (uint32_t i = 0; i < count; i++) {
    variant *v = p->variants[i];
    if (!code_is_trusted(v->code) || v->figure.count < FIGURE_ENOUGH) continue;
    if (figure_expected_ns(&v->figure) < plan_estimate_ns(p, best)) best = v;
  }
  bool is_other = best != atomic_load(&p->current);
  plan_adopt(p, best, is_other ? REASON_FASTER : REASON_PREDICTED, NULL);
  atomic_fetch_and(&p->attention, ~(unsigned)ATTEND_OPENING);
  atomic_store(&p->state, PLAN_LEARNED);
}

// ---- exploring ----------------------------------------------------------------------------------

static double hopeful_ns(const plan *p, const variant *v, const variant *current) {
  bool are_tried_together = v->trial_number && v->trial_number == current->trial_number;
  return hope_least_ns(&(hope){
      .expected_ns = plan_estimate_ns(p, v),
      .best_ns = v->figure.best_ns,
      .prior_best_ns = v->prior_best_ns,
      .trial_best_ns = (double)v->trial_best_ns,
      .trial_ns = (double)v->trial_ns,
      .usual_trial_ns = are_tried_together ? (double)current->trial_ns : 0,
      .usual_ns = figure_expected_ns(&current->figure),
  });
}

static bool is_affordable(const plan *p, double usual, double ns) {
  double cost = ns > usual ? ns - usual : 0;
  return (double)p->explored_ns + cost <= (double)plan_total_ns(p) / EXPLORE_SHARE;
}

// The one that may gain most, of those whose time has come. Each has a pause of its own: what is
// slow now is tried so seldom that the share is kept without using up what was saved.
static void explore(plan *p, uint64_t now) {
  const variant *current = atomic_load(&p->current);
  double usual = figure_expected_ns(&current->figure), least = usual * 1.2;
  variant *next = NULL;
  if (atomic_load(&p->explore) || current->figure.count < FIGURE_ENOUGH) return;
  for (uint32_t i = 0; i < atomic_load(&p->variant_count); i++) {
    variant *v = p->variants[i];
    double ns = plan_estimate_ns(p, v);
    if (v == current || !code_is_trusted(v->code) || ns <= 0 || now < v->next_explore_ns) continue;
    double hope = hopeful_ns(p, v, current);
    if (hope > least || !is_affordable(p, usual, ns)) continue;
    least = hope;
    next = v;
  }
  if (!next) return;
  double ns = plan_estimate_ns(p, next), pause = (ns - usual) * EXPLORE_SHARE;
  next->next_explore_ns =
      now + (pause > (double)EXPLORE_EVERY_NS ? (uint64_t)pause : EXPLORE_EVERY_NS);
  atomic_store(&p->explore_ns, (uint64_t)ns);
  atomic_store(&p->usual_ns, (uint64_t)usual);
  atomic_store(&p->tries, 0);
  atomic_store(&p->explore, next);
  atomic_fetch_or(&p->attention, ATTEND_EXPLORE);
}

// ---- learning more ------------------------------------------------------------------------------

// With the kernel's lock: whether another backend's code is there, from another bucket or the
// cache.
static bool has_foreign_code(const vyre_kernel *k) {
  const code *first = atomic_load(&((vyre_kernel *)k)->first);
  for (const code *c = k->codes; c && first; c = c->next)
    if (!c->constants && c->backend != first->backend && backend_is_contender(c->backend))
      return true;
  return false;
}

// A stage is asked for when its cost is a small part of the time that the plan has been used, which
// is the best guess of how long it will be.
static void want_stage(vyre_kernel *k, plan *p) {
  enum { RUNS_OF_PASSES = 24, RUNS_OF_SHAPES = 80, LED_PATIENCE = 8 };
  // Compiling this CPU's codes, or looking them up when another bucket has compiled them.
  const double LOOK_NS = 2e6, COMPILE_NS = p->is_known ? LOOK_NS : 2e7;
  const variant *current = atomic_load(&p->current);
  double usual = figure_expected_ns(&current->figure), total = (double)plan_total_ns(p);
  double allowed = total / LEARN_SHARE - (double)p->learned_ns;
  if (usual <= 0 || p->wanted) return;
  if (p->is_led) {
    if (LED_PATIENCE * (COMPILE_NS + RUNS_OF_PASSES * usual) > allowed) return;
    end_lead(p);
  }
  unsigned stage = 0;
  if (!(p->stages & STAGE_PASSES)) {
    double cost = COMPILE_NS + RUNS_OF_PASSES * usual;
    if (cost <= allowed || (begin_has_hope(k, p, NULL, usual) && 2 * cost <= total))
      stage = STAGE_PASSES;
  } else if (!(p->stages & STAGE_SHAPES)) {
    if (RUNS_OF_SHAPES * usual <= allowed) stage = STAGE_SHAPES;
  } else if (!(p->stages & STAGE_TUNABLES) && tuning_is_worth(k, p, usual, total, LEARN_SHARE)) {
    stage = STAGE_TUNABLES;
  } else if (!(p->stages & STAGE_BACKENDS) && !k->runtime->backend[0]) {
    double compile = has_foreign_code(k) ? LOOK_NS : (double)runtime_compile_cost_ns(k->runtime);
    double cost = compile + RUNS_OF_PASSES * usual;
    if (cost <= allowed) stage = STAGE_BACKENDS;
  }
  if (!stage) return;
  p->wanted = stage;
  p->allowed_ns = (uint64_t)allowed;
  atomic_fetch_or(&p->attention, ATTEND_LEARN);
}

// ---- the review ---------------------------------------------------------------------------------

// With the kernel's lock.
static void review_plan(vyre_kernel *k, plan *p) {
  bool has_changed = gather(p);
  unsigned state = atomic_load(&p->state);
  if (state == PLAN_OPENING) end_opening(p);
  // One that was not learned about, because its inputs are too large to be copied, may still have
  // begun with several variants.
  bool is_open = state == PLAN_LEARNED || state == PLAN_DECLINED;
  if (!is_open || choose(p, has_changed)) return;
  explore(p, clock_now_ns());
  if (state == PLAN_DECLINED) return;
  want_stage(k, p);
  resize_consider(k, p);
}

void review_opening(vyre_kernel *k, plan *p) {
  pthread_mutex_lock(&k->lock);
  (void)gather(p);
  if (atomic_load(&p->state) == PLAN_OPENING) end_opening(p);
  pthread_mutex_unlock(&k->lock);
  review_soon(k); // what was decided is kept in the background
}

static void try_again(plan *p, variant *v) {
  atomic_store(&p->explore, v);
  atomic_fetch_or(&p->attention, ATTEND_EXPLORE);
}

// One fast run asks for another at once; from three on they may decide, and a few more when earlier
// ones stand against them. So only the first waits for the background.
void review_explored(vyre_kernel *k, plan *p, variant *v, uint64_t wall_ns) {
  enum { MOST_TRIES = 2 * FIGURE_ENOUGH + 1 };
  unsigned tries = atomic_fetch_add(&p->tries, 1) + 1;
  uint64_t usual_ns = atomic_load(&p->usual_ns);
  bool is_warm_up = tries == 1 && usual_ns < PLAN_WARM_UP_NS;
  atomic_store(&p->explored, NULL);
  if (is_warm_up) try_again(p, v);
  if (is_warm_up || wall_ns >= usual_ns - usual_ns / 32) return;
  if (tries < FIGURE_ENOUGH) {
    try_again(p, v);
    return;
  }
  pthread_mutex_lock(&k->lock);
  (void)gather(p);
  bool is_decided = atomic_load(&p->state) == PLAN_LEARNED && choose(p, false);
  pthread_mutex_unlock(&k->lock);
  if (is_decided)
    review_soon(k); // it is kept in the background
  else if (tries < MOST_TRIES)
    try_again(p, v);
}

// What earlier processes saw be faster is looked at again.
static void revive(vyre_kernel *k, plan *p) {
  pthread_mutex_lock(&k->lock);
  const variant *current = atomic_load(&p->current);
  double usual = figure_expected_ns(&current->figure);
  bool is_time = !p->is_revived && current->figure.count >= FIGURE_RECENT &&
                 atomic_load(&p->state) == PLAN_LEARNED;
  if (is_time) p->is_revived = true;
  pthread_mutex_unlock(&k->lock);
  if (is_time) begin_revive(k, p, usual, plan_dispatches(p));
}

// Code that another process compiled costs a few milliseconds, and opening the driver: it is looked
// for long before compiling would be worth it. Once per kernel.
static void look_for_code(vyre_kernel *k, plan *p) {
  const double OPEN_NS = 1e8;
  vyre_runtime *rt = k->runtime;
  pthread_mutex_lock(&k->lock);
  bool is_next = !k->has_looked && !rt->backend[0] && !(p->stages & STAGE_BACKENDS) &&
                 (p->stages & STAGE_SHAPES) && atomic_load(&p->state) == PLAN_LEARNED;
  double allowed = (double)plan_total_ns(p) / LEARN_SHARE - (double)p->learned_ns;
  bool is_time = is_next && allowed > OPEN_NS && !has_foreign_code(k);
  if (is_time) k->has_looked = true;
  const code *first = atomic_load(&k->first);
  pthread_mutex_unlock(&k->lock);
  if (!is_time || !first) return;
  uint64_t start = clock_thread_cpu_ns();
  for (uint32_t i = 0; vyre_backend_name(i); i++) {
    const char *id = vyre_backend_name(i), *ids[NUMBERED_MOST];
    code *found;
    if (!strcmp(id, first->backend) || !backend_is_contender(id)) continue;
    if (backend_is_of(id, rt->without)) continue;
    uint32_t count = backend_device_ids(id, true, ids, NUMBERED_MOST, NULL);
    for (uint32_t n = 0; n < count; n++) {
      if (backend_is_of(ids[n], rt->without)) continue;
      code_request request = {
          .backend = ids[n], .tier = VYRE_TIER_FULL, .passes = PASSES_RELEASE, .only_cached = true};
      (void)code_make(k, &request, &found, NULL);
    }
  }
  pthread_mutex_lock(&k->lock);
  p->learned_ns += clock_thread_cpu_ns() - start;
  pthread_mutex_unlock(&k->lock);
}

void review_kernel(vyre_kernel *k) {
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&k->plans[i]);
    if (!p) continue;
    revive(k, p);
    look_for_code(k, p);
    pthread_mutex_lock(&k->lock);
    review_plan(k, p);
    pthread_mutex_unlock(&k->lock);
    if (atomic_load(&p->state) == PLAN_LEARNED) decision_keep(k, p);
  }
}

static void run_job(void *context, bool given_up) {
  vyre_kernel *k = context;
  if (!given_up) review_kernel(k);
  atomic_fetch_sub(&k->pending, 1);
}

void review_soon(vyre_kernel *k) {
  if (!k->runtime->worker) return;
  atomic_fetch_add(&k->pending, 1);
  if (!worker_add(k->runtime->worker, run_job, k)) run_job(k, true);
}
