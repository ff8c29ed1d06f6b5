// SPDX-License-Identifier: MIT
//
// Portable mathematics. Every mathematical operation of the IR is defined by one expansion into
// exact operations (add, sub, mul, div, sqrt, fma, integer and bit operations, select), so that all
// backends give the same bits. docs/MATH.md has the methods and their errors. The caller releases
// what math_expand returns; no state, any thread.
#ifndef VYRE_IR_MATH_H
#define VYRE_IR_MATH_H

#include "ir/program.h"

// The program with every mathematical operation replaced by its expansion; the same program,
// retained, when there is none. Names and source places are kept.
vyre_status math_expand(const vyre_program *program, vyre_program **out, vyre_error *error);

#endif
