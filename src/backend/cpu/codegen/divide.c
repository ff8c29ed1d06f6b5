// SPDX-License-Identifier: MIT
//
// Integer division without traps: x / 0 is 0, x % 0 is x, MIN / -1 is MIN. No vector unit divides
// integers, so narrow ones are divided as floats of more than twice their width: for |x| < 2^53 the
// rounded quotient of two integers truncates to the integer quotient, because a quotient that is no
// integer is at least 1/y away from the next one, and the rounding error is below that. 64-bit
// integers are divided one by one.
#include "backend/cpu/codegen/emit.h"

static llval choose(const emitter *e, llval condition, llval x, llval y) {
  return LLVMBuildSelect(e->b, condition, x, y, "");
}

static llval is_equal(const emitter *e, llval x, llval y) {
  return LLVMBuildICmp(e->b, LLVMIntEQ, x, y, "");
}

// ---- by a constant ------------------------------------------------------------------------------

static llval divide_by_constant(const emitter *e, const inst *in, llval x, llval y, uint64_t bits,
                                bool is_vector) {
  vyre_type t = (vyre_type)in->type;
  bool is_div = in->op == VYRE_OP_DIV, is_signed = type_is_signed(t);
  llval zero = const_value(e, t, 0, is_vector);
  if (bits == 0) return is_div ? zero : x;
  if (is_signed && bits == UINT64_MAX) return is_div ? LLVMBuildNeg(e->b, x, "") : zero;
  if (is_div) return is_signed ? LLVMBuildSDiv(e->b, x, y, "") : LLVMBuildUDiv(e->b, x, y, "");
  return is_signed ? LLVMBuildSRem(e->b, x, y, "") : LLVMBuildURem(e->b, x, y, "");
}

// ---- by anything --------------------------------------------------------------------------------

// x / y for y that is neither 0 nor -1 of a signed type.
static llval quotient_by_float(const emitter *e, vyre_type t, llval x, llval y) {
  lltype scalar = e->u->scalars[type_bits(t) == 32 ? VYRE_F64 : VYRE_F32];
  lltype wide = type_vector_of(e, scalar), narrow = type_vector_of(e, e->u->scalars[t]);
  LLVMBuilderRef b = e->b;
  if (type_is_signed(t)) {
    llval q =
        LLVMBuildFDiv(b, LLVMBuildSIToFP(b, x, wide, ""), LLVMBuildSIToFP(b, y, wide, ""), "");
    return LLVMBuildFPToSI(b, q, narrow, "");
  }
  llval q = LLVMBuildFDiv(b, LLVMBuildUIToFP(b, x, wide, ""), LLVMBuildUIToFP(b, y, wide, ""), "");
  return LLVMBuildFPToUI(b, q, narrow, "");
}

static llval quotient(const emitter *e, vyre_type t, llval x, llval y, bool is_vector) {
  if (is_vector && e->width > 1 && type_bits(t) <= 32) return quotient_by_float(e, t, x, y);
  return type_is_signed(t) ? LLVMBuildSDiv(e->b, x, y, "") : LLVMBuildUDiv(e->b, x, y, "");
}

llval build_division(const emitter *e, const inst *in, llval x, llval y, bool is_vector) {
  vyre_type t = (vyre_type)in->type;
  if (ref_is_const(in->arg[1]))
    return divide_by_constant(e, in, x, y, e->p->consts[ref_index(in->arg[1])].bits, is_vector);
  llval zero = const_value(e, t, 0, is_vector), one = const_value(e, t, 1, is_vector);
  llval is_zero = is_equal(e, y, zero), is_minus_one = NULL, is_odd = is_zero;
  if (type_is_signed(t)) {
    is_minus_one = is_equal(e, y, const_value(e, t, UINT64_MAX, is_vector));
    is_odd = LLVMBuildOr(e->b, is_zero, is_minus_one, "");
  }
  llval safe = choose(e, is_odd, one, y);
  llval q = quotient(e, t, x, safe, is_vector);
  if (in->op == VYRE_OP_DIV) {
    if (is_minus_one) q = choose(e, is_minus_one, LLVMBuildNeg(e->b, x, ""), q);
    return choose(e, is_zero, zero, q);
  }
  // By 1, and so by -1, the remainder is 0.
  llval rest = LLVMBuildSub(e->b, x, LLVMBuildMul(e->b, q, safe, ""), "");
  return choose(e, is_zero, x, rest);
}

// ---- upper half of a product --------------------------------------------------------------------

llval build_mulhi(const emitter *e, vyre_type t, llval x, llval y, bool is_vector) {
  unsigned bits = type_bits(t);
  lltype scalar = LLVMIntTypeInContext(e->u->context, 2 * bits);
  lltype wide = is_vector ? type_vector_of(e, scalar) : scalar;
  bool is_signed = type_is_signed(t);
  LLVMBuilderRef b = e->b;
  llval a = is_signed ? LLVMBuildSExt(b, x, wide, "") : LLVMBuildZExt(b, x, wide, "");
  llval c = is_signed ? LLVMBuildSExt(b, y, wide, "") : LLVMBuildZExt(b, y, wide, "");
  llval shift = LLVMConstInt(scalar, bits, false);
  if (is_vector) shift = build_splat(e, shift);
  llval upper = LLVMBuildLShr(b, LLVMBuildMul(b, a, c, ""), shift, "");
  return LLVMBuildTrunc(b, upper, type_value(e, t, is_vector), "");
}
