// SPDX-License-Identifier: MIT
//
// The lowest bits of integers, as far as they are the same for every invocation and each time: of
// an index 4 * i + 3 the lowest two are ones. Pure functions of a frozen program: any thread.
#ifndef VYRE_ANALYSIS_RESIDUE_H
#define VYRE_ANALYSIS_RESIDUE_H

#include "ir/program.h"

typedef struct residue {
  unsigned bits;  // how many are known, at most those of the type
  uint64_t value; // of these; zero above
} residue;

residue residue_of(const vyre_program *p, ref r);

#endif
