// SPDX-License-Identifier: MIT
//
// Atomics that a device lacks, by compare-exchange: what is there is guessed (0 at first), the
// exchange tells what really was there, and is done when the guess was right.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return t->has_only_cas || !t->has_i64_extended_atomics;
}

static bool is_extended(vyre_op op) {
  return op >= VYRE_OP_ATOMIC_MIN && op <= VYRE_OP_ATOMIC_XOR;
}

static bool takes(const lowering *l, const inst *in) {
  if (!op_is_atomic(in->op) || in->op == VYRE_OP_ATOMIC_CAS) return false;
  if (l->target->has_only_cas) return true;
  bool is_wide = type_bits(in->type) == 64;
  return is_wide && is_extended((vyre_op)in->op) && !l->target->has_i64_extended_atomics;
}

static ref combined(lowering *l, const inst *in, ref old) {
  static const uint8_t plain[] = {VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MIN, VYRE_OP_MAX,
                                  VYRE_OP_AND, VYRE_OP_OR,  VYRE_OP_XOR};
  static_assert(sizeof plain == VYRE_OP_ATOMIC_EXCHANGE - VYRE_OP_ATOMIC_ADD, "in this order");
  if (in->op == VYRE_OP_ATOMIC_EXCHANGE) return in->arg[2];
  return lower_bin(l, (vyre_op)plain[in->op - VYRE_OP_ATOMIC_ADD], old, in->arg[2]);
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
  vyre_build_do(l->b, lower_bin(l, VYRE_OP_NE, found, guessed));
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
