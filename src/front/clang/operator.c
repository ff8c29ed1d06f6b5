// SPDX-License-Identifier: MIT
//
// Operators on values, and the ones that assign.
#include "front/clang/lower.h"

static vyre_op op_of(uint8_t op) {
  switch (op) {
  case CXBinaryOperator_Mul:
  case CXBinaryOperator_MulAssign: return VYRE_OP_MUL;
  case CXBinaryOperator_Div:
  case CXBinaryOperator_DivAssign: return VYRE_OP_DIV;
  case CXBinaryOperator_Rem:
  case CXBinaryOperator_RemAssign: return VYRE_OP_REM;
  case CXBinaryOperator_Add:
  case CXBinaryOperator_AddAssign: return VYRE_OP_ADD;
  case CXBinaryOperator_Sub:
  case CXBinaryOperator_SubAssign: return VYRE_OP_SUB;
  case CXBinaryOperator_Shl:
  case CXBinaryOperator_ShlAssign: return VYRE_OP_SHL;
  case CXBinaryOperator_Shr:
  case CXBinaryOperator_ShrAssign: return VYRE_OP_SHR;
  case CXBinaryOperator_And:
  case CXBinaryOperator_AndAssign:
  case CXBinaryOperator_LAnd: return VYRE_OP_AND;
  case CXBinaryOperator_Xor:
  case CXBinaryOperator_XorAssign: return VYRE_OP_XOR;
  case CXBinaryOperator_Or:
  case CXBinaryOperator_OrAssign:
  case CXBinaryOperator_LOr: return VYRE_OP_OR;
  case CXBinaryOperator_LT: return VYRE_OP_LT;
  case CXBinaryOperator_GT: return VYRE_OP_GT;
  case CXBinaryOperator_LE: return VYRE_OP_LE;
  case CXBinaryOperator_GE: return VYRE_OP_GE;
  case CXBinaryOperator_EQ: return VYRE_OP_EQ;
  case CXBinaryOperator_NE: return VYRE_OP_NE;
  default: return VYRE_OP_NONE;
  }
}

static bool is_shift(vyre_op op) {
  return op == VYRE_OP_SHL || op == VYRE_OP_SHR;
}

static bool is_comparison(vyre_op op) {
  return op >= VYRE_OP_EQ && op <= VYRE_OP_GE;
}

static value on_pointers(lowering *l, vyre_op op, value x, value y, const ctype *type,
                         uint32_t offset) {
  bool is_left = x.at[0].p != NULL, is_right = y.at[0].p != NULL;
  const ctype *to = is_left ? x.type->element : y.type->element;
  if (is_comparison(op) && is_left && is_right) {
    ref c = pointer_compare(l, op, x.at[0].p, y.at[0].p);
    return value_convert(l, value_scalar(l, c), type, offset);
  }
  if (op == VYRE_OP_SUB && is_left && is_right)
    return value_convert(
        l, value_scalar(l, pointer_difference(l, x.at[0].p, y.at[0].p, type_stride(to))), type,
        offset);
  if (op == VYRE_OP_ADD && is_left != is_right) {
    const pointer *p = is_left ? x.at[0].p : y.at[0].p;
    ref i = is_left ? y.at[0].v : x.at[0].v;
    return value_pointer(l, type, pointer_add(l, *p, i, type_stride(to)));
  }
  if (op == VYRE_OP_SUB && is_left) {
    ref i = y.at[0].v;
    vyre_type wide = type_bits(e_type(l, i)) == 64 ? VYRE_I64 : VYRE_I32;
    if (e_type(l, i) == VYRE_U32) wide = VYRE_I64;
    i = e_unary(l, VYRE_OP_NEG, e_convert(l, wide, i));
    return value_pointer(l, type, pointer_add(l, *x.at[0].p, i, type_stride(to)));
  }
  lower_refuse(l, offset, "this operator on pointers", "compute with indices");
}

static ref on_scalars(lowering *l, uint8_t op, ref x, ref y) {
  vyre_op made = op_of(op);
  if (op == CXBinaryOperator_LAnd) return e_and(l, e_true(l, x), e_true(l, y));
  if (op == CXBinaryOperator_LOr) return e_or(l, e_true(l, x), e_true(l, y));
  if (is_shift(made)) y = e_convert(l, e_type(l, x), y);
  // On bool the arithmetic is that of int.
  if (e_type(l, x) == VYRE_BOOL && !is_comparison(made) && made != VYRE_OP_AND &&
      made != VYRE_OP_OR && made != VYRE_OP_XOR) {
    x = e_convert(l, VYRE_I32, x);
    y = e_convert(l, VYRE_I32, y);
  }
  return e_binary(l, made, x, y);
}

