// SPDX-License-Identifier: MIT
//
// Pure operations, as src/ir/eval.c defines them where their preconditions hold.
#include "backend/llvm/lanewise.h"

#include "base/error.h"
#include "ir/op_groups.h"

typedef struct operation {
  const lanewise *l;
  LLVMBuilderRef b;
  vyre_type type; // of the operands
  bool is_vector;
  llval x, y;
} operation;

static _Noreturn void unspelled(const inst *in) {
  VYRE_BUG("llvm", "`%s` has no spelling for this type", op_table[in->op].name);
}

static llval constant_like(const operation *o, uint64_t bits) {
  return lanewise_const(o->l, o->type, bits, o->is_vector);
}

static llval call(const operation *o, const char *name, const llval *args, unsigned count) {
  lltype type = lanewise_type(o->l, o->type, o->is_vector);
  return lanewise_intrinsic(o->l, name, &type, 1, args, count);
}

static llval call_with_flag(const operation *o, const char *name) {
  llval args[2] = {o->x, LLVMConstInt(o->l->scalars[VYRE_BOOL], 0, false)};
  return call(o, name, args, 2);
}

// ---- integers -----------------------------------------------------------------------------------

static llval compare_ints(const operation *o, vyre_op op) {
  static const LLVMIntPredicate predicates[][2] = {
      [VYRE_OP_EQ] = {LLVMIntEQ, LLVMIntEQ},   [VYRE_OP_NE] = {LLVMIntNE, LLVMIntNE},
      [VYRE_OP_LT] = {LLVMIntULT, LLVMIntSLT}, [VYRE_OP_LE] = {LLVMIntULE, LLVMIntSLE},
      [VYRE_OP_GT] = {LLVMIntUGT, LLVMIntSGT}, [VYRE_OP_GE] = {LLVMIntUGE, LLVMIntSGE}};
  return LLVMBuildICmp(o->b, predicates[op][type_is_signed(o->type)], o->x, o->y, "");
}

static llval absolute(const operation *o) {
  if (!type_is_signed(o->type)) return o->x;
  llval zero = constant_like(o, 0);
  llval is_negative = LLVMBuildICmp(o->b, LLVMIntSLT, o->x, zero, "");
  return LLVMBuildSelect(o->b, is_negative, LLVMBuildSub(o->b, zero, o->x, ""), o->x, "");
}

static llval rotate(const operation *o, const char *name) {
  llval args[3] = {o->x, o->x, o->y};
  return call(o, name, args, 3);
}

static llval int_op(const operation *o, const inst *in) {
  LLVMBuilderRef b = o->b;
  llval x = o->x, y = o->y;
  switch ((vyre_op)in->op) {
  case VYRE_OP_ADD: return LLVMBuildAdd(b, x, y, "");
  case VYRE_OP_SUB: return LLVMBuildSub(b, x, y, "");
  case VYRE_OP_MUL: return LLVMBuildMul(b, x, y, "");
  case VYRE_OP_DIV:
  case VYRE_OP_REM: return lanewise_divide(o->l, in, x, y, o->is_vector);
  case VYRE_OP_NEG: return LLVMBuildNeg(b, x, "");
  case VYRE_OP_ABS: return absolute(o);
  case VYRE_OP_MIN: return LLVMBuildSelect(b, compare_ints(o, VYRE_OP_LT), x, y, "");
  case VYRE_OP_MAX: return LLVMBuildSelect(b, compare_ints(o, VYRE_OP_GT), x, y, "");
  case VYRE_OP_MULHI: return lanewise_mulhi(o->l, o->type, x, y, o->is_vector);
  case VYRE_OP_AND: return LLVMBuildAnd(b, x, y, "");
  case VYRE_OP_OR: return LLVMBuildOr(b, x, y, "");
  case VYRE_OP_XOR: return LLVMBuildXor(b, x, y, "");
  case VYRE_OP_NOT: return LLVMBuildNot(b, x, "");
  case VYRE_OP_SHL: return LLVMBuildShl(b, x, y, "");
  case VYRE_OP_SHR:
    return type_is_signed(o->type) ? LLVMBuildAShr(b, x, y, "") : LLVMBuildLShr(b, x, y, "");
  case VYRE_OP_ROTL: return rotate(o, "llvm.fshl");
  case VYRE_OP_ROTR: return rotate(o, "llvm.fshr");
  case VYRE_OP_POPCOUNT: return call(o, "llvm.ctpop", &x, 1);
  case VYRE_OP_CLZ: return call_with_flag(o, "llvm.ctlz");
  case VYRE_OP_CTZ: return call_with_flag(o, "llvm.cttz");
  case OPS_COMPARISON: return compare_ints(o, (vyre_op)in->op);
  case OPS_EXACT_FLOAT:
  case OPS_TRANSFER:
  case OPS_MATH:
  case OPS_NOT_COMPUTED: break;
  }
  unspelled(in);
}

