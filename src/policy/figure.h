// SPDX-License-Identifier: MIT
//
// The running figure of one way to run something: how often it ran, the mean and variance of its
// time, and a change test beside them. Times are looked at by their logarithm, so that a kernel of
// a microsecond and one of a second are judged alike; a single sample counts for at most a factor
// of four, so that one page fault is no change, and a few in a row are. A plain value that its
// holder owns; pure functions, any thread.
#ifndef VYRE_POLICY_FIGURE_H
#define VYRE_POLICY_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

enum {
  FIGURE_RECENT = 8, // the latest samples, for what is run too seldom for a mean
  FIGURE_ENOUGH = 3, // below this many samples nothing is decided
};

typedef struct figure {
  uint64_t count;  // since the last change
  double mean, m2; // of ns: Welford's running mean and sum of squared differences
  double log_mean; // of the binary logarithm, of samples before the test's drift
  double up, down; // Page and Hinkley's sums, for slower and for faster
  uint64_t recent[FIGURE_RECENT];
  double best_ns; // the best settled mean ever seen, also before changes; 0: none
} figure;

// Adds a sample. True when the times have changed: the figure has begun anew then, with the samples
// that showed it.
bool figure_add(figure *f, uint64_t ns);

// What one more run is expected to take: the mean when it is settled, the median of the latest few
// otherwise. 0: nothing is known.
double figure_expected_ns(const figure *f);
// The standard deviation.
double figure_spread_ns(const figure *f);
// How far off the expectation may be: the standard error of the mean.
double figure_error_ns(const figure *f);

// Whether `a` is faster than `b` by more than a share (in basis points) and more than both errors.
bool figure_is_faster(const figure *a, const figure *b, uint32_t margin_bps);

#endif
