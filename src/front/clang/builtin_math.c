// SPDX-License-Identifier: MIT
//
// Mathematical functions of OpenCL that are no operation of the IR, made of those that are. What is
// made for float out of several rounded steps is computed in double and rounded once.
#include "front/clang/builtin.h"
#include "front/clang/formula.h"

#include <math.h>

ref each_op(lowering *l, const ref *x, int what) {
  uint32_t count = op_table[what].operand_count;
  return count == 1   ? e_unary(l, (vyre_op)what, x[0])
         : count == 2 ? e_binary(l, (vyre_op)what, x[0], x[1])
                      : e_fma(l, x[0], x[1], x[2]);
}

static ref absolute(lowering *l, ref x) {
  return e_unary(l, VYRE_OP_ABS, x);
}
static ref negate(lowering *l, ref x) {
  return e_unary(l, VYRE_OP_NEG, x);
}
static ref number(lowering *l, ref like, double value) {
  return e_float(l, e_type(l, like), value);
}

ref e_infinity(lowering *l, vyre_type type) {
  return e_float(l, type, HUGE_VAL);
}
static ref e_nan(lowering *l, vyre_type type) {
  return e_const(l, type,
                 type == VYRE_F64   ? 0x7ff8000000000000u
                 : type == VYRE_F16 ? 0x7e00u
                                    : 0x7fc00000u);
}
ref e_is_nan(lowering *l, ref x) {
  return e_binary(l, VYRE_OP_NE, x, x);
}

static ref to_bits(lowering *l, ref x) {
  return e_bits(l, type_unsigned(type_bytes(e_type(l, x))), x);
}
static ref sign_mask(lowering *l, vyre_type word) {
  return e_const(l, word, (uint64_t)1 << (type_bits(word) - 1));
}
ref e_sign_bit(lowering *l, ref x) {
  vyre_type word = type_signed(type_bytes(e_type(l, x)));
  return lt(l, e_bits(l, word, x), e_zero(l, word));
}
static ref e_copysign(lowering *l, ref magnitude, ref sign) {
  ref m = to_bits(l, absolute(l, magnitude)), s = to_bits(l, sign);
  s = e_binary(l, VYRE_OP_AND, s, sign_mask(l, e_type(l, s)));
  return e_bits(l, e_type(l, magnitude), e_binary(l, VYRE_OP_OR, m, s));
}
ref each_copysign(lowering *l, const ref *x, int what) {
  (void)what;
  return e_copysign(l, x[0], x[1]);
}

ref each_mad(lowering *l, const ref *x, int what) {
  (void)what;
  return add(l, mul(l, x[0], x[1]), x[2]);
}
ref each_recip(lowering *l, const ref *x, int what) {
  (void)what;
  return divide(l, number(l, x[0], 1), x[0]);
}
ref each_exp10(lowering *l, const ref *x, int what) {
  (void)what;
  return e_binary(l, VYRE_OP_POW, number(l, x[0], 10), x[0]);
}

// ---- powers -------------------------------------------------------------------------------------

static ref is_equal(lowering *l, ref x, double y) {
  return e_binary(l, VYRE_OP_EQ, x, number(l, x, y));
}

