// SPDX-License-Identifier: MIT
//
// Programs lowered for devices that have next to nothing, compiled by the C compiler: what the
// reference interpreter accepts of a recipe, a machine computes too.
#include "conform/suite.h"
#include "lower/lower.h"
#include "../lower_targets.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

enum { TRIALS = 6 };

// False when the target declines the program.
static bool check(const trial *t, const lower_target *target, const char *name) {
  vyre_program *p;
  vyre_error error;
  outcome expected, found;
  difference d;
  vyre_status status = lower_program(t->program, target, &p, &error);
  if (status == VYRE_ERROR_UNSUPPORTED) return false;
  if (status != VYRE_OK) fail_msg("%s for %s: %s", name, target->name, error.message);
  assert_true(trial_run(t, NULL, "ref", NULL, (trial_limits){.fuel = COMPARE_FUEL}, &expected));
  assert_true(trial_run(t, p, "c", NULL, (trial_limits){0}, &found));
  compare_outcomes(t, &expected, &found, &d);
  if (d.verdict == DIFFERENT) fail_msg("%s for %s: %s", name, target->name, d.text);
  outcome_fini(&expected);
  outcome_fini(&found);
  vyre_program_release(p);
  return true;
}

static void need_compiler(void) {
  vyre_device device;
  uint32_t count = 0;
  if (vyre_backend_devices("c", &device, 1, &count, NULL) != VYRE_OK || !count) skip();
}

// All that the C backend itself launches is there.
static lower_target poor(lower_target t) {
  t.pads_grid = t.polls_stop = false;
  return t;
}

static void test_random_programs(void **state) {
  (void)state;
  need_compiler();
  lower_target words = poor(lower_words()), nothing = poor(lower_nothing);
  uint32_t run = 0;
  for (uint64_t seed = 1; seed <= TRIALS; seed++) {
    trial t;
    char name[40];
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    generate_options options = {.seed = seed, .without_f64 = true, .without_i64_atomics = true};
    assert_int_equal(generate_trial(&options, &t, NULL), VYRE_OK);
    run += check(&t, &words, name);
    trial_fini(&t);
    assert_int_equal(generate_trial(&(generate_options){.seed = seed}, &t, NULL), VYRE_OK);
    assert_true(check(&t, &nothing, name));
    trial_fini(&t);
  }
  assert_int_equal(run, TRIALS);
}

// The rows in which something is divided, rooted, fused, converted or kept in small elements.
static void test_rows(void **state) {
  (void)state;
  need_compiler();
  suite s = {.name = "rows"};
  vyre_error error;
  lower_target words = poor(lower_words()), nothing = poor(lower_nothing);
  uint32_t run = 0;
  assert_int_equal(suite_add_rows(&s, &error), VYRE_OK);
  for (size_t i = 0; i < s.cases.count; i += 7) {
    if (s.cases.at[i].is_racy) continue;
    run += check(&s.cases.at[i].trial, &words, s.cases.at[i].name);
    assert_true(check(&s.cases.at[i].trial, &nothing, s.cases.at[i].name));
  }
  assert_true(run > 0);
  suite_fini(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_programs),
      cmocka_unit_test(test_rows),
  };
  return cmocka_run_group_tests_name("poor", tests, NULL, NULL);
}
