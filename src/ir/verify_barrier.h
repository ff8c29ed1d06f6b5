// SPDX-License-Identifier: MIT
//
// Proof that a barrier is not reached by a whole workgroup. Only what is certain is reported: a
// condition made of local ids and constants that holds for some invocations and not for others.
// What cannot be proven is left to the dispatch. A pure function: any thread.
#ifndef VYRE_IR_VERIFY_BARRIER_H
#define VYRE_IR_VERIFY_BARRIER_H

#include "ir/program.h"

// The operation number of a barrier that some invocations miss, or 0.
uint32_t verify_find_divergent_barrier(const vyre_program *program, const region *region);

#endif
