// SPDX-License-Identifier: MIT
#include "backend/llvm/lanewise.h"

#include "base/error.h"
#include "ir/op_groups.h"

static _Noreturn void unspelled(vyre_op op) {
  VYRE_BUG("llvm", "`%s` is no atomic", op_table[op].name);
}

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
  case VYRE_OP_ATOMIC_EXCHANGE: return LLVMAtomicRMWBinOpXchg;
  case VYRE_OP_ATOMIC_CAS: // an instruction of its own
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case VYRE_OP_LOAD:
  case VYRE_OP_STORE:
  case OPS_STATE:
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  unspelled(op);
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
  switch ((vyre_op)in->op) {
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
  case VYRE_OP_ATOMIC_EXCHANGE: return x;
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case VYRE_OP_LOAD:
  case VYRE_OP_STORE:
  case OPS_STATE:
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  unspelled((vyre_op)in->op);
}
