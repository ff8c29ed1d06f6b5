// SPDX-License-Identifier: MIT
//
// A part of what `fast` means (relax.h): sums over loops in another order, which is stated here and
// the same for every backend and device.
//
// A loop over k that adds up what it reads along k, where invocations read far from each other, as
// a row of a matrix for each: it is taken sixteen turns at a time, with a sum for each of them, and
// the sums are added by halves. Lanes along k read neighbours then, and chains of sums are short.
#ifndef VYRE_OPT_RELAX_SUMS_H
#define VYRE_OPT_RELAX_SUMS_H

#include "ir/program.h"

// *out is a new reference, to the same program when it has no such loop.
vyre_status relax_sums(vyre_program *program, vyre_program **out, vyre_error *error);

#endif
