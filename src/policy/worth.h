// SPDX-License-Identifier: MIT
//
// Whether another evaluation of a search is worth what it costs. A pure function: any thread.
#ifndef VYRE_POLICY_WORTH_H
#define VYRE_POLICY_WORTH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct worth {
  uint32_t evaluations; // made up to now
  double gained;        // by them: the logarithm of the time at first over the time of the best
  double use_ns;        // that the program has been used: the best guess of how long it will be
  double spent_ns;      // on learning about it
  double cost_ns;       // of one more
} worth;

// The share of the time that one more evaluation is expected to gain: what they gained up to now,
// and a tenth to begin with, over how many there were. So a search that finds something goes on,
// and one that does not is given up.
double worth_next_gain(const worth *w);
// Expected use times that gain over the cost, within the share of the time that learning may take.
bool worth_evaluating(const worth *w, uint32_t share);

#endif
