// SPDX-License-Identifier: MIT
//
// Runs a piece of work again and again while memory runs out at its first allocation, its second,
// and so on, alone and with all that follow. Whatever fails, the work gives back all it took. For
// one file of a test, one thread, as tests/failing_malloc.h.
#ifndef VYRE_TESTS_MEMORY_SWEEP_H
#define VYRE_TESTS_MEMORY_SWEEP_H

#include "failing_malloc.h"

// Once with all the memory it wants, so that what is made once per process is there; then from
// allocation to allocation, or over `step` of them. It must have made more than `at_least` of them.
static inline void memory_sweep_by(void (*work)(void), long at_least, long step) {
#if FAILING_MALLOC
  work();
  for (int fail_all = 0; fail_all < 2; fail_all++) {
    long at = 1 - step;
    do {
      memory_arm(at += step, fail_all);
      work();
      memory_disarm();
      if (memory.held) fail_msg("%ld blocks are lost when allocation %ld fails", memory.held, at);
    } while (memory.calls >= at);
    assert_true(at > at_least);
  }
#else
  (void)at_least, (void)step;
  work(); // the sanitizer has its own malloc: it sees whether anything is lost when nothing fails
#endif
}

static inline void memory_sweep(void (*work)(void), long at_least) {
  memory_sweep_by(work, at_least, 1);
}

#endif
