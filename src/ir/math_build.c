// SPDX-License-Identifier: MIT
//
// Pieces that several recipes share: polynomials, rounding to an integer, scaling by a power of
// two, taking a number apart.
#include "ir/math_build.h"

// c[first] + c[first + step] x + c[first + 2 step] x^2 + ...
static ref horner(const mathb *m, const double *c, unsigned n, unsigned first, unsigned step,
                  ref x) {
  unsigned i = first + (n - 1 - first) / step * step;
  ref y = num(m, c[i]);
  while (i > first) {
    i -= step;
    y = fma3(m, y, x, num(m, c[i]));
  }
  return y;
}

ref math_poly(const mathb *m, const poly *p, ref x) {
  bool is_f32 = m->t == VYRE_F32;
  return horner(m, is_f32 ? p->c32 : p->c64, is_f32 ? p->n32 : p->n64, 0, 1, x);
}

ref math_poly_chains(const mathb *m, const poly *p, ref x) {
  if (m->t == VYRE_F32) return math_poly(m, p, x);
  ref square = mul(m, x, x), fourth = mul(m, square, square), y[4];
  for (unsigned i = 0; i < 4; i++) y[i] = horner(m, p->c64, p->n64, i, 4, fourth);
  return fma3(m, fma3(m, y[3], x, y[2]), square, fma3(m, y[1], x, y[0]));
}

// Adding 1.5 * 2^mantissa leaves the nearest integer (halves to even) in the low bits, without the
// conversions between floats and integers that are slow on many machines.
rounded math_round(const mathb *m, ref x, ref c) {
  ref magic = num(m, m->magic);
  ref t = c ? fma3(m, x, c, magic) : add(m, x, magic);
  return (rounded){sub(m, t, magic), bits_of(m, t)};
}

// Twice the bias of exponents comes along with the integer, so that its halves are exponent fields
// as they are. It is even: a half is rounded to the same side with it.
rounded math_round_scaled(const mathb *m, ref x, ref c) {
  ref magic = num(m, m->magic + 2 * (double)(m->one_bits >> m->mantissa));
  ref t = c ? fma3(m, x, c, magic) : add(m, x, magic);
  return (rounded){sub(m, t, magic), bits_of(m, t)};
}

// The exponent is applied in two halves: the first product is exact, the second rounds, so a
// subnormal result is rounded once and an overflow gives infinity. The bits of `magic` below the
// exponent are zero in their low part and their half is too, so k can be used as it is.
ref math_scale(const mathb *m, ref p, ref k) {
  ref h = shr(m, k, 1);
  ref first = float_of(m, shl(m, h, m->mantissa));
  ref second = float_of(m, shl(m, sub(m, k, h), m->mantissa));
  return mul(m, mul(m, p, first), second);
}

// Subtracting the bits of the lower bound makes the exponent field floor(log2(x / bound)); the sign
// bit added with it keeps the field positive, and 2^mantissa's bits turn it into a float.
split math_split(const mathb *m, ref x) {
  bool is_f32 = m->t == VYRE_F32;
  double up = is_f32 ? 0x1p23 : 0x1p52, bias = is_f32 ? 256 : 2048;
  uint64_t low = is_f32 ? 0x3f3504f3 : 0x3fe6a09e667f3bcd; // sqrt(1/2)
  uint64_t mask = ((uint64_t)1 << m->mantissa) - 1;
  uint64_t up_bits = is_f32 ? 0x4b000000 : 0x4330000000000000;
  ref is_tiny = lt(m, x, num(m, m->min_normal));
  ref a = sel(m, is_tiny, mul(m, x, num(m, up)), x);
  ref shift = sel(m, is_tiny, num(m, -(up + bias + m->mantissa)), num(m, -(up + bias)));
  ref w = sub(m, bits_of(m, a), word(m, low ^ m->sign_bit));
  ref e = add(m, float_of(m, or2(m, shr(m, w, m->mantissa), word(m, up_bits))), shift);
  ref one_f = float_of(m, add(m, and2(m, w, word(m, mask)), word(m, low)));
  return (split){e, sub(m, one_f, num(m, 1))};
}
