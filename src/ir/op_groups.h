// SPDX-License-Identifier: MIT
//
// The operations in groups of case labels, for switches that have something to say about a few of
// them: `case OPS_MATH:`. Such a switch has no default: it ends with the groups that it does not
// tell apart, so that an operation which is added to ops.def is a warning wherever somebody has to
// decide about it.
#ifndef VYRE_IR_OP_GROUPS_H
#define VYRE_IR_OP_GROUPS_H

#include <vyre/vyre.h>

// clang-format off
#define OPS_ARITHMETIC \
  VYRE_OP_ADD: case VYRE_OP_SUB: case VYRE_OP_MUL: case VYRE_OP_DIV: case VYRE_OP_REM: case \
  VYRE_OP_NEG: case VYRE_OP_ABS: case VYRE_OP_MIN: case VYRE_OP_MAX: case VYRE_OP_MULHI

#define OPS_BITWISE \
  VYRE_OP_AND: case VYRE_OP_OR: case VYRE_OP_XOR: case VYRE_OP_NOT

#define OPS_BIT_COUNTS \
  VYRE_OP_SHL: case VYRE_OP_SHR: case VYRE_OP_ROTL: case VYRE_OP_ROTR: case \
  VYRE_OP_POPCOUNT: case VYRE_OP_CLZ: case VYRE_OP_CTZ

#define OPS_COMPARISON \
  VYRE_OP_EQ: case VYRE_OP_NE: case VYRE_OP_LT: case VYRE_OP_LE: case VYRE_OP_GT: case \
  VYRE_OP_GE

#define OPS_EXACT_FLOAT \
  VYRE_OP_FMA: case VYRE_OP_SQRT: case VYRE_OP_FLOOR: case VYRE_OP_CEIL: case \
  VYRE_OP_TRUNC: case VYRE_OP_ROUND: case VYRE_OP_RINT

#define OPS_MATH \
  VYRE_OP_EXP: case VYRE_OP_EXP2: case VYRE_OP_EXPM1: case VYRE_OP_LOG: case VYRE_OP_LOG2: case \
  VYRE_OP_LOG10: case VYRE_OP_LOG1P: case VYRE_OP_SIN: case VYRE_OP_COS: case VYRE_OP_TAN: case \
  VYRE_OP_ASIN: case VYRE_OP_ACOS: case VYRE_OP_ATAN: case VYRE_OP_ATAN2: case \
  VYRE_OP_SINH: case VYRE_OP_COSH: case VYRE_OP_TANH: case VYRE_OP_POW: case VYRE_OP_CBRT: case \
  VYRE_OP_HYPOT: case VYRE_OP_FMOD: case VYRE_OP_RSQRT

// A value that is chosen, or in another type.
#define OPS_TRANSFER \
  VYRE_OP_SELECT: case VYRE_OP_CONVERT: case VYRE_OP_BITCAST: case VYRE_OP_COPY

// What every backend computes in the type of its operands.
#define OPS_IN_ONE_TYPE \
  OPS_ARITHMETIC: case OPS_BITWISE: case OPS_BIT_COUNTS: case OPS_COMPARISON: case \
  OPS_EXACT_FLOAT

// Operations whose value follows from their operands alone.
#define OPS_COMPUTED \
  OPS_IN_ONE_TYPE: case OPS_TRANSFER: case OPS_MATH

#define OPS_AXIS_SIZES \
  VYRE_OP_GLOBAL_SIZE: case VYRE_OP_LOCAL_SIZE: case VYRE_OP_GROUP_COUNT

// Facts of the launch.
#define OPS_LAUNCH \
  VYRE_OP_PARAM: case VYRE_OP_LEN: case VYRE_OP_GLOBAL_ID: case VYRE_OP_LOCAL_ID: case \
  VYRE_OP_GROUP_ID: case OPS_AXIS_SIZES

#define OPS_ATOMIC \
  VYRE_OP_ATOMIC_ADD: case VYRE_OP_ATOMIC_SUB: case VYRE_OP_ATOMIC_MIN: case \
  VYRE_OP_ATOMIC_MAX: case VYRE_OP_ATOMIC_AND: case VYRE_OP_ATOMIC_OR: case \
  VYRE_OP_ATOMIC_XOR: case VYRE_OP_ATOMIC_EXCHANGE: case VYRE_OP_ATOMIC_CAS

#define OPS_MEMORY \
  VYRE_OP_LOAD: case VYRE_OP_STORE: case OPS_ATOMIC

// Private state of an invocation.
#define OPS_STATE \
  VYRE_OP_VAR: case VYRE_OP_GET: case VYRE_OP_SET: case VYRE_OP_ARRAY

// Control that has no value.
#define OPS_FLOW \
  VYRE_OP_IF: case VYRE_OP_ELSE: case VYRE_OP_WHILE: case VYRE_OP_DO: case VYRE_OP_END: case \
  VYRE_OP_BREAK: case VYRE_OP_CONTINUE: case VYRE_OP_RETURN: case VYRE_OP_BARRIER

#define OPS_STRUCTURE \
  OPS_FLOW: case VYRE_OP_FOR

// None of the public ones: no operation, or one of a lowered program (ir/lowered.def).
#define OPS_NONE \
  VYRE_OP_NONE: case VYRE_OP_COUNT

// All but OPS_COMPUTED.
#define OPS_NOT_COMPUTED \
  OPS_LAUNCH: case OPS_MEMORY: case OPS_STATE: case OPS_STRUCTURE: case OPS_NONE
// clang-format on

#endif
