// SPDX-License-Identifier: MIT
//
// Portable mathematics. Every mathematical operation of the IR is defined by one expansion into
// exact operations (add, sub, mul, div, sqrt, fma, integer and bit operations, select), so that all
// backends give the same bits. docs/MATH.md has the methods and their errors. The caller releases
// what math_expand returns; no state, any thread.
#ifndef VYRE_IR_MATH_H
#define VYRE_IR_MATH_H

#include "ir/builder.h"
#include "ir/program.h"

// The program with every mathematical operation replaced by its expansion; the same program,
// retained, when there is none. Names and source places are kept.
vyre_status math_expand(const vyre_program *program, vyre_program **out, vyre_error *error);

// 1 / sqrt(x) of an f32 within 1.4 ulp by products and sums alone, for programs that ask for fast
// arithmetic: no division and no root, which cost three times as much. Arguments are positive and
// normal: 0 and what is below count as small numbers do, infinity as the largest one, NaN gives
// NaN, a negative number gives any number.
ref math_fast_rsqrt(vyre_builder *b, ref x);

#endif
