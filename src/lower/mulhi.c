// SPDX-License-Identifier: MIT
//
// The upper half of a product: by a type twice as wide where there is one, otherwise from the four
// products of half words, whose sums do not overflow: (2^h - 1)^2 + 2 (2^h - 1) = 2^2h - 1.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->has_mulhi;
}

static bool takes(const lowering *l, const inst *in) {
  (void)l;
  return in->op == VYRE_OP_MULHI;
}

static ref by_wider(lowering *l, const inst *in, vyre_type wide) {
  ref x = lower_convert(l, wide, in->arg[0]), y = lower_convert(l, wide, in->arg[1]);
  ref all = lower_bin(l, VYRE_OP_MUL, x, y);
  ref upper = lower_bin(l, VYRE_OP_SHR, all, lower_const(l, wide, type_bits(in->type)));
  return lower_convert(l, (vyre_type)in->type, upper);
}

static ref upper_half(lowering *l, ref x) {
  vyre_type u = lower_type(l, x);
  return lower_bin(l, VYRE_OP_SHR, x, lower_const(l, u, type_bits(u) / 2));
}

static ref lower_half(lowering *l, ref x) {
  vyre_type u = lower_type(l, x);
  return lower_bin(l, VYRE_OP_AND, x, lower_const(l, u, type_max(u) >> type_bits(u) / 2));
}

static ref by_halves(lowering *l, ref x, ref y) {
  ref x0 = lower_half(l, x), x1 = upper_half(l, x), y0 = lower_half(l, y), y1 = upper_half(l, y);
  ref low = lower_bin(l, VYRE_OP_MUL, x0, y0);
  ref middle = lower_bin(l, VYRE_OP_ADD, lower_bin(l, VYRE_OP_MUL, x1, y0), upper_half(l, low));
  ref other = lower_bin(l, VYRE_OP_ADD, lower_bin(l, VYRE_OP_MUL, x0, y1), lower_half(l, middle));
  ref high = lower_bin(l, VYRE_OP_ADD, lower_bin(l, VYRE_OP_MUL, x1, y1), upper_half(l, middle));
  return lower_bin(l, VYRE_OP_ADD, high, upper_half(l, other));
}

// A negative factor counts 2^width less than its unsigned reading.
static ref minus_where_negative(lowering *l, ref product, ref sign, ref other) {
  vyre_type u = lower_type(l, product), t = lower_type(l, sign);
  ref is_negative = lower_bin(l, VYRE_OP_LT, sign, lower_const(l, t, 0));
  ref excess = lower_select(l, is_negative, lower_convert(l, u, other), lower_const(l, u, 0));
  return lower_bin(l, VYRE_OP_SUB, product, excess);
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_type t = (vyre_type)in->type, u = type_to_unsigned(t);
  bool is_signed = type_is_signed(t);
  if (type_bits(t) < 32) return by_wider(l, in, is_signed ? VYRE_I32 : VYRE_U32);
  if (type_bits(t) == 32 && l->target->has_i64)
    return by_wider(l, in, is_signed ? VYRE_I64 : VYRE_U64);
  ref x = in->arg[0], y = in->arg[1];
  ref made = by_halves(l, lower_convert(l, u, x), lower_convert(l, u, y));
  if (!is_signed) return made;
  made = minus_where_negative(l, made, x, y);
  return lower_convert(l, t, minus_where_negative(l, made, y, x));
}

const recipe recipe_mulhi = {
    .name = "mulhi",
    .doc = "the upper half of a product, by a wider type or from half words",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
