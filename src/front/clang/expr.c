// SPDX-License-Identifier: MIT
//
// Rvalues. Operands are evaluated from left to right. What C leaves to be skipped (the second part
// of && and ||, one side of ?:) is computed anyway when it is short and has no effect: no operation
// of the IR can fail.
#include "front/clang/lower.h"

// More than this is worth a branch.
enum { MOST_EAGER_NODES = 40 };

static uint32_t pure_size(lowering *l, const node *n) {
  const uint32_t impure = 1 << 20;
  switch (n->kind) {
  case N_BINARY:
    if (n->op >= CXBinaryOperator_Assign && n->op <= CXBinaryOperator_OrAssign) return impure;
    break;
  case N_UNARY:
    if (n->op >= CXUnaryOperator_PostInc && n->op <= CXUnaryOperator_PreDec) return impure;
    break;
  case N_CALL:
    if (n->callee || !builtin_is_pure(n->name)) return impure;
    break;
  case N_COMPOUND: // declares an object
  case N_STATEMENT: return impure;
  case N_INDEX:
    if (n->kid[0]->type->kind == T_VECTOR) return impure; // may declare one
    break;
  default: break;
  }
  uint32_t size = 1;
  for (uint32_t i = 0; i < n->count && size < impure; i++) size += pure_size(l, n->kid[i]);
  return size;
}

bool is_pure(lowering *l, const node *n) {
  return pure_size(l, n) <= MOST_EAGER_NODES;
}

// ---- conditions ---------------------------------------------------------------------------------

// The second part is evaluated only when the first is `when`.
static ref short_circuit(lowering *l, node *n, bool when) {
  ref first = condition(l, n->kid[0]);
  uint64_t known;
  if (e_is_const(l, first, &known)) return (known != 0) == when ? condition(l, n->kid[1]) : first;
  if (is_pure(l, n->kid[1])) {
    ref second = condition(l, n->kid[1]);
    return when ? e_and(l, first, second) : e_or(l, first, second);
  }
  vyre_var result = vyre_build_var(l->b, when ? "both" : "either", first);
  vyre_build_if(l->b, when ? first : e_not(l, first));
  vyre_build_set(l->b, result, condition(l, n->kid[1]));
  vyre_build_end(l->b);
  return vyre_build_get(l->b, result);
}

// Casts that keep whether a number is zero.
static bool keeps_truth(const node *n) {
  const ctype *from = n->kid[0]->type, *to = n->type;
  if (from->kind != T_SCALAR || to->kind != T_SCALAR) return false;
  if (to->scalar == VYRE_BOOL || from->scalar == VYRE_BOOL) return true;
  return type_is_int(from->scalar) && type_is_int(to->scalar) &&
         type_bits(to->scalar) >= type_bits(from->scalar);
}

ref condition(lowering *l, node *n) {
  if (n->type->kind == T_SCALAR) {
    if (n->kind == N_BINARY && n->op == CXBinaryOperator_LAnd) return short_circuit(l, n, true);
    if (n->kind == N_BINARY && n->op == CXBinaryOperator_LOr) return short_circuit(l, n, false);
    if (n->kind == N_UNARY && n->op == CXUnaryOperator_LNot)
      return e_not(l, condition(l, n->kid[0]));
    if (n->kind == N_CAST && keeps_truth(n)) return condition(l, n->kid[0]);
  }
  value v = rvalue(l, n);
  if (v.at[0].p) return pointer_is_set(l, v.at[0].p);
  return e_true(l, v.at[0].v);
}

// ---- choice -------------------------------------------------------------------------------------

static value choose_lanes(lowering *l, node *n) {
  value c = rvalue(l, n->kid[0]), x = rvalue(l, n->kid[1]), y = rvalue(l, n->kid[2]);
  x = value_convert(l, x, n->type, n->offset);
  y = value_convert(l, y, n->type, n->offset);
  value made = value_new(l, n->type, n->offset);
  for (uint32_t i = 0; i < c.type->count; i++) { // by the most significant bit
    vyre_type lane = type_signed(type_bytes(c.type->scalar));
    ref is_set = e_binary(l, VYRE_OP_LT, e_bits(l, lane, c.at[i].v), e_zero(l, lane));
    made.at[i].v = e_select(l, is_set, x.at[i].v, y.at[i].v);
  }
  return made;
}