// exp(y log(x)): there is none where that has none, also where pow(x, y) is 1.
ref each_powr(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[0]);
  ref a = absolute(l, x[0]), inf = e_infinity(l, type);
  ref p = e_binary(l, VYRE_OP_POW, a, x[1]);
  ref at_end = e_or(l, is_equal(l, a, 0), e_binary(l, VYRE_OP_EQ, a, inf));
  ref is_open = e_and(l, is_equal(l, x[1], 0), at_end);
  ref is_far = e_binary(l, VYRE_OP_EQ, absolute(l, x[1]), inf);
  is_open = e_or(l, is_open, e_and(l, is_equal(l, a, 1), is_far));
  is_open = e_or(l, is_open, e_or(l, e_is_nan(l, x[0]), e_is_nan(l, x[1])));
  is_open = e_or(l, is_open, lt(l, x[0], number(l, x[0], 0)));
  return e_select(l, is_open, e_nan(l, type), p);
}
// An int can be larger than what a float holds exactly.
ref each_pown(lowering *l, const ref *x, int what) {
  (void)what;
  return e_convert(l, e_type(l, x[0]), e_binary(l, VYRE_OP_POW, wide(l, x[0]), wide(l, x[1])));
}
// a^(1/n). What 1/n loses to rounding changes a double by log(a) times as much, which is put right.
static ref root_of(lowering *l, ref a, ref n) {
  ref one = e_float(l, VYRE_F64, 1), power = divide(l, one, n);
  ref root = e_binary(l, VYRE_OP_POW, a, power);
  ref lost = divide(l, e_fma(l, negate(l, n), power, one), n);
  ref better = e_fma(l, root, mul(l, lost, e_unary(l, VYRE_OP_LOG, a)), root);
  ref is_plain =
      e_and(l, lt(l, e_float(l, VYRE_F64, 0), root), lt(l, root, e_infinity(l, VYRE_F64)));
  return e_select(l, is_plain, better, root);
}
ref each_rootn(lowering *l, const ref *x, int what) {
  (void)what;
  ref root = root_of(l, wide(l, absolute(l, x[0])), wide(l, x[1]));
  root = e_convert(l, e_type(l, x[0]), root);
  ref is_odd = e_true(l, e_binary(l, VYRE_OP_AND, x[1], e_int(l, e_type(l, x[1]), 1)));
  ref nan = e_nan(l, e_type(l, x[0]));
  ref of_negative = e_select(l, lt(l, x[0], number(l, x[0], 0)), nan, root);
  root = e_select(l, is_odd, e_copysign(l, root, x[0]), of_negative);
  ref is_zero = e_binary(l, VYRE_OP_EQ, x[1], e_zero(l, e_type(l, x[1])));
  return e_select(l, is_zero, nan, root);
}

// ---- angles in units of pi ----------------------------------------------------------------------

// sin(pi x) for any x: x is brought to -1/2..1/2 by exact steps first.
static ref sine_of_pi(lowering *l, ref x) {
  ref half = e_float(l, VYRE_F64, 0.5), two = e_float(l, VYRE_F64, 2);
  ref turns = e_unary(l, VYRE_OP_RINT, mul(l, x, half));
  ref r = sub(l, x, mul(l, turns, two)); // -1..1
  ref folded = sub(l, e_copysign(l, e_float(l, VYRE_F64, 1), r), r);
  r = e_select(l, e_binary(l, VYRE_OP_GT, absolute(l, r), half), folded, r);
  ref sine = e_unary(l, VYRE_OP_SIN, mul(l, r, e_float(l, VYRE_F64, 3.14159265358979323846)));
  ref zero = e_float(l, VYRE_F64, 0); // zeros have the sign of x
  return e_select(l, e_binary(l, VYRE_OP_EQ, sine, zero), e_copysign(l, zero, x), sine);
}
// cos(pi x) = sin(pi (1/2 - |r|)), with r = x - 2 rint(x / 2).
static ref cosine_of_pi(lowering *l, ref x) {
  ref half = e_float(l, VYRE_F64, 0.5), two = e_float(l, VYRE_F64, 2);
  ref r = sub(l, x, mul(l, e_unary(l, VYRE_OP_RINT, mul(l, x, half)), two));
  ref turned = sub(l, half, absolute(l, r)); // -1/2..1/2
  return e_unary(l, VYRE_OP_SIN, mul(l, turned, e_float(l, VYRE_F64, 3.14159265358979323846)));
}
ref each_sinpi(lowering *l, const ref *x, int what) {
  (void)what;
  return e_convert(l, e_type(l, x[0]), sine_of_pi(l, wide(l, x[0])));
}
ref each_cospi(lowering *l, const ref *x, int what) {
  (void)what;
  return e_convert(l, e_type(l, x[0]), cosine_of_pi(l, wide(l, x[0])));
}
ref each_tanpi(lowering *l, const ref *x, int what) {
  (void)what;
  ref w = wide(l, x[0]);
  return e_convert(l, e_type(l, x[0]), divide(l, sine_of_pi(l, w), cosine_of_pi(l, w)));
}
ref each_over_pi(lowering *l, const ref *x, int what) {
  ref angle = what == VYRE_OP_ATAN2 ? e_binary(l, VYRE_OP_ATAN2, wide(l, x[0]), wide(l, x[1]))
                                    : e_unary(l, (vyre_op)what, wide(l, x[0]));
  return e_convert(l, e_type(l, x[0]), mul(l, angle, e_float(l, VYRE_F64, 0.31830988618379067154)));
}

