// SPDX-License-Identifier: MIT
//
// Float to integer saturates, and NaN gives 0. Where the ends of the integer type are exact in the
// float type, the float is brought between them first and nothing is left to choose. Elsewhere what
// is outside is converted as 0, and the result is chosen afterwards.
#include "lower/recipe.h"

#include <math.h>

static bool is_needed(const lower_target *t) {
  return !t->saturates_conversion;
}

static bool takes(const lowering *l, const inst *in) {
  return in->op == VYRE_OP_CONVERT && !in->promised_by && type_is_int(in->type) &&
         type_is_float(lower_type(l, in->arg[0]));
}

static ref convert_inside(lowering *l, const inst *in, ref x) {
  inst inside = *in;
  inside.arg[0] = x;
  return promise(l, inside);
}

// x > lo ? x : lo also turns NaN into lo.
static ref clamp_first(lowering *l, const inst *in, double least, double most) {
  vyre_type from = lower_type(l, in->arg[0]), to = (vyre_type)in->type;
  ref lo = lower_float(l, from, least), hi = lower_float(l, from, most), x = in->arg[0];
  x = lower_select(l, lower_bin(l, VYRE_OP_GT, x, lo), x, lo);
  x = lower_select(l, lower_bin(l, VYRE_OP_LT, x, hi), x, hi);
  ref made = convert_inside(l, in, x);
  if (!type_is_signed(to)) return made;
  ref is_nan = lower_bin(l, VYRE_OP_NE, in->arg[0], in->arg[0]);
  return lower_select(l, is_nan, lower_const(l, to, 0), made);
}

static ref choose_after(lowering *l, const inst *in, double least, double limit) {
  vyre_type from = lower_type(l, in->arg[0]), to = (vyre_type)in->type;
  ref x = in->arg[0], lo = lower_float(l, from, least), end = lower_float(l, from, limit);
  ref safe = x, zero = lower_const(l, to, 0);
  bool is_signed = type_is_signed(to), is_any = l->target->converts_any;
  if (!is_any) {
    ref is_from = lower_bin(l, VYRE_OP_GE, x, lo), is_below = lower_bin(l, VYRE_OP_LT, x, end);
    ref is_inside = lower_bin(l, VYRE_OP_AND, is_from, is_below);
    safe = lower_select(l, is_inside, x, lower_float(l, from, 0));
  }
  ref made = convert_inside(l, in, safe);
  ref is_over = lower_bin(l, VYRE_OP_GE, x, end);
  made = lower_select(l, is_over, lower_const(l, to, type_max(to)), made);
  if (!is_signed && is_any) made = lower_select(l, lower_bin(l, VYRE_OP_GE, x, lo), made, zero);
  if (!is_signed) return made;
  ref is_under = lower_bin(l, VYRE_OP_LT, x, lo);
  made = lower_select(l, is_under, lower_const(l, to, ~type_max(to)), made);
  return is_any ? lower_select(l, lower_bin(l, VYRE_OP_NE, x, x), zero, made) : made;
}

static ref rewrite(lowering *l, const inst *in) {
  unsigned bits = type_bits(in->type);
  int is_signed = type_is_signed(in->type);
  double least = is_signed ? -ldexp(1, (int)bits - 1) : 0, limit = ldexp(1, (int)bits - is_signed);
  unsigned exact = lower_type(l, in->arg[0]) == VYRE_F32 ? 16 : 32;
  return bits <= exact ? clamp_first(l, in, least, limit - 1) : choose_after(l, in, least, limit);
}

const recipe recipe_conversion = {
    .name = "conversion",
    .doc = "float to integer: what is outside of the type is replaced, the result chosen",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