static value choose(lowering *l, node *n) {
  if (n->kid[0]->type->kind == T_VECTOR) return choose_lanes(l, n);
  ref c = condition(l, n->kid[0]);
  uint64_t known;
  if (e_is_const(l, c, &known))
    return value_convert(l, rvalue(l, n->kid[known ? 1 : 2]), n->type, n->offset);
  if (n->type->kind != T_VOID && is_pure(l, n->kid[1]) && is_pure(l, n->kid[2])) {
    value x = value_convert(l, rvalue(l, n->kid[1]), n->type, n->offset);
    return value_select(l, c, x, value_convert(l, rvalue(l, n->kid[2]), n->type, n->offset));
  }
  place result = {0};
  bool has_value = n->type->kind != T_VOID;
  if (has_value) result = temporary(l, n, n->type, NULL);
  for (int side = 1; side <= 2; side++) {
    if (side == 1)
      vyre_build_if(l->b, c);
    else
      vyre_build_else(l->b);
    value v = rvalue(l, n->kid[side]);
    if (has_value) store(l, &result, value_convert(l, v, n->type, n->offset), n->offset);
  }
  vyre_build_end(l->b);
  return has_value ? load(l, &result, n->offset) : value_new(l, n->type, n->offset);
}

// ---- parts of values ----------------------------------------------------------------------------

static value member_of_value(lowering *l, node *n) {
  value whole = rvalue(l, n->kid[0]);
  if (whole.type->kind == T_UNION) return bits_as(l, whole, n->field_offset, n->type, n->offset);
  const leaf *leaves = type_leaves(l->u, whole.type, n->offset);
  value part = value_new(l, n->type, n->offset);
  uint32_t first = 0;
  while (first < whole.type->leaf_count && leaves[first].offset < n->field_offset) first++;
  for (uint32_t i = 0; i < n->type->leaf_count && first + i < whole.type->leaf_count; i++)
    part.at[i] = whole.at[first + i];
  return part;
}

static value swizzle_of_value(lowering *l, node *n) {
  value whole = rvalue(l, n->kid[0]), made = value_new(l, n->type, n->offset);
  for (uint32_t i = 0; i < n->lane_count; i++)
    made.at[i].v =
        n->lanes[i] < whole.type->count ? whole.at[n->lanes[i]].v : e_zero(l, whole.type->scalar);
  return made;
}

// (float4)(a.xy, b, 1): the kids one after the other; one number fills all lanes.
static value vector(lowering *l, node *n) {
  value made = value_zero(l, n->type, n->offset);
  uint32_t lane = 0;
  for (uint32_t k = 0; k < n->count; k++) {
    value v = rvalue(l, n->kid[k]);
    uint32_t count = v.type->kind == T_VECTOR ? v.type->count : 1;
    for (uint32_t i = 0; i < count && lane < n->type->count; i++)
      made.at[lane++].v = value_lane(l, n->type->scalar, v.at[i].v);
  }
  if (n->count == 1 && lane == 1)
    for (; lane < n->type->count; lane++) made.at[lane].v = made.at[0].v;
  return made;
}

// ---- operators ----------------------------------------------------------------------------------

static bool is_compared(uint8_t op) {
  return op >= CXBinaryOperator_LT && op <= CXBinaryOperator_NE;
}

static value binary(lowering *l, node *n) {
  if (n->op == CXBinaryOperator_Assign) return assign(l, n);
  if (n->op > CXBinaryOperator_Assign && n->op <= CXBinaryOperator_OrAssign)
    return compound_assign(l, n);
  if (n->op == CXBinaryOperator_Comma) {
    effects(l, n->kid[0]);
    return rvalue(l, n->kid[1]);
  }
  bool is_logical = n->op == CXBinaryOperator_LAnd || n->op == CXBinaryOperator_LOr;
  if (is_logical && n->type->kind == T_SCALAR)
    return value_convert(l, value_scalar(l, condition(l, n)), n->type, n->offset);
  value x = rvalue(l, n->kid[0]), y = rvalue(l, n->kid[1]);
  if (is_compared(n->op) && x.type->kind == T_POINTER && !y.at[0].p)
    y = value_convert(l, y, x.type, n->offset);
  if (is_compared(n->op) && y.type->kind == T_POINTER && !x.at[0].p)
    x = value_convert(l, x, y.type, n->offset);
  return operate(l, n->op, x, y, n->type, n->offset);
}

