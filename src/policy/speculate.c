// SPDX-License-Identifier: MIT
#include "policy/speculate.h"

#include <inttypes.h>
#include <stdio.h>

__extension__ typedef unsigned __int128 wide;

speculate_decision speculate_decide(speculate_inputs in) {
  const speculate_decision hold = {false, 0};
  if (in.program_hit_count < SPECULATE_HOT_SHAPE_THRESHOLD) return hold;
  if (in.prediction_confidence_bps < SPECULATE_MIN_CONFIDENCE_BPS) return hold;
  if (in.miss_cost_ns == 0) return hold;
  uint32_t confidence = in.prediction_confidence_bps;
  if (confidence > SPECULATE_FULL_CONFIDENCE_BPS) confidence = SPECULATE_FULL_CONFIDENCE_BPS;
  // 64 by 32 bits always fit 128, and with a confidence of at most 1 the quotient fits 64.
  uint64_t weighted =
      (uint64_t)((wide)in.miss_cost_ns * confidence / SPECULATE_FULL_CONFIDENCE_BPS);
  if (weighted <= in.speculative_cost_ns) return hold;
  return (speculate_decision){true, weighted - in.speculative_cost_ns};
}

void speculate_format(speculate_decision decision, char out[SPECULATE_TEXT]) {
  if (decision.speculate)
    snprintf(out, SPECULATE_TEXT, "speculate:%" PRIu64, decision.expected_savings_ns);
  else
    snprintf(out, SPECULATE_TEXT, "hold-steady");
}
