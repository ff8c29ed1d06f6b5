// SPDX-License-Identifier: MIT
//
// Arithmetic, bits and comparisons of pairs, for every operand, as the IR means them.
#include "lower/soft.h"
#include "lower/wide.h"

#include "ir/op_groups.h"

typedef struct operation {
  vyre_type type; // of the operands
  bool is_signed;
  pair x, y;
} operation;

static ref number(lowering *l, uint64_t bits) {
  return lower_const(l, VYRE_U32, bits);
}

// ---- comparison ---------------------------------------------------------------------------------

// A signed number with its sign changed is in the order of unsigned ones.
static pair ordered(lowering *l, const operation *o, pair a) {
  if (!o->is_signed) return a;
  return (pair){a.lo, lower_bin(l, VYRE_OP_XOR, a.hi, number(l, 0x80000000))};
}

static ref is_less(lowering *l, const operation *o, pair a, pair b) {
  return pair_is_less(l, ordered(l, o, a), ordered(l, o, b));
}

// ---- products -----------------------------------------------------------------------------------

static pair multiply(lowering *l, pair x, pair y) {
  pair low = pair_product(l, x.lo, y.lo);
  ref cross = lower_bin(l, VYRE_OP_ADD, lower_bin(l, VYRE_OP_MUL, x.lo, y.hi),
                        lower_bin(l, VYRE_OP_MUL, x.hi, y.lo));
  return (pair){low.lo, lower_bin(l, VYRE_OP_ADD, low.hi, cross)};
}

// As the recipe `mulhi` from half words, here from words: no sum overflows.
static pair upper_product(lowering *l, const operation *o) {
  pair x = o->x, y = o->y, zero = pair_const(l, VYRE_U32, 0, 0);
  pair middle =
      pair_add(l, pair_product(l, x.hi, y.lo), (pair){pair_product(l, x.lo, y.lo).hi, zero.hi});
  pair other = pair_add(l, pair_product(l, x.lo, y.hi), (pair){middle.lo, zero.hi});
  pair made = pair_add(l, pair_product(l, x.hi, y.hi), (pair){middle.hi, zero.hi});
  made = pair_add(l, made, (pair){other.hi, zero.hi});
  if (!o->is_signed) return made;
  // A negative factor counts 2^64 less than its unsigned reading.
  made = pair_sub(l, made, pair_select(l, wide_sign(l, x), y, zero));
  return pair_sub(l, made, pair_select(l, wide_sign(l, y), x, zero));
}

// ---- division -----------------------------------------------------------------------------------

typedef struct divided {
  pair quotient, rest;
} divided;

static void set_pair(lowering *l, const vyre_var at[2], pair value) {
  lower_set(l, at[0], value.lo);
  lower_set(l, at[1], value.hi);
}

// A digit at a time: the dividend's digits leave its variable at the top, and the quotient's come
// in at the bottom. A bit that leaves the rest says that it is larger than any divisor.
static divided divide_unsigned(lowering *l, pair x, pair y) {
  vyre_var digits[2] = {lower_var(l, x.lo), lower_var(l, x.hi)};
  vyre_var rest[2] = {lower_var(l, number(l, 0)), lower_var(l, number(l, 0))};
  ref one = number(l, 1), top = number(l, 31);
  soft_repeat(l, 64);
  pair next = {lower_get(l, digits[0]), lower_get(l, digits[1])};
  pair old = {lower_get(l, rest[0]), lower_get(l, rest[1])};
  pair now = pair_shl(l, old, one);
  now.lo = lower_bin(l, VYRE_OP_OR, now.lo, lower_bin(l, VYRE_OP_SHR, next.hi, top));
  ref is_above = lower_un(l, VYRE_OP_NOT, pair_is_less(l, now, y));
  ref fits = lower_bin(l, VYRE_OP_OR, wide_sign(l, old), is_above);
  next = pair_shl(l, next, one);
  next.lo = lower_bin(l, VYRE_OP_OR, next.lo, lower_select(l, fits, one, number(l, 0)));
  set_pair(l, digits, next);
  set_pair(l, rest, pair_select(l, fits, pair_sub(l, now, y), now));
  lower_end(l);
  return (divided){{lower_get(l, digits[0]), lower_get(l, digits[1])},
                   {lower_get(l, rest[0]), lower_get(l, rest[1])}};
}

// By magnitudes. That of MIN is right as an unsigned number, and MIN / -1 is MIN again.
static pair divide(lowering *l, const operation *o, bool is_quotient) {
  pair x = o->x, y = o->y, zero = pair_const(l, VYRE_U32, 0, 0);
  ref x_sign = wide_sign(l, x), y_sign = wide_sign(l, y);
  if (o->is_signed) {
    x = pair_select(l, x_sign, wide_negate(l, x), x);
    y = pair_select(l, y_sign, wide_negate(l, y), y);
  }
  divided d = divide_unsigned(l, x, y);
  pair made = is_quotient ? d.quotient : d.rest;
  ref is_negative = is_quotient ? lower_bin(l, VYRE_OP_XOR, x_sign, y_sign) : x_sign;
  if (o->is_signed) made = pair_select(l, is_negative, wide_negate(l, made), made);
  return pair_select(l, pair_is_zero(l, o->y), is_quotient ? zero : o->x, made);
}

