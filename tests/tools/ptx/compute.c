// SPDX-License-Identifier: MIT
//
// What instructions compute, one function per group of the ISA's chapters.
#include "module.h"

#include <math.h>
#include <string.h>

__extension__ typedef __int128 wide_signed;
__extension__ typedef unsigned __int128 wide_unsigned;

// ---- numbers ------------------------------------------------------------------------------------

static uint64_t cut(unsigned bits, uint64_t x) {
  return bits < 64 ? x & ((UINT64_C(1) << bits) - 1) : x;
}

uint64_t ptx_extend(ptx_type type, uint64_t bits) {
  uint64_t x = cut(type.bits, bits);
  if (type.kind != KIND_S || type.bits == 64) return x;
  uint64_t sign = UINT64_C(1) << (type.bits - 1);
  return (x ^ sign) - sign;
}

static int64_t as_signed(ptx_type type, uint64_t bits) {
  return (int64_t)ptx_extend((ptx_type){KIND_S, type.bits}, bits);
}

static float as_f32(uint64_t bits) {
  uint32_t word = (uint32_t)bits;
  float x;
  memcpy(&x, &word, 4);
  return x;
}

static double as_f64(uint64_t bits) {
  double x;
  memcpy(&x, &bits, 8);
  return x;
}

// Results that are NaN have bits of their own on these devices.
static uint64_t of_f32(float x) {
  uint32_t word;
  memcpy(&word, &x, 4);
  return isnan(x) ? 0x7fffffff : word;
}

static uint64_t of_f64(double x) {
  uint64_t word;
  memcpy(&word, &x, 8);
  return isnan(x) ? UINT64_C(0xfff8000000000000) : word;
}

// IEEE binary16, by its fields: exact in double.
static double of_half(uint64_t bits) {
  unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                : exponent == 0 ? ldexp(fraction, -24)
                                : ldexp(1024 + fraction, (int)exponent - 25);
  return bits & 0x8000 ? -size : size;
}

// Rounded to nearest even, by scaling to the spacing of what is near.
static uint64_t to_half(double x) {
  uint64_t sign = signbit(x) ? 0x8000 : 0;
  double size = fabs(x);
  int exponent;
  if (isnan(x)) return 0x7fff;
  if (size >= 65520) return sign | 0x7c00;
  frexp(size, &exponent); // size < 2^exponent
  int step = exponent - 11 < -24 ? -24 : exponent - 11;
  double rounded = ldexp(nearbyint(ldexp(size, -step)), step);
  if (rounded < 0x1p-14) return sign | (uint64_t)ldexp(rounded, 24);
  frexp(rounded, &exponent);
  return sign |
         ((uint64_t)(exponent + 14) << 10 | ((uint64_t)ldexp(rounded, 11 - exponent) & 1023));
}

// ---- integers -----------------------------------------------------------------------------------

static uint64_t high_half(ptx_type t, uint64_t x, uint64_t y) {
  if (t.kind == KIND_S) {
    wide_signed all = (wide_signed)as_signed(t, x) * as_signed(t, y);
    return (uint64_t)(all >> t.bits);
  }
  wide_unsigned all = (wide_unsigned)cut(t.bits, x) * cut(t.bits, y);
  return (uint64_t)(all >> t.bits);
}

// Wide products are of the whole numbers, extended.
static uint64_t multiply(const ptx_inst *in, uint64_t x, uint64_t y) {
  if (in->mode == MODE_HI) return high_half(in->from, x, y);
  return ptx_extend(in->from, x) * ptx_extend(in->from, y);
}

// A borrow is a carry, too: x - y is x + ~y + 1, and the flag is what is borrowed.
uint64_t ptx_carry(const ptx_inst *in, uint64_t x, uint64_t y, uint64_t *carry) {
  unsigned bits = in->type.bits;
  bool is_sub = in->op == PTX_sub || in->op == PTX_subc;
  uint64_t in_flag = in->op == PTX_addc || in->op == PTX_subc ? *carry : 0;
  wide_unsigned a = cut(bits, x), b = (wide_unsigned)cut(bits, y) + in_flag;
  if (in->sets_carry) *carry = is_sub ? a < b : (uint64_t)((a + b) >> bits);
  return (uint64_t)(is_sub ? a - b : a + b);
}

static bool divide(const ptx_inst *in, uint64_t x, uint64_t y, uint64_t *out, const char **why) {
  ptx_type t = in->type;
  bool is_div = in->op == PTX_div;
  if (!cut(t.bits, y)) {
    *why = "a division by zero, which has no value";
    return false;
  }
  if (t.kind == KIND_U) {
    x = cut(t.bits, x), y = cut(t.bits, y);
    *out = is_div ? x / y : x % y;
    return true;
  }
  int64_t a = as_signed(t, x), b = as_signed(t, y);
  if (b == -1) { // the smallest has no negative
    *out = is_div ? 0 - (uint64_t)a : 0;
    return true;
  }
  *out = (uint64_t)(is_div ? a / b : a % b);
  return true;
}

