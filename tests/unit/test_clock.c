// SPDX-License-Identifier: MIT
//
// How long a thread's work takes on a machine that is busy. The system's answers are told here.
#include "../told_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>

#include <cmocka.h>

static long told_waits, told_interruptions;

#pragma GCC visibility push(default)
int getrusage(__rusage_who_t who, struct rusage *out) {
  (void)who;
  *out = (struct rusage){.ru_nvcsw = told_waits, .ru_nivcsw = told_interruptions};
  return 0;
}
#pragma GCC visibility pop

enum { WALL_NS = 900000, CPU_NS = 300000 };

static uint64_t work(long interruptions, long waits, uint64_t cpu_ns) {
  clock_use before = clock_thread_use();
  told_spend(cpu_ns);
  told_interruptions += interruptions;
  told_waits += waits;
  return clock_undisturbed_ns(WALL_NS, &before);
}

static void what_nobody_disturbed_takes_its_time(void **state) {
  (void)state;
  assert_int_equal(work(0, 0, CPU_NS), WALL_NS);
  assert_int_equal(work(0, 3, CPU_NS), WALL_NS);
}

static void what_was_interrupted_takes_its_cpu_time(void **state) {
  (void)state;
  assert_int_equal(work(1, 0, CPU_NS), CPU_NS);
  assert_int_equal(work(7, 0, 0), WALL_NS);           // the system does not say
  assert_int_equal(work(1, 0, WALL_NS + 5), WALL_NS); // clocks that differ a little
}

// Other threads did the work: this one's 9 us of CPU time were once taken for all of it.
static void what_waited_is_not_judged_by_its_cpu_time(void **state) {
  (void)state;
  assert_int_equal(work(1, 1, 9000), WALL_NS);
  assert_int_equal(work(2, 5, CPU_NS), WALL_NS);
}

// A thread that looks for the end of what others do for it does not wait, and may be interrupted.
static void what_was_helped_is_not_judged_by_its_cpu_time(void **state) {
  (void)state;
  clock_use before = clock_thread_use();
  told_spend(CPU_NS);
  told_interruptions++;
  clock_note_help();
  assert_int_equal(clock_undisturbed_ns(WALL_NS, &before), WALL_NS);
  assert_int_equal(work(1, 0, CPU_NS), CPU_NS); // help of before does not count
}

int main(void) {
  told_clock_begin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_nobody_disturbed_takes_its_time),
      cmocka_unit_test(what_was_interrupted_takes_its_cpu_time),
      cmocka_unit_test(what_waited_is_not_judged_by_its_cpu_time),
      cmocka_unit_test(what_was_helped_is_not_judged_by_its_cpu_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
