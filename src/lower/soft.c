// SPDX-License-Identifier: MIT
#include "lower/soft.h"

const soft_format *soft_format_of(vyre_type type) {
  static const soft_format formats[] = {
      {VYRE_F32, VYRE_U32, 32, 24, 127, 255, 0x80000000, 0x7f800000},
      {VYRE_F64, VYRE_U64, 64, 53, 1023, 2047, 0x8000000000000000, 0x7ff0000000000000},
  };
  return &formats[type == VYRE_F64];
}

ref soft_word(lowering *l, const soft_format *f, uint64_t bits) {
  return lower_const(l, f->word, bits);
}

ref soft_number(lowering *l, int32_t value) {
  return lower_const(l, VYRE_I32, (uint64_t)(int64_t)value);
}

void soft_repeat(lowering *l, uint32_t count) {
  inst loop = {.op = VYRE_OP_FOR,
               .type = VYRE_U32,
               .arg = {lower_const(l, VYRE_U32, 0), lower_const(l, VYRE_U32, count),
                       lower_const(l, VYRE_U32, 1)}};
  l->origin = 0;
  lower_op(l, &loop);
}

// A subnormal number is moved until its first digit is where that of others is.
soft soft_take(lowering *l, const soft_format *f, ref x) {
  unsigned fraction_bits = f->digits - 1;
  uint64_t hidden = (uint64_t)1 << fraction_bits;
  inst cast = {.op = VYRE_OP_BITCAST, .type = (uint8_t)f->word, .arg = {x}};
  ref zero = soft_word(l, f, 0);
  soft s = {.bits = promise(l, cast), .is_nan = lower_bin(l, VYRE_OP_NE, x, x)};
  ref size = lower_bin(l, VYRE_OP_AND, s.bits, soft_word(l, f, ~f->sign));
  s.sign = lower_bin(l, VYRE_OP_AND, s.bits, soft_word(l, f, f->sign));
  s.is_zero = lower_bin(l, VYRE_OP_EQ, size, zero);
  s.is_infinite = lower_bin(l, VYRE_OP_EQ, size, soft_word(l, f, f->infinity));
  ref fraction = lower_bin(l, VYRE_OP_AND, s.bits, soft_word(l, f, hidden - 1));
  ref field = lower_bin(l, VYRE_OP_SHR, size, soft_word(l, f, fraction_bits));
  ref is_subnormal = lower_bin(l, VYRE_OP_EQ, field, zero);
  ref way = lower_bin(l, VYRE_OP_SUB, lower_un(l, VYRE_OP_CLZ, fraction),
                      soft_word(l, f, f->width - f->digits));
  s.significand = lower_select(l, is_subnormal, lower_bin(l, VYRE_OP_SHL, fraction, way),
                               lower_bin(l, VYRE_OP_OR, fraction, soft_word(l, f, hidden)));
  ref moved = lower_bin(l, VYRE_OP_SUB, soft_number(l, 1), lower_convert(l, VYRE_I32, way));
  s.exponent = lower_select(l, is_subnormal, moved, lower_convert(l, VYRE_I32, field));
  return s;
}

// To the right by 0 to width - 1; the lowest bit says, too, whether a one was lost.
static ref shift_sticky(lowering *l, const soft_format *f, ref x, ref count) {
  ref made = lower_bin(l, VYRE_OP_SHR, x, count);
  ref is_exact = lower_bin(l, VYRE_OP_EQ, lower_bin(l, VYRE_OP_SHL, made, count), x);
  ref lost = lower_select(l, is_exact, soft_word(l, f, 0), soft_word(l, f, 1));
  return lower_bin(l, VYRE_OP_OR, made, lost);
}

// How far a number below the normal ones is moved: all the way it leaves less than a half.
static ref way_down(lowering *l, const soft_format *f, ref exponent, ref is_small) {
  ref way = lower_bin(l, VYRE_OP_SUB, soft_number(l, 1), exponent);
  ref last = soft_number(l, (int32_t)f->width - 1);
  way = lower_select(l, lower_bin(l, VYRE_OP_LT, way, last), way, last);
  return lower_convert(l, f->word, lower_select(l, is_small, way, soft_number(l, 0)));
}

// The significand's first digit is added to the exponent's field, and what rounding carries too.
ref soft_round(lowering *l, const soft_format *f, ref sign, ref exponent, ref x) {
  unsigned extra = f->width - f->digits;
  uint64_t half = (uint64_t)1 << (extra - 1);
  ref is_small = lower_bin(l, VYRE_OP_LE, exponent, soft_number(l, 0));
  x = shift_sticky(l, f, x, way_down(l, f, exponent, is_small));
  ref kept = lower_bin(l, VYRE_OP_SHR, x, soft_word(l, f, extra));
  ref rest = lower_bin(l, VYRE_OP_AND, x, soft_word(l, f, 2 * half - 1));
  ref is_odd = lower_bin(l, VYRE_OP_AND, kept, soft_word(l, f, 1));
  ref is_up =
      lower_bin(l, VYRE_OP_GT, lower_bin(l, VYRE_OP_ADD, rest, is_odd), soft_word(l, f, half));
  ref step = lower_select(l, is_up, soft_word(l, f, 1), soft_word(l, f, 0));
  kept = lower_bin(l, VYRE_OP_ADD, kept, step);
  ref field = lower_bin(l, VYRE_OP_SUB, exponent, soft_number(l, 1));
  field = lower_convert(l, f->word, lower_select(l, is_small, soft_number(l, 0), field));
  field = lower_bin(l, VYRE_OP_SHL, field, soft_word(l, f, f->digits - 1));
  ref is_over = lower_bin(l, VYRE_OP_GE, exponent, soft_number(l, f->top));
  ref made = lower_select(l, is_over, soft_word(l, f, f->infinity),
                          lower_bin(l, VYRE_OP_ADD, field, kept));
  return lower_bin(l, VYRE_OP_OR, made, sign);
}

ref soft_float(lowering *l, const soft_format *f, ref is_nan, ref bits) {
  ref nan = soft_word(l, f, type_canonical_bits(f->type, UINT64_MAX));
  return lower_bitcast(l, f->type, lower_select(l, is_nan, nan, bits));
}
