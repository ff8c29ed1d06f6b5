// SPDX-License-Identifier: MIT
//
// Looking at what dispatches have measured, in the background, a few times a second: times that
// have changed reopen the question, an alternative that turned out faster is adopted, others are
// tried now and then so that their figures stay fresh, and candidates that have become worth their
// cost are asked for.
#ifndef VYRE_RUNTIME_REVIEW_H
#define VYRE_RUNTIME_REVIEW_H

#include "runtime/plan.h"

enum {
  REVIEW_TICK_NS = 50000000,
  REVIEW_MARGIN_BPS = 300, // an alternative must be 3 % faster in dispatches to be taken
};

// All plans of a kernel. In the background, without the kernel's lock.
void review_kernel(vyre_kernel *k);
// Decides who was fastest when the known variants have had their turns; by the dispatch that finds
// it so.
void review_opening(vyre_kernel *k, plan *p);
// After a dispatch that ran an alternative in place of the current variant.
void review_explored(vyre_kernel *k, plan *p, variant *v, uint64_t wall_ns);
// The same as soon as the background can. Any thread.
void review_soon(vyre_kernel *k);

#endif
