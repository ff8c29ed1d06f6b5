// SPDX-License-Identifier: MIT
//
// Each recipe alone, and all of them together, give the same bits on the reference interpreter as
// the program as it was written, and keep what they promise: the rows of the semantics table, the
// mathematical functions, random programs, and every value of narrow types. And a promise that is
// broken is found. VYRE_TRIALS sets the number of random programs per target.
#include "backend/ref/ref.h"
#include "conform/suite.h"
#include "lower/lower.h"
#include "../lower_targets.h"
#include "../stop_request.h"
#include "../raw_listing.h"
#include "../parsed_program.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TRIALS = 40, HARD_FLOATS = 600, HARD_INTEGERS = 150 };
#else
enum { TRIALS = 300, HARD_FLOATS = 4000, HARD_INTEGERS = 1500 };
#endif

static uint32_t trial_count(void) {
  const char *setting = getenv("VYRE_TRIALS");
  return setting ? (uint32_t)strtoul(setting, NULL, 10) : TRIALS;
}

static vyre_program *lowered(const vyre_program *p, const lower_target *target) {
  vyre_program *out;
  vyre_error error;
  if (lower_program(p, target, &out, &error) != VYRE_OK)
    fail_msg("%s for %s: %s", p->name, target->name, error.message);
  return out;
}

// What a target without 64-bit integers or floats may decline.
static bool is_declined(const vyre_program *p, const lower_target *target) {
  vyre_program *out;
  vyre_error error;
  if (target->has_i64 && target->has_f64) return false;
  vyre_status status = lower_program(p, target, &out, &error);
  if (status == VYRE_OK) vyre_program_release(out);
  return status == VYRE_ERROR_UNSUPPORTED;
}

static uint32_t words_run; // programs that lower_words took

// What lowering for the targets gave so far: the same program need not run again.
typedef struct results {
  uint32_t count;
  uint8_t fingerprints[RECIPE_COUNT + 6][HASH_BYTES];
} results;

static bool is_new(results *r, const vyre_program *p) {
  for (uint32_t i = 0; i < r->count; i++)
    if (!memcmp(r->fingerprints[i], program_fingerprint(p), HASH_BYTES)) return false;
  memcpy(r->fingerprints[r->count++], program_fingerprint(p), HASH_BYTES);
  return true;
}

static void check(const trial *t, const outcome *expected, results *before,
                  const lower_target *target, const char *name, bool is_racy) {
  if (is_declined(t->program, target)) return;
  words_run += !target->has_f64;
  vyre_program *p = lowered(t->program, target);
  if (!is_new(before, p)) {
    vyre_program_release(p);
    return;
  }
  outcome found;
  difference d;
  assert_true(trial_run(t, p, "ref", NULL, (trial_limits){.fuel = 40 * COMPARE_FUEL}, &found));
  compare_outcomes(t, expected, &found, &d);
  bool is_value = !d.is_about_status && !d.is_overrun;
  if (d.verdict == DIFFERENT && !(is_racy && is_value))
    fail_msg("%s for %s: %s", name, target->name, d.text);
  outcome_fini(&found);
  vyre_program_release(p);
}

// Against every target.
static void check_all(const trial *t, const char *name, bool is_racy) {
  outcome expected;
  results before = {0};
  assert_true(trial_run(t, NULL, "ref", NULL, (trial_limits){.fuel = COMPARE_FUEL}, &expected));
  for (unsigned i = 0; i < RECIPE_COUNT; i++) {
    lower_target target = lower_lacking(i);
    check(t, &expected, &before, &target, name, is_racy);
  }
  check(t, &expected, &before, &lower_everything, name, is_racy);
  check(t, &expected, &before, &lower_nothing, name, is_racy);
  lower_target any = lower_converting_any(), words = lower_words();
  check(t, &expected, &before, &any, name, is_racy);
  check(t, &expected, &before, &words, name, is_racy);
  lower_target flushing = lower_flushing(lower_nothing), small = lower_flushing(words);
  check(t, &expected, &before, &flushing, name, is_racy);
  check(t, &expected, &before, &small, name, is_racy);
  outcome_fini(&expected);
}

// ---- the same bits ------------------------------------------------------------------------------

static void test_rows_keep_their_meaning(void **state) {
  (void)state;
  suite s = {.name = "rows"};
  vyre_error error;
  assert_int_equal(suite_add_rows(&s, &error), VYRE_OK);
  assert_int_equal(suite_add_math(&s, 1, 6, &error), VYRE_OK);
  for (size_t i = 0; i < s.cases.count; i++)
    check_all(&s.cases.at[i].trial, s.cases.at[i].name, s.cases.at[i].is_racy);
  suite_fini(&s);
}

