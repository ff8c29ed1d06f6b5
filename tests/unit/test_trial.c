// SPDX-License-Identifier: MIT
//
// Trials: medians, noise, who wins and why, and how measuring is spread.
#include "policy/trial.h"

#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 8 };

// Candidates that take the times of a table, and a log of who ran.
typedef struct fake {
  uint64_t times[MOST][TRIAL_MAX_SAMPLES + 8]; // per run after the warm-up; the last one goes on
  uint32_t runs[MOST], checks[MOST];
  int fails_at[MOST]; // the run that fails, counted from 1
  bool is_wrong[MOST];
  char log[256];
  uint32_t stop_after; // runs; 0: never
  uint32_t expected;
} fake;

static vyre_status run(void *context, uint32_t index, uint64_t *elapsed_ns, vyre_error *error) {
  fake *f = context;
  uint32_t number = ++f->runs[index];
  size_t size = strlen(f->log);
  snprintf(f->log + size, sizeof f->log - size, "%c", 'a' + (char)index);
  if ((int)number == f->fails_at[index])
    return error_set(error, VYRE_ERROR_BACKEND, "it broke. Fix: mend it");
  uint32_t at = number > 1 ? number - 2 : 0;
  if (at >= TRIAL_MAX_SAMPLES + 8) at = TRIAL_MAX_SAMPLES + 6 + at % 2;
  while (at > 0 && !f->times[index][at]) at--;
  *elapsed_ns = f->times[index][at];
  return VYRE_OK;
}

static vyre_status check(void *context, uint32_t index, vyre_error *error) {
  fake *f = context;
  f->checks[index]++;
  if (!f->is_wrong[index]) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND, "element 3 is 1, not 2. Fix: report it");
}

static bool keep_going(void *context, uint32_t done, uint32_t expected) {
  fake *f = context;
  f->expected = expected;
  return !f->stop_after || done < f->stop_after;
}

static trial_candidate candidates[MOST];

static trial_decision measure(fake *f, uint32_t count, int default_index, uint32_t max_rounds) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  memset(candidates, 0, sizeof candidates);
  for (int i = 0; i < MOST; i++) candidates[i].name = names[i];
  trial_options o = TRIAL_PLAIN;
  o.default_index = default_index;
  o.max_rounds = max_rounds;
  o.run = run;
  o.check = check;
  o.keep_going = keep_going;
  o.context = f;
  return trial_measure(candidates, count, &o);
}

static void medians_and_noise(void **state) {
  (void)state;
  assert_int_equal(trial_median(NULL, 0), 0);
  assert_int_equal(trial_noise(NULL, 0), 0);
  assert_int_equal(trial_median((uint64_t[]){5}, 1), 5);
  assert_int_equal(trial_median((uint64_t[]){9, 1, 5}, 3), 5);
  assert_int_equal(trial_median((uint64_t[]){4, 1, 3, 2}, 4), 3);
  assert_int_equal(trial_noise((uint64_t[]){5}, 1), 0);
  assert_int_equal(trial_noise((uint64_t[]){9, 1, 5}, 3), 4);
  // Of eight and more, single outliers do not count.
  assert_int_equal(trial_noise((uint64_t[]){10, 12, 10, 12, 10, 12, 1, 9000}, 8), 1);
  uint64_t many[TRIAL_MAX_SAMPLES + 10];
  for (uint32_t i = 0; i < TRIAL_MAX_SAMPLES + 10; i++) many[i] = i < 10 ? 1 : 100;
  assert_int_equal(trial_median(many, TRIAL_MAX_SAMPLES + 10), 100);
}

static void a_warm_up_and_three_interleaved_rounds(void **state) {
  (void)state;
  fake f = {.times = {{30}, {10}, {20}}};
  trial_decision d = measure(&f, 3, TRIAL_NONE, 3);
  assert_int_equal(d.winner, 1);
  assert_int_equal(d.reason, TRIAL_FASTEST);
  assert_string_equal(f.log, "abc"
                             "abccbaabc");
  assert_int_equal(f.expected, 12);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(f.checks[i], 1);
    assert_int_equal(candidates[i].sample_count, 3);
  }
  assert_int_equal(candidates[0].median_ns, 30);
}

static void ties_go_by_name(void **state) {
  (void)state;
  fake f = {.times = {{10}, {10}}};
  assert_int_equal(measure(&f, 2, TRIAL_NONE, 3).winner, 0);
  trial_candidate two[2] = {{.name = "zeta", .samples = {5}, .sample_count = 1},
                            {.name = "alpha", .samples = {5}, .sample_count = 1}};
  assert_int_equal(trial_decide(two, 2, TRIAL_NONE, 0).winner, 1);
}

