// SPDX-License-Identifier: MIT
//
// Between pairs and other types. A float is divided by 2^32, which is exact, as is what is left of
// it, so that each word is converted alone. The other way, f64 takes both words exactly and rounds
// their sum once; f32 is rounded by integers.
#include "lower/soft.h"
#include "lower/wide.h"

static pair from_integer(lowering *l, vyre_type from, ref x) {
  ref zero = lower_const(l, VYRE_U32, 0);
  if (!type_is_signed(from)) return (pair){lower_convert(l, VYRE_U32, x), zero};
  ref lo = lower_convert(l, VYRE_U32, lower_convert(l, VYRE_I32, x));
  ref is_negative = wide_sign(l, (pair){lo, lo});
  return (pair){lo, lower_select(l, is_negative, lower_const(l, VYRE_U32, UINT32_MAX), zero)};
}

// Of a float from 0 to below 2^64.
static pair whole_part(lowering *l, vyre_type from, ref x) {
  ref hi = lower_convert(l, VYRE_U32, lower_bin(l, VYRE_OP_MUL, x, lower_float(l, from, 0x1p-32)));
  ref upper = lower_bin(l, VYRE_OP_MUL, lower_convert(l, from, hi), lower_float(l, from, 0x1p32));
  return (pair){lower_convert(l, VYRE_U32, lower_bin(l, VYRE_OP_SUB, x, upper)), hi};
}

// Saturates; NaN, which no comparison holds for, gives 0.
static pair from_float(lowering *l, vyre_type to, vyre_type from, ref x) {
  bool is_signed = type_is_signed(to);
  ref zero = lower_float(l, from, 0), is_negative = lower_bin(l, VYRE_OP_LT, x, zero);
  ref size = is_signed ? lower_un(l, VYRE_OP_ABS, x)
                       : lower_select(l, lower_bin(l, VYRE_OP_GT, x, zero), x, zero);
  ref end = lower_float(l, from, is_signed ? 0x1p63 : 0x1p64);
  ref is_over = lower_bin(l, VYRE_OP_GE, size, end);
  ref is_inside = lower_bin(l, VYRE_OP_LT, size, end);
  pair made = whole_part(l, from, lower_select(l, is_inside, size, zero));
  uint64_t most = type_max(to);
  pair last = pair_const(l, VYRE_U32, most, most >> 32);
  if (!is_signed) return pair_select(l, is_over, last, made);
  pair least = pair_const(l, VYRE_U32, 0, 0x80000000);
  made = pair_select(l, is_negative, wide_negate(l, made), made);
  return pair_select(l, is_over, pair_select(l, is_negative, least, last), made);
}

static ref to_f64(lowering *l, vyre_type from, pair a) {
  ref hi = type_is_signed(from) ? lower_convert(l, VYRE_I32, a.hi) : a.hi;
  ref upper =
      lower_bin(l, VYRE_OP_MUL, lower_convert(l, VYRE_F64, hi), lower_float(l, VYRE_F64, 0x1p32));
  return lower_bin(l, VYRE_OP_ADD, upper, lower_convert(l, VYRE_F64, a.lo));
}

static ref to_f32(lowering *l, vyre_type from, pair a) {
  const soft_format *f = soft_format_of(VYRE_F32);
  ref zero = soft_word(l, f, 0), sign = zero;
  if (type_is_signed(from)) {
    sign = lower_bin(l, VYRE_OP_AND, a.hi, soft_word(l, f, f->sign));
    a = pair_select(l, wide_sign(l, a), wide_negate(l, a), a);
  }
  ref zeros = pair_clz(l, a);
  pair first = pair_shl(l, a, zeros);
  ref is_exact = lower_bin(l, VYRE_OP_EQ, first.lo, zero);
  ref word =
      lower_bin(l, VYRE_OP_OR, first.hi, lower_select(l, is_exact, zero, soft_word(l, f, 1)));
  ref exponent =
      lower_bin(l, VYRE_OP_SUB, soft_number(l, f->bias + 63), lower_convert(l, VYRE_I32, zeros));
  ref bits = soft_round(l, f, sign, exponent, word);
  return lower_bitcast(l, VYRE_F32, lower_select(l, pair_is_zero(l, a), zero, bits));
}

ref wide_convert(lowering *l, const inst *in) {
  vyre_type to = (vyre_type)in->type, from = lower_type(l, in->arg[0]);
  if (!type_is_wide(from)) {
    pair made = type_is_float(from) ? from_float(l, to, from, in->arg[0])
                                    : from_integer(l, from, in->arg[0]);
    return wide_make(l, to, made);
  }
  pair a = wide_split(l, in->arg[0]);
  if (type_is_wide(to)) return wide_make(l, to, a);
  if (to == VYRE_BOOL) return lower_un(l, VYRE_OP_NOT, pair_is_zero(l, a));
  if (to == VYRE_F64) return to_f64(l, from, a);
  return to == VYRE_F32 ? to_f32(l, from, a) : lower_convert(l, to, a.lo);
}
