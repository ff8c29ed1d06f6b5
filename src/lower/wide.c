// SPDX-License-Identifier: MIT
#include "lower/wide.h"

#include "ir/op_groups.h"

static bool is_needed(const lower_target *t) {
  return !t->has_i64;
}

// What the host evaluates before a launch stays as it is.
static bool takes(const lowering *l, const inst *in) {
  if (l->on_host) return false;
  if (type_is_wide((vyre_type)in->type)) return true;
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v' && type_is_wide(lower_type(l, in->arg[k]))) return true;
  return false;
}

// ---- pairs --------------------------------------------------------------------------------------

ref wide_make(lowering *l, vyre_type type, pair words) {
  lower_wide w = {words.lo, words.hi, type};
  if (!vec_push(&l->wides, w)) {
    builder_fail(l->b, VYRE_ERROR_MEMORY, "out of memory. Fix: give the process more");
    return 0;
  }
  return REF_WIDE | (ref)(l->wides.count - 1);
}

pair wide_split(lowering *l, ref value) {
  uint64_t bits;
  if (lower_const_bits(l, value, &bits)) return pair_const(l, VYRE_U32, bits, bits >> 32);
  if (!ref_is_wide(value)) return pair_const(l, VYRE_U32, 0, 0); // the builder has failed
  const lower_wide *w = &l->wides.at[value & ~REF_WIDE];
  return (pair){w->lo, w->hi};
}

ref wide_index(lowering *l, ref index) {
  bool is_pair = !l->target->has_i64 && type_is_wide(lower_type(l, index));
  return is_pair ? wide_split(l, index).lo : lower_convert(l, VYRE_U32, index);
}

pair wide_negate(lowering *l, pair a) {
  return pair_sub(l, pair_const(l, VYRE_U32, 0, 0), a);
}

ref wide_sign(lowering *l, pair a) {
  return lower_bin(l, VYRE_OP_GE, a.hi, lower_const(l, VYRE_U32, 0x80000000));
}

// ---- state and loops ----------------------------------------------------------------------------

static ref parameter(lowering *l, const inst *in) {
  ref words[2];
  for (uint32_t k = 0; k < 2; k++)
    words[k] = builder_emit(l->b, &(inst){.op = OP_PARAM_WORD,
                                          .type = VYRE_U32,
                                          .arg = {in->arg[0], lower_const(l, VYRE_U32, k)}});
  return wide_make(l, (vyre_type)in->type, (pair){words[0], words[1]});
}

static ref variable(lowering *l, vyre_type t, pair first) {
  return wide_make(l, t, (pair){lower_var(l, first.lo), lower_var(l, first.hi)});
}

static ref get(lowering *l, ref var) {
  pair at = wide_split(l, var);
  return wide_make(l, lower_type(l, var), (pair){lower_get(l, at.lo), lower_get(l, at.hi)});
}

static void set(lowering *l, ref var, pair value) {
  pair at = wide_split(l, var);
  lower_set(l, at.lo, value.lo);
  lower_set(l, at.hi, value.hi);
}

// A while: the next value is computed beside the condition, because `continue` goes there. When
// that wraps, the present value was the last one.
static ref loop(lowering *l, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  ref next = variable(l, t, wide_split(l, in->arg[0]));
  vyre_var is_last = lower_var(l, lower_const(l, VYRE_BOOL, 0));
  vyre_build_while(l->b);
  ref at = get(l, next);
  ref goes_on = lower_bin(l, VYRE_OP_LT, at, in->arg[1]);
  goes_on = lower_bin(l, VYRE_OP_AND, goes_on, lower_un(l, VYRE_OP_NOT, lower_get(l, is_last)));
  ref after = lower_bin(l, VYRE_OP_ADD, at, in->arg[2]);
  lower_set(l, is_last, lower_bin(l, VYRE_OP_LT, after, at));
  set(l, next, wide_split(l, after));
  vyre_build_do(l->b, goes_on);
  return at;
}

// ---- the recipe ---------------------------------------------------------------------------------

// An access whose index is a pair; elements that are one went to the recipe `storage` before.
static ref access_memory(lowering *l, const inst *in) {
  inst narrow = *in;
  narrow.arg[1] = wide_index(l, in->arg[1]);
  l->origin = 0;
  return lower_op(l, &narrow);
}

static ref rewrite(lowering *l, const inst *in) {
  vyre_type t = (vyre_type)in->type;
  switch ((vyre_op)in->op) {
  case OPS_ARITHMETIC:
  case OPS_BITWISE:
  case OPS_BIT_COUNTS:
  case OPS_COMPARISON: return wide_arithmetic(l, in);
  case VYRE_OP_SELECT:
    return wide_make(
        l, t, pair_select(l, in->arg[0], wide_split(l, in->arg[1]), wide_split(l, in->arg[2])));
  case VYRE_OP_CONVERT: return wide_convert(l, in);
  case VYRE_OP_BITCAST: // from the other type of the width; floats are declined
  case VYRE_OP_COPY: return wide_make(l, t, wide_split(l, in->arg[0]));
  case VYRE_OP_PARAM: return parameter(l, in);
  case VYRE_OP_VAR: return variable(l, t, wide_split(l, in->arg[0]));
  case VYRE_OP_GET: return get(l, in->arg[0]);
  case VYRE_OP_SET: set(l, in->arg[0], wide_split(l, in->arg[1])); return 0;
  case VYRE_OP_FOR: return loop(l, in);
  case OPS_MEMORY: return access_memory(l, in);
  // They neither give nor take integers of 64 bits.
  case OPS_EXACT_FLOAT:
  case OPS_MATH:
  case VYRE_OP_LEN:
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID:
  case VYRE_OP_GROUP_ID:
  case OPS_AXIS_SIZES:
  case VYRE_OP_ARRAY: // went to `storage`
  case OPS_FLOW:
  case OPS_NONE: break;
  }
  return builder_emit(l->b, in);
}

const recipe recipe_wide = {
    .name = "wide",
    .doc = "64-bit integers as pairs of 32-bit words",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
