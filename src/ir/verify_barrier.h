// SPDX-License-Identifier: MIT
//
// Proof that a barrier is not reached by a whole workgroup. Only what is certain is reported: a
// condition made of local ids and constants that holds for some invocations and not for others.
// What cannot be proven is left to the dispatch. A pure function: any thread.
#ifndef VYRE_IR_VERIFY_BARRIER_H
#define VYRE_IR_VERIFY_BARRIER_H

#include "ir/program.h"

// Operations that may be evaluated for one program: some 20 ms.
#define VERIFY_BARRIER_WORK ((uint64_t)1 << 22)

// The operation number of a barrier that some invocations miss, or 0. What was evaluated is taken
// from *work_left.
uint32_t verify_find_divergent_barrier(const vyre_program *program, const region *region,
                                       uint64_t *work_left);

#endif
