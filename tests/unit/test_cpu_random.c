// SPDX-License-Identifier: MIT
//
// The first random programs of tests/random-cpu on the CPU backend beside the reference, in a
// process of their own, because what they look for may end it.
#include "conform/isolate.h"
#include "conform/sweep.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

enum { PROGRAMS = 120, WAIT_MS = 250000 };

typedef struct progress {
  uint64_t seed;
  difference d;
} progress;

static void run_programs(void *context) {
  progress *p = context;
  for (; p->seed < PROGRAMS; p->seed++) {
    sweep_case c;
    if (sweep_make(&(sweep_options){.seed = p->seed, .has_shapes = true}, &c, NULL) != VYRE_OK ||
        !sweep_compare(&c.trial, &c.how, &p->d))
      abort();
    if (p->d.verdict == DIFFERENT) return;
    trial_fini(&c.trial);
  }
}

static void test_random_programs(void **state) {
  (void)state;
  char text[400] = "";
  progress *p = isolate_share(sizeof *p);
  assert_non_null(p);
  isolate_end end = isolate_run(run_programs, p, WAIT_MS, text, sizeof text);
  if (end != ISOLATE_DONE || p->seed < PROGRAMS)
    fail_msg("seed %llu: %s. Fix: see `random_cpu --seed %llu --count 1`",
             (unsigned long long)p->seed, end == ISOLATE_DONE ? p->d.text : text,
             (unsigned long long)p->seed);
  isolate_unshare(p, sizeof *p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
