// SPDX-License-Identifier: MIT
#include "front/clang/half.h"

#include "front/clang/builtin.h"

#include <string.h>

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
}

static ref word(lowering *l, uint64_t bits) {
  return e_const(l, VYRE_U32, bits);
}

// ---- bits ---------------------------------------------------------------------------------------

ref half_to_float(lowering *l, ref bits) {
  ref h = e_convert(l, VYRE_U32, bits);
  ref size = two(l, VYRE_OP_AND, h, e_const(l, VYRE_U32, 0x7fff));
  ref sign = two(l, VYRE_OP_SHL, two(l, VYRE_OP_AND, h, e_const(l, VYRE_U32, 0x8000)),
                 e_const(l, VYRE_U32, 16));
  ref moved = two(l, VYRE_OP_SHL, size, e_const(l, VYRE_U32, 13));
  // The exponent is off by 112; a product with a power of two also handles subnormals.
  ref finite = two(l, VYRE_OP_MUL, e_bits(l, VYRE_F32, moved), e_float(l, VYRE_F32, 0x1p112));
  ref other = two(l, VYRE_OP_OR, moved, e_const(l, VYRE_U32, 0x7f800000));
  ref is_finite = two(l, VYRE_OP_LT, size, e_const(l, VYRE_U32, 0x7c00));
  ref made = e_select(l, is_finite, e_bits(l, VYRE_U32, finite), other);
  return e_bits(l, VYRE_F32, two(l, VYRE_OP_OR, made, sign));
}

// The multiple of the spacing of halves at |x| that the mode picks; all steps but that are exact.
static ref round_to_half(lowering *l, ref size, ref is_negative, char mode) {
  ref exponent =
      two(l, VYRE_OP_AND, e_bits(l, VYRE_U64, size), e_const(l, VYRE_U64, 0x7ff0000000000000u));
  ref power = e_bits(l, VYRE_F64, exponent), least = e_float(l, VYRE_F64, 0x1p-14);
  power = two(l, VYRE_OP_MAX, power, least);
  ref spacing = two(l, VYRE_OP_MUL, power, e_float(l, VYRE_F64, 0x1p-10));
  ref steps = two(l, VYRE_OP_DIV, size, spacing);
  ref down = e_unary(l, VYRE_OP_FLOOR, steps), up = e_unary(l, VYRE_OP_CEIL, steps);
  ref picked = mode == 'z'   ? down
               : mode == 'p' ? e_select(l, is_negative, down, up)
               : mode == 'n' ? e_select(l, is_negative, up, down)
                             : e_unary(l, VYRE_OP_RINT, steps);
  return two(l, VYRE_OP_MUL, picked, spacing);
}

ref half_from(lowering *l, ref x, char mode) {
  ref w = e_convert(l, VYRE_F64, x), size = e_unary(l, VYRE_OP_ABS, w);
  ref is_negative = e_sign_bit(l, w), inf = e_infinity(l, VYRE_F64);
  ref r = round_to_half(l, size, is_negative, mode);
  // Past the largest half a mode that rounds towards zero stays there.
  ref most = e_float(l, VYRE_F64, 65504), is_large = two(l, VYRE_OP_GT, r, most);
  ref stays = mode == 'z'   ? vyre_build_bool(l->b, true)
              : mode == 'p' ? is_negative
              : mode == 'n' ? e_not(l, is_negative)
                            : vyre_build_bool(l->b, false);
  ref past = e_select(l, stays, most, inf);
  r = e_select(l, two(l, VYRE_OP_EQ, size, inf), inf, e_select(l, is_large, past, r));
  ref bits = e_bits(l, VYRE_U64, r);
  ref normal = two(l, VYRE_OP_SUB, two(l, VYRE_OP_SHR, bits, e_const(l, VYRE_U64, 42)),
                   e_const(l, VYRE_U64, (uint64_t)(1023 - 15) << 10));
  ref small = e_convert(l, VYRE_U64, two(l, VYRE_OP_MUL, r, e_float(l, VYRE_F64, 0x1p24)));
  ref is_small = two(l, VYRE_OP_LT, r, e_float(l, VYRE_F64, 0x1p-14));
  ref made = e_select(l, is_small, small, normal);
  made = e_select(l, two(l, VYRE_OP_EQ, r, inf), e_const(l, VYRE_U64, 0x7c00), made);
  made = e_select(l, e_is_nan(l, w), e_const(l, VYRE_U64, 0x7e00), made);
  ref sign = e_select(l, is_negative, e_const(l, VYRE_U64, 0x8000), e_zero(l, VYRE_U64));
  return e_convert(l, VYRE_U16, two(l, VYRE_OP_OR, made, sign));
}

ref half_bits(lowering *l, ref half) {
  ref u = e_bits(l, VYRE_U32, half), size = two(l, VYRE_OP_AND, u, word(l, 0x7fffffff));
  ref a = e_unary(l, VYRE_OP_ABS, half);
  ref normal = two(l, VYRE_OP_SUB, two(l, VYRE_OP_SHR, size, word(l, 13)), word(l, 112 << 10));
  ref small = e_convert(l, VYRE_U32, two(l, VYRE_OP_MUL, a, e_float(l, VYRE_F32, 0x1p24)));
  ref is_small = two(l, VYRE_OP_LT, a, e_float(l, VYRE_F32, 0x1p-14));
  ref made = e_select(l, is_small, small, normal);
  made = e_select(l, two(l, VYRE_OP_EQ, a, e_infinity(l, VYRE_F32)), word(l, 0x7c00), made);
  made = e_select(l, e_is_nan(l, half), word(l, 0x7e00), made);
  ref sign = two(l, VYRE_OP_AND, two(l, VYRE_OP_SHR, u, word(l, 16)), word(l, 0x8000));
  return e_convert(l, VYRE_U16, two(l, VYRE_OP_OR, made, sign));
}

