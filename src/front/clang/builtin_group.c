// SPDX-License-Identifier: MIT
//
// What a workgroup or a subgroup does together. Every invocation puts its value into local memory
// and reads those of the others, between two barriers of the workgroup. Sums are taken in the order
// of the linear local id, so that those of floats have one result. A subgroup is as many neighbours
// by that id as the kernel asks for, or 32.
#include "front/clang/builtin_team.h"

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
}

// Invocations of a workgroup.
static uint64_t team_largest(const lowering *l) {
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

// ---- who ----------------------------------------------------------------------------------------

uint32_t team_size(const lowering *l) {
  return l->kernel->subgroup ? l->kernel->subgroup : SUBGROUP_SIZE;
}

static team workgroup_of(lowering *l) {
  return (team){e_zero(l, VYRE_U32), e_const(l, VYRE_U32, team_largest(l))};
}

// The last one of a workgroup has those that are left.
team team_subgroup(lowering *l) {
  ref size = e_const(l, VYRE_U32, team_size(l)), id = group_linear_id(l, VYRE_U32);
  ref first = two(l, VYRE_OP_MUL, two(l, VYRE_OP_DIV, id, size), size);
  ref end = two(l, VYRE_OP_ADD, first, size);
  return (team){first, two(l, VYRE_OP_MIN, end, e_const(l, VYRE_U32, team_largest(l)))};
}

// So many neighbours of a subgroup; the number is a constant.
static team cluster_of(lowering *l, ref size) {
  team all = team_subgroup(l);
  ref id = two(l, VYRE_OP_SUB, group_linear_id(l, VYRE_U32), all.first);
  ref before = two(l, VYRE_OP_MUL, two(l, VYRE_OP_DIV, id, size), size);
  ref first = two(l, VYRE_OP_ADD, all.first, before), end = two(l, VYRE_OP_ADD, first, size);
  return (team){first, two(l, VYRE_OP_MIN, end, all.end)};
}

ref team_local_id(lowering *l, team t) {
  return two(l, VYRE_OP_SUB, group_linear_id(l, VYRE_U32), t.first);
}

// Functions of a subgroup and of parts of one have these bits beside their operation.
static team team_of(lowering *l, node *n, const value *args, int what) {
  if (!(what & OF_SUBGROUP)) return workgroup_of(l);
  if (!(what & OF_CLUSTER)) return team_subgroup(l);
  uint64_t size;
  if (!e_is_const(l, args[1].at[0].v, &size) || !size || (size & (size - 1)) || size > team_size(l))
    lower_refuse(l, n->offset, "a cluster of this size",
                 "use a constant power of two, at most the size of a subgroup");
  return cluster_of(l, e_const(l, VYRE_U32, size));
}

static vyre_op op_of(int what) {
  return (vyre_op)(what & ~(OF_SUBGROUP | OF_CLUSTER | OF_TRUTH));
}

// ---- what they have in common -------------------------------------------------------------------

// One array per type for all calls of the kernel: the second barrier of a call frees it.
static pointer scratch(lowering *l, const ctype *type, uint32_t offset) {
  context *inner = l->ctx;
  l->ctx = NULL;
  base *b = base_new(l, type, FACT_TEMP);
  l->ctx = inner;
  if (b->kind == B_NONE)
    base_declare_shared(l, b, unit_printf(l->u, "together_%s", vyre_type_name(type->scalar)), type,
                        team_largest(l) * type->size, offset);
  return pointer_to(l, b);
}

ref team_read(lowering *l, pointer p, ref i, const ctype *type, uint32_t offset) {
  pointer at = pointer_add(l, p, i, type->size);
  return load_scalar(l, &at, 0, type->scalar, offset);
}

// Puts the value where the others find it.
pointer team_share(lowering *l, ref v, const ctype *type, uint32_t offset) {
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
  if (op == VYRE_OP_ADD || op == VYRE_OP_OR || op == VYRE_OP_XOR) return e_zero(l, type);
  if (op == VYRE_OP_MUL) return e_convert(l, type, e_const(l, VYRE_U32, 1));
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
  ref one = team_read(l, p, k, type, offset);
  ref made = combine(l, op, vyre_build_get(l->b, sum), one);
  vyre_build_set(l->b, sum, made);
  vyre_build_end(l->b);
  return vyre_build_get(l->b, sum);
}

static ref reduce(lowering *l, team t, vyre_op op, ref v, const ctype *type, uint32_t offset) {
  pointer p = team_share(l, v, type, offset);
  ref second = two(l, VYRE_OP_ADD, t.first, e_const(l, VYRE_U32, 1));
  ref start = team_read(l, p, t.first, type, offset);
  ref made = fold(l, op, p, start, second, t.end, type, offset);
  vyre_build_barrier(l->b);
  return made;
}

// What is put in: of functions of truth 0 or 1.
static ref given(lowering *l, const value *args, int what) {
  ref v = args[0].at[0].v;
  return what & OF_TRUTH ? e_convert(l, VYRE_I32, e_true(l, v)) : v;
}

value group_reduce(lowering *l, node *n, const value *args, int what) {
  ref v = given(l, args, what);
  team t = team_of(l, n, args, what);
  return value_number(l, n->type, reduce(l, t, op_of(what), v, n->type, n->offset));
}

value group_scan_inclusive(lowering *l, node *n, const value *args, int what) {
  pointer p = team_share(l, given(l, args, what), n->type, n->offset);
  team t = team_of(l, n, args, what);
  ref one = e_const(l, VYRE_U32, 1), id = group_linear_id(l, VYRE_U32);
  ref start = team_read(l, p, t.first, n->type, n->offset);
  ref made = fold(l, op_of(what), p, start, two(l, VYRE_OP_ADD, t.first, one),
                  two(l, VYRE_OP_ADD, id, one), n->type, n->offset);
  vyre_build_barrier(l->b);
  return value_number(l, n->type, made);
}

value group_scan_exclusive(lowering *l, node *n, const value *args, int what) {
  pointer p = team_share(l, given(l, args, what), n->type, n->offset);
  bool is_all = (what & OF_TRUTH) && op_of(what) == VYRE_OP_AND;
  vyre_type type = n->type->scalar;
  ref start = is_all ? e_int(l, type, 1) : neutral(l, op_of(what), type);
  ref made = fold(l, op_of(what), p, start, team_of(l, n, args, what).first,
                  group_linear_id(l, VYRE_U32), n->type, n->offset);
  vyre_build_barrier(l->b);
  return value_number(l, n->type, made);
}

// work_group_any and work_group_all give 0 or 1.
value group_vote(lowering *l, node *n, const value *args, int what) {
  ref v = e_convert(l, VYRE_I32, e_true(l, args[0].at[0].v));
  team t = team_of(l, n, args, what);
  ref made = reduce(l, t, op_of(what), v, type_scalar(l->u, VYRE_I32), n->offset);
  return value_convert(l, value_scalar(l, made), n->type, n->offset);
}

// Whether all of a subgroup have the same number.
value subgroup_all_equal(lowering *l, node *n, const value *args, int what) {
  (void)what;
  const ctype *type = args[0].type;
  team t = team_subgroup(l);
  pointer p = team_share(l, args[0].at[0].v, type, n->offset);
  ref is_same = two(l, VYRE_OP_EQ, args[0].at[0].v, team_read(l, p, t.first, type, n->offset));
  vyre_build_barrier(l->b);
  ref v = e_convert(l, VYRE_I32, is_same);
  ref made = reduce(l, t, VYRE_OP_AND, v, type_scalar(l->u, VYRE_I32), n->offset);
  return value_convert(l, value_scalar(l, made), n->type, n->offset);
}

// The value of the invocation whose local id is given, x first.
value group_broadcast(lowering *l, node *n, const value *args, int what) {
  (void)what;
  pointer p = team_share(l, args[0].at[0].v, n->type, n->offset);
  ref at = 0;
  for (uint32_t i = n->count - 1; i > 0; i--) {
    ref id = e_convert(l, VYRE_U32, args[i].at[0].v);
    ref size = e_const(l, VYRE_U32, l->workgroup[i - 1]);
    at = at ? two(l, VYRE_OP_ADD, two(l, VYRE_OP_MUL, at, size), id) : id;
  }
  ref made = team_read(l, p, at, n->type, n->offset);
  vyre_build_barrier(l->b);
  return value_number(l, n->type, made);
}
