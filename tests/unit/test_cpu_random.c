// SPDX-License-Identifier: MIT
//
// Random programs on the CPU backend beside the reference, at several widths, tiers and thread
// counts. VYRE_TRIALS sets how many (CI runs many more than a developer waits for), VYRE_SEED where
// they start. A failure is shrunk, and the smallest program that still fails is printed.
#include "base/clock.h"
#include "conform/generate.h"
#include "conform/idioms.h"
#include "conform/shrink.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

static uint64_t number_from(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void report(trial *t, uint64_t seed, const vyre_compile_options *o) {
  difference d;
  char *text = NULL;
  size_t size;
  shrink_limits limits = {.deadline_ns = clock_now_ns() + 60000000000u};
  shrink_difference(t, "cpu", o, limits, &d);
  vyre_program_print(t->program, &text, &size, NULL);
  fail_msg("seed %llu, width %u, tier %d, threads %u: %s\n%s", (unsigned long long)seed,
           o->vector_width, (int)o->tier, o->threads, d.text, text ? text : "");
}

static void test_random_programs(void **state) {
  (void)state;
  static const uint32_t widths[] = {8, 1, 4, 16, 32, 0}, threads[] = {1, 2, 7};
  uint64_t first = number_from("VYRE_SEED", 0), count = number_from("VYRE_TRIALS", 120);
  for (uint64_t seed = first; seed < first + count; seed++) {
    vyre_error error;
    generate_options options = {.seed = seed, .with_math = seed % 8 == 3};
    trial t;
    vyre_status status =
        seed % 3 ? generate_trial(&options, &t, &error) : idioms_trial(seed, &t, &error);
    assert_int_equal(status, VYRE_OK);
    vyre_compile_options o = {.vector_width = widths[seed / 3 % 6],
                              .threads = threads[seed / 18 % 3],
                              .tier = seed / 54 % 2 ? VYRE_TIER_QUICK : VYRE_TIER_FULL};
    difference d;
    assert_true(compare_run(&t, NULL, "cpu", &o, &d));
    if (d.verdict == DIFFERENT) report(&t, seed, &o);
    trial_fini(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
