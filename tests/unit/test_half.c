// SPDX-License-Identifier: MIT
//
// f16: its bits beside its definition, its operations beside integers that hold every intermediate
// result exactly, and the recipe that lowers it, on every pair of interesting numbers.
#include "base/decimal.h"
#include "base/half.h"
#include "base/random.h"
#include "ir/eval.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

enum { LEAST = 48, SAMPLES = 400000 }; // products are multiples of 2^-LEAST

__extension__ typedef __int128 i128;

static bool is_nan(uint16_t h) {
  return (h & 0x7fff) > 0x7c00;
}

static bool is_finite(uint16_t h) {
  return (h & 0x7fff) < 0x7c00;
}

// The definition: sign, significand, power of two.
static double defined(uint16_t h) {
  int exponent = h >> 10 & 31, fraction = h & 0x3ff;
  double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
  return h >> 15 ? -size : size;
}

// The nearest half of a multiple of 2^-LEAST, by looking at its neighbours.
static uint16_t nearest(i128 x, bool is_minus_zero) {
  bool is_negative = x < 0;
  i128 size = is_negative ? -x : x;
  uint16_t low = 0, high = 0x7c00; // that of 2^16, as if there were no end
  while (high - low > 1) {
    uint16_t middle = (uint16_t)((low + high) / 2);
    i128 at = (i128)ldexp(defined(middle), 24) << (LEAST - 24);
    if (at <= size)
      low = middle;
    else
      high = middle;
  }
  i128 below = (i128)ldexp(defined(low), 24) << (LEAST - 24);
  i128 above =
      high == 0x7c00 ? (i128)1 << (16 + LEAST) : (i128)ldexp(defined(high), 24) << (LEAST - 24);
  i128 twice = 2 * size, sum = below + above;
  uint16_t made = twice < sum ? low : twice > sum ? high : low & 1 ? high : low;
  if (size > above) made = 0x7c00;
  return (uint16_t)(made | (is_negative || is_minus_zero ? 0x8000 : 0));
}

static i128 whole(uint16_t h) { // h * 2^24
  return (i128)ldexp(defined(h), 24);
}

static uint16_t eval(vyre_op op, uint16_t x, uint16_t y, uint16_t z) {
  return (uint16_t)eval_op(op, VYRE_F16, VYRE_F16, (uint64_t[3]){x, y, z});
}

// ---- bits ---------------------------------------------------------------------------------------

static void test_every_half_is_read_and_written(void **state) {
  (void)state;
  for (uint32_t h = 0; h < 0x10000; h++) {
    uint16_t bits = (uint16_t)h;
    double value = half_read(bits);
    if (is_nan(bits)) {
      assert_true(isnan(value));
      assert_int_equal(half_round(value), 0x7e00);
      continue;
    }
    if (is_finite(bits)) assert_true(value == defined(bits) && !signbit(value) == !(h >> 15));
    if (!is_finite(bits)) assert_true(isinf(value));
    assert_int_equal(half_round(value), bits);
  }
}

// Between two neighbours the middle goes to the even one, and what is next to it to its side.
static void test_middles_go_to_even(void **state) {
  (void)state;
  for (uint16_t h = 0; h < 0x7c00; h++) {
    double above = h == 0x7bff ? 65536 : defined((uint16_t)(h + 1));
    double middle = (defined(h) + above) / 2;
    assert_int_equal(half_round(middle), h & 1 ? h + 1 : h);
    assert_int_equal(half_round(nextafter(middle, 0)), h);
    assert_int_equal(half_round(nextafter(middle, INFINITY)), h + 1);
    assert_int_equal(half_round(-middle), (h & 1 ? h + 1 : h) | 0x8000);
  }
}

// Decimals that an f64 does not tell from the middle.
static void test_decimals_are_rounded_once(void **state) {
  (void)state;
  assert_int_equal(decimal_read_f16("1.00048828125", NULL), 0x3c00);
  assert_int_equal(decimal_read_f16("1.00048828125000000000000000000001", NULL), 0x3c01);
  assert_int_equal(decimal_read_f16("1.00146484375", NULL), 0x3c02);
  assert_int_equal(decimal_read_f16("1.00146484374999999999999999999999", NULL), 0x3c01);
  assert_int_equal(decimal_read_f16("-1.00048828125000000000000000000001", NULL), 0xbc01);
  assert_int_equal(decimal_read_f16("65519.99999999999999999999", NULL), 0x7bff);
  assert_int_equal(decimal_read_f16("65520", NULL), 0x7c00);
  assert_int_equal(decimal_read_f16("1e-999", NULL), 0);
  assert_int_equal(decimal_read_f16("2.98023223876953125e-8", NULL), 0);
  assert_int_equal(decimal_read_f16("2.980232238769531250000001e-8", NULL), 1);
}

