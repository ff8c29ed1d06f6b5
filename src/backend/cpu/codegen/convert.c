// SPDX-License-Identifier: MIT
//
// Conversions. Float to integer saturates, by compare and select: LLVM's own saturating conversion
// is many times slower on vectors.
#include "backend/cpu/codegen/emit.h"

#include <math.h>
#include <string.h>

typedef struct conversion {
  const emitter *e;
  LLVMBuilderRef b;
  vyre_type to, from;
  bool is_vector;
  llval x;
} conversion;

static lltype type_of(const conversion *c, vyre_type type) {
  return type_value(c->e, type, c->is_vector);
}

static llval float_const(const conversion *c, double value) {
  llval scalar = LLVMConstReal(c->e->u->scalars[c->from], value);
  return c->is_vector ? build_splat(c->e, scalar) : scalar;
}

static llval int_const(const conversion *c, uint64_t bits) {
  return const_value(c->e, c->to, bits, c->is_vector);
}

static llval is_nan(const conversion *c, llval x) {
  return LLVMBuildFCmp(c->b, LLVMRealUNO, x, x, "");
}

// ---- float to integer ---------------------------------------------------------------------------

// The limits are exact in the float type: clamp first, then nothing is left to saturate.
static llval clamp_then_convert(const conversion *c) {
  unsigned bits = type_bits(c->to);
  bool is_signed = type_is_signed(c->to);
  double least = is_signed ? -ldexp(1, (int)bits - 1) : 0;
  double most = ldexp(1, (int)bits - is_signed) - 1;
  LLVMBuilderRef b = c->b;
  llval lo = float_const(c, least), hi = float_const(c, most);
  // x > lo ? x : lo also turns NaN into lo.
  llval x = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, c->x, lo, ""), c->x, lo, "");
  x = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, x, hi, ""), x, hi, "");
  bool is_whole = bits == 32;
  llval n = is_whole && !is_signed ? LLVMBuildFPToUI(b, x, type_of(c, VYRE_U32), "")
                                   : LLVMBuildFPToSI(b, x, type_of(c, VYRE_I32), "");
  if (!is_whole) n = LLVMBuildTrunc(b, n, type_of(c, c->to), "");
  return is_signed ? LLVMBuildSelect(b, is_nan(c, c->x), int_const(c, 0), n, "") : n;
}

static llval convert_then_choose(const conversion *c) {
  unsigned bits = type_bits(c->to);
  bool is_signed = type_is_signed(c->to);
  uint64_t top = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
  if (is_signed) top >>= 1;
  LLVMBuilderRef b = c->b;
  llval limit = float_const(c, ldexp(1, (int)bits - is_signed));
  llval floor = float_const(c, is_signed ? -ldexp(1, (int)bits - 1) : 0);
  lltype type = type_of(c, c->to);
  // Outside of the type LLVM's conversion gives poison, which no select below lets through.
  llval n = is_signed ? LLVMBuildFPToSI(b, c->x, type, "") : LLVMBuildFPToUI(b, c->x, type, "");
  llval is_over = LLVMBuildFCmp(b, LLVMRealOGE, c->x, limit, "");
  n = LLVMBuildSelect(b, is_over, int_const(c, top), n, "");
  if (!is_signed) {
    llval is_inside = LLVMBuildFCmp(b, LLVMRealOGE, c->x, floor, "");
    return LLVMBuildSelect(b, is_inside, n, int_const(c, 0), "");
  }
  llval is_under = LLVMBuildFCmp(b, LLVMRealOLT, c->x, floor, "");
  n = LLVMBuildSelect(b, is_under, int_const(c, ~top), n, "");
  return LLVMBuildSelect(b, is_nan(c, c->x), int_const(c, 0), n, "");
}

// ---- all ----------------------------------------------------------------------------------------

static llval from_float(const conversion *c) {
  lltype to = type_of(c, c->to);
  if (c->to == c->from) return c->x;
  if (c->to == VYRE_F64) return LLVMBuildFPExt(c->b, c->x, to, "");
  if (c->to == VYRE_F32) return LLVMBuildFPTrunc(c->b, c->x, to, "");
  if (c->to == VYRE_BOOL) return LLVMBuildFCmp(c->b, LLVMRealUNE, c->x, float_const(c, 0), "");
  unsigned exact = c->from == VYRE_F32 ? 16 : 32;
  return type_bits(c->to) <= exact ? clamp_then_convert(c) : convert_then_choose(c);
}

static llval from_int(const conversion *c) {
  lltype to = type_of(c, c->to);
  bool is_signed = type_is_signed(c->from);
  if (type_is_float(c->to))
    return is_signed ? LLVMBuildSIToFP(c->b, c->x, to, "") : LLVMBuildUIToFP(c->b, c->x, to, "");
  if (c->to == VYRE_BOOL && c->from != VYRE_BOOL)
    return LLVMBuildICmp(c->b, LLVMIntNE, c->x, LLVMConstNull(LLVMTypeOf(c->x)), "");
  unsigned old = type_bits(c->from), now = type_bits(c->to);
  if (old == now) return c->x;
  if (now < old) return LLVMBuildTrunc(c->b, c->x, to, "");
  return is_signed ? LLVMBuildSExt(c->b, c->x, to, "") : LLVMBuildZExt(c->b, c->x, to, "");
}

llval build_convert(const emitter *e, vyre_type to, vyre_type from, llval x, bool is_vector) {
  conversion c = {e, e->b, to, from, is_vector, x};
  return type_is_float(from) ? from_float(&c) : from_int(&c);
}

llval build_bitcast(const emitter *e, vyre_type to, vyre_type from, llval x, bool is_vector) {
  if (type_is_float(from) == type_is_float(to)) return x;
  llval bits = LLVMBuildBitCast(e->b, x, type_value(e, to, is_vector), "");
  if (!type_is_float(from)) return bits;
  conversion c = {e, e->b, to, from, is_vector, x};
  uint64_t canonical = from == VYRE_F32 ? 0x7fc00000 : 0x7ff8000000000000;
  return LLVMBuildSelect(e->b, is_nan(&c, x), int_const(&c, canonical), bits, "");
}
