// SPDX-License-Identifier: MIT
//
// Relations and functions over the lanes of vectors.
#include "front/clang/builtin.h"

#include <float.h>

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
}

static uint32_t lanes(const ctype *type) {
  return type->kind == T_VECTOR ? type->count : 1;
}

// ---- relations ----------------------------------------------------------------------------------

ref each_islessgreater(lowering *l, const ref *x, int what) {
  (void)what;
  return e_or(l, two(l, VYRE_OP_LT, x[0], x[1]), two(l, VYRE_OP_GT, x[0], x[1]));
}

ref each_isordered(lowering *l, const ref *x, int what) {
  if (what) return e_or(l, e_is_nan(l, x[0]), e_is_nan(l, x[1]));
  return e_and(l, two(l, VYRE_OP_EQ, x[0], x[0]), two(l, VYRE_OP_EQ, x[1], x[1]));
}

ref each_class(lowering *l, const ref *x, int what) {
  vyre_type type = e_type(l, x[0]);
  ref a = e_unary(l, VYRE_OP_ABS, x[0]), inf = e_infinity(l, type);
  switch (what) {
  case 'n': return e_is_nan(l, x[0]);
  case 'i': return two(l, VYRE_OP_EQ, a, inf);
  case 'f': return two(l, VYRE_OP_LT, a, inf);
  default: {
    ref least = e_float(l, type, type == VYRE_F64 ? DBL_MIN : type == VYRE_F16 ? 0x1p-14 : FLT_MIN);
    return e_and(l, two(l, VYRE_OP_GE, a, least), two(l, VYRE_OP_LT, a, inf));
  }
  }
}

ref each_signbit(lowering *l, const ref *x, int what) {
  (void)what;
  return e_sign_bit(l, x[0]);
}

ref each_bitselect(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[0]), word = type_unsigned(type_bytes(type));
  ref a = e_bits(l, word, x[0]), b = e_bits(l, word, x[1]), c = e_bits(l, word, x[2]);
  ref kept = two(l, VYRE_OP_AND, a, e_unary(l, VYRE_OP_NOT, c));
  return e_bits(l, type, two(l, VYRE_OP_OR, kept, two(l, VYRE_OP_AND, b, c)));
}

value relational_select(lowering *l, node *n, const value *args, int what) {
  (void)what;
  value made = value_new(l, n->type, n->offset);
  bool is_vector = args[2].type->kind == T_VECTOR;
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    ref c = args[2].at[is_vector ? i : 0].v;
    ref is_set = is_vector ? e_sign_bit(l, c) : e_true(l, c);
    made.at[i].v = e_select(l, is_set, args[1].at[i].v, args[0].at[i].v);
  }
  return made;
}

value relational_any(lowering *l, node *n, const value *args, int what) {
  ref made = 0;
  for (uint32_t i = 0; i < lanes(args[0].type); i++) {
    ref one = e_sign_bit(l, args[0].at[i].v);
    made = !made ? one : what ? e_and(l, made, one) : e_or(l, made, one);
  }
  return value_convert(l, value_scalar(l, made), n->type, n->offset);
}

// Lane i is the one of the sources that the mask's lane i names; only its low bits count.
value relational_shuffle(lowering *l, node *n, const value *args, int what) {
  value made = value_new(l, n->type, n->offset);
  const value *mask = &args[what ? 2 : 1];
  uint32_t width = args[0].type->count == 3 ? 4 : args[0].type->count;
  uint32_t total = what ? 2 * width : width;
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    vyre_type type = e_type(l, mask->at[i].v);
    ref number = two(l, VYRE_OP_AND, mask->at[i].v, e_const(l, type, total - 1));
    ref picked = 0;
    for (uint32_t k = total; k > 0; k--) {
      const value *from = &args[(k - 1) / width];
      if ((k - 1) % width >= from->type->count) continue;
      ref lane = from->at[(k - 1) % width].v;
      ref is_it = picked ? two(l, VYRE_OP_EQ, number, e_const(l, type, k - 1)) : 0;
      picked = picked ? e_select(l, is_it, lane, picked) : lane;
    }
    made.at[i].v = picked;
  }
  return made;
}

// ---- geometry -----------------------------------------------------------------------------------

