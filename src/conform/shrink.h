// SPDX-License-Identifier: MIT
//
// Delta debugging: makes a failing trial as small as it gets while it still fails. The trial is
// replaced by smaller ones step by step, so that stopping early leaves a valid, failing one. One
// thread at a time.
#ifndef VYRE_CONFORM_SHRINK_H
#define VYRE_CONFORM_SHRINK_H

#include "conform/compare.h"

// Whether the trial still fails.
typedef bool (*shrink_check)(void *context, const trial *t);

typedef struct shrink_limits {
  uint32_t checks;      // 0: 4000
  uint64_t deadline_ns; // of clock_now_ns; 0: none
} shrink_limits;

// Returns how many checks it took.
uint32_t shrink_trial(trial *t, shrink_check check, void *context, shrink_limits limits);

// Shrinks a trial on which a backend differs from ref. What it arrives at is free of data races,
// runs to its end on ref, and still differs; `out` says how. False when it did not differ.
bool shrink_difference(trial *t, const char *backend, const vyre_compile_options *options,
                       shrink_limits limits, difference *out);

// The same for any way to compare; it gives false when out of memory.
typedef bool (*shrink_compare)(void *context, const trial *t, difference *out);
bool shrink_compared(trial *t, shrink_compare compare, void *context, shrink_limits limits,
                     difference *out);

#endif
