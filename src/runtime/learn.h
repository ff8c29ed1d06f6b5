// SPDX-License-Identifier: MIT
//
// Learning about a plan: candidates are compiled, proven and timed in the background; see learn.c.
// Any thread.
#ifndef VYRE_RUNTIME_LEARN_H
#define VYRE_RUNTIME_LEARN_H

#include "runtime/plan.h"

// Takes copies of the inputs and starts a job, unless one is under way. `stages` is a set of
// STAGE_*; 0: those that the plan wants.
void learn_begin(vyre_kernel *k, plan *p, const vyre_dispatch_args *args, unsigned stages);

#endif