// ---- inverse hyperbolic -------------------------------------------------------------------------

// log(x + sqrt(x*x + c)) without overflow and without loss near zero.
ref each_asinh(lowering *l, const ref *x, int what) {
  (void)what;
  ref w = wide(l, x[0]), a = absolute(l, w), one = e_float(l, VYRE_F64, 1), square = mul(l, a, a);
  ref root = e_unary(l, VYRE_OP_SQRT, add(l, square, one));
  ref near = e_unary(l, VYRE_OP_LOG1P, add(l, a, divide(l, square, add(l, one, root))));
  ref far = add(l, e_unary(l, VYRE_OP_LOG, a), e_float(l, VYRE_F64, 0.69314718055994530942));
  ref made = e_select(l, e_binary(l, VYRE_OP_GT, a, e_float(l, VYRE_F64, 0x1p28)), far, near);
  return e_convert(l, e_type(l, x[0]), e_copysign(l, made, w));
}
ref each_acosh(lowering *l, const ref *x, int what) {
  (void)what;
  ref w = wide(l, x[0]), one = e_float(l, VYRE_F64, 1), t = sub(l, w, one);
  ref root = e_unary(l, VYRE_OP_SQRT, mul(l, t, add(l, w, one)));
  ref near = e_unary(l, VYRE_OP_LOG1P, add(l, t, root));
  ref far = add(l, e_unary(l, VYRE_OP_LOG, w), e_float(l, VYRE_F64, 0.69314718055994530942));
  ref made = e_select(l, e_binary(l, VYRE_OP_GT, w, e_float(l, VYRE_F64, 0x1p28)), far, near);
  made = e_select(l, lt(l, w, one), e_nan(l, VYRE_F64), made);
  return e_convert(l, e_type(l, x[0]), made);
}
ref each_atanh(lowering *l, const ref *x, int what) {
  (void)what;
  ref w = wide(l, x[0]), a = absolute(l, w), one = e_float(l, VYRE_F64, 1);
  ref ratio = divide(l, add(l, a, a), sub(l, one, a));
  ref made = mul(l, e_float(l, VYRE_F64, 0.5), e_unary(l, VYRE_OP_LOG1P, ratio));
  return e_convert(l, e_type(l, x[0]), e_copysign(l, made, w));
}

// ---- choice of one of two -----------------------------------------------------------------------

ref each_fdim(lowering *l, const ref *x, int what) {
  (void)what;
  ref over = e_binary(l, VYRE_OP_LE, x[0], x[1]); // false for NaN, whose difference is NaN
  return e_select(l, over, number(l, x[0], 0), sub(l, x[0], x[1]));
}
ref each_fmax(lowering *l, const ref *x, int what) {
  (void)what;
  return e_select(l, e_is_nan(l, x[0]), x[1], e_select(l, lt(l, x[0], x[1]), x[1], x[0]));
}
ref each_fmin(lowering *l, const ref *x, int what) {
  (void)what;
  return e_select(l, e_is_nan(l, x[0]), x[1], e_select(l, lt(l, x[1], x[0]), x[1], x[0]));
}
// The one that is farther from zero, or nearer for minmag; fmax or fmin when both are as far.
ref each_maxmag(lowering *l, const ref *x, int what) {
  ref a = absolute(l, x[0]), b = absolute(l, x[1]);
  ref first = what ? lt(l, a, b) : lt(l, b, a), second = what ? lt(l, b, a) : lt(l, a, b);
  ref equal = what ? each_fmin(l, x, 0) : each_fmax(l, x, 0);
  return e_select(l, first, x[0], e_select(l, second, x[1], equal));
}

// ---- parts of floats ----------------------------------------------------------------------------

// 2^n as a double, for n from -1022 to 1023.
static ref power_of_two(lowering *l, ref n) {
  ref biased = add(l, e_convert(l, VYRE_I64, n), e_int(l, VYRE_I64, 1023));
  return e_bits(l, VYRE_F64, e_binary(l, VYRE_OP_SHL, biased, e_int(l, VYRE_I64, 52)));
}

