// SPDX-License-Identifier: MIT
//
// Short names for the steps of which built-in functions are composed. For the files that compose
// them.
#ifndef VYRE_FRONT_CLANG_FORMULA_H
#define VYRE_FRONT_CLANG_FORMULA_H

#include "front/clang/emit.h"

static inline ref add(lowering *l, ref x, ref y) {
  return e_binary(l, VYRE_OP_ADD, x, y);
}
static inline ref sub(lowering *l, ref x, ref y) {
  return e_binary(l, VYRE_OP_SUB, x, y);
}
static inline ref mul(lowering *l, ref x, ref y) {
  return e_binary(l, VYRE_OP_MUL, x, y);
}
static inline ref divide(lowering *l, ref x, ref y) {
  return e_binary(l, VYRE_OP_DIV, x, y);
}
static inline ref lt(lowering *l, ref x, ref y) {
  return e_binary(l, VYRE_OP_LT, x, y);
}
static inline ref wide(lowering *l, ref x) {
  return e_convert(l, VYRE_F64, x);
}

#endif
