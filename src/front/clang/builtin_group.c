// SPDX-License-Identifier: MIT
//
// What a workgroup does together. Every invocation puts its value into local memory and reads those
// of the others, between two barriers. Sums are taken in the order of the linear local id, so that
// those of floats have one result.
#include "front/clang/builtin.h"

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
}

static uint64_t group_size(const lowering *l) {
  return (uint64_t)l->workgroup[0] * l->workgroup[1] * l->workgroup[2];
}

ref group_linear_id(lowering *l, vyre_type type) {
  ref made = 0;
  for (uint32_t i = l->rank; i > 0; i--) {
    ref id = e_convert(l, type, vyre_build_id(l->b, VYRE_OP_LOCAL_ID, i - 1));
    ref size = e_const(l, type, l->workgroup[i - 1]);
    made = made ? two(l, VYRE_OP_ADD, two(l, VYRE_OP_MUL, made, size), id) : id;
  }
  return made;
}

// One array per type for all calls of the kernel: the second barrier of a call frees it.
static pointer scratch(lowering *l, const ctype *type, uint32_t offset) {
  context *inner = l->ctx;
  l->ctx = NULL;
  base *b = base_new(l, type, FACT_TEMP);
  l->ctx = inner;
  if (b->kind == B_NONE)
    base_declare_shared(l, b, unit_printf(l->u, "together_%s", vyre_type_name(type->scalar)), type,
                        group_size(l) * type->size, offset);
  return pointer_to(l, b);
}

static ref read_of(lowering *l, pointer p, ref i, const ctype *type, uint32_t offset) {
  pointer at = pointer_add(l, p, i, type->size);
  return load_scalar(l, &at, 0, type->scalar, offset);
}

// Puts the value where the others find it.
static pointer share(lowering *l, ref v, const ctype *type, uint32_t offset) {
  if (type->is_half)
    lower_refuse(l, offset, "a function of the workgroup on half", "use it on float");
  pointer p = scratch(l, type, offset),
          own = pointer_add(l, p, group_linear_id(l, VYRE_U32), type->size);
  store_scalar(l, &own, 0, v, offset);
  vyre_build_barrier(l->b);
  return p;
}

static ref combine(lowering *l, vyre_op op, ref x, ref y) {
  if (op == VYRE_OP_MIN) return each_min(l, (ref[]){x, y}, 0);
  if (op == VYRE_OP_MAX) return each_max(l, (ref[]){x, y}, 0);
  return two(l, op, x, y);
}

// What changes no other value.
static ref neutral(lowering *l, vyre_op op, vyre_type type) {
  if (op == VYRE_OP_ADD || op == VYRE_OP_OR) return e_zero(l, type);
  if (op == VYRE_OP_AND) return e_int(l, type, -1);
  bool is_least = op == VYRE_OP_MAX;
  if (type_is_float(type)) {
    ref inf = e_infinity(l, type);
    return is_least ? e_unary(l, VYRE_OP_NEG, inf) : inf;
  }
  uint64_t all = UINT64_MAX >> (64 - type_bits(type));
  uint64_t most = type_is_signed(type) ? all >> 1 : all;
  return e_const(l, type, is_least ? (type_is_signed(type) ? ~most & all : 0) : most);
}

// The values of the invocations `first` to `end`, after `start`.
static ref fold(lowering *l, vyre_op op, pointer p, ref start, ref first, ref end,
                const ctype *type, uint32_t offset) {
  vyre_var sum = vyre_build_var(l->b, "sum", start);
  ref k = vyre_build_for(l->b, first, end, e_const(l, VYRE_U32, 1));
  ref one = read_of(l, p, k, type, offset);
  vyre_build_set(l->b, sum, combine(l, op, vyre_build_get(l->b, sum), one));
  vyre_build_end(l->b);
  return vyre_build_get(l->b, sum);
}

static ref reduce(lowering *l, vyre_op op, ref v, const ctype *type, uint32_t offset) {
  pointer p = share(l, v, type, offset);
  ref zero = e_zero(l, VYRE_U32), one = e_const(l, VYRE_U32, 1);
  ref made = fold(l, op, p, read_of(l, p, zero, type, offset), one,
                  e_const(l, VYRE_U32, group_size(l)), type, offset);
  vyre_build_barrier(l->b);
  return made;
}

value group_reduce(lowering *l, node *n, const value *args, int what) {
  return value_scalar(l, reduce(l, (vyre_op)what, args[0].at[0].v, n->type, n->offset));
}

value group_scan_inclusive(lowering *l, node *n, const value *args, int what) {
  pointer p = share(l, args[0].at[0].v, n->type, n->offset);
  ref one = e_const(l, VYRE_U32, 1), id = group_linear_id(l, VYRE_U32);
  ref start = read_of(l, p, e_zero(l, VYRE_U32), n->type, n->offset);
  ref made =
      fold(l, (vyre_op)what, p, start, one, two(l, VYRE_OP_ADD, id, one), n->type, n->offset);
  vyre_build_barrier(l->b);
  return value_scalar(l, made);
}

value group_scan_exclusive(lowering *l, node *n, const value *args, int what) {
  pointer p = share(l, args[0].at[0].v, n->type, n->offset);
  ref start = neutral(l, (vyre_op)what, n->type->scalar);
  ref made = fold(l, (vyre_op)what, p, start, e_zero(l, VYRE_U32), group_linear_id(l, VYRE_U32),
                  n->type, n->offset);
  vyre_build_barrier(l->b);
  return value_scalar(l, made);
}

// work_group_any and work_group_all give 0 or 1.
value group_vote(lowering *l, node *n, const value *args, int what) {
  ref v = e_convert(l, VYRE_I32, e_true(l, args[0].at[0].v));
  ref made = reduce(l, (vyre_op)what, v, type_scalar(l->u, VYRE_I32), n->offset);
  return value_convert(l, value_scalar(l, made), n->type, n->offset);
}

// The value of the invocation whose local id is given, x first.
value group_broadcast(lowering *l, node *n, const value *args, int what) {
  (void)what;
  pointer p = share(l, args[0].at[0].v, n->type, n->offset);
  ref at = 0;
  for (uint32_t i = n->count - 1; i > 0; i--) {
    ref id = e_convert(l, VYRE_U32, args[i].at[0].v);
    ref size = e_const(l, VYRE_U32, l->workgroup[i - 1]);
    at = at ? two(l, VYRE_OP_ADD, two(l, VYRE_OP_MUL, at, size), id) : id;
  }
  ref made = read_of(l, p, at, n->type, n->offset);
  vyre_build_barrier(l->b);
  return value_scalar(l, made);
}
