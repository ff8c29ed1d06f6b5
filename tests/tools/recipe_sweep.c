// SPDX-License-Identifier: MIT
//
// recipe_sweep: the recipes of src/lower that stand in for exact arithmetic, against what this
// CPU's own instructions give. A program of one operation is lowered for a device that lacks it,
// the result is compiled by the CPU backend, and its answers are compared bit for bit: every f32
// for operations of one argument; all pairs of hard numbers and 10^9 random ones for division, half
// of those with a quotient next to a tie; 10^8 for fma, most of which cancel. Any NaN equals any
// NaN. Prints one row per recipe, with its cost beside the instruction's; ends with status 1 when
// anything differs.
//
// Usage: recipe_sweep [--part N] [--wrong] [NAME ...]: rows whose names begin so, an N-th of each.
// --wrong spoils one answer of each row, to see that it is noticed.
#include "backend/backend.h"
#include "base/clock.h"
#include "base/half.h"
#include "lower/lower.h"
#include "../lower_targets.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 14, MAX_THREADS = 64 };

// The arguments of a chunk and its answers, of any type.
typedef union numbers {
  float f32[CHUNK];
  double f64[CHUNK];
  uint16_t u16[CHUNK];
  uint32_t u32[CHUNK];
  uint64_t u64[CHUNK];
  int8_t i8[CHUNK];
  uint8_t u8[CHUNK];
  int16_t i16[CHUNK];
  int32_t i32[CHUNK];
  int64_t i64[CHUNK];
} numbers;

typedef struct chunk {
  numbers in[3], made, expected;
} chunk;

// ---- what is right ------------------------------------------------------------------------------

#define EXPECT(name, value)                                                                        \
  static void expect_##name(chunk *c) {                                                            \
    for (uint32_t i = 0; i < CHUNK; i++) {                                                         \
      value;                                                                                       \
    }                                                                                              \
  }

EXPECT(sum_f32, c->expected.f32[i] = c->in[0].f32[i] + c->in[1].f32[i])
EXPECT(product_f32, c->expected.f32[i] = c->in[0].f32[i] * c->in[1].f32[i])
EXPECT(sqrt_f32, c->expected.f32[i] = sqrtf(c->in[0].f32[i]))
EXPECT(sqrt_f64, c->expected.f64[i] = sqrt(c->in[0].f64[i]))
EXPECT(div_f32, c->expected.f32[i] = c->in[0].f32[i] / c->in[1].f32[i])
EXPECT(div_f64, c->expected.f64[i] = c->in[0].f64[i] / c->in[1].f64[i])
EXPECT(fma_f32, c->expected.f32[i] = fmaf(c->in[0].f32[i], c->in[1].f32[i], c->in[2].f32[i]))
EXPECT(fma_f64, c->expected.f64[i] = fma(c->in[0].f64[i], c->in[1].f64[i], c->in[2].f64[i]))
EXPECT(floor_f32, c->expected.f32[i] = floorf(c->in[0].f32[i]))
EXPECT(ceil_f32, c->expected.f32[i] = ceilf(c->in[0].f32[i]))
EXPECT(trunc_f32, c->expected.f32[i] = truncf(c->in[0].f32[i]))
EXPECT(round_f32, c->expected.f32[i] = roundf(c->in[0].f32[i]))
EXPECT(rint_f32, c->expected.f32[i] = rintf(c->in[0].f32[i]))
EXPECT(floor_f64, c->expected.f64[i] = floor(c->in[0].f64[i]))
EXPECT(ceil_f64, c->expected.f64[i] = ceil(c->in[0].f64[i]))
EXPECT(trunc_f64, c->expected.f64[i] = trunc(c->in[0].f64[i]))
EXPECT(round_f64, c->expected.f64[i] = round(c->in[0].f64[i]))
EXPECT(rint_f64, c->expected.f64[i] = rint(c->in[0].f64[i]))
EXPECT(f16_f32, c->expected.u16[i] = half_round((double)c->in[0].f32[i]))
EXPECT(f16_f64, c->expected.u16[i] = half_round(c->in[0].f64[i]))
EXPECT(f32_u64, c->expected.f32[i] = (float)c->in[0].u64[i])
EXPECT(f32_i64, c->expected.f32[i] = (float)c->in[0].i64[i])
EXPECT(f64_u64, c->expected.f64[i] = (double)c->in[0].u64[i])
EXPECT(f64_i64, c->expected.f64[i] = (double)c->in[0].i64[i])