// ---- rounding -----------------------------------------------------------------------------------

// The same as nearest_f32, of a number that is known: it stays one.
static float nearest_known(float x) {
  uint32_t u, sign;
  memcpy(&u, &x, sizeof u);
  sign = u & 0x80000000u;
  u &= 0x7fffffffu;
  if (u >= 0x7f800000u) return x; // infinite or NaN
  float size, made;
  memcpy(&size, &u, sizeof size);
  if (size < 0x1p-14f) {
    volatile float moved = size + 0.75f; // not to be taken apart
    made = moved - 0.75f;
  } else {
    u = (u + 0xfff + (u >> 13 & 1)) & ~0x1fffu;
    memcpy(&made, &u, sizeof made);
    if (made > 65504) made = __builtin_inff();
  }
  memcpy(&u, &made, sizeof u);
  u |= sign;
  memcpy(&made, &u, sizeof made);
  return made;
}

// To 11 bits: by a carry into the bits that stay; below the normal halves, whose spacing is 2^-24,
// by adding a number of that spacing.
static ref nearest_f32(lowering *l, ref x) {
  ref u = e_bits(l, VYRE_U32, x), sign = two(l, VYRE_OP_AND, u, word(l, 0x80000000));
  ref size = two(l, VYRE_OP_AND, u, word(l, 0x7fffffff)), a = e_unary(l, VYRE_OP_ABS, x);
  ref odd = two(l, VYRE_OP_AND, two(l, VYRE_OP_SHR, size, word(l, 13)), word(l, 1));
  ref carried = two(l, VYRE_OP_ADD, two(l, VYRE_OP_ADD, size, word(l, 0xfff)), odd);
  ref kept = two(l, VYRE_OP_AND, carried, word(l, 0xffffe000));
  kept = e_select(l, two(l, VYRE_OP_GT, kept, word(l, 0x477fe000)), word(l, 0x7f800000), kept);
  ref magic = e_float(l, VYRE_F32, 0.75);
  ref small = two(l, VYRE_OP_SUB, two(l, VYRE_OP_ADD, a, magic), magic);
  ref is_small = two(l, VYRE_OP_LT, a, e_float(l, VYRE_F32, 0x1p-14));
  ref made = e_select(l, is_small, e_bits(l, VYRE_U32, small), kept);
  made = e_bits(l, VYRE_F32, two(l, VYRE_OP_OR, made, sign));
  return e_select(l, e_is_nan(l, x), x, made);
}

// An integer that a float does not hold exactly is larger than the largest half.
ref half_nearest(lowering *l, ref x) {
  uint64_t bits;
  if (e_type(l, x) == VYRE_F64) return half_to_float(l, half_from(l, x, 'e'));
  x = e_convert(l, VYRE_F32, x);
  if (!e_is_const(l, x, &bits)) return nearest_f32(l, x);
  uint32_t low = (uint32_t)bits;
  float known;
  memcpy(&known, &low, sizeof known);
  known = nearest_known(known);
  memcpy(&low, &known, sizeof low);
  return e_const(l, VYRE_F32, low);
}

ref half_fit(lowering *l, const ctype *type, ref x) {
  return type->is_half ? half_nearest(l, x) : x;
}

// ---- functions of the format --------------------------------------------------------------------

ref half_is_normal(lowering *l, ref x) {
  ref a = e_unary(l, VYRE_OP_ABS, x);
  return e_and(l, two(l, VYRE_OP_GE, a, e_float(l, VYRE_F32, 0x1p-14)),
               two(l, VYRE_OP_LT, a, e_infinity(l, VYRE_F32)));
}

ref half_bitselect(lowering *l, ref x, ref y, ref mask) {
  ref bits[] = {half_bits(l, x), half_bits(l, y), half_bits(l, mask)};
  return half_to_float(l, each_bitselect(l, bits, 0));
}

// The bits of halves of one sign are in their order.
ref half_nextafter(lowering *l, ref x, ref y) {
  ref bits = half_bits(l, x), zero = e_float(l, VYRE_F32, 0), one = e_const(l, VYRE_U16, 1);
  ref goes_up = two(l, VYRE_OP_EQ, two(l, VYRE_OP_LT, x, y), two(l, VYRE_OP_GT, x, zero));
  ref moved = e_select(l, goes_up, two(l, VYRE_OP_ADD, bits, one), two(l, VYRE_OP_SUB, bits, one));
  ref least = e_select(l, two(l, VYRE_OP_LT, y, zero), e_const(l, VYRE_U16, 0x8001), one);
  ref made = e_select(l, two(l, VYRE_OP_EQ, x, zero), least, moved);
  made = e_select(l, two(l, VYRE_OP_EQ, x, y), y, half_to_float(l, made));
  ref is_nan = e_or(l, e_is_nan(l, x), e_is_nan(l, y));
  return e_select(l, is_nan, e_binary(l, VYRE_OP_ADD, x, y), made);
}
