// SPDX-License-Identifier: MIT
//
// Learning about a plan: candidates are compiled, proven and timed in the background. Any thread.
#ifndef VYRE_RUNTIME_LEARN_H
#define VYRE_RUNTIME_LEARN_H

#include "runtime/plan.h"

// Starts to learn about the plan when it is time to; takes copies of the inputs.
void learn_begin(vyre_kernel *k, plan *p, const vyre_dispatch_args *args);

#endif
