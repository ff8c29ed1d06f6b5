// SPDX-License-Identifier: MIT
//
// Searches: what every strategy promises, and that the one that learns does.
#include "base/random.h"
#include "policy/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Four parameters of eight values, 4,096 configurations.
static space make_space(void) {
  space s = {0};
  vyre_error error;
  static const char *const names[] = {"a", "b", "c", "d"};
  for (uint32_t p = 0; p < 4; p++) {
    assert_int_equal(space_add_param(&s, names[p], 1, &error), VYRE_OK);
    for (uint32_t v = 1; v <= 8; v++) {
      char text[8];
      uint32_t index;
      int size = snprintf(text, sizeof text, "%u", v);
      assert_int_equal(space_add_value(&s, p, text, (size_t)size, &index, &error), VYRE_OK);
    }
  }
  assert_int_equal(space_enumerate(&s, NULL, 0, NULL, NULL, &error), VYRE_OK);
  return s;
}

// A valley with a step, and a corner that fails.
static double time_of(const space *s, uint32_t config) {
  const uint16_t *r = space_row(s, config);
  if (r[0] == 7 && r[1] == 7) return (double)NAN;
  double x = r[0] - 5.0, y = r[1] - 2.0, z = r[2] % 2 ? 3 : 0, w = r[3];
  return 1 + x * x + 0.5 * (x + y) * (x + y) + z + 0.1 * w;
}

static double least(const space *s) {
  double best = HUGE_VAL;
  for (uint32_t i = 0; i < s->count; i++) best = fmin(best, time_of(s, i));
  return best;
}

// The best after so many evaluations, and a hash of what was asked.
static double run(const space *s, const search_options *o, uint32_t evaluations, uint64_t *trace) {
  search *it = search_new(s, o);
  uint32_t config, best;
  double time = 0;
  bool *seen = calloc(s->count, sizeof *seen);
  *trace = 0;
  assert_non_null(it);
  for (uint32_t i = 0; i < evaluations && search_ask(it, &config); i++) {
    assert_in_range(config, 0, s->count - 1);
    assert_false(seen[config]);
    seen[config] = true;
    *trace = *trace * 31 + config;
    search_tell(it, config, time_of(s, config));
  }
  assert_true(search_best(it, &best, &time));
  assert_true(time == time_of(s, best));
  search_free(it);
  free(seen);
  return time;
}

static void each_is_asked_once_and_a_seed_repeats(void **state) {
  (void)state;
  space s = make_space();
  for (int k = 0; k < SEARCH_STRATEGIES; k++) {
    uint64_t first, again, other;
    search_options o = {.strategy = (search_strategy)k, .seed = 7};
    double a = run(&s, &o, 60, &first), b = run(&s, &o, 60, &again);
    assert_true(a == b);
    assert_int_equal(first, again);
    o.seed = 8;
    (void)run(&s, &o, 60, &other);
    if (k == SEARCH_EXHAUSTIVE)
      assert_int_equal(first, other);
    else
      assert_int_not_equal(first, other);
  }
  space_fini(&s);
}

static void all_are_asked_in_the_end(void **state) {
  (void)state;
  space s = {0};
  vyre_error error;
  uint32_t index;
  static const char *const values[] = {"1", "2", "3"};
  for (uint32_t p = 0; p < 2; p++) {
    assert_int_equal(space_add_param(&s, p ? "y" : "x", 1, &error), VYRE_OK);
    for (int v = 0; v < 3; v++)
      assert_int_equal(space_add_value(&s, p, values[v], 1, &index, &error), VYRE_OK);
  }
  assert_int_equal(space_enumerate(&s, NULL, 0, NULL, NULL, &error), VYRE_OK);
  for (int k = 0; k < SEARCH_STRATEGIES; k++) {
    search *it = search_new(&s, &(search_options){.strategy = (search_strategy)k});
    uint32_t config, count = 0;
    double time;
    assert_non_null(search_strategy_name((search_strategy)k));
    assert_false(search_best(it, &config, &time));
    // All times are the same, or have failed: that is no reason to stop, or to ask twice.
    for (; search_ask(it, &config); count++) search_tell(it, config, k % 2 ? 5 : (double)NAN);
    assert_int_equal(count, 9);
    search_free(it);
  }
  assert_null(search_strategy_name(SEARCH_STRATEGIES));
  space_fini(&s);
}

// What random search finds after 60 the model has after 25, in the mean over seeds.
static void the_model_learns(void **state) {
  (void)state;
  space s = make_space();
  double best = least(&s), model = 0, chance = 0;
  uint64_t trace;
  enum { SEEDS = 10 };
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    model += best / run(&s, &(search_options){.seed = seed}, 25, &trace) / SEEDS;
    chance += best /
              run(&s, &(search_options){.strategy = SEARCH_RANDOM, .seed = seed}, 60, &trace) /
              SEEDS;
  }
  if (model < chance + 0.05) fail_msg("model %g, random %g", model, chance);
  space_fini(&s);
}

// Times from elsewhere that are right bring it there at once; wrong ones cost a little.
static void times_from_elsewhere_come_first(void **state) {
  (void)state;
  space s = make_space();
  double *right = malloc(s.count * sizeof *right), *wrong = malloc(s.count * sizeof *wrong);
  uint64_t trace;
  double best = least(&s);
  for (uint32_t i = 0; i < s.count; i++) {
    right[i] = 100 * time_of(&s, i);
    wrong[i] = isnan(right[i]) ? 1 : 1 / right[i];
  }
  search_options o = {.seed = 3, .priors = {right}, .prior_count = 1};
  assert_true(run(&s, &o, 1, &trace) == best);
  o.priors[0] = wrong;
  assert_true(best / run(&s, &o, 60, &trace) > 0.9);
  free(right);
  free(wrong);
  space_fini(&s);
}

// More than the process holds: it goes on with the best and the latest.
static void hundreds_are_told(void **state) {
  (void)state;
  space s = make_space();
  uint64_t trace;
  assert_true(run(&s, &(search_options){.seed = 1}, 420, &trace) == least(&s));
  space_fini(&s);
}

static void what_was_known_is_not_asked(void **state) {
  (void)state;
  space s = make_space();
  search *it = search_new(&s, &(search_options){.strategy = SEARCH_EXHAUSTIVE});
  uint32_t config = 0;
  double time;
  search_tell(it, 0, 2.5);
  assert_true(search_best(it, &config, &time));
  assert_true(config == 0 && time == 2.5);
  assert_true(search_ask(it, &config));
  assert_int_equal(config, 1);
  search_free(it);
  space_fini(&s);
}

static void what_matters_is_told_apart(void **state) {
  (void)state;
  space s = make_space();
  double importance[SPACE_PARAMS];
  search *it = search_new(&s, &(search_options){.strategy = SEARCH_RANDOM});
  uint32_t config;
  for (int i = 0; i < 1000 && search_ask(it, &config); i++)
    search_tell(it, config, exp((double)space_row(&s, config)[2]));
  search_importance(it, importance);
  assert_true(importance[2] > 0.999);
  assert_true(importance[0] < 0.05 && importance[1] < 0.05 && importance[3] < 0.05);
  search_free(it);
  space_fini(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_is_asked_once_and_a_seed_repeats),
      cmocka_unit_test(all_are_asked_in_the_end),
      cmocka_unit_test(the_model_learns),
      cmocka_unit_test(times_from_elsewhere_come_first),
      cmocka_unit_test(hundreds_are_told),
      cmocka_unit_test(what_was_known_is_not_asked),
      cmocka_unit_test(what_matters_is_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