// ---- floats -------------------------------------------------------------------------------------

static llval compare_floats(const operation *o, vyre_op op) {
  static const LLVMRealPredicate predicates[] = {
      [VYRE_OP_EQ] = LLVMRealOEQ, [VYRE_OP_NE] = LLVMRealUNE, [VYRE_OP_LT] = LLVMRealOLT,
      [VYRE_OP_LE] = LLVMRealOLE, [VYRE_OP_GT] = LLVMRealOGT, [VYRE_OP_GE] = LLVMRealOGE};
  return LLVMBuildFCmp(o->b, predicates[op], o->x, o->y, "");
}

static uint64_t half_of(vyre_type type) {
  return type == VYRE_F32 ? 0x3f000000 : 0x3fe0000000000000;
}

// The fraction is exact, so comparing it with one half is.
static llval round_half_away(const operation *o) {
  llval whole = call(o, "llvm.trunc", &o->x, 1);
  llval fraction = LLVMBuildFSub(o->b, o->x, whole, "");
  llval size = call(o, "llvm.fabs", &fraction, 1);
  llval is_up = LLVMBuildFCmp(o->b, LLVMRealOGE, size, constant_like(o, half_of(o->type)), "");
  llval signs[2] = {constant_like(o, type_one_bits(o->type)), o->x};
  llval one = call(o, "llvm.copysign", signs, 2);
  return LLVMBuildSelect(o->b, is_up, LLVMBuildFAdd(o->b, whole, one, ""), whole, "");
}

static llval float_op(const operation *o, const inst *in, const llval args[3]) {
  LLVMBuilderRef b = o->b;
  llval x = o->x, y = o->y;
  switch ((vyre_op)in->op) {
  case VYRE_OP_ADD: return LLVMBuildFAdd(b, x, y, "");
  case VYRE_OP_SUB: return LLVMBuildFSub(b, x, y, "");
  case VYRE_OP_MUL: return LLVMBuildFMul(b, x, y, "");
  case VYRE_OP_DIV: return LLVMBuildFDiv(b, x, y, "");
  case VYRE_OP_NEG: return LLVMBuildFNeg(b, x, "");
  case VYRE_OP_ABS: return call(o, "llvm.fabs", &x, 1);
  case VYRE_OP_MIN: return LLVMBuildSelect(b, compare_floats(o, VYRE_OP_LT), x, y, "");
  case VYRE_OP_MAX: return LLVMBuildSelect(b, compare_floats(o, VYRE_OP_GT), x, y, "");
  case VYRE_OP_FMA: return call(o, "llvm.fma", args, 3);
  case VYRE_OP_SQRT: return call(o, "llvm.sqrt", &x, 1);
  case VYRE_OP_FLOOR: return call(o, "llvm.floor", &x, 1);
  case VYRE_OP_CEIL: return call(o, "llvm.ceil", &x, 1);
  case VYRE_OP_TRUNC: return call(o, "llvm.trunc", &x, 1);
  case VYRE_OP_ROUND: return round_half_away(o);
  case VYRE_OP_RINT: return call(o, "llvm.rint", &x, 1);
  case OPS_COMPARISON: return compare_floats(o, (vyre_op)in->op);
  case VYRE_OP_REM:
  case VYRE_OP_MULHI:
  case OPS_BITWISE:
  case OPS_BIT_COUNTS:
  case OPS_TRANSFER:
  case OPS_MATH:
  case OPS_NOT_COMPUTED: break;
  }
  unspelled(in);
}

// ---- all ----------------------------------------------------------------------------------------

llval lanewise_pure(const lanewise *l, const inst *in, vyre_type type, const llval args[3],
                    bool is_vector) {
  operation o = {l, l->b, type, is_vector, args[0], args[1]};
  switch ((vyre_op)in->op) {
  case VYRE_OP_SELECT: return LLVMBuildSelect(l->b, args[0], args[1], args[2], "");
  case VYRE_OP_COPY: return args[0];
  case VYRE_OP_CONVERT: return lanewise_convert(l, (vyre_type)in->type, type, args[0], is_vector);
  case VYRE_OP_BITCAST: return lanewise_bitcast(l, (vyre_type)in->type, type, args[0], is_vector);
  case OPS_IN_ONE_TYPE: return type_is_float(type) ? float_op(&o, in, args) : int_op(&o, in);
  case OPS_MATH:
  case OPS_NOT_COMPUTED: break;
  }
  unspelled(in);
}
