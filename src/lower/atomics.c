// SPDX-License-Identifier: MIT
//
// Atomics that a device lacks, by compare-exchange: what is there is guessed (0 at first), the
// exchange tells what really was there, and is done when the guess was right.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return t->has_only_cas || !t->has_i64_extended_atomics || !t->has_float_atomics ||
         !t->keeps_f32_subnormals || !t->keeps_f64_subnormals;
}

// Of a device that flushes subnormal numbers nothing else is to be expected of its atomics.
static bool has_float_atomics(const lower_target *t, vyre_type type) {
  return t->has_float_atomics &&
         (type == VYRE_F32 ? t->keeps_f32_subnormals : t->keeps_f64_subnormals);
}

static bool is_extended(vyre_op op) {
  return op >= VYRE_OP_ATOMIC_MIN && op <= VYRE_OP_ATOMIC_XOR;
}

static bool takes(const lowering *l, const inst *in) {
  if (!op_is_atomic(in->op) || in->op == VYRE_OP_ATOMIC_CAS) return false;
  if (l->target->has_only_cas) return true;
  if (type_is_float(in->type)) return !has_float_atomics(l->target, (vyre_type)in->type);
  bool is_wide = type_bits(in->type) == 64;
  return is_wide && is_extended((vyre_op)in->op) && !l->target->has_i64_extended_atomics;
}

static vyre_type bits_type(vyre_type t) {
  return type_bits(t) == 64 ? VYRE_I64 : VYRE_I32;
}

// A number replaces NaN, and of equal ones that with the sign that is looked for: only zeros
// differ.
static ref extreme_float(lowering *l, bool is_min, ref old, ref x) {
  vyre_type bits = bits_type(lower_type(l, x));
  ref is_beyond = lower_bin(l, is_min ? VYRE_OP_LT : VYRE_OP_GT, x, old);
  ref is_nan = lower_bin(l, VYRE_OP_NE, old, old);
  ref has_sign = lower_bin(l, is_min ? VYRE_OP_LT : VYRE_OP_GE, lower_bitcast(l, bits, x),
                           lower_const(l, bits, 0));
  ref is_zero = lower_bin(l, VYRE_OP_AND, lower_bin(l, VYRE_OP_EQ, x, old), has_sign);
  ref wins = lower_bin(l, VYRE_OP_OR, lower_bin(l, VYRE_OP_OR, is_beyond, is_nan), is_zero);
  return lower_select(l, wins, x, old);
}

static ref combined(lowering *l, const inst *in, ref old) {
  static const uint8_t plain[] = {VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MIN, VYRE_OP_MAX,
                                  VYRE_OP_AND, VYRE_OP_OR,  VYRE_OP_XOR};
  static_assert(sizeof plain == VYRE_OP_ATOMIC_EXCHANGE - VYRE_OP_ATOMIC_ADD, "in this order");
  if (in->op == VYRE_OP_ATOMIC_EXCHANGE) return in->arg[2];
  bool is_order = in->op == VYRE_OP_ATOMIC_MIN || in->op == VYRE_OP_ATOMIC_MAX;
  if (is_order && type_is_float(in->type))
    return extreme_float(l, in->op == VYRE_OP_ATOMIC_MIN, old, in->arg[2]);
  return lower_bin(l, (vyre_op)plain[in->op - VYRE_OP_ATOMIC_ADD], old, in->arg[2]);
}

// Of floats it is the bits that have to be the guessed ones.
static ref differ(lowering *l, vyre_type t, ref x, ref y) {
  if (!type_is_float(t)) return lower_bin(l, VYRE_OP_NE, x, y);
  vyre_type bits = bits_type(t);
  return lower_bin(l, VYRE_OP_NE, lower_bitcast(l, bits, x), lower_bitcast(l, bits, y));
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  vyre_var guess = lower_var(l, lower_const(l, t, 0));
  vyre_build_while(l->b);
  ref guessed = lower_get(l, guess);
  inst exchange = {.op = VYRE_OP_ATOMIC_CAS,
                   .type = in->type,
                   .promised_by = in->promised_by, // the index is the same
                   .arg = {in->arg[0], in->arg[1], guessed, combined(l, in, guessed)}};
  l->origin = 0;
  ref found = lower_op(l, &exchange);
  lower_set(l, guess, found);
  vyre_build_do(l->b, differ(l, t, found, guessed));
  lower_end(l);
  return lower_get(l, guess);
}

const recipe recipe_atomics = {
    .name = "atomics",
    .doc = "atomics that the device lacks, by compare-exchange",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
