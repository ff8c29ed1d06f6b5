// SPDX-License-Identifier: MIT
//
// The absolute value of integers, by compare and select; that of the lowest number is itself.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->has_integer_abs;
}

static bool takes(const lowering *l, const inst *in) {
  (void)l;
  return in->op == VYRE_OP_ABS && type_is_int(in->type);
}

static ref rewrite(lowering *l, const inst *in) {
  ref x = in->arg[0];
  if (!type_is_signed(in->type)) return x;
  ref is_negative = lower_bin(l, VYRE_OP_LT, x, lower_const(l, (vyre_type)in->type, 0));
  return lower_select(l, is_negative, lower_un(l, VYRE_OP_NEG, x), x);
}

const recipe recipe_magnitude = {
    .name = "magnitude",
    .doc = "the absolute value of integers, by compare and select",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
