// SPDX-License-Identifier: MIT
//
// When the size of a plan's workgroups is to be looked at again, with a clock that is told: after a
// second of work, smaller where the plan was idle, larger where it was busy and slow, never beyond
// what a workgroup may be, and a few times only.
#include "backend/backend.h"
#include "backend/ref/ref.h"
#include "runtime/kernel.h"
#include "runtime/resize.h"
#include "runtime/runtime.h"

#include "../told_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../loaded_kernel.h"

enum { COUNT = 64 };
#define MS UINT64_C(1000000)

static const char text[] = "program test.resize()\nbuffer x: u32[] write\n"
                           "region r grid(len(x)) workgroup(64) { x[global_id.x] = 1 }\n";

static uint64_t dispatch_ns;

static vyre_status told_dispatch(void *s, const launch *l, vyre_report *r, vyre_error *error) {
  vyre_status status = ref_backend.dispatch(s, l, r, error);
  told_spend(dispatch_ns);
  return status;
}

static backend told_backend;

typedef struct fixture {
  vyre_runtime *rt;
  vyre_kernel *k;
  plan *p;
} fixture;

static void dispatch(fixture *f, uint32_t count, uint64_t ns) {
  uint32_t x[COUNT];
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
  dispatch_ns = ns;
  for (uint32_t i = 0; i < count; i++)
    assert_int_equal(vyre_kernel_dispatch(f->k, &args, NULL, NULL), VYRE_OK);
}

// A plan that has learned to launch in workgroups of this size, and was looked at just now.
static fixture start(uint32_t x, uint32_t y) {
  fixture f;
  vyre_runtime_options options = {.backend = "told", .no_learning = true, .no_store = true};
  told_backend = ref_backend;
  told_backend.id = "told";
  told_backend.dispatch = told_dispatch;
  backend_set_extra(&told_backend);
  f.k = load_text(text, &options, &f.rt);
  f.rt->tune_mode = TUNE_ON;
  dispatch(&f, 1, MS);
  f.p = NULL;
  for (uint32_t i = 0; i < KERNEL_PLANS && !f.p; i++) f.p = atomic_load(&f.k->plans[i]);
  assert_non_null(f.p);
  code *c = atomic_load(&f.p->current)->code;
  variant *v = plan_variant(f.k, f.p, c, (uint32_t[3]){x, y, 1});
  assert_non_null(v);
  atomic_store(&f.p->current, v);
  atomic_store(&f.p->state, PLAN_LEARNED);
  resize_consider(f.k, f.p);
  assert_int_equal(f.p->window.resizes, 0);
  return f;
}

// The size that is wanted after so many dispatches, each of `ns`, within a window; 0: none.
static uint32_t wanted(fixture *f, uint32_t count, uint64_t ns, uint64_t window_ns) {
  atomic_store(&f->p->wanted_x, 0);
  atomic_store(&f->p->attention, 0);
  dispatch(f, count, ns);
  if (window_ns > count * ns) told_spend(window_ns - count * ns);
  resize_consider(f->k, f->p);
  uint32_t x = atomic_load(&f->p->wanted_x);
  assert_int_equal(atomic_load(&f->p->attention), x ? ATTEND_RESIZE : 0);
  return x;
}

static void an_idle_plan_is_halved(void **state) {
  (void)state;
  fixture f = start(256, 1);
  assert_int_equal(wanted(&f, 15, 1000, 1000 * MS), 0); // too few to say anything
  assert_int_equal(wanted(&f, 16, 1000, 1000 * MS), 128);
  assert_int_equal(f.p->window.resizes, 1);
  assert_int_equal(wanted(&f, 16, 1000, 999 * MS), 0); // the second is not over
  assert_int_equal(wanted(&f, 0, 1000, MS), 128);
  assert_int_equal(f.p->window.resizes, 2);
  finish(f.rt);
}

static void a_busy_and_slow_plan_is_doubled(void **state) {
  (void)state;
  fixture f = start(128, 1);
  assert_int_equal(wanted(&f, 20, 50 * MS, 1000 * MS), 256);
  finish(f.rt);
}

static void nothing_larger_than_a_workgroup_is_wanted(void **state) {
  (void)state;
  fixture f = start(512, 1);
  assert_int_equal(wanted(&f, 20, 50 * MS, 1000 * MS), 1024);
  finish(f.rt);
  f = start(512, 2);
  assert_int_equal(wanted(&f, 20, 50 * MS, 1000 * MS), 0);
  finish(f.rt);
  f = start(1024, 1);
  assert_int_equal(wanted(&f, 20, 50 * MS, 1000 * MS), 0);
  finish(f.rt);
}

static void it_is_tried_a_few_times_only(void **state) {
  (void)state;
  fixture f = start(256, 1);
  for (int i = 0; i < 4; i++) assert_int_equal(wanted(&f, 16, 1000, 1000 * MS), 128);
  assert_int_equal(wanted(&f, 16, 1000, 1000 * MS), 0);
  assert_int_equal(f.p->window.resizes, 4);
  finish(f.rt);
}

static void only_a_plan_that_has_learned_is_looked_at_and_only_when_tuning_is_on(void **state) {
  (void)state;
  fixture f = start(256, 1);
  f.rt->tune_mode = TUNE_OFF_USE_DEFAULT;
  assert_int_equal(wanted(&f, 16, 1000, 1000 * MS), 0);
  f.rt->tune_mode = TUNE_ON;
  atomic_store(&f.p->state, PLAN_DECLINED);
  assert_int_equal(wanted(&f, 16, 1000, 1000 * MS), 0);
  atomic_store(&f.p->state, PLAN_LEARNED);
  assert_int_equal(wanted(&f, 16, 1000, 1000 * MS), 128);
  finish(f.rt);
}

int main(void) {
  told_clock_begin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_idle_plan_is_halved),
      cmocka_unit_test(a_busy_and_slow_plan_is_doubled),
      cmocka_unit_test(nothing_larger_than_a_workgroup_is_wanted),
      cmocka_unit_test(it_is_tried_a_few_times_only),
      cmocka_unit_test(only_a_plan_that_has_learned_is_looked_at_and_only_when_tuning_is_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