static value unary(lowering *l, node *n) {
  switch (n->op) {
  case CXUnaryOperator_PostInc:
  case CXUnaryOperator_PostDec:
  case CXUnaryOperator_PreInc:
  case CXUnaryOperator_PreDec: return increment(l, n);
  case CXUnaryOperator_AddrOf: {
    place at = lvalue(l, n->kid[0]);
    if (at.lane_count == 1)
      at.at.disp += at.lanes[0] * (int64_t)at.whole->element->size;
    else if (at.lane_count)
      lower_refuse(l, n->offset, "the address of picked components", "take that of the vector");
    return value_pointer(l, n->type, at.at);
  }
  case CXUnaryOperator_Deref: {
    place at = lvalue(l, n);
    return load(l, &at, n->offset);
  }
  case CXUnaryOperator_LNot:
    if (n->type->kind == T_SCALAR)
      return value_convert(l, value_scalar(l, condition(l, n)), n->type, n->offset);
    break;
  default: break;
  }
  value x = rvalue(l, n->kid[0]), made = value_new(l, n->type, n->offset);
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    ref v = x.at[i].v;
    switch (n->op) {
    case CXUnaryOperator_Minus: v = e_unary(l, VYRE_OP_NEG, v); break;
    case CXUnaryOperator_Not: v = e_unary(l, VYRE_OP_NOT, v); break;
    case CXUnaryOperator_LNot: v = value_lane(l, n->type->scalar, e_not(l, e_true(l, v))); break;
    default: break; // plus
    }
    made.at[i].v = v;
  }
  return made;
}

static value cast(lowering *l, node *n) {
  node *kid = n->kid[0];
  if (kid->type->kind == T_ARRAY && n->type->kind == T_POINTER)
    return value_pointer(l, n->type, lvalue(l, kid).at);
  if (n->type->kind == T_VOID) {
    effects(l, kid);
    return value_new(l, n->type, n->offset);
  }
  if (n->type->kind == T_SCALAR && n->type->scalar == VYRE_BOOL)
    return value_scalar(l, condition(l, kid));
  return value_convert(l, rvalue(l, kid), n->type, n->offset);
}

static value statement(lowering *l, node *n) {
  node *block = n->kid[0], *last = block->count ? block->kid[block->count - 1] : NULL;
  bool has_value = n->type->kind != T_VOID && last && last->kind == S_EXPR;
  lower_list(l, block->kid, block->count - has_value);
  return has_value ? value_convert(l, rvalue(l, last->kid[0]), n->type, n->offset)
                   : value_new(l, n->type, n->offset);
}

static value dispatch(lowering *l, node *n) {
  switch (n->kind) {
  case N_INT:
  case N_FLOAT:
    if (n->type->kind != T_SCALAR) type_leaves(l->u, n->type, n->offset);
    return value_number(l, n->type, e_const(l, n->type->scalar, n->bits));
  case N_BINARY: return binary(l, n);
  case N_UNARY: return unary(l, n);
  case N_CHOICE: return choose(l, n);
  case N_CAST: return cast(l, n);
  case N_VECTOR: return vector(l, n);
  case N_CALL: return n->callee ? call(l, n) : builtin(l, n);
  case N_INIT: return init_value(l, n->type, n);
  case N_COMPOUND: return init_value(l, n->type, n->kid[0]);
  case N_STATEMENT: return statement(l, n);
  case N_AS_TYPE: return bits_as(l, rvalue(l, n->kid[0]), 0, n->type, n->offset);
  case N_NAME:
  case N_STRING:
  case N_INDEX:
  case N_MEMBER:
  case N_SWIZZLE: {
    if (!is_lvalue(n)) {
      if (n->kind == N_MEMBER) return member_of_value(l, n);
      if (n->kind == N_SWIZZLE) return swizzle_of_value(l, n);
    }
    place at = lvalue(l, n);
    return load(l, &at, n->offset);
  }
  default: lower_refuse(l, n->offset, "an expression that is not understood", "simplify it");
  }
}

value rvalue(lowering *l, node *n) {
  return dispatch(l, n);
}

ref rvalue_scalar(lowering *l, node *n) {
  value v = rvalue(l, n);
  if (v.type->kind != T_SCALAR)
    lower_refuse(l, n->offset, "a value that should be a number", "pick a component of it");
  return v.at[0].v;
}

// x = y of structures that are too large to be values.
static bool copy(lowering *l, node *n) {
  if (n->kind != N_BINARY || n->op != CXBinaryOperator_Assign) return false;
  if (!copies_in_loop(n->kid[0]->type) || !is_lvalue(n->kid[1])) return false;
  place to = lvalue(l, n->kid[0]), from = lvalue(l, n->kid[1]);
  copy_in_loop(l, &to, &from);
  return true;
}

void effects(lowering *l, node *n) {
  if (copy(l, n)) return;
  if (n->kind == N_CAST && n->type->kind == T_VOID)
    effects(l, n->kid[0]);
  else if (!is_pure(l, n))
    rvalue(l, n);
}