static void test_random_programs_keep_their_meaning(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= trial_count(); seed++) {
    trial t;
    char name[40];
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    bool is_narrow = seed % 2; // so that devices with words only take it
    generate_options options = {.seed = seed,
                                .with_math = seed % 8 == 0 || seed % 8 == 3,
                                .without_f64 = is_narrow,
                                .without_i64_atomics = is_narrow};
    assert_int_equal(generate_trial(&options, &t, NULL), VYRE_OK);
    check_all(&t, name, false);
    trial_fini(&t);
  }
  assert_true(words_run >= trial_count() / 2);
}

// A program of one operation over three buffers, with given values.
static void check_triples(const char *operation, const char *type, const char *result,
                          const vyre_span spans[3], uint64_t count, const lower_target *target) {
  char text[400];
  snprintf(text, sizeof text,
           "program p()\nbuffer x: %s[] read\nbuffer y: %s[] read\nbuffer z: %s[] read\n"
           "buffer o: %s[len(x)] write\n"
           "region all grid(len(x)) { let i = global_id.x\n let a = x[i]\n let b = y[i]\n"
           " let c = z[i]\n o[i] = %s }\n",
           type, type, type, result, operation);
  vyre_error error;
  vyre_program *p;
  if (vyre_program_parse(text, strlen(text), "text", &p, &error) != VYRE_OK)
    fail_msg("%s\n%s", error.message, text);
  size_t size = count * vyre_type_size(vyre_type_from_name(result));
  vyre_span all[4] = {spans[0], spans[1], spans[2], {calloc(1, size), size}};
  trial t = {.program = p, .buffers = all, .buffer_count = 4};
  outcome expected;
  assert_true(trial_run(&t, NULL, "ref", NULL, (trial_limits){0}, &expected));
  assert_int_equal(expected.status, VYRE_OK);
  check(&t, &expected, &(results){0}, target, operation, false);
  outcome_fini(&expected);
  free(all[3].data);
  vyre_program_release(p);
}

static void check_pairs(const char *operation, const char *type, const char *result,
                        const vyre_span spans[2], uint64_t count, const lower_target *target) {
  vyre_span all[3] = {spans[0], spans[1], spans[1]};
  check_triples(operation, type, result, all, count, target);
}

static void test_every_pair_of_bytes(void **state) {
  (void)state;
  static const char *const operations[] = {
      "a / b",     "a % b",     "a << b",      "a >> b", "rotl(a, b)", "rotr(a, b)", "mulhi(a, b)",
      "min(a, b)", "max(a, b)", "popcount(a)", "clz(a)", "ctz(a)",     "abs(a)"};
  enum { PAIRS = 1 << 16 };
  uint8_t *x = malloc(PAIRS), *y = malloc(PAIRS);
  for (uint32_t i = 0; i < PAIRS; i++) {
    x[i] = (uint8_t)i;
    y[i] = (uint8_t)(i >> 8);
  }
  vyre_span spans[2] = {{x, PAIRS}, {y, PAIRS}};
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    check_pairs(operations[i], "u8", "u8", spans, PAIRS, &lower_nothing);
    check_pairs(operations[i], "i8", "i8", spans, PAIRS, &lower_nothing);
    lower_target words = lower_words();
    check_pairs(operations[i], "i8", "i8", spans, PAIRS, &words);
  }
  free(x);
  free(y);
}