static ref dot_of(lowering *l, const value *x, const value *y) {
  ref sum = 0;
  for (uint32_t i = 0; i < lanes(x->type); i++) {
    ref product = two(l, VYRE_OP_MUL, x->at[i].v, y->at[i].v);
    sum = sum ? two(l, VYRE_OP_ADD, sum, product) : product;
  }
  return sum;
}

// Squares of very large and very small lanes leave the range: those vectors are scaled by a power
// of two, and their length back by `back`. f16 is computed in f32, which has room.
static value scaled(lowering *l, const value *x, uint32_t offset, ref *back) {
  vyre_type type = x->type->scalar;
  bool is_double = type == VYRE_F64;
  *back = 0;
  if (x->type->kind == T_SCALAR || type == VYRE_F16 || l->u->fast_ulp) return *x;
  ref largest = e_unary(l, VYRE_OP_ABS, x->at[0].v), one = e_float(l, type, 1);
  for (uint32_t i = 1; i < lanes(x->type); i++)
    largest = two(l, VYRE_OP_MAX, largest, e_unary(l, VYRE_OP_ABS, x->at[i].v));
  ref is_big = two(l, VYRE_OP_GT, largest, e_float(l, type, is_double ? 0x1p500 : 0x1p60));
  ref is_tiny = two(l, VYRE_OP_LT, largest, e_float(l, type, is_double ? 0x1p-400 : 0x1p-50));
  const double down = is_double ? 0x1p-600 : 0x1p-70, up = is_double ? 0x1p700 : 0x1p100;
  ref scale =
      e_select(l, is_big, e_float(l, type, down), e_select(l, is_tiny, e_float(l, type, up), one));
  *back = e_select(l, is_big, e_float(l, type, 1 / down),
                   e_select(l, is_tiny, e_float(l, type, 1 / up), one));
  value made = value_new(l, x->type, offset);
  for (uint32_t i = 0; i < lanes(x->type); i++)
    made.at[i].v = two(l, VYRE_OP_MUL, x->at[i].v, scale);
  return made;
}

static ref plain_length(lowering *l, const value *x) {
  if (x->type->kind == T_SCALAR) return e_unary(l, VYRE_OP_ABS, x->at[0].v);
  return e_unary(l, VYRE_OP_SQRT, dot_of(l, x, x));
}

static ref length_of(lowering *l, const value *x, uint32_t offset, bool is_fast) {
  ref back = 0;
  value near = is_fast ? *x : scaled(l, x, offset, &back);
  ref length = plain_length(l, &near);
  return back ? two(l, VYRE_OP_MUL, length, back) : length;
}

value geometric_dot(lowering *l, node *n, const value *args, int what) {
  if (type_is_int(n->type->scalar)) return integer_dot(l, n, args, what);
  return value_scalar(l, dot_of(l, &args[0], &args[1]));
}

value geometric_cross(lowering *l, node *n, const value *args, int what) {
  (void)what;
  value made = value_zero(l, n->type, n->offset);
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
    ref a = two(l, VYRE_OP_MUL, args[0].at[j].v, args[1].at[k].v);
    ref b = two(l, VYRE_OP_MUL, args[0].at[k].v, args[1].at[j].v);
    made.at[i].v = two(l, VYRE_OP_SUB, a, b);
  }
  return made;
}

value geometric_length(lowering *l, node *n, const value *args, int what) {
  return value_scalar(l, length_of(l, &args[0], n->offset, what));
}

value geometric_distance(lowering *l, node *n, const value *args, int what) {
  value way = value_new(l, args[0].type, n->offset);
  for (uint32_t i = 0; i < lanes(way.type); i++)
    way.at[i].v = two(l, VYRE_OP_SUB, args[0].at[i].v, args[1].at[i].v);
  return value_scalar(l, length_of(l, &way, n->offset, what));
}

value geometric_normalize(lowering *l, node *n, const value *args, int what) {
  value made = value_new(l, n->type, n->offset);
  ref back = 0;
  value near = what ? args[0] : scaled(l, &args[0], n->offset, &back);
  ref length = plain_length(l, &near);
  ref is_zero = two(l, VYRE_OP_EQ, length, e_zero(l, e_type(l, length)));
  for (uint32_t i = 0; i < lanes(n->type); i++) {
    ref x = near.at[i].v;
    made.at[i].v = e_select(l, is_zero, x, two(l, VYRE_OP_DIV, x, length));
  }
  return made;
}
