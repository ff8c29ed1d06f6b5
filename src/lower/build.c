// SPDX-License-Identifier: MIT
#include "lower/recipe.h"

#include <string.h>

const recipe *const recipe_table[RECIPE_COUNT] = {
#define RECIPE(name) [RECIPE_##name] = &recipe_##name,
#include "lower/recipes.def"
};

static_assert(RECIPE_COUNT <= 32, "lowering.needed has a bit per recipe");

// The first recipe that takes the operation rewrites it, and what it builds comes here again. Not
// once the builder has failed: it gives no types any more, by which recipes know what is done.
ref lower_op(lowering *l, const inst *in) {
  if (builder_status(l->b) != VYRE_OK) return 0;
  for (unsigned i = 0; i < RECIPE_COUNT; i++) {
    const recipe *r = recipe_table[i];
    if (!(l->needed >> i & 1) || !r->takes || !r->takes(l, in)) continue;
    uint8_t outer = l->recipe;
    uint32_t origin = l->origin;
    l->recipe = (uint8_t)(i + 1);
    ref made = r->rewrite(l, in);
    l->recipe = outer;
    l->origin = origin;
    return made;
  }
  return builder_emit(l->b, in);
}

static ref build(lowering *l, vyre_op op, vyre_type type, const ref *args, unsigned count) {
  inst in = {.op = (uint8_t)op, .type = (uint8_t)type};
  if (type == VYRE_VOID) // recipes look at it
    in.type = (uint8_t)(op_table[op].rule == RULE_EQUALITY || op_table[op].rule == RULE_ORDER
                            ? VYRE_BOOL
                            : lower_type(l, args[op == VYRE_OP_SELECT]));
  memcpy(in.arg, args, count * sizeof *args);
  l->origin = 0;
  return lower_op(l, &in);
}

ref promise(lowering *l, inst in) {
  in.promised_by = l->recipe;
  l->origin = 0;
  return lower_op(l, &in);
}

ref lower_un(lowering *l, vyre_op op, ref x) {
  return build(l, op, VYRE_VOID, (ref[]){x}, 1);
}

ref lower_bin(lowering *l, vyre_op op, ref x, ref y) {
  return build(l, op, VYRE_VOID, (ref[]){x, y}, 2);
}

ref lower_select(lowering *l, ref condition, ref x, ref y) {
  return build(l, VYRE_OP_SELECT, VYRE_VOID, (ref[]){condition, x, y}, 3);
}

ref lower_convert(lowering *l, vyre_type type, ref x) {
  return lower_type(l, x) == type ? x : build(l, VYRE_OP_CONVERT, type, (ref[]){x}, 1);
}

ref lower_bitcast(lowering *l, vyre_type type, ref x) {
  return lower_type(l, x) == type ? x : build(l, VYRE_OP_BITCAST, type, (ref[]){x}, 1);
}

ref lower_const(lowering *l, vyre_type type, uint64_t bits) {
  return vyre_build_const(l->b, type, bits);
}

ref lower_float(lowering *l, vyre_type type, double value) {
  return type == VYRE_F32 ? vyre_build_f32(l->b, (float)value) : vyre_build_f64(l->b, value);
}

ref lower_get(lowering *l, vyre_var variable) {
  return vyre_build_get(l->b, variable);
}

vyre_var lower_var(lowering *l, ref first) {
  return vyre_build_var(l->b, NULL, first);
}

void lower_set(lowering *l, vyre_var variable, ref value) {
  vyre_build_set(l->b, variable, value);
}

void lower_if(lowering *l, ref condition) {
  vyre_build_if(l->b, condition);
}

void lower_end(lowering *l) {
  vyre_build_end(l->b);
}

vyre_type lower_type(const lowering *l, ref value) {
  if (ref_is_wide(value)) return l->wides.at[value & ~REF_WIDE].type;
  return vyre_build_type_of(l->b, value);
}

bool lower_const_bits(const lowering *l, ref value, uint64_t *bits) {
  if (ref_is_wide(value)) return false;
  return builder_const_bits(l->b, value, bits);
}
