// SPDX-License-Identifier: MIT
#include "backend/vulkan/probe.h"

#include "backend/cache.h"
#include "backend/vulkan/ask.h"
#include "backend/vulkan/trust.h"
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the questions ------------------------------------------------------------------------------

// Rows of the answers, in the order of the programs below.
enum {
  ROW_ADD,
  ROW_MUL,
  ROW_DIV,
  ROW_SQRT,
  ROW_FMA,
  ROW_FLOOR,
  ROW_CEIL,
  ROW_TRUNC,
  ROW_ROUND,
  ROW_RINT,
  ROW_FROM_SIGNED,
  ROW_FROM_UNSIGNED,
  ROW_NARROWED,   // f64 to f32 and back; a copy in the program of f32
  ROW_TIMES_ZERO, // what compilers like to take for something simpler
  ROW_PLUS_ZERO,
  ROW_MINUS_SELF,
  ROW_ZERO_OVER,
  ROW_OVER_ZERO,
  ROW_LESS,
  ROW_EQUAL,
  ROW_NEGATED,
  ROW_COUNT
};

#define PROBE(type, signed, unsigned, narrowed)                                                    \
  "program probe()\nbuffer x: " type "[] read\nbuffer y: " type "[len(x)] read\n"                  \
  "buffer z: " type "[len(x)] read\nbuffer r: " type "[21 * len(x)] write\n"                       \
  "region ask grid(len(x)) {\n  let i = global_id.x\n  let n = len(x)\n"                           \
  "  let a = x[i]\n  let b = y[i]\n  let c = z[i]\n"                                               \
  "  r[i] = a + b\n  r[n + i] = a * b\n  r[2 * n + i] = a / b\n  r[3 * n + i] = sqrt(a)\n"         \
  "  r[4 * n + i] = fma(a, b, c)\n  r[5 * n + i] = floor(a)\n  r[6 * n + i] = ceil(a)\n"           \
  "  r[7 * n + i] = trunc(a)\n  r[8 * n + i] = round(a)\n  r[9 * n + i] = rint(a)\n"               \
  "  r[10 * n + i] = " type                                                                        \
  "(as_" signed "(a))\n"                                                                           \
                "  r[11 * n + i] = " type                                                          \
                "(as_" unsigned "(a))\n  r[12 * n + i] = " narrowed "\n"                           \
                                "  r[13 * n + i] = 0.0 * a\n  r[14 * n + i] = a + 0.0\n  r[15 * "  \
                                "n + i] = a - a\n"                                                 \
                                "  r[16 * n + i] = 0.0 / a\n  r[17 * n + i] = a / 0.0\n"           \
                                "  r[18 * n + i] = select(a < b, 1.0, 2.0)\n"                      \
                                "  r[19 * n + i] = select(a == b, 1.0, 2.0)\n"                     \
                                "  r[20 * n + i] = -a\n}\n"

static const char *const program_f32 = PROBE("f32", "i32", "u32", "a");
static const char *const program_f64 = PROBE("f64", "i64", "u64", "f64(f32(a))");

// ---- the cases ----------------------------------------------------------------------------------

enum { RANDOM = 3000 };

static const uint32_t hard_f32[] = {
    0x00000000, 0x00000001, 0x00000002, 0x003fffff, 0x00400000, 0x007fffff, 0x00800000, 0x00800001,
    0x01000000, 0x33800000, 0x3e800000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000,
    0x3f800001, 0x3fc00000, 0x40000000, 0x40200000, 0x40400000, 0x40490fdb, 0x4b000000, 0x4b000001,
    0x4b7fffff, 0x4b800000, 0x4f000000, 0x7e800000, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7fc00000,
};
enum { HARD = 2 * sizeof hard_f32 / sizeof *hard_f32, CASES = HARD * HARD + RANDOM };

