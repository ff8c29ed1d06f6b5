// SPDX-License-Identifier: MIT
#include "front/clang/lower.h"

#include "ir/eval.h"

#include <string.h>

ref e_const(lowering *l, vyre_type type, uint64_t bits) {
  return vyre_build_const(l->b, type, bits);
}

ref e_float(lowering *l, vyre_type type, double value) {
  return type == VYRE_F64   ? vyre_build_f64(l->b, value)
         : type == VYRE_F16 ? vyre_build_f16(l->b, (float)value)
                            : vyre_build_f32(l->b, (float)value);
}

ref e_int(lowering *l, vyre_type type, int64_t value) {
  return type_is_float(type) ? e_float(l, type, (double)value) : e_const(l, type, (uint64_t)value);
}

ref e_zero(lowering *l, vyre_type type) {
  return e_const(l, type, 0);
}

bool e_is_const(lowering *l, ref r, uint64_t *bits) {
  return builder_const_bits(l->b, r, bits);
}

vyre_type e_type(lowering *l, ref r) {
  return vyre_build_type_of(l->b, r);
}

// Folds when all operands are constants; mathematical functions are left to their one definition.
static ref emit(lowering *l, vyre_op op, vyre_type type, uint32_t count, const ref *args) {
  uint64_t bits[3] = {0};
  bool is_const = eval_can(op);
  for (uint32_t i = 0; i < count && is_const; i++) is_const = e_is_const(l, args[i], &bits[i]);
  if (!is_const) return vyre_build_op(l->b, op, type, count, args);
  vyre_type operand = e_type(l, args[op == VYRE_OP_SELECT ? 1 : 0]);
  unsigned rule = op_table[op].rule;
  if (rule == RULE_EQUALITY || rule == RULE_ORDER)
    type = VYRE_BOOL;
  else if (type == VYRE_VOID)
    type = operand;
  return e_const(l, type, eval_op(op, type, operand, bits));
}

ref e_unary(lowering *l, vyre_op op, ref x) {
  return emit(l, op, VYRE_VOID, 1, &x);
}

ref e_binary(lowering *l, vyre_op op, ref x, ref y) {
  return emit(l, op, VYRE_VOID, 2, (ref[]){x, y});
}

ref e_select(lowering *l, ref c, ref x, ref y) {
  uint64_t bits;
  if (e_is_const(l, c, &bits)) return bits ? x : y;
  if (x == y) return x;
  return emit(l, VYRE_OP_SELECT, VYRE_VOID, 3, (ref[]){c, x, y});
}

ref e_fma(lowering *l, ref x, ref y, ref z) {
  return emit(l, VYRE_OP_FMA, VYRE_VOID, 3, (ref[]){x, y, z});
}

// Of two conversions between integers the inner one can be left out when the outer keeps no more
// bits than it did, or when it only widened.
static ref skip_conversion(lowering *l, vyre_type type, ref x) {
  while (!ref_is_const(x) && x && !e_is_named(l, x)) {
    const inst *in = builder_inst(l->b, x);
    if (in->op != VYRE_OP_CONVERT || !type_is_int(in->type)) break;
    vyre_type from = e_type(l, in->arg[0]);
    if (!type_is_int(from)) break;
    bool narrows = type_bits(type) <= type_bits(in->type);
    bool only_widened = type_bits(in->type) > type_bits(from) &&
                        (!type_is_signed(from) || type_is_signed(in->type));
    if (!narrows && !only_widened) break;
    x = in->arg[0];
  }
  return x;
}

ref e_convert(lowering *l, vyre_type type, ref x) {
  vyre_type from = e_type(l, x);
  if (from == type) return x;
  if (type == VYRE_BOOL) return e_true(l, x);
  if (type_is_int(type) && type_is_int(from)) {
    x = skip_conversion(l, type, x);
    if (e_type(l, x) == type) return x;
  }
  return emit(l, VYRE_OP_CONVERT, type, 1, &x);
}

ref e_bits(lowering *l, vyre_type type, ref x) {
  vyre_type from = e_type(l, x);
  if (from == type) return x;
  if (from == VYRE_BOOL || type == VYRE_BOOL) return e_convert(l, type, x);
  // Of two casts only the outer one counts. This matters: bits that are no number would be changed
  // on their way through a float.
  if (!ref_is_const(x)) {
    const inst *in = builder_inst(l->b, x);
    if (in->op == VYRE_OP_BITCAST && type_is_int(e_type(l, in->arg[0])))
      return e_bits(l, type, in->arg[0]);
  }
  return emit(l, VYRE_OP_BITCAST, type, 1, &x);
}

