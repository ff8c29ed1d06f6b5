// SPDX-License-Identifier: MIT
//
// Total division: x / 0 is 0, x % 0 is x, MIN / -1 is MIN and MIN % -1 is 0. The divisor is made 1
// where it is 0, or -1 of a signed type, and the result is chosen afterwards.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->has_total_division;
}

static bool takes(const lowering *l, const inst *in) {
  (void)l;
  if (in->promised_by) return false;
  return in->op == VYRE_OP_REM || (in->op == VYRE_OP_DIV && type_is_int(in->type));
}

static ref by_constant(lowering *l, const inst *in, uint64_t divisor) {
  vyre_type t = (vyre_type)in->type;
  bool is_div = in->op == VYRE_OP_DIV;
  if (divisor == 0) return is_div ? lower_const(l, t, 0) : in->arg[0];
  if (type_is_signed(t) && divisor == UINT64_MAX)
    return is_div ? lower_un(l, VYRE_OP_NEG, in->arg[0]) : lower_const(l, t, 0);
  return promise(l, *in);
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  uint64_t divisor;
  if (lower_const_bits(l, in->arg[1], &divisor)) return by_constant(l, in, divisor);
  ref x = in->arg[0], y = in->arg[1], zero = lower_const(l, t, 0);
  ref is_zero = lower_bin(l, VYRE_OP_EQ, y, zero), is_minus_one = 0, is_odd = is_zero;
  if (type_is_signed(t)) {
    is_minus_one = lower_bin(l, VYRE_OP_EQ, y, lower_const(l, t, UINT64_MAX));
    is_odd = lower_bin(l, VYRE_OP_OR, is_zero, is_minus_one);
  }
  inst safe = *in;
  safe.arg[1] = lower_select(l, is_odd, lower_const(l, t, 1), y);
  ref made = promise(l, safe);
  if (in->op == VYRE_OP_REM) return lower_select(l, is_zero, x, made); // by -1 as by 1: 0
  if (is_minus_one) made = lower_select(l, is_minus_one, lower_un(l, VYRE_OP_NEG, x), made);
  return lower_select(l, is_zero, zero, made);
}

const recipe recipe_division = {
    .name = "division",
    .doc = "x / 0, x % 0, MIN / -1 and MIN % -1: the divisor is replaced, the result chosen",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
