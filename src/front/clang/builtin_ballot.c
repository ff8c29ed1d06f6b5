// SPDX-License-Identifier: MIT
//
// Votes of a subgroup: a bit for each of its invocations, in four words.
#include "front/clang/builtin_team.h"

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
}

static ref number(lowering *l, uint64_t value) {
  return e_const(l, VYRE_U32, value);
}

// Word i of the lowest `count` bits.
static ref low_bits(lowering *l, ref count, uint32_t i) {
  ref begin = number(l, 32 * i), past = two(l, VYRE_OP_SUB, count, begin);
  ref some = two(l, VYRE_OP_SUB, two(l, VYRE_OP_SHL, number(l, 1), past), number(l, 1));
  ref is_all = two(l, VYRE_OP_GE, count, number(l, 32 * i + 32));
  ref is_none = two(l, VYRE_OP_LE, count, begin);
  return e_select(l, is_none, number(l, 0), e_select(l, is_all, number(l, UINT32_MAX), some));
}

// Bits of those before the own one (and of it), and of all.
typedef struct ranks {
  ref below[4], up_to[4], all[4];
} ranks;

static ranks ranks_of(lowering *l) {
  ranks r;
  ref id = team_local_id(l, team_subgroup(l));
  for (uint32_t i = 0; i < 4; i++) {
    r.below[i] = low_bits(l, id, i);
    r.up_to[i] = low_bits(l, two(l, VYRE_OP_ADD, id, number(l, 1)), i);
    r.all[i] = low_bits(l, number(l, team_size(l)), i);
  }
  return r;
}

value subgroup_mask(lowering *l, node *n, const value *args, int what) {
  (void)args;
  value made = value_new(l, n->type, n->offset);
  ranks r = ranks_of(l);
  for (uint32_t i = 0; i < 4; i++) {
    ref above = two(l, VYRE_OP_XOR, r.all[i], r.up_to[i]);
    ref own = two(l, VYRE_OP_XOR, r.up_to[i], r.below[i]);
    switch ((subgroup_masks)what) {
    case MASK_EQ: made.at[i].v = own; break;
    case MASK_GE: made.at[i].v = two(l, VYRE_OP_OR, above, own); break;
    case MASK_GT: made.at[i].v = above; break;
    case MASK_LE: made.at[i].v = r.up_to[i]; break;
    case MASK_LT: made.at[i].v = r.below[i]; break;
    }
  }
  return made;
}

// A bit of a ballot, of any of the subgroup or of the own one.
value subgroup_bit(lowering *l, node *n, const value *args, int what) {
  (void)what;
  team t = team_subgroup(l);
  ref id = n->count > 1 ? e_convert(l, VYRE_U32, args[1].at[0].v) : team_local_id(l, t);
  ref word = e_zero(l, VYRE_U32), place = two(l, VYRE_OP_SHR, id, e_const(l, VYRE_U32, 5));
  for (uint32_t i = 0; i < 4; i++)
    word = vyre_build_select(l->b, two(l, VYRE_OP_EQ, place, e_const(l, VYRE_U32, i)),
                             args[0].at[i].v, word);
  ref shift = two(l, VYRE_OP_AND, id, e_const(l, VYRE_U32, 31));
  ref bit = two(l, VYRE_OP_AND, two(l, VYRE_OP_SHR, word, shift), e_const(l, VYRE_U32, 1));
  return value_convert(l, value_scalar(l, bit), n->type, n->offset);
}

// How many bits are set: all, those before the own one, or with it.
value subgroup_bit_count(lowering *l, node *n, const value *args, int what) {
  ranks r = ranks_of(l);
  const ref *looked = what == COUNT_BELOW ? r.below : what == COUNT_UP_TO ? r.up_to : r.all;
  ref sum = e_zero(l, VYRE_U32);
  for (uint32_t i = 0; i < 4; i++)
    sum = two(l, VYRE_OP_ADD, sum,
              e_unary(l, VYRE_OP_POPCOUNT, two(l, VYRE_OP_AND, args[0].at[i].v, looked[i])));
  return value_convert(l, value_scalar(l, sum), n->type, n->offset);
}

// The number of the lowest or highest bit that is set; 0 where none is.
value subgroup_find_bit(lowering *l, node *n, const value *args, int what) {
  bool is_lowest = what == VYRE_OP_CTZ;
  ranks r = ranks_of(l);
  ref made = number(l, 0);
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t i = is_lowest ? 3 - k : k;
    ref word = two(l, VYRE_OP_AND, args[0].at[i].v, r.all[i]);
    ref at = is_lowest ? e_unary(l, VYRE_OP_CTZ, word)
                       : two(l, VYRE_OP_SUB, number(l, 31), e_unary(l, VYRE_OP_CLZ, word));
    made = e_select(l, two(l, VYRE_OP_NE, word, number(l, 0)),
                    two(l, VYRE_OP_ADD, at, number(l, 32 * i)), made);
  }
  return value_convert(l, value_scalar(l, made), n->type, n->offset);
}

// A bit for each of the subgroup, in four words.
value subgroup_ballot(lowering *l, node *n, const value *args, int what) {
  (void)what;
  if (team_size(l) > 128)
    lower_refuse(l, n->offset, "a ballot of more than 128", "ask for smaller subgroups");
  const ctype *word = type_scalar(l->u, VYRE_U32);
  value made = value_new(l, n->type, n->offset);
  ref v = e_convert(l, VYRE_U32, e_true(l, args[0].at[0].v));
  pointer p = team_share(l, v, word, n->offset);
  team t = team_subgroup(l);
  for (uint32_t i = 0; i < 4; i++) {
    ref low = two(l, VYRE_OP_ADD, t.first, e_const(l, VYRE_U32, 32 * i));
    ref high = two(l, VYRE_OP_MIN, two(l, VYRE_OP_ADD, low, e_const(l, VYRE_U32, 32)), t.end);
    vyre_var bits = vyre_build_var(l->b, "bits", e_zero(l, VYRE_U32));
    ref k = vyre_build_for(l->b, low, high, e_const(l, VYRE_U32, 1));
    ref bit = two(l, VYRE_OP_SHL, team_read(l, p, k, word, n->offset), two(l, VYRE_OP_SUB, k, low));
    vyre_build_set(l->b, bits, two(l, VYRE_OP_OR, vyre_build_get(l->b, bits), bit));
    vyre_build_end(l->b);
    made.at[i].v = vyre_build_get(l->b, bits);
  }
  vyre_build_barrier(l->b);
  return made;
}
