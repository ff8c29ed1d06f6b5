// SPDX-License-Identifier: MIT
//
// exp, exp2, expm1 and the hyperbolic functions. x = n ln 2 + r with |r| <= ln(2)/2: a polynomial
// gives the function of r and 2^n is a shift of the exponent. Arguments are first clamped to where
// the result is just infinite or zero, so that n stays within what the shift can do.
#include "ir/math_build.h"

// exp(r) = 1 + r + r^2 p(r)
static const poly EXP = {
    5,
    10,
    {0x1.fffffcp-2, 0x1.55549p-3, 0x1.5558a2p-5, 0x1.123ac4p-7, 0x1.6a5e2ep-10},
    {0x1.000000000000ap-1, 0x1.55555555554ffp-3, 0x1.5555555550690p-5, 0x1.111111112675bp-7,
     0x1.6c16c18486c52p-10, 0x1.a01a01313a2c9p-13, 0x1.a01999285b7e6p-16, 0x1.71df15f6b5a58p-19,
     0x1.28ae37cdf1811p-22, 0x1.ad97e1243501dp-26}};

// 2^r = 1 + r p(r)
static const poly EXP2 = {
    6,
    12,
    {0x1.62e43p-1, 0x1.ebfbd6p-3, 0x1.c6af74p-5, 0x1.3b320p-7, 0x1.5f0cf6p-10, 0x1.3ebffep-13},
    {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58cp-3, 0x1.c6b08d704a182p-5, 0x1.3b2ab6fba5691p-7,
     0x1.5d87fe7888efcp-10, 0x1.430912f64d027p-13, 0x1.ffcbfcda8864cp-17, 0x1.62c02a3c1bb41p-20,
     0x1.b52424d6eacfdp-24, 0x1.e4b35ba93e2d7p-28, 0x1.eafa8c00d538fp-32, 0x1.e8d69f14192f8p-36}};

// expm1(r) = r + r^2 p(r)
static const poly EXPM1 = {
    5,
    11,
    {0x1.00000p-1, 0x1.5554b6p-3, 0x1.5555b6p-5, 0x1.12242ep-7, 0x1.6c5ab2p-10},
    {0x1.0000000000000p-1, 0x1.5555555555559p-3, 0x1.555555555554fp-5, 0x1.111111110f64fp-7,
     0x1.6c16c16c19cb7p-10, 0x1.a01a01b008055p-13, 0x1.a01a01928b266p-16, 0x1.71ddf7fef3254p-19,
     0x1.27e509b5fd866p-22, 0x1.af5f510dd2836p-26, 0x1.1f28ba0b4680cp-29}};

// cosh(r) = 1 + z p(z), sinh(r) = r + r z p(z), z = r^2
static const poly COSH = {3,
                          6,
                          {0x1.00000p-1, 0x1.5554e6p-5, 0x1.6d4f22p-10},
                          {0x1.0000000000000p-1, 0x1.5555555555558p-5, 0x1.6c16c16c15000p-10,
                           0x1.a01a01ad7d6a2p-16, 0x1.27e4cc141060ep-22, 0x1.1f8bd9738083ep-29}};
static const poly SINH = {3,
                          6,
                          {0x1.555556p-3, 0x1.110fep-7, 0x1.a293aep-13},
                          {0x1.5555555555555p-3, 0x1.1111111111310p-7, 0x1.a01a019f0ec17p-13,
                           0x1.71de3e4e24950p-19, 0x1.ae563cbdab526p-26, 0x1.7453c6de8c948p-33}};

// tanh(x) = x + x z p(z), z = x^2, |x| < 0.6
static const poly TANH = {
    5,
    12,
    {-0x1.55553ep-2, 0x1.1109bep-3, -0x1.b89abap-5, 0x1.54c3c2p-6, -0x1.828778p-8},
    {-0x1.5555555555554p-2, 0x1.1111111110f02p-3, -0x1.ba1ba1b9f8bdep-5, 0x1.664f48798bc7bp-6,
     -0x1.226e33f2949b2p-7, 0x1.d6d38956865a3p-9, -0x1.7d9eb06f095c4p-10, 0x1.3521dc0fb635fp-11,
     -0x1.f21aaa6473a52p-13, 0x1.83f0ee1597ea6p-14, -0x1.0591a6c92e10dp-15, 0x1.b484ab888a2a4p-18}};