// Every exponent and sign, with the significands where a fraction begins, ends, or is a half; and
// what lies beside them.
static void test_floats_at_every_exponent(void **state) {
  (void)state;
  static const char *const to_float[] = {"floor(a)", "ceil(a)", "trunc(a)",  "round(a)", "rint(a)",
                                         "a / b",    "sqrt(a)", "min(a, b)", "max(a, b)"};
  // Products that cancel, that end in the middle between two floats, and that vanish in a sum.
  static const char *const fused[] = {"fma(a, b, -(a * b))",
                                      "fma(a, b, a)",
                                      "fma(a, b, b * 3e-9)",
                                      "fma(a, a, b)",
                                      "fma(a, b, 1180591620717411303424.0)",
                                      "fma(a, b, -1180591620717411303424.0)",
                                      "fma(a, b, 1180591902192388014080.0)",
                                      "fma(a, b, -1180591902192388014080.0)"};
  static const char *const to_int[] = {"i8(a)",  "u8(a)",  "i16(a)", "u16(a)",
                                       "i32(a)", "u32(a)", "i64(a)", "u64(a)"};
  enum { COUNT = 512 * 27 };
  uint32_t *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
  double *wide = malloc(COUNT * sizeof *wide);
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t high = i / 27 << 23, k = i % 27;
    uint32_t low = k < 24 ? (uint32_t)((1u << 23) - 1) >> k : k == 24 ? 0x555555 : 1u << (k % 23);
    x[i] = high | low;
    y[i] = x[COUNT - 1 - i] ^ (i * 2654435761u & 0x7fffff);
    float f;
    memcpy(&f, &x[i], sizeof f);
    wide[i] = i % 3 ? (double)f : i % 2 ? (double)f + 0x1p-30 : (double)f * (1 + 0x1p-52);
  }
  // 8384513 * 8392705 is 2^46 + 1: added to 2^70 it is just above the middle between two f32, and
  // f64 does not see the 1.
  for (uint32_t i = 0; i < 4; i++) {
    float factors[2] = {i % 2 ? -8384513.0f : 8384513.0f, i / 2 ? -8392705.0f : 8392705.0f};
    memcpy(&x[i], &factors[0], sizeof x[i]);
    memcpy(&y[i], &factors[1], sizeof y[i]);
  }
  vyre_span narrow[2] = {{x, COUNT * sizeof *x}, {y, COUNT * sizeof *y}};
  vyre_span doubles[2] = {{wide, COUNT * sizeof *wide}, {wide, COUNT * sizeof *wide}};
  for (size_t i = 0; i < sizeof to_float / sizeof *to_float; i++) {
    check_pairs(to_float[i], "f32", "f32", narrow, COUNT, &lower_nothing);
    check_pairs(to_float[i], "f64", "f64", doubles, COUNT, &lower_nothing);
  }
  for (size_t i = 0; i < sizeof to_int / sizeof *to_int; i++) {
    char type[8];
    snprintf(type, sizeof type, "%.*s", (int)strcspn(to_int[i], "("), to_int[i]);
    check_pairs(to_int[i], "f32", type, narrow, COUNT, &lower_nothing);
    check_pairs(to_int[i], "f64", type, doubles, COUNT, &lower_nothing);
    lower_target any = lower_converting_any();
    check_pairs(to_int[i], "f32", type, narrow, COUNT, &any);
    check_pairs(to_int[i], "f64", type, doubles, COUNT, &any);
  }
  for (size_t i = 0; i < sizeof fused / sizeof *fused; i++)
    check_pairs(fused[i], "f32", "f32", narrow, COUNT, &lower_nothing);
  check_pairs("as_u32(a)", "f32", "u32", narrow, COUNT, &lower_nothing);
  check_pairs("as_i64(a)", "f64", "i64", doubles, COUNT, &lower_nothing);
  free(x);
  free(y);
  free(wide);
}

// ---- hard numbers -------------------------------------------------------------------------------

// Significands of few digits, all ones, or a half and a little; exponents at the ends, where a
// product vanishes, overflows or becomes subnormal, and where a sum just sees what is added.
static double hard_number(random_state *r, bool is_f32) {
  static const int wide[] = {-1074, -1073, -1060, -1023, -1022, -1021, -540, -512, -108,
                             -54,   -53,   -2,    -1,    0,     1,     2,    52,   53,
                             54,    107,   511,   512,   540,   970,   1022, 1023};
  static const int narrow[] = {-149, -148, -140, -127, -126, -125, -75, -64, -48, -25, -24, -2, -1,
                               0,    1,    2,    23,   24,   25,   63,  64,  75,  104, 126, 127};
  int digits = is_f32 ? 23 : 52;
  double eps = ldexp(1, -digits), ones = 2 - eps;
  double significands[] = {1,          1 + eps,
                           ones,       1.5,
                           1.5 + eps,  1 + ldexp(1, -digits / 2),
                           ones - eps, 1 + (double)(random_bits(r) >> (64 - digits)) * eps};
  int exponent = is_f32 ? narrow[random_bits(r) % (sizeof narrow / sizeof *narrow)]
                        : wide[random_bits(r) % (sizeof wide / sizeof *wide)];
  if (random_bits(r) % 4 == 0) exponent = (int)(random_bits(r) % 60) - 30;
  uint64_t special = random_bits(r) % 64;
  double x = ldexp(significands[random_bits(r) % 8], exponent);
  if (special < 5)
    x = special == 0 ? 0 : special == 1 ? (double)INFINITY : special == 2 ? (double)NAN : x;
  return random_bits(r) & 1 ? -x : x;
}

// What is added: near the product, a half of its last digit, or anything.
static double hard_third(random_state *r, double x, double y, bool is_f32) {
  static const int apart[] = {0, 0, 0, -24, -25, -53, -54, 24, 25, 53, 54, 1, -1, -106, 106};
  if (random_bits(r) % 3 == 0) return hard_number(r, is_f32);
  double near = ldexp(x * y, apart[random_bits(r) % (sizeof apart / sizeof *apart)]);
  return random_bits(r) % 3 ? -near : near * (random_bits(r) % 2 ? 1 : 1 + 0x1p-23);
}

