// SPDX-License-Identifier: MIT
//
// pow, cbrt, hypot, rsqrt.
//
// pow is 2^(y log2 |x|). A relative error of the logarithm is multiplied by the exponent of the
// result (up to 1075), so the logarithm is carried as hi + lo: log(1 + f) = 2 atanh(f / (2 + f)),
// with the quotient, its square and the first two terms of the series in double precision of the
// type. The division pays for itself: a polynomial in f would need many more such terms.
#include "ir/math_build.h"

// atanh(s) = s + s^3/3 + s^5 p(z), z = s^2
static const poly ATANH = {3,
                           7,
                           {0x1.999a0p-3, 0x1.245282p-3, 0x1.dfa076p-4},
                           {0x1.9999999999b30p-3, 0x1.2492492457d94p-3, 0x1.c71c722d5dc41p-4,
                            0x1.745ce9e756c4dp-4, 0x1.3b1eeb2edf40ap-4, 0x1.0f80002785e58p-4,
                            0x1.0e41c9549d8e5p-4}};

static pair product(const mathb *m, ref x, ref y) {
  ref hi = mul(m, x, y);
  return (pair){hi, fma3(m, x, y, neg(m, hi))};
}
// |x| >= |y| or x = 0
static pair sum(const mathb *m, ref x, ref y) {
  ref hi = add(m, x, y);
  return (pair){hi, sub(m, y, sub(m, hi, x))};
}
static pair times(const mathb *m, pair x, pair y) {
  pair p = product(m, x.hi, y.hi);
  p.lo = fma3(m, x.hi, y.lo, fma3(m, x.lo, y.hi, p.lo));
  return p;
}

// f / (2 + f)
static pair quotient(const mathb *m, ref f) {
  pair d = sum(m, num(m, 2), f);
  ref inverse = quo(m, num(m, 1), d.hi);
  ref s = mul(m, f, inverse);
  ref rest = fma3(m, neg(m, s), d.lo, fma3(m, neg(m, s), d.hi, f));
  return (pair){s, mul(m, rest, inverse)};
}

// log2 of x > 0; -inf for 0, and inf and NaN as they are.
static pair log2_pair(const mathb *m, ref x) {
  split a = math_split(m, x);
  pair s = quotient(m, a.f);
  pair z = times(m, s, s);
  pair third = {pick(m, 0x1.555556p-2, 0x1.5555555555555p-2),
                pick(m, -0x1.555556p-27, 0x1.5555555555555p-56)};
  pair g = sum(m, third.hi, mul(m, z.hi, math_poly(m, &ATANH, z.hi)));
  g.lo = add(m, g.lo, third.lo);
  pair w = times(m, s, times(m, z, g)); // atanh(s) - s
  pair l = sum(m, s.hi, w.hi);
  l.lo = add(m, l.lo, add(m, w.lo, s.lo));
  pair two_over_ln2 = {pick(m, 0x1.715476p1, 0x1.71547652b82fep1),
                       pick(m, 0x1.4ae0cp-25, 0x1.777d0ffda0d24p-55)};
  l = times(m, l, two_over_ln2);
  pair t = sum(m, a.e, l.hi);
  t.lo = add(m, t.lo, l.lo);
  t.hi = sel(m, eq(m, x, num(m, 0)), num(m, -__builtin_inf()), t.hi);
  t.hi = sel(m, lt(m, x, infinity(m)), t.hi, x);
  return t;
}

// |x|^y, apart from the cases that give 1 whatever the other operand is.
static ref pow_magnitude(const mathb *m, ref x, ref y) {
  pair l = log2_pair(m, x);
  pair v = product(m, y, l.hi);
  v.lo = fma3(m, y, l.lo, v.lo);
  ref limit = pick(m, 160, 1100);
  v.lo = sel(m, lt(m, mag(m, v.hi), limit), v.lo, num(m, 0)); // inf - inf beyond it
  v.hi = at_most(m, pick(m, 130, 1026), v.hi);
  v.hi = at_least(m, pick(m, -155, -1080), v.hi);
  rounded n = math_round_scaled(m, v.hi, 0);
  ref r = add(m, sub(m, v.hi, n.n), v.lo);
  return math_scale(m, math_exp2_reduced(m, r), n.k);
}

static ref is_whole(const mathb *m, ref x) {
  return eq(m, un(m, VYRE_OP_TRUNC, x), x);
}
static ref not1(const mathb *m, ref x) {
  return un(m, VYRE_OP_NOT, x);
}

ref math_build_pow(const mathb *m, ref x, ref y) {
  ref ax = mag(m, x), one = num(m, 1), zero = num(m, 0), inf = infinity(m);
  ref p = pow_magnitude(m, ax, y);
  ref whole = is_whole(m, y);
  ref is_odd = and2(m, whole, not1(m, is_whole(m, mul(m, y, num(m, 0.5)))));
  p = sel(m, and2(m, is_odd, is_negative(m, x)), neg(m, p), p);
  ref is_finite_negative = and2(m, lt(m, x, zero), lt(m, ax, inf));
  p = sel(m, and2(m, is_finite_negative, not1(m, whole)), nan_(m), p);
  ref is_unit = and2(m, eq(m, ax, one), eq(m, mag(m, y), inf));
  ref is_one = or2(m, or2(m, eq(m, y, zero), eq(m, x, one)), is_unit);
  return sel(m, is_one, one, p);
}

