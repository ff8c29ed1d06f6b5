// SPDX-License-Identifier: MIT
//
// Values of any type and the conversions between them, as OpenCL C defines them.
#include "front/clang/lower.h"

uint32_t type_leaf_count(lowering *l, const ctype *type, uint32_t offset) {
  type_leaves(l->u, type, offset);
  return type->leaf_count;
}

value value_new(lowering *l, const ctype *type, uint32_t offset) {
  return (value){type, UNIT_ARRAY(l->u, type_leaf_count(l, type, offset), cell)};
}

value value_zero(lowering *l, const ctype *type, uint32_t offset) {
  value v = value_new(l, type, offset);
  const leaf *leaves = type_leaves(l->u, type, offset);
  for (uint32_t i = 0; i < type->leaf_count; i++) {
    if (leaves[i].type->kind == T_POINTER)
      v.at[i].p = pointer_keep(l, pointer_null(l));
    else
      v.at[i].v = e_zero(l, leaves[i].type->scalar);
  }
  return v;
}

value value_scalar(lowering *l, ref v) {
  value made = {type_scalar(l->u, e_type(l, v)), UNIT_NEW(l->u, cell)};
  made.at[0].v = v;
  return made;
}

value value_number(lowering *l, const ctype *type, ref v) {
  value made = {type, UNIT_NEW(l->u, cell)};
  made.at[0].v = v;
  return made;
}

value value_pointer(lowering *l, const ctype *type, pointer p) {
  value made = {type, UNIT_NEW(l->u, cell)};
  made.at[0].p = pointer_keep(l, p);
  return made;
}

ref value_lane(lowering *l, vyre_type type, ref x) {
  // A true bool has all bits set in a lane of integers.
  if (e_type(l, x) == VYRE_BOOL && type_is_int(type))
    return e_select(l, x, e_int(l, type, -1), e_zero(l, type));
  return e_convert(l, type, x);
}

static value to_vector(lowering *l, value v, const ctype *to, uint32_t offset) {
  value made = value_new(l, to, offset);
  if (v.type->kind == T_SCALAR) {
    ref lane = value_lane(l, to->scalar, v.at[0].v);
    for (uint32_t i = 0; i < to->count; i++) made.at[i].v = lane;
    return made;
  }
  if (v.type->kind != T_VECTOR || v.type->count != to->count)
    lower_refuse(l, offset, "a conversion between vectors of different length",
                 "pick components, or use as_type");
  for (uint32_t i = 0; i < to->count; i++) made.at[i].v = e_convert(l, to->scalar, v.at[i].v);
  return made;
}

static value to_scalar(lowering *l, value v, const ctype *to, uint32_t offset) {
  if (v.at && v.at[0].p && v.type->kind != T_SCALAR) {
    if (to->scalar == VYRE_BOOL) return value_scalar(l, pointer_is_set(l, v.at[0].p));
    return value_number(l, to, e_convert(l, to->scalar, pointer_number(l, v.at[0].p)));
  }
  if (v.type->kind != T_SCALAR)
    lower_refuse(l, offset, "a conversion to a number", "pick a component of the value");
  return value_number(l, to, e_convert(l, to->scalar, v.at[0].v));
}

static value to_pointer(lowering *l, value v, const ctype *to, uint32_t offset) {
  if (v.at[0].p) return value_pointer(l, to, *v.at[0].p);
  if (v.type->kind != T_SCALAR || !type_is_int(v.type->scalar))
    lower_refuse(l, offset, "a conversion to a pointer", "convert an integer, or a pointer");
  return value_pointer(l, to, pointer_of_number(l, v.at[0].v, to->space, offset));
}

value value_convert(lowering *l, value v, const ctype *to, uint32_t offset) {
  if (v.type == to) return v;
  switch (to->kind) {
  case T_VOID:
  case T_EVENT: return value_new(l, to, offset);
  case T_IMAGE:
    if (v.type->kind == T_IMAGE) return v;
    break;
  case T_SCALAR: return to_scalar(l, v, to, offset);
  case T_VECTOR: return to_vector(l, v, to, offset);
  case T_POINTER: return to_pointer(l, v, to, offset);
  default: type_leaves(l->u, to, offset); // refuses what has no values
  }
  lower_refuse(l, offset, "a conversion between structures", "copy the fields");
}

value value_select(lowering *l, ref c, value x, value y) {
  value made = value_new(l, x.type, NO_PLACE);
  for (uint32_t i = 0; i < x.type->leaf_count; i++) {
    if (x.at[i].p)
      made.at[i].p = pointer_keep(l, pointer_select(l, c, x.at[i].p, y.at[i].p));
    else
      made.at[i].v = e_select(l, c, x.at[i].v, y.at[i].v);
  }
  return made;
}