static void test_hard_floats(void **state) {
  (void)state;
  static const char *const operations[] = {"fma(a, b, c)",
                                           "a / b",
                                           "sqrt(a)",
                                           "c / a",
                                           "sqrt(c)",
                                           "a + c",
                                           "a - c",
                                           "a * b",
                                           "a * c",
                                           "-c",
                                           "abs(c)",
                                           "min(a, c)",
                                           "max(c, b)",
                                           "ceil(c)",
                                           "floor(c)",
                                           "rint(a)",
                                           "select(a < c, a, c)",
                                           "select(a >= c, b, c)",
                                           "select(c == 0.0, a, c)",
                                           "select(c != a, a, b)"};
  enum { COUNT = HARD_FLOATS };
  double *wide[3];
  float *narrow[3];
  vyre_span wides[3], narrows[3];
  random_state r = {1};
  for (int k = 0; k < 3; k++) {
    wide[k] = malloc(COUNT * sizeof **wide);
    narrow[k] = malloc(COUNT * sizeof **narrow);
    wides[k] = (vyre_span){wide[k], COUNT * sizeof **wide};
    narrows[k] = (vyre_span){narrow[k], COUNT * sizeof **narrow};
  }
  for (uint32_t i = 0; i < COUNT; i++) {
    for (int k = 0; k < 2; k++) wide[k][i] = hard_number(&r, false);
    for (int k = 0; k < 2; k++) narrow[k][i] = (float)hard_number(&r, true);
    wide[2][i] = hard_third(&r, wide[0][i], wide[1][i], false);
    narrow[2][i] = (float)hard_third(&r, (double)narrow[0][i], (double)narrow[1][i], true);
  }
  lower_target words = lower_words(), flushing = lower_flushing(lower_nothing);
  lower_target small = lower_flushing(words), alone = lower_lacking(RECIPE_subnormal);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    check_triples(operations[i], "f64", "f64", wides, COUNT, &lower_nothing);
    check_triples(operations[i], "f32", "f32", narrows, COUNT, &lower_nothing);
    check_triples(operations[i], "f32", "f32", narrows, COUNT, &words);
    check_triples(operations[i], "f64", "f64", wides, COUNT, &flushing);
    check_triples(operations[i], "f32", "f32", narrows, COUNT, &flushing);
    check_triples(operations[i], "f32", "f32", narrows, COUNT, &small);
    check_triples(operations[i], "f64", "f64", wides, COUNT, &alone);
    check_triples(operations[i], "f32", "f32", narrows, COUNT, &alone);
  }
  const lower_target *const both[] = {&flushing, &alone};
  for (int k = 0; k < 2; k++) {
    check_triples("f64(c)", "f32", "f64", narrows, COUNT, both[k]);
    check_triples("f32(c)", "f64", "f32", wides, COUNT, both[k]);
    check_triples("f32(c * 0x1p-100)", "f64", "f32", wides, COUNT, both[k]);
    check_triples("f16(c)", "f32", "f16", narrows, COUNT, both[k]);
  }
  for (int k = 0; k < 3; k++) {
    free(wide[k]);
    free(narrow[k]);
  }
}

static uint64_t hard_integer(random_state *r) {
  uint64_t x = random_bits(r) >> (random_bits(r) % 64), one = 1;
  switch (random_bits(r) % 6) {
  case 0: return x & 0xffffffff00000000u;
  case 1: return (one << (random_bits(r) % 64)) - (random_bits(r) % 3);
  case 2: return 0 - x;
  case 3: return ~(one << (random_bits(r) % 64));
  default: return x;
  }
}

