// SPDX-License-Identifier: MIT
//
// What the recipes of math_*.c are written in. A recipe is written once for f32 and f64: it takes a
// `mathb` (builder, type, facts about the format), and what differs between the types are constants
// and the number of terms of polynomials. Recipes for f32 use f32, i32 and u32 only.
#ifndef VYRE_IR_MATH_BUILD_H
#define VYRE_IR_MATH_BUILD_H

#include "ir/builder.h"

typedef struct mathb {
  vyre_builder *b;
  vyre_type t, u, i; // the float type, and the integer types of its width
  unsigned width;    // of the format: 32 or 64
  unsigned mantissa; // stored bits: 23 or 52
  uint64_t one_bits; // of 1.0
  uint64_t sign_bit;
  double min_normal;
  double magic; // 1.5 * 2^mantissa: adding it rounds to an integer, found in the low bits
} mathb;

typedef struct poly { // coefficients, constant term first
  unsigned n32, n64;
  double c32[12], c64[24];
} poly;

// x = hi + lo, with |lo| at most about an ulp of hi.
typedef struct pair {
  ref hi, lo;
} pair;

// ---- operations ---------------------------------------------------------------------------------

static inline ref un(const mathb *m, vyre_op op, ref x) {
  return vyre_build_unary(m->b, op, x);
}
static inline ref bin(const mathb *m, vyre_op op, ref x, ref y) {
  return vyre_build_binary(m->b, op, x, y);
}
static inline ref add(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_ADD, x, y);
}
static inline ref sub(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_SUB, x, y);
}
static inline ref mul(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_MUL, x, y);
}
static inline ref quo(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_DIV, x, y);
}
static inline ref neg(const mathb *m, ref x) {
  return un(m, VYRE_OP_NEG, x);
}
static inline ref mag(const mathb *m, ref x) {
  return un(m, VYRE_OP_ABS, x);
}
static inline ref fma3(const mathb *m, ref x, ref y, ref z) {
  return vyre_build_fma(m->b, x, y, z);
}
static inline ref and2(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_AND, x, y);
}
static inline ref or2(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_OR, x, y);
}
static inline ref xor2(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_XOR, x, y);
}
static inline ref eq(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_EQ, x, y);
}
static inline ref ne(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_NE, x, y);
}
static inline ref lt(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_LT, x, y);
}
static inline ref gt(const mathb *m, ref x, ref y) {
  return bin(m, VYRE_OP_GT, x, y);
}
static inline ref sel(const mathb *m, ref c, ref x, ref y) {
  return vyre_build_select(m->b, c, x, y);
}
// min and max give their second operand when one is NaN: with the bound first, NaN passes through.
static inline ref at_most(const mathb *m, ref bound, ref x) {
  return bin(m, VYRE_OP_MIN, bound, x);
}
static inline ref at_least(const mathb *m, ref bound, ref x) {
  return bin(m, VYRE_OP_MAX, bound, x);
}

// ---- constants ----------------------------------------------------------------------------------

// `v` must be exact in the type.
static inline ref num(const mathb *m, double v) {
  return m->t == VYRE_F32 ? vyre_build_f32(m->b, (float)v) : vyre_build_f64(m->b, v);
}
static inline ref pick(const mathb *m, double v32, double v64) {
  return num(m, m->t == VYRE_F32 ? v32 : v64);
}
static inline ref word(const mathb *m, uint64_t v) {
  return vyre_build_const(m->b, m->u, v);
}
static inline ref infinity(const mathb *m) {
  return num(m, __builtin_inf());
}
static inline ref nan_(const mathb *m) {
  return num(m, __builtin_nan(""));
}

// ---- bits ---------------------------------------------------------------------------------------
// The bits of a float have to be made those of one NaN when it is one, which costs two operations:
// recipes take them seldom.