value operate(lowering *l, uint8_t op, value x, value y, const ctype *type, uint32_t offset) {
  if (x.at[0].p || y.at[0].p) return on_pointers(l, op_of(op), x, y, type, offset);
  if (x.type->kind == T_VECTOR || y.type->kind == T_VECTOR) {
    const ctype *whole = x.type->kind == T_VECTOR ? x.type : y.type;
    if (!is_shift(op_of(op)) || x.type->kind != T_VECTOR) x = value_convert(l, x, whole, offset);
    if (y.type->kind != T_VECTOR) y = value_convert(l, y, whole, offset);
    value made = value_new(l, type, offset);
    for (uint32_t i = 0; i < whole->count; i++)
      made.at[i].v = value_lane(l, type->scalar, on_scalars(l, op, x.at[i].v, y.at[i].v));
    return made;
  }
  if (x.type->kind != T_SCALAR || y.type->kind != T_SCALAR)
    lower_refuse(l, offset, "an operator on structures", "use it on their fields");
  return value_convert(l, value_scalar(l, on_scalars(l, op, x.at[0].v, y.at[0].v)), type, offset);
}

// ---- assignment ---------------------------------------------------------------------------------

// The index of a single element is computed before the value, as it is read.
static void settle(lowering *l, place *to) {
  pointer *p = &to->at;
  if (to->type->kind != T_SCALAR || to->lane_count || p->set->count != 1) return;
  if (p->set->at[0]->kind != B_MEMORY || !p->index || !p->disp) return;
  p->index = pointer_index(l, p, 0);
  p->disp = 0;
}

value assign(lowering *l, node *n) {
  place to = lvalue(l, n->kid[0]);
  settle(l, &to);
  value v = value_convert(l, rvalue(l, n->kid[1]), to.type, n->offset);
  store(l, &to, v, n->offset);
  return v;
}

// The type in which x op= y is computed.
static const ctype *computation(lowering *l, uint8_t op, const ctype *x, const ctype *y) {
  if (x->kind != T_SCALAR || y->kind != T_SCALAR) return x;
  bool shifts = op == CXBinaryOperator_ShlAssign || op == CXBinaryOperator_ShrAssign;
  return type_scalar(l->u, shifts ? type_promote(x->scalar) : type_common(x->scalar, y->scalar));
}

// `given` is the value of the right side where it is computed already.
static value compound(lowering *l, node *n, const value *given) {
  place to = lvalue(l, n->kid[0]);
  settle(l, &to);
  value x = load(l, &to, n->offset), y = given ? *given : rvalue(l, n->kid[1]);
  const ctype *type = computation(l, n->op, x.type, y.type);
  if (x.type->kind != T_POINTER) {
    x = value_convert(l, x, type, n->offset);
    bool shifts = n->op == CXBinaryOperator_ShlAssign || n->op == CXBinaryOperator_ShrAssign;
    if (type->kind == T_SCALAR && !shifts) y = value_convert(l, y, type, n->offset);
  }
  value v = value_convert(l, operate(l, n->op, x, y, type, n->offset), to.type, n->offset);
  store(l, &to, v, n->offset);
  return v;
}

value compound_assign(lowering *l, node *n) {
  return compound(l, n, NULL);
}

void assign_under(lowering *l, node *n, ref guard) {
  value y = rvalue(l, n->kid[1]);
  ref outer = l->guard;
  l->guard = 0;
  vyre_build_if(l->b, guard);
  if (n->op == CXBinaryOperator_Assign) {
    place to = lvalue(l, n->kid[0]);
    store(l, &to, value_convert(l, y, to.type, n->offset), n->offset);
  } else {
    compound(l, n, &y);
  }
  vyre_build_end(l->b);
  l->guard = outer;
}

value increment(lowering *l, node *n) {
  place to = lvalue(l, n->kid[0]);
  value before = load(l, &to, n->offset), after = value_new(l, to.type, n->offset);
  bool is_down = n->op == CXUnaryOperator_PostDec || n->op == CXUnaryOperator_PreDec;
  for (uint32_t i = 0; i < to.type->leaf_count; i++) {
    cell c = before.at[i];
    if (c.p) {
      ref one = e_int(l, VYRE_I32, is_down ? -1 : 1);
      after.at[i].p = pointer_keep(l, pointer_add(l, *c.p, one, type_stride(to.type->element)));
      continue;
    }
    vyre_type type = e_type(l, c.v);
    if (type == VYRE_BOOL) type = VYRE_I32;
    ref x = e_convert(l, type, c.v), one = e_int(l, type, 1);
    x = e_binary(l, is_down ? VYRE_OP_SUB : VYRE_OP_ADD, x, one);
    after.at[i].v = e_convert(l, e_type(l, c.v), x);
  }
  store(l, &to, after, n->offset);
  bool is_post = n->op == CXUnaryOperator_PostInc || n->op == CXUnaryOperator_PostDec;
  return is_post ? before : after;
}
