// SPDX-License-Identifier: MIT
//
// Time. Monotonic nanoseconds for durations, wall-clock seconds for dates in files. Any thread.
#ifndef VYRE_BASE_CLOCK_H
#define VYRE_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

uint64_t clock_now_ns(void);        // monotonic
uint64_t clock_thread_cpu_ns(void); // CPU time of this thread
int64_t clock_unix_seconds(void);

// What this thread has used of the CPU, how often it was taken away from it, how often it gave it
// away to wait for something, and how often others did a part of its work.
typedef struct clock_use {
  uint64_t cpu_ns;
  uint64_t interruptions, waits, helps;
} clock_use;
clock_use clock_thread_use(void);
// Others did a part of this thread's work, whether it slept meanwhile or not.
void clock_note_help(void);
// How long a thread's work takes that took `wall_ns` since `before`: the CPU time when others took
// the CPU meanwhile, the time itself otherwise. Of a thread that waited or was helped its CPU time
// says nothing.
uint64_t clock_undisturbed_ns(uint64_t wall_ns, const clock_use *before);

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

// For short durations: a stamp costs less than half of what the clock does, where the CPU has a
// counter of constant rate, and is the clock elsewhere. Stamps are compared with one another only.
extern bool clock_has_counter; // set before main
static inline uint64_t clock_stamp(void) {
#if defined(__x86_64__)
  if (clock_has_counter) return __builtin_ia32_rdtsc();
#endif
  return clock_now_ns();
}
// Nanoseconds from one stamp to another; 0 when a clock went backwards between CPUs.
uint64_t clock_between_ns(uint64_t from, uint64_t to);

#endif
