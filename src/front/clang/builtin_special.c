// SPDX-License-Identifier: MIT
//
// erf, erfc, lgamma and tgamma, computed in double for every type. The polynomials are interpolated
// at Chebyshev's points of their intervals and written in s, which goes over -1..1.
#include "front/clang/builtin.h"
#include "front/clang/formula.h"

static ref number(lowering *l, double v) {
  return e_float(l, VYRE_F64, v);
}

static ref polynomial(lowering *l, const double *c, int count, ref s) {
  ref p = number(l, c[count - 1]);
  for (int i = count - 2; i >= 0; i--) p = e_fma(l, p, s, number(l, c[i]));
  return p;
}
#define POLYNOMIAL(l, c, s) polynomial(l, c, (int)(sizeof(c) / sizeof *(c)), s)

// ---- the error function -------------------------------------------------------------------------

// erf(x) / x, s = 2 x^2 - 1, below 1
static const double NEAR[] = {
    0x1.ee51eb23cb7eap-1,  -0x1.1fd16292151fdp-3,  0x1.454368017b042p-6,  -0x1.2b902b7b2f28ep-9,
    0x1.c82aa249df460p-13, -0x1.263991b802ee6p-16, 0x1.486638bc9befep-20, -0x1.429e93e668f24p-24,
    0x1.1ad5edf90dd80p-28, -0x1.bf8d2c72b9b8cp-33, 0x1.428e938efe043p-37, -0x1.acbabce2865e7p-42,
    0x1.05ffd737fb32ep-46};
// exp(x^2) erfc(x), s = x - 2, from 1 to 3
static const double MIDDLE[] = {
    0x1.058671b52c776p-2,  -0x1.b57034efd3f72p-4,  0x1.5672b9ea13f20p-5,  -0x1.fa9d3ac955eb0p-7,
    0x1.649072158f91cp-8,  -0x1.e028e8a55af79p-10, 0x1.369ffa0fde50fp-11, -0x1.8382216f7cd4fp-13,
    0x1.d37ba20b29e05p-15, -0x1.115cfc532f157p-16, 0x1.3697d35e17b3fp-18, -0x1.577863fc3b158p-20,
    0x1.723b7852fbe66p-22, -0x1.85ad9b7dbfc12p-24, 0x1.92268eab476dcp-26, -0x1.94c73050998a7p-28,
    0x1.7e77f66c72045p-30, -0x1.730be9b1e01a7p-32, 0x1.debc8d37ebe48p-34, -0x1.ba4eb4a2acde1p-36};
// x exp(x^2) erfc(x), s = 18 / x^2 - 1, from 3 on
static const double FAR[] = {
    0x1.196e706fcb793p-1,  -0x1.ba39725159e6ep-7,  0x1.de5ccc523523dp-11, -0x1.8f634ee91f6d7p-14,
    0x1.b3822d4be6809p-17, -0x1.1e7dae457b693p-19, 0x1.b2741e3781411p-22, -0x1.70ad4bed2ab0bp-24,
    0x1.56fa7df678cf6p-26, -0x1.58d001e15233ap-28, 0x1.761fb91d00c26p-30, -0x1.aaf0a451fd1fcp-32,
    0x1.b9ce0a1952921p-34, -0x1.0d62d61db6cd7p-35, 0x1.59144f2a4afc1p-36, -0x1.e309911086f0dp-38};

// Of |x| < 1.
static ref erf_near(lowering *l, ref x) {
  ref s = sub(l, mul(l, number(l, 2), mul(l, x, x)), number(l, 1));
  return mul(l, x, POLYNOMIAL(l, NEAR, s));
}

// erfc(a) for a >= 1. What a * a loses to rounding is put back after exp.
static ref erfc_far(lowering *l, ref a) {
  ref most = number(l, 30); // erfc is zero there, and squares are finite; NaN passes
  a = e_select(l, lt(l, most, a), most, a);
  ref square = mul(l, a, a), lost = e_fma(l, a, a, e_unary(l, VYRE_OP_NEG, square));
  ref e = e_unary(l, VYRE_OP_EXP, e_unary(l, VYRE_OP_NEG, square));
  e = e_fma(l, e, e_unary(l, VYRE_OP_NEG, lost), e);
  ref middle = POLYNOMIAL(l, MIDDLE, sub(l, a, number(l, 2)));
  ref s = sub(l, divide(l, number(l, 18), square), number(l, 1));
  ref far = divide(l, POLYNOMIAL(l, FAR, s), a);
  return mul(l, e, e_select(l, lt(l, a, number(l, 3)), middle, far));
}

