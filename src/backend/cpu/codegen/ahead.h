// SPDX-License-Identifier: MIT
//
// Loops whose loads run ahead of them by several iterations; ahead.c says why. Private to the code
// generator.
#ifndef VYRE_BACKEND_CPU_CODEGEN_AHEAD_H
#define VYRE_BACKEND_CPU_CODEGEN_AHEAD_H

#include "backend/cpu/codegen/emit.h"

enum { MOST_AHEAD = 16 }; // iterations at a time

typedef struct ahead {
  uint32_t loop;
  unsigned count; // iterations at a time
  uint32_t load[2];
  unsigned loads;
  llval values[2][MOST_AHEAD]; // of each load, for each of the iterations
  unsigned at;                 // the iteration that is being emitted
} ahead;

// Whether a FOR, which all lanes are in, has such loads.
bool ahead_plan(const emitter *e, uint32_t loop, ahead *out);
// What a load gives in the iteration that is being emitted; the first one loads for all of them.
// NULL: it is a load like any other.
llval ahead_value(const emitter *e, uint32_t op);

#endif