// Scales in double, where a float cannot overflow or round; for doubles in steps of which only the
// last rounds.
ref each_ldexp(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[0]);
  ref n = e_convert(l, VYRE_I32, x[1]);
  if (type == VYRE_F32) {
    n = e_clamp(l, n, e_int(l, VYRE_I32, -400), e_int(l, VYRE_I32, 400));
    return e_convert(l, type, mul(l, wide(l, x[0]), power_of_two(l, n)));
  }
  n = e_clamp(l, n, e_int(l, VYRE_I32, -2200), e_int(l, VYRE_I32, 2200));
  ref y = x[0];
  for (int i = 0; i < 2; i++) {
    ref up = e_binary(l, VYRE_OP_GT, n, e_int(l, VYRE_I32, 1023));
    ref down = lt(l, n, e_int(l, VYRE_I32, -969));
    ref factor = e_select(l, up, e_float(l, type, 0x1p1023),
                          e_select(l, down, e_float(l, type, 0x1p-969), e_float(l, type, 1)));
    ref moved = e_select(l, up, e_int(l, VYRE_I32, -1023),
                         e_select(l, down, e_int(l, VYRE_I32, 969), e_zero(l, VYRE_I32)));
    y = mul(l, y, factor);
    n = add(l, n, moved);
  }
  n = e_clamp(l, n, e_int(l, VYRE_I32, -1022), e_int(l, VYRE_I32, 1023));
  return mul(l, y, power_of_two(l, n));
}

// Mantissa and exponent: x = m * 2^e, 1/2 <= |m| < 1. Zero, infinity and NaN are themselves, 0.
static ref split(lowering *l, ref x, ref *exponent) {
  vyre_type type = e_type(l, x);
  ref a = absolute(l, x), inf = e_infinity(l, type);
  ref is_plain = e_and(l, lt(l, number(l, x, 0), a), lt(l, a, inf));
  ref w = wide(l, x), scaled = w;
  ref shift = e_zero(l, VYRE_I64);
  if (type == VYRE_F64) { // subnormal doubles are made normal
    ref is_small = lt(l, a, e_float(l, type, 0x1p-1022));
    scaled = e_select(l, is_small, mul(l, w, e_float(l, type, 0x1p54)), w);
    shift = e_select(l, is_small, e_int(l, VYRE_I64, -54), shift);
  }
  ref bits = e_bits(l, VYRE_I64, scaled);
  ref field = e_binary(l, VYRE_OP_AND, e_binary(l, VYRE_OP_SHR, bits, e_int(l, VYRE_I64, 52)),
                       e_int(l, VYRE_I64, 0x7ff));
  ref kept = e_binary(l, VYRE_OP_AND, bits, e_const(l, VYRE_I64, 0x800fffffffffffffu));
  ref mantissa =
      e_bits(l, VYRE_F64, e_binary(l, VYRE_OP_OR, kept, e_const(l, VYRE_I64, 0x3fe0000000000000u)));
  ref e = add(l, sub(l, field, e_int(l, VYRE_I64, 1022)), shift);
  *exponent = e_select(l, is_plain, e_convert(l, VYRE_I32, e), e_zero(l, VYRE_I32));
  return e_select(l, is_plain, e_convert(l, type, mantissa), x);
}

ref each_ilogb(lowering *l, const ref *x, int what) {
  (void)what;
  ref e, a = absolute(l, x[0]);
  split(l, x[0], &e);
  ref made = sub(l, e, e_int(l, VYRE_I32, 1));
  ref is_zero = e_binary(l, VYRE_OP_EQ, a, number(l, a, 0));
  made = e_select(l, is_zero, e_int(l, VYRE_I32, INT32_MIN), made); // FP_ILOGB0
  ref is_finite = lt(l, a, e_infinity(l, e_type(l, a)));
  return e_select(l, is_finite, made, e_int(l, VYRE_I32, 2147483647));
}
ref each_logb(lowering *l, const ref *x, int what) {
  (void)what;
  ref e, a = absolute(l, x[0]);
  split(l, x[0], &e);
  vyre_type type = e_type(l, a);
  ref made = e_convert(l, type, sub(l, e, e_int(l, VYRE_I32, 1)));
  ref is_zero = e_binary(l, VYRE_OP_EQ, a, number(l, a, 0));
  made = e_select(l, is_zero, negate(l, e_infinity(l, type)), made);
  return e_select(l, lt(l, a, e_infinity(l, type)), made, a); // infinity and NaN
}

