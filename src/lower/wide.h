// SPDX-License-Identifier: MIT
//
// 64-bit integers of a device that has none, as pairs of u32. A recipe hands values around as one
// number, so a pair has one too, which stands for it until the words are asked for. Private to
// src/lower.
#ifndef VYRE_LOWER_WIDE_H
#define VYRE_LOWER_WIDE_H

#include "lower/pair.h"

static inline bool type_is_wide(vyre_type t) {
  return t == VYRE_I64 || t == VYRE_U64;
}

ref wide_make(lowering *l, vyre_type type, pair words);
pair wide_split(lowering *l, ref value); // also of a constant
// Of an index that is inside: it is below 2^32.
ref wide_index(lowering *l, ref index); // u32

pair wide_negate(lowering *l, pair a);
ref wide_sign(lowering *l, pair a); // bool: the highest bit

// Parts of the recipe. The operation gives or takes 64-bit integers.
ref wide_arithmetic(lowering *l, const inst *in); // wide_arithmetic.c
ref wide_convert(lowering *l, const inst *in);    // wide_convert.c

#endif