static uint64_t smaller(ptx_type t, bool is_min, uint64_t x, uint64_t y) {
  bool is_less =
      t.kind == KIND_S ? as_signed(t, x) < as_signed(t, y) : cut(t.bits, x) < cut(t.bits, y);
  return is_less == is_min ? x : y;
}

// A count that is too large is the width.
static uint64_t shift(const ptx_inst *in, uint64_t x, uint64_t count) {
  ptx_type t = in->type;
  count = (uint32_t)count;
  if (in->op == PTX_shl) return count >= t.bits ? 0 : x << count;
  if (t.kind == KIND_S)
    return (uint64_t)(as_signed(t, x) >> (count >= t.bits ? t.bits - 1u : count));
  return count >= t.bits ? 0 : cut(t.bits, x) >> count;
}

// {hi, lo} moved by the count, modulo 32 or at most 32.
static uint64_t funnel(const ptx_inst *in, uint64_t lo, uint64_t hi, uint64_t count) {
  uint64_t both = cut(32, hi) << 32 | cut(32, lo);
  count = (uint32_t)count;
  count = in->is_clamped ? (count > 32 ? 32 : count) : count & 31;
  return in->is_left ? (both << count) >> 32 : both >> count;
}

static uint64_t permute(uint64_t a, uint64_t b, uint64_t selector) {
  uint64_t bytes = cut(32, b) << 32 | cut(32, a), out = 0;
  for (int i = 0; i < 4; i++) {
    unsigned which = selector >> 4 * i & 15;
    uint64_t byte = bytes >> 8 * (which & 7) & 255;
    if (which & 8) byte = byte & 128 ? 255 : 0;
    out |= byte << 8 * i;
  }
  return out;
}

static uint64_t extract(ptx_type t, uint64_t x, uint64_t from, uint64_t length) {
  unsigned msb = t.bits - 1, position = from & 255, count = length & 255;
  x = cut(t.bits, x);
  bool is_unsigned = t.kind == KIND_U || count == 0;
  unsigned last = position + count - 1 < msb ? position + count - 1 : msb;
  uint64_t fill = is_unsigned ? 0 : x >> last & 1, out = 0;
  for (unsigned i = 0; i <= msb; i++) {
    uint64_t bit = i < count && position + i <= msb ? x >> (position + i) & 1 : fill;
    out |= bit << i;
  }
  return out;
}

static uint64_t insert(ptx_type t, uint64_t x, uint64_t into, uint64_t from, uint64_t length) {
  unsigned position = from & 255, count = length & 255;
  for (unsigned i = 0; i < count && position + i < t.bits; i++) {
    uint64_t mask = UINT64_C(1) << (position + i);
    into = (into & ~mask) | ((x >> i & 1) << (position + i));
  }
  return into;
}

static uint64_t count_zeros(ptx_type t, uint64_t x) {
  x = cut(t.bits, x);
  return x ? (uint64_t)__builtin_clzll(x) - (64u - t.bits) : t.bits;
}

static uint64_t find_bit(ptx_type t, uint64_t x) {
  if (t.kind == KIND_S && as_signed(t, x) < 0) x = ~x;
  x = cut(t.bits, x);
  return x ? 63u - (uint64_t)__builtin_clzll(x) : UINT64_C(0xffffffff);
}

static uint64_t reverse(ptx_type t, uint64_t x) {
  uint64_t out = 0;
  for (unsigned i = 0; i < t.bits; i++) out |= (x >> i & 1) << (t.bits - 1 - i);
  return out;
}

// ---- floats -------------------------------------------------------------------------------------

// One that is NaN gives the other; of two zeros the negative one is the smaller.
static double least(double x, double y, bool is_min) {
  if (isnan(x)) return y;
  if (isnan(y)) return x;
  if (x == y) return (signbit(x) != 0) == is_min ? x : y;
  return (x < y) == is_min ? x : y;
}

static bool f32_value(const ptx_inst *in, const uint64_t *a, uint64_t *out) {
  float x = as_f32(a[0]), y = as_f32(a[1]), z = as_f32(a[2]);
  switch ((ptx_op)in->op) {
  case PTX_add: *out = of_f32(x + y); return true;
  case PTX_sub: *out = of_f32(x - y); return true;
  case PTX_mul: *out = of_f32(x * y); return true;
  case PTX_div: *out = of_f32(x / y); return true;
  case PTX_rcp: *out = of_f32(1.0f / x); return true;
  case PTX_sqrt: *out = of_f32(sqrtf(x)); return true;
  case PTX_mad:
  case PTX_fma: *out = of_f32(fmaf(x, y, z)); return true;
  case PTX_min: *out = of_f32((float)least((double)x, (double)y, true)); return true;
  case PTX_max: *out = of_f32((float)least((double)x, (double)y, false)); return true;
  case PTX_neg: *out = a[0] ^ 0x80000000; return true;
  case PTX_abs: *out = a[0] & 0x7fffffff; return true;
  case PTX_copysign: *out = (a[0] & 0x80000000) | (a[1] & 0x7fffffff); return true;
  default: return false;
  }
}

