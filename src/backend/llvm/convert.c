// SPDX-License-Identifier: MIT
//
// Conversions that lowering left: a float that is outside of the integer type gives poison, which a
// select does not let through.
#include "backend/llvm/lanewise.h"

static llval from_float(const lanewise *l, vyre_type to, vyre_type from, llval x, lltype type) {
  LLVMBuilderRef b = l->b;
  if (to == from) return x;
  if (type_is_float(to))
    return type_bits(to) > type_bits(from) ? LLVMBuildFPExt(b, x, type, "")
                                           : LLVMBuildFPTrunc(b, x, type, "");
  if (to == VYRE_BOOL) return LLVMBuildFCmp(b, LLVMRealUNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
  if (type_bits(to) < 32) { // there are instructions for i32
    lltype wide = lanewise_type(l, VYRE_I32, LLVMGetTypeKind(type) == LLVMVectorTypeKind);
    return LLVMBuildTrunc(b, LLVMBuildFPToSI(b, x, wide, ""), type, "");
  }
  return type_is_signed(to) ? LLVMBuildFPToSI(b, x, type, "") : LLVMBuildFPToUI(b, x, type, "");
}

static llval from_int(const lanewise *l, vyre_type to, vyre_type from, llval x, lltype type) {
  LLVMBuilderRef b = l->b;
  bool is_signed = type_is_signed(from);
  if (type_is_float(to))
    return is_signed ? LLVMBuildSIToFP(b, x, type, "") : LLVMBuildUIToFP(b, x, type, "");
  if (to == VYRE_BOOL && from != VYRE_BOOL)
    return LLVMBuildICmp(b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
  unsigned old = type_bits(from), now = type_bits(to);
  if (old == now) return x;
  if (now < old) return LLVMBuildTrunc(b, x, type, "");
  return is_signed ? LLVMBuildSExt(b, x, type, "") : LLVMBuildZExt(b, x, type, "");
}

llval lanewise_convert(const lanewise *l, vyre_type to, vyre_type from, llval x, bool is_vector) {
  lltype type = lanewise_type(l, to, is_vector);
  return type_is_float(from) ? from_float(l, to, from, x, type) : from_int(l, to, from, x, type);
}

llval lanewise_bitcast(const lanewise *l, vyre_type to, vyre_type from, llval x, bool is_vector) {
  if (type_is_float(from) == type_is_float(to)) return x;
  return LLVMBuildBitCast(l->b, x, lanewise_type(l, to, is_vector), "");
}
