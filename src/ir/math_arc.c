// SPDX-License-Identifier: MIT
//
// Inverse trigonometric functions: one polynomial each, on [0, 1/2] for asin and on [0, 1] for
// atan, and the identities that bring every argument there. pi is carried in two parts.
#include "ir/math_build.h"

// asin(s) = s + s z p(z), z = s^2
static const poly ASIN = {
    5,
    12,
    {0x1.5555c8p-3, 0x1.330206p-4, 0x1.747b7ap-5, 0x1.8c40dep-6, 0x1.595a2p-5},
    {0x1.5555555555390p-3, 0x1.333333336e801p-4, 0x1.6db6db427c18fp-5, 0x1.f1c72c37e50c2p-6,
     0x1.6e89f4668d88dp-6, 0x1.1c6bdeb807edbp-6, 0x1.c6fe0700129bfp-7, 0x1.8ec0f6202fa08p-7,
     0x1.abe2a8d3e61e6p-8, 0x1.3fe675e703e57p-6, -0x1.09bb976cd4770p-6, 0x1.0564fdec4842bp-5}};

// atan(t) = t + t z p(z), z = t^2
static const poly ATAN = {
    9,
    20,
    {-0x1.55553ep-2, 0x1.9991eap-3, -0x1.2420fcp-3, 0x1.c09302p-4, -0x1.58217cp-4, 0x1.da8c2ap-5,
     -0x1.fe5c3p-6, 0x1.652dbp-7, -0x1.d55fdap-10},
    {-0x1.5555555555525p-2, 0x1.99999999954c9p-3,  -0x1.249249237cc2ep-3,  0x1.c71c717f51ae8p-4,
     -0x1.745d11a6f73cbp-4, 0x1.3b13664caf380p-4,  -0x1.110e4eea86116p-4,  0x1.e1bb8dfbcadb8p-5,
     -0x1.ae5e0d9632cb0p-5, 0x1.82d9951c1c4ebp-5,  -0x1.59a0df2c8cf9dp-5,  0x1.2c284c872aecep-5,
     -0x1.e9e7a4056a040p-6, 0x1.68270584a1c10p-6,  -0x1.c76831551a9e3p-7,  0x1.d782c84158225p-8,
     -0x1.7a032db7ef2aap-9, 0x1.b3afdad82e552p-11, -0x1.3ef6dfb07cbbfp-13, 0x1.bb8a26a7bc275p-17}};

static pair half_pi(const mathb *m) {
  return (pair){pick(m, 0x1.921fb6p0, 0x1.921fb54442d18p0),
                pick(m, -0x1.777a5cp-25, 0x1.1a62633145c07p-54)};
}
static pair whole_pi(const mathb *m) {
  return (pair){pick(m, 0x1.921fb6p1, 0x1.921fb54442d18p1),
                pick(m, -0x1.777a5cp-24, 0x1.1a62633145c07p-53)};
}

// c - x
static ref from(const mathb *m, pair c, ref x) {
  return sub(m, c.hi, sub(m, x, c.lo));
}

// asin(s) = s + tail, where s is |x|, or sqrt((1 - |x|) / 2) when |x| > 1/2: then it is half of
// acos(|x|).
typedef struct arc {
  ref s, tail, is_large;
} arc;
static arc arc_of(const mathb *m, ref a) {
  ref half = num(m, 0.5);
  ref is_large = gt(m, a, half);
  ref z = sel(m, is_large, fma3(m, a, num(m, -0.5), half), mul(m, a, a));
  ref s = sel(m, is_large, un(m, VYRE_OP_SQRT, z), a);
  return (arc){s, mul(m, mul(m, s, z), math_poly(m, &ASIN, z)), is_large};
}

// pi/2 - 2 s is rounded, and its error taken along with the tail.
ref math_build_asin(const mathb *m, ref x) {
  arc a = arc_of(m, mag(m, x));
  pair c = half_pi(m);
  ref twice = add(m, a.s, a.s);
  ref w = sub(m, c.hi, twice);
  ref error = sub(m, sub(m, c.hi, w), twice);
  ref rest = fma3(m, a.tail, num(m, -2), add(m, error, c.lo));
  ref large = add(m, w, rest);
  ref y = sel(m, a.is_large, large, add(m, a.s, a.tail));
  return with_sign(m, y, x);
}

ref math_build_acos(const mathb *m, ref x) {
  arc a = arc_of(m, mag(m, x));
  ref value = add(m, a.s, a.tail);
  ref twice = add(m, value, value);
  ref is_left = lt(m, x, num(m, 0));
  ref large = sel(m, is_left, from(m, whole_pi(m), twice), twice);
  ref small = from(m, half_pi(m), sel(m, is_left, neg(m, value), value));
  return sel(m, a.is_large, large, small);
}

// atan(t) + lo for 0 <= t <= 1, where lo is small: it is added to the terms that are.
static ref atan_plus(const mathb *m, ref t, ref lo) {
  ref z = mul(m, t, t);
  return add(m, t, fma3(m, mul(m, t, z), math_poly(m, &ATAN, z), lo));
}

ref math_build_atan(const mathb *m, ref x) {
  ref a = mag(m, x), one = num(m, 1);
  pair half = half_pi(m);
  ref is_large = gt(m, a, one);
  ref t = sel(m, is_large, quo(m, one, a), a);
  ref p = atan_plus(m, t, sel(m, is_large, neg(m, half.lo), num(m, 0)));
  ref y = sel(m, is_large, sub(m, half.hi, p), p);
  return with_sign(m, y, x);
}

// The smaller magnitude over the larger, then the angle from its octant: 0, pi/2 or pi plus or
// minus atan. Equal magnitudes are 0, 1 or infinite, where the quotient would be NaN.
ref math_build_atan2(const mathb *m, ref y, ref x) {
  ref ax = mag(m, x), ay = mag(m, y), zero = num(m, 0), one = num(m, 1);
  ref is_steep = gt(m, ay, ax);
  ref n = sel(m, is_steep, ax, ay), d = sel(m, is_steep, ay, ax);
  ref t = sel(m, eq(m, n, d), sel(m, eq(m, d, zero), zero, one), quo(m, n, d));
  ref is_left = is_negative(m, x);
  pair half = half_pi(m), whole = whole_pi(m);
  ref base = sel(m, is_steep, half.hi, sel(m, is_left, whole.hi, zero));
  ref steep_lo = sel(m, is_left, half.lo, neg(m, half.lo));
  ref p = atan_plus(m, t, sel(m, is_steep, steep_lo, sel(m, is_left, neg(m, whole.lo), zero)));
  p = sel(m, ne(m, is_steep, is_left), neg(m, p), p);
  return with_sign(m, add(m, base, p), y);
}
