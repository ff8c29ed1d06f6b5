// SPDX-License-Identifier: MIT
//
// The predictor of specialisation keys: what it says about sequences that have a law, and that it
// keeps quiet about those that have none.
#include "policy/predict.h"
#include "policy/speculate.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

enum { ENOUGH = SPECULATE_MIN_CONFIDENCE_BPS };

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (random_state >> 33) % n;
}

static predictor *with_values(uint32_t values) {
  predictor *p = predictor_new(values, 0);
  assert_non_null(p);
  return p;
}

static void see(predictor *p, uint64_t a) {
  predictor_observe(p, &a, false);
}

// The confident prediction of the next change must be `expected`.
static void expect_change(const predictor *p, uint32_t ahead, uint64_t expected,
                          predict_kind kind) {
  uint64_t value = 0;
  prediction out;
  assert_true(predictor_next_change(p, ahead, &value, &out));
  assert_int_equal(value, expected);
  assert_string_equal(predict_kind_name(out.kind), predict_kind_name(kind));
  assert_in_range(out.confidence_bps, ENOUGH, 10000);
}

static uint32_t confidence_of_change(const predictor *p) {
  uint64_t values[8];
  prediction out;
  return predictor_next_change(p, 1, values, &out) ? out.confidence_bps : 0;
}

static void nothing_is_said_about_nothing(void **state) {
  (void)state;
  predictor *p = with_values(1);
  uint64_t value;
  prediction out;
  assert_false(predictor_next(p, 1, &value, &out));
  assert_false(predictor_next_change(p, 1, &value, &out));
  see(p, 5);
  assert_true(predictor_next(p, 1, &value, &out));
  assert_int_equal(out.confidence_bps, 0);
  assert_false(predictor_next(p, 0, &value, &out));
  predictor_free(p);
  assert_null(predictor_new(PREDICT_MAX_VALUES + 1, 0));
  assert_null(predictor_new(1, PREDICT_MAX_WINDOW + 1));
  predictor_free(NULL);
}

static void repeats(void **state) {
  (void)state;
  predictor *p = with_values(1);
  for (int i = 0; i < 10; i++) see(p, 42);
  uint64_t value;
  prediction out;
  assert_true(predictor_next(p, 1, &value, &out));
  assert_int_equal(value, 42);
  assert_int_equal(out.kind, PREDICT_REPEAT);
  assert_in_range(out.confidence_bps, ENOUGH, 10000);
  // Nothing changes, so there is nothing to prepare.
  assert_false(predictor_next_change(p, 1, &value, &out));
  predictor_free(p);
}

static void arithmetic_progression(void **state) {
  (void)state;
  predictor *p = with_values(1);
  // Trusted with the eighth dispatch, which is when speculation may begin.
  for (uint64_t i = 0; i < 8; i++) {
    assert_in_range(confidence_of_change(p), 0, ENOUGH - 1);
    see(p, 1000 + 24 * i);
  }
  expect_change(p, 1, 1000 + 24 * 8, PREDICT_ARITHMETIC);
  for (uint64_t i = 8; i < 20; i++) see(p, 1000 + 24 * i);
  expect_change(p, 1, 1000 + 24 * 20, PREDICT_ARITHMETIC);
  expect_change(p, 4, 1000 + 24 * 23, PREDICT_ARITHMETIC);
  predictor_free(p);

  p = with_values(1);
  for (uint64_t i = 0; i <= 10; i++) see(p, 100 - 10 * i);
  // The next would be below zero.
  assert_in_range(confidence_of_change(p), 0, ENOUGH - 1);
  predictor_free(p);

  p = with_values(1);
  for (uint64_t i = 10; i > 0; i--) see(p, UINT64_MAX - 5 * i);
  expect_change(p, 1, UINT64_MAX, PREDICT_ARITHMETIC);
  uint64_t value;
  prediction out;
  if (predictor_next_change(p, 2, &value, &out)) assert_int_not_equal(out.kind, PREDICT_ARITHMETIC);
  predictor_free(p);
}

