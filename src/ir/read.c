// SPDX-License-Identifier: MIT
//
// The records of a program for those outside of the tree, who do not see its layout.
#include <vyre/extend.h>

#include "ir/program.h"

#include <assert.h>

static_assert((int)VYRE_MEMORY_BUFFER == MEM_BUFFER && (int)VYRE_MEMORY_SHARED == MEM_SHARED &&
                  (int)VYRE_MEMORY_PRIVATE == MEM_PRIVATE,
              "vyre/extend.h names the memory spaces too");
static_assert(REF_CONST == 0x80000000u, "vyre_operand_is_const knows this bit");

uint32_t vyre_program_code_count(const vyre_program *p) {
  return p ? p->code_count : 0;
}

vyre_inst vyre_program_inst(const vyre_program *p, uint32_t index) {
  if (!p || !index || index >= p->code_count) return (vyre_inst){0};
  const inst *in = &p->code[index];
  return (vyre_inst){
      (vyre_op)in->op, (vyre_type)in->type, {in->arg[0], in->arg[1], in->arg[2], in->arg[3]}};
}

const char *vyre_program_value_name(const vyre_program *p, uint32_t index) {
  return p && p->names && index < p->code_count ? p->names[index] : NULL;
}

vyre_scalar vyre_program_const(const vyre_program *p, uint32_t operand) {
  if (!p || !ref_is_const(operand) || ref_index(operand) >= p->const_count) return (vyre_scalar){0};
  const constant *c = &p->consts[ref_index(operand)];
  return (vyre_scalar){(vyre_type)c->type, c->bits};
}

vyre_type vyre_program_type_of(const vyre_program *p, uint32_t operand) {
  if (ref_is_const(operand)) return vyre_program_const(p, operand).type;
  return vyre_program_inst(p, operand).type;
}

vyre_region_code vyre_program_region_code(const vyre_program *p, uint32_t index) {
  if (!p || index >= p->region_count) return (vyre_region_code){0};
  const region *r = &p->regions[index];
  return (vyre_region_code){r->body.first, r->body.end, r->shared.first, r->shared.end};
}

vyre_shared_info vyre_program_shared(const vyre_program *p, uint32_t index) {
  if (!p || index >= p->shared_count) return (vyre_shared_info){0};
  return (vyre_shared_info){p->shared[index].name, p->shared[index].type, p->shared[index].length};
}
