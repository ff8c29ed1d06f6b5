// SPDX-License-Identifier: MIT
//
// Accesses outside of a buffer or array: a load gives zero, a store is dropped, an atomic writes
// nothing and gives zero. The access stands in an `if` that compares the index with the length,
// unless the index is certain to be inside.
#include "lower/recipe.h"
#include "lower/storage.h"

#include "analysis/bounds.h"
#include "ir/limits.h"

static bool is_needed(const lower_target *t) {
  return !t->checks_bounds || !t->has_i64 || !t->has_small_storage;
}

// A backend that checks accesses itself does not see those that become others.
static bool takes(const lowering *l, const inst *in) {
  const lower_target *t = l->target;
  if (op_table[in->op].operands[0] != 'm' || in->promised_by) return false;
  if (!t->checks_bounds) return true;
  vyre_type element = in->op == VYRE_OP_STORE ? lower_type(l, in->arg[2]) : (vyre_type)in->type;
  bool is_wide = type_bits(lower_type(l, in->arg[1])) == 64 && !t->has_i64;
  return is_wide || storage_words(t, element);
}

// Of an array; 0 for a buffer, whose length is known when it is bound.
static uint64_t fixed_length(const lowering *l, uint32_t mem, vyre_type element) {
  uint32_t i = mem_index(mem), words = storage_words(l->target, element);
  if (mem_space(mem) == MEM_PRIVATE)
    return builder_inst(l->b, i)->arg[0] / (words ? words : 1); // as it was declared anew
  return mem_space(mem) == MEM_SHARED ? l->from->shared[i - l->shared_shift].length : 0;
}

// By the range of the index, or by the form of both, such as a global id in a buffer that is as
// long as the grid. The latter only where the grid is looked at by every invocation: drivers run
// shaders with a grid of 0 and no buffers, to be done with compiling.
static bool is_inside(const lowering *l, uint64_t length) {
  if (!l->origin) return false;
  const inst *access = &l->from->code[l->origin];
  if (length && bounds_is_below(&l->ranges, access->arg[1], length)) return true;
  return l->r && l->r->is_elastic &&
         bounds_is_inside(l->from, l->r, access->arg[0], access->arg[1]);
}

// A negative index is a large one as an unsigned number; of 32 bits only where no length is as
// large.
static ref test(lowering *l, const inst *in, uint64_t length) {
  vyre_type t = lower_type(l, in->arg[1]);
  ref index = lower_convert(l, type_to_unsigned(t), in->arg[1]);
  ref end =
      length ? lower_const(l, VYRE_U32, length) : vyre_build_len(l->b, (vyre_mem){in->arg[0]});
  ref is_below = lower_bin(l, VYRE_OP_LT, index, lower_convert(l, type_to_unsigned(t), end));
  if (t != VYRE_I32 || length || l->target->has_small_buffers) return is_below;
  ref is_positive = lower_bin(l, VYRE_OP_GE, in->arg[1], lower_const(l, t, 0));
  return lower_bin(l, VYRE_OP_AND, is_positive, is_below);
}

// Constant indices that no length is above: compilers warn of them, even where nobody gets.
static bool is_outside(const lowering *l, const inst *in, uint64_t length) {
  uint64_t index;
  return lower_const_bits(l, in->arg[1], &index) && index >= (length ? length : LIMIT_LENGTH);
}

static ref rewrite(lowering *l, const inst *in) {
  bool has_value = in->op != VYRE_OP_STORE;
  vyre_type element = has_value ? (vyre_type)in->type : lower_type(l, in->arg[2]);
  uint64_t length = fixed_length(l, in->arg[0], element);
  if (is_inside(l, length)) return promise(l, *in);
  if (is_outside(l, in, length)) return has_value ? lower_const(l, (vyre_type)in->type, 0) : 0;
  ref condition = test(l, in, length);
  ref found = 0;
  if (has_value)
    found = lower_op(
        l,
        &(inst){.op = VYRE_OP_VAR, .type = (uint8_t)element, .arg = {lower_const(l, element, 0)}});
  lower_if(l, condition);
  ref made = promise(l, *in);
  if (has_value) lower_op(l, &(inst){.op = VYRE_OP_SET, .arg = {found, made}});
  lower_end(l);
  return has_value
             ? lower_op(l, &(inst){.op = VYRE_OP_GET, .type = (uint8_t)element, .arg = {found}})
             : 0;
}

const recipe recipe_bounds = {
    .name = "bounds",
    .doc = "accesses are compared with the length, unless they are certain to be inside",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
