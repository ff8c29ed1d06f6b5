// SPDX-License-Identifier: MIT
//
// Logarithms. x = 2^e (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), and log(1 + f) = f + f^2 q(f)
// by a polynomial; what is added last carries nearly all of the rounding.
#include "ir/math_build.h"

// q(f) = -1/2 + f p(f)
static const poly LOG = {
    8,
    19,
    {0x1.555554p-2, -0x1.000226p-2, 0x1.99a01ap-3, -0x1.547292p-3, 0x1.22d966p-3, -0x1.0d81fcp-3,
     0x1.055d24p-3, -0x1.38c7f6p-4},
    {0x1.5555555555533p-2, -0x1.fffffffffef15p-3, 0x1.999999999f7a2p-3, -0x1.555555566b256p-3,
     0x1.24924922a282fp-3, -0x1.ffffff2c01d2ep-4, 0x1.c71c71e094865p-4, -0x1.9999c269b97d5p-4,
     0x1.745d3f0da7b45p-4, -0x1.5550ee8c25413p-4, 0x1.3b0b8a3ce8d92p-4, -0x1.24d74e762db41p-4,
     0x1.11ccf3342be00p-4, -0x1.fba1abb2c67dcp-5, 0x1.d05b058f3b508p-5, -0x1.d120d0458df2bp-5,
     0x1.0a61a1fbdfa9ep-4, -0x1.ea01d2f765529p-5, 0x1.ac6ffd3b34cddp-6}};

// log2(1 + f) = f / ln 2 + f^2 p(f)
static const poly LOG2 = {
    9,
    20,
    {-0x1.71547p-1, 0x1.ec7094p-2, -0x1.715ac8p-2, 0x1.277eeap-2, -0x1.eab176p-3, 0x1.a2e8d8p-3,
     -0x1.877df6p-3, 0x1.7dfd3ap-3, -0x1.c32994p-4},
    {-0x1.71547652b8303p-1, 0x1.ec709dc3a03adp-2, -0x1.71547652b699cp-2, 0x1.2776c50eff39ap-2,
     -0x1.ec709dc5f2029p-3, 0x1.a61762a499459p-3, -0x1.7154758ef0b82p-3, 0x1.484b13d50ac67p-3,
     -0x1.2776e7c4bfc1fp-3, 0x1.0c9aa7bc4d4c7p-3, -0x1.ec6984ce14967p-4, 0x1.c6822a4472debp-4,
     -0x1.a6828a14859c7p-4, 0x1.8b169473e6542p-4, -0x1.6e09d7af8e05ep-4, 0x1.4e6a925eeefdap-4,
     -0x1.4f9128f3d842ap-4, 0x1.81d5a97e72f13p-4, -0x1.62d28d727bdedp-4, 0x1.35320ea7c382ap-5}};

// log10(1 + f) = f / ln 10 + f^2 p(f)
static const poly LOG10 = {
    9,
    20,
    {-0x1.bcb7aap-3, 0x1.287a7p-3, -0x1.bcbf28p-4, 0x1.63d006p-4, -0x1.277014p-4, 0x1.f86b8p-5,
     -0x1.d73fb2p-5, 0x1.cbe4f8p-5, -0x1.0fe338p-5},
    {-0x1.bcb7b1526e514p-3, 0x1.287a7636f432ep-3, -0x1.bcb7b1526c6c6p-4, 0x1.63c627752bb4ap-4,
     -0x1.287a763857b03p-4, 0x1.fc3fa6114c014p-5, -0x1.bcb7b06787f7cp-5, 0x1.8b4df2f42ce68p-5,
     -0x1.63c65128b2ff2p-5, 0x1.436e7c437c068p-5, -0x1.287631af613a7p-5, 0x1.11a4390e7fcd9p-5,
     -0x1.fcc09d5245375p-6, 0x1.dbbb0455a893fp-6, -0x1.b8c0b0fe22fe5p-6, 0x1.92b1db4953947p-6,
     -0x1.9416df7bc60ffp-6, 0x1.d08f4d6990ac8p-6, -0x1.ab2694d91eff3p-6, 0x1.742f7820b623ep-7}};

static ref log_tail(const mathb *m, ref f) {
  return fma3(m, math_poly_chains(m, &LOG, f), f, num(m, -0.5));
}

// The cases outside the positive finite numbers: log of 0 is -inf, of a negative number NaN.
static ref with_special(const mathb *m, ref x, ref y) {
  y = sel(m, lt(m, x, num(m, 0)), nan_(m), y);
  y = sel(m, eq(m, x, num(m, 0)), num(m, -__builtin_inf()), y);
  return sel(m, lt(m, x, infinity(m)), y, x);
}

// e ln 2 + log(1 + f). The nearest f32 to ln 2 happens to be good to 29 bits; f64 needs a second
// part.
static ref natural(const mathb *m, ref e, ref f) {
  ref square = mul(m, f, f), y;
  if (m->t == VYRE_F32)
    y = fma3(m, square, log_tail(m, f), f);
  else
    y = add(m, f, fma3(m, square, log_tail(m, f), mul(m, e, num(m, 0x1.abc9e3b39803fp-56))));
  return fma3(m, e, pick(m, 0x1.62e43p-1, 0x1.62e42fefa39efp-1), y);
}

