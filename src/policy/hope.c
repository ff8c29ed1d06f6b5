// SPDX-License-Identifier: MIT
#include "policy/hope.h"

static double least(double a, double b) {
  if (a <= 0 || b <= 0) return a > 0 ? a : b;
  return a < b ? a : b;
}

// A machine that was slow was so for all of a trial: what one took of the other's time still holds.
static double compared_ns(const hope *h) {
  return h->usual_trial_ns > 0 ? h->usual_ns * h->trial_ns / h->usual_trial_ns : 0;
}

double hope_least_ns(const hope *h) {
  double ns = least(h->expected_ns, h->best_ns);
  ns = least(ns, h->prior_best_ns);
  ns = least(ns, h->trial_best_ns);
  return least(ns, compared_ns(h));
}
