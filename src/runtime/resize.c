// SPDX-License-Identifier: MIT
//
// What the resize policy makes of a plan that is in use: once a second the background looks at how
// busy it was and how much it got done, and the policy may suggest another size of its workgroups.
// A suggestion is not believed: the next dispatch leaves its inputs, and the suggested shape is
// proven and timed against the present one, like every other. Only where VYRE_AUTOTUNER is on, and
// a few times per plan.
#include "runtime/resize.h"

#include "base/clock.h"
#include "runtime/buffer.h"
#include "runtime/capture.h"
#include "runtime/decision.h"
#include "runtime/kernel.h"
#include "runtime/runtime.h"
#include "runtime/shape.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RESIZES = 4, BUSY_DISPATCHES = 16 };
#define WINDOW_NS UINT64_C(1000000000)

static tune_shape present_shape(const vyre_kernel *k, const plan *p) {
  tune_shape shape;
  const region *r = sweep_region(k->program);
  memcpy(shape.axis, atomic_load(&((plan *)p)->current)->shape, sizeof shape.axis);
  for (int i = 0; i < 3 && r; i++)
    if (!shape.axis[i]) shape.axis[i] = r->workgroup[i];
  return shape;
}

// What happened since the last look, as the policy wants to know it.
static bool look(plan *p, uint32_t size_x, tune_feedback *out) {
  plan_window *w = &p->window, now = {.at_ns = clock_now_ns(),
                                      .busy_ns = plan_total_ns(p),
                                      .dispatches = plan_dispatches(p)};
  plan_window before = *w;
  if (before.at_ns && now.at_ns - before.at_ns < WINDOW_NS) return false;
  now.resizes = w->resizes;
  *w = now;
  if (!before.at_ns || now.dispatches - before.dispatches < BUSY_DISPATCHES) return false;
  uint64_t wall_ns = now.at_ns - before.at_ns, busy_ns = now.busy_ns - before.busy_ns;
  double invocations = (double)atomic_load(&atomic_load(&p->current)->invocations) *
                       (double)(now.dispatches - before.dispatches);
  *out = (tune_feedback){.wall_time_us = wall_ns / 1000,
                         .idle_us = busy_ns < wall_ns ? (wall_ns - busy_ns) / 1000 : 0,
                         .observed_workgroup_size_x = size_x,
                         .observed_throughput_per_us =
                             invocations / ((double)busy_ns / 1000.0 + 1e-3)};
  return true;
}

void resize_consider(vyre_kernel *k, plan *p) {
  tune_feedback feedback;
  uint32_t size_x;
  if (k->runtime->tune_mode != TUNE_ON || !sweep_region(k->program)) return;
  if (atomic_load(&p->state) != PLAN_LEARNED || p->window.resizes >= MAX_RESIZES) return;
  tune_shape shape = present_shape(k, p);
  if (!look(p, shape.axis[0], &feedback)) return;
  if (!tune_suggest_resize(&TUNE_RESIZE_DEFAULT, &feedback, &size_x)) return;
  p->window.resizes++;
  shape.axis[0] = size_x;
  if (!tune_shape_is_valid(shape)) return;
  atomic_store(&p->wanted_x, size_x);
  atomic_fetch_or(&p->attention, ATTEND_RESIZE);
}

// ---- the comparison -----------------------------------------------------------------------------

typedef struct resize_job {
  vyre_kernel *kernel;
  plan *plan;
  capture inputs;
  uint32_t size_x;
} resize_job;

static void compare(resize_job *j, const capture_output *expected) {
  vyre_kernel *k = j->kernel;
  code *c = atomic_load(&j->plan->current)->code;
  tune_shape usual = present_shape(k, j->plan), suggested = usual;
  uint32_t shape[3];
  trial_candidate tried;
  suggested.axis[0] = j->size_x;
  shape_request request = {.inputs = &j->inputs,
                           .expected = expected,
                           .code = c,
                           .may_sweep = true,
                           .usual = &usual,
                           .only = &suggested};
  if (!shape_choose(k, j->plan, &request, shape, &tried)) return;
  variant *v = plan_variant(k, j->plan, c, shape);
  if (!v || v == atomic_load(&j->plan->current)) return;
  pthread_mutex_lock(&k->lock);
  variant_tried(v, &tried, 0);
  plan_adopt(j->plan, v, REASON_FASTER, "the resize policy suggested it");
  pthread_mutex_unlock(&k->lock);
  decision_keep(k, j->plan);
}

static void run_job(void *context, bool given_up) {
  resize_job *j = context;
  vyre_kernel *k = j->kernel;
  capture_output expected = {0};
  code *first;
  if (!given_up && kernel_first(k, &first, NULL) == VYRE_OK &&
      capture_answer(&j->inputs, first->executable, NULL, NULL) == VYRE_OK &&
      capture_keep(&j->inputs, &expected))
    compare(j, &expected);
  capture_output_fini(&expected);
  capture_fini(&j->inputs);
  free(j);
  atomic_fetch_sub(&k->pending, 1);
}

void resize_begin(vyre_kernel *k, plan *p, const vyre_dispatch_args *args) {
  uint32_t size_x = atomic_exchange(&p->wanted_x, 0);
  atomic_fetch_and(&p->attention, ~(unsigned)ATTEND_RESIZE);
  if (!size_x || !capture_can_take(k->program, args) || !buffers_to_host(args)) return;
  resize_job *j = calloc(1, sizeof *j);
  if (!j || capture_take(&j->inputs, k->program, args) != CAPTURE_TAKEN) {
    free(j);
    return;
  }
  j->kernel = k;
  j->plan = p;
  j->size_x = size_x;
  j->inputs.args.timeout_ns = UINT64_C(60000000000);
  atomic_fetch_add(&k->pending, 1);
  if (!worker_add(k->runtime->worker, run_job, j)) run_job(j, true);
}
