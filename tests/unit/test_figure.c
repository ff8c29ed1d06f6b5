// SPDX-License-Identifier: MIT
//
// Running figures: mean and variance are right, a lasting change is found soon, and a disturbance
// is none. The cost model finds what the time depends on, and says little where it knows little.
#include "policy/figure.h"
#include "policy/model.h"
#include "policy/variant_name.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint32_t state;
static double random01(void) {
  state = state * 1664525u + 1013904223u;
  return (double)(state >> 8) / 16777216.0;
}

// About `ns`, with a spread of 5 % and a long tail.
static uint64_t sample(double ns) {
  double noise = 1 + 0.05 * (random01() + random01() - 1);
  return (uint64_t)(ns * noise * (random01() < 0.02 ? 5 : 1));
}

static int samples_until_change(figure *f, double ns, int most) {
  for (int i = 1; i <= most; i++)
    if (figure_add(f, sample(ns))) return i;
  return 0;
}

static void means_and_spreads_are_exact(void **unused) {
  (void)unused;
  figure f = {0};
  assert_true(figure_expected_ns(&f) == 0);
  const uint64_t ns[] = {100, 102, 98, 101, 99, 100, 103, 97, 100, 100};
  for (int i = 0; i < 10; i++) assert_false(figure_add(&f, ns[i]));
  assert_int_equal(f.count, 10);
  assert_true(fabs(figure_expected_ns(&f) - 100) < 1e-9);
  assert_true(fabs(figure_spread_ns(&f) - sqrt(28.0 / 9)) < 1e-9);
}

static void few_samples_give_their_median(void **unused) {
  (void)unused;
  figure f = {0};
  figure_add(&f, 100);
  figure_add(&f, 110);
  figure_add(&f, 109);
  assert_true(figure_expected_ns(&f) == 109);
}

static void noise_is_no_change(void **unused) {
  (void)unused;
  for (state = 1; state < 40; state++) {
    figure f = {0};
    uint32_t seed = state;
    if (samples_until_change(&f, 20000, 5000)) fail_msg("seed %u", seed);
    state = seed;
  }
}

static void changes_are_found(void **unused) {
  (void)unused;
  static const struct {
    double factor;
    int within;
  } cases[] = {{100, 5}, {4, 5}, {2, 12}, {1.3, 60}, {0.5, 12}, {0.1, 5}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    state = 7;
    figure f = {0};
    assert_int_equal(samples_until_change(&f, 50000, 400), 0);
    int found = samples_until_change(&f, 50000 * cases[i].factor, cases[i].within);
    if (!found) fail_msg("a factor of %g was not found", cases[i].factor);
    // The figure is about what is now.
    for (int n = 0; n < 20; n++) figure_add(&f, sample(50000 * cases[i].factor));
    double now = figure_expected_ns(&f) / (50000 * cases[i].factor);
    if (now < 0.6 || now > 1.8) fail_msg("a factor of %g: %g", cases[i].factor, now);
  }
}

// Each sample far off counts 2 less a drift of 0.15, and above 6.5 it is a change: the fourth from
// the eighth sample on, which is when a figure is settled.
static void changes_are_found_by_the_fourth(void **unused) {
  (void)unused;
  for (int settled = 7; settled < 70; settled++)
    for (int slower = 0; slower < 2; slower++) {
      figure f = {0};
      for (int n = 0; n < settled; n++) assert_false(figure_add(&f, 100000));
      int found = 1;
      while (!figure_add(&f, slower ? 100000000 : 100) && found < 20) found++;
      assert_int_equal(found, settled < 8 ? 5 : 4);
      assert_int_equal(f.count, FIGURE_ENOUGH); // it begins anew with those that showed it
    }
}

// What is run too seldom to have settled is believed after two that agree.
static void seldom_runs_are_judged_by_the_latest(void **unused) {
  (void)unused;
  figure f = {0};
  for (int i = 0; i < 4; i++) figure_add(&f, 10000000);
  for (int i = 0; i < 3; i++) figure_add(&f, 100000);
  assert_true(figure_expected_ns(&f) == 100000);
  assert_true(figure_error_ns(&f) == 0);
}

