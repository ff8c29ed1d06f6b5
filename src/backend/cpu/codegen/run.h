// SPDX-License-Identifier: MIT
//
// Runs: accesses of a straight piece of code to elements side by side, such as the parts of a
// float4 (a[4 * i] to a[4 * i + 3]). Where lanes are anywhere, each accesses its run at once; where
// they follow each other, all runs of a vector are one piece of memory, which is accessed as a
// whole. Which of the two it is, the launch says or each vector is asked.
#ifndef VYRE_BACKEND_CPU_CODEGEN_RUN_H
#define VYRE_BACKEND_CPU_CODEGEN_RUN_H

#include "backend/cpu/codegen/emit.h"

enum { RUN_MOST = 4 }; // elements

// The load `i`, which is lane by lane, with others of its run, whose values it sets too; false: it
// is no part of one.
bool run_load(emitter *e, uint32_t i);
// The store `i` of a record, or lane by lane. True: it is written, or will be with the last one of
// its run.
bool run_store(emitter *e, uint32_t i);
// Whether the load was made with an earlier one of its run. Asked once.
bool run_is_loaded(emitter *e, uint32_t i);
// Whether stores from `i` on write all of a record of so many elements; which, by element.
bool run_is_stored(const vyre_program *p, const region *r, uint32_t i, unsigned size,
                   uint32_t members[RUN_MOST]);

#endif
