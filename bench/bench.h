// SPDX-License-Identifier: MIT
//
// What the benchmarks share: the best of several runs, which is the one least disturbed, and lines
// that compare a figure with a bar.
#ifndef VYRE_BENCH_H
#define VYRE_BENCH_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*bench_fn)(void *context, uint64_t count);

// Nanoseconds for one of `count` repetitions, the best of `runs`.
static inline double bench_ns(bench_fn run, void *context, uint64_t count, int runs) {
  double best = 0;
  for (int i = 0; i < runs; i++) {
    uint64_t begin = clock_now_ns();
    run(context, count);
    double each = (double)(clock_now_ns() - begin) / (double)count;
    if (i == 0 || each < best) best = each;
  }
  return best;
}

// Prints a line and says whether the bar was reached.
static inline bool bench_at_most(const char *what, double value, double bar, const char *unit) {
  bool ok = value <= bar;
  printf("%-50s %10.2f %-3s  at most  %8.2f  %s\n", what, value, unit, bar, ok ? "ok" : "MISSED");
  return ok;
}

static inline bool bench_at_least(const char *what, double value, double bar, const char *unit) {
  bool ok = value >= bar;
  printf("%-50s %10.2f %-3s  at least %8.2f  %s\n", what, value, unit, bar, ok ? "ok" : "MISSED");
  return ok;
}

// A time beside the same one of the original: how many times faster, and whether that is enough.
// `factor` 0: only told.
static inline bool bench_faster(const char *what, double ns, double original_ns, double factor) {
  double times = original_ns / ns;
  bool ok = times >= factor;
  printf("%-50s %10.1f ns, original %10.1f ns: %8.1f times faster", what, ns, original_ns, times);
  if (factor > 0) printf(", bar %g  %s", factor, ok ? "ok" : "MISSED");
  putchar('\n');
  return ok;
}

#endif