typedef struct reduced { // x = n ln 2 + r; k has n in its low bits
  ref n, k, r;
} reduced;

static ref log2_e(const mathb *m) {
  return pick(m, 0x1.715476p0, 0x1.71547652b82fep0);
}
static ref minus_ln2(const mathb *m) {
  return pick(m, -0x1.62e43p-1, -0x1.62e42fefa39efp-1);
}
static ref minus_ln2_lo(const mathb *m) {
  return pick(m, 0x1.05c61p-29, -0x1.abc9e3b39803fp-56);
}

// The first product is subtracted exactly: it and x are multiples of the same ulp and r is small.
static reduced reduce_by(const mathb *m, ref x, rounded n) {
  ref exact = fma3(m, n.n, minus_ln2(m), x);
  return (reduced){n.n, n.k, fma3(m, n.n, minus_ln2_lo(m), exact)};
}

static reduced reduce_ln2(const mathb *m, ref x) {
  return reduce_by(m, x, math_round(m, x, log2_e(m)));
}

static ref exp_reduced(const mathb *m, ref r) {
  ref p = fma3(m, math_poly(m, &EXP, r), r, num(m, 1));
  return fma3(m, p, r, num(m, 1));
}

// The bits of n are those of a number, also when x is NaN, which the polynomial passes on; and what
// it gives where x is larger than any result is as infinite as it is large.
ref math_build_exp(const mathb *m, ref x) {
  x = at_least(m, pick(m, -104, -746), x);
  ref limited = bin(m, VYRE_OP_MIN, x, pick(m, 89, 710));
  reduced a = reduce_by(m, x, math_round_scaled(m, limited, log2_e(m)));
  return math_scale(m, exp_reduced(m, a.r), a.k);
}

// Twice exp(r) by a polynomial that is one term shorter, times 2^(n - 1), whose exponent field
// comes with n: n = 128 is no infinity then, and n = -126 is zero.
ref math_build_fast_exp(const mathb *m, ref x) {
  static const poly TWICE = {
      5, 5, {0x1.fffff6p0, 0x1.fffdc4p-1, 0x1.555a7ep-2, 0x1.573ad8p-4, 0x1.0fa15ep-6}, {0}};
  x = at_least(m, num(m, -87.5), x);
  ref magic = num(m, m->magic + 126);
  ref t = fma3(m, bin(m, VYRE_OP_MIN, x, num(m, 89)), log2_e(m), magic);
  reduced a = reduce_by(m, x, (rounded){sub(m, t, magic), bits_of(m, t)});
  ref p = fma3(m, math_poly(m, &TWICE, a.r), a.r, num(m, 2));
  return mul(m, p, float_of(m, shl(m, a.k, m->mantissa)));
}

ref math_exp2_reduced(const mathb *m, ref r) {
  return fma3(m, math_poly(m, &EXP2, r), r, num(m, 1));
}

ref math_build_exp2(const mathb *m, ref x) {
  x = at_most(m, pick(m, 129, 1025), x);
  x = at_least(m, pick(m, -151, -1076), x);
  rounded n = math_round_scaled(m, x, 0);
  return math_scale(m, math_exp2_reduced(m, sub(m, x, n.n)), n.k);
}

// As reduce_ln2, with what r lost to rounding: for functions whose terms cancel near n = 1.
static reduced reduce_ln2_pair(const mathb *m, ref x, ref *lo) {
  rounded n = math_round(m, x, log2_e(m));
  ref exact = fma3(m, n.n, minus_ln2(m), x);
  ref r = fma3(m, n.n, minus_ln2_lo(m), exact);
  *lo = fma3(m, n.n, minus_ln2_lo(m), sub(m, exact, r));
  return (reduced){n.n, n.k, r};
}

