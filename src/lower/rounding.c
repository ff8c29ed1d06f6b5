// SPDX-License-Identifier: MIT
//
// Rounding to whole numbers by exact operations. Adding 2^mantissa to a smaller magnitude leaves no
// bit for a fraction, so that the sum is rounded to the nearest whole number, halves to even, and
// subtracting it again is exact. The other ways of rounding correct that by one. What has no
// fraction, infinities and NaN are returned as they are.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->has_f32_rounding || !t->has_f64_rounding || !t->has_rint;
}

static_assert(VYRE_OP_RINT - VYRE_OP_FLOOR == 4, "floor, ceil, trunc, round, rint");

static bool takes(const lowering *l, const inst *in) {
  const lower_target *t = l->target;
  if (in->op < VYRE_OP_FLOOR || in->op > VYRE_OP_RINT) return false;
  if (in->op == VYRE_OP_RINT) return !t->has_rint;
  return in->type == VYRE_F32 ? !t->has_f32_rounding : !t->has_f64_rounding;
}

static ref number(lowering *l, const inst *in, double value) {
  return lower_float(l, (vyre_type)in->type, value);
}

// Where x is NaN nobody looks at the result.
static ref bits_of(lowering *l, vyre_type u, ref x) {
  return promise(l, (inst){.op = VYRE_OP_BITCAST, .type = (uint8_t)u, .arg = {x}});
}

// The magnitude of `y` with the sign of `x`.
static ref with_sign_of(lowering *l, vyre_type t, ref y, ref x) {
  vyre_type u = t == VYRE_F32 ? VYRE_U32 : VYRE_U64;
  uint64_t sign = (uint64_t)1 << (type_bits(t) - 1);
  ref of_x = lower_bin(l, VYRE_OP_AND, bits_of(l, u, x), lower_const(l, u, sign));
  ref of_y = lower_bin(l, VYRE_OP_AND, bits_of(l, u, y), lower_const(l, u, ~sign));
  return lower_bitcast(l, t, lower_bin(l, VYRE_OP_OR, of_x, of_y));
}

// `y` corrected by `by` where `condition` holds.
static ref corrected(lowering *l, const inst *in, ref condition, ref y, double by) {
  return lower_select(l, condition, lower_bin(l, VYRE_OP_ADD, y, number(l, in, by)), y);
}

// The whole number that the magnitude `a` becomes; x has its sign.
static ref whole(lowering *l, const inst *in, ref a) {
  ref magic = number(l, in, in->type == VYRE_F32 ? 0x1p23 : 0x1p52), x = in->arg[0];
  ref near = lower_bin(l, VYRE_OP_SUB, lower_bin(l, VYRE_OP_ADD, a, magic), magic);
  ref is_above = lower_bin(l, VYRE_OP_GT, near, a), is_below = lower_bin(l, VYRE_OP_LT, near, a);
  if (in->op == VYRE_OP_RINT) return near;
  if (in->op == VYRE_OP_ROUND) { // a half that went down to the even number
    ref rest = lower_bin(l, VYRE_OP_SUB, a, near);
    return corrected(l, in, lower_bin(l, VYRE_OP_EQ, rest, number(l, in, 0.5)), near, 1);
  }
  ref down = corrected(l, in, is_above, near, -1);
  if (in->op == VYRE_OP_TRUNC) return down;
  // It is a magnitude that is rounded: those of negative numbers go the other way.
  ref up = corrected(l, in, is_below, near, 1);
  ref is_negative = lower_bin(l, VYRE_OP_LT, x, number(l, in, 0));
  bool is_floor = in->op == VYRE_OP_FLOOR;
  return lower_select(l, is_negative, is_floor ? up : down, is_floor ? down : up);
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  ref x = in->arg[0], a = lower_un(l, VYRE_OP_ABS, x);
  ref has_fraction = lower_bin(l, VYRE_OP_LT, a, number(l, in, t == VYRE_F32 ? 0x1p23 : 0x1p52));
  return lower_select(l, has_fraction, with_sign_of(l, t, whole(l, in, a), x), x);
}

const recipe recipe_rounding = {
    .name = "rounding",
    .doc = "floor, ceil, trunc, round and rint by adding and subtracting 2^mantissa",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
