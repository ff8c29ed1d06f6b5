// SPDX-License-Identifier: MIT
//
// Atomics, one active lane after the other. On buffers they are real: other threads run other parts
// of the grid. A shared array belongs to one workgroup, and a workgroup to one thread, so that an
// ordinary read and write is as good. No ordering of other accesses is promised.
#include "backend/cpu/codegen/access.h"

static LLVMAtomicRMWBinOp rmw_of(vyre_op op, vyre_type type) {
  bool is_signed = type_is_signed(type);
  switch (op) {
  case VYRE_OP_ATOMIC_ADD: return LLVMAtomicRMWBinOpAdd;
  case VYRE_OP_ATOMIC_SUB: return LLVMAtomicRMWBinOpSub;
  case VYRE_OP_ATOMIC_MIN: return is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
  case VYRE_OP_ATOMIC_MAX: return is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
  case VYRE_OP_ATOMIC_AND: return LLVMAtomicRMWBinOpAnd;
  case VYRE_OP_ATOMIC_OR: return LLVMAtomicRMWBinOpOr;
  case VYRE_OP_ATOMIC_XOR: return LLVMAtomicRMWBinOpXor;
  default: return LLVMAtomicRMWBinOpXchg;
  }
}

static llval build_real(const emitter *e, const inst *in, llval at, llval x, llval y) {
  vyre_type type = (vyre_type)in->type;
  LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
  if (in->op != VYRE_OP_ATOMIC_CAS)
    return LLVMBuildAtomicRMW(e->b, rmw_of((vyre_op)in->op, type), at, x, relaxed, false);
  llval pair = LLVMBuildAtomicCmpXchg(e->b, at, x, y, relaxed, relaxed, false);
  return LLVMBuildExtractValue(e->b, pair, 0, "");
}

static llval combine(const emitter *e, const inst *in, llval old, llval x, llval y) {
  LLVMBuilderRef b = e->b;
  bool is_signed = type_is_signed(in->type);
  LLVMIntPredicate less = is_signed ? LLVMIntSLT : LLVMIntULT;
  switch (in->op) {
  case VYRE_OP_ATOMIC_ADD: return LLVMBuildAdd(b, old, x, "");
  case VYRE_OP_ATOMIC_SUB: return LLVMBuildSub(b, old, x, "");
  case VYRE_OP_ATOMIC_MIN:
    return LLVMBuildSelect(b, LLVMBuildICmp(b, less, old, x, ""), old, x, "");
  case VYRE_OP_ATOMIC_MAX:
    return LLVMBuildSelect(b, LLVMBuildICmp(b, less, old, x, ""), x, old, "");
  case VYRE_OP_ATOMIC_AND: return LLVMBuildAnd(b, old, x, "");
  case VYRE_OP_ATOMIC_OR: return LLVMBuildOr(b, old, x, "");
  case VYRE_OP_ATOMIC_XOR: return LLVMBuildXor(b, old, x, "");
  case VYRE_OP_ATOMIC_CAS:
    return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, old, x, ""), y, old, "");
  default: return x;
  }
}

static llval build_plain(const emitter *e, const inst *in, llval at, llval x, llval y) {
  llval old = LLVMBuildLoad2(e->b, e->u->scalars[in->type], at, "");
  LLVMBuildStore(e->b, combine(e, in, old, x, y), at);
  return old;
}

static llval build_one(const emitter *e, const inst *in, const place *p, llval index, llval x,
                       llval y) {
  llval at = place_at(e, p, build_extend(e, ref_type(e->p, in->arg[1]), index));
  return mem_space(in->arg[0]) == MEM_SHARED ? build_plain(e, in, at, x, y)
                                             : build_real(e, in, at, x, y);
}

static llval emit_row(emitter *e, uint32_t i, const place *p, unsigned row) {
  const inst *in = &e->p->code[i];
  lltype type = e->u->scalars[in->type], index_type = e->u->scalars[ref_type(e->p, in->arg[1])];
  bool is_cas = in->op == VYRE_OP_ATOMIC_CAS;
  llval bits = access_bits(e, p, i, row);
  if (!bits) bits = LLVMConstAllOnes(type_vector_of(e, e->u->i1));
  llval indices = spill(e, value_vector(e, in->arg[1], row));
  llval xs = spill(e, value_vector(e, in->arg[2], row));
  llval ys = is_cas ? spill(e, value_vector(e, in->arg[3], row)) : NULL;
  llval olds = spill(e, LLVMConstNull(type_vector_of(e, type)));
  lane_loop l;
  lanes_begin(e, &l, bits);
  llval index = spilled_lane(e, indices, index_type, l.lane);
  llval x = spilled_lane(e, xs, type, l.lane);
  llval y = is_cas ? spilled_lane(e, ys, type, l.lane) : NULL;
  spill_lane(e, olds, build_one(e, in, p, index, x, y), l.lane);
  lanes_end(e, &l);
  return LLVMBuildLoad2(e->b, type_vector_of(e, type), olds, "");
}

void emit_atomic(emitter *e, uint32_t i) {
  place p = place_of(e, e->p->code[i].arg[0]);
  for (unsigned row = 0; row < row_count(e, i); row++)
    value_set(e, i, row, emit_row(e, i, &p, row));
}