// Saturating; NaN gives 0. `end` is one above the largest, and exact in every float type.
#define EXPECT_INTEGER(to, ctype, from, least, end, most)                                          \
  EXPECT(to##_##from, double x = (double)c->in[0].from[i];                                         \
         c->expected.to[i] = x >= (end)    ? (ctype)(most)                                         \
                             : x < (least) ? (ctype)(least)                                        \
                             : x == x      ? (ctype)x                                              \
                                           : (ctype)0)

EXPECT_INTEGER(i8, int8_t, f32, -0x1p7, 0x1p7, INT8_MAX)
EXPECT_INTEGER(u8, uint8_t, f32, 0.0, 0x1p8, UINT8_MAX)
EXPECT_INTEGER(i16, int16_t, f32, -0x1p15, 0x1p15, INT16_MAX)
EXPECT_INTEGER(u16, uint16_t, f32, 0.0, 0x1p16, UINT16_MAX)
EXPECT_INTEGER(i32, int32_t, f32, -0x1p31, 0x1p31, INT32_MAX)
EXPECT_INTEGER(u32, uint32_t, f32, 0.0, 0x1p32, UINT32_MAX)
EXPECT_INTEGER(i64, int64_t, f32, -0x1p63, 0x1p63, INT64_MAX)
EXPECT_INTEGER(u64, uint64_t, f32, 0.0, 0x1p64, UINT64_MAX)
EXPECT_INTEGER(i32, int32_t, f64, -0x1p31, 0x1p31, INT32_MAX)
EXPECT_INTEGER(u64, uint64_t, f64, 0.0, 0x1p64, UINT64_MAX)

// ---- arguments ----------------------------------------------------------------------------------

static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// The n-th random word, of several streams.
static uint64_t word_at(uint64_t n, uint64_t stream) {
  return mixed((n + 1) * UINT64_C(0x9e3779b97f4a7c15) + stream * UINT64_C(0xd1342543de82ef95));
}