// ---- bits ---------------------------------------------------------------------------------------

static pair shift_right(lowering *l, const operation *o, pair a, ref count) {
  ref fill = number(l, 0);
  if (o->is_signed) fill = lower_select(l, wide_sign(l, a), number(l, UINT32_MAX), fill);
  return pair_shr(l, a, count, fill);
}

static pair rotate(lowering *l, const operation *o, ref count, bool is_left) {
  ref back = lower_bin(l, VYRE_OP_SUB, number(l, 0), count);
  back = lower_bin(l, VYRE_OP_AND, back, number(l, 63));
  pair up = pair_shl(l, o->x, is_left ? count : back);
  return pair_each(l, VYRE_OP_OR, up, pair_shr(l, o->x, is_left ? back : count, number(l, 0)));
}

static ref trailing_zeros(lowering *l, pair a) {
  ref above = lower_bin(l, VYRE_OP_ADD, lower_un(l, VYRE_OP_CTZ, a.hi), number(l, 32));
  ref is_above = lower_bin(l, VYRE_OP_EQ, a.lo, number(l, 0));
  return lower_select(l, is_above, above, lower_un(l, VYRE_OP_CTZ, a.lo));
}

static ref ones(lowering *l, pair a) {
  return lower_bin(l, VYRE_OP_ADD, lower_un(l, VYRE_OP_POPCOUNT, a.lo),
                   lower_un(l, VYRE_OP_POPCOUNT, a.hi));
}

// ---- all ----------------------------------------------------------------------------------------

static ref compared(lowering *l, const operation *o, vyre_op op) {
  switch (op) {
  case VYRE_OP_EQ: return pair_is_equal(l, o->x, o->y);
  case VYRE_OP_NE: return lower_un(l, VYRE_OP_NOT, pair_is_equal(l, o->x, o->y));
  case VYRE_OP_LT: return is_less(l, o, o->x, o->y);
  case VYRE_OP_GT: return is_less(l, o, o->y, o->x);
  case VYRE_OP_LE: return lower_un(l, VYRE_OP_NOT, is_less(l, o, o->y, o->x));
  default: return lower_un(l, VYRE_OP_NOT, is_less(l, o, o->x, o->y)); // ge: only they are asked
  }
}

static pair computed(lowering *l, const operation *o, vyre_op op) {
  ref zero = number(l, 0), count = 0;
  if (op == VYRE_OP_SHL || op == VYRE_OP_SHR || op == VYRE_OP_ROTL || op == VYRE_OP_ROTR)
    count = lower_bin(l, VYRE_OP_AND, o->y.lo, number(l, 63));
  switch (op) {
  case VYRE_OP_ADD: return pair_add(l, o->x, o->y);
  case VYRE_OP_SUB: return pair_sub(l, o->x, o->y);
  case VYRE_OP_MUL: return multiply(l, o->x, o->y);
  case VYRE_OP_DIV: return divide(l, o, true);
  case VYRE_OP_REM: return divide(l, o, false);
  case VYRE_OP_NEG: return wide_negate(l, o->x);
  case VYRE_OP_ABS:
    return o->is_signed ? pair_select(l, wide_sign(l, o->x), wide_negate(l, o->x), o->x) : o->x;
  case VYRE_OP_MIN: return pair_select(l, is_less(l, o, o->x, o->y), o->x, o->y);
  case VYRE_OP_MAX: return pair_select(l, is_less(l, o, o->y, o->x), o->x, o->y);
  case VYRE_OP_MULHI: return upper_product(l, o);
  case VYRE_OP_AND:
  case VYRE_OP_OR:
  case VYRE_OP_XOR: return pair_each(l, op, o->x, o->y);
  case VYRE_OP_NOT:
    return (pair){lower_un(l, VYRE_OP_NOT, o->x.lo), lower_un(l, VYRE_OP_NOT, o->x.hi)};
  case VYRE_OP_SHL: return pair_shl(l, o->x, count);
  case VYRE_OP_SHR: return shift_right(l, o, o->x, count);
  case VYRE_OP_ROTL: return rotate(l, o, count, true);
  case VYRE_OP_ROTR: return rotate(l, o, count, false);
  case VYRE_OP_POPCOUNT: return (pair){ones(l, o->x), zero};
  case VYRE_OP_CLZ: return (pair){pair_clz(l, o->x), zero};
  case VYRE_OP_CTZ: return (pair){trailing_zeros(l, o->x), zero};
  case OPS_COMPARISON:
  case OPS_EXACT_FLOAT:
  case OPS_TRANSFER:
  case OPS_MATH:
  case OPS_NOT_COMPUTED: break; // the caller does not ask
  }
  return o->x;
}

ref wide_arithmetic(lowering *l, const inst *in) {
  operation o = {.type = lower_type(l, in->arg[0])};
  o.is_signed = type_is_signed(o.type);
  o.x = wide_split(l, in->arg[0]);
  o.y = op_table[in->op].operand_count > 1 ? wide_split(l, in->arg[1]) : o.x;
  if (in->type == VYRE_BOOL) return compared(l, &o, (vyre_op)in->op);
  return wide_make(l, (vyre_type)in->type, computed(l, &o, (vyre_op)in->op));
}