static bool f64_value(const ptx_inst *in, const uint64_t *a, uint64_t *out) {
  const uint64_t sign = UINT64_C(1) << 63;
  double x = as_f64(a[0]), y = as_f64(a[1]), z = as_f64(a[2]);
  switch ((ptx_op)in->op) {
  case PTX_add: *out = of_f64(x + y); return true;
  case PTX_sub: *out = of_f64(x - y); return true;
  case PTX_mul: *out = of_f64(x * y); return true;
  case PTX_div: *out = of_f64(x / y); return true;
  case PTX_rcp: *out = of_f64(1.0 / x); return true;
  case PTX_sqrt: *out = of_f64(sqrt(x)); return true;
  case PTX_mad:
  case PTX_fma: *out = of_f64(fma(x, y, z)); return true;
  case PTX_min: *out = of_f64(least(x, y, true)); return true;
  case PTX_max: *out = of_f64(least(x, y, false)); return true;
  case PTX_neg: *out = a[0] ^ sign; return true;
  case PTX_abs: *out = a[0] & ~sign; return true;
  case PTX_copysign: *out = (a[0] & sign) | (a[1] & ~sign); return true;
  default: return false;
  }
}

// ---- comparison ---------------------------------------------------------------------------------

static double float_of(ptx_type t, uint64_t x) {
  return t.bits == 16 ? of_half(x) : t.bits == 32 ? (double)as_f32(x) : as_f64(x);
}

static bool compare_floats(ptx_compare how, double x, double y) {
  bool is_unordered = isnan(x) || isnan(y);
  switch (how) {
  case CMP_EQ: return x == y;
  case CMP_NE: return !is_unordered && x != y;
  case CMP_LT: return x < y;
  case CMP_LE: return x <= y;
  case CMP_GT: return x > y;
  case CMP_GE: return x >= y;
  case CMP_EQU: return is_unordered || x == y;
  case CMP_NEU: return is_unordered || x != y;
  case CMP_LTU: return is_unordered || x < y;
  case CMP_LEU: return is_unordered || x <= y;
  case CMP_GTU: return is_unordered || x > y;
  case CMP_GEU: return is_unordered || x >= y;
  case CMP_NUM: return !is_unordered;
  case CMP_NAN: return is_unordered;
  case CMP_NONE: break;
  }
  return false;
}

static bool compare_ints(ptx_type t, ptx_compare how, uint64_t x, uint64_t y) {
  x = cut(t.bits, x), y = cut(t.bits, y);
  bool is_less = t.kind == KIND_S ? as_signed(t, x) < as_signed(t, y) : x < y;
  switch (how) {
  case CMP_EQ: return x == y;
  case CMP_NE: return x != y;
  case CMP_LT: return is_less;
  case CMP_LE: return is_less || x == y;
  case CMP_GT: return !is_less && x != y;
  case CMP_GE: return !is_less;
  default: return false; // the reader lets no other through
  }
}

static bool compare(const ptx_inst *in, const uint64_t *a) {
  ptx_type t = in->from;
  ptx_compare how = (ptx_compare)in->compare;
  if (t.kind != KIND_F) return compare_ints(t, how, a[0], a[1]);
  return compare_floats(how, float_of(t, a[0]), float_of(t, a[1]));
}

// ---- conversion ---------------------------------------------------------------------------------

static double to_whole(ptx_round how, double x) {
  switch (how) {
  case ROUND_RNI: return nearbyint(x);
  case ROUND_RZI: return trunc(x);
  case ROUND_RMI: return floor(x);
  case ROUND_RPI: return ceil(x);
  default: return x;
  }
}

// What is outside of the type is the nearest in it. NaN is 0 where both have up to 32 bits, and the
// upper bit alone otherwise.
static uint64_t to_integer(const ptx_inst *in, double x) {
  ptx_type t = in->type;
  double whole = to_whole((ptx_round)in->round, x);
  bool is_signed = t.kind == KIND_S;
  if (isnan(x)) return t.bits == 64 || in->from.bits == 64 ? UINT64_C(1) << (t.bits - 1) : 0;
  double end = ldexp(1, t.bits - is_signed), first = is_signed ? -end : 0;
  uint64_t most = UINT64_MAX >> (64 - t.bits) >> is_signed;
  if (whole >= end) return most;
  if (whole <= first) return is_signed ? ~most : 0;
  return whole < 0 ? (uint64_t)(int64_t)whole : (uint64_t)whole;
}