static inline ref bits_of(const mathb *m, ref x) {
  return vyre_build_bitcast(m->b, m->u, x);
}
static inline ref float_of(const mathb *m, ref x) {
  return vyre_build_bitcast(m->b, m->t, x);
}
static inline ref shl(const mathb *m, ref x, unsigned n) {
  return bin(m, VYRE_OP_SHL, x, word(m, n));
}
static inline ref shr(const mathb *m, ref x, unsigned n) {
  return bin(m, VYRE_OP_SHR, x, word(m, n));
}
// Whether the sign bit is set; unlike x < 0 also for -0.
static inline ref is_negative(const mathb *m, ref x) {
  return lt(m, vyre_build_bitcast(m->b, m->i, x), vyre_build_const(m->b, m->i, 0));
}
// y >= 0 with the sign of x, for odd functions.
static inline ref with_sign(const mathb *m, ref y, ref x) {
  return sel(m, is_negative(m, x), neg(m, y), y);
}
// -1 where `sign` (bits, all but the highest ignored) has its highest bit set, else 1.
static inline ref sign_factor(const mathb *m, ref sign) {
  ref bit = and2(m, sign, word(m, m->sign_bit));
  return float_of(m, or2(m, bit, word(m, m->one_bits)));
}
// 2^k for an integer k (as m->u, modulo 2^width) whose result is normal.
static inline ref exp2_int(const mathb *m, ref k) {
  return float_of(m, add(m, shl(m, k, m->mantissa), word(m, m->one_bits)));
}

// ---- shared pieces (math_build.c) ---------------------------------------------------------------

ref math_poly(const mathb *m, const poly *p, ref x);
// The same; for f64 in four interleaved chains, for two more products. Processors look ahead far
// enough to overlap short chains of dependent operations, but not one of twenty. It rounds less
// well where terms cancel.
ref math_poly_chains(const mathb *m, const poly *p, ref x);

// n = the integer nearest to x * c (x alone when c is 0), and k with n in its low bits.
typedef struct rounded {
  ref n, k;
} rounded;
rounded math_round(const mathb *m, ref x, ref c);
// The same for math_scale alone, which takes this k.
rounded math_round_scaled(const mathb *m, ref x, ref c);
// p * 2^n, rounded once: also where 2^n is not normal.
ref math_scale(const mathb *m, ref p, ref k);

// x = 2^e (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), for x > 0 and finite.
typedef struct split {
  ref e, f;
} split;
split math_split(const mathb *m, ref x);

// 2^r for |r| <= 1/2 (math_exp.c).
ref math_exp2_reduced(const mathb *m, ref r);

// ---- the functions ------------------------------------------------------------------------------

ref math_build_exp(const mathb *m, ref x);
ref math_build_exp2(const mathb *m, ref x);
ref math_build_expm1(const mathb *m, ref x);
ref math_build_log(const mathb *m, ref x);
ref math_build_log2(const mathb *m, ref x);
ref math_build_log10(const mathb *m, ref x);
ref math_build_log1p(const mathb *m, ref x);
ref math_build_sin(const mathb *m, ref x);
ref math_build_cos(const mathb *m, ref x);
ref math_build_tan(const mathb *m, ref x);
ref math_build_asin(const mathb *m, ref x);
ref math_build_acos(const mathb *m, ref x);
ref math_build_atan(const mathb *m, ref x);
ref math_build_atan2(const mathb *m, ref y, ref x);
ref math_build_sinh(const mathb *m, ref x);
ref math_build_cosh(const mathb *m, ref x);
ref math_build_tanh(const mathb *m, ref x);
ref math_build_pow(const mathb *m, ref x, ref y);
ref math_build_cbrt(const mathb *m, ref x);
ref math_build_hypot(const mathb *m, ref x, ref y);
ref math_build_fmod(const mathb *m, ref x, ref y);
ref math_build_rsqrt(const mathb *m, ref x);
// Of fast programs, f32 alone.
ref math_build_fast_rsqrt(const mathb *m, ref x);
ref math_build_fast_exp(const mathb *m, ref x);
ref math_build_fast_log(const mathb *m, ref x);

#endif
