// SPDX-License-Identifier: MIT
//
// Rotations as two shifts of the unsigned type. A count of 0 shifts by 0 both ways, so that the two
// parts are the same and their union is right.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->has_rotate;
}

static bool takes(const lowering *l, const inst *in) {
  (void)l;
  return in->op == VYRE_OP_ROTL || in->op == VYRE_OP_ROTR;
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_type t = (vyre_type)in->type, u = type_to_unsigned(t);
  ref x = lower_convert(l, u, in->arg[0]), count = lower_convert(l, u, in->arg[1]);
  ref back = lower_bin(l, VYRE_OP_SUB, lower_const(l, u, 0), count);
  bool is_left = in->op == VYRE_OP_ROTL;
  ref one = lower_bin(l, is_left ? VYRE_OP_SHL : VYRE_OP_SHR, x, count);
  ref other = lower_bin(l, is_left ? VYRE_OP_SHR : VYRE_OP_SHL, x, back);
  return lower_convert(l, t, lower_bin(l, VYRE_OP_OR, one, other));
}

const recipe recipe_rotation = {
    .name = "rotation",
    .doc = "rotations as two shifts",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
