// SPDX-License-Identifier: MIT
//
// An exact f32 fma by way of f64. The product of two f32 is exact there. The sum with the third is
// rounded to odd: when it is not exact and its last bit is 0, it is moved by one towards what was
// lost, so that the last bit says that something was. Rounding that to f32 then decides as one
// rounding of the exact value does, because f64 has more than two digits to spare (Boldo and
// Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
// odd").
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->has_f32_fma;
}

static bool takes(const lowering *l, const inst *in) {
  return in->op == VYRE_OP_FMA && in->type == VYRE_F32 && l->target->has_f64 && l->target->has_i64;
}

// What is lost by rounding x + y to `sum`, exactly (Knuth).
static ref lost_by_sum(lowering *l, ref x, ref y, ref sum) {
  ref part = lower_bin(l, VYRE_OP_SUB, sum, x);
  ref of_x = lower_bin(l, VYRE_OP_SUB, x, lower_bin(l, VYRE_OP_SUB, sum, part));
  return lower_bin(l, VYRE_OP_ADD, of_x, lower_bin(l, VYRE_OP_SUB, y, part));
}

// Neither holds for 0, and none for the NaN that infinities leave: those sums stay as they are.
static ref to_odd(lowering *l, ref sum, ref lost) {
  ref zero = lower_float(l, VYRE_F64, 0), one = lower_const(l, VYRE_U64, 1);
  ref is_above = lower_bin(l, VYRE_OP_GT, lost, zero);
  ref is_below = lower_bin(l, VYRE_OP_LT, lost, zero);
  ref bits = promise(l, (inst){.op = VYRE_OP_BITCAST, .type = VYRE_U64, .arg = {sum}});
  ref is_even =
      lower_bin(l, VYRE_OP_EQ, lower_bin(l, VYRE_OP_AND, bits, one), lower_const(l, VYRE_U64, 0));
  ref is_away = lower_bin(l, VYRE_OP_EQ, is_above, lower_bin(l, VYRE_OP_GT, sum, zero));
  ref step = lower_select(l, is_away, one, lower_const(l, VYRE_U64, UINT64_MAX));
  ref moved = lower_bitcast(l, VYRE_F64, lower_bin(l, VYRE_OP_ADD, bits, step));
  ref is_moved = lower_bin(l, VYRE_OP_AND, is_even, lower_bin(l, VYRE_OP_OR, is_above, is_below));
  return lower_select(l, is_moved, moved, sum);
}

static ref rewrite(lowering *l, const inst *in) {
  ref x = lower_convert(l, VYRE_F64, in->arg[0]), y = lower_convert(l, VYRE_F64, in->arg[1]);
  ref z = lower_convert(l, VYRE_F64, in->arg[2]), product = lower_bin(l, VYRE_OP_MUL, x, y);
  ref sum = lower_bin(l, VYRE_OP_ADD, product, z);
  return lower_convert(l, VYRE_F32, to_odd(l, sum, lost_by_sum(l, product, z, sum)));
}

const recipe recipe_fused = {
    .name = "fused",
    .doc = "an exact f32 fma by way of f64, rounded to odd",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
