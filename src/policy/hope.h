// SPDX-License-Identifier: MIT
//
// The least that a way to run something may take, from all that is known of it: who may be faster
// than the usual one is worth a try, however slow it was when the machine was busy. A pure
// function, any thread.
#ifndef VYRE_POLICY_HOPE_H
#define VYRE_POLICY_HOPE_H

// Nanoseconds; 0: not known.
typedef struct hope {
  double expected_ns;    // what one more run is expected to take
  double best_ns;        // what it took at its best
  double prior_best_ns;  // likewise, in earlier processes
  double trial_best_ns;  // its best sample of a trial
  double trial_ns;       // its median of a trial
  double usual_trial_ns; // the usual one's median of the same trial
  double usual_ns;       // what the usual one takes now
} hope;

double hope_least_ns(const hope *h);

#endif
