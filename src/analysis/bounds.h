// SPDX-License-Identifier: MIT
//
// What is certain about indices: that one is inside its memory object, or below an extent, for
// every invocation of the region. Proofs are by form (a constant below a fixed length, a global id
// in a buffer that is as long as the grid); what cannot be proven is false. Pure functions: any
// thread.
#ifndef VYRE_ANALYSIS_BOUNDS_H
#define VYRE_ANALYSIS_BOUNDS_H

#include "analysis/ranges.h"

// `mem` and `index` belong to the body of `r` in `p`.
bool bounds_is_inside(const vyre_program *p, const region *r, uint32_t mem, ref index);

// Whether an index is at least 0 and below a number, by its static range.
bool bounds_is_below(const ranges *known, ref index, uint64_t length);

// Whether `value`, of the body of `r`, is certain to equal the extent of the grid along `axis`.
bool bounds_is_extent(const vyre_program *p, const region *r, ref value, uint32_t axis);

// The axis when `value` is a global id, also when it was converted to a wider or same-width integer
// (ids are below 2^31, so that changes nothing); -1 when it is something else.
int bounds_global_axis(const vyre_program *p, ref value);

// Whether two expressions of launch facts (parameters, lengths, constants, arithmetic) have the
// same form, and so the same value. They may stand in different parts of the program.
bool bounds_is_same(const vyre_program *p, ref x, ref y);

#endif
