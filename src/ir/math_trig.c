// SPDX-License-Identifier: MIT
//
// sin, cos and tan for every finite argument. x = q pi/2 + r + lo, |r| <= pi/4, and polynomials
// in r^2; lo is what r lost to rounding, and without it the last bit would be lost too.
//
// Up to a bound, q pi/2 is subtracted in three parts with fma. Beyond it (2^17 for f32, 2^28 for
// f64) the product of the mantissa and the bits of 2/pi that matter is made with integers, after
// Payne and Hanek. That part stands in an `if`, not behind selects: where no invocation of a vector
// needs it, it costs one comparison.
#include "ir/math_build.h"

// sin(r) = r + r z p(z), z = r^2
static const poly SIN = {3,
                         7,
                         {-0x1.555544p-3, 0x1.1106b8p-7, -0x1.9914b4p-13},
                         {-0x1.5555555555555p-3, 0x1.111111111108dp-7, -0x1.a01a01a007790p-13,
                          0x1.71de3a412d421p-19, -0x1.ae643eef30288p-26, 0x1.6115d86d39994p-33,
                          -0x1.a60256aec34cbp-41}};

// cos(r) = 1 - z/2 + z^2 p(z)
static const poly COS = {3,
                         7,
                         {0x1.555548p-5, -0x1.6c0b0cp-10, 0x1.999c6cp-16},
                         {0x1.5555555555555p-5, -0x1.6c16c16c16b4dp-10, 0x1.a01a01a002f10p-16,
                          -0x1.27e4fb623711ap-22, 0x1.1eed798f43403p-29, -0x1.93806186f8a03p-37,
                          0x1.a3497f7d16f25p-45}};

// tan(r) = r + r z p(z)
static const poly TAN = {7,
                         15,
                         {0x1.555564p-2, 0x1.110c96p-3, 0x1.bb07cp-5, 0x1.5ae87cp-6, 0x1.6c5a46p-7,
                          -0x1.1d67d4p-12, 0x1.2a93d2p-8},
                         {0x1.5555555555563p-2, 0x1.111111110ffb2p-3, 0x1.ba1ba1bb1270bp-5,
                          0x1.664f484b649f7p-6, 0x1.226e3cbd4f7bfp-7, 0x1.d6d28ae342b67p-9,
                          0x1.7db6ad3d4e5adp-10, 0x1.34895e2dcc0c9p-11, 0x1.00fe7830586f4p-12,
                          0x1.5037212a5225dp-14, 0x1.33bcbd980c111p-14, -0x1.17d4a7af83a7bp-15,
                          0x1.cdb6af39289c6p-15, -0x1.cc19e016ff15ap-16, 0x1.60282aa942794p-17}};

// The bits of 2/pi, after as many zeros as make the first word the window of the smallest exponent.
enum { WINDOW = 4, WORDS_32 = 7, WORDS_64 = 19 };
static const uint64_t TWO_OVER_PI_32[WORDS_32] = {0x00a2f983, 0x6e4e4415, 0x29fc2757, 0xd1f534dd,
                                                  0xc0db6295, 0x993c4390, 0x41fe5163};
static const uint64_t TWO_OVER_PI_64[WORDS_64] = {
    0x00000028be60db93, 0x91054a7f09d5f47d, 0x4d377036d8a5664f, 0x10e4107f9458eaf7,
    0xaef1586dc91b8e90, 0x9374b801924bba82, 0x7464873f877ac72c, 0x4a69cfba208d7d4b,
    0xaed1213a671c09ad, 0x17df904e64758e60, 0xd4ce7d272117e2ef, 0x7e4a0ec7fe25fff7,
    0x816603fbcbc462d6, 0x829b47db4d9fb3c9, 0xf2c26dd3d18fd9a7, 0x97fa8b5d49eeb1fa,
    0xf97c5ecf41ce7de2, 0x94a4ba9afed7ec47, 0xe357421580cc11bf};

typedef struct quadrant { // x = q pi/2 + r + lo, q in the low bits
  ref q, r, lo;
} quadrant;

