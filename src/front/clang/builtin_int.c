// SPDX-License-Identifier: MIT
//
// Integer functions, and the common ones that work on integers and floats alike.
#include "front/clang/builtin.h"

static ref two(lowering *l, vyre_op op, ref x, ref y) {
  return e_binary(l, op, x, y);
}

static vyre_type unsigned_of(vyre_type type) {
  return type_unsigned(type_bytes(type));
}

static uint64_t most_of(vyre_type type) {
  return UINT64_MAX >> (64 - type_bits(type) + type_is_signed(type));
}

static ref largest(lowering *l, vyre_type type) {
  return e_const(l, type, most_of(type));
}

static ref smallest(lowering *l, vyre_type type) {
  return e_const(l, type, type_is_signed(type) ? ~most_of(type) : 0);
}

ref each_abs(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[0]);
  if (!type_is_signed(type)) return x[0];
  return e_bits(l, unsigned_of(type), e_unary(l, VYRE_OP_ABS, x[0]));
}

ref each_abs_diff(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type word = unsigned_of(e_type(l, x[0]));
  ref a = e_bits(l, word, x[0]), b = e_bits(l, word, x[1]);
  return e_select(l, two(l, VYRE_OP_GT, x[0], x[1]), two(l, VYRE_OP_SUB, a, b),
                  two(l, VYRE_OP_SUB, b, a));
}

// What a sum or difference saturates to when it passed the range on the side of `x`.
static ref saturated(lowering *l, ref x) {
  vyre_type type = e_type(l, x);
  return e_select(l, two(l, VYRE_OP_LT, x, e_zero(l, type)), smallest(l, type), largest(l, type));
}

ref each_add_sat(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[0]);
  ref sum = two(l, VYRE_OP_ADD, x[0], x[1]);
  if (!type_is_signed(type))
    return e_select(l, two(l, VYRE_OP_LT, sum, x[0]), largest(l, type), sum);
  // It passed the range when the sum has another sign than both.
  ref differ = two(l, VYRE_OP_AND, two(l, VYRE_OP_XOR, x[0], sum), two(l, VYRE_OP_XOR, x[1], sum));
  return e_select(l, two(l, VYRE_OP_LT, differ, e_zero(l, type)), saturated(l, x[0]), sum);
}

ref each_sub_sat(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[0]);
  ref rest = two(l, VYRE_OP_SUB, x[0], x[1]);
  if (!type_is_signed(type))
    return e_select(l, two(l, VYRE_OP_LT, x[0], x[1]), e_zero(l, type), rest);
  ref differ =
      two(l, VYRE_OP_AND, two(l, VYRE_OP_XOR, x[0], x[1]), two(l, VYRE_OP_XOR, x[0], rest));
  return e_select(l, two(l, VYRE_OP_LT, differ, e_zero(l, type)), saturated(l, x[0]), rest);
}

// (x + y) / 2 rounded down, or up, without overflow.
ref each_hadd(lowering *l, const ref *x, int what) {
  vyre_type type = e_type(l, x[0]);
  ref half = two(l, VYRE_OP_SHR, two(l, VYRE_OP_XOR, x[0], x[1]), e_int(l, type, 1));
  if (what) return two(l, VYRE_OP_SUB, two(l, VYRE_OP_OR, x[0], x[1]), half);
  return two(l, VYRE_OP_ADD, two(l, VYRE_OP_AND, x[0], x[1]), half);
}

ref each_rotate(lowering *l, const ref *x, int what) {
  (void)what;
  return two(l, VYRE_OP_ROTL, x[0], e_convert(l, e_type(l, x[0]), x[1]));
}

ref each_mad_hi(lowering *l, const ref *x, int what) {
  (void)what;
  return two(l, VYRE_OP_ADD, two(l, VYRE_OP_MULHI, x[0], x[1]), x[2]);
}

// In 64 bits the product of narrower integers plus a third fits.
static ref mad_sat_narrow(lowering *l, const ref *x) {
  vyre_type type = e_type(l, x[0]), wide = type_is_signed(type) ? VYRE_I64 : VYRE_U64;
  ref product = two(l, VYRE_OP_MUL, e_convert(l, wide, x[0]), e_convert(l, wide, x[1]));
  ref sum = two(l, VYRE_OP_ADD, product, e_convert(l, wide, x[2]));
  ref lo = e_convert(l, wide, smallest(l, type)), hi = e_convert(l, wide, largest(l, type));
  return e_convert(l, type, e_clamp(l, sum, lo, hi));
}

