// SPDX-License-Identifier: MIT
//
// What the walk over a program has to know of the recipe `half`. Private to src/lower.
#ifndef VYRE_LOWER_HALF_H
#define VYRE_LOWER_HALF_H

#include "lower/recipe.h"

// The type that elements and parameters are declared with.
static inline vyre_type half_storage(vyre_type declared) {
  return declared == VYRE_F16 ? VYRE_U16 : declared;
}

// Constants of f16 among the operands, as what stands for them.
void half_constants(lowering *l, inst *in);

#endif