static void geometric_progression(void **state) {
  (void)state;
  predictor *p = with_values(1);
  for (int i = 0; i < 16; i++) see(p, UINT64_C(1) << i);
  expect_change(p, 1, 1 << 16, PREDICT_GEOMETRIC);
  expect_change(p, 3, 1 << 18, PREDICT_GEOMETRIC);
  predictor_free(p);
  p = with_values(1);
  for (int i = 40; i > 20; i--) see(p, UINT64_C(1) << i);
  expect_change(p, 1, 1 << 20, PREDICT_GEOMETRIC);
  predictor_free(p);
  p = with_values(1);
  uint64_t x = 1024;
  for (int i = 0; i < 10; i++, x = x / 2 * 3) see(p, x); // 3 to 2, for as long as it is whole
  expect_change(p, 1, x, PREDICT_GEOMETRIC);
  predictor_free(p);
}

// A matrix that grows: one number doubles, one goes by steps, one stays.
static void numbers_go_their_own_ways(void **state) {
  (void)state;
  predictor *p = with_values(3);
  uint64_t values[3], expected[3] = {1 << 14, 7, 100 + 3 * 14};
  for (uint64_t i = 0; i < 14; i++)
    predictor_observe(p, (uint64_t[]){UINT64_C(1) << i, 7, 100 + 3 * i}, false);
  prediction out;
  assert_true(predictor_next_change(p, 1, values, &out));
  assert_memory_equal(values, expected, sizeof values);
  assert_int_equal(out.kind, PREDICT_GEOMETRIC);
  assert_in_range(out.confidence_bps, ENOUGH, 10000);
  predictor_free(p);
}

static void cycles(void **state) {
  (void)state;
  static const uint64_t turn[] = {3, 90, 17, 4, 4000, 21, 5};
  for (uint32_t period = 2; period <= 7; period++) {
    predictor *p = with_values(1);
    for (uint32_t i = 0; i < 10 * period; i++) see(p, turn[i % period]);
    uint64_t value;
    prediction out;
    for (uint32_t ahead = 1; ahead <= 5; ahead++) {
      assert_true(predictor_next_change(p, ahead, &value, &out));
      assert_int_equal(value, turn[(10 * period + ahead - 1) % period]);
      assert_in_range(out.confidence_bps, ENOUGH, 10000);
    }
    predictor_free(p);
  }
}

// A long period with a key that occurs twice in it: only the cycle knows which successor is due.
static void cycles_with_a_key_that_occurs_twice(void **state) {
  (void)state;
  static const uint64_t turn[] = {1, 2, 1, 3, 9, 8};
  predictor *p = with_values(1);
  for (int i = 0; i < 50; i++) see(p, turn[i % 6]);
  for (int i = 50; i < 80; i++) {
    expect_change(p, 1, turn[i % 6], PREDICT_CYCLE);
    see(p, turn[i % 6]);
  }
  predictor_free(p);
}

static void the_most_frequent_successor(void **state) {
  (void)state;
  predictor *p = with_values(1);
  // After 1 comes 2, after 2 comes 3; what comes after 3 is open, so no period fits.
  for (int i = 0; i < 40; i++) {
    see(p, 1);
    see(p, 2);
    see(p, 3);
    see(p, 100 + random_below(1000));
  }
  see(p, 1);
  uint64_t value;
  prediction out;
  assert_true(predictor_next_change(p, 1, &value, &out));
  assert_int_equal(value, 2);
  assert_int_equal(out.kind, PREDICT_SUCCESSOR);
  predictor_free(p);
}

static void each_key_may_come_several_times(void **state) {
  (void)state;
  predictor *p = with_values(1);
  for (uint64_t i = 0; i < 12; i++)
    for (uint64_t k = 0; k < 1 + random_below(6); k++) see(p, 64 * i);
  expect_change(p, 1, 64 * 12, PREDICT_ARITHMETIC);
  expect_change(p, 2, 64 * 13, PREDICT_ARITHMETIC);
  predictor_free(p);
}

static double confident_share(uint64_t alphabet, uint32_t values, int steps) {
  predictor *p = with_values(values);
  int confident = 0;
  for (int i = 0; i < steps; i++) {
    uint64_t v[8];
    for (uint32_t k = 0; k < values; k++) v[k] = random_below(alphabet);
    predictor_observe(p, v, false);
    confident += confidence_of_change(p) >= ENOUGH;
  }
  predictor_free(p);
  return (double)confident / steps;
}

