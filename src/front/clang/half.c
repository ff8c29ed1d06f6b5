// SPDX-License-Identifier: MIT
#include "front/clang/half.h"

#include "front/clang/builtin.h"

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
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
                             : e_select(l, is_negative, up, down);
  return two(l, VYRE_OP_MUL, picked, spacing);
}

// A double holds every integer up to 53 bits, and those above are past the largest half.
ref half_from(lowering *l, ref x, char mode) {
  if (mode == 'e') return e_convert(l, VYRE_F16, x);
  ref w = e_convert(l, VYRE_F64, x), size = e_unary(l, VYRE_OP_ABS, w);
  ref is_negative = e_sign_bit(l, w), inf = e_infinity(l, VYRE_F64);
  ref r = round_to_half(l, size, is_negative, mode);
  // Past the largest half a mode that rounds towards zero stays there.
  ref most = e_float(l, VYRE_F64, 65504), is_large = two(l, VYRE_OP_GT, r, most);
  ref stays = mode == 'z'   ? vyre_build_bool(l->b, true)
              : mode == 'p' ? is_negative
                            : e_not(l, is_negative);
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
  return e_bits(l, VYRE_F16, e_convert(l, VYRE_U16, two(l, VYRE_OP_OR, made, sign)));
}