static void test_hard_integers(void **state) {
  (void)state;
  static const char *const operations[] = {"a + b",
                                           "a - b",
                                           "a * b",
                                           "a / b",
                                           "a % b",
                                           "mulhi(a, b)",
                                           "min(a, b)",
                                           "max(a, b)",
                                           "a & b",
                                           "a | b",
                                           "a ^ b",
                                           "a << b",
                                           "a >> b",
                                           "rotl(a, b)",
                                           "rotr(a, b)",
                                           "popcount(a)",
                                           "clz(a)",
                                           "ctz(a)",
                                           "abs(a)",
                                           "-a",
                                           "~a",
                                           "select(a < b, a, b)",
                                           "select(a >= b, a, b)"};
  static const char *const others[] = {"u8",  "i8",  "u16", "i16", "u32", "i32",
                                       "u64", "i64", "f32", "f64", "bool"};
  static const char *const types[] = {"u64", "i64"};
  enum { COUNT = HARD_INTEGERS };
  uint64_t *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
  random_state r = {5};
  for (uint32_t i = 0; i < COUNT; i++) {
    x[i] = hard_integer(&r);
    y[i] = i % 16 == 0 ? i / 16 % 70 : hard_integer(&r);
  }
  vyre_span spans[2] = {{x, COUNT * sizeof *x}, {y, COUNT * sizeof *y}};
  lower_target words = lower_words(), alone = lower_lacking(RECIPE_wide);
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
      check_pairs(operations[i], types[k], types[k], spans, COUNT, &words);
      check_pairs(operations[i], types[k], types[k], spans, COUNT, &alone);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
      char there[16], back[40];
      snprintf(there, sizeof there, "%s(a)", others[i]);
      snprintf(back, sizeof back, "%s(%s(a))", types[k], others[i]);
      check_pairs(there, types[k], others[i], spans, COUNT, &alone);
      check_pairs(back, types[k], types[k], spans, COUNT, &alone);
      if (strcmp(others[i], "f64")) check_pairs(there, types[k], others[i], spans, COUNT, &words);
    }
  }
  free(x);
  free(y);
}