// The 128-bit sum of the product and x[2], in two halves.
static ref mad_sat_wide(lowering *l, const ref *x) {
  vyre_type type = e_type(l, x[0]);
  ref low = e_bits(l, VYRE_U64, two(l, VYRE_OP_MUL, x[0], x[1]));
  ref high = two(l, VYRE_OP_MULHI, x[0], x[1]);
  ref sum = two(l, VYRE_OP_ADD, low, e_bits(l, VYRE_U64, x[2]));
  ref carry = e_convert(l, type, two(l, VYRE_OP_LT, sum, low));
  high = two(l, VYRE_OP_ADD, high, carry);
  ref made = e_bits(l, type, sum);
  if (!type_is_signed(type)) return e_select(l, e_true(l, high), largest(l, type), made);
  ref count = e_int(l, type, 63);
  high = two(l, VYRE_OP_ADD, high, two(l, VYRE_OP_SHR, x[2], count)); // sign of the third
  ref fits = two(l, VYRE_OP_EQ, high, two(l, VYRE_OP_SHR, made, count));
  return e_select(l, fits, made, saturated(l, high));
}

ref each_mad_sat(lowering *l, const ref *x, int what) {
  (void)what;
  return type_bits(e_type(l, x[0])) == 64 ? mad_sat_wide(l, x) : mad_sat_narrow(l, x);
}

ref each_upsample(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type half = e_type(l, x[0]);
  unsigned bytes = 2 * type_bytes(half);
  vyre_type word = type_unsigned(bytes);
  ref high = e_convert(l, word, x[0]), low = e_convert(l, word, e_bits(l, unsigned_of(half), x[1]));
  high = two(l, VYRE_OP_SHL, high, e_const(l, word, type_bits(half)));
  ref made = two(l, VYRE_OP_OR, high, low);
  return type_is_signed(half) ? e_bits(l, type_signed(bytes), made) : made;
}

// ---- common functions ---------------------------------------------------------------------------

ref each_min(lowering *l, const ref *x, int what) {
  (void)what;
  return two(l, VYRE_OP_MIN, x[1], x[0]); // y < x ? y : x
}

ref each_max(lowering *l, const ref *x, int what) {
  (void)what;
  return two(l, VYRE_OP_MAX, x[1], x[0]); // x < y ? y : x
}

ref e_clamp(lowering *l, ref x, ref lo, ref hi) {
  return two(l, VYRE_OP_MIN, two(l, VYRE_OP_MAX, x, lo), hi);
}

ref each_clamp(lowering *l, const ref *x, int what) {
  (void)what;
  return two(l, VYRE_OP_MIN, x[2], two(l, VYRE_OP_MAX, x[1], x[0]));
}

ref each_mix(lowering *l, const ref *x, int what) {
  (void)what;
  ref way = two(l, VYRE_OP_MUL, two(l, VYRE_OP_SUB, x[1], x[0]), x[2]);
  return two(l, VYRE_OP_ADD, x[0], way);
}

ref each_step(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[1]);
  return e_select(l, two(l, VYRE_OP_LT, x[1], x[0]), e_zero(l, type), e_int(l, type, 1));
}

ref each_smoothstep(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[2]);
  ref t = two(l, VYRE_OP_DIV, two(l, VYRE_OP_SUB, x[2], x[0]), two(l, VYRE_OP_SUB, x[1], x[0]));
  t = e_clamp(l, t, e_zero(l, type), e_int(l, type, 1));
  ref rest = two(l, VYRE_OP_SUB, e_int(l, type, 3), two(l, VYRE_OP_MUL, e_int(l, type, 2), t));
  return two(l, VYRE_OP_MUL, two(l, VYRE_OP_MUL, t, t), rest);
}

ref each_sign(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[0]);
  ref zero = e_zero(l, type), rest = e_select(l, e_is_nan(l, x[0]), zero, x[0]);
  ref below = e_select(l, two(l, VYRE_OP_LT, x[0], zero), e_int(l, type, -1), rest);
  return e_select(l, two(l, VYRE_OP_GT, x[0], zero), e_int(l, type, 1), below);
}

ref each_degrees(lowering *l, const ref *x, int what) {
  double factor = what ? 0.017453292519943295769 : 57.295779513082320877;
  return two(l, VYRE_OP_MUL, e_float(l, e_type(l, x[0]), factor), x[0]);
}

// ---- bits ---------------------------------------------------------------------------------------

