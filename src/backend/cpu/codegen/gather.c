// SPDX-License-Identifier: MIT
//
// Accesses of any elements at once, by the machine's gathers and scatters. Those take signed
// offsets of 32 bits twice as fast as offsets of 64, so an index of u32 that may be large is made
// one: the half of all elements that it is beyond is added to the address.
#include "backend/cpu/codegen/access.h"

bool can_gather(const emitter *e, vyre_type type, bool saves) {
  enum { FEWEST = 4 }; // LLVM takes smaller vectors apart
  cpu_gathers least = saves ? GATHERS_CHOSEN : GATHERS_ALWAYS;
  return e->u->target->gathers >= least && e->width >= FEWEST && type_bytes(type) >= 4;
}

static llval who(const emitter *e, llval bits) {
  return bits ? bits : LLVMConstAllOnes(type_vector_of(e, e->u->i1));
}

llval build_gather(const emitter *e, vyre_type type, llval addresses, llval bits) {
  lltype types[2] = {type_vector_of(e, type_memory(e->u, type)), type_vector_of(e, e->u->ptr)};
  llval args[4] = {addresses, LLVMConstInt(e->u->i32, type_bytes(type), false), who(e, bits),
                   LLVMConstNull(types[0])};
  return build_intrinsic(e, "llvm.masked.gather", types, 2, args, 4);
}

llval build_scatter(const emitter *e, vyre_type type, llval addresses, llval value, llval bits) {
  lltype types[2] = {type_vector_of(e, type_memory(e->u, type)), type_vector_of(e, e->u->ptr)};
  llval args[4] = {value, addresses, LLVMConstInt(e->u->i32, type_bytes(type), false),
                   who(e, bits)};
  return build_intrinsic(e, "llvm.masked.scatter", types, 2, args, 4);
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
  llval v = build_gather(e, p->type, addresses(e, p, index, indices), bits);
  return kernel_mark(e->k, v, p->mem);
}

void store_scattered(const emitter *e, const place *p, ref index, llval indices, llval value,
                     llval bits) {
  llval stored = build_scatter(e, p->type, addresses(e, p, index, indices), value, bits);
  kernel_mark(e->k, stored, p->mem);
}
