// SPDX-License-Identifier: MIT
//
// Time that passes when a test says so: a test that includes this header has its own clock_gettime.
// The monotonic clock and the CPU time of each thread stand still until told_spend is called, so
// that what is measured, and every decision that follows from it, is the same on a machine that is
// busy. The told time is a day ahead of the real one: nothing that waits until a time wakes up by
// itself. For one file of a test; call told_clock_begin first. After told_clock_begin_with_work the
// CPU time of the process, and of each thread, passes as well: code that is not made up takes what
// it takes, and waiting for a turn on a busy machine takes nothing.
#ifndef VYRE_TESTS_TOLD_CLOCK_H
#define VYRE_TESTS_TOLD_CLOCK_H

#include "base/clock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic(uint64_t) told_now_ns;
static _Thread_local uint64_t told_cpu_ns;
static bool told_has_work;

#pragma GCC visibility push(default)
int clock_gettime(clockid_t id, struct timespec *t) {
  uint64_t now = atomic_load(&told_now_ns);
  if (!now || (id != CLOCK_MONOTONIC && id != CLOCK_THREAD_CPUTIME_ID))
    return (int)syscall(SYS_clock_gettime, id, t);
  uint64_t ns = id == CLOCK_MONOTONIC ? now : told_cpu_ns;
  if (told_has_work) {
    clockid_t own = id == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : id;
    if (syscall(SYS_clock_gettime, own, t)) return -1;
    ns += (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
  }
  *t = (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
  return 0;
}
#pragma GCC visibility pop

static void told_clock_begin(void) {
  clock_has_counter = false; // stamps are of the clock
  atomic_store(&told_now_ns, clock_now_ns() + UINT64_C(86400000000000));
}

__attribute__((unused)) static void told_clock_begin_with_work(void) {
  told_has_work = true;
  told_clock_begin();
}

// This thread worked for so long.
static void told_spend(uint64_t ns) {
  told_cpu_ns += ns;
  atomic_fetch_add(&told_now_ns, ns);
}

#endif
