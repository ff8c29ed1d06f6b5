// SPDX-License-Identifier: MIT
//
// Random programs give the same bits before and after every pass alone, and after all of them
// together. VYRE_TRIALS sets how many; each is run once as it is and once per pass that changed it.
#include "conform/compare.h"
#include "conform/generate.h"
#include "conform/idioms.h"
#include "opt/scheduler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Sanitizers make everything several times slower; the plain build has more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TRIALS = 1000 };
#else
enum { TRIALS = 3000 };
#endif

static uint32_t trial_count(void) {
  const char *setting = getenv("VYRE_TRIALS");
  return setting ? (uint32_t)strtoul(setting, NULL, 10) : TRIALS;
}

static uint32_t changes[64]; // per pass: programs that it changed

// Optimizes the trial's program with the plan and compares; fails with the text of both programs.
static void check(const trial *t, const outcome *expected, const opt_plan *plan, uint64_t seed,
                  const char *what, bool *changed) {
  vyre_program *optimized;
  vyre_error error;
  if (opt_run(t->program, plan, NULL, NULL, &optimized, &error) != VYRE_OK)
    fail_msg("seed %llu, %s: %s", (unsigned long long)seed, what, error.message);
  *changed = optimized != t->program;
  outcome found;
  difference d = {.verdict = SAME};
  if (*changed) {
    assert_true(trial_run(t, optimized, "ref", NULL, (trial_limits){2 * COMPARE_FUEL, 0}, &found));
    compare_outcomes(t, expected, &found, &d);
    outcome_fini(&found);
  }
  if (d.verdict == DIFFERENT) fail_msg("seed %llu, %s: %s", (unsigned long long)seed, what, d.text);
  vyre_program_release(optimized);
}

static void passes_keep_every_bit(void **state) {
  (void)state;
  size_t count;
  const pass *const *passes = pass_table(&count);
  uint32_t trials = trial_count();
  for (uint64_t seed = 1; seed <= trials; seed++) {
    trial t;
    outcome expected;
    generate_options options = {.seed = seed, .with_math = seed % 8 == 0};
    // Every third program has the shapes that passes look for and random ones seldom have.
    vyre_status status =
        seed % 3 ? generate_trial(&options, &t, NULL) : idioms_trial(seed, &t, NULL);
    assert_int_equal(status, VYRE_OK);
    assert_true(trial_run(&t, NULL, "ref", NULL, (trial_limits){COMPARE_FUEL, 0}, &expected));
    bool changed;
    for (size_t i = 0; i < count; i++) {
      opt_plan one = {.passes = &passes[i], .pass_count = 1, .caps = UINT32_MAX};
      check(&t, &expected, &one, seed, passes[i]->info.name, &changed);
      changes[i] += changed;
    }
    opt_plan all = {.passes = passes, .pass_count = count, .caps = UINT32_MAX};
    check(&t, &expected, &all, seed, "all passes", &changed);
    outcome_fini(&expected);
    trial_fini(&t);
  }
}

// A pass that no random program reaches is not tested by them.
static void every_pass_was_reached(void **state) {
  (void)state;
  size_t count;
  const pass *const *passes = pass_table(&count);
  for (size_t i = 0; i < count; i++) {
    printf("%-22s changed %u of %u programs\n", passes[i]->info.name, changes[i], trial_count());
    assert_true(changes[i] > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_keep_every_bit),
      cmocka_unit_test(every_pass_was_reached),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
