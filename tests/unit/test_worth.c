// SPDX-License-Identifier: MIT
//
// Whether a search goes on: literals against the policy.
#include "policy/worth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const double MS = 1e6, S = 1e9;

static void a_tenth_is_hoped_for_at_first(void **state) {
  (void)state;
  assert_true(fabs(worth_next_gain(&(worth){0}) - 0.05) < 1e-12);
  assert_true(fabs(worth_next_gain(&(worth){.evaluations = 8}) - 0.01) < 1e-12);
  assert_true(fabs(worth_next_gain(&(worth){.evaluations = 8, .gained = 0.9}) - 0.1) < 1e-12);
  assert_true(fabs(worth_next_gain(&(worth){.gained = -3}) - 0.05) < 1e-12);
}

static void expected_use_times_gain_over_cost(void **state) {
  (void)state;
  worth w = {.use_ns = 1 * S, .cost_ns = 20 * MS};
  assert_true(worth_evaluating(&w, 20));
  w.use_ns = 0.3 * S; // gains 15 ms
  assert_false(worth_evaluating(&w, 1));
  w = (worth){.use_ns = 4 * S, .cost_ns = 20 * MS, .evaluations = 20};
  assert_false(worth_evaluating(&w, 20)); // nothing was found: 4 s gain 18 ms
  w.gained = log(2);
  assert_true(worth_evaluating(&w, 20)); // something was
}

static void learning_keeps_within_its_share(void **state) {
  (void)state;
  worth w = {.use_ns = 1 * S, .cost_ns = 20 * MS, .spent_ns = 30 * MS};
  assert_true(worth_evaluating(&w, 20));
  w.spent_ns = 31 * MS;
  assert_false(worth_evaluating(&w, 20));
  assert_true(worth_evaluating(&w, 10));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tenth_is_hoped_for_at_first),
      cmocka_unit_test(expected_use_times_gain_over_cost),
      cmocka_unit_test(learning_keeps_within_its_share),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
