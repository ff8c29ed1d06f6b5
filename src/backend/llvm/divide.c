// SPDX-License-Identifier: MIT
//
// Integer division by what is neither 0 nor makes MIN / -1 (div_nonzero, rem_nonzero). No vector
// unit divides integers, so narrow ones are divided as floats of more than twice their width: for
// |x| < 2^53 the rounded quotient of two integers truncates to the integer quotient, because a
// quotient that is no integer is at least 1/y away from the next one, and the rounding error is
// below that. 64-bit integers are divided one by one.
#include "backend/llvm/lanewise.h"

static llval quotient_by_float(const lanewise *l, vyre_type t, llval x, llval y) {
  lltype scalar = l->scalars[type_bits(t) == 32 ? VYRE_F64 : VYRE_F32];
  lltype wide = lanewise_vector(l, scalar), narrow = lanewise_vector(l, l->scalars[t]);
  LLVMBuilderRef b = l->b;
  if (type_is_signed(t)) {
    llval q =
        LLVMBuildFDiv(b, LLVMBuildSIToFP(b, x, wide, ""), LLVMBuildSIToFP(b, y, wide, ""), "");
    return LLVMBuildFPToSI(b, q, narrow, "");
  }
  llval q = LLVMBuildFDiv(b, LLVMBuildUIToFP(b, x, wide, ""), LLVMBuildUIToFP(b, y, wide, ""), "");
  return LLVMBuildFPToUI(b, q, narrow, "");
}

// By a constant LLVM multiplies.
llval lanewise_divide(const lanewise *l, const inst *in, llval x, llval y, bool is_vector) {
  vyre_type t = (vyre_type)in->type;
  bool is_div = in->op == VYRE_OP_DIV, is_signed = type_is_signed(t), is_const = LLVMIsConstant(y);
  bool by_float = is_vector && l->width > 1 && type_bits(t) <= 32 && !is_const;
  if (is_const && !is_div)
    return is_signed ? LLVMBuildSRem(l->b, x, y, "") : LLVMBuildURem(l->b, x, y, "");
  llval q = by_float    ? quotient_by_float(l, t, x, y)
            : is_signed ? LLVMBuildSDiv(l->b, x, y, "")
                        : LLVMBuildUDiv(l->b, x, y, "");
  return is_div ? q : LLVMBuildSub(l->b, x, LLVMBuildMul(l->b, q, y, ""), "");
}

llval lanewise_mulhi(const lanewise *l, vyre_type t, llval x, llval y, bool is_vector) {
  unsigned bits = type_bits(t);
  lltype scalar = LLVMIntTypeInContext(l->context, 2 * bits);
  lltype wide = is_vector ? lanewise_vector(l, scalar) : scalar;
  bool is_signed = type_is_signed(t);
  LLVMBuilderRef b = l->b;
  llval a = is_signed ? LLVMBuildSExt(b, x, wide, "") : LLVMBuildZExt(b, x, wide, "");
  llval c = is_signed ? LLVMBuildSExt(b, y, wide, "") : LLVMBuildZExt(b, y, wide, "");
  llval shift = LLVMConstInt(scalar, bits, false);
  if (is_vector) shift = lanewise_splat(l, shift);
  llval upper = LLVMBuildLShr(b, LLVMBuildMul(b, a, c, ""), shift, "");
  return LLVMBuildTrunc(b, upper, lanewise_type(l, t, is_vector), "");
}