// Counters of 64 bits: those that wrap, that run backwards by a sum, that are left and gone on
// with.
static void test_loops_of_wide_counters(void **state) {
  (void)state;
  static const char text[] =
      "program p(n: i64, m: u64)\nbuffer x: i64[] readwrite\nbuffer y: u8[] readwrite\n"
      "buffer z: i16[] write\nbuffer w: bool[] readwrite\n"
      "region r grid(len(x)) workgroup(4) {\n  shared s: i64[4]\n"
      "  shared b: u8[4]\n  let i = global_id.x\n  array a: u64[3]\n  array c: i8[5]\n"
      "  var sum: i64 = x[i64(i)]\n"
      "  for k in 9223372036854775800i64..9223372036854775807 by 3 { sum = sum + k }\n"
      "  for k in n..n + 10 by 3 { if k == n + 3 { continue }\n if k > n + 8 { break }\n sum = sum "
      "^ k }\n"
      "  for k in m..4 { sum = sum + i64(k) }\n"
      "  a[u64(i) % 4] = u64(sum)\n  c[i % 6] = i8(sum)\n"
      "  s[local_id.x] = sum\n  b[local_id.x] = u8(i) * 77\n  barrier\n"
      "  x[i] = s[3 - local_id.x] + i64(a[1]) + i64(c[2]) + i64(b[3 - local_id.x])\n"
      "  y[i] = y[i] + u8(sum)\n  z[i] = i16(sum)\n  w[i] = !w[i]\n}\n";
  vyre_program *p;
  vyre_error error;
  if (vyre_program_parse(text, sizeof text - 1, "text", &p, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  for (uint64_t length = 4; length <= 16; length += 4) {
    trial t;
    if (generate_inputs(p, length, length, &t, &error) != VYRE_OK) fail_msg("%s", error.message);
    check_all(&t, "wide counters", false);
    trial_fini(&t);
  }
  vyre_program_release(p);
}

// ---- what is left -------------------------------------------------------------------------------

static void check_types_left(const char *name, const vyre_program *p, const inst *in,
                             const lower_target *target) {
  bool is_body = in >= p->code + p->regions[0].body.first;
  bool is_memory = op_table[in->op].operands[0] == 'm' && in->op < VYRE_OP_COUNT;
  vyre_type element = in->op == VYRE_OP_STORE ? ref_type(p, in->arg[2]) : (vyre_type)in->type;
  bool is_wide = type_is_int(in->type) && type_bits(in->type) == 64;
  bool is_small = is_memory && type_bytes(element) < 4;
  // What others write into the same word must not be lost.
  bool is_shared_word =
      in->op == OP_STORE_WORD && type_bytes(p->buffers[mem_index(in->arg[0])].type) < 4;
  if (is_shared_word) fail_msg("%s: a whole word is stored for a part of it", name);
  if ((is_wide && is_body && !target->has_i64) || (is_small && !target->has_small_storage) ||
      (is_memory && !in->promised_by && !target->checks_bounds))
    fail_msg("%s: `%s` is left for %s", name, inst_name(in), target->name);
}

// Nothing that a needed recipe takes is left, and every recipe had something to do.
static void test_nothing_is_left_to_lower(void **state) {
  (void)state;
  suite s = {.name = "rows"};
  vyre_error error;
  uint32_t changed[RECIPE_COUNT] = {0};
  assert_int_equal(suite_add_rows(&s, &error), VYRE_OK);
  for (size_t i = 0; i < s.cases.count; i++) {
    const vyre_program *from = s.cases.at[i].trial.program;
    for (unsigned k = 0; k < RECIPE_COUNT; k++) {
      lower_target target = lower_lacking(k);
      if (is_declined(from, &target)) continue;
      vyre_program *p = lowered(from, &target);
      vyre_program *same = lowered(from, &lower_everything);
      lowering l = {.from = p, .target = &target, .b = vyre_builder_new("p")};
      for (uint32_t at = 1; at < p->code_count; at++) {
        const inst *in = &p->code[at];
        bool is_of_values = in->op != VYRE_OP_BITCAST && in->op != VYRE_OP_CONVERT;
        if (k == RECIPE_subnormal) is_of_values = false; // where exponents say so, they are native
        if (k == RECIPE_wide || k == RECIPE_storage || k == RECIPE_bounds) {
          // They look at the types of operands, which are not in a builder here.
          is_of_values = false;
          check_types_left(s.cases.at[i].name, p, in, &target);
        }
        if (is_of_values && recipe_table[k]->takes && recipe_table[k]->takes(&l, in))
          fail_msg("%s: `%s` is left for %s", s.cases.at[i].name, inst_name(in), target.name);
      }
      const vyre_program *without = k == RECIPE_half ? from : same; // which is always needed
      changed[k] += memcmp(program_fingerprint(p), program_fingerprint(without), HASH_BYTES) != 0;
      vyre_builder_free(l.b);
      vyre_program_release(p);
      vyre_program_release(same);
    }
  }
  for (unsigned k = 0; k < RECIPE_COUNT; k++)
    if (!changed[k]) fail_msg("no row needs the recipe `%s`", recipe_table[k]->name);
  suite_fini(&s);
}

static void test_what_no_recipe_helps_is_refused(void **state) {
  (void)state;
  static const char text[] = "program p()\nbuffer x: f64[] readwrite\n"
                             "region r grid(len(x)) { x[global_id.x] = x[global_id.x] * 2.0 }\n";
  vyre_program *p, *out;
  vyre_error error;
  assert_int_equal(vyre_program_parse(text, sizeof text - 1, "text", &p, &error), VYRE_OK);
  lower_target target = lower_everything;
  target.has_f64 = false;
  assert_int_equal(lower_program(p, &target, &out, &error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "64-bit floats"));
  assert_null(out);
  vyre_program_release(p);
}

static void test_lowered_programs_have_no_stored_form(void **state) {
  (void)state;
  static const char text[] = "program p()\nbuffer x: i32[] readwrite\n"
                             "region r grid(len(x)) { x[global_id.x] = x[global_id.x] / 3 }\n";
  vyre_program *p;
  vyre_error error;
  void *bytes;
  char *printed;
  size_t size;
  assert_int_equal(vyre_program_parse(text, sizeof text - 1, "text", &p, &error), VYRE_OK);
  vyre_program *low = lowered(p, &lower_nothing);
  assert_int_equal(vyre_program_encode(low, &bytes, &size, &error), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_print(low, &printed, &size, &error), VYRE_ERROR_ARGUMENT);
  vyre_program_release(low);
  vyre_program_release(p);
}

// ---- promises -----------------------------------------------------------------------------------

#define LOWERED_HEAD                                                                               \
  "program p\nlowered\nbuffer x i32 readwrite c0\nconst u32 4\nconst i32 0\nconst i32 -1\n"        \
  "const i32 -2147483648\nconst u32 1\nconst u32 32\nconst f32 0x7fc00000\n"                       \
  "const f32 0x4f000000\nconst f32 0xcf000000\nconst f32 0x4effffff\nconst u32 0\n"                \
  "const u32 0xffffffff\nconst u32 3\nconst u32 0xfffffffe\n"                                      \
  "region main 1 c4 c4 c4 1 1 1\nbody\n"

static const struct {
  const char *code, *breaks; // the operation that is named, NULL when all holds
} promises[] = {
    {"op div_nonzero i32 c2 c1\n", "div_nonzero"},
    {"op div_nonzero i32 c3 c2\n", "div_nonzero"},
    {"op div_nonzero i32 c2 c2\n", NULL},
    {"op rem_nonzero i32 c3 c1\n", "rem_nonzero"},
    {"op rem_nonzero i32 c3 c2\n", "rem_nonzero"},
    {"op shl_below u32 c4 c5\n", "shl_below"},
    {"op shl_below u32 c5 c4\n", NULL},
    {"op shr_below i32 c1 c2\n", "shr_below"},
    {"op convert_inside i32 c6\n", "convert_inside"},
    {"op convert_inside i32 c7\n", "convert_inside"},
    {"op convert_inside i32 c8\n", NULL},
    {"op convert_inside i32 c9\n", NULL},
    {"op convert_inside u32 c7\n", NULL},
    {"op convert_inside u32 c8\n", "convert_inside"},
    {"op convert_inside i16 c9\n", "convert_inside"},
    {"op bitcast_any u32 c6\n", NULL},
    {"op load_inside i32 b0 c0\n", "load_inside"},
    {"op load_inside i32 b0 c2\n", "load_inside"},
    {"op load_inside i32 b0 c10\n", NULL},
    {"op store_inside void b0 c0 c1\n", "store_inside"},
    {"op atomic_add_inside i32 b0 c0 c1\n", "atomic_add_inside"},
    {"op atomic_cas_inside i32 b0 c11 c1 c1\n", "atomic_cas_inside"},
    {"op for_unwrapped u32 c10 c11 c0\nop break void\nop end void\n", "for_unwrapped"},
    {"op for_unwrapped u32 c10 c13 c12\nop break void\nop end void\n", NULL},
    {"op for_unwrapped u32 c10 c0 c12\nop break void\nop end void\n", NULL},
    {"op for_unwrapped u32 c0 c10 c12\nop break void\nop end void\n", NULL},
};

static void test_broken_promises_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
    char text[1000];
    vyre_error error = {0};
    snprintf(text, sizeof text, "%s%s", LOWERED_HEAD, promises[i].code);
    vyre_program *p = raw_parse(text);
    assert_non_null(p);
    if (program_freeze(p, NULL, &error) != VYRE_OK)
      fail_msg("%s%s", promises[i].code, error.message);
    vyre_executable *e;
    int32_t x[4] = {1, 2, 3, 4};
    assert_int_equal(vyre_compile(p, "ref", NULL, &e, &error), VYRE_OK);
    vyre_span span = {x, sizeof x};
    vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
    vyre_status status = vyre_dispatch(e, &args, NULL, &error);
    if (status != (promises[i].breaks ? VYRE_ERROR_BACKEND : VYRE_OK))
      fail_msg("%sgave %s", promises[i].code, vyre_status_name(status));
    if (promises[i].breaks) {
      assert_non_null(strstr(error.message, promises[i].breaks));
      assert_non_null(strstr(error.message, "main"));
      assert_non_null(strstr(error.message, recipe_table[0]->name));
      assert_non_null(strstr(error.message, "Fix:"));
    }
    vyre_executable_release(e);
    vyre_program_release(p);
  }
}