static void test_every_half_is_printed_and_read(void **state) {
  (void)state;
  for (uint16_t h = 0; h < 0x7c00; h++) {
    strbuf s = {0};
    size_t size;
    decimal_print(&s, half_read(h), 16);
    char *text = strbuf_take(&s, &size);
    assert_int_equal(decimal_read_f16(text, NULL), h);
    assert_true(size <= 12);
    free(text);
  }
}

// ---- operations ---------------------------------------------------------------------------------

static uint16_t random_half(random_state *r) {
  uint64_t bits = random_bits(r);
  // A third near the ends: subnormal, large, one bit.
  if (bits >> 60 < 3) return (uint16_t)(bits & 0x83ff);
  if (bits >> 60 < 5) return (uint16_t)((bits & 0x8fff) | 0x7000);
  if (bits >> 60 < 7) return (uint16_t)(bits & 0xfc01);
  return (uint16_t)bits;
}

static void test_sums_and_products_are_exact_and_rounded(void **state) {
  (void)state;
  random_state r = {1};
  for (int i = 0; i < SAMPLES; i++) {
    uint16_t x = random_half(&r), y = random_half(&r), z = random_half(&r);
    if (!is_finite(x) || !is_finite(y) || !is_finite(z)) continue;
    i128 a = whole(x) * (1 << 24), b = whole(y) * (1 << 24), product = whole(x) * whole(y);
    bool are_minus = x == 0x8000 && y == 0x8000, is_minus = (x ^ y) >> 15;
    assert_int_equal(eval(VYRE_OP_ADD, x, y, 0), nearest(a + b, are_minus));
    assert_int_equal(eval(VYRE_OP_MUL, x, y, 0), nearest(product, is_minus));
    i128 sum = product + whole(z) * (1 << 24);
    bool is_minus_sum = sum == 0 && product == 0 && is_minus && z == 0x8000;
    assert_int_equal(eval(VYRE_OP_FMA, x, y, z), nearest(sum, is_minus_sum));
  }
}

// q is the nearest when no neighbour is nearer to x / y: |x - q * y| is compared in integers.
static void test_quotients_are_nearest(void **state) {
  (void)state;
  random_state r = {2};
  for (int i = 0; i < SAMPLES; i++) {
    uint16_t x = random_half(&r) & 0x7fff, y = random_half(&r) & 0x7fff;
    if (!is_finite(x) || !is_finite(y) || !y || !x) continue;
    uint16_t q = eval(VYRE_OP_DIV, x, y, 0);
    if (q == 0x7c00) {
      assert_true(whole(x) * 2 >= whole(y) * (2 * 65504 + 32));
      continue;
    }
    i128 off = whole(x) * (1 << 24) - whole(q) * whole(y), size = off < 0 ? -off : off;
    for (int step = -1; step <= 1; step += 2) {
      if (q + step < 0 || q + step >= 0x7c00) continue;
      uint16_t other = (uint16_t)(q + step);
      i128 there = whole(x) * (1 << 24) - whole(other) * whole(y);
      there = there < 0 ? -there : there;
      assert_true(size < there || (size == there && !(q & 1)));
    }
  }
}

static void test_roots_are_nearest(void **state) {
  (void)state;
  for (uint16_t x = 1; x < 0x7c00; x++) {
    uint16_t root = eval(VYRE_OP_SQRT, x, 0, 0);
    // Between the squares of the middles to its neighbours, none of which is a root itself.
    i128 below = whole(root) + whole((uint16_t)(root - 1));
    i128 above = whole(root) + whole((uint16_t)(root + 1)), square = whole(x) * (1 << 26);
    assert_true(below * below < square && square < above * above);
  }
}

static void test_conversions_round_once(void **state) {
  (void)state;
  random_state r = {3};
  for (int64_t n = -70000; n <= 70000; n++) {
    uint64_t made = eval_op(VYRE_OP_CONVERT, VYRE_F16, VYRE_I64, (uint64_t[3]){(uint64_t)n});
    assert_int_equal(made, nearest(n * ((i128)1 << LEAST), false));
  }
  for (int i = 0; i < SAMPLES; i++) {
    uint64_t bits = random_bits(&r) & 0xffffffff;
    float f;
    memcpy(&f, &(uint32_t){(uint32_t)bits}, sizeof f);
    uint64_t made = eval_op(VYRE_OP_CONVERT, VYRE_F16, VYRE_F32, (uint64_t[3]){bits});
    if (fabsf(f) < 0x1p16f && fabsf(f) > 0x1p-24f)
      assert_int_equal(made, nearest((i128)ldexp((double)f, LEAST), signbit(f)));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_half_is_read_and_written),
      cmocka_unit_test(test_middles_go_to_even),
      cmocka_unit_test(test_decimals_are_rounded_once),
      cmocka_unit_test(test_every_half_is_printed_and_read),
      cmocka_unit_test(test_sums_and_products_are_exact_and_rounded),
      cmocka_unit_test(test_quotients_are_nearest),
      cmocka_unit_test(test_roots_are_nearest),
      cmocka_unit_test(test_conversions_round_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
