// SPDX-License-Identifier: MIT
//
// Time. Monotonic nanoseconds for durations, wall-clock seconds for dates in files. Any thread.
#ifndef VYRE_BASE_CLOCK_H
#define VYRE_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_now_ns(void);        // monotonic
uint64_t clock_thread_cpu_ns(void); // CPU time of this thread
int64_t clock_unix_seconds(void);

// A counter that all CPUs share and that costs less to read than the clock: it orders events, its
// unit is unspecified. Two reads may be equal, and reads on two CPUs may be off by a few ticks.
static inline uint64_t clock_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return clock_now_ns();
#endif
}

#endif
