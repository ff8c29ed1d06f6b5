// SPDX-License-Identifier: MIT
//
// Whether to compile a specialised variant before anybody asks for it. Pure functions: any thread.
#ifndef VYRE_POLICY_SPECULATE_H
#define VYRE_POLICY_SPECULATE_H

#include <stdbool.h>
#include <stdint.h>

// Below this many dispatches in the recent window a program is not hot enough to speculate about.
#define SPECULATE_HOT_SHAPE_THRESHOLD UINT32_C(8)
// Below this confidence, in basis points, a prediction is not acted upon.
#define SPECULATE_MIN_CONFIDENCE_BPS  UINT32_C(6000)
#define SPECULATE_FULL_CONFIDENCE_BPS UINT32_C(10000)

typedef struct speculate_inputs {
  uint32_t program_hit_count;         // dispatches of the same program in the recent window
  uint32_t prediction_confidence_bps; // that the next miss is the predicted key; more than 10,000
                                      // counts as 10,000
  uint64_t speculative_cost_ns;       // of compiling one variant, as last measured
  uint64_t miss_cost_ns;              // of a dispatch that finds no variant, as last measured
} speculate_inputs;

typedef struct speculate_decision {
  bool speculate;
  uint64_t expected_savings_ns; // confidence times miss cost, less the cost; 0 when holding steady
} speculate_decision;

// Speculates when the savings are above zero, saturating at UINT64_MAX.
speculate_decision speculate_decide(speculate_inputs inputs);

// "hold-steady" or "speculate:N".
enum { SPECULATE_TEXT = 32 };
void speculate_format(speculate_decision decision, char out[SPECULATE_TEXT]);

#endif
