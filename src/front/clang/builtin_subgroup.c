// SPDX-License-Identifier: MIT
//
// Who is in a subgroup, values that move between its invocations, and blocks of memory that it
// reads and writes together, by the names of Khronos and of Intel.
#include "front/clang/builtin_team.h"

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
}

// The work items of the workgroup as the program has them, so that what depends on their number
// does not look as if it did for any workgroup.
static ref items(lowering *l) {
  ref made = vyre_build_id(l->b, VYRE_OP_LOCAL_SIZE, 0);
  for (uint32_t axis = 1; axis < l->rank; axis++)
    made = two(l, VYRE_OP_MUL, made, vyre_build_id(l->b, VYRE_OP_LOCAL_SIZE, axis));
  return made;
}

value subgroup_fact(lowering *l, node *n, const value *args, int what) {
  (void)args;
  uint32_t size = team_size(l);
  ref made = 0, most = e_const(l, VYRE_U32, size);
  team t = {0};
  if (what != SUBGROUP_COUNT && what != SUBGROUP_LARGEST) t = team_subgroup(l);
  switch ((subgroup_facts)what) {
  case SUBGROUP_COUNT: made = two(l, VYRE_OP_DIV, e_add_const(l, items(l), size - 1), most); break;
  case SUBGROUP_LARGEST: made = two(l, VYRE_OP_MIN, items(l), most); break;
  case SUBGROUP_LENGTH: made = two(l, VYRE_OP_SUB, t.end, t.first); break;
  case SUBGROUP_ID: made = two(l, VYRE_OP_DIV, t.first, e_const(l, VYRE_U32, size)); break;
  case SUBGROUP_LOCAL_ID: made = team_local_id(l, t); break;
  }
  return value_convert(l, value_scalar(l, made), n->type, n->offset);
}

// Among so many neighbours, a power of two, around.
static ref around(lowering *l, node *n, ref id, ref given, const value *size) {
  uint64_t known;
  if (!e_is_const(l, size->at[0].v, &known) || !known || (known & (known - 1)) ||
      known > team_size(l))
    lower_refuse(l, n->offset, "a cluster of this size",
                 "use a constant power of two, at most the size of a subgroup");
  ref low = e_const(l, VYRE_U32, known - 1), high = e_const(l, VYRE_U32, ~(uint32_t)(known - 1));
  ref turned = two(l, VYRE_OP_AND, two(l, VYRE_OP_ADD, id, given), low);
  return two(l, VYRE_OP_OR, two(l, VYRE_OP_AND, id, high), turned);
}

// Whose value it is, by local id in the subgroup.
static ref source_of(lowering *l, node *n, team t, const value *args, int what) {
  ref given = e_convert(l, VYRE_U32, args[1].at[0].v);
  ref id = team_local_id(l, t), length = two(l, VYRE_OP_SUB, t.end, t.first);
  switch ((subgroup_moves)what) {
  case MOVE_TO: return given;
  case MOVE_XOR: return two(l, VYRE_OP_XOR, id, given);
  case MOVE_UP: return two(l, VYRE_OP_SUB, id, given);
  case MOVE_DOWN: return two(l, VYRE_OP_ADD, id, given);
  case MOVE_ROUND: return two(l, VYRE_OP_REM, two(l, VYRE_OP_ADD, id, given), length);
  case MOVE_IN_CLUSTER: return around(l, n, id, given, &args[2]);
  }
  return given;
}

// Where there is nobody, the specification leaves the value open: it is the own one.
value subgroup_move(lowering *l, node *n, const value *args, int what) {
  value made = value_new(l, n->type, n->offset);
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    const ctype *type = n->type->kind == T_VECTOR ? n->type->element : n->type;
    pointer p = team_share(l, args[0].at[i].v, type, n->offset);
    team t = team_subgroup(l);
    ref at = source_of(l, n, t, args, what), length = two(l, VYRE_OP_SUB, t.end, t.first);
    ref is_there = two(l, VYRE_OP_LT, at, length);
    at = vyre_build_select(l->b, is_there, two(l, VYRE_OP_ADD, t.first, at),
                           group_linear_id(l, VYRE_U32));
    made.at[i].v = team_read(l, p, at, type, n->offset);
    vyre_build_barrier(l->b);
  }
  return made;
}

