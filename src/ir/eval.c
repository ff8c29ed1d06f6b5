// SPDX-License-Identifier: MIT
//
// The semantics table of docs/IR.md in C. Integers are computed in 64 bits and brought back to
// their width by type_canonical_bits; floats in their own type, with contraction off for the whole
// build.
#include "ir/eval.h"

#include "base/half.h"
#include "ir/op_groups.h"

#include <math.h>
#include <string.h>

static float to_f32(uint64_t bits) {
  float f;
  uint32_t low = (uint32_t)bits;
  memcpy(&f, &low, sizeof f);
  return f;
}

static double to_f64(uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static float to_f16(uint64_t bits) {
  return (float)half_read((uint16_t)bits);
}

static uint64_t from_f16(float f) {
  return half_round((double)f);
}

// A sum of products of f16 has at most 53 bits, unless one part is so small that it changes no
// nearest f16: see docs/IR.md. Else what is computed in f32 and rounded again is as rounded once,
// because f32 has twice the digits and two more.
static float fma_f16(float x, float y, float z) {
  return (float)half_read(half_round((double)x * (double)y + (double)z));
}

static uint64_t from_f32(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static uint64_t from_f64(double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

// ---- integers -----------------------------------------------------------------------------------

static uint64_t mulhi(vyre_type t, uint64_t x, uint64_t y) {
  unsigned width = type_bits(t);
  if (width < 64)
    return type_is_signed(t) ? (uint64_t)((int64_t)x * (int64_t)y >> width) : x * y >> width;
  __extension__ typedef unsigned __int128 u128;
  __extension__ typedef __int128 i128;
  return type_is_signed(t) ? (uint64_t)((u128)((i128)(int64_t)x * (int64_t)y) >> 64)
                           : (uint64_t)((u128)x * y >> 64);
}

static uint64_t divide(vyre_type t, uint64_t x, uint64_t y) {
  if (y == 0) return 0;
  if (!type_is_signed(t)) return x / y;
  return y == UINT64_MAX ? 0 - x : (uint64_t)((int64_t)x / (int64_t)y);
}

static uint64_t remainder_of(vyre_type t, uint64_t x, uint64_t y) {
  if (y == 0) return x;
  if (!type_is_signed(t)) return x % y;
  return y == UINT64_MAX ? 0 : (uint64_t)((int64_t)x % (int64_t)y);
}

static uint64_t rotate_left(unsigned width, uint64_t x, unsigned count) {
  uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
  x &= mask;
  return count ? (x << count | x >> (width - count)) & mask : x;
}

static uint64_t eval_int(vyre_op op, vyre_type t, uint64_t x, uint64_t y) {
  unsigned width = type_bits(t), count = (unsigned)y & (width - 1);
  bool is_signed = type_is_signed(t);
  bool less = is_signed ? (int64_t)x < (int64_t)y : x < y;
  uint64_t low = width == 64 ? x : x & (((uint64_t)1 << width) - 1);
  switch (op) {
  case VYRE_OP_ADD: return x + y;
  case VYRE_OP_SUB: return x - y;
  case VYRE_OP_MUL: return x * y;
  case VYRE_OP_DIV: return divide(t, x, y);
  case VYRE_OP_REM: return remainder_of(t, x, y);
  case VYRE_OP_NEG: return 0 - x;
  case VYRE_OP_ABS: return is_signed && (int64_t)x < 0 ? 0 - x : x;
  case VYRE_OP_MIN: return less ? x : y;
  case VYRE_OP_MAX: return less || x == y ? y : x;
  case VYRE_OP_MULHI: return mulhi(t, x, y);
  case VYRE_OP_AND: return x & y;
  case VYRE_OP_OR: return x | y;
  case VYRE_OP_XOR: return x ^ y;
  case VYRE_OP_NOT: return ~x;
  case VYRE_OP_SHL: return x << count;
  case VYRE_OP_SHR: return is_signed ? (uint64_t)((int64_t)x >> count) : x >> count;
  case VYRE_OP_ROTL: return rotate_left(width, x, count);
  case VYRE_OP_ROTR: return rotate_left(width, x, (width - count) & (width - 1));
  case VYRE_OP_POPCOUNT: return (uint64_t)__builtin_popcountll(low);
  case VYRE_OP_CLZ: return low ? (uint64_t)__builtin_clzll(low) - (64 - width) : width;
  case VYRE_OP_CTZ: return low ? (uint64_t)__builtin_ctzll(low) : width;
  case VYRE_OP_EQ: return x == y;
  case VYRE_OP_NE: return x != y;
  case VYRE_OP_LT: return less;
  case VYRE_OP_LE: return less || x == y;
  case VYRE_OP_GT: return !less && x != y;
  case VYRE_OP_GE: return !less;
  // Not of integers, or not pure: the caller does not ask.
  case OPS_EXACT_FLOAT:
  case OPS_TRANSFER:
  case OPS_MATH:
  case OPS_NOT_COMPUTED: return 0;
  }
  return 0;
}

static uint64_t eval_bool(vyre_op op, uint64_t x, uint64_t y) {
  switch (op) {
  case VYRE_OP_AND: return x & y;
  case VYRE_OP_OR: return x | y;
  case VYRE_OP_XOR:
  case VYRE_OP_NE: return x ^ y;
  case VYRE_OP_NOT: return !x;
  case VYRE_OP_EQ: return x == y;
  case OPS_ARITHMETIC:
  case OPS_BIT_COUNTS:
  case VYRE_OP_LT:
  case VYRE_OP_LE:
  case VYRE_OP_GT:
  case VYRE_OP_GE:
  case OPS_EXACT_FLOAT:
  case OPS_TRANSFER:
  case OPS_MATH:
  case OPS_NOT_COMPUTED: return 0;
  }
  return 0;
}

// ---- floats -------------------------------------------------------------------------------------

// Rounding modes are never changed by vyre, so rint is round-half-to-even.
#define EVAL_FLOAT(NAME, T, FROM, SUFFIX, SIGN, A, FMA)                                            \
  static uint64_t NAME(vyre_op op, const uint64_t args[3]) {                                       \
    T x = A(args[0]), y = A(args[1]);                                                              \
    switch (op) {                                                                                  \
    case VYRE_OP_ADD: return FROM(x + y);                                                          \
    case VYRE_OP_SUB: return FROM(x - y);                                                          \
    case VYRE_OP_MUL: return FROM(x * y);                                                          \
    case VYRE_OP_DIV: return FROM(x / y);                                                          \
    case VYRE_OP_NEG: return args[0] ^ SIGN;                                                       \
    case VYRE_OP_ABS: return args[0] & ~SIGN;                                                      \
    case VYRE_OP_MIN: return x < y ? args[0] : args[1];                                            \
    case VYRE_OP_MAX: return x > y ? args[0] : args[1];                                            \
    case VYRE_OP_EQ: return x == y;                                                                \
    case VYRE_OP_NE: return x != y;                                                                \
    case VYRE_OP_LT: return x < y;                                                                 \
    case VYRE_OP_LE: return x <= y;                                                                \
    case VYRE_OP_GT: return x > y;                                                                 \
    case VYRE_OP_GE: return x >= y;                                                                \
    case VYRE_OP_FMA: return FROM(FMA(x, y, A(args[2])));                                          \
    case VYRE_OP_SQRT: return FROM(sqrt##SUFFIX(x));                                               \
    case VYRE_OP_FLOOR: return FROM(floor##SUFFIX(x));                                             \
    case VYRE_OP_CEIL: return FROM(ceil##SUFFIX(x));                                               \
    case VYRE_OP_TRUNC: return FROM(trunc##SUFFIX(x));                                             \
    case VYRE_OP_ROUND: return FROM(round##SUFFIX(x));                                             \
    case VYRE_OP_RINT: return FROM(rint##SUFFIX(x));                                               \
    case VYRE_OP_REM:                                                                              \
    case VYRE_OP_MULHI:                                                                            \
    case OPS_BITWISE:                                                                              \
    case OPS_BIT_COUNTS:                                                                           \
    case OPS_TRANSFER:                                                                             \
    case OPS_MATH:                                                                                 \
    case OPS_NOT_COMPUTED: return 0;                                                               \
    }                                                                                              \
    return 0;                                                                                      \
  }

EVAL_FLOAT(eval_f16, float, from_f16, f, (uint64_t)0x8000u, to_f16, fma_f16)
EVAL_FLOAT(eval_f32, float, from_f32, f, (uint64_t)0x80000000u, to_f32, fmaf)
EVAL_FLOAT(eval_f64, double, from_f64, , (uint64_t)0x8000000000000000u, to_f64, fma)

// ---- conversions --------------------------------------------------------------------------------

// The value is compared with the exact limits of the type, so no undefined conversion is reached.
static uint64_t float_to_int(vyre_type to, double x) {
  if (x != x) return 0;
  unsigned width = type_bits(to);
  double limit = ldexp(1.0, (int)width - (type_is_signed(to) ? 1 : 0));
  uint64_t top = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
  if (!type_is_signed(to)) return x <= -1.0 ? 0 : x >= limit ? top : x < 0 ? 0 : (uint64_t)x;
  if (x >= limit) return top >> 1;
  if (x < -limit) return ~(top >> 1);
  return (uint64_t)(int64_t)x;
}

static uint64_t convert(vyre_type to, vyre_type from, uint64_t x) {
  if (type_is_float(from)) {
    double value = from == VYRE_F16   ? half_read((uint16_t)x)
                   : from == VYRE_F32 ? (double)to_f32(x)
                                      : to_f64(x);
    if (to == VYRE_F16) return from == VYRE_F16 ? x : half_round(value);
    if (to == VYRE_F64) return from_f64(value);
    if (to == VYRE_F32) return from == VYRE_F32 ? x : from_f32((float)value);
    if (to == VYRE_BOOL) return value != 0;
    return float_to_int(to, value);
  }
  // An integer that f64 does not hold is past the largest f16.
  if (to == VYRE_F16) return half_round(type_is_signed(from) ? (double)(int64_t)x : (double)x);
  if (to == VYRE_F32) return from_f32(type_is_signed(from) ? (float)(int64_t)x : (float)x);
  if (to == VYRE_F64) return from_f64(type_is_signed(from) ? (double)(int64_t)x : (double)x);
  return x; // between integers: the caller cuts it to the width
}

static uint64_t bitcast(vyre_type to, vyre_type from, uint64_t x) {
  if (type_is_float(from) && type_is_int(to)) x = type_canonical_bits(from, x);
  if (to == VYRE_F32) return (uint32_t)x;
  if (to == VYRE_F16) return (uint16_t)x;
  return x;
}

// ---- all ----------------------------------------------------------------------------------------

bool eval_can(vyre_op op) {
  return op_is(op, OPF_PURE) && !op_is(op, OPF_MATH) && op < VYRE_OP_PARAM;
}

uint64_t eval_op(vyre_op op, vyre_type result, vyre_type operand, const uint64_t args[3]) {
  uint64_t bits = 0;
  switch (op) {
  case VYRE_OP_SELECT: return args[0] ? args[1] : args[2];
  case VYRE_OP_COPY: return args[0];
  case VYRE_OP_CONVERT: bits = convert(result, operand, args[0]); break;
  case VYRE_OP_BITCAST: bits = bitcast(result, operand, args[0]); break;
  case OPS_IN_ONE_TYPE:
    if (operand == VYRE_F16) return eval_f16(op, args);
    if (operand == VYRE_F32) return eval_f32(op, args);
    if (operand == VYRE_F64) return eval_f64(op, args);
    if (operand == VYRE_BOOL) return eval_bool(op, args[0], args[1]);
    bits = eval_int(op, operand, args[0], args[1]);
    break;
  case OPS_MATH:
  case OPS_NOT_COMPUTED: break; // nobody asks
  }
  return type_is_float(result) ? bits : type_canonical_bits(result, bits);
}

uint64_t eval_trip_count(vyre_type type, uint64_t lo, uint64_t hi, uint64_t step) {
  if (type_is_signed(type) ? (int64_t)lo >= (int64_t)hi : lo >= hi) return 0;
  // The distance of two 64-bit values fits an unsigned 64-bit value, signed or not.
  uint64_t distance = hi - lo;
  return (distance - 1) / step + 1;
}