ref each_nan(lowering *l, const ref *x, int what) {
  (void)what;
  unsigned bits = type_bits(e_type(l, x[0]));
  return e_nan(l, bits == 64 ? VYRE_F64 : bits == 16 ? VYRE_F16 : VYRE_F32);
}

// INFINITY, HUGE_VAL and NAN.
value special_number(lowering *l, node *n, const value *args, int what) {
  (void)args;
  vyre_type type = n->type->scalar;
  return value_scalar(l, what == 'n' ? e_nan(l, type) : e_infinity(l, type));
}

ref each_nextafter(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[0]), word = type_signed(type_bytes(type));
  ref bits = e_bits(l, word, x[0]), zero = number(l, x[0], 0);
  ref away = e_binary(l, VYRE_OP_EQ, lt(l, x[0], x[1]), lt(l, zero, x[0]));
  ref moved = add(l, bits, e_select(l, away, e_int(l, word, 1), e_int(l, word, -1)));
  ref smallest = e_copysign(l, e_const(l, type, 1), x[1]);
  ref made = e_select(l, e_binary(l, VYRE_OP_EQ, x[0], zero), smallest, e_bits(l, type, moved));
  made = e_select(l, e_binary(l, VYRE_OP_EQ, x[0], x[1]), x[1], made);
  ref is_nan = e_or(l, e_is_nan(l, x[0]), e_is_nan(l, x[1]));
  return e_select(l, is_nan, e_nan(l, type), made);
}

// ---- remainders ---------------------------------------------------------------------------------

// |x| reduced to at most |y| / 2 in size, by exact steps; `twice` is below 2 |y|.
static ref nearest_rest(lowering *l, ref twice, ref y) {
  ref half_twice = add(l, twice, twice);
  ref once = e_select(l, e_binary(l, VYRE_OP_GT, half_twice, y), sub(l, twice, y), twice);
  ref again = e_binary(l, VYRE_OP_GE, add(l, once, once), y);
  ref is_reduced = e_binary(l, VYRE_OP_GT, half_twice, y);
  return e_select(l, e_and(l, is_reduced, again), sub(l, once, y), once);
}

static ref remainder_of(lowering *l, ref x, ref y) {
  vyre_type type = e_type(l, x);
  ref ax = absolute(l, x), ay = absolute(l, y), half = number(l, x, 0.5);
  // In halves nothing overflows. What halving loses of a small x does not matter: it is the rest.
  ref is_large =
      e_binary(l, VYRE_OP_GT, ay, e_float(l, type, type == VYRE_F64 ? 0x1p1000 : 0x1p100));
  ref sx = e_select(l, is_large, mul(l, ax, half), ax);
  ref sy = e_select(l, is_large, mul(l, ay, half), ay);
  ref rest = nearest_rest(l, e_binary(l, VYRE_OP_FMOD, sx, add(l, sy, sy)), sy);
  rest = e_select(l, is_large, add(l, rest, rest), rest);
  rest = e_select(l, lt(l, ax, mul(l, ay, number(l, ay, 0.25))), ax, rest);
  ref is_finite = lt(l, ax, e_infinity(l, type));
  ref y_infinite = e_binary(l, VYRE_OP_EQ, ay, e_infinity(l, type));
  rest = e_select(l, e_and(l, is_finite, y_infinite), ax, rest);
  return e_select(l, e_sign_bit(l, x), negate(l, rest), rest);
}

ref each_remainder(lowering *l, const ref *x, int what) {
  (void)what;
  return remainder_of(l, x[0], x[1]);
}

// ---- two results, one through a pointer ---------------------------------------------------------

typedef ref pair_function(lowering *l, ref x, ref *second);

static value with_second(lowering *l, node *n, const value *args, pair_function *f) {
  const ctype *to = args[1].type->element;
  value first = value_new(l, n->type, n->offset), second = value_new(l, to, n->offset);
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    ref other;
    first.at[i].v = f(l, args[0].at[i].v, &other);
    second.at[i].v = e_convert(l, to->scalar, other);
  }
  place at = {.type = to, .at = *args[1].at[0].p};
  store(l, &at, second, n->offset);
  return first;
}