ref e_true(lowering *l, ref x) {
  vyre_type type = e_type(l, x);
  if (type == VYRE_BOOL) return x;
  if (!ref_is_const(x) && !e_is_named(l, x)) { // a bool that was made an integer
    const inst *in = builder_inst(l->b, x);
    if (in->op == VYRE_OP_CONVERT && e_type(l, in->arg[0]) == VYRE_BOOL) return in->arg[0];
  }
  return e_binary(l, VYRE_OP_NE, x, e_zero(l, type));
}

ref e_not(lowering *l, ref x) {
  if (!ref_is_const(x) && !e_is_named(l, x)) {
    static const uint8_t opposite[VYRE_OP_COUNT] = {
        [VYRE_OP_EQ] = VYRE_OP_NE, [VYRE_OP_NE] = VYRE_OP_EQ, [VYRE_OP_LT] = VYRE_OP_GE,
        [VYRE_OP_LE] = VYRE_OP_GT, [VYRE_OP_GT] = VYRE_OP_LE, [VYRE_OP_GE] = VYRE_OP_LT};
    const inst *in = builder_inst(l->b, x);
    // An order of floats has no opposite: both fail for NaN.
    bool is_order = in->op >= VYRE_OP_LT && in->op <= VYRE_OP_GE;
    if (opposite[in->op] && !(is_order && type_is_float(e_type(l, in->arg[0]))))
      return e_binary(l, (vyre_op)opposite[in->op], in->arg[0], in->arg[1]);
    if (in->op == VYRE_OP_NOT) return in->arg[0];
  }
  return e_unary(l, VYRE_OP_NOT, x);
}

ref e_and(lowering *l, ref x, ref y) {
  uint64_t bits;
  if (e_is_const(l, x, &bits)) return bits ? y : x;
  if (e_is_const(l, y, &bits)) return bits ? x : y;
  return e_binary(l, VYRE_OP_AND, x, y);
}

ref e_or(lowering *l, ref x, ref y) {
  uint64_t bits;
  if (e_is_const(l, x, &bits)) return bits ? x : y;
  if (e_is_const(l, y, &bits)) return bits ? y : x;
  return e_binary(l, VYRE_OP_OR, x, y);
}

ref e_add_const(lowering *l, ref x, int64_t c) {
  vyre_type type = e_type(l, x);
  uint64_t bits;
  if (!ref_is_const(x) && !e_is_named(l, x)) {
    const inst *in = builder_inst(l->b, x);
    if ((in->op == VYRE_OP_ADD || in->op == VYRE_OP_SUB) && e_is_const(l, in->arg[1], &bits)) {
      c += in->op == VYRE_OP_ADD ? (int64_t)bits : -(int64_t)bits;
      x = in->arg[0];
    }
  }
  if (c < 0) return e_binary(l, VYRE_OP_SUB, x, e_int(l, type, -c));
  return c ? e_binary(l, VYRE_OP_ADD, x, e_int(l, type, c)) : x;
}

// ---- names --------------------------------------------------------------------------------------

bool e_is_named(lowering *l, ref r) {
  return !ref_is_const(r) && r < l->named_capacity && l->is_named[r];
}

static void e_mark_named(lowering *l, ref r) {
  if (ref_is_const(r) || !r) return;
  if (r >= l->named_capacity) {
    uint32_t capacity = l->named_capacity ? l->named_capacity : 1024;
    while (capacity <= r) capacity *= 2;
    uint8_t *grown = UNIT_ARRAY(l->u, capacity, uint8_t);
    if (l->named_capacity) memcpy(grown, l->is_named, l->named_capacity);
    l->is_named = grown;
    l->named_capacity = capacity;
  }
  l->is_named[r] = 1;
}

void e_name(lowering *l, ref r, const char *name) {
  e_mark_named(l, r);
  vyre_build_name(l->b, r, name);
}

static bool can_be_named(lowering *l, ref r, uint32_t since) {
  return r && !ref_is_const(r) && r >= since && !e_is_named(l, r) &&
         builder_inst(l->b, r)->op != VYRE_OP_FOR;
}

ref e_let(lowering *l, ref r, uint32_t since, const char *name) {
  if (!can_be_named(l, r, since)) r = vyre_build_op(l->b, VYRE_OP_COPY, VYRE_VOID, 1, &r);
  e_name(l, r, name);
  return r;
}

void e_suggest(lowering *l, ref r, uint32_t since, const char *name) {
  if (!can_be_named(l, r, since)) return;
  unsigned rule = op_table[builder_inst(l->b, r)->op].rule;
  if (rule != RULE_PARAM && rule != RULE_AXIS) e_name(l, r, name); // these have names
}
