// SPDX-License-Identifier: MIT
//
// What a workgroup or a subgroup does together. Every invocation puts its value into local memory
// and reads those of the others, between two barriers of the workgroup. Sums are taken in the order
// of the linear local id, so that those of floats have one result. A subgroup is as many neighbours
// by that id as the kernel asks for, or 32.
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

// ---- who ----------------------------------------------------------------------------------------

// The linear local ids of those who work together: from `first` until `end`.
typedef struct team {
  ref first, end;
} team;

static uint32_t subgroup_size(const lowering *l) {
  return l->kernel->subgroup ? l->kernel->subgroup : SUBGROUP_SIZE;
}

static team workgroup_of(lowering *l) {
  return (team){e_zero(l, VYRE_U32), e_const(l, VYRE_U32, group_size(l))};
}

// The last one of a workgroup has those that are left.
static team subgroup_of(lowering *l) {
  ref size = e_const(l, VYRE_U32, subgroup_size(l)), id = group_linear_id(l, VYRE_U32);
  ref first = two(l, VYRE_OP_MUL, two(l, VYRE_OP_DIV, id, size), size);
  ref end = two(l, VYRE_OP_ADD, first, size);
  return (team){first, two(l, VYRE_OP_MIN, end, e_const(l, VYRE_U32, group_size(l)))};
}

// Functions of a subgroup have this bit beside their operation.
static team team_of(lowering *l, int what) {
  return what & OF_SUBGROUP ? subgroup_of(l) : workgroup_of(l);
}

static vyre_op op_of(int what) {
  return (vyre_op)(what & ~OF_SUBGROUP);
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
  ref one = read_of(l, p, k, type, offset);
  vyre_build_set(l->b, sum, combine(l, op, vyre_build_get(l->b, sum), one));
  vyre_build_end(l->b);
  return vyre_build_get(l->b, sum);
}

static ref reduce(lowering *l, int what, ref v, const ctype *type, uint32_t offset) {
  pointer p = share(l, v, type, offset);
  team t = team_of(l, what);
  ref second = two(l, VYRE_OP_ADD, t.first, e_const(l, VYRE_U32, 1));
  ref start = read_of(l, p, t.first, type, offset);
  ref made = fold(l, op_of(what), p, start, second, t.end, type, offset);
  vyre_build_barrier(l->b);
  return made;
}

value group_reduce(lowering *l, node *n, const value *args, int what) {
  return value_scalar(l, reduce(l, what, args[0].at[0].v, n->type, n->offset));
}

value group_scan_inclusive(lowering *l, node *n, const value *args, int what) {
  pointer p = share(l, args[0].at[0].v, n->type, n->offset);
  team t = team_of(l, what);
  ref one = e_const(l, VYRE_U32, 1), id = group_linear_id(l, VYRE_U32);
  ref start = read_of(l, p, t.first, n->type, n->offset);
  ref made = fold(l, op_of(what), p, start, two(l, VYRE_OP_ADD, t.first, one),
                  two(l, VYRE_OP_ADD, id, one), n->type, n->offset);
  vyre_build_barrier(l->b);
  return value_scalar(l, made);
}

value group_scan_exclusive(lowering *l, node *n, const value *args, int what) {
  pointer p = share(l, args[0].at[0].v, n->type, n->offset);
  ref start = neutral(l, op_of(what), n->type->scalar);
  ref made = fold(l, op_of(what), p, start, team_of(l, what).first, group_linear_id(l, VYRE_U32),
                  n->type, n->offset);
  vyre_build_barrier(l->b);
  return value_scalar(l, made);
}

