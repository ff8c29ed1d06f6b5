// SPDX-License-Identifier: MIT
#include "math/reference.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

double reference_limit(vyre_op op, vyre_type type) {
  switch (op) {
  case VYRE_OP_FMOD: return 0;
  case VYRE_OP_EXP:
  case VYRE_OP_EXP2:
  case VYRE_OP_LOG:
  case VYRE_OP_LOG2:
  case VYRE_OP_LOG10:
  case VYRE_OP_SIN:
  case VYRE_OP_COS: return type == VYRE_F32 ? 1 : 2;
  default: return 2;
  }
}

// One list for the three references: operation, C function, MPFR function.
#define UNARY(X)                                                                                   \
  X(EXP, exp, mpfr_exp)                                                                            \
  X(EXP2, exp2, mpfr_exp2)                                                                         \
  X(EXPM1, expm1, mpfr_expm1)                                                                      \
  X(LOG, log, mpfr_log)                                                                            \
  X(LOG2, log2, mpfr_log2)                                                                         \
  X(LOG10, log10, mpfr_log10)                                                                      \
  X(LOG1P, log1p, mpfr_log1p)                                                                      \
  X(SIN, sin, mpfr_sin)                                                                            \
  X(COS, cos, mpfr_cos)                                                                            \
  X(TAN, tan, mpfr_tan)                                                                            \
  X(ASIN, asin, mpfr_asin)                                                                         \
  X(ACOS, acos, mpfr_acos)                                                                         \
  X(ATAN, atan, mpfr_atan)                                                                         \
  X(SINH, sinh, mpfr_sinh)                                                                         \
  X(COSH, cosh, mpfr_cosh)                                                                         \
  X(TANH, tanh, mpfr_tanh)                                                                         \
  X(CBRT, cbrt, mpfr_cbrt)
#define BINARY(X)                                                                                  \
  X(ATAN2, atan2, mpfr_atan2)                                                                      \
  X(POW, pow, mpfr_pow)                                                                            \
  X(HYPOT, hypot, mpfr_hypot)                                                                      \
  X(FMOD, fmod, mpfr_fmod)

double reference_double(vyre_op op, double x, double y) {
  switch (op) {
#define X(name, c, mp)                                                                             \
  case VYRE_OP_##name: return c(x);
    UNARY(X)
#undef X
#define X(name, c, mp)                                                                             \
  case VYRE_OP_##name: return c(x, y);
    BINARY(X)
#undef X
  case VYRE_OP_RSQRT: return 1 / sqrt(x);
  default: abort();
  }
}

static long double reference_long(vyre_op op, long double x, long double y) {
  switch (op) {
#define X(name, c, mp)                                                                             \
  case VYRE_OP_##name: return c##l(x);
    UNARY(X)
#undef X
#define X(name, c, mp)                                                                             \
  case VYRE_OP_##name: return c##l(x, y);
    BINARY(X)
#undef X
  case VYRE_OP_RSQRT: return 1 / sqrtl(x);
  default: abort();
  }
}

static void reference_mpfr(vyre_op op, mpfr_t out, const mpfr_t x, const mpfr_t y) {
  switch (op) {
#define X(name, c, mp)                                                                             \
  case VYRE_OP_##name: mp(out, x, MPFR_RNDN); break;
    UNARY(X)
#undef X
#define X(name, c, mp)                                                                             \
  case VYRE_OP_##name: mp(out, x, y, MPFR_RNDN); break;
    BINARY(X)
#undef X
  case VYRE_OP_RSQRT:
    mpfr_rec_sqrt(out, x, MPFR_RNDN);
    if (mpfr_zero_p(x) && mpfr_signbit(x)) mpfr_set_inf(out, -1); // ours is 1 / sqrt(-0)
    break;
  default: abort();
  }
}

typedef struct format {
  int digits, least; // of the significand; exponent of the smallest normal number

} format;

static format format_of(vyre_type type) {
  return type == VYRE_F32 ? (format){24, -126} : (format){53, -1022};
}

// Cases that are not a matter of ulp. -1: none of them.
static double error_of_kind(long double exact, double got) {
  if (isnan(exact) || isnan(got)) return isnan(exact) && isnan(got) ? 0 : REFERENCE_WRONG;
  if (!signbit(exact) != !signbit(got)) return REFERENCE_WRONG;
  if (exact == 0) return got == 0 ? 0 : REFERENCE_WRONG;
  if (isinf(exact)) return isinf(got) ? 0 : REFERENCE_WRONG;
  return -1;
}

// Infinity stands for the first power of two that overflows, and so does all beyond it.
static double error_in_ulp(vyre_type type, long double exact, double got) {
  double kind = error_of_kind(exact, got);
  if (kind >= 0) return kind;
  format f = format_of(type);
  long double top = ldexpl(1, type == VYRE_F32 ? 128 : 1024);
  long double e = fminl(fabsl(exact), top), g = fminl(fabsl((long double)got), top);
  int exponent = ilogbl(e);
  if (e >= top) exponent--;
  if (exponent < f.least) exponent = f.least;
  return (double)ldexpl(fabsl(g - e), f.digits - 1 - exponent);
}

double reference_ulp_f32(double got, double exact) {
  return error_in_ulp(VYRE_F32, exact, got);
}

double reference_error_fast(vyre_op op, vyre_type type, double x, double y, double got) {
  long double exact =
      type == VYRE_F32 ? (long double)reference_double(op, x, y) : reference_long(op, x, y);
  return error_in_ulp(type, exact, got);
}

double reference_error_exact(vyre_op op, vyre_type type, double x, double y, double got) {
  mpfr_t a, b, exact, g;
  mpfr_inits2(160, a, b, exact, g, (mpfr_ptr)0);
  mpfr_set_d(a, x, MPFR_RNDN);
  mpfr_set_d(b, y, MPFR_RNDN);
  mpfr_set_d(g, got, MPFR_RNDN);
  reference_mpfr(op, exact, a, b);
  double result;
  if (mpfr_nan_p(exact) || mpfr_inf_p(exact) || mpfr_zero_p(exact) || isnan(got)) {
    result = error_of_kind(mpfr_get_ld(exact, MPFR_RNDN), got);
    if (result < 0) result = REFERENCE_WRONG;
  } else if (!mpfr_signbit(exact) != !signbit(got)) {
    result = REFERENCE_WRONG;
  } else {
    format f = format_of(type);
    int top = type == VYRE_F32 ? 128 : 1024;
    mpfr_abs(exact, exact, MPFR_RNDN);
    mpfr_abs(g, g, MPFR_RNDN);
    mpfr_set_si_2exp(a, 1, top, MPFR_RNDN);
    mpfr_min(exact, exact, a, MPFR_RNDN);
    mpfr_min(g, g, a, MPFR_RNDN);
    long exponent = mpfr_get_exp(exact) - 1;
    if (exponent >= top) exponent = top - 1;
    if (exponent < f.least) exponent = f.least;
    mpfr_sub(g, g, exact, MPFR_RNDN);
    mpfr_abs(g, g, MPFR_RNDN);
    mpfr_mul_2si(g, g, f.digits - 1 - exponent, MPFR_RNDN);
    result = mpfr_get_d(g, MPFR_RNDN);
  }
  mpfr_clears(a, b, exact, g, (mpfr_ptr)0);
  return result;
}

double reference_error(vyre_op op, vyre_type type, double x, double y, double got) {
  double fast = reference_error_fast(op, type, x, y, got);
  if (fast <= reference_limit(op, type) - 1.0 / REFERENCE_MARGIN_PARTS) return fast;
  return reference_error_exact(op, type, x, y, got);
}