// Exchanges groups of `bits` bits with their neighbours.
static ref exchange(lowering *l, ref x, unsigned bits) {
  vyre_type type = e_type(l, x);
  uint64_t low = 0;
  for (unsigned at = 0; at < type_bits(type); at += 2 * bits)
    low |= ((UINT64_MAX >> (64 - bits)) << at);
  ref mask = e_const(l, type, low), count = e_const(l, type, bits);
  ref up = e_binary(l, VYRE_OP_SHL, e_binary(l, VYRE_OP_AND, x, mask), count);
  ref down = e_binary(l, VYRE_OP_AND, e_binary(l, VYRE_OP_SHR, x, count), mask);
  return e_binary(l, VYRE_OP_OR, up, down);
}

static ref reverse(lowering *l, ref x, unsigned from) {
  vyre_type type = e_type(l, x), word = type_unsigned(type_bytes(type));
  x = e_bits(l, word, x);
  for (unsigned bits = from; bits < type_bits(type); bits *= 2) x = exchange(l, x, bits);
  return e_bits(l, type, x);
}

ref each_bswap(lowering *l, const ref *x, int what) {
  (void)what;
  return reverse(l, x[0], 8);
}

ref each_bit_reverse(lowering *l, const ref *x, int what) {
  (void)what;
  return reverse(l, x[0], 1);
}

// The lowest `count` bits set; of none for 0, of all for the width.
static ref low_bits(lowering *l, vyre_type word, ref count) {
  ref n = e_convert(l, word, count), width = e_const(l, word, type_bits(word));
  ref shift = e_binary(l, VYRE_OP_SUB, width, n);
  ref some = e_binary(l, VYRE_OP_SHR, e_int(l, word, -1), shift); // modulo the width: wrong for 0
  ref is_none = e_binary(l, VYRE_OP_EQ, n, e_zero(l, word));
  return e_select(l, is_none, e_zero(l, word), some);
}

ref each_bitfield_insert(lowering *l, const ref *x, int what) {
  (void)what;
  vyre_type type = e_type(l, x[0]), word = type_unsigned(type_bytes(type));
  ref shift = e_convert(l, word, x[2]);
  ref mask = e_binary(l, VYRE_OP_SHL, low_bits(l, word, x[3]), shift);
  ref kept = e_binary(l, VYRE_OP_AND, e_bits(l, word, x[0]), e_unary(l, VYRE_OP_NOT, mask));
  ref put = e_binary(l, VYRE_OP_SHL, e_bits(l, word, x[1]), shift);
  return e_bits(l, type, e_binary(l, VYRE_OP_OR, kept, e_binary(l, VYRE_OP_AND, put, mask)));
}

ref each_bitfield_extract(lowering *l, const ref *x, int what) {
  unsigned bytes = type_bytes(e_type(l, x[0]));
  vyre_type word = type_unsigned(bytes);
  ref shift = e_convert(l, word, x[1]), mask = low_bits(l, word, x[2]);
  ref made = e_binary(l, VYRE_OP_SHR, e_bits(l, word, x[0]), shift);
  made = e_binary(l, VYRE_OP_AND, made, mask);
  if (!what) return made;
  // (made ^ sign) - sign carries the highest bit of the field up.
  ref sign = e_binary(l, VYRE_OP_SUB, mask, e_binary(l, VYRE_OP_SHR, mask, e_const(l, word, 1)));
  made = e_binary(l, VYRE_OP_SUB, e_binary(l, VYRE_OP_XOR, made, sign), sign);
  return e_bits(l, type_signed(bytes), made);
}

// ---- products of 8-bit integers -----------------------------------------------------------------

static ref dot_lane(lowering *l, const value *v, uint32_t i, bool is_signed, int what,
                    vyre_type to) {
  if (!(what & DOT_PACKED)) return e_convert(l, to, v->at[i].v);
  ref byte = e_binary(l, VYRE_OP_SHR, v->at[0].v, e_const(l, e_type(l, v->at[0].v), 8 * i));
  return e_convert(l, to, e_convert(l, is_signed ? VYRE_I8 : VYRE_U8, byte));
}

value integer_dot(lowering *l, node *n, const value *args, int what) {
  vyre_type type = n->type->scalar;
  uint32_t lanes = what & DOT_PACKED ? 4 : args[0].type->count;
  ref sum = 0;
  for (uint32_t i = 0; i < lanes; i++) {
    ref x = dot_lane(l, &args[0], i, what & DOT_SIGNED_X, what, type);
    ref y = dot_lane(l, &args[1], i, what & DOT_SIGNED_Y, what, type);
    ref product = e_binary(l, VYRE_OP_MUL, x, y);
    sum = sum ? e_binary(l, VYRE_OP_ADD, sum, product) : product;
  }
  if (what & DOT_SATURATES) sum = each_add_sat(l, (ref[]){sum, args[2].at[0].v}, 0);
  return value_scalar(l, sum);
}