// work_group_any and work_group_all give 0 or 1.
value group_vote(lowering *l, node *n, const value *args, int what) {
  ref v = e_convert(l, VYRE_I32, e_true(l, args[0].at[0].v));
  ref made = reduce(l, what, v, type_scalar(l->u, VYRE_I32), n->offset);
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

// ---- subgroups ----------------------------------------------------------------------------------

static ref local_id_in(lowering *l, team t) {
  return two(l, VYRE_OP_SUB, group_linear_id(l, VYRE_U32), t.first);
}

value subgroup_fact(lowering *l, node *n, const value *args, int what) {
  (void)args;
  uint32_t size = subgroup_size(l);
  uint64_t all = group_size(l);
  team t = subgroup_of(l);
  ref made = 0;
  switch ((subgroup_facts)what) {
  case SUBGROUP_COUNT: made = e_const(l, VYRE_U32, (all + size - 1) / size); break;
  case SUBGROUP_LARGEST: made = e_const(l, VYRE_U32, all < size ? all : size); break;
  case SUBGROUP_LENGTH: made = two(l, VYRE_OP_SUB, t.end, t.first); break;
  case SUBGROUP_ID: made = two(l, VYRE_OP_DIV, t.first, e_const(l, VYRE_U32, size)); break;
  case SUBGROUP_LOCAL_ID: made = local_id_in(l, t); break;
  }
  return value_convert(l, value_scalar(l, made), n->type, n->offset);
}

// Whose value it is, by local id in the subgroup.
static ref source_of(lowering *l, team t, ref given, int what) {
  ref id = local_id_in(l, t), length = two(l, VYRE_OP_SUB, t.end, t.first);
  switch ((subgroup_moves)what) {
  case MOVE_TO: return given;
  case MOVE_XOR: return two(l, VYRE_OP_XOR, id, given);
  case MOVE_UP: return two(l, VYRE_OP_SUB, id, given);
  case MOVE_DOWN: return two(l, VYRE_OP_ADD, id, given);
  case MOVE_ROUND: return two(l, VYRE_OP_REM, two(l, VYRE_OP_ADD, id, given), length);
  }
  return given;
}

// Where there is nobody, the specification leaves the value open: it is the own one.
value subgroup_move(lowering *l, node *n, const value *args, int what) {
  value made = value_new(l, n->type, n->offset);
  ref given = e_convert(l, VYRE_U32, args[1].at[0].v);
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    const ctype *type = n->type->kind == T_VECTOR ? n->type->element : n->type;
    pointer p = share(l, args[0].at[i].v, type, n->offset);
    team t = subgroup_of(l);
    ref at = source_of(l, t, given, what), length = two(l, VYRE_OP_SUB, t.end, t.first);
    ref is_there = two(l, VYRE_OP_LT, at, length);
    at = vyre_build_select(l->b, is_there, two(l, VYRE_OP_ADD, t.first, at),
                           group_linear_id(l, VYRE_U32));
    made.at[i].v = read_of(l, p, at, type, n->offset);
    vyre_build_barrier(l->b);
  }
  return made;
}

value subgroup_elect(lowering *l, node *n, const value *args, int what) {
  (void)args, (void)what;
  ref is_first = two(l, VYRE_OP_EQ, local_id_in(l, subgroup_of(l)), e_zero(l, VYRE_U32));
  return value_convert(l, value_scalar(l, is_first), n->type, n->offset);
}

value subgroup_first(lowering *l, node *n, const value *args, int what) {
  (void)what;
  value both[2] = {args[0], value_scalar(l, e_zero(l, VYRE_U32))};
  return subgroup_move(l, n, both, MOVE_TO);
}

// A bit of a ballot, of any of the subgroup or of the own one.
value subgroup_bit(lowering *l, node *n, const value *args, int what) {
  (void)what;
  team t = subgroup_of(l);
  ref id = n->count > 1 ? e_convert(l, VYRE_U32, args[1].at[0].v) : local_id_in(l, t);
  ref word = e_zero(l, VYRE_U32), place = two(l, VYRE_OP_SHR, id, e_const(l, VYRE_U32, 5));
  for (uint32_t i = 0; i < 4; i++)
    word = vyre_build_select(l->b, two(l, VYRE_OP_EQ, place, e_const(l, VYRE_U32, i)),
                             args[0].at[i].v, word);
  ref shift = two(l, VYRE_OP_AND, id, e_const(l, VYRE_U32, 31));
  ref bit = two(l, VYRE_OP_AND, two(l, VYRE_OP_SHR, word, shift), e_const(l, VYRE_U32, 1));
  return value_convert(l, value_scalar(l, bit), n->type, n->offset);
}

value subgroup_bit_count(lowering *l, node *n, const value *args, int what) {
  (void)what;
  ref sum = e_zero(l, VYRE_U32);
  for (uint32_t i = 0; i < 4; i++)
    sum = two(l, VYRE_OP_ADD, sum, e_unary(l, VYRE_OP_POPCOUNT, args[0].at[i].v));
  return value_convert(l, value_scalar(l, sum), n->type, n->offset);
}

// A bit for each of the subgroup, in four words.
value subgroup_ballot(lowering *l, node *n, const value *args, int what) {
  (void)what;
  if (subgroup_size(l) > 128)
    lower_refuse(l, n->offset, "a ballot of more than 128", "ask for smaller subgroups");
  const ctype *word = type_scalar(l->u, VYRE_U32);
  value made = value_new(l, n->type, n->offset);
  ref v = e_convert(l, VYRE_U32, e_true(l, args[0].at[0].v));
  pointer p = share(l, v, word, n->offset);
  team t = subgroup_of(l);
  for (uint32_t i = 0; i < 4; i++) {
    ref low = two(l, VYRE_OP_ADD, t.first, e_const(l, VYRE_U32, 32 * i));
    ref high = two(l, VYRE_OP_MIN, two(l, VYRE_OP_ADD, low, e_const(l, VYRE_U32, 32)), t.end);
    vyre_var bits = vyre_build_var(l->b, "bits", e_zero(l, VYRE_U32));
    ref k = vyre_build_for(l->b, low, high, e_const(l, VYRE_U32, 1));
    ref bit = two(l, VYRE_OP_SHL, read_of(l, p, k, word, n->offset), two(l, VYRE_OP_SUB, k, low));
    vyre_build_set(l->b, bits, two(l, VYRE_OP_OR, vyre_build_get(l->b, bits), bit));
    vyre_build_end(l->b);
    made.at[i].v = vyre_build_get(l->b, bits);
  }
  vyre_build_barrier(l->b);
  return made;
}
