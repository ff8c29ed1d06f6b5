// SPDX-License-Identifier: MIT
//
// The launch shape of a plan: the one that was chosen before, or, when VYRE_AUTOTUNER is on, the
// fastest of a sweep. In the background, one thread at a time.
#ifndef VYRE_RUNTIME_SHAPE_H
#define VYRE_RUNTIME_SHAPE_H

#include "runtime/plan.h"
#include "runtime/sweep.h"

// Chooses the launch shape of a variant that is about to be adopted.
void shape_choose(vyre_kernel *k, plan *p, capture *inputs, const capture_output *expected,
                  variant *v);
// Sweeps shapes and gives the plan the one that was chosen.
void shape_sweep(vyre_runtime *rt, plan *p, const sweep_request *r, tuner *t);

#endif
