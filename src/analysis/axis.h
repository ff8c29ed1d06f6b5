// SPDX-License-Identifier: MIT
//
// Which axis of a grid should be the one that neighbouring lanes run along: the one along which
// memory is read and written in order. A region is turned by exchanging that axis and x everywhere,
// which changes nothing that a program can see but the order of its invocations. Reads the program
// only: any thread.
#ifndef VYRE_ANALYSIS_AXIS_H
#define VYRE_ANALYSIS_AXIS_H

#include "analysis/ranges.h"

// Where an axis goes, and comes from, when `lanes` and x are exchanged. 0 leaves all as they are.
static inline uint32_t axis_turned(uint32_t lanes, uint32_t axis) {
  return axis == 0 ? lanes : axis == lanes ? 0 : axis;
}

// 0 unless another axis promises to be clearly better. False: out of memory.
bool axis_for_lanes(arena *a, const vyre_program *p, const region *r, const ranges *known,
                    uint32_t *lanes);

#endif
