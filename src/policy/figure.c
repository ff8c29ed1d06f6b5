// SPDX-License-Identifier: MIT
//
// Page and Hinkley's test: each sample adds its distance from the mean, less a tolerated drift, to
// a sum that never falls below zero; when the sum passes a threshold, what is measured has changed.
// Two sums watch both directions. The numbers below are binary logarithms: with a drift of 0.15 a
// lasting change of 11 % is never acted upon, one of 25 % after some thirty samples, one of four
// times after four.
#include "policy/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DRIFT = 0.15, THRESHOLD = 6.5, CLAMP = 2;
// Before the test begins: the first runs of anything are slow.
enum { SETTLED = 8 };

static void push_recent(figure *f, uint64_t ns) {
  memmove(f->recent + 1, f->recent, (FIGURE_RECENT - 1) * sizeof *f->recent);
  f->recent[0] = ns;
}

static void add_sample(figure *f, double ns) {
  double delta = ns - f->mean;
  f->count++;
  f->mean += delta / (double)f->count;
  f->m2 += delta * (ns - f->mean);
}

static double clamp(double x) {
  return x > CLAMP ? CLAMP : x < -CLAMP ? -CLAMP : x;
}

// A single sample counts for at most a factor of four in the mean too: where a run takes less than
// a microsecond, one in a thousand that was interrupted for a millisecond would be all of it.
static double counted(const figure *f, uint64_t ns) {
  double most = exp2(f->log_mean + CLAMP);
  return f->count >= SETTLED && (double)ns > most ? most : (double)ns;
}

// Those that showed the change are the first of what comes after it.
static void begin_anew(figure *f, int samples) {
  double best = f->best_ns;
  if (f->count > SETTLED + FIGURE_ENOUGH && (best == 0 || f->mean < best)) best = f->mean;
  figure fresh = {.best_ns = best};
  for (int i = samples - 1; i >= 0; i--) {
    add_sample(&fresh, (double)f->recent[i]);
    push_recent(&fresh, f->recent[i]);
  }
  fresh.log_mean = log2(fresh.mean + 1);
  *f = fresh;
}

// Too few to test, but two in a row are twice off, and in the same direction.
static bool is_off_twice(const figure *f, double distance) {
  if (f->count < 2 || f->count >= SETTLED) return false;
  double before = log2((double)f->recent[1] + 1) - f->log_mean;
  return (distance > 1 && before > 0.7) || (distance < -1 && before < -0.7);
}

bool figure_add(figure *f, uint64_t ns) {
  double level = log2((double)ns + 1);
  push_recent(f, ns);
  if (f->count == 0) f->log_mean = level;
  double distance = clamp(level - f->log_mean);
  if (is_off_twice(f, distance)) {
    begin_anew(f, 2);
    return false; // nothing was settled that could have changed
  }
  if (f->count >= SETTLED) {
    f->up = fmax(0, f->up + distance - DRIFT);
    f->down = fmax(0, f->down - distance - DRIFT);
    if (f->up > THRESHOLD || f->down > THRESHOLD) {
      begin_anew(f, FIGURE_ENOUGH);
      return true;
    }
  }
  double ns_counted = counted(f, ns);
  // The mean of the logarithm follows slowly once it is settled, so that it is the past's.
  f->log_mean += distance / (f->count < 64 ? (double)f->count + 1 : 64);
  add_sample(f, ns_counted);
  // A mean over many samples is weighed down no further: old times count less and less.
  if (f->count > 4096) {
    f->count /= 2;
    f->m2 /= 2;
  }
  if (f->count >= SETTLED && (f->best_ns == 0 || f->mean < f->best_ns)) f->best_ns = f->mean;
  return false;
}

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

double figure_expected_ns(const figure *f) {
  uint64_t order[FIGURE_RECENT];
  if (f->count >= FIGURE_RECENT) return f->mean;
  uint32_t count = (uint32_t)f->count;
  if (!count) return 0;
  memcpy(order, f->recent, count * sizeof *order);
  qsort(order, count, sizeof *order, by_size);
  return (double)order[(count - 1) / 2];
}

double figure_spread_ns(const figure *f) {
  return f->count > 1 ? sqrt(f->m2 / (double)(f->count - 1)) : 0;
}

double figure_error_ns(const figure *f) {
  return f->count ? figure_spread_ns(f) / sqrt((double)f->count) : 0;
}

bool figure_is_faster(const figure *a, const figure *b, uint32_t margin_bps) {
  if (a->count < FIGURE_ENOUGH || b->count < FIGURE_ENOUGH) return false;
  double gain = figure_expected_ns(b) - figure_expected_ns(a);
  return gain > figure_expected_ns(b) * margin_bps / 10000.0 &&
         gain > figure_error_ns(a) + figure_error_ns(b);
}
