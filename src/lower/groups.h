// SPDX-License-Identifier: MIT
//
// A workgroup for each lane. Lanes along the invocations of a workgroup are slow where these reach
// into shared arrays at a stride, as tables of alignments do, diagonal by diagonal. Where lanes are
// workgroups instead, a shared array is private to its lane, elements of all lanes lie side by
// side, and what one invocation does is a turn of a loop in which all lanes are at the same place.
//
// A region that gains by it becomes an elastic one with an invocation for each workgroup, which
// runs the invocations of the workgroup one after the other from barrier to barrier. Nothing that a
// program can see changes but the order of invocations between barriers. Any thread.
#ifndef VYRE_LOWER_GROUPS_H
#define VYRE_LOWER_GROUPS_H

#include "ir/program.h"

// *out is a new reference, to the same program where nothing gains.
vyre_status groups_to_lanes(vyre_program *program, vyre_program **out, vyre_error *error);

#endif
