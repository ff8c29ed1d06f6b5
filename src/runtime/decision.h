// SPDX-License-Identifier: MIT
//
// What was decided for a plan, written down for the next process and for people: as a route in
// pgo.toml, which says where to begin, and as a row of the store, which keeps the decisions before
// it. In the background, without the kernel's lock.
#ifndef VYRE_RUNTIME_DECISION_H
#define VYRE_RUNTIME_DECISION_H

#include "runtime/plan.h"

// Keeps the plan's latest decision, unless it is kept already or was only a beginning.
void decision_keep(vyre_kernel *k, plan *p);

#endif
