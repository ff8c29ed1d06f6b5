// SPDX-License-Identifier: MIT
//
// The launch shape of a code in a plan: the one that was chosen before, or the fastest of a sweep.
// Only elastic regions have one, and each candidate's output is compared first. In the background,
// one thread at a time.
#ifndef VYRE_RUNTIME_SHAPE_H
#define VYRE_RUNTIME_SHAPE_H

#include "runtime/plan.h"
#include "runtime/sweep.h"

// True when there is a better shape than the declared one, or than `usual` where that is given:
// *shape, with its samples in *tried when a sweep took them. Without `may_sweep` only what was
// decided before is looked at.
typedef struct shape_request {
  capture *inputs;
  const capture_output *expected;
  code *code;
  bool may_sweep;
  const tune_shape *usual, *only; // as in sweep_request
} shape_request;

bool shape_choose(vyre_kernel *k, plan *p, const shape_request *request, uint32_t shape[3],
                  trial_candidate *tried);

#endif