static void the_default_stays_within_noise_and_margin(void **state) {
  (void)state;
  // Clearly faster.
  fake clear = {.times = {{100}, {90}}};
  trial_decision d = measure(&clear, 2, 0, 3);
  assert_int_equal(d.winner, 1);
  assert_int_equal(d.reason, TRIAL_FASTEST);
  // Faster by less than the margin of 2 %.
  fake close = {.times = {{10000}, {9801}}};
  d = measure(&close, 2, 0, 3);
  assert_int_equal(d.winner, 0);
  assert_int_equal(d.fastest, 1);
  assert_int_equal(d.reason, TRIAL_WITHIN_NOISE);
  // Faster by less than the samples scatter.
  fake noisy = {.times = {{100, 130, 100}, {80, 120, 80}}};
  d = measure(&noisy, 2, 0, 3);
  assert_int_equal(d.winner, 0);
  assert_int_equal(d.reason, TRIAL_WITHIN_NOISE);
  fake fastest = {.times = {{80}, {90}}};
  assert_int_equal(measure(&fastest, 2, 0, 3).reason, TRIAL_DEFAULT_FASTEST);
  fake alone = {.times = {{80}}};
  assert_int_equal(measure(&alone, 1, 0, 3).reason, TRIAL_ONLY_CANDIDATE);
}

static void more_rounds_settle_what_noise_hides(void **state) {
  (void)state;
  fake f = {.times = {{100, 130, 100, 100, 100, 100, 100, 100},
                      {80, 120, 80, 80, 80, 80, 80, 80},
                      {900}}};
  trial_decision d = measure(&f, 3, 0, 16);
  assert_int_equal(d.winner, 1);
  assert_int_equal(d.reason, TRIAL_FASTEST);
  assert_int_equal(candidates[2].sample_count, 3); // it cannot win, so it gets no more
  assert_int_equal(candidates[0].sample_count, 8);
  // A clear case takes no more rounds than it must.
  fake clear = {.times = {{100}, {50}}};
  measure(&clear, 2, 0, 16);
  assert_int_equal(clear.runs[0] + clear.runs[1], 8);
}

// Two of three samples fell into a busy moment; the third says that there is more to know. So for
// the default, and for another.
static void one_fast_sample_asks_for_more(void **state) {
  (void)state;
  fake f = {.times = {{13000, 13700, 14000, 13500}, {31000, 2400, 30900, 2400}}};
  trial_decision d = measure(&f, 2, 1, 9);
  assert_int_equal(d.winner, 1);
  assert_int_equal(candidates[1].median_ns, 2400);
  fake other = {.times = {{13000, 13010, 13020}, {31000, 2400, 30900, 2400}}};
  d = measure(&other, 2, 0, 9);
  assert_int_equal(d.winner, 1);
  assert_int_equal(trial_best(&candidates[0]), 13000);
  // None below the fastest's median, and far apart: no more rounds.
  fake slow = {.times = {{13000, 13001, 13002}, {31000, 29000, 30000}}};
  measure(&slow, 2, 1, 9);
  assert_int_equal(candidates[1].sample_count, 3);
}

static void failing_and_wrong_candidates_are_rejected_not_fatal(void **state) {
  (void)state;
  fake f = {.times = {{10}, {20}, {30}, {40}}, .is_wrong = {true}, .fails_at = {[1] = 1, [2] = 3}};
  trial_decision d = measure(&f, 4, 0, 3);
  assert_int_equal(d.winner, 3);
  assert_int_equal(d.reason, TRIAL_ONLY_CANDIDATE);
  assert_int_equal(f.runs[0], 0); // a wrong answer is never timed
  assert_int_equal(f.runs[1], 1);
  assert_int_equal(f.runs[2], 3);
  assert_true(candidates[0].rejected && candidates[1].rejected && candidates[2].rejected);
  assert_non_null(strstr(candidates[0].error.message, "element 3"));
  assert_non_null(strstr(candidates[2].error.message, "it broke"));
  fake none = {.is_wrong = {true, true}};
  d = measure(&none, 2, 0, 3);
  assert_int_equal(d.winner, TRIAL_NONE);
  assert_int_equal(d.reason, TRIAL_NO_CANDIDATE);
  assert_int_equal(measure(&none, 0, TRIAL_NONE, 3).winner, TRIAL_NONE);
}