// n pi/2 in three parts of full precision: the first difference is exact because its operands are
// multiples of one ulp and it is small, and what the second loses is recovered into lo.
static quadrant reduce_small(const mathb *m, ref x) {
  rounded n = math_round(m, x, pick(m, 0x1.45f306p-1, 0x1.45f306dc9c883p-1));
  ref a = fma3(m, n.n, pick(m, -0x1.921fb4p0, -0x1.921fb54442d18p0), x);
  ref second = pick(m, 0x1.4442dp-24, 0x1.1a62633145c06p-54);
  ref h = mul(m, n.n, second);
  ref h_lo = fma3(m, n.n, second, neg(m, h));
  ref r = sub(m, a, h);
  ref lo = sub(m, sub(m, a, r), h);
  ref third = fma3(m, n.n, pick(m, 0x1.84698ap-48, 0x1.c1cd129024e09p-107), h_lo);
  return (quadrant){n.k, r, sub(m, lo, third)};
}

static ref shift_left(const mathb *m, ref x, ref n) {
  return bin(m, VYRE_OP_SHL, x, n);
}

// The upper word of (high:low) << n for n below the width.
static ref funnel(const mathb *m, ref high, ref low, ref n) {
  ref down = sub(m, word(m, m->width - 1), n);
  ref part = bin(m, VYRE_OP_SHR, shr(m, low, 1), down);
  return or2(m, shift_left(m, high, n), part);
}

// Three words of 2/pi that start `pos` bits into the table: whole words by selects on the bits of
// the word number, the rest by shifts.
static void window_of(const mathb *m, ref pos, ref out[WINDOW - 1]) {
  bool is_f32 = m->t == VYRE_F32;
  unsigned count = is_f32 ? WORDS_32 : WORDS_64;
  ref w[WORDS_64];
  for (unsigned i = 0; i < count; i++)
    w[i] = word(m, is_f32 ? TWO_OVER_PI_32[i] : TWO_OVER_PI_64[i]);
  for (unsigned step = is_f32 ? 2 : 8; step; step /= 2) {
    ref is_set = ne(m, and2(m, pos, word(m, step * m->width)), word(m, 0));
    count = WINDOW + step - 1;
    for (unsigned i = 0; i < count; i++) w[i] = sel(m, is_set, w[i + step], w[i]);
  }
  ref rest = and2(m, pos, word(m, m->width - 1));
  for (int i = 0; i < WINDOW - 1; i++) out[i] = funnel(m, w[i], w[i + 1], rest);
}

typedef struct fraction { // of a quadrant, after its number: two words
  ref high, low;
} fraction;

// mantissa * window modulo 4, as a fixed-point number with two bits before the point.
static fraction times_two_over_pi(const mathb *m, ref bits) {
  unsigned first = m->t == VYRE_F32 ? 127 + 17 : 1023 + 28;
  ref w[WINDOW - 1];
  window_of(m, sub(m, shr(m, bits, m->mantissa), word(m, first)), w);
  uint64_t implicit = (uint64_t)1 << m->mantissa;
  ref mant = or2(m, and2(m, bits, word(m, implicit - 1)), word(m, implicit));
  ref middle = mul(m, mant, w[1]);
  ref low = add(m, middle, bin(m, VYRE_OP_MULHI, mant, w[2]));
  ref carry = sel(m, lt(m, low, middle), word(m, 1), word(m, 0));
  ref high = add(m, bin(m, VYRE_OP_MULHI, mant, w[1]), mul(m, mant, w[0]));
  return (fraction){add(m, high, carry), low};
}

// The upper mantissa + 1 bits of a word as a float, an integer.
static ref upper_as_float(const mathb *m, ref x) {
  ref top = shr(m, x, m->width - m->mantissa - 1);
  return vyre_build_convert(m->b, m->t, vyre_build_bitcast(m->b, m->i, top));
}

static quadrant reduce_large(const mathb *m, ref x, ref size) {
  unsigned w = m->width, digits = m->mantissa + 1;
  fraction p = times_two_over_pi(m, bits_of(m, size));
  ref high = or2(m, shl(m, p.high, 2), shr(m, p.low, w - 2));
  ref low = shl(m, p.low, 2);
  ref is_upper = shr(m, high, w - 1); // beyond half a quadrant: count from the next one, down
  ref q = add(m, shr(m, p.high, w - 2), is_upper);
  ref mask = sub(m, word(m, 0), is_upper);
  high = xor2(m, high, mask);
  low = xor2(m, low, mask);
  ref zeros = un(m, VYRE_OP_CLZ, or2(m, high, word(m, 1)));
  high = funnel(m, high, low, zeros);
  low = shift_left(m, low, zeros);
  ref next = or2(m, shl(m, high, digits), shr(m, low, w - digits));
  ref scale = exp2_int(m, sub(m, word(m, -(uint64_t)digits), zeros));
  ref a = mul(m, upper_as_float(m, high), scale);
  ref step = pick(m, 0x1p-24, 0x1p-53);
  ref a_lo = mul(m, upper_as_float(m, next), mul(m, scale, step));
  ref half_pi = pick(m, 0x1.921fb6p0, 0x1.921fb54442d18p0);
  ref half_pi_lo = pick(m, -0x1.777a5cp-25, 0x1.1a62633145c07p-54);
  ref h = mul(m, a, half_pi);
  ref lo = fma3(m, a, half_pi, neg(m, h));
  lo = fma3(m, a_lo, half_pi, fma3(m, a, half_pi_lo, lo));
  ref r = add(m, h, lo);
  lo = sub(m, lo, sub(m, r, h));
  ref is_left = lt(m, x, num(m, 0));
  ref factor = sign_factor(m, sel(m, is_left, un(m, VYRE_OP_NOT, mask), mask));
  r = sel(m, lt(m, size, infinity(m)), mul(m, r, factor), nan_(m));
  return (quadrant){sel(m, is_left, sub(m, word(m, 0), q), q), r, mul(m, lo, factor)};
}

