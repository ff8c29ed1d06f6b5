// SPDX-License-Identifier: MIT
#include "backend/llvm/lanewise.h"

#include <string.h>

void lanewise_fill_types(LLVMContextRef c, lltype scalars[VYRE_TYPE_COUNT]) {
  scalars[VYRE_VOID] = LLVMVoidTypeInContext(c);
  scalars[VYRE_BOOL] = LLVMInt1TypeInContext(c);
  scalars[VYRE_I8] = scalars[VYRE_U8] = LLVMInt8TypeInContext(c);
  scalars[VYRE_I16] = scalars[VYRE_U16] = LLVMInt16TypeInContext(c);
  scalars[VYRE_I32] = scalars[VYRE_U32] = LLVMInt32TypeInContext(c);
  scalars[VYRE_I64] = scalars[VYRE_U64] = LLVMInt64TypeInContext(c);
  scalars[VYRE_F32] = LLVMFloatTypeInContext(c);
  scalars[VYRE_F16] = LLVMHalfTypeInContext(c);
  scalars[VYRE_F64] = LLVMDoubleTypeInContext(c);
}

lltype lanewise_vector(const lanewise *l, lltype scalar) {
  return l->width == 1 ? scalar : LLVMVectorType(scalar, l->width);
}

lltype lanewise_type(const lanewise *l, vyre_type type, bool is_vector) {
  return is_vector ? lanewise_vector(l, l->scalars[type]) : l->scalars[type];
}

static llval const_splat(const lanewise *l, llval scalar) {
  if (l->width == 1) return scalar;
  llval lanes[LANEWISE_MOST];
  for (unsigned i = 0; i < l->width; i++) lanes[i] = scalar;
  return LLVMConstVector(lanes, l->width);
}

// A float through the integer, so that a NaN keeps its bits.
static llval const_bits(const lanewise *l, vyre_type type, uint64_t bits) {
  if (!type_is_float(type)) return LLVMConstInt(l->scalars[type], bits, false);
  lltype same = LLVMIntTypeInContext(LLVMGetTypeContext(l->scalars[type]), type_bits(type));
  return LLVMConstBitCast(LLVMConstInt(same, bits, false), l->scalars[type]);
}

llval lanewise_const(const lanewise *l, vyre_type type, uint64_t bits, bool is_vector) {
  llval scalar = const_bits(l, type, bits);
  return is_vector ? const_splat(l, scalar) : scalar;
}

llval lanewise_splat(const lanewise *l, llval scalar) {
  if (l->width == 1) return scalar;
  if (LLVMIsConstant(scalar)) return const_splat(l, scalar);
  lltype type = LLVMVectorType(LLVMTypeOf(scalar), l->width), i32 = l->scalars[VYRE_U32];
  llval one =
      LLVMBuildInsertElement(l->b, LLVMGetPoison(type), scalar, LLVMConstInt(i32, 0, false), "");
  llval lanes = LLVMConstNull(LLVMVectorType(i32, l->width));
  return LLVMBuildShuffleVector(l->b, one, LLVMGetPoison(type), lanes, "");
}

llval lanewise_intrinsic(const lanewise *l, const char *name, const lltype *types,
                         unsigned type_count, const llval *args, unsigned count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  lltype wanted[2] = {type_count ? types[0] : NULL, type_count > 1 ? types[1] : NULL};
  llval given[4];
  for (unsigned i = 0; i < count; i++) given[i] = args[i];
  llval function = LLVMGetIntrinsicDeclaration(l->module, id, wanted, type_count);
  lltype type = LLVMIntrinsicGetType(l->context, id, wanted, type_count);
  return LLVMBuildCall2(l->b, type, function, given, count, "");
}
