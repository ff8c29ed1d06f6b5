// SPDX-License-Identifier: MIT
//
// What `fast(N)` means: a rewriting of the program into one of exact operations, the same for every
// backend, device and variant, so that a fast program has the same bits everywhere too. It is made
// before anything else looks at the program, so that nothing that passes or known arguments do to a
// program changes what is rewritten. Not a pass of the table: it is not anybody's choice.
//
// docs/IR.md has the table of what is rewritten from which budget on: products and sums into fma,
// divisions into products with reciprocals, reciprocal roots into products and sums.
#ifndef VYRE_OPT_RELAX_H
#define VYRE_OPT_RELAX_H

#include "ir/program.h"

// *out is a new reference: to a program without a budget, or to the same one when it has none.
vyre_status relax_program(vyre_program *program, vyre_program **out, vyre_error *error);

#endif
