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

// ---- floats -------------------------------------------------------------------------------------

// The bits of a float or of a vector of them.
static llval bits_of(const lanewise *l, vyre_type type, llval x) {
  lltype bits = l->scalars[type_bits(type) == 64 ? VYRE_I64 : VYRE_I32], of = LLVMTypeOf(x);
  if (LLVMGetTypeKind(of) == LLVMVectorTypeKind) bits = LLVMVectorType(bits, LLVMGetVectorSize(of));
  return LLVMBuildBitCast(l->b, x, bits, "");
}

// A number replaces NaN, and of equal ones that with the sign that is looked for: only zeros differ.
static llval extreme(const lanewise *l, vyre_type type, bool is_min, llval old, llval x) {
  LLVMBuilderRef b = l->b;
  llval bits = bits_of(l, type, x), zero = LLVMConstNull(LLVMTypeOf(bits));
  llval is_beyond = LLVMBuildFCmp(b, is_min ? LLVMRealOLT : LLVMRealOGT, x, old, "");
  llval has_sign = LLVMBuildICmp(b, is_min ? LLVMIntSLT : LLVMIntSGE, bits, zero, "");
  llval is_equal = LLVMBuildFCmp(b, LLVMRealOEQ, x, old, "");
  llval is_nan = LLVMBuildFCmp(b, LLVMRealUNO, old, old, "");
  llval wins = LLVMBuildOr(b, is_beyond, LLVMBuildAnd(b, is_equal, has_sign, ""), "");
  return LLVMBuildSelect(b, LLVMBuildOr(b, wins, is_nan, ""), x, old, "");
}

static llval exchanged(const lanewise *l, vyre_type type, llval old, llval x, llval y) {
  LLVMBuilderRef b = l->b;
  llval is_same = LLVMBuildICmp(b, LLVMIntEQ, bits_of(l, type, old), bits_of(l, type, x), "");
  llval are_nan = LLVMBuildAnd(b, LLVMBuildFCmp(b, LLVMRealUNO, old, old, ""),
                               LLVMBuildFCmp(b, LLVMRealUNO, x, x, ""), "");
  return LLVMBuildSelect(b, LLVMBuildOr(b, is_same, are_nan, ""), y, old, "");
}

static llval combine_floats(const lanewise *l, const inst *in, llval old, llval x, llval y) {
  vyre_type type = (vyre_type)in->type;
  switch ((vyre_op)in->op) {
  case VYRE_OP_ATOMIC_ADD: return LLVMBuildFAdd(l->b, old, x, "");
  case VYRE_OP_ATOMIC_SUB: return LLVMBuildFSub(l->b, old, x, "");
  case VYRE_OP_ATOMIC_MIN: return extreme(l, type, true, old, x);
  case VYRE_OP_ATOMIC_MAX: return extreme(l, type, false, old, x);
  case VYRE_OP_ATOMIC_CAS: return exchanged(l, type, old, x, y);
  case VYRE_OP_ATOMIC_EXCHANGE: return x;
  case VYRE_OP_ATOMIC_AND:
  case VYRE_OP_ATOMIC_OR:
  case VYRE_OP_ATOMIC_XOR:
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

// By exchanging bits until nobody came between.
static llval atomic_float(const lanewise *l, const inst *in, llval at, llval x, llval y) {
  LLVMBuilderRef b = l->b;
  LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
  lltype type = l->scalars[in->type];
  lltype bits = l->scalars[type_bits(in->type) == 64 ? VYRE_I64 : VYRE_I32];
  llblock from = LLVMGetInsertBlock(b);
  llval function = LLVMGetBasicBlockParent(from);
  llblock head = LLVMAppendBasicBlockInContext(l->context, function, "try");
  llblock done = LLVMAppendBasicBlockInContext(l->context, function, "tried");
  llval first = LLVMBuildLoad2(b, bits, at, "");
  LLVMSetOrdering(first, relaxed);
  LLVMSetAlignment(first, type_bytes(in->type));
  LLVMBuildBr(b, head);
  LLVMPositionBuilderAtEnd(b, head);
  llval guess = LLVMBuildPhi(b, bits, "guess");
  llval old = LLVMBuildBitCast(b, guess, type, "");
  llval made = LLVMBuildBitCast(b, combine_floats(l, in, old, x, y), bits, "");
  llval pair = LLVMBuildAtomicCmpXchg(b, at, guess, made, relaxed, relaxed, false);
  LLVMAddIncoming(guess, (llval[]){first, LLVMBuildExtractValue(b, pair, 0, "")},
                  (llblock[]){from, head}, 2);
  LLVMBuildCondBr(b, LLVMBuildExtractValue(b, pair, 1, ""), done, head);
  LLVMPositionBuilderAtEnd(b, done);
  return old;
}

// ---- all ----------------------------------------------------------------------------------------

llval lanewise_atomic(const lanewise *l, const inst *in, llval at, llval x, llval y) {
  vyre_type type = (vyre_type)in->type;
  LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
  if (type_is_float(type)) return atomic_float(l, in, at, x, y);
  if (in->op != VYRE_OP_ATOMIC_CAS)
    return LLVMBuildAtomicRMW(l->b, rmw_of((vyre_op)in->op, type), at, x, relaxed, false);
  llval pair = LLVMBuildAtomicCmpXchg(l->b, at, x, y, relaxed, relaxed, false);
  return LLVMBuildExtractValue(l->b, pair, 0, "");
}

llval lanewise_combine(const lanewise *l, const inst *in, llval old, llval x, llval y) {
  LLVMBuilderRef b = l->b;
  bool is_signed = type_is_signed(in->type);
  LLVMIntPredicate less = is_signed ? LLVMIntSLT : LLVMIntULT;
  if (type_is_float(in->type)) return combine_floats(l, in, old, x, y);
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
