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

// The bits of a float where a NaN may have any: those that no recipe can mistake for the right
// ones.
uint64_t promise_any_bits(vyre_type from, uint64_t bits);

#endif
