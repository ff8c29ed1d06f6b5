// SPDX-License-Identifier: MIT
//
// Accesses of any elements at once, by the machine's gathers and scatters. Those take signed
// offsets of 32 bits twice as fast as offsets of 64, so an index of u32 that may be large is made
// one: the half of all elements that it is beyond is added to the address.
#include "backend/cpu/codegen/access.h"

bool can_gather(const emitter *e, const place *p) {
  enum { FEWEST = 4 }; // LLVM takes smaller vectors apart
  return e->u->target->gathers && e->width >= FEWEST && type_bytes(p->type) >= 4;
}

static llval addresses(const emitter *e, const place *p, ref index, llval indices) {
  const uint64_t half = (uint64_t)1 << 31;
  value_range r = range_of(&e->k->known, index);
  bool is_real = !e->exec && range_is_known(r) && r.hi < (int64_t)half;
  llval data = p->data;
  if (ref_type(e->p, index) == VYRE_U32 && !is_real) {
    llval high = build_splat(e, LLVMConstInt(e->u->i32, half, false));
    indices = LLVMBuildXor(e->b, indices, high, "");
    data = place_at(e, p, const_i64(e->u, half));
  }
  return LLVMBuildGEP2(e->b, p->element, data, &indices, 1, ""); // extends them as signed numbers
}

llval load_gathered(const emitter *e, const place *p, ref index, llval indices, llval bits) {
  lltype type = type_vector_of(e, p->element);
  lltype types[2] = {type, type_vector_of(e, e->u->ptr)};
  llval all = LLVMConstAllOnes(type_vector_of(e, e->u->i1));
  llval args[4] = {addresses(e, p, index, indices),
                   LLVMConstInt(e->u->i32, type_bytes(p->type), false), bits ? bits : all,
                   LLVMConstNull(type)};
  return kernel_mark(e->k, build_intrinsic(e, "llvm.masked.gather", types, 2, args, 4), p->mem);
}

void store_scattered(const emitter *e, const place *p, ref index, llval indices, llval value,
                     llval bits) {
  lltype types[2] = {type_vector_of(e, p->element), type_vector_of(e, e->u->ptr)};
  llval all = LLVMConstAllOnes(type_vector_of(e, e->u->i1));
  llval args[4] = {value, addresses(e, p, index, indices),
                   LLVMConstInt(e->u->i32, type_bytes(p->type), false), bits ? bits : all};
  kernel_mark(e->k, build_intrinsic(e, "llvm.masked.scatter", types, 2, args, 4), p->mem);
}
