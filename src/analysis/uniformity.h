// SPDX-License-Identifier: MIT
//
// Whether every barrier of a rigid region is reached by the whole workgroup or by nobody, proven
// from the program alone. Drivers do not check: a barrier that only some reach may hang a device,
// so that a region without this proof is not given to one. Stricter than analysis/shape.h, which is
// for lanes that run in step: there a load that all make at one index is the same for all, here
// somebody may be writing meanwhile. Pure function: any thread.
#ifndef VYRE_ANALYSIS_UNIFORMITY_H
#define VYRE_ANALYSIS_UNIFORMITY_H

#include "ir/program.h"

typedef struct uniformity {
  uint32_t first;     // of the body; the array is indexed by operation minus this
  bool *is_divergent; // at each operation: part of a workgroup may be here without the rest
} uniformity;

// False when out of memory. The caller frees is_divergent.
bool uniformity_compute(const vyre_program *p, const region *r, uniformity *out);

// The first barrier without the proof; 0 when there is none.
uint32_t uniformity_find_barrier(const vyre_program *p, const region *r, const uniformity *u);

#endif