value subgroup_elect(lowering *l, node *n, const value *args, int what) {
  (void)args, (void)what;
  ref is_first = two(l, VYRE_OP_EQ, team_local_id(l, team_subgroup(l)), e_zero(l, VYRE_U32));
  return value_convert(l, value_scalar(l, is_first), n->type, n->offset);
}

value subgroup_first(lowering *l, node *n, const value *args, int what) {
  (void)what;
  value both[2] = {args[0], value_scalar(l, e_zero(l, VYRE_U32))};
  return subgroup_move(l, n, both, MOVE_TO);
}

// ---- Intel's ------------------------------------------------------------------------------------

static const ctype *lane_type(const ctype *type) {
  return type->kind == T_VECTOR ? type->element : type;
}

// The value of number `at` of the subgroup; one that is not there has zero.
static ref moved(lowering *l, team t, ref v, ref at, const ctype *type, uint32_t offset) {
  pointer p = team_share(l, v, type, offset);
  ref made = team_read(l, p, two(l, VYRE_OP_ADD, t.first, at), type, offset);
  vyre_build_barrier(l->b);
  return made;
}

// Two values in a row, seen through a window of the subgroup's size: `down` moves it forward from
// the first, `up` back from the second.
value subgroup_window(lowering *l, node *n, const value *args, int what) {
  value made = value_new(l, n->type, n->offset);
  const ctype *type = lane_type(n->type);
  ref size = e_const(l, VYRE_U32, team_size(l)), delta = e_convert(l, VYRE_U32, args[2].at[0].v);
  team t = team_subgroup(l);
  ref id = team_local_id(l, t);
  ref start = what == MOVE_UP ? two(l, VYRE_OP_SUB, size, delta) : delta;
  ref at = two(l, VYRE_OP_ADD, id, start); // in both
  ref is_first = two(l, VYRE_OP_LT, at, size);
  ref in_first = e_select(l, is_first, at, e_zero(l, VYRE_U32));
  ref in_second = e_select(l, is_first, e_zero(l, VYRE_U32), two(l, VYRE_OP_SUB, at, size));
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    ref x = moved(l, t, args[0].at[i].v, in_first, type, n->offset);
    ref y = moved(l, t, args[1].at[i].v, in_second, type, n->offset);
    made.at[i].v = vyre_build_select(l->b, is_first, x, y);
  }
  return made;
}

// Element i of an invocation is its own of row i.
static pointer block_at(lowering *l, const pointer *p, uint32_t i, uint64_t bytes) {
  ref row = e_const(l, VYRE_U32, (uint64_t)i * team_size(l));
  ref id = team_local_id(l, team_subgroup(l));
  return pointer_add(l, *p, two(l, VYRE_OP_ADD, id, row), bytes);
}

static const pointer *block_pointer(lowering *l, node *n, const value *args) {
  if (!args[0].at || !args[0].at[0].p)
    lower_refuse(l, n->offset, "a block of an image", "read its pixels with read_imageui");
  return args[0].at[0].p;
}

value subgroup_block_read(lowering *l, node *n, const value *args, int what) {
  (void)what;
  const pointer *p = block_pointer(l, n, args);
  value made = value_new(l, n->type, n->offset);
  const ctype *type = lane_type(n->type);
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    pointer at = block_at(l, p, i, type->size);
    made.at[i].v = load_scalar(l, &at, 0, type->scalar, n->offset);
  }
  return made;
}

value subgroup_block_write(lowering *l, node *n, const value *args, int what) {
  (void)what;
  const pointer *p = block_pointer(l, n, args);
  const ctype *type = lane_type(args[1].type);
  for (uint32_t i = 0; i < args[1].type->leaf_count; i++) {
    pointer at = block_at(l, p, i, type->size);
    store_scalar(l, &at, 0, args[1].at[i].v, n->offset);
  }
  return value_new(l, n->type, n->offset);
}