static uint64_t next_random(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t x = *state;
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// The same in f64: the exponents' ends are where they are there.
static double hard_f64(uint32_t bits) {
  float f;
  uint32_t magnitude = bits & 0x7fffffff;
  memcpy(&f, &bits, sizeof f);
  double d = (double)f;
  if (magnitude < 0x00800000) d = ldexp(d, -925); // subnormal
  if (magnitude >= 0x7f7ffffe && magnitude < 0x7f800000)
    d = copysign(magnitude & 1 ? 0x1.fffffffffffffp1023 : 0x1.ffffffffffffep1023, d);
  if (magnitude >= 0x4b000000 && magnitude <= 0x4b800000) d = ldexp(d, 29);
  return d;
}

static uint32_t hard_bits(size_t i) {
  return hard_f32[i / 2] | (i % 2 ? 0x80000000 : 0);
}

// Every pair of hard cases, and random ones of any size. The third takes the product away again
// where that is possible, so that what remains is what a rounded product had lost.
static void fill_f32(float *x, float *y, float *z) {
  uint64_t state = 1;
  for (size_t i = 0; i < CASES; i++) {
    uint32_t bits[3] = {(uint32_t)next_random(&state), (uint32_t)next_random(&state),
                        (uint32_t)next_random(&state)};
    if (i % 2)
      bits[0] = (bits[0] & 0x807fffff) | 0x3f800000, bits[1] = (bits[1] & 0x807fffff) | 0x40000000;
    if (i < (size_t)HARD * HARD) bits[0] = hard_bits(i / HARD), bits[1] = hard_bits(i % HARD);
    memcpy(&x[i], &bits[0], 4);
    memcpy(&y[i], &bits[1], 4);
    memcpy(&z[i], &bits[2], 4);
    if (i % 3) z[i] = -(x[i] * y[i]);
  }
}

static void fill_f64(double *x, double *y, double *z) {
  uint64_t state = 2;
  for (size_t i = 0; i < CASES; i++) {
    uint64_t bits[3] = {next_random(&state), next_random(&state), next_random(&state)};
    if (i % 2)
      for (int k = 0; k < 2; k++)
        bits[k] = (bits[k] & UINT64_C(0x800fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    memcpy(&x[i], &bits[0], 8);
    memcpy(&y[i], &bits[1], 8);
    memcpy(&z[i], &bits[2], 8);
    if (i < (size_t)HARD * HARD)
      x[i] = hard_f64(hard_bits(i / HARD)), y[i] = hard_f64(hard_bits(i % HARD));
    if (i % 3) z[i] = -(x[i] * y[i]);
  }
}

// ---- asking -------------------------------------------------------------------------------------

// One program on the reference and on the device; malloc'ed answers.
typedef struct questions {
  const char *text;
  bool is_f64;
  void *x, *y, *z, *expected, *found;
} questions;

static size_t element_bytes(const questions *q) {
  return q->is_f64 ? 8 : 4;
}

static bool questions_init(questions *q) {
  size_t bytes = CASES * element_bytes(q);
  q->x = malloc(bytes);
  q->y = malloc(bytes);
  q->z = malloc(bytes);
  q->expected = calloc(ROW_COUNT, bytes);
  q->found = calloc(ROW_COUNT, bytes);
  if (!q->x || !q->y || !q->z || !q->expected || !q->found) return false;
  if (q->is_f64)
    fill_f64(q->x, q->y, q->z);
  else
    fill_f32(q->x, q->y, q->z);
  return true;
}

static void questions_fini(questions *q) {
  free(q->x);
  free(q->y);
  free(q->z);
  free(q->expected);
  free(q->found);
}

static vyre_dispatch_args args_for(const questions *q, void *answers, vyre_span spans[4]) {
  size_t bytes = CASES * element_bytes(q);
  spans[0] = (vyre_span){q->x, bytes};
  spans[1] = (vyre_span){q->y, bytes};
  spans[2] = (vyre_span){q->z, bytes};
  spans[3] = (vyre_span){answers, ROW_COUNT * bytes};
  return (vyre_dispatch_args){.buffers = spans, .buffer_count = 4};
}

static vyre_status ask_both(vulkan_device *d, questions *q, vyre_error *error) {
  vyre_program *p;
  if (!questions_init(q)) return error_out_of_memory(error);
  vyre_status status = vyre_program_parse(q->text, strlen(q->text), "probe", &p, error);
  if (status != VYRE_OK) return status;
  vyre_span wanted[4], given[4];
  vyre_dispatch_args args = args_for(q, q->expected, wanted);
  status = vulkan_ask_reference(p, &args, error);
  args = args_for(q, q->found, given);
  if (status == VYRE_OK) status = vulkan_ask_device(d, p, &args, error);
  vyre_program_release(p);
  return status;
}

// ---- comparing ----------------------------------------------------------------------------------

typedef enum agreement { AGREES, FLUSHES, DIFFERS } agreement;

static uint64_t bits_at(const questions *q, const void *values, size_t i) {
  uint64_t wide;
  uint32_t narrow;
  if (!q->is_f64) {
    memcpy(&narrow, (const char *)values + 4 * i, 4);
    return narrow;
  }
  memcpy(&wide, (const char *)values + 8 * i, 8);
  return wide;
}

static bool is_nan(const questions *q, uint64_t bits) {
  return q->is_f64 ? (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000)
                   : (bits & INT32_MAX) > 0x7f800000;
}

// Of f64 also what is subnormal as f32: the conversion between them may flush that.
static bool is_subnormal(const questions *q, uint64_t bits) {
  if (!q->is_f64) return (bits & 0x7f800000) == 0 && (bits & 0x007fffff);
  return (bits & INT64_MAX) != 0 && (bits & INT64_MAX) < UINT64_C(0x3810000000000000);
}

static agreement compare_row(const questions *q, int row) {
  agreement worst = AGREES;
  for (size_t i = 0; i < CASES; i++) {
    uint64_t expected = bits_at(q, q->expected, (size_t)row * CASES + i);
    uint64_t found = bits_at(q, q->found, (size_t)row * CASES + i);
    if (expected == found || (is_nan(q, expected) && is_nan(q, found))) continue;
    bool is_small = is_subnormal(q, expected) || is_subnormal(q, bits_at(q, q->x, i)) ||
                    is_subnormal(q, bits_at(q, q->y, i)) ||
                    (row == ROW_FMA && is_subnormal(q, bits_at(q, q->z, i)));
    if (!is_small) return DIFFERS;
    worst = FLUSHES;
  }
  return worst;
}

// ---- verdicts -----------------------------------------------------------------------------------

// Claims that recipes make up for where they do not hold.
enum {
  CLAIM_SUBNORMALS,
  CLAIM_DIVISION,
  CLAIM_FMA,
  CLAIM_ROUNDING,
  CLAIM_RINT,
  CLAIM_IDENTITIES,
  CLAIMS, // of a type
  CLAIM_USABLE = 2 * CLAIMS,
  CLAIM_LOOPS,     // of any length
  CLAIM_NARROWING, // f64 to f32 keeps what is subnormal there
};

static const char *const claim_names[2 * CLAIMS] = {
    "subnormals f32", "division and square root f32",
    "fma f32",        "floor, ceil, trunc, round f32",
    "rint f32",       "zeros and NaN kept f32",
    "subnormals f64", "division and square root f64",
    "fma f64",        "floor, ceil, trunc, round f64",
    "rint f64",       "zeros and NaN kept f64",
};

// Where the device flushes subnormals a recipe keeps them from its instructions, which then need
// be right for the others only.
static bool is_right(agreement row, bool keeps) {
  return keeps ? row == AGREES : row != DIFFERS;
}

static uint32_t judge(const questions *q) {
  agreement rows[ROW_COUNT];
  uint32_t held = 0;
  for (int i = 0; i < ROW_COUNT; i++) rows[i] = compare_row(q, i);
  bool keeps = rows[ROW_ADD] == AGREES && rows[ROW_MUL] == AGREES && rows[ROW_LESS] == AGREES &&
               rows[ROW_EQUAL] == AGREES && rows[ROW_NEGATED] == AGREES;
  held |= (uint32_t)keeps << CLAIM_SUBNORMALS;
  bool divides = is_right(rows[ROW_DIV], keeps) && is_right(rows[ROW_SQRT], keeps);
  held |= (uint32_t)divides << CLAIM_DIVISION;
  held |= (uint32_t)is_right(rows[ROW_FMA], keeps) << CLAIM_FMA;
  bool rounds = true;
  for (int i = ROW_FLOOR; i <= ROW_ROUND; i++) rounds &= is_right(rows[i], keeps);
  held |= (uint32_t)rounds << CLAIM_ROUNDING;
  held |= (uint32_t)is_right(rows[ROW_RINT], keeps) << CLAIM_RINT;
  bool is_plain = rows[ROW_ZERO_OVER] != DIFFERS && rows[ROW_OVER_ZERO] != DIFFERS;
  for (int i = ROW_TIMES_ZERO; i <= ROW_MINUS_SELF; i++) is_plain &= is_right(rows[i], keeps);
  held |= (uint32_t)is_plain << CLAIM_IDENTITIES;
  if (q->is_f64) held <<= CLAIMS;
  // Nothing makes up for sums, products and conversions that are rounded wrongly.
  bool is_usable = rows[ROW_ADD] != DIFFERS && rows[ROW_MUL] != DIFFERS &&
                   is_right(rows[ROW_NARROWED], !q->is_f64) && rows[ROW_FROM_SIGNED] == AGREES &&
                   rows[ROW_FROM_UNSIGNED] == AGREES && rows[ROW_LESS] != DIFFERS &&
                   rows[ROW_EQUAL] != DIFFERS && rows[ROW_NEGATED] != DIFFERS;
  held |= (uint32_t)(q->is_f64 && rows[ROW_NARROWED] == AGREES) << CLAIM_NARROWING;
  return held | (uint32_t)is_usable << CLAIM_USABLE;
}

// lavapipe gives the invocations of a vector 65,535 iterations together, and ends their loops after
// that. A vector has at most 16, and one that was told to stop looks every 256 iterations.
enum { MOST_TURNS = 65535 / 16 - 256 };

static const char *const program_loops =
    "program loops()\nbuffer x: u32[] read\nbuffer r: u32[len(x)] write\nregion ask grid(1) {\n"
    "  var s: u32 = x[0]\n  var k: u32 = 0\n  while k < 40000 {\n    s = s * 1664525 + k\n"
    "    k = k + 1\n  }\n  for n in 0..40000u32 { s = s * 1664525 + n }\n  r[0] = s ^ k\n}\n";

static vyre_status examine_loops(vulkan_device *d, uint32_t *verdict, vyre_error *error) {
  uint32_t x = 7, expected = 0, found = 0;
  vyre_span wanted[] = {{&x, sizeof x}, {&expected, sizeof expected}};
  vyre_span given[] = {{&x, sizeof x}, {&found, sizeof found}};
  vyre_program *p;
  vyre_status status = vyre_program_parse(program_loops, strlen(program_loops), "probe", &p, error);
  if (status != VYRE_OK) return status;
  vyre_dispatch_args args = {.buffers = wanted, .buffer_count = 2};
  status = vulkan_ask_reference(p, &args, error);
  args.buffers = given;
  if (status == VYRE_OK) status = vulkan_ask_device(d, p, &args, error);
  if (status == VYRE_OK) *verdict |= (uint32_t)(found == expected) << CLAIM_LOOPS;
  vyre_program_release(p);
  return status;
}

static vyre_status examine(vulkan_device *d, uint32_t *verdict, vyre_error *error) {
  questions narrow = {.text = program_f32}, wide = {.text = program_f64, .is_f64 = true};
  const uint32_t usable = 1u << CLAIM_USABLE;
  vyre_status status = ask_both(d, &narrow, error);
  if (status == VYRE_OK) *verdict = judge(&narrow);
  questions_fini(&narrow);
  if (status == VYRE_OK) status = examine_loops(d, verdict, error);
  if (status != VYRE_OK || !d->target.lower.has_f64 || !d->target.lower.has_i64) return status;
  status = ask_both(d, &wide, error);
  if (status == VYRE_OK) {
    uint32_t of_wide = judge(&wide);
    *verdict = ((*verdict | of_wide) & ~usable) | (*verdict & of_wide & usable); // of both
  }
  questions_fini(&wide);
  return status;
}

static void apply(vulkan_device *d, uint32_t verdict) {
  lower_target *t = &d->target.lower;
  d->claims = verdict;
  bool has_f64 = t->has_f64;
#define HOLDS(claim) ((verdict >> (claim)&1) != 0)
  t->keeps_f32_subnormals =
      HOLDS(CLAIM_SUBNORMALS) && (!has_f64 || !t->has_i64 || HOLDS(CLAIM_NARROWING));
  t->rounds_f32_division = HOLDS(CLAIM_DIVISION);
  t->has_f32_fma = HOLDS(CLAIM_FMA);
  t->has_f32_rounding = HOLDS(CLAIM_ROUNDING);
  t->has_rint = HOLDS(CLAIM_RINT) && (!has_f64 || HOLDS(CLAIMS + CLAIM_RINT));
  t->keeps_f64_subnormals = HOLDS(CLAIMS + CLAIM_SUBNORMALS);
  t->rounds_f64_division = HOLDS(CLAIMS + CLAIM_DIVISION);
  t->has_f64_fma = HOLDS(CLAIMS + CLAIM_FMA);
  t->has_f64_rounding = HOLDS(CLAIMS + CLAIM_ROUNDING);
  d->target.hides_floats =
      !HOLDS(CLAIM_IDENTITIES) || (has_f64 && !HOLDS(CLAIMS + CLAIM_IDENTITIES));
  d->target.most_turns = HOLDS(CLAIM_LOOPS) ? 0 : MOST_TURNS;
#undef HOLDS
}

static void make_key(const vulkan_device *d, cache_key *key) {
  cache_key_init(key, "vulkan-probe");
  cache_key_add_string(key, vyre_version());
  cache_key_add_string(key, program_f32);
  cache_key_add_string(key, program_f64);
  cache_key_add_string(key, program_loops);
  cache_key_add_string(key, d->properties.deviceName);
  cache_key_add_string(key, d->driver);
  cache_key_add_number(key, d->properties.driverVersion);
  cache_key_add(key, d->properties.pipelineCacheUUID, VK_UUID_SIZE);
  cache_key_add(key, &d->target.modes, sizeof d->target.modes);
}

static vyre_status probe_once(vulkan_device *d, vyre_error *error) {
  cache_key key;
  void *data;
  size_t size;
  uint32_t verdict = 0;
  make_key(d, &key);
  bool is_known = cache_load(&key, &data, &size);
  if (is_known) {
    if (size == sizeof verdict)
      memcpy(&verdict, data, sizeof verdict);
    else
      is_known = false;
    free(data);
  }
  vyre_status status = is_known ? VYRE_OK : examine(d, &verdict, error);
  if (status != VYRE_OK) return status;
  apply(d, verdict);
  if (is_known) return VYRE_OK;
  uint32_t failed = 0;
  if (verdict >> CLAIM_USABLE & 1) status = trust_device(d, &failed, error);
  if (status == VYRE_OK) cache_store(&key, &verdict, sizeof verdict);
  return status;
}

vyre_status probe_device(vulkan_device *d, vyre_error *error) {
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&d->probe_lock);
  if (!d->is_probed) {
    status = probe_once(d, error);
    d->is_probed = status == VYRE_OK;
  }
  bool is_usable = d->claims >> CLAIM_USABLE & 1;
  pthread_mutex_unlock(&d->probe_lock);
  if (status != VYRE_OK || is_usable) return status;
  return error_set(error, VYRE_ERROR_UNSUPPORTED,
                   "the Vulkan device %s rounds sums, products or conversions wrongly. Fix: update "
                   "its driver, or use another backend",
                   d->info.adapter);
}

bool probe_finding_at(const vulkan_device *d, uint32_t index, probe_finding *out) {
  uint32_t count = d->target.lower.has_f64 ? 2 * CLAIMS : CLAIMS;
  if (index >= count) return false;
  *out = (probe_finding){claim_names[index], d->claims >> index & 1};
  return true;
}