static ref fract_pair(lowering *l, ref x, ref *whole) {
  vyre_type type = e_type(l, x);
  *whole = e_unary(l, VYRE_OP_FLOOR, x);
  ref most = e_float(l, type, type == VYRE_F64 ? 0x1.fffffffffffffp-1 : 0x1.fffffep-1);
  ref rest = sub(l, x, *whole);
  rest = e_select(l, lt(l, most, rest), most, rest);
  ref is_infinite = e_binary(l, VYRE_OP_EQ, absolute(l, x), e_infinity(l, type));
  return e_select(l, is_infinite, e_copysign(l, number(l, x, 0), x), rest);
}
static ref modf_pair(lowering *l, ref x, ref *whole) {
  *whole = e_unary(l, VYRE_OP_TRUNC, x);
  ref is_infinite = e_binary(l, VYRE_OP_EQ, absolute(l, x), e_infinity(l, e_type(l, x)));
  ref rest = e_select(l, is_infinite, number(l, x, 0), sub(l, x, *whole));
  return e_copysign(l, rest, x);
}
static ref sincos_pair(lowering *l, ref x, ref *cosine) {
  *cosine = e_unary(l, VYRE_OP_COS, x);
  return e_unary(l, VYRE_OP_SIN, x);
}
value with_fract(lowering *l, node *n, const value *args, int what) {
  (void)what;
  value v = with_second(l, n, args, fract_pair);
  ref most = e_float(l, VYRE_F32, 0x1.ffcp-1); // the rest would be rounded to 1
  for (uint32_t i = 0; n->type->scalar == VYRE_F16 && i < n->type->leaf_count; i++)
    v.at[i].v = e_select(l, lt(l, most, v.at[i].v), most, v.at[i].v);
  return v;
}
value with_modf(lowering *l, node *n, const value *args, int what) {
  (void)what;
  return with_second(l, n, args, modf_pair);
}
value with_frexp(lowering *l, node *n, const value *args, int what) {
  (void)what;
  return with_second(l, n, args, split);
}
value with_sincos(lowering *l, node *n, const value *args, int what) {
  (void)what;
  return with_second(l, n, args, sincos_pair);
}

// The lower seven bits of the quotient that leaves the remainder.
static ref quotient_of(lowering *l, ref x, ref y, ref rest) {
  vyre_type type = e_type(l, x);
  ref ax = wide(l, absolute(l, x)), ay = wide(l, absolute(l, y));
  ref many = mul(l, ay, e_float(l, VYRE_F64, 128));
  ref left = e_select(l, lt(l, ax, many), ax, e_binary(l, VYRE_OP_FMOD, ax, many));
  ref signed_rest = e_select(l, e_sign_bit(l, x), negate(l, wide(l, rest)), wide(l, rest));
  // Near the end of the range the difference is taken of halves; that loses what rint drops.
  ref half = e_select(l, lt(l, e_float(l, VYRE_F64, 1), ay), e_float(l, VYRE_F64, 0.5),
                      e_float(l, VYRE_F64, 1));
  ref whole = sub(l, mul(l, left, half), mul(l, signed_rest, half));
  ref q = e_unary(l, VYRE_OP_RINT, divide(l, whole, mul(l, ay, half)));
  ref low = e_binary(l, VYRE_OP_AND, e_convert(l, VYRE_I32, q), e_int(l, VYRE_I32, 127));
  ref is_negative = e_binary(l, VYRE_OP_NE, e_sign_bit(l, x), e_sign_bit(l, y));
  ref made = e_select(l, is_negative, negate(l, low), low);
  ref is_valid =
      e_and(l, lt(l, absolute(l, x), e_infinity(l, type)),
            e_not(l, e_or(l, e_is_nan(l, y), e_binary(l, VYRE_OP_EQ, y, number(l, y, 0)))));
  return e_select(l, is_valid, made, e_zero(l, VYRE_I32));
}
value with_remquo(lowering *l, node *n, const value *args, int what) {
  (void)what;
  const ctype *to = args[2].type->element;
  value first = value_new(l, n->type, n->offset), second = value_new(l, to, n->offset);
  for (uint32_t i = 0; i < n->type->leaf_count; i++) {
    ref x = args[0].at[i].v, y = args[1].at[i].v;
    first.at[i].v = remainder_of(l, x, y);
    second.at[i].v = e_convert(l, to->scalar, quotient_of(l, x, y, first.at[i].v));
  }
  place at = {.type = to, .at = *args[2].at[0].p};
  store(l, &at, second, n->offset);
  return first;
}
