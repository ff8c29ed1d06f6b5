// SPDX-License-Identifier: MIT
#include "base/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdatomic.h>

#include <sys/resource.h>
#include <time.h>

static uint64_t read_ns(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_now_ns(void) {
  return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_thread_cpu_ns(void) {
  return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static _Thread_local uint64_t helps;

void clock_note_help(void) {
  helps++;
}

clock_use clock_thread_use(void) {
  struct rusage use;
  if (getrusage(RUSAGE_THREAD, &use)) return (clock_use){0};
  return (clock_use){clock_thread_cpu_ns(), (uint64_t)use.ru_nivcsw, (uint64_t)use.ru_nvcsw, helps};
}

uint64_t clock_undisturbed_ns(uint64_t wall_ns, const clock_use *before) {
  clock_use now = clock_thread_use();
  uint64_t cpu_ns = now.cpu_ns - before->cpu_ns;
  bool is_alone = now.waits == before->waits && now.helps == before->helps;
  bool is_disturbed = now.interruptions != before->interruptions && is_alone;
  return is_disturbed && cpu_ns && cpu_ns < wall_ns ? cpu_ns : wall_ns;
}

int64_t clock_unix_seconds(void) {
  return (int64_t)time(NULL);
}

// ---- stamps -------------------------------------------------------------------------------------

bool clock_has_counter;

#if defined(__x86_64__)
__extension__ typedef unsigned __int128 wide;

// Both at once, when the library was loaded; the longer ago, the better the rate is known.
static uint64_t first_stamp, first_ns;
static _Atomic(uint64_t) rate; // nanoseconds per tick, times 2^32; 0: not known yet

__attribute__((constructor)) static void find_counter(void) {
  unsigned a, b, c, d = 0;
  if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8)) return; // constant, never stops
  first_ns = clock_now_ns();
  first_stamp = __builtin_ia32_rdtsc();
  clock_has_counter = true;
}

// The two are read within some 50 ns of one another: after 5 ms that is one part in 100,000.
static uint64_t find_rate(void) {
  enum { LONG_ENOUGH = 5000000 };
  uint64_t ns = clock_now_ns() - first_ns, ticks = __builtin_ia32_rdtsc() - first_stamp;
  uint64_t found = ticks ? (uint64_t)(((wide)ns << 32) / ticks) : 0;
  if (ns >= LONG_ENOUGH) atomic_store_explicit(&rate, found, memory_order_relaxed);
  return found;
}

uint64_t clock_between_ns(uint64_t from, uint64_t to) {
  if (to < from) return 0;
  if (!clock_has_counter) return to - from;
  uint64_t known = atomic_load_explicit(&rate, memory_order_relaxed);
  if (!known) known = find_rate();
  return (uint64_t)((wide)(to - from) * known >> 32);
}
#else
uint64_t clock_between_ns(uint64_t from, uint64_t to) {
  return to < from ? 0 : to - from;
}
#endif
