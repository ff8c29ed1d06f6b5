// SPDX-License-Identifier: MIT
//
// Counting bits by arithmetic: ones in pairs, nibbles, bytes, and the sum of the bytes by one
// product; zeros by way of ones. Narrow types are counted in u32.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return !t->has_bit_counts || !t->has_trailing_zeros;
}

static bool takes(const lowering *l, const inst *in) {
  if (in->op == VYRE_OP_CTZ) return !l->target->has_trailing_zeros;
  bool is_count = in->op == VYRE_OP_POPCOUNT || in->op == VYRE_OP_CLZ;
  return is_count && !l->target->has_bit_counts;
}

static ref shifted(lowering *l, vyre_op op, ref x, unsigned count) {
  return lower_bin(l, op, x, lower_const(l, lower_type(l, x), count));
}

static ref masked(lowering *l, ref x, uint64_t mask) {
  return lower_bin(l, VYRE_OP_AND, x, lower_const(l, lower_type(l, x), mask));
}

static ref ones(lowering *l, ref x) {
  vyre_type u = lower_type(l, x);
  if (l->target->has_bit_counts) return lower_un(l, VYRE_OP_POPCOUNT, x);
  x = lower_bin(l, VYRE_OP_SUB, x, masked(l, shifted(l, VYRE_OP_SHR, x, 1), 0x5555555555555555));
  x = lower_bin(l, VYRE_OP_ADD, masked(l, x, 0x3333333333333333),
                masked(l, shifted(l, VYRE_OP_SHR, x, 2), 0x3333333333333333));
  x = masked(l, lower_bin(l, VYRE_OP_ADD, x, shifted(l, VYRE_OP_SHR, x, 4)), 0x0f0f0f0f0f0f0f0f);
  x = lower_bin(l, VYRE_OP_MUL, x, lower_const(l, u, 0x0101010101010101));
  return shifted(l, VYRE_OP_SHR, x, type_bits(u) - 8);
}

// The highest one and all below it: as many ones as the number has digits.
static ref leading_zeros(lowering *l, ref x, unsigned width) {
  vyre_type u = lower_type(l, x);
  for (unsigned count = 1; count < width; count *= 2)
    x = lower_bin(l, VYRE_OP_OR, x, shifted(l, VYRE_OP_SHR, x, count));
  return lower_bin(l, VYRE_OP_SUB, lower_const(l, u, width), ones(l, x));
}

// The ones below the lowest one. A one behind the highest bit of a narrow type ends the search.
static ref trailing_zeros(lowering *l, ref x, unsigned width) {
  vyre_type u = lower_type(l, x);
  if (width < type_bits(u))
    x = lower_bin(l, VYRE_OP_OR, x, lower_const(l, u, (uint64_t)1 << width));
  ref below = lower_bin(l, VYRE_OP_SUB, x, lower_const(l, u, 1));
  return ones(l, lower_bin(l, VYRE_OP_AND, lower_un(l, VYRE_OP_NOT, x), below));
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  unsigned width = type_bits(t);
  ref x = lower_convert(l, type_to_unsigned(t), in->arg[0]);
  if (width < 32) x = lower_convert(l, VYRE_U32, x);
  ref made = in->op == VYRE_OP_POPCOUNT ? ones(l, x)
             : in->op == VYRE_OP_CLZ    ? leading_zeros(l, x, width)
                                        : trailing_zeros(l, x, width);
  return lower_convert(l, t, made);
}

const recipe recipe_counts = {
    .name = "counts",
    .doc = "popcount, clz and ctz by arithmetic",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