static quadrant reduce(const mathb *m, ref x) {
  quadrant s = reduce_small(m, x);
  vyre_var q = vyre_build_var(m->b, NULL, s.q);
  vyre_var r = vyre_build_var(m->b, NULL, s.r);
  vyre_var lo = vyre_build_var(m->b, NULL, s.lo);
  ref size = mag(m, x);
  vyre_build_if(m->b, gt(m, size, pick(m, 0x1p17, 0x1p28)));
  quadrant l = reduce_large(m, x, size);
  vyre_build_set(m->b, q, l.q);
  vyre_build_set(m->b, r, l.r);
  vyre_build_set(m->b, lo, l.lo);
  vyre_build_end(m->b);
  return (quadrant){vyre_build_get(m->b, q), vyre_build_get(m->b, r), vyre_build_get(m->b, lo)};
}

static ref sin_reduced(const mathb *m, quadrant a, ref z) {
  return add(m, a.r, fma3(m, mul(m, a.r, z), math_poly(m, &SIN, z), a.lo));
}

// 1 - z/2 is rounded, and its error taken along with the smaller terms.
static ref cos_reduced(const mathb *m, quadrant a, ref z) {
  ref half = num(m, -0.5), one = num(m, 1);
  ref w = fma3(m, z, half, one);
  ref error = fma3(m, z, half, sub(m, one, w));
  ref y = fma3(m, mul(m, z, z), math_poly(m, &COS, z), error);
  return add(m, w, fma3(m, neg(m, a.r), a.lo, y));
}

static ref is_odd(const mathb *m, ref q) {
  return ne(m, and2(m, q, word(m, 1)), word(m, 0));
}

ref math_build_sin(const mathb *m, ref x) {
  quadrant a = reduce(m, x);
  ref z = mul(m, a.r, a.r);
  ref y = sel(m, is_odd(m, a.q), cos_reduced(m, a, z), sin_reduced(m, a, z));
  y = mul(m, y, sign_factor(m, shl(m, a.q, m->width - 2)));
  return sel(m, eq(m, x, num(m, 0)), x, y); // -0 stays -0
}

ref math_build_cos(const mathb *m, ref x) {
  quadrant a = reduce(m, x);
  ref z = mul(m, a.r, a.r);
  ref y = sel(m, is_odd(m, a.q), sin_reduced(m, a, z), cos_reduced(m, a, z));
  return mul(m, y, sign_factor(m, shl(m, add(m, a.q, word(m, 1)), m->width - 2)));
}

// In odd quadrants tan is -1 / tan(r): one division serves both. There, what the sum t lost is put
// back, since the derivative of -1 / t is its square: the quotient would add its error to t's.
ref math_build_tan(const mathb *m, ref x) {
  quadrant a = reduce(m, x);
  ref z = mul(m, a.r, a.r), zero = num(m, 0);
  ref lo = fma3(m, a.lo, z, a.lo);
  ref tail = fma3(m, mul(m, a.r, z), math_poly(m, &TAN, z), lo);
  ref t = add(m, a.r, tail);
  ref lost = sub(m, tail, sub(m, t, a.r));
  ref odd = is_odd(m, a.q);
  ref y = quo(m, sel(m, odd, num(m, -1), t), sel(m, odd, t, num(m, 1)));
  y = fma3(m, mul(m, y, y), sel(m, odd, lost, zero), y);
  return sel(m, eq(m, x, zero), x, y);
}
