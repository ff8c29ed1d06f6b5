// SPDX-License-Identifier: MIT
//
// Counters of a thread's own; tally.c says why. Private to the code generator.
#ifndef VYRE_BACKEND_CPU_CODEGEN_TALLY_H
#define VYRE_BACKEND_CPU_CODEGEN_TALLY_H

#include "backend/cpu/codegen/kernel.h"

typedef struct tally {
  uint32_t buffer;
  inst merge;     // the atomic that adds a copy to the buffer
  uint64_t at;    // where the copy is in the scratch memory
  llval identity; // what it begins with
  llval own;      // its address
  llval is_own;   // i1: updates of this box go to the copy
  llval data;     // where they go
} tally;

// Which buffers of a region have copies: sets k->tallies, one per buffer, NULL for none. False: out
// of memory.
bool tally_plan(kernel *k, const shapes *s);
// Before and behind a box of so many invocations (i64).
void tally_begin(kernel *k, LLVMBuilderRef b, llval invocations);
void tally_end(kernel *k, LLVMBuilderRef b);

#endif