// ---- stopping -----------------------------------------------------------------------------------

// When anybody is told to stop, at any time, everything ends, and nobody waits at a barrier that
// the others do not reach. One that hears of it once need not hear of it again.
static bool is_stopped_once(void *context) {
  request *r = context;
  return r->asked++ == r->after;
}

static void run_stopped(const trial *t, vyre_program *p, request *r, bool is_once) {
  trial copy;
  launch l;
  vyre_error error = {0};
  vyre_report report = {0};
  assert_true(trial_copy(t, &copy));
  vyre_dispatch_args args = {.params = copy.params,
                             .param_count = copy.param_count,
                             .buffers = copy.buffers,
                             .buffer_count = copy.buffer_count,
                             .fuel = 40 * COMPARE_FUEL};
  memcpy(args.workgroup, copy.workgroup, sizeof args.workgroup);
  assert_int_equal(launch_init(&l, p, &args, &error), VYRE_OK);
  ref_observer o = {.is_asked_to_stop = is_once ? is_stopped_once : is_stopped, .context = r};
  vyre_status status = ref_run(p, &l, &o, &report, &error);
  if (status != VYRE_OK) fail_msg("after %llu: %s", (unsigned long long)r->after, error.message);
  launch_fini(&l);
  trial_fini(&copy);
}

static void test_everything_ends_when_it_is_asked_to(void **state) {
  (void)state;
  lower_target target = lower_asking();
  uint32_t asked = 0;
  for (uint64_t seed = 1; seed <= trial_count(); seed++) {
    trial t;
    generate_options options = {.seed = seed, .only_provable = true};
    assert_int_equal(generate_trial(&options, &t, NULL), VYRE_OK);
    vyre_program *p = lowered(t.program, &target);
    request never = {.after = UINT64_MAX};
    run_stopped(&t, p, &never, false);
    asked += never.asked > 0;
    for (int k = 0; k < 4 && never.asked; k++) {
      request r = {.after = (seed * 2654435761u + (uint64_t)k * 40503u) % never.asked};
      run_stopped(&t, p, &r, k % 2);
    }
    vyre_program_release(p);
    trial_fini(&t);
  }
  assert_true(asked > trial_count() / 2);
}

