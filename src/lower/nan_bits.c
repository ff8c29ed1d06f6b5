// SPDX-License-Identifier: MIT
//
// The bits of a float as an integer: every NaN has the canonical ones.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->has_one_nan;
}

static bool takes(const lowering *l, const inst *in) {
  return in->op == VYRE_OP_BITCAST && !in->promised_by && type_is_int(in->type) &&
         type_is_float(lower_type(l, in->arg[0]));
}

// min and max give their second operand when one is NaN.
static bool is_never_nan(const lowering *l, ref x) {
  const inst *made = ref_is_wide(x) || ref_is_const(x) ? NULL : builder_inst(l->b, x);
  uint64_t bits;
  return made && (made->op == VYRE_OP_MIN || made->op == VYRE_OP_MAX) &&
         lower_const_bits(l, made->arg[1], &bits) && !type_is_nan((vyre_type)made->type, bits);
}

static ref rewrite(lowering *l, const inst *in) {
  ref x = in->arg[0];
  if (is_never_nan(l, x)) return promise(l, *in);
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