ref math_build_log(const mathb *m, ref x) {
  split s = math_split(m, x);
  return with_special(m, x, natural(m, s.e, s.f));
}

// Of normal numbers: what is below them, and NaN, is what is left of it without infinity.
ref math_build_fast_log(const mathb *m, ref x) {
  static const poly SHORT = {7,
                             7,
                             {-0x1.00006cp-1, 0x1.5558f4p-2, -0x1.ff696cp-3, 0x1.97b18p-3,
                              -0x1.6121dp-3, 0x1.4b5fe4p-3, -0x1.9d0538p-4},
                             {0}};
  ref low = word(m, 0x3f3504f3), least = num(m, m->min_normal); // sqrt(1/2)
  ref w = sub(m, bits_of(m, bin(m, VYRE_OP_MAX, x, least)), low);
  ref e = bin(m, VYRE_OP_SHR, vyre_build_bitcast(m->b, m->i, w),
              vyre_build_const(m->b, m->i, m->mantissa));
  ref mantissa = and2(m, w, word(m, ((uint64_t)1 << m->mantissa) - 1));
  ref f = sub(m, float_of(m, add(m, mantissa, low)), num(m, 1));
  ref y = fma3(m, mul(m, f, f), math_poly(m, &SHORT, f), f);
  y = fma3(m, vyre_build_convert(m->b, m->t, e), num(m, 0x1.62e43p-1), y);
  return sel(m, bin(m, VYRE_OP_GE, x, least), y, sub(m, x, infinity(m)));
}

// f^2 y + z with what the square loses to rounding: an eighth of an ulp of the result.
static ref add_square_times(const mathb *m, ref f, ref y, ref z) {
  ref square = mul(m, f, f);
  ref lost = fma3(m, f, f, neg(m, square));
  return fma3(m, square, y, fma3(m, lost, y, z));
}

// f / ln 2 is the large term: its constant is split, so that its product is as good as exact.
ref math_build_log2(const mathb *m, ref x) {
  split s = math_split(m, x);
  ref c = pick(m, 0x1.715476p0, 0x1.71547652b82fep0);
  ref c_lo = pick(m, 0x1.4ae0cp-26, 0x1.777d0ffda0d24p-56);
  ref y = add_square_times(m, s.f, math_poly_chains(m, &LOG2, s.f), mul(m, s.f, c_lo));
  return with_special(m, x, add(m, s.e, fma3(m, s.f, c, y)));
}

// e log10(2) is exact in its upper part; what the product f / ln 10 and the sum of both lose is
// kept.
ref math_build_log10(const mathb *m, ref x) {
  split s = math_split(m, x);
  ref c = pick(m, 0x1.bcb7b2p-2, 0x1.bcb7b1526e50ep-2);
  ref c_lo = pick(m, -0x1.5b235ep-27, 0x1.95355baaafad3p-57);
  ref two_hi = pick(m, 0x1.344p-2, 0x1.34413509f8p-2);
  ref two_lo = pick(m, 0x1.3509f8p-18, -0x1.80433b83b532ap-44);
  ref product = mul(m, s.f, c);
  ref rest = fma3(m, s.f, c_lo, fma3(m, s.f, c, neg(m, product)));
  rest = fma3(m, s.e, two_lo, rest);
  rest = add_square_times(m, s.f, math_poly_chains(m, &LOG10, s.f), rest);
  ref large = mul(m, s.e, two_hi);
  ref sum = add(m, large, product);
  ref error = sub(m, product, sub(m, sum, large));
  return with_special(m, x, add(m, sum, add(m, error, rest)));
}

// The exponent is that of 1 + x rounded; f = 2^-e (1 + x) - 1 is then computed from x itself with
// one rounding. 2^-e is made as a quarter of a normal number, because e may pass the largest one.
ref math_build_log1p(const mathb *m, ref x) {
  bool is_f32 = m->t == VYRE_F32;
  uint64_t low = is_f32 ? 0x3f3504f3 : 0x3fe6a09e667f3bcd; // sqrt(1/2)
  uint64_t four = is_f32 ? 0x40800000 : 0x4010000000000000;
  double up = is_f32 ? 0x1p23 : 0x1p52, bias = is_f32 ? 256 : 2048;
  uint64_t up_bits = is_f32 ? 0x4b000000 : 0x4330000000000000;
  uint64_t mask = ~(((uint64_t)1 << m->mantissa) - 1);
  ref u = add(m, x, num(m, 1));
  ref w = sub(m, bits_of(m, u), word(m, low ^ m->sign_bit));
  ref e = float_of(m, or2(m, shr(m, w, m->mantissa), word(m, up_bits)));
  e = sub(m, e, num(m, up + bias));
  ref steps = and2(m, w, word(m, mask)); // e + bias in the exponent field
  ref scale = float_of(m, sub(m, word(m, four ^ m->sign_bit), steps));
  scale = mul(m, scale, num(m, 0.25));
  ref f = fma3(m, x, scale, sub(m, scale, num(m, 1)));
  ref y = natural(m, e, f);
  y = sel(m, lt(m, u, num(m, 0)), nan_(m), y);
  y = sel(m, eq(m, u, num(m, 0)), num(m, -__builtin_inf()), y);
  y = sel(m, lt(m, x, infinity(m)), y, x);
  return sel(m, eq(m, x, num(m, 0)), x, y);
}
