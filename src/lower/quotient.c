// SPDX-License-Identifier: MIT
//
// Correctly rounded f32 division and square root by way of f64. Rounding twice is harmless there: a
// format with at least 2p + 2 digits (53 >= 2 * 24 + 2) holds enough of a quotient or a root of
// p-digit numbers that the second rounding decides as one alone would, subnormal results included,
// because those have fewer digits still.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->rounds_f32_division;
}

static bool takes(const lowering *l, const inst *in) {
  return in->type == VYRE_F32 && (in->op == VYRE_OP_DIV || in->op == VYRE_OP_SQRT) &&
         l->target->has_f64 && l->target->rounds_f64_division;
}

static ref rewrite(lowering *l, const inst *in) {
  ref x = lower_convert(l, VYRE_F64, in->arg[0]);
  ref made = in->op == VYRE_OP_SQRT
                 ? lower_un(l, VYRE_OP_SQRT, x)
                 : lower_bin(l, VYRE_OP_DIV, x, lower_convert(l, VYRE_F64, in->arg[1]));
  return lower_convert(l, VYRE_F32, made);
}

const recipe recipe_quotient = {
    .name = "quotient",
    .doc = "correctly rounded f32 division and square root by way of f64",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