ref each_erf(lowering *l, const ref *x, int what) {
  (void)what;
  ref w = wide(l, x[0]), a = e_unary(l, VYRE_OP_ABS, w);
  ref far = sub(l, number(l, 1), erfc_far(l, a));
  far = e_select(l, e_sign_bit(l, w), e_unary(l, VYRE_OP_NEG, far), far);
  ref made = e_select(l, lt(l, a, number(l, 1)), erf_near(l, w), far);
  return e_convert(l, e_type(l, x[0]), made);
}

ref each_erfc(lowering *l, const ref *x, int what) {
  (void)what;
  ref w = wide(l, x[0]), a = e_unary(l, VYRE_OP_ABS, w), far = erfc_far(l, a);
  far = e_select(l, e_sign_bit(l, w), sub(l, number(l, 2), far), far);
  ref near = sub(l, number(l, 1), erf_near(l, w));
  return e_convert(l, e_type(l, x[0]), e_select(l, lt(l, a, number(l, 1)), near, far));
}

// ---- the gamma function -------------------------------------------------------------------------

// Stirling's series, from 10 on: in 1 / z^2, times 1 / z. B(2k) / (2k (2k - 1))
static const double STIRLING[] = {
    0x1.5555555555555p-4,  -0x1.6c16c16c16c17p-9,  0x1.a01a01a01a01ap-11, -0x1.3813813813814p-11,
    0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10, 0x1.a41a41a41a41ap-8,  -0x1.e4286cb0f5398p-6};
#define HALF_LOG_2PI 0x1.d67f1c864beb5p-1
#define ROOT_2PI     0x1.40d931ff62706p+1
#define PI           0x1.921fb54442d18p+1
enum { SHIFT = 10 };

// Below this gamma(x) is 1 / x to the last bit.
#define TINY 0x1p-60

// gamma(a) = gamma(z) / product, a >= 0 and z >= 10; `lost` is what z lost to rounding.
typedef struct shifted {
  ref z, lost, product;
} shifted;

static shifted shift_up(lowering *l, ref a) {
  ref is_small = lt(l, a, number(l, SHIFT)), sum = add(l, a, number(l, SHIFT)), product = a;
  for (int i = 1; i < SHIFT; i++) product = mul(l, product, add(l, a, number(l, i)));
  ref lost = sub(l, a, sub(l, sum, number(l, SHIFT)));
  return (shifted){e_select(l, is_small, sum, a), e_select(l, is_small, lost, number(l, 0)),
                   e_select(l, is_small, product, number(l, 1))};
}

static ref series(lowering *l, ref z) {
  ref inverse = divide(l, number(l, 1), z);
  return mul(l, inverse, POLYNOMIAL(l, STIRLING, mul(l, inverse, inverse)));
}

static ref log_gamma(lowering *l, ref a) {
  shifted s = shift_up(l, a);
  ref log_z = e_unary(l, VYRE_OP_LOG, s.z);
  ref made = sub(l, mul(l, sub(l, s.z, number(l, 0.5)), log_z), s.z);
  made =
      add(l, add(l, made, number(l, HALF_LOG_2PI)), add(l, series(l, s.z), mul(l, s.lost, log_z)));
  made = sub(l, made, e_unary(l, VYRE_OP_LOG, s.product));
  ref inf = e_infinity(l, VYRE_F64);
  return e_select(l, e_binary(l, VYRE_OP_EQ, a, inf), inf, made);
}

// gamma(-a) gamma(a) = -pi / (a sin(pi a))
static ref reflected(lowering *l, ref a) {
  return divide(l, number(l, PI), mul(l, a, each_sinpi(l, &a, 0)));
}