static void test_a_loop_without_end_ends(void **state) {
  (void)state;
  static const char *const texts[] = {
      "program p()\nbuffer x: u32[] readwrite\nregion r grid(64) {\n"
      " while true { x[global_id.x] = x[global_id.x] + 1 } }\n",
      "program p()\nbuffer x: u32[] readwrite\nregion r grid(64) workgroup(8) {\n shared s: "
      "u32[8]\n"
      " while true { s[local_id.x] = 1\n barrier } }\n",
      "program p()\nbuffer x: u32[] readwrite\nregion r grid(64) workgroup(8) {\n shared s: "
      "u32[8]\n"
      " if local_id.x == 3 { while true { s[local_id.x] = 1 } }\n barrier\n x[0] = s[1] }\n",
  };
  lower_target target = lower_asking();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    vyre_program *from;
    vyre_error error;
    uint32_t x[64] = {0};
    vyre_span span = {x, sizeof x};
    if (vyre_program_parse(texts[i], strlen(texts[i]), "text", &from, &error) != VYRE_OK)
      fail_msg("%s", error.message);
    vyre_program *p = lowered(from, &target);
    trial t = {.program = from, .buffers = &span, .buffer_count = 1};
    request r = {.after = 100};
    run_stopped(&t, p, &r, false);
    vyre_program_release(p);
    vyre_program_release(from);
  }
}

// ---- turned regions -----------------------------------------------------------------------------

// Which axis becomes x: where memory is in order, where there are lanes to fill, and x unless
// another is clearly better. Where it matters who comes first, nothing is turned.
static void test_lanes_run_where_memory_is_in_order(void **state) {
  (void)state;
  static const struct {
    const char *grid, *body;
    uint32_t lanes;
  } cases[] = {
      {"grid(n, n)", "y[global_id.x * n + global_id.y] = 1", 1},
      {"grid(n, n)", "y[global_id.y * n + global_id.x] = 1", 0},
      {"grid(n)", "y[global_id.x * n] = 1", 0},
      {"grid(n, n, n)", "y[global_id.x * n + global_id.y * 7 * n + global_id.z] = 1", 2},
      {"grid(n, n, n)", "y[global_id.x * n + global_id.y + global_id.z * 7 * n] = 1", 1},
      {"grid(n, n)", "y[global_id.x * 2 + global_id.y * 1000] = 1", 0},
      {"grid(n, n)", "y[global_id.x * 100 + global_id.y] = 1", 1},
      {"grid(n, 1)", "y[global_id.x * n + global_id.y] = 1", 0},
      {"grid(n, n)", "y[global_id.x * n + global_id.y] = y[global_id.y * n + global_id.x]", 0},
      {"grid(n, n)",
       "var s: u32 = 0\n"
       "for k in 0..n { s = s + y[global_id.x * n + k] * y[k * n + global_id.y] }\n"
       "y[global_id.x + global_id.y * n] = s",
       1},
      {"grid(n, n)", "atomic_add(y[global_id.x * n + global_id.y], 1)", 0},
      {"grid(n, n) workgroup(1, 64)", "y[local_id.x + local_id.y] = group_id.x", 1},
      {"grid(n, n) workgroup(64, 1)", "y[local_id.x * n + local_id.y] = group_id.x", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "program p(n: u32)\nbuffer y: u32[] readwrite\nregion r %s {\n%s\n}\n", cases[i].grid,
             cases[i].body);
    lower_target target = lower_lacking(RECIPE_turn);
    vyre_program *p = parse(text), *out = lowered(p, &target);
    if (out->regions[0].lanes != cases[i].lanes)
      fail_msg("%s { %s }: %u", cases[i].grid, cases[i].body, out->regions[0].lanes);
    vyre_program_release(out);
    vyre_program_release(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_keep_their_meaning),
      cmocka_unit_test(test_random_programs_keep_their_meaning),
      cmocka_unit_test(test_every_pair_of_bytes),
      cmocka_unit_test(test_floats_at_every_exponent),
      cmocka_unit_test(test_hard_floats),
      cmocka_unit_test(test_hard_integers),
      cmocka_unit_test(test_loops_of_wide_counters),
      cmocka_unit_test(test_nothing_is_left_to_lower),
      cmocka_unit_test(test_what_no_recipe_helps_is_refused),
      cmocka_unit_test(test_lowered_programs_have_no_stored_form),
      cmocka_unit_test(test_broken_promises_are_named),
      cmocka_unit_test(test_everything_ends_when_it_is_asked_to),
      cmocka_unit_test(test_a_loop_without_end_ends),
      cmocka_unit_test(test_lanes_run_where_memory_is_in_order),
  };
  return cmocka_run_group_tests_name("lower", tests, NULL, NULL);
}
