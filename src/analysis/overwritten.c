// SPDX-License-Identifier: MIT
#include "analysis/overwritten.h"

// A conversion that no local id is too large for: there are at most 1,024 along an axis.
static ref without_conversions(const vyre_program *p, ref r) {
  while (!ref_is_const(r) && (p->code[r].op == VYRE_OP_CONVERT || p->code[r].op == VYRE_OP_COPY) &&
         type_is_int(p->code[r].type) && type_bits(p->code[r].type) >= 16)
    r = p->code[r].arg[0];
  return r;
}

static bool is_local_id(const vyre_program *p, ref r, uint32_t *axis) {
  r = without_conversions(p, r);
  if (ref_is_const(r) || p->code[r].op != VYRE_OP_LOCAL_ID) return false;
  *axis = p->code[r].arg[0];
  return true;
}

static bool is_const(const vyre_program *p, ref r, uint64_t value) {
  return ref_is_const(r) && p->consts[ref_index(r)].bits == value;
}

// The axis whose id is multiplied by `size`, as a product or as a shift.
static bool is_multiple(const vyre_program *p, ref r, uint64_t size, uint32_t *axis) {
  r = without_conversions(p, r);
  if (ref_is_const(r)) return false;
  const inst *in = &p->code[r];
  if (in->op == VYRE_OP_SHL)
    return !(size & (size - 1)) && is_const(p, in->arg[1], (uint64_t)__builtin_ctzll(size)) &&
           is_local_id(p, in->arg[0], axis);
  if (in->op != VYRE_OP_MUL) return false;
  return (is_const(p, in->arg[1], size) && is_local_id(p, in->arg[0], axis)) ||
         (is_const(p, in->arg[0], size) && is_local_id(p, in->arg[1], axis));
}

// id of one axis + its size * id of the other: a number of its own for each.
static bool is_number(const vyre_program *p, const region *r, ref index) {
  uint32_t inner, outer;
  index = without_conversions(p, index);
  if (ref_is_const(index) || p->code[index].op != VYRE_OP_ADD) return false;
  const inst *in = &p->code[index];
  for (int k = 0; k < 2; k++)
    if (is_local_id(p, in->arg[k], &inner) &&
        is_multiple(p, in->arg[1 - k], r->workgroup[inner], &outer) && outer != inner)
      return r->workgroup[3 - inner - outer] == 1;
  return false;
}

// Where the index numbers all invocations, it reaches every element that there are as many of.
static bool is_own(const vyre_program *p, const region *r, ref index, uint32_t length) {
  uint32_t axis;
  uint64_t count = (uint64_t)r->workgroup[0] * r->workgroup[1] * r->workgroup[2];
  if (length > count) return false;
  if (is_local_id(p, index, &axis)) return r->workgroup[axis] == count;
  return is_number(p, r, index);
}

bool shared_is_overwritten(const vyre_program *p, const region *r, uint32_t array) {
  uint32_t depth = 0;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    bool has_memory = op_table[in->op].operands[0] == 'm';
    if (in->op == VYRE_OP_RETURN) return false;
    if (has_memory && in->arg[0] == MEM_REF(MEM_SHARED, array))
      return in->op == VYRE_OP_STORE && !depth && is_own(p, r, in->arg[1], p->shared[array].length);
    if (in->op == VYRE_OP_IF || in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) depth++;
    if (in->op == VYRE_OP_END) depth--;
  }
  return false;
}