static ref lgamma_of(lowering *l, ref x) {
  ref w = wide(l, x), a = e_unary(l, VYRE_OP_ABS, w), up = log_gamma(l, a);
  ref other = e_unary(l, VYRE_OP_LOG, e_unary(l, VYRE_OP_ABS, reflected(l, a)));
  ref is_infinite = e_binary(l, VYRE_OP_EQ, a, e_infinity(l, VYRE_F64));
  ref is_whole = e_binary(l, VYRE_OP_EQ, w, e_unary(l, VYRE_OP_FLOOR, w));
  ref below =
      e_select(l, e_or(l, is_infinite, is_whole), e_infinity(l, VYRE_F64), sub(l, other, up));
  ref made = e_select(l, lt(l, w, number(l, 0)), below, up);
  made = e_select(l, lt(l, a, number(l, TINY)), e_unary(l, VYRE_OP_NEG, e_unary(l, VYRE_OP_LOG, a)),
                  made);
  ref is_root =
      e_or(l, e_binary(l, VYRE_OP_EQ, w, number(l, 1)), e_binary(l, VYRE_OP_EQ, w, number(l, 2)));
  return e_convert(l, e_type(l, x), e_select(l, is_root, number(l, 0), made));
}

ref each_lgamma(lowering *l, const ref *x, int what) {
  (void)what;
  return lgamma_of(l, x[0]);
}

// The sign of gamma: negative between an odd integer below zero and the next, none at its poles.
value with_lgamma_r(lowering *l, node *n, const value *args, int what) {
  (void)what;
  const ctype *to = args[1].type->element;
  value first = value_new(l, n->type, n->offset), second = value_new(l, to, n->offset);
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    ref w = wide(l, args[0].at[i].v), floor = e_unary(l, VYRE_OP_FLOOR, w);
    ref halved = mul(l, floor, number(l, 0.5));
    ref is_odd = e_binary(l, VYRE_OP_NE, halved, e_unary(l, VYRE_OP_FLOOR, halved));
    ref is_up = lt(l, number(l, 0), w), is_whole = e_binary(l, VYRE_OP_EQ, w, floor);
    ref is_finite = e_binary(l, VYRE_OP_NE, w, sub(l, number(l, 0), e_infinity(l, VYRE_F64)));
    ref is_pole = e_and(l, e_and(l, is_whole, is_finite), e_not(l, is_up));
    ref is_negative = e_and(l, is_odd, e_not(l, is_up));
    ref sign = e_select(l, is_negative, e_int(l, VYRE_I32, -1), e_int(l, VYRE_I32, 1));
    first.at[i].v = lgamma_of(l, args[0].at[i].v);
    second.at[i].v = e_convert(l, to->scalar, e_select(l, is_pole, e_zero(l, VYRE_I32), sign));
  }
  place at = {.type = to, .at = *args[1].at[0].p};
  store(l, &at, second, n->offset);
  return first;
}

// Two factors of gamma, which stay finite where their product does not, past 172: what is divided
// by it there is small, and not yet zero.
typedef struct factors {
  ref first, second;
} factors;

static factors gamma_up(lowering *l, ref a) {
  ref most = number(l, 180);
  a = e_select(l, lt(l, most, a), most, a);
  shifted s = shift_up(l, a);
  ref half = number(l, 0.5), quarter = number(l, 0.25);
  ref power = e_binary(l, VYRE_OP_POW, s.z, sub(l, mul(l, s.z, half), quarter));
  ref tail = e_unary(l, VYRE_OP_EXP, series(l, s.z));
  tail = e_fma(l, tail, mul(l, s.lost, e_unary(l, VYRE_OP_LOG, s.z)), tail);
  ref made = mul(l, power, e_unary(l, VYRE_OP_EXP, e_unary(l, VYRE_OP_NEG, s.z)));
  made = divide(l, mul(l, mul(l, made, tail), number(l, ROOT_2PI)), s.product);
  return (factors){made, power};
}

ref each_tgamma(lowering *l, const ref *x, int what) {
  (void)what;
  ref w = wide(l, x[0]), a = e_unary(l, VYRE_OP_ABS, w), zero = number(l, 0);
  factors up = gamma_up(l, a);
  ref below = divide(l, divide(l, reflected(l, a), up.first), up.second);
  below = e_unary(l, VYRE_OP_NEG, below);
  ref is_whole = e_binary(l, VYRE_OP_EQ, w, e_unary(l, VYRE_OP_FLOOR, w));
  below = e_select(l, is_whole, divide(l, zero, zero), below); // a pole, or minus infinity: NaN
  ref made = e_select(l, lt(l, w, zero), below, mul(l, up.first, up.second));
  ref at_zero = divide(l, number(l, 1), w); // with its sign
  made = e_select(l, lt(l, a, number(l, TINY)), at_zero, made);
  return e_convert(l, e_type(l, x[0]), made);
}
