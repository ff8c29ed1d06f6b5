// SPDX-License-Identifier: MIT
//
// fmod, exact. Each round subtracts a multiple q of s = |y| 2^n, with n such that q has at most as
// many bits as a float holds: then q s is subtracted exactly by fma, and a quotient that was
// rounded up to the next integer shows as a negative remainder and is put right. A round removes at
// least 22 (51) bits of the quotient, so there is one round for all but far apart operands, at most
// 13 for f32 and 42 for f64.
#include "ir/math_build.h"

// The exponent of |y| as a field that goes on below 1 for subnormal numbers.
static ref exponent_of(const mathb *m, ref a) {
  ref is_tiny = lt(m, a, num(m, m->min_normal));
  ref up = pick(m, 0x1p23, 0x1p52);
  ref field = shr(m, bits_of(m, sel(m, is_tiny, mul(m, a, up), a)), m->mantissa);
  return sub(m, field, sel(m, is_tiny, word(m, m->mantissa), word(m, 0)));
}

static ref as_signed(const mathb *m, ref x) {
  return vyre_build_bitcast(m->b, m->i, x);
}

// One round on remainder r >= a.
static ref round_of(const mathb *m, ref r, ref a, ref exponent) {
  ref field = shr(m, bits_of(m, r), m->mantissa);
  ref n = as_signed(m, sub(m, sub(m, field, exponent), word(m, m->mantissa - 1)));
  n = bits_of(m, at_least(m, vyre_build_const(m->b, m->i, 0), n));
  ref h = shr(m, n, 1);
  ref s = mul(m, mul(m, a, exp2_int(m, h)), exp2_int(m, sub(m, n, h)));
  ref q = un(m, VYRE_OP_TRUNC, quo(m, r, s));
  ref rest = fma3(m, neg(m, q), s, r);
  return sel(m, lt(m, rest, num(m, 0)), add(m, rest, s), rest);
}

ref math_build_fmod(const mathb *m, ref x, ref y) {
  ref ax = mag(m, x), ay = mag(m, y), zero = num(m, 0);
  ref is_valid = and2(m, gt(m, ay, zero), lt(m, ax, infinity(m)));
  ref a = sel(m, is_valid, ay, infinity(m));
  ref exponent = exponent_of(m, a);
  vyre_var r = vyre_build_var(m->b, NULL, sel(m, is_valid, ax, zero));
  vyre_build_while(m->b);
  vyre_build_do(m->b, bin(m, VYRE_OP_GE, vyre_build_get(m->b, r), a));
  vyre_build_set(m->b, r, round_of(m, vyre_build_get(m->b, r), a, exponent));
  vyre_build_end(m->b);
  ref rest = with_sign(m, vyre_build_get(m->b, r), x);
  return sel(m, is_valid, rest, nan_(m));
}
