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

// For programs that ask for fast arithmetic, of f32.
//
// 1 / sqrt(x) within 1.4 ulp by products and sums alone: no division and no root, which cost three
// times as much. Arguments are positive and normal: 0 and what is below count as small numbers do,
// infinity gives infinity, NaN gives NaN, a negative number gives any number.
ref math_fast_rsqrt(vyre_builder *b, ref x);
// exp(x) within 2 ulp; 0 where the result is below 2^-125.5.
ref math_fast_exp(vyre_builder *b, ref x);
// log(x) within 3.4 ulp of a normal x. What is below, 0 and negative numbers alike, gives
// -infinity, infinity gives 88.72, NaN gives NaN.
ref math_fast_log(vyre_builder *b, ref x);

#endif
