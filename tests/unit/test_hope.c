// SPDX-License-Identifier: MIT
//
// Who is worth a try: literals against the policy.
#include "policy/hope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect(hope h, double wanted) {
  double got = hope_least_ns(&h);
  if (got < wanted - 0.001 || got > wanted + 0.001) fail_msg("%g instead of %g", got, wanted);
}

static void the_least_of_what_is_known(void **state) {
  (void)state;
  expect((hope){0}, 0);
  expect((hope){.expected_ns = 500}, 500);
  expect((hope){.expected_ns = 500, .best_ns = 300, .prior_best_ns = 400}, 300);
  expect((hope){.expected_ns = 500, .best_ns = 300, .prior_best_ns = 200}, 200);
  expect((hope){.expected_ns = 500, .trial_best_ns = 150, .trial_ns = 900}, 150);
  expect((hope){.expected_ns = 100, .best_ns = 300, .trial_best_ns = 150}, 100);
}

// Both were tried while the machine was slow: one took 62 % of the other's time, and does so still.
static void a_trial_compares_whatever_the_machine_did(void **state) {
  (void)state;
  hope h = {.expected_ns = 543, .trial_ns = 300, .usual_trial_ns = 480, .usual_ns = 240};
  expect(h, 150);
  h.usual_trial_ns = 0; // not of the same trial
  expect(h, 543);
  h = (hope){.expected_ns = 543, .trial_ns = 960, .usual_trial_ns = 480, .usual_ns = 240};
  expect(h, 480);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_least_of_what_is_known),
      cmocka_unit_test(a_trial_compares_whatever_the_machine_did),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
