// SPDX-License-Identifier: MIT
//
// min and max by compare and select, which is how the IR defines them for NaN and signed zeros.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->has_float_minmax || !t->has_integer_minmax;
}

static bool takes(const lowering *l, const inst *in) {
  if (in->op != VYRE_OP_MIN && in->op != VYRE_OP_MAX) return false;
  return type_is_float(in->type) ? !l->target->has_float_minmax : !l->target->has_integer_minmax;
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_op compare = in->op == VYRE_OP_MIN ? VYRE_OP_LT : VYRE_OP_GT;
  ref is_first = lower_bin(l, compare, in->arg[0], in->arg[1]);
  return lower_select(l, is_first, in->arg[0], in->arg[1]);
}

const recipe recipe_minmax = {
    .name = "minmax",
    .doc = "min and max by compare and select",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
