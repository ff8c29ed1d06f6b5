// SPDX-License-Identifier: MIT
//
// The bits of a float as an integer: every NaN has the canonical ones.
#include "lower/recipe.h"

enum { DEPTH = 4 }; // of what is followed to a number

static bool is_needed(const lower_target *t) {
  return !t->has_one_nan;
}

static bool takes(const lowering *l, const inst *in) {
  return in->op == VYRE_OP_BITCAST && !in->promised_by && type_is_int(in->type) &&
         type_is_float(lower_type(l, in->arg[0]));
}

static bool is_number(const lowering *l, vyre_type t, ref x, bool is_zero_fine) {
  uint64_t bits;
  if (!lower_const_bits(l, x, &bits)) return false;
  bool is_zero = !(bits & (type_sign_bit(t) - 1));
  return type_exponent(t, bits) != type_exponents(t) && (is_zero_fine || !is_zero);
}

// min and max give their second operand when one is NaN. Products with a number that is not 0, and
// sums with any number, are NaN only when the other operand is, be it infinite.
static bool is_never_nan(const lowering *l, ref x, unsigned depth) {
  const inst *made = ref_is_wide(x) || ref_is_const(x) ? NULL : builder_inst(l->b, x);
  if (!made || !depth || !type_is_float(made->type)) return false;
  vyre_type t = (vyre_type)made->type;
  const ref *arg = made->arg;
  uint64_t bits;
  if (made->op == VYRE_OP_MIN || made->op == VYRE_OP_MAX)
    return lower_const_bits(l, arg[1], &bits) && !type_is_nan(t, bits);
  if (made->op == VYRE_OP_FMA)
    return is_number(l, t, arg[1], false) && is_number(l, t, arg[2], true) &&
           is_never_nan(l, arg[0], depth - 1);
  return false;
}

static ref rewrite(lowering *l, const inst *in) {
  ref x = in->arg[0];
  if (is_never_nan(l, x, DEPTH)) return promise(l, *in);
  vyre_type from = lower_type(l, x), to = (vyre_type)in->type;
  ref is_nan = lower_bin(l, VYRE_OP_NE, x, x);
  uint64_t canonical = type_canonical_bits(from, UINT64_MAX);
  return lower_select(l, is_nan, lower_const(l, to, canonical), promise(l, *in));
}

const recipe recipe_nan_bits = {
    .name = "nan_bits",
    .doc = "a NaN whose bits are taken is made the canonical one",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