static void faster_is_more_than_noise_and_margin(void **unused) {
  (void)unused;
  figure a = {0}, b = {0}, few = {0};
  for (int i = 0; i < 50; i++) {
    figure_add(&a, 1000 + (uint64_t)(i % 5));
    figure_add(&b, 1100 + (uint64_t)(i % 5));
  }
  figure_add(&few, 1);
  assert_true(figure_is_faster(&a, &b, 300));
  assert_false(figure_is_faster(&a, &b, 2000));
  assert_false(figure_is_faster(&b, &a, 0));
  assert_false(figure_is_faster(&few, &b, 0));
}

// ---- the model ----------------------------------------------------------------------------------

static model_point point(double bytes, double n, double ns) {
  return (model_point){{log2(bytes), log2(n)}, log2(ns), 1};
}

static void the_model_finds_what_matters(void **unused) {
  (void)unused;
  // The time is 2 ns per byte and round of a loop of n.
  model_point points[12];
  for (int i = 0; i < 12; i++) {
    double bytes = 1024 << i % 4, n = 4 << i / 4;
    points[i] = point(bytes, n, 2 * bytes * n);
  }
  model m = model_fit(points, 12);
  double asked[MODEL_FEATURES] = {log2(65536), log2(256)};
  double ratio = exp2(model_predict(&m, asked)) / (2.0 * 65536 * 256);
  assert_true(ratio > 0.5 && ratio < 2);
  assert_true(m.error < 0.2);
}

static void the_model_says_little_where_it_knows_little(void **unused) {
  (void)unused;
  model none = model_fit(NULL, 0);
  assert_int_equal(none.point_count, 0);
  model_point one = point(4096, 16, 5000);
  model m = model_fit(&one, 1);
  double asked[MODEL_FEATURES] = {log2(1 << 20), log2(1024)};
  assert_true(fabs(exp2(model_predict(&m, asked)) - 5000) < 1);
  // The same point twice, with different times: the mean of both.
  model_point two[] = {point(4096, 16, 4000), point(4096, 16, 16000)};
  m = model_fit(two, 2);
  assert_true(fabs(exp2(model_predict(&m, two[0].features)) - 8000) < 1);
}

// ---- names --------------------------------------------------------------------------------------

static void names_of_variants_are_read_as_they_are_written(void **unused) {
  (void)unused;
  static const variant_name names[] = {
      {.backend = "cpu", .tier = VYRE_TIER_QUICK},
      {.backend = "cpu", .passes = PASSES_RELEASE, .digest = 0x3fa29c1b, .shape = {8, 8, 1}},
      {.backend = "opencl", .passes = PASSES_MEGAKERNEL, .digest = 1},
      {.backend = "cpu", .passes = PASSES_DATAFLOW, .digest = 0xffffffff, .constants = 0xabc},
      {.backend = "cpu", .passes = PASSES_RELEASE, .configuration = "TILE=8 UNROLL=2"},
      {.backend = "cpu", .constants = 7, .shape = {1, 2, 3}, .configuration = "A=-1.5e-3"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char text[VARIANT_TEXT], backend[VARIANT_TEXT], again[VARIANT_TEXT];
    variant_name read;
    variant_name_format(&names[i], text);
    if (!variant_name_parse(text, backend, &read)) fail_msg("%s", text);
    variant_name_format(&read, again);
    assert_string_equal(text, again);
    assert_string_equal(names[i].configuration, read.configuration);
    assert_int_equal(names[i].constants, read.constants);
  }
  static const char *const wrong[] = {"",
                                      "cpu",
                                      "cpu full release",
                                      "cpu slow release as-declared",
                                      "cpu full best as-declared",
                                      "cpu full release.zz as-declared",
                                      "cpu full release 8x8",
                                      "cpu full release eight"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char backend[VARIANT_TEXT];
    variant_name read;
    if (variant_name_parse(wrong[i], backend, &read)) fail_msg("%s", wrong[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_and_spreads_are_exact),
      cmocka_unit_test(few_samples_give_their_median),
      cmocka_unit_test(noise_is_no_change),
      cmocka_unit_test(changes_are_found),
      cmocka_unit_test(changes_are_found_by_the_fourth),
      cmocka_unit_test(seldom_runs_are_judged_by_the_latest),
      cmocka_unit_test(faster_is_more_than_noise_and_margin),
      cmocka_unit_test(the_model_finds_what_matters),
      cmocka_unit_test(the_model_says_little_where_it_knows_little),
      cmocka_unit_test(names_of_variants_are_read_as_they_are_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