// About |x|^(-1/3), from the exponent divided by -3.
static ref inverse_cbrt_guess(const mathb *m, ref a) {
  ref third = vyre_build_u32(m->b, 0x55555556);
  if (m->t == VYRE_F32) {
    ref k = bin(m, VYRE_OP_MULHI, bits_of(m, a), third);
    return float_of(m, sub(m, word(m, 0x54a21d2a), k));
  }
  ref high = vyre_build_convert(m->b, VYRE_U32, shr(m, bits_of(m, a), 32));
  ref k = sub(m, vyre_build_u32(m->b, 0x553ef0ff), bin(m, VYRE_OP_MULHI, high, third));
  return float_of(m, shl(m, vyre_build_convert(m->b, m->u, k), 32));
}

// r = a^(-1/3) by steps r (1 + h/3 + 2 h^2/9), h = 1 - a r^3, without division; a r^2 is then the
// cube root, and one last step with an exact remainder rounds it well.
ref math_build_cbrt(const mathb *m, ref x) {
  ref ax = mag(m, x);
  ref is_tiny = lt(m, ax, num(m, m->min_normal));
  ref a = sel(m, is_tiny, mul(m, ax, pick(m, 0x1p24, 0x1p54)), ax);
  ref r = inverse_cbrt_guess(m, a);
  ref c1 = pick(m, 0x1.555556p-2, 0x1.5555555555555p-2);
  ref c2 = pick(m, 0x1.c71c72p-3, 0x1.c71c71c71c71cp-3);
  for (int i = 0; i < (m->t == VYRE_F32 ? 2 : 3); i++) {
    ref h = fma3(m, mul(m, neg(m, a), r), mul(m, r, r), num(m, 1));
    r = fma3(m, mul(m, r, h), fma3(m, h, c2, c1), r);
  }
  ref rr = mul(m, r, r);
  ref y = mul(m, a, rr);
  pair square = product(m, y, y);
  ref rest = fma3(m, neg(m, square.lo), y, fma3(m, neg(m, square.hi), y, a));
  y = fma3(m, mul(m, rest, rr), c1, y);
  y = sel(m, is_tiny, mul(m, y, pick(m, 0x1p-8, 0x1p-18)), y);
  y = with_sign(m, y, x);
  y = sel(m, eq(m, ax, num(m, 0)), x, y);
  return sel(m, lt(m, ax, infinity(m)), y, x);
}

// Both are scaled by a power of two where the squares could overflow or lose bits.
ref math_build_hypot(const mathb *m, ref x, ref y) {
  ref ax = mag(m, x), ay = mag(m, y), inf = infinity(m);
  ref is_less = lt(m, ax, ay);
  ref large = sel(m, is_less, ay, ax), small = sel(m, is_less, ax, ay);
  ref is_big = gt(m, large, pick(m, 0x1p60, 0x1p500));
  ref is_tiny = lt(m, large, pick(m, 0x1p-40, 0x1p-400));
  ref one = num(m, 1), up = pick(m, 0x1p90, 0x1p600), down = pick(m, 0x1p-90, 0x1p-600);
  ref scale = sel(m, is_big, down, sel(m, is_tiny, up, one));
  ref back = sel(m, is_big, up, sel(m, is_tiny, down, one));
  large = mul(m, large, scale);
  small = mul(m, small, scale);
  ref r = un(m, VYRE_OP_SQRT, fma3(m, large, large, mul(m, small, small)));
  r = mul(m, r, back);
  return sel(m, or2(m, eq(m, ax, inf), eq(m, ay, inf)), inf, r);
}

ref math_build_rsqrt(const mathb *m, ref x) {
  return quo(m, num(m, 1), un(m, VYRE_OP_SQRT, x));
}

// Half of the exponent taken from a constant, in integers, is a first guess y. With e = 1 - x y^2,
// which is -0.06 to 0.08, 1 / sqrt(1 - e) = 1 + e q(e) to 2^-25.5; that the last sum is of y and a
// small number keeps most roundings out. The bits are those of a number that min made of NaN, which
// then need not be told apart; that it was NaN, or infinite, is seen by what is multiplied.
ref math_build_fast_rsqrt(const mathb *m, ref x) {
  static const poly RSQRT = {
      4, 4, {0x1.000026p-1, 0x1.7ff618p-2, 0x1.3ea1a6p-2, 0x1.431e86p-2}, {0}};
  ref most = num(m, 0x1.fffffep127);
  ref bits = bits_of(m, bin(m, VYRE_OP_MIN, x, most));
  ref y = float_of(m, sub(m, word(m, 0x5f340000), shr(m, bits, 1)));
  ref e = fma3(m, neg(m, mul(m, x, y)), y, num(m, 1));
  return fma3(m, mul(m, y, e), math_poly(m, &RSQRT, e), y);
}
