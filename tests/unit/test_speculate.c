// SPDX-License-Identifier: MIT
//
// The decision to speculate: the tests of the original, by name, and the bound on confidence.
#include "policy/speculate.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static speculate_decision decide(uint32_t hits, uint32_t confidence, uint64_t cost, uint64_t miss) {
  return speculate_decide((speculate_inputs){hits, confidence, cost, miss});
}

static void holds(speculate_decision d) {
  assert_false(d.speculate);
  assert_int_equal(d.expected_savings_ns, 0);
}

static void saves(speculate_decision d, uint64_t savings) {
  assert_true(d.speculate);
  assert_true(d.expected_savings_ns == savings);
}

static void cold_shape_holds_steady(void **state) {
  (void)state;
  holds(decide(7, 9000, 1000, 100000));
}

static void low_confidence_holds_steady(void **state) {
  (void)state;
  holds(decide(100, 5999, 1000, 1000000));
}

static void zero_miss_cost_holds_steady(void **state) {
  (void)state;
  holds(decide(100, 9000, 1000, 0));
  holds(decide(100, 9000, 0, 0));
}

static void positive_savings_speculates(void **state) {
  (void)state;
  saves(decide(100, 10000, 10000, 100000), 90000);
}

static void confidence_weights_predicted_savings(void **state) {
  (void)state;
  saves(decide(100, 6000, 50000, 100000), 10000);
}

static void spec_cost_above_weighted_savings_holds_steady(void **state) {
  (void)state;
  holds(decide(100, 6000, 60000, 100000));
  saves(decide(100, 6000, 59999, 100000), 1);
}

static void at_threshold_speculates_when_other_inputs_pass(void **state) {
  (void)state;
  saves(decide(8, 10000, 1000, 100000), 99000);
}

static void confidence_at_threshold_speculates(void **state) {
  (void)state;
  saves(decide(100, 6000, 1000, 100000), 59000);
}

static void extreme_inputs_use_saturating_arithmetic(void **state) {
  (void)state;
  saves(decide(100, 10000, 1000, UINT64_MAX), UINT64_MAX - 1000);
  saves(decide(UINT32_MAX, UINT32_MAX, 0, UINT64_MAX), UINT64_MAX);
  holds(decide(UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX));
}

static void calibration_constants_pinned(void **state) {
  (void)state;
  assert_int_equal(SPECULATE_HOT_SHAPE_THRESHOLD, 8);
  assert_int_equal(SPECULATE_MIN_CONFIDENCE_BPS, 6000);
}

static void trace_jit_decision_displays_human_string(void **state) {
  (void)state;
  char text[SPECULATE_TEXT];
  speculate_format((speculate_decision){false, 0}, text);
  assert_string_equal(text, "hold-steady");
  speculate_format((speculate_decision){true, 77}, text);
  assert_string_equal(text, "speculate:77");
  speculate_format((speculate_decision){true, UINT64_MAX}, text);
  assert_string_equal(text, "speculate:18446744073709551615");
}

static void confidence_above_certainty_counts_as_certainty(void **state) {
  (void)state;
  saves(decide(100, 10001, 10000, 100000), 90000);
  saves(decide(100, 40000, 10000, 100000), 90000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cold_shape_holds_steady),
      cmocka_unit_test(low_confidence_holds_steady),
      cmocka_unit_test(zero_miss_cost_holds_steady),
      cmocka_unit_test(positive_savings_speculates),
      cmocka_unit_test(confidence_weights_predicted_savings),
      cmocka_unit_test(spec_cost_above_weighted_savings_holds_steady),
      cmocka_unit_test(at_threshold_speculates_when_other_inputs_pass),
      cmocka_unit_test(confidence_at_threshold_speculates),
      cmocka_unit_test(extreme_inputs_use_saturating_arithmetic),
      cmocka_unit_test(calibration_constants_pinned),
      cmocka_unit_test(trace_jit_decision_displays_human_string),
      cmocka_unit_test(confidence_above_certainty_counts_as_certainty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
