// SPDX-License-Identifier: MIT
//
// A for whose last step might wrap would never end where the counter is compared after it was
// stepped. It counts its iterations instead, by one, which cannot wrap, and computes its value.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->counts_by_any_step;
}

static bool takes(const lowering *l, const inst *in) {
  (void)l;
  return in->op == VYRE_OP_FOR && !in->promised_by;
}

// Whether no value behind the last one wraps: by one never, because it is at most hi.
static bool is_plain(const lowering *l, const inst *in, uint64_t step) {
  vyre_type t = (vyre_type)in->type;
  uint64_t hi, top = type_max(t);
  if (step == 1) return true;
  if (!lower_const_bits(l, in->arg[1], &hi)) return false;
  bool is_negative = type_is_signed(t) && (int64_t)hi < 0;
  return is_negative ? step <= top : hi <= top && step - 1 <= top - hi;
}

static ref rewrite(lowering *l, const inst *in) {
  uint64_t step = 1;
  lower_const_bits(l, in->arg[2], &step);
  if (is_plain(l, in, step)) return promise(l, *in);
  vyre_type t = (vyre_type)in->type, u = type_to_unsigned(t);
  ref lo = in->arg[0], hi = in->arg[1], first = lower_convert(l, u, lo);
  ref one = lower_const(l, u, 1), by = lower_const(l, u, step);
  ref way = lower_bin(l, VYRE_OP_SUB, lower_convert(l, u, hi), first);
  ref whole = lower_bin(l, VYRE_OP_DIV, lower_bin(l, VYRE_OP_SUB, way, one), by);
  ref trips = lower_select(l, lower_bin(l, VYRE_OP_LT, lo, hi),
                           lower_bin(l, VYRE_OP_ADD, whole, one), lower_const(l, u, 0));
  ref zero = lower_const(l, u, 0);
  ref trip = promise(l, (inst){.op = VYRE_OP_FOR, .type = (uint8_t)u, .arg = {zero, trips, one}});
  ref at = lower_bin(l, VYRE_OP_ADD, first, lower_bin(l, VYRE_OP_MUL, trip, by));
  return lower_convert(l, t, at);
}

const recipe recipe_loop = {
    .name = "loop",
    .doc = "a for whose last step might wrap counts its iterations",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
