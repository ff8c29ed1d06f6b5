// SPDX-License-Identifier: MIT
//
// A body with barriers, cut into phases that a whole workgroup can run one after the other. Where
// every block with a barrier in it is entered and left by the whole workgroup alike, such blocks
// are run once per workgroup (they are `group` operations), and what stands between them and the
// barriers are the phases. Where that cannot be proven, every block ends a phase: invocations then
// run on their own from barrier to barrier.
//
// Also says which values, variables and arrays live from one phase to another. Results live in the
// caller's arena. Reads the program only: any thread.
#ifndef VYRE_ANALYSIS_PHASES_H
#define VYRE_ANALYSIS_PHASES_H

#include "analysis/shape.h"

typedef struct phases {
  uint32_t first;    // of the body; the arrays are indexed by operation minus this
  uint32_t *phase;   // from 1; 0: barriers and group operations
  bool *is_crossing; // made in one phase and used in another, and worth keeping
  bool *is_cheap;    // better computed again than kept
  bool *is_steering; // decides where the whole workgroup goes
  bool *is_common;   // the same for the whole workgroup and independent of what invocations do in
                     // the phase: computed once per workgroup. Variables too, at their declaration
  bool is_together;  // proven: the workgroup takes the same way through its barriers
  bool has_return;
} phases;

// Shapes that were computed under assumptions say that nobody parts at an `if` that is assumed to be
// taken: it is a group operation whose condition steers nothing. False: out of memory.
bool phases_compute(arena *a, const vyre_program *p, const region *r, const shapes *s, phases *out);

#endif