// 2^n expm1(r) + (2^n - 1), halved so that 2^n does not overflow before the result does.
ref math_build_expm1(const mathb *m, ref x) {
  ref c = at_most(m, pick(m, 89, 710), x), lo;
  c = at_least(m, pick(m, -18, -38), c);
  reduced a = reduce_ln2_pair(m, c, &lo);
  ref tail = fma3(m, mul(m, a.r, a.r), math_poly(m, &EXPM1, a.r), lo);
  ref half = exp2_int(m, sub(m, a.k, word(m, 1)));
  ref y = fma3(m, half, tail, fma3(m, half, a.r, sub(m, half, num(m, 0.5))));
  y = sel(m, eq(m, a.n, num(m, 0)), add(m, a.r, tail), add(m, y, y));
  return sel(m, eq(m, x, num(m, 0)), x, y); // -0 stays -0
}

// For |x| = n ln 2 + r: half of sinh and cosh are a cosh(r) + b sinh(r) with a = 2^(n-2) -+
// 2^(-n-2) and b = 2^(n-2) +- 2^(-n-2), which needs no division.
typedef struct hyperbolic {
  ref n;
  ref less, more;       // 2^(n-2) -+ 2^(-n-2)
  ref cosh_m1, r, tail; // cosh(r) - 1; sinh(r) = r + tail
} hyperbolic;

static hyperbolic reduce_hyperbolic(const mathb *m, ref x) {
  ref lo, c = at_most(m, pick(m, 89.5, 710.5), mag(m, x));
  reduced a = reduce_ln2_pair(m, c, &lo);
  ref two = word(m, 2);
  ref up = exp2_int(m, sub(m, a.k, two));
  // 2^(-n-2) is far below half an ulp of 2^(n-2) when n is large: n is limited to keep it normal.
  ref limited = at_most(m, num(m, 64), a.n);
  ref k = bits_of(m, sub(m, num(m, m->magic), limited));
  ref down = exp2_int(m, sub(m, k, two));
  ref z = mul(m, a.r, a.r);
  ref cosh_m1 = mul(m, z, math_poly(m, &COSH, z));
  ref tail = fma3(m, mul(m, a.r, z), math_poly(m, &SINH, z), lo);
  return (hyperbolic){a.n, sub(m, up, down), add(m, up, down), cosh_m1, a.r, tail};
}

ref math_build_sinh(const mathb *m, ref x) {
  hyperbolic h = reduce_hyperbolic(m, x);
  ref small = fma3(m, h.less, h.cosh_m1, mul(m, h.more, h.tail));
  ref y = add(m, h.less, fma3(m, h.more, h.r, small));
  y = sel(m, eq(m, h.n, num(m, 0)), add(m, h.r, h.tail), add(m, y, y));
  return with_sign(m, y, x);
}

ref math_build_cosh(const mathb *m, ref x) {
  hyperbolic h = reduce_hyperbolic(m, x);
  ref small = fma3(m, h.more, h.cosh_m1, mul(m, h.less, h.tail));
  ref y = add(m, h.more, fma3(m, h.less, h.r, small));
  return add(m, y, y);
}

// A polynomial below 0.6, 1 - 2 / (exp(2 |x|) + 1) above.
ref math_build_tanh(const mathb *m, ref x) {
  ref a = mag(m, x), z = mul(m, a, a);
  ref small = fma3(m, mul(m, a, z), math_poly(m, &TANH, z), a);
  reduced e = reduce_ln2(m, at_most(m, num(m, 64), add(m, a, a)));
  ref exp2a = mul(m, exp_reduced(m, e.r), exp2_int(m, e.k));
  ref large = sub(m, num(m, 1), quo(m, num(m, 2), add(m, exp2a, num(m, 1))));
  ref y = sel(m, lt(m, a, pick(m, 0x1.333334p-1, 0.6)), small, large);
  return with_sign(m, y, x);
}