static float f32_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static double f64_of(uint64_t bits) {
  double f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static void fill_all(chunk *c, uint64_t first) {
  for (uint32_t i = 0; i < CHUNK; i++) c->in[0].u32[i] = (uint32_t)(first + i);
}

static void fill_words(chunk *c, uint64_t first) {
  for (uint32_t i = 0; i < CHUNK; i++) // of every length
    c->in[0].u64[i] = word_at(first + i, 1) >> (word_at(first + i, 2) & 63);
}

// Hard f32: every exponent with the significands at their ends and in their middle, both signs.
enum { HARD_DIGITS = 8, HARD_F32 = 2 * 256 * HARD_DIGITS };
static const uint32_t hard_digits[HARD_DIGITS] = {0,        1,        2,        0x3fffff,
                                                  0x400000, 0x400001, 0x7ffffe, 0x7fffff};

static uint32_t hard_f32(uint64_t n) {
  return (uint32_t)(n & 1) << 31 | (uint32_t)(n >> 1 & 255) << 23 | hard_digits[n >> 9 & 7];
}

static void fill_pairs(chunk *c, uint64_t first) {
  for (uint32_t i = 0; i < CHUNK; i++) {
    c->in[0].u32[i] = hard_f32((first + i) / HARD_F32);
    c->in[1].u32[i] = hard_f32((first + i) % HARD_F32);
  }
}

// Every other one is the f32 nearest to y times a number of 25 digits whose last is 1: the quotient
// is as near to the middle of two floats as it gets, and exponents where results are subnormal are
// among them.
static void fill_div_f32(chunk *c, uint64_t first) {
  for (uint32_t i = 0; i < CHUNK; i++) {
    uint64_t a = word_at(first + i, 3);
    uint32_t x = (uint32_t)a, y = (uint32_t)(a >> 32);
    if (i % 2) {
      uint64_t b = word_at(first + i, 4);
      double middle = (double)((b & 0xffffff) | 0x1000000) * 2 + 1;
      int exponent = (int)(b >> 24 & 255) - 150;
      float near = (float)(ldexp(middle, exponent) * (double)f32_of(y));
      memcpy(&x, &near, sizeof x);
    }
    c->in[0].u32[i] = x;
    c->in[1].u32[i] = y;
  }
}

static void fill_div_f64(chunk *c, uint64_t first) {
  for (uint32_t i = 0; i < CHUNK; i++) {
    uint64_t x = word_at(first + i, 3), y = word_at(first + i, 4);
    if (i % 2) {
      uint64_t b = word_at(first + i, 5);
      long double middle = (long double)((b >> 11 | (uint64_t)1 << 52) * 2 + 1);
      double near = (double)(ldexpl(middle, (int)(b & 2047) - 1076) * (long double)f64_of(y));
      memcpy(&x, &near, sizeof x);
    }
    c->in[0].u64[i] = x;
    c->in[1].u64[i] = y;
  }
}

// Of four, one is three random numbers, one takes its rounded product away, one adds a number whose
// last digit is next to the end of the product's, one is made of hard numbers.
static void fill_fma_f32(chunk *c, uint64_t first) {
  for (uint32_t i = 0; i < CHUNK; i++) {
    uint64_t a = word_at(first + i, 6), b = word_at(first + i, 7);
    uint32_t x = (uint32_t)a, y = (uint32_t)(a >> 32), z = (uint32_t)b;
    if (i % 4 == 3) x = hard_f32(a), y = hard_f32(a >> 13), z = hard_f32(b);
    if (i % 4 == 1 || i % 4 == 2) {
      x = (x & 0x807fffff) | (uint32_t)(64 + (b >> 32) % 128) << 23;
      y = (y & 0x807fffff) | (uint32_t)(64 + (b >> 40) % 128) << 23;
      float product = f32_of(x) * f32_of(y), third = -product;
      if (i % 4 == 2)
        third = ldexpf(f32_of((z & 0x807fffff) | 0x3f800000),
                       ilogbf(product) + (int)(b >> 56) % 100 - 50);
      memcpy(&z, &third, sizeof z);
      z += (uint32_t)(b >> 48) % 5 - 2;
    }
    c->in[0].u32[i] = x;
    c->in[1].u32[i] = y;
    c->in[2].u32[i] = z;
  }
}

static void fill_fma_f64(chunk *c, uint64_t first) {
  const uint64_t digits = UINT64_C(0x800fffffffffffff);
  for (uint32_t i = 0; i < CHUNK; i++) {
    uint64_t x = word_at(first + i, 6), y = word_at(first + i, 7), z = word_at(first + i, 8);
    uint64_t b = word_at(first + i, 9);
    if (i % 4) {
      x = (x & digits) | (uint64_t)(512 + b % 1024) << 52;
      y = (y & digits) | (uint64_t)(512 + (b >> 16) % 1024) << 52;
      double product = f64_of(x) * f64_of(y), third = -product;
      if (i % 4 == 2)
        third = ldexp(f64_of((z & digits) | (uint64_t)1023 << 52),
                      ilogb(product) + (int)(b >> 32) % 220 - 110);
      if (i % 4 == 3) x = (x & digits) | (uint64_t)(b % 64) << 52; // with subnormal results
      memcpy(&z, &third, sizeof z);
      z += (b >> 48) % 5 - 2;
    }
    c->in[0].u64[i] = x;
    c->in[1].u64[i] = y;
    c->in[2].u64[i] = z;
  }
}

// Any bits, and every other one of a size at which fractions and the ends of integers are.
static void fill_f64(chunk *c, uint64_t first) {
  for (uint32_t i = 0; i < CHUNK; i++) {
    uint64_t x = word_at(first + i, 10);
    if (i % 2) {
      uint64_t kept = (x & 63) < 52 ? ~UINT64_C(0) << (52 - (x & 63)) : ~UINT64_C(0);
      x = (x & UINT64_C(0x800fffffffffffff) & kept) | (uint64_t)(990 + (x >> 6 & 127)) << 52;
    }
    c->in[0].u64[i] = x;
  }
}

// ---- devices ------------------------------------------------------------------------------------

// That divide and take roots, and fuse, as wrongly as they like; with f64, and without.
static lower_target with_f64(void) {
  lower_target t = lower_everything;
  t.rounds_f32_division = t.has_f32_fma = false;
  return t;
}

static lower_target without_f64(void) {
  lower_target t = with_f64();
  t.has_f64 = t.has_i64 = t.has_i64_atomics = false;
  return t;
}

static lower_target inexact_f64(void) {
  lower_target t = lower_everything;
  t.rounds_f64_division = t.has_f64_fma = false;
  return t;
}

static lower_target flushing(void) {
  return lower_lacking(RECIPE_subnormal);
}

static lower_target unrounded(void) {
  return lower_lacking(RECIPE_rounding);
}
static lower_target unsaturated(void) {
  return lower_lacking(RECIPE_conversion);
}
static lower_target everything(void) {
  return lower_everything;
}

static lower_target without_i64(void) {
  lower_target t = lower_lacking(RECIPE_conversion);
  t.has_i64 = t.has_i64_atomics = false;
  return t;
}

// ---- rows ---------------------------------------------------------------------------------------

#define ALL_F32   ((uint64_t)1 << 32)
#define ALL_PAIRS ((uint64_t)HARD_F32 * HARD_F32)

typedef struct row {
  const char *name, *recipe;
  vyre_type from, to;
  const char *value; // of x, y and z
  lower_target (*target)(void);
  void (*fill)(chunk *c, uint64_t first);
  void (*expect)(chunk *c);
  uint64_t points;
} row;

#define ONE(op, type, target, recipe)                                                              \
  {                                                                                                \
#op " " #type, recipe, VYRE_F32, VYRE_F32, #op "(x)", target, fill_all, expect_##op##_##type,  \
        ALL_F32                                                                                    \
  }
#define WIDE(op)                                                                                   \
  {                                                                                                \
#op " f64", "rounding", VYRE_F64, VYRE_F64, #op "(x)", unrounded, fill_f64, expect_##op##_f64, \
        100000000                                                                                  \
  }
#define TO(to, type, target, recipe)                                                               \
  {                                                                                                \
#to " of f32, " recipe, recipe, VYRE_F32, type, #to "(x)", target, fill_all,                   \
        expect_##to##_f32, ALL_F32                                                                 \
  }
#define OF(to, from, from_type, to_type, fill, target, recipe)                                     \
  {                                                                                                \
#to " of " #from ", " recipe, recipe, from_type, to_type, #to "(x)", target, fill,             \
        expect_##to##_##from, 100000000                                                            \
  }

static const row rows[] = {
    {"sum f32, flushed, hard", "subnormal", VYRE_F32, VYRE_F32, "x + y", flushing, fill_pairs,
     expect_sum_f32, ALL_PAIRS},
    {"product f32, flushed, hard", "subnormal", VYRE_F32, VYRE_F32, "x * y", flushing, fill_pairs,
     expect_product_f32, ALL_PAIRS},
    {"product f32, flushed", "subnormal", VYRE_F32, VYRE_F32, "x * y", flushing, fill_div_f32,
     expect_product_f32, 100000000},
    {"sqrt f32, flushed", "subnormal", VYRE_F32, VYRE_F32, "sqrt(x)", flushing, fill_all,
     expect_sqrt_f32, ALL_F32},
    {"sqrt f32, f64", "quotient", VYRE_F32, VYRE_F32, "sqrt(x)", with_f64, fill_all,
     expect_sqrt_f32, ALL_F32},
    {"sqrt f32, integers", "quotient_exact", VYRE_F32, VYRE_F32, "sqrt(x)", without_f64, fill_all,
     expect_sqrt_f32, ALL_F32},
    {"sqrt f64, integers", "quotient_exact", VYRE_F64, VYRE_F64, "sqrt(x)", inexact_f64, fill_f64,
     expect_sqrt_f64, 100000000},
    {"div f32, f64, hard", "quotient", VYRE_F32, VYRE_F32, "x / y", with_f64, fill_pairs,
     expect_div_f32, ALL_PAIRS},
    {"div f32, f64", "quotient", VYRE_F32, VYRE_F32, "x / y", with_f64, fill_div_f32,
     expect_div_f32, 1000000000},
    {"div f32, integers, hard", "quotient_exact", VYRE_F32, VYRE_F32, "x / y", without_f64,
     fill_pairs, expect_div_f32, ALL_PAIRS},
    {"div f32, integers", "quotient_exact", VYRE_F32, VYRE_F32, "x / y", without_f64, fill_div_f32,
     expect_div_f32, 1000000000},
    {"div f64, integers", "quotient_exact", VYRE_F64, VYRE_F64, "x / y", inexact_f64, fill_div_f64,
     expect_div_f64, 100000000},
    {"fma f32, f64", "fused", VYRE_F32, VYRE_F32, "fma(x, y, z)", with_f64, fill_fma_f32,
     expect_fma_f32, 100000000},
    {"fma f32, integers", "fused_exact", VYRE_F32, VYRE_F32, "fma(x, y, z)", without_f64,
     fill_fma_f32, expect_fma_f32, 100000000},
    {"fma f64, integers", "fused_exact", VYRE_F64, VYRE_F64, "fma(x, y, z)", inexact_f64,
     fill_fma_f64, expect_fma_f64, 100000000},
    ONE(floor, f32, unrounded, "rounding"),
    ONE(ceil, f32, unrounded, "rounding"),
    ONE(trunc, f32, unrounded, "rounding"),
    ONE(round, f32, unrounded, "rounding"),
    ONE(rint, f32, unrounded, "rounding"),
    WIDE(floor),
    WIDE(ceil),
    WIDE(trunc),
    WIDE(round),
    WIDE(rint),
    TO(i8, VYRE_I8, unsaturated, "conversion"),
    TO(u8, VYRE_U8, unsaturated, "conversion"),
    TO(i16, VYRE_I16, unsaturated, "conversion"),
    TO(u16, VYRE_U16, unsaturated, "conversion"),
    TO(i32, VYRE_I32, unsaturated, "conversion"),
    TO(u32, VYRE_U32, unsaturated, "conversion"),
    TO(i64, VYRE_I64, unsaturated, "conversion"),
    TO(u64, VYRE_U64, unsaturated, "conversion"),
    TO(i64, VYRE_I64, without_i64, "wide"),
    TO(u64, VYRE_U64, without_i64, "wide"),
    TO(f16, VYRE_F16, everything, "half"),
    OF(i32, f64, VYRE_F64, VYRE_I32, fill_f64, unsaturated, "conversion"),
    OF(u64, f64, VYRE_F64, VYRE_U64, fill_f64, unsaturated, "conversion"),
    OF(f16, f64, VYRE_F64, VYRE_F16, fill_f64, everything, "half"),
    OF(f32, u64, VYRE_U64, VYRE_F32, fill_words, without_i64, "wide"),
    OF(f32, i64, VYRE_I64, VYRE_F32, fill_words, without_i64, "wide"),
    OF(f64, u64, VYRE_U64, VYRE_F64, fill_words, without_i64, "wide"),
    OF(f64, i64, VYRE_I64, VYRE_F64, fill_words, without_i64, "wide"),
};

// ---- running ------------------------------------------------------------------------------------

static void give_up(const char *what, const vyre_error *error) {
  fprintf(stderr, "recipe_sweep: %s: %s\n", what, error->message);
  exit(2);
}

// Without 64-bit integers a buffer of them is one of twice as many words.
static bool is_pair(vyre_type t, const lower_target *target) {
  return !target->has_i64 && (t == VYRE_I64 || t == VYRE_U64);
}

static void write_program(const row *r, char *text, size_t size) {
  lower_target t = r->target();
  bool takes_pairs = is_pair(r->from, &t), gives_pairs = is_pair(r->to, &t);
  const char *from = vyre_type_name(r->from), *to = vyre_type_name(r->to);
  int used =
      snprintf(text, size,
               "program sweep()\nbuffer a: %s[] read\nbuffer b: %s[] read\nbuffer c: %s[] read\n"
               "buffer r: %s[] write\nregion r grid(%d) {\n  let i = global_id.x\n",
               takes_pairs ? "u32" : from, takes_pairs ? "u32" : from, takes_pairs ? "u32" : from,
               gives_pairs ? "u32" : to, CHUNK);
  if (takes_pairs)
    used += snprintf(text + used, size - (size_t)used,
                     "  let x = %s(u64(a[2 * i]) | u64(a[2 * i + 1]) << 32)\n", from);
  else
    used += snprintf(text + used, size - (size_t)used,
                     "  let x = a[i]\n  let y = b[i]\n  let z = c[i]\n");
  used += snprintf(text + used, size - (size_t)used, "  let v = %s\n", r->value);
  snprintf(text + used, size - (size_t)used,
           gives_pairs ? "  let w = u64(v)\n  r[2 * i] = u32(w)\n  r[2 * i + 1] = u32(w >> 32)\n}\n"
                       : "  r[i] = v\n}\n");
}

// The program itself, or what lowering makes of it.
static vyre_executable *compile(const row *r, bool is_lowered) {
  char text[900];
  vyre_program *p, *lowered;
  vyre_error error;
  vyre_executable *e;
  write_program(r, text, sizeof text);
  if (vyre_program_parse(text, strlen(text), "sweep", &p, &error) != VYRE_OK)
    give_up(r->name, &error);
  if (is_lowered) {
    lower_target t = r->target();
    if (lower_program(p, &t, &lowered, &error) != VYRE_OK) give_up(r->name, &error);
    vyre_program_release(p);
    p = lowered;
  }
  // Elsewhere LLVM takes a quotient by way of f64 for one of f32, so that nothing would be tested.
  bool is_quick = is_lowered && !strcmp(r->recipe, "quotient");
  vyre_compile_options options = {.threads = 1,
                                  .tier = is_quick ? VYRE_TIER_QUICK : VYRE_TIER_FULL};
  if (vyre_compile(p, backend_usual()->id, &options, &e, &error) != VYRE_OK)
    give_up(r->name, &error);
  vyre_program_release(p);
  return e;
}

static void run_chunk(const row *r, vyre_executable *e, chunk *c) {
  size_t from = CHUNK * type_bytes(r->from);
  vyre_span spans[] = {{c->in[0].u8, from},
                       {c->in[1].u8, from},
                       {c->in[2].u8, from},
                       {c->made.u8, CHUNK * type_bytes(r->to)}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 4};
  vyre_error error;
  if (vyre_dispatch(e, &args, NULL, &error) != VYRE_OK) give_up(r->name, &error);
}

static uint64_t bits_at(const numbers *n, size_t bytes, uint32_t i) {
  uint64_t bits = 0;
  memcpy(&bits, n->u8 + i * bytes, bytes); // little-endian, as vyre's buffers are
  return bits;
}

static bool is_nan(vyre_type t, uint64_t bits) {
  if (t == VYRE_F16) return (bits & 0x7fff) > 0x7c00;
  if (t == VYRE_F32) return (bits & 0x7fffffff) > 0x7f800000;
  return t == VYRE_F64 && (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

// What the threads of a row share.
typedef struct sweep {
  const row *row;
  uint64_t part; // only every so many chunks
  bool is_spoilt;
  vyre_executable *lowered, *plain;
  atomic_ullong next, wrong;
} sweep;

static void compare(sweep *s, const chunk *c) {
  size_t bytes = type_bytes(s->row->to);
  if (!memcmp(c->made.u8, c->expected.u8, CHUNK * bytes)) return;
  for (uint32_t i = 0; i < CHUNK; i++) {
    uint64_t made = bits_at(&c->made, bytes, i), wanted = bits_at(&c->expected, bytes, i);
    if (made == wanted || (is_nan(s->row->to, made) && is_nan(s->row->to, wanted))) continue;
    if (atomic_fetch_add(&s->wrong, 1) >= 5) continue;
    size_t from = type_bytes(s->row->from);
    fprintf(stderr, "%s: of 0x%llx, 0x%llx, 0x%llx: 0x%llx, not 0x%llx\n", s->row->name,
            (unsigned long long)bits_at(&c->in[0], from, i),
            (unsigned long long)bits_at(&c->in[1], from, i),
            (unsigned long long)bits_at(&c->in[2], from, i), (unsigned long long)made,
            (unsigned long long)wanted);
  }
}

static void *work(void *context) {
  sweep *s = context;
  chunk *c = calloc(1, sizeof *c);
  if (!c) exit(2);
  for (uint64_t n; (n = atomic_fetch_add(&s->next, s->part)) * CHUNK < s->row->points;) {
    s->row->fill(c, n * CHUNK);
    run_chunk(s->row, s->lowered, c);
    s->row->expect(c);
    if (s->is_spoilt && !n) c->made.u8[CHUNK / 2] ^= 1;
    compare(s, c);
    if (n % 64) continue;
    run_chunk(s->row, s->plain, c); // whether this CPU is what it is taken for
    compare(s, c);
  }
  free(c);
  return NULL;
}

// ---- cost ---------------------------------------------------------------------------------------

// From 1 to 2, where nothing is subnormal: those take this CPU far longer than other numbers.
static void fill_plain(const row *r, chunk *c) {
  for (int k = 0; k < 3; k++)
    for (uint32_t i = 0; i < CHUNK; i++) {
      uint64_t word = word_at(i, 20 + (uint64_t)k);
      if (r->from == VYRE_F32)
        c->in[k].f32[i] = 1 + (float)(word >> 40) * 0x1p-24f;
      else if (r->from == VYRE_F64)
        c->in[k].f64[i] = 1 + (double)(word >> 11) * 0x1p-53;
      else
        c->in[k].u64[i] = word;
    }
}

// Nanoseconds of CPU for one answer, in the best of many turns.
static double cost_of(const row *r, vyre_executable *e, chunk *c) {
  uint64_t best = UINT64_MAX;
  for (int turn = 0; turn < 60; turn++) {
    uint64_t start = clock_thread_cpu_ns();
    run_chunk(r, e, c);
    uint64_t taken = clock_thread_cpu_ns() - start;
    if (taken < best) best = taken;
  }
  return (double)best / CHUNK;
}

static bool run_row(const row *r, uint64_t part, bool is_spoilt) {
  sweep s = {.row = r, .part = part, .is_spoilt = is_spoilt};
  pthread_t threads[MAX_THREADS];
  long count = sysconf(_SC_NPROCESSORS_ONLN), made = 0;
  chunk *c = calloc(1, sizeof *c);
  if (!c) exit(2);
  s.lowered = compile(r, true);
  s.plain = compile(r, false);
  if (count > MAX_THREADS) count = MAX_THREADS;
  while (made < count - 1 && !pthread_create(&threads[made], NULL, work, &s)) made++;
  work(&s);
  while (made) pthread_join(threads[--made], NULL);
  fill_plain(r, c);
  double lowered = cost_of(r, s.lowered, c), plain = cost_of(r, s.plain, c);
  uint64_t chunks = ((r->points + CHUNK - 1) / CHUNK + part - 1) / part;
  printf("| %s | `%s` | %llu | %llu | %.2f | %.2f | %.1f |\n", r->name, r->recipe,
         (unsigned long long)chunks * CHUNK, (unsigned long long)atomic_load(&s.wrong), lowered,
         plain, plain > 0 ? lowered / plain : 0);
  fflush(stdout);
  vyre_executable_release(s.lowered);
  vyre_executable_release(s.plain);
  free(c);
  return !atomic_load(&s.wrong);
}

static bool is_wanted(const row *r, int argc, char **argv) {
  for (int i = 0; i < argc; i++)
    if (!strncmp(r->name, argv[i], strlen(argv[i]))) return true;
  return !argc;
}

int main(int argc, char **argv) {
  uint64_t part = 1;
  bool is_right = true, is_spoilt = false;
  for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
    if (!strcmp(argv[1], "--wrong")) {
      is_spoilt = true;
    } else if (!strcmp(argv[1], "--part") && argc > 2 && strtoull(argv[2], NULL, 10)) {
      part = strtoull(argv[2], NULL, 10);
      argc--;
      argv++;
    } else {
      fprintf(stderr, "recipe_sweep: `%s` is not understood\n", argv[1]);
      return 2;
    }
  }
  printf("| operation | recipe | points | wrong | ns, by the recipe | by the CPU | ratio |\n"
         "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (is_wanted(&rows[i], argc - 1, argv + 1)) is_right &= run_row(&rows[i], part, is_spoilt);
  return is_right ? 0 : 1;
}
