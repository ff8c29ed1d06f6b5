// SPDX-License-Identifier: MIT
//
// Shift counts are taken modulo the width.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->wraps_counts;
}

static bool takes(const lowering *l, const inst *in) {
  (void)l;
  return (in->op == VYRE_OP_SHL || in->op == VYRE_OP_SHR) && !in->promised_by;
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  uint64_t count, last = type_bits(t) - 1;
  inst masked = *in;
  masked.arg[1] = lower_const_bits(l, in->arg[1], &count)
                      ? lower_const(l, t, count & last)
                      : lower_bin(l, VYRE_OP_AND, in->arg[1], lower_const(l, t, last));
  return promise(l, masked);
}

const recipe recipe_shift = {
    .name = "shift",
    .doc = "shift counts are masked",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
