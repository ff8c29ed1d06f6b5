// SPDX-License-Identifier: MIT
//
// Whether every barrier of a rigid region is reached by the whole workgroup or by nobody, proven
// from the program alone. Drivers do not check: a barrier that only some reach may hang a device,
// so that a region without this proof is not given to one. Nor may a barrier become several where
// invocations could come to it in different turns of a loop: each would wait at another. What
// differs between invocations is what analysis/shape.h says of those that do not run in step; here
// is what that means for a place in the code. Pure functions: any thread.
#ifndef VYRE_ANALYSIS_UNIFORMITY_H
#define VYRE_ANALYSIS_UNIFORMITY_H

#include "analysis/ranges.h"

typedef struct uniformity {
  uint32_t first;     // of the body; the array is indexed by operation minus this
  bool *is_divergent; // at each operation: part of a workgroup may be here without the rest
  bool *is_parted;    // the same among those that have not returned
} uniformity;

// In the caller's arena. False: out of memory.
bool uniformity_compute(arena *a, const vyre_program *p, const region *r, const ranges *known,
                        uniformity *out);

// The first barrier without the proof; 0 when there is none.
uint32_t uniformity_find_barrier(const vyre_program *p, const region *r, const uniformity *u);

#endif
