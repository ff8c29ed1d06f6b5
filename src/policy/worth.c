// SPDX-License-Identifier: MIT
#include "policy/worth.h"

double worth_next_gain(const worth *w) {
  const double AT_FIRST = 0.1;
  return (AT_FIRST + (w->gained > 0 ? w->gained : 0)) / ((double)w->evaluations + 2);
}

bool worth_evaluating(const worth *w, uint32_t share) {
  bool is_allowed = w->spent_ns + w->cost_ns <= w->use_ns / share;
  return is_allowed && worth_next_gain(w) * w->use_ns > w->cost_ns;
}
