// SPDX-License-Identifier: MIT
//
// The same bytes cut differently: memory that is accessed as several types, unions, as_type.
#include "front/clang/lower.h"

static ref shift(lowering *l, vyre_op op, ref x, uint64_t bytes) {
  return bytes ? e_binary(l, op, x, e_const(l, e_type(l, x), bytes * 8)) : x;
}

ref bits_cut(lowering *l, const piece *pieces, uint32_t count, uint64_t at, vyre_type type) {
  uint64_t wanted = type_bytes(type);
  vyre_type word = type_unsigned((unsigned)wanted);
  ref made = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t from = pieces[i].at, bytes = type_bytes(e_type(l, pieces[i].v));
    if (from == at && bytes == wanted) return e_bits(l, type, pieces[i].v);
    if (from >= at + wanted || from + bytes <= at) continue;
    ref part = e_bits(l, type_unsigned((unsigned)bytes), pieces[i].v);
    if (from < at) part = shift(l, VYRE_OP_SHR, part, at - from);
    part = e_convert(l, word, part);
    if (from > at) part = shift(l, VYRE_OP_SHL, part, from - at);
    made = made ? e_binary(l, VYRE_OP_OR, made, part) : part;
  }
  return made ? e_bits(l, type, made) : e_zero(l, type);
}

value bits_as(lowering *l, value v, uint64_t at, const ctype *type, uint32_t offset) {
  const leaf *from = type_leaves(l->u, v.type, offset);
  const leaf *to = type_leaves(l->u, type, offset);
  piece *pieces = UNIT_ARRAY(l->u, v.type->leaf_count, piece);
  for (uint32_t i = 0; i < v.type->leaf_count; i++) {
    if (v.at[i].p)
      lower_refuse(l, offset, "a pointer taken as bits", "use offsets from a pointer argument");
    pieces[i] = (piece){from[i].offset, v.at[i].v};
  }
  value made = value_new(l, type, offset);
  for (uint32_t i = 0; i < type->leaf_count; i++) {
    if (to[i].type->kind == T_POINTER)
      lower_refuse(l, offset, "a pointer made of bits", "use offsets from a pointer argument");
    made.at[i].v = bits_cut(l, pieces, v.type->leaf_count, at + to[i].offset, to[i].type->scalar);
  }
  return made;
}
