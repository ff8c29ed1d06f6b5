// SPDX-License-Identifier: MIT
#include "backend/llvm/lanewise.h"

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

llval lanewise_atomic(const lanewise *l, const inst *in, llval at, llval x, llval y) {
  vyre_type type = (vyre_type)in->type;
  LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
  if (in->op != VYRE_OP_ATOMIC_CAS)
    return LLVMBuildAtomicRMW(l->b, rmw_of((vyre_op)in->op, type), at, x, relaxed, false);
  llval pair = LLVMBuildAtomicCmpXchg(l->b, at, x, y, relaxed, relaxed, false);
  return LLVMBuildExtractValue(l->b, pair, 0, "");
}

llval lanewise_combine(const lanewise *l, const inst *in, llval old, llval x, llval y) {
  LLVMBuilderRef b = l->b;
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