static void random_keys_are_not_predicted(void **state) {
  (void)state;
  assert_true(confident_share(UINT64_C(1) << 30, 1, 20000) == 0);
  assert_true(confident_share(1000, 1, 20000) == 0);
  assert_true(confident_share(50, 1, 20000) < 0.0001);
  assert_true(confident_share(10, 1, 20000) < 0.001);
  assert_true(confident_share(5, 1, 20000) < 0.005);
  assert_true(confident_share(3, 2, 20000) < 0.001);
}

static void a_law_that_ends_falls_silent_and_a_new_one_is_found(void **state) {
  (void)state;
  predictor *p = with_values(1);
  for (uint64_t i = 0; i < 40; i++) see(p, 10 * i);
  assert_in_range(confidence_of_change(p), ENOUGH, 10000);
  int confident = 0;
  for (int i = 0; i < 30; i++) {
    see(p, random_below(1 << 30));
    confident += confidence_of_change(p) >= ENOUGH;
  }
  assert_in_range(confident, 0, 3);
  for (uint64_t i = 0; i < 20; i++) see(p, 7000 + 8 * i);
  expect_change(p, 1, 7000 + 8 * 20, PREDICT_ARITHMETIC);
  predictor_free(p);
}

static void unused_variants_silence_and_being_right_restores(void **state) {
  (void)state;
  predictor *p = with_values(1);
  uint64_t i = 0;
  for (; i < 40; i++) see(p, 10 * i);
  uint32_t before = confidence_of_change(p);
  predictor_outcome(p, false);
  predictor_outcome(p, false);
  assert_in_range(confidence_of_change(p), 0, ENOUGH - 1);
  for (int k = 0; k < 10; k++) see(p, 10 * i++);
  assert_in_range(confidence_of_change(p), ENOUGH, before);
  for (int k = 0; k < 100; k++) predictor_outcome(p, false);
  assert_int_equal(confidence_of_change(p) >= ENOUGH, false);
  for (int k = 0; k < 100; k++) predictor_outcome(p, true);
  assert_in_range(confidence_of_change(p), before - 10, before);
  predictor_free(p);
}

static void hits_and_misses_are_counted_in_the_window(void **state) {
  (void)state;
  predictor *p = predictor_new(1, 8);
  for (uint64_t i = 0; i < 20; i++) {
    predictor_observe(p, &i, i < 15);
    assert_int_equal(predictor_seen(p), i < 8 ? i + 1 : 8);
    uint64_t expected = i < 8 ? i + 1 : i < 15 ? 8 : 8 - (i - 14);
    assert_int_equal(predictor_missed(p), expected);
  }
  predictor_free(p);
}

static void extremes_do_no_harm(void **state) {
  (void)state;
  static const uint64_t values[] = {0, UINT64_MAX, 1, UINT64_MAX - 1, UINT64_C(1) << 63, 0, 0};
  predictor *p = with_values(2);
  for (int i = 0; i < 5000; i++) {
    uint64_t v[2] = {values[random_below(7)], values[random_below(7)]}, next[2];
    predictor_observe(p, v, false);
    prediction out;
    for (uint32_t ahead = 1; ahead < 100000; ahead *= 9) {
      if (predictor_next(p, ahead, next, &out)) assert_in_range(out.confidence_bps, 0, 10000);
      if (predictor_next_change(p, ahead, next, &out))
        assert_in_range(out.confidence_bps, 0, 10000);
    }
  }
  predictor_free(p);
  p = with_values(0);
  for (int i = 0; i < 10; i++) predictor_observe(p, NULL, false);
  uint64_t none;
  prediction out;
  assert_true(predictor_next(p, 1, &none, &out));
  assert_int_equal(out.kind, PREDICT_REPEAT);
  predictor_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_said_about_nothing),
      cmocka_unit_test(repeats),
      cmocka_unit_test(arithmetic_progression),
      cmocka_unit_test(geometric_progression),
      cmocka_unit_test(numbers_go_their_own_ways),
      cmocka_unit_test(cycles),
      cmocka_unit_test(cycles_with_a_key_that_occurs_twice),
      cmocka_unit_test(the_most_frequent_successor),
      cmocka_unit_test(each_key_may_come_several_times),
      cmocka_unit_test(random_keys_are_not_predicted),
      cmocka_unit_test(a_law_that_ends_falls_silent_and_a_new_one_is_found),
      cmocka_unit_test(unused_variants_silence_and_being_right_restores),
      cmocka_unit_test(hits_and_misses_are_counted_in_the_window),
      cmocka_unit_test(extremes_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