static void stopping_keeps_what_is_done(void **state) {
  (void)state;
  fake f = {.times = {{30}, {10}, {20}}, .stop_after = 5};
  trial_decision d = measure(&f, 3, TRIAL_NONE, 3);
  assert_string_equal(f.log, "abcab");
  assert_int_equal(d.winner, 1);
  assert_int_equal(candidates[2].sample_count, 0);
}

static void earlier_samples_are_not_taken_again(void **state) {
  (void)state;
  fake f = {.times = {{1}, {50}, {1}}};
  trial_candidate c[3] = {{.name = "a", .samples = {40, 41, 42}, .sample_count = 3},
                          {.name = "b"},
                          {.name = "c", .samples = {70}, .sample_count = 1}};
  trial_options o = TRIAL_PLAIN;
  o.run = run;
  o.context = &f;
  trial_decision d = trial_measure(c, 3, &o);
  assert_int_equal(f.runs[0], 0);
  assert_int_equal(f.runs[1], 4);
  assert_int_equal(f.runs[2], 3);
  assert_int_equal(c[2].sample_count, 3);
  assert_int_equal(d.winner, 2);
}

static vyre_status spin(void *context, uint32_t index, uint64_t *elapsed_ns, vyre_error *error) {
  (void)context, (void)elapsed_ns, (void)error;
  volatile uint32_t x = 0;
  for (uint32_t i = 0; i < (index ? 200000u : 1u); i++) x = x + 1;
  return VYRE_OK;
}

static void a_run_that_tells_no_time_is_timed(void **state) {
  (void)state;
  trial_candidate c[2] = {{.name = "a"}, {.name = "b"}};
  trial_options o = TRIAL_PLAIN;
  o.run = spin;
  assert_int_equal(trial_measure(c, 2, &o).winner, 0);
  assert_true(c[0].median_ns > 0 && c[0].median_ns < c[1].median_ns);
}

static void samples_are_bounded(void **state) {
  (void)state;
  fake f = {.times = {{100, 300}, {99, 301}}};
  for (int i = 1; i < TRIAL_MAX_SAMPLES + 8; i++) {
    f.times[0][i] = i % 2 ? 300 : 100;
    f.times[1][i] = i % 2 ? 301 : 99;
  }
  measure(&f, 2, 0, 200);
  assert_int_equal(candidates[0].sample_count, TRIAL_MAX_SAMPLES);
  assert_int_equal(f.runs[0], 201);
}

// A candidate has room for more samples than it has: what is there does not count. Medians, noise
// and winner are the same whatever it is, where noise decides and where being apart does.
static void what_stands_behind_the_samples_does_not_count(void **state) {
  (void)state;
  static const struct {
    uint64_t samples[2][3];
    int winner;
  } cases[] = {
      {{{100, 101, 102}, {1000, 3000, 9000}}, 0}, // far apart, however they scatter
      {{{1000, 3000, 9000}, {100, 101, 102}}, 1}, // the other way round
      {{{100, 120, 140}, {135, 150, 165}}, 1},    // noise: the default stays
      {{{100, 101, 102}, {1000, 1001, 1002}}, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int behind = 0; behind < 3; behind++) {
      trial_candidate c[2] = {{.name = "a", .sample_count = 3}, {.name = "b", .sample_count = 3}};
      for (int k = 0; k < 2; k++) {
        for (int n = 3; n < TRIAL_MAX_SAMPLES; n++)
          c[k].samples[n] = behind == 0 ? 0 : behind == 1 ? 1 : UINT64_MAX;
        memcpy(c[k].samples, cases[i].samples[k], sizeof cases[i].samples[k]);
      }
      trial_decision d = trial_decide(c, 2, 1, TRIAL_MARGIN_BPS);
      if (d.winner != cases[i].winner) fail_msg("case %zu, %d: %d", i, behind, d.winner);
      for (int k = 0; k < 2; k++) assert_int_equal(c[k].median_ns, cases[i].samples[k][1]);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(medians_and_noise),
      cmocka_unit_test(a_warm_up_and_three_interleaved_rounds),
      cmocka_unit_test(ties_go_by_name),
      cmocka_unit_test(the_default_stays_within_noise_and_margin),
      cmocka_unit_test(more_rounds_settle_what_noise_hides),
      cmocka_unit_test(one_fast_sample_asks_for_more),
      cmocka_unit_test(failing_and_wrong_candidates_are_rejected_not_fatal),
      cmocka_unit_test(stopping_keeps_what_is_done),
      cmocka_unit_test(earlier_samples_are_not_taken_again),
      cmocka_unit_test(a_run_that_tells_no_time_is_timed),
      cmocka_unit_test(samples_are_bounded),
      cmocka_unit_test(what_stands_behind_the_samples_does_not_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
