// SPDX-License-Identifier: MIT
//
// Whether the precondition of an operation of a lowered program holds (ir/lowered.def). This is
// what recipes are held to. Pure functions: any thread.
#ifndef VYRE_BACKEND_REF_PROMISE_H
#define VYRE_BACKEND_REF_PROMISE_H

#include "ir/program.h"

// `args` are the operands' values in canonical bits, in the slots of the operation; `operand` is
// the type of the first value, `length` that of the memory object, if there is one.
bool promise_holds(const inst *in, vyre_type operand, const uint64_t args[4], uint64_t length);

// What an operation gives whose result is open for this operand: what no recipe can mistake for the
// right one, `made`. That is the bits of a NaN, and what a float outside of an integer type
// becomes.
uint64_t promise_open_result(const inst *in, vyre_type operand, uint64_t arg, uint64_t made);

// What a device that does not keep subnormal numbers may make of one: a zero of its sign. Called
// for each operand and each result of an operation on floats that is not a copy of bits.
uint64_t promise_flush(const struct lower_target *target, vyre_type type, uint64_t bits);
bool promise_may_flush(const struct lower_target *target, const inst *in);

#endif