static uint64_t from_integer(const ptx_inst *in, uint64_t x) {
  bool is_signed = in->from.kind == KIND_S;
  uint64_t wide = ptx_extend(in->from, x);
  if (in->type.bits == 32) return of_f32(is_signed ? (float)(int64_t)wide : (float)wide);
  return of_f64(is_signed ? (double)(int64_t)wide : (double)wide);
}

static bool convert(const ptx_inst *in, uint64_t x, uint64_t *out, const char **why) {
  ptx_type to = in->type, from = in->from;
  if (to.kind != KIND_F && from.kind != KIND_F) {
    *out = ptx_extend(from, x);
  } else if (to.kind != KIND_F) {
    *out = to_integer(in, float_of(from, x));
  } else if (from.kind != KIND_F) {
    if (to.bits == 16) {
      *why = "a conversion of an integer to f16 is not known here";
      return false;
    }
    *out = from_integer(in, x);
  } else {
    double value = to_whole((ptx_round)in->round, float_of(from, x));
    *out = to.bits == 16 ? to_half(value) : to.bits == 32 ? of_f32((float)value) : of_f64(value);
  }
  return true;
}

// ---- all ----------------------------------------------------------------------------------------

static bool int_value(const ptx_inst *in, const uint64_t *a, uint64_t *out, const char **why) {
  ptx_type t = in->type;
  switch ((ptx_op)in->op) {
  case PTX_add: *out = a[0] + a[1]; return true;
  case PTX_sub: *out = a[0] - a[1]; return true;
  case PTX_mul: *out = multiply(in, a[0], a[1]); return true;
  case PTX_mad: *out = multiply(in, a[0], a[1]) + a[2]; return true;
  case PTX_div:
  case PTX_rem: return divide(in, a[0], a[1], out, why);
  case PTX_neg: *out = 0 - a[0]; return true;
  case PTX_abs: *out = as_signed(t, a[0]) < 0 ? 0 - a[0] : a[0]; return true;
  case PTX_min:
  case PTX_max: *out = smaller(t, in->op == PTX_min, a[0], a[1]); return true;
  case PTX_and: *out = a[0] & a[1]; return true;
  case PTX_or: *out = a[0] | a[1]; return true;
  case PTX_xor: *out = a[0] ^ a[1]; return true;
  case PTX_not: *out = ~a[0]; return true;
  case PTX_shl:
  case PTX_shr: *out = shift(in, a[0], a[1]); return true;
  case PTX_shf: *out = funnel(in, a[0], a[1], a[2]); return true;
  case PTX_prmt: *out = permute(a[0], a[1], a[2]); return true;
  case PTX_bfe: *out = extract(t, a[0], a[1], a[2]); return true;
  case PTX_bfi: *out = insert(t, a[0], a[1], a[2], a[3]); return true;
  case PTX_popc: *out = (uint64_t)__builtin_popcountll(cut(in->from.bits, a[0])); return true;
  case PTX_clz: *out = count_zeros(in->from, a[0]); return true;
  case PTX_bfind: *out = find_bit(in->from, a[0]); return true;
  case PTX_brev: *out = reverse(t, a[0]); return true;
  default: return false;
  }
}

bool ptx_compute(const ptx_inst *in, const uint64_t args[MOST_OPERANDS], uint64_t *out,
                 const char **why) {
  bool ok;
  *why = "it has no value for this type";
  switch ((ptx_op)in->op) {
  case PTX_setp: *out = compare(in, args); return true;
  case PTX_selp: *out = args[2] & 1 ? args[0] : args[1]; return true;
  case PTX_cvt: ok = convert(in, args[0], out, why); break;
  default:
    ok = in->type.kind != KIND_F ? int_value(in, args, out, why)
         : in->type.bits == 32   ? f32_value(in, args, out)
         : in->type.bits == 64   ? f64_value(in, args, out)
                                 : false;
    break;
  }
  return ok;
}

uint64_t ptx_combine(const ptx_inst *in, uint64_t old, uint64_t x, uint64_t y) {
  ptx_type t = in->type;
  switch ((ptx_atomic)in->atomic) {
  case ATOMIC_ADD: return old + x;
  case ATOMIC_MIN: return smaller(t, true, old, x);
  case ATOMIC_MAX: return smaller(t, false, old, x);
  case ATOMIC_AND: return old & x;
  case ATOMIC_OR: return old | x;
  case ATOMIC_XOR: return old ^ x;
  case ATOMIC_EXCH: return x;
  case ATOMIC_CAS: return cut(t.bits, old) == cut(t.bits, x) ? y : old;
  case ATOMIC_NONE: break;
  }
  return old;
}
