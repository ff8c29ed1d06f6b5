// SPDX-License-Identifier: MIT
//
// What each pure operation means, once: the reference interpreter, constant folding and the
// evaluation of extents all call this. Values travel as 64 canonical bits (type_canonical_bits,
// except that a NaN may have any payload). Pure functions: any thread.
#ifndef VYRE_IR_EVAL_H
#define VYRE_IR_EVAL_H

#include "ir/types.h"

// `result` is the operation's type, `operand` the type of its operands (of the second and third for
// select). Launch facts, memory and structure are not evaluated here. Mathematical functions are
// not either: they are expanded first (ir/math.h).
uint64_t eval_op(vyre_op op, vyre_type result, vyre_type operand, const uint64_t args[3]);

// Whether eval_op knows the operation.
bool eval_can(vyre_op op);

// Trip count of `for k in lo..hi by step`, computed without overflow; bits are canonical.
uint64_t eval_trip_count(vyre_type type, uint64_t lo, uint64_t hi, uint64_t step);

#endif
