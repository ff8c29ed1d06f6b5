// SPDX-License-Identifier: MIT
//
// What is told of a kernel, word for word, from records that are put there.
#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../loaded_kernel.h"

static const char text[] = "program told()\n"
                           "buffer x: u32[] read\n"
                           "transient t: u32[len(x)]\n"
                           "buffer y: u32[] write\n"
                           "region first grid(len(x)) { t[global_id.x] = x[global_id.x] * 3 }\n"
                           "region second grid(len(y)) { y[global_id.x] = t[global_id.x] + 1 }\n";

static void dispatch(vyre_kernel *k) {
  uint32_t x[64] = {0}, y[64];
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 2};
  vyre_error error;
  if (vyre_kernel_dispatch(k, &args, NULL, &error)) fail_msg("%s", error.message);
}

static plan *only_plan(vyre_kernel *k) {
  plan *found = NULL;
  for (uint32_t i = 0; i < KERNEL_PLANS && !found; i++) found = atomic_load(&k->plans[i]);
  assert_non_null(found);
  return found;
}

// A record of everything that a plan can say.
static void put_records(plan *p) {
  variant *v = atomic_load(&p->current);
  v->figure = (figure){0};
  v->trial_ns = 1500;
  v->trial_noise_ns = 20;
  v->trial_samples = 1;
  v->prior_ns = 2250;
  v->resident_ns = 750;
  v->copy_ns_per_byte = 0.5;
  v->reason = REASON_NOT_FASTER;
  v->code->compile_ns = 12300000;
  atomic_store(&v->code->checks, 4);
  strcpy(v->code->detail, "so it is");
  atomic_store(&v->count, 4);
  atomic_store(&v->total_ns, 10000);
  strcpy(p->work, "n:3");
  p->size_class = 9;
  atomic_store(&p->state, PLAN_LEARNED);
  p->stages = STAGE_SHAPES;
  p->explored_ns = 1500000;
  p->tune_reason = "because";
  strcpy(p->routed, "ref");
  p->decision_count = 10;
  for (uint32_t i = 0; i < PLAN_DECISIONS; i++) {
    plan_decision *d = &p->decisions[(p->decision_count - 1 - i) % PLAN_DECISIONS];
    *d = (plan_decision){.reason = REASON_FASTER, .date = 86400 * (int64_t)i};
    snprintf(d->name, sizeof d->name, "number %u", i);
  }
  plan_decision *last = &p->decisions[9 % PLAN_DECISIONS];
  last->samples = 2;
  last->mean_ns = 3000;
  last->spread_ns = 500;
  strcpy(last->detail, "twice as fast");
}

static char *explained(vyre_kernel *k) {
  char *out;
  vyre_error error;
  assert_int_equal(vyre_kernel_explain(k, &out, &error), VYRE_OK);
  return out;
}

static void expect(const char *all, const char *part) {
  if (!strstr(all, part)) fail_msg("no\n%s\nin\n%s", part, all);
}

static void a_plan_is_told_word_for_word(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k =
      load_text(text, &(vyre_runtime_options){.backend = "ref", .learn_after = 1000}, &rt);
  dispatch(k);
  plan *p = only_plan(k);
  put_records(p);
  char *all = explained(k);
  expect(all,
         "told\nsize class 9 (below 512 bytes), work n:3: 4 dispatches, mean 2.500 us; learned\n"
         "  runs number 0, because faster (twice as fast); decided 1970-01-01 00:00:00 from "
         "3.000 us +- 0.500 in 2 samples\n"
         "  routing table: ");
  expect(all, ", `ref`; launch shape: because, as declared; trying others has cost 1.500 ms\n");
  expect(all, " not-faster   trial 1.500 us +- 0.020 in 1 sample; before this process 2.250 us; "
              "0.750 us with its buffers there; compiled in 12.3 ms; proven, 4 checks: so it is\n");
  expect(all, "  not looked at yet, because it would cost more than it may gain so far: passes, "
              "other backends, tunables\n"
              "  what would change it: what dispatches measure\n"
              "  before that number 1, because faster; decided 1970-01-02 00:00:00\n"
              "  before that number 2, because faster; decided 1970-01-03 00:00:00\n");
  expect(all, "  before that number 7, because faster; decided 1970-01-08 00:00:00\n");
  assert_null(strstr(all, "before that number 8"));
  assert_null(strstr(all, "before that number 0"));
  assert_null(strstr(all, "passes for region"));
  assert_null(strstr(all, "answers are not compared again"));
  free(all);
  p->stages = STAGE_ALL;
  atomic_store(&k->checks.is_off, true);
  all = explained(k);
  expect(all, "more than it may gain so far: nothing\n");
  expect(all, "answers are not compared again: the program's own differ from run to run\n");
  free(all);
  finish(rt);
}

static void passes_are_told_for_each_region(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k =
      load_text(text, &(vyre_runtime_options){.backend = "ref", .learn_after = 1000}, &rt);
  dispatch(k);
  code *c = atomic_load(&only_plan(k)->current)->code;
  static const pass_info licm = {.name = "licm"}, cse = {.name = "cse"};
  select_decision made[4] = {{.pass = &licm, .selected = true, .reason = SELECT_ALWAYS_ON},
                             {.pass = &cse},
                             {.pass = &licm},
                             {.pass = &cse, .selected = true}};
  for (int i = 1; i < 4; i++) made[i].reason = SELECT_ALWAYS_ON;
  select_decision *decisions = c->decisions;
  c->decisions = made;
  c->pass_count = 2;
  c->region_count = 2;
  char *all = explained(k);
  expect(all, "  passes for region first:\n"
              "    licm                     yes always-on\n"
              "    cse                      no  always-on\n"
              "  passes for region second:\n"
              "    licm                     no  always-on\n"
              "    cse                      yes always-on\n");
  free(all);
  c->decisions = decisions;
  finish(rt);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plan_is_told_word_for_word),
      cmocka_unit_test(passes_are_told_for_each_region),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
