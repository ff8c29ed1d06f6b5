// SPDX-License-Identifier: MIT
//
// What `fast` makes of a program: by its text, and by the bits, which are the same on every
// backend, with any passes and with known arguments.
#include "conform/compare.h"
#include "conform/generate.h"
#include "opt/relax.h"
#include "opt/specialise.h"

#include "../parsed_program.h"

#include <vyre/vyre.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A region with floats a, b, c of the type, whose body is `body`; what it becomes.
static char *relaxed(const char *type, uint32_t ulp, const char *body) {
  char text[700], *out, *main;
  snprintf(text, sizeof text,
           "program p(a: %s, b: %s, c: %s, n: u32) fast(%u)\n"
           "buffer x: %s[] readwrite\n"
           "region main grid(n) {\n%s\n}\n",
           type, type, type, ulp, type, body);
  vyre_program *p = parse(text), *made;
  assert_int_equal(relax_program(p, &made, NULL), VYRE_OK);
  assert_int_equal(made->fast_ulp, 0);
  vyre_program *again;
  assert_int_equal(relax_program(made, &again, NULL), VYRE_OK);
  assert_ptr_equal(again, made);
  assert_int_equal(vyre_program_print(made, &out, NULL, NULL), VYRE_OK);
  vyre_program_release(again);
  vyre_program_release(made);
  vyre_program_release(p);
  main = strdup(strstr(out, "grid(n) {") + strlen("grid(n) {"));
  vyre_free(out);
  return main;
}

static void expect(const char *type, uint32_t ulp, const char *body, const char *wanted) {
  char *found = relaxed(type, ulp, body);
  if (!strstr(found, wanted)) fail_msg("%s became %s without %s", body, found, wanted);
  free(found);
}

// Nothing of it is rewritten.
static void expect_kept(const char *type, uint32_t ulp, const char *body) {
  expect(type, ulp, body, body);
}

static void products_join_their_sums(void **state) {
  (void)state;
  expect("f32", 1, "x[0] = a * b + c", "x[0] = fma(a, b, c)");
  expect("f32", 1, "x[0] = c + a * b", "let $1 = c\n  x[0] = fma(a, b, $1)");
  expect("f64", 1, "x[0] = a * b - c", "x[0] = fma(a, b, -c)");
  expect("f64", 1, "x[0] = c - a * b", "x[0] = fma(-$2, $3, $1)");
  expect("f32", 1, "x[0] = a * b + b * c", "x[0] = fma(a, b, b * c)");
  expect("f32", 1, "x[0] = a * b + b * c + c * a",
         "let $1 = fma(a, b, b * c)\n  x[0] = fma(c, a, $1)");
  expect("f32", 1, "x[0] = (a + b) + c * c", "let $1 = a + b\n  x[0] = fma(c, c, $1)");
}

static void what_is_used_elsewhere_stays(void **state) {
  (void)state;
  expect("f32", 4, "let p = a * b\nx[0] = p + c\nx[1] = p", "let p = a * b");
  expect("f32", 4, "let p = a * b\nx[0] = p + p", "x[0] = p + p");
  expect("f32", 4, "let p = a * b\nfor k in 0u32..9 { x[k] = x[k] + p }", "x[k] + p");
  expect("f32", 4, "for k in 0u32..9 { x[k] = x[k] + a * b }", "x[k] = fma(a, b, $1)");
  expect_kept("u32", 4, "x[0] = a * b + c");
  expect_kept("f32", 4, "x[0] = a * b * c");
  expect_kept("f32", 4, "x[0] = -(a * b)");
}

static void divisions_by_constants_become_products(void **state) {
  (void)state;
  expect("f32", 2, "x[0] = a / 3.0", "x[0] = a * 0.33333334");
  expect("f64", 2, "x[0] = a / -10.0", "x[0] = a * -0.1");
  expect("f32", 2, "x[0] = a / 4.0", "x[0] = a * 0.25");
  expect_kept("f32", 1, "x[0] = a / 3.0");
  expect_kept("f32", 4, "x[0] = a / b");
  expect_kept("f32", 4, "x[0] = 3.0 / a");
  expect_kept("u32", 4, "x[0] = a / 3");
  expect_kept("f32", 4, "x[0] = a / 0.0");
  expect_kept("f32", 4, "x[0] = a / 1e-39"); // subnormal: what it gives is not near 1 / c
  expect_kept("f32", 4, "x[0] = a / 1e38");  // its reciprocal is subnormal
  expect("f32", 4, "x[0] = a / 1e37", "a * ");
  expect("f64", 4, "x[0] = a / 1e38", "a * ");
}

// By what does not change in the loop, or in the launch.
static void steady_divisors_are_inverted(void **state) {
  (void)state;
  const char *loop = "for k in 0u32..9 { x[k] = f32(global_id.x) / a }";
  expect("f32", 2, loop, "x[k] = f32(global_id.x) * (1.0 / a)");
  expect("f32", 1, loop, "x[k] = f32(global_id.x) / a");
  expect("f32", 2, "let i = global_id.x\nx[i] = x[i] / (a + b)", "x[i] = x[i] * (1.0 / (a + b))");
  expect("f32", 2, "let i = global_id.x\nx[i] = x[i + 1] / x[i]", "x[i + 1] / x[i]");
  expect("f32", 2, "let i = global_id.x\nx[i] = x[i] / x[0]", "x[i] / x[0]"); // x is written
  expect("f32", 2, "let i = global_id.x\nx[i] = x[i] / f32(i)", "x[i] / f32(i)");
  expect("f32", 2, "let i = global_id.x\nx[i] = 1.0 / (a + x[i])", "1.0 / (a + x[i])");
  expect("f32", 4,
         "let i = global_id.x\nvar s: f32 = a\nfor k in 0u32..9 { s = s * b\n"
         "x[i + k] = x[i] / s }",
         "x[i] / s");
  expect("f32", 2, "for k in 1u32..9 { x[k] = a / f32(k) }", "a / f32(k)"); // the counter changes
  expect("f64", 4, "let i = global_id.x\nfor k in 0u32..9 { x[i + k] = x[i] / (a * b) }",
         "(1.0 / ");
}

static void roots_are_inverted(void **state) {
  (void)state;
  const char *i = "let i = global_id.x\n";
  char body[200];
  snprintf(body, sizeof body, "%sx[i] = 1.0 / sqrt(x[i])", i);
  expect("f32", 2, body, "as_f32(1597243392 - ");
  expect("f32", 1, body, "1.0 / sqrt(");
  expect("f64", 4, body, "1.0 / sqrt(");
  snprintf(body, sizeof body, "%sx[i] = rsqrt(x[i])", i);
  expect("f32", 2, body, "as_f32(1597243392 - ");
  expect("f32", 1, body, "rsqrt(");
  snprintf(body, sizeof body, "%slet q = sqrt(x[i])\nx[i] = x[i + 1] / (a * q) + q", i);
  expect("f32", 4, body, "1.0 / ");
  expect("f32", 3, body, "/ (a * q)");
  expect_kept("f32", 4, "x[0] = 1.0 / sqrt(a)"); // once for the launch
  expect_kept("f32", 4, "x[0] = sqrt(x[1])");
}

static void sums_of_products_begin_with_what_is_added(void **state) {
  (void)state;
  expect("f32", 4, "x[0] = a * b + b * c + c", " = fma(a, b, fma(b, c, c))\n");
  expect("f32", 4, "x[0] = a * a + b * b + c * c + 2.0",
         " = fma(a, a, fma(b, b, 2.0))\n  x[0] = fma(c, c, $1)\n");
  expect("f32", 3, "x[0] = a * b + b * c + c", "x[0] = fma(a, b, b * c) + ");
  expect("f32", 4, "let s = a * b + b * c\nx[0] = s + c\nx[1] = s", "let s = fma(a, b, b * c)");
  expect("f32", 4, "let s = a * b + b * c\nlet d = x[1]\nx[0] = s + d", "x[0] = s + d");
  expect("f32", 4, "x[0] = a * b + b * c - c", "fma(a, b, b * c) - ");
}

static void exact_programs_are_left_alone(void **state) {
  (void)state;
  vyre_program *made, *p = parse("program p(a: f32)\nbuffer x: f32[] readwrite\n"
                                 "region main grid(len(x)) { x[global_id.x] = a * a + a / 3.0 }\n");
  assert_int_equal(relax_program(p, &made, NULL), VYRE_OK);
  assert_ptr_equal(made, p);
  vyre_program_release(made);
  vyre_program_release(p);
}

// ---- the same bits ------------------------------------------------------------------------------

static const char fast_text[] = "program p(a: f32, b: f32) fast(4)\n"
                                "buffer x: f32[] readwrite\n"
                                "region main grid(len(x)) {\n"
                                "  let i = global_id.x\n"
                                "  var s: f32 = 0.1\n"
                                "  for k in 0u32..9 { s = s + x[i] * a / b - f32(k) * 0.7 }\n"
                                "  x[i] = s / 3.0 + x[i] * (a * b)\n"
                                "}\n";

enum { COUNT = 1000 };

static void fill(float *x) {
  for (int i = 0; i < COUNT; i++) x[i] = (float)(i * 37 % 101) * 0.013f - 0.5f;
}

static void run(const char *backend, const vyre_compile_options *options, float *x) {
  vyre_program *p = parse(fast_text);
  vyre_executable *e;
  vyre_error error;
  vyre_scalar params[2] = {vyre_scalar_f32(1.7f), vyre_scalar_f32(0.3f)};
  vyre_span span = {x, COUNT * sizeof *x};
  vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = &span, .buffer_count = 1};
  fill(x);
  if (vyre_compile(p, backend, options, &e, &error) || vyre_dispatch(e, &args, NULL, &error))
    fail_msg("%s", error.message);
  vyre_executable_release(e);
  vyre_program_release(p);
}

static void backends_and_passes_agree(void **state) {
  (void)state;
  float wanted[COUNT], found[COUNT];
  run("ref", NULL, wanted);
  static const vyre_compile_options ways[] = {{.tier = VYRE_TIER_QUICK},
                                              {.optimize = VYRE_OPTIMIZE_NONE},
                                              {.optimize = VYRE_OPTIMIZE_SELECTED},
                                              {.vector_width = 1}};
  static const char *const backends[] = {"ref", "cpu", "c"};
  for (size_t b = 0; b < sizeof backends / sizeof *backends; b++)
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
      run(backends[b], &ways[i], found);
      assert_memory_equal(found, wanted, sizeof wanted);
    }
}

// The quotient by a parameter stays one when the parameter is known.
static void known_arguments_change_nothing(void **state) {
  (void)state;
  float wanted[COUNT], x[COUNT];
  vyre_runtime *rt;
  vyre_kernel *k;
  vyre_error error;
  vyre_program *p = parse(fast_text);
  vyre_runtime_options options = {.no_store = true, .specialise = true, .learn_after = 4};
  vyre_scalar params[2] = {vyre_scalar_f32(1.7f), vyre_scalar_f32(0.3f)};
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = &span, .buffer_count = 1};
  run("ref", NULL, wanted);
  assert_int_equal(vyre_runtime_new(&options, &rt, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_load(rt, p, &k, &error), VYRE_OK);
  for (int i = 0; i < 200; i++) {
    fill(x);
    assert_int_equal(vyre_kernel_dispatch(k, &args, NULL, &error), VYRE_OK);
    assert_memory_equal(x, wanted, sizeof wanted);
    if (i % 20 == 0) vyre_runtime_settle(rt);
  }
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
  vyre_program_release(p);
}

// ---- sums over loops ----------------------------------------------------------------------------

static const char row_text[] = "program p(lo: i32, n: i32, b: f32) fast(%u)\n"
                               "buffer a: f32[] read\nbuffer x: f32[] read\n"
                               "buffer y: f32[] readwrite\n"
                               "region main grid(len(y)) {\n"
                               "  let row = global_id.x\n"
                               "  var sum: f32 = y[row]\n"
                               "  for k in lo..n {\n"
                               "    sum = sum + (a[row * u32(n) + u32(k)] - b) * x[u32(k)]\n"
                               "  }\n"
                               "  y[row] = sum\n"
                               "}\n";

typedef struct rows {
  int32_t lo, n, count;
  uint32_t short_by; // of the matrix: the last row is cut
} rows;

static void run_rows(const char *backend, const vyre_compile_options *options, uint32_t ulp, rows r,
                     float *y) {
  char text[sizeof row_text + 16];
  snprintf(text, sizeof text, row_text, ulp);
  vyre_program *p = parse(text);
  vyre_executable *e;
  vyre_error error;
  uint32_t size = (uint32_t)(r.count * r.n) - r.short_by;
  float *a = calloc(size + 1, sizeof *a), *x = calloc((size_t)r.n + 1, sizeof *x);
  assert_true(a && x);
  for (uint32_t i = 0; i < size; i++) a[i] = (float)(i * 37 % 101) * 0.013f - 0.5f;
  for (int32_t i = 0; i < r.n; i++) x[i] = (float)(i * 29 % 83) * 0.017f - 0.3f;
  for (int32_t i = 0; i < r.count; i++) y[i] = (float)i;
  vyre_scalar params[3] = {vyre_scalar_i32(r.lo), vyre_scalar_i32(r.n), vyre_scalar_f32(0.125f)};
  vyre_span spans[3] = {
      {a, size * sizeof *a}, {x, (size_t)r.n * sizeof *x}, {y, (size_t)r.count * sizeof *y}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 3, .buffers = spans, .buffer_count = 3};
  if (vyre_compile(p, backend, options, &e, &error) || vyre_dispatch(e, &args, NULL, &error))
    fail_msg("%s", error.message);
  vyre_executable_release(e);
  vyre_program_release(p);
  free(a);
  free(x);
}

// With lanes along the loop or along rows, with turns left over, with rows that end early.
static void sums_of_rows_agree(void **state) {
  (void)state;
  static const vyre_compile_options ways[] = {
      {.vector_width = 0},       {.optimize = VYRE_OPTIMIZE_NONE},
      {.tier = VYRE_TIER_QUICK}, {.vector_width = 1},
      {.vector_width = 8},       {.vector_width = 32}};
  static const rows shapes[] = {{0, 64, 40, 0}, {0, 67, 33, 0},  {3, 100, 19, 5}, {0, 15, 17, 0},
                                {5, 2, 16, 0},  {-9, 40, 35, 0}, {0, 2100, 18, 1}};
  enum { MOST = 40 };
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    float wanted[MOST] = {0}, exact[MOST] = {0}, found[MOST] = {0};
    size_t size = (size_t)shapes[s].count * sizeof *found;
    run_rows("ref", NULL, 4, shapes[s], wanted);
    run_rows("ref", NULL, 3, shapes[s], exact);
    bool differs = false;
    for (int32_t i = 0; i < shapes[s].count; i++) {
      differs |= wanted[i] != exact[i];
      assert_true(fabsf(wanted[i] - exact[i]) < 0.01f);
    }
    assert_int_equal(differs, shapes[s].n - shapes[s].lo >= 16); // it was another order
    run_rows("c", NULL, 4, shapes[s], found);
    assert_memory_equal(found, wanted, size);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
      run_rows("cpu", &ways[i], 4, shapes[s], found);
      assert_memory_equal(found, wanted, size);
    }
  }
}

static void sums_of_rows_are_taken_apart(void **state) {
  (void)state;
  const char *i = "let i = global_id.x\nvar s: f32 = 0.0\n";
  static const struct {
    const char *loop;
    bool is_apart;
  } cases[] = {
      {"for k in 0u32..n { s = s + x[i * n + k] }\nx[i] = s", true},
      {"for k in 0u32..n { s = fma(x[i * n + k], x[k], s) }\nx[i] = s", true},
      {"for k in 0u32..n { s = s + x[i + k] }\nx[i] = s", false},     // neighbours along x
      {"for k in 0u32..n { s = s + x[k * n + i] }\nx[i] = s", false}, // likewise
      {"for k in 0u32..n { s = s - x[i * n + k] }\nx[i] = s", false}, // no sum
      {"for k in 0u32..n { s = s + s * x[i * n + k] }\nx[i] = s",
       false},                                                        // not of what it was alone
      {"for k in 0u32..9 { s = s + x[i * n + k] }\nx[i] = s", false}, // few
      {"for k in 0u32..i { s = s + x[i * n + k] }\nx[i] = s", false}, // each its own number
      {"for k in 0u32..n { s = s + x[i * n + k]\nx[i] = s }", false}, // it is looked at
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char body[300];
    snprintf(body, sizeof body, "%s%s", i, cases[k].loop);
    for (uint32_t ulp = 3; ulp <= 4; ulp++) {
      char *found = relaxed("f32", ulp, body);
      if (!!strstr(found, ">> 4") != (cases[k].is_apart && ulp == 4))
        fail_msg("fast(%u): %s became %s", ulp, body, found);
      free(found);
    }
  }
}

// ---- how far off --------------------------------------------------------------------------------

enum { MANY = 1 << 20 };

static const char root_text[] = "program p(a: f32) fast(4)\n"
                                "buffer x: f32[] read\n"
                                "buffer r: f32[] write\nbuffer q: f32[] write\n"
                                "buffer s: f32[] write\n"
                                "region main grid(len(x)) {\n"
                                "  let i = global_id.x\n"
                                "  let root = sqrt(x[i])\n"
                                "  r[i] = 1.0 / root\n"
                                "  q[i] = 3.7 / (a * root)\n"
                                "  s[i] = root\n"
                                "}\n";

static double ulps(float found, double wanted) {
  int exponent;
  frexp(wanted, &exponent);
  return fabs(found - wanted) / ldexp(1, exponent - 24);
}

static void run_roots(const char *backend, float *x[4]) {
  vyre_program *p = parse(root_text);
  vyre_executable *e;
  vyre_error error;
  vyre_scalar a = vyre_scalar_f32(-0.7f);
  vyre_span spans[4];
  for (int i = 0; i < 4; i++) spans[i] = (vyre_span){x[i], MANY * sizeof(float)};
  vyre_dispatch_args args = {.params = &a, .param_count = 1, .buffers = spans, .buffer_count = 4};
  if (vyre_compile(p, backend, NULL, &e, &error) || vyre_dispatch(e, &args, NULL, &error))
    fail_msg("%s", error.message);
  vyre_executable_release(e);
  vyre_program_release(p);
}

// Every mantissa of two octaves, 2^20 at a time; others differ by a power of two.
static void roots_are_near(void **state) {
  (void)state;
  float *x[4];
  double worst[3] = {0};
  for (int i = 0; i < 4; i++) assert_non_null(x[i] = malloc(MANY * sizeof(float)));
  for (uint32_t part = 0; part < 16; part++) {
    for (uint32_t i = 0; i < MANY; i++) {
      uint32_t bits = 0x3f800000u + part * MANY + i;
      memcpy(&x[0][i], &bits, sizeof bits);
    }
    run_roots("cpu", x);
    for (uint32_t i = 0; i < MANY; i++) {
      double root = sqrt((double)x[0][i]);
      double off[3] = {ulps(x[1][i], 1 / root), ulps(x[2][i], (double)3.7f / (-0.7f * root)),
                       ulps(x[3][i], root)};
      for (int k = 0; k < 3; k++) worst[k] = off[k] > worst[k] ? off[k] : worst[k];
    }
  }
  for (int i = 0; i < 4; i++) free(x[i]);
  if (worst[0] > 1.34 || worst[1] > 3.6 || worst[2] > 2)
    fail_msg("off by %f, %f and %f ulp", worst[0], worst[1], worst[2]);
}

// The ends of the range: what is below counts as the last number, infinity and NaN stay.
static void roots_end_where_numbers_do(void **state) {
  (void)state;
  static float x[4][MANY];
  float *all[4] = {x[0], x[1], x[2], x[3]};
  float first[] = {0x1p-126f, 0x1.fffffep127f, INFINITY, NAN, 0.0f, 1e-40f};
  for (int i = 0; i < MANY; i++) x[0][i] = 1;
  memcpy(x[0], first, sizeof first);
  run_roots("cpu", all);
  assert_true(ulps(x[1][0], 0x1p63) < 1.34 && ulps(x[1][1], 0x1p-64) < 1.34);
  assert_true(isinf(x[1][2]) && isnan(x[1][3]) && x[1][4] > 0x1p64f && x[1][5] > 0x1p63f);
  assert_true(isinf(x[3][2]) && isnan(x[3][3]) && x[3][4] == 0);
}

static const char function_text[] = "program p() fast(4)\n"
                                    "buffer x: f32[] read\n"
                                    "buffer e: f32[] write\nbuffer l: f32[] write\n"
                                    "region main grid(len(x)) {\n"
                                    "  let i = global_id.x\n"
                                    "  e[i] = exp(x[i])\n"
                                    "  l[i] = log(abs(x[i]))\n"
                                    "}\n";

static void run_functions(const char *backend, const float *x, float *exps, float *logs,
                          uint32_t count) {
  vyre_program *p = parse(function_text);
  vyre_executable *e;
  vyre_error error;
  vyre_span spans[3] = {
      {(void *)x, count * sizeof *x}, {exps, count * sizeof *x}, {logs, count * sizeof *x}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 3};
  if (vyre_compile(p, backend, NULL, &e, &error) || vyre_dispatch(e, &args, NULL, &error))
    fail_msg("%s", error.message);
  vyre_executable_release(e);
  vyre_program_release(p);
}

// Every 1021st number. Nearly all were tried once (docs/MATH.md): 1.99 and 3.38.
static void functions_are_near(void **state) {
  (void)state;
  float *x[3];
  double worst[2] = {0};
  uint32_t count = 0;
  for (int i = 0; i < 3; i++) assert_non_null(x[i] = malloc(5 * MANY * sizeof(float)));
  for (uint64_t bits = 0; bits < UINT64_C(0x100000000); bits += 1021) {
    uint32_t low = (uint32_t)bits;
    memcpy(&x[0][count], &low, sizeof low);
    count += isfinite(x[0][count]) && fabsf(x[0][count]) >= 0x1p-126f;
  }
  run_functions("cpu", x[0], x[1], x[2], count);
  for (uint32_t i = 0; i < count; i++) {
    double wanted = exp((double)x[0][i]), off = ulps(x[2][i], log(fabs((double)x[0][i])));
    if (off > worst[1]) worst[1] = off;
    if (wanted >= 0x1p128) assert_true(isinf(x[1][i]));
    if (wanted < 0x1p-126) assert_true(x[1][i] == 0);
    if (wanted < 0x1p-125 || wanted >= 0x1p128) continue;
    off = ulps(x[1][i], wanted);
    if (off > worst[0]) worst[0] = off;
  }
  for (int i = 0; i < 3; i++) free(x[i]);
  if (worst[0] > 2 || worst[1] > 3.4) fail_msg("off by %f and %f ulp", worst[0], worst[1]);
}

static void functions_end_where_numbers_do(void **state) {
  (void)state;
  static const char *const backends[] = {"ref", "cpu", "c"};
  const float x[] = {0,         -0.0f,     INFINITY, -INFINITY, NAN,
                     88.72283f, 88.72285f, -1e30f,   1e30f,     1e-40f};
  enum { POINTS = sizeof x / sizeof *x };
  float wanted[2][POINTS], e[POINTS], l[POINTS];
  for (size_t b = 0; b < sizeof backends / sizeof *backends; b++) {
    run_functions(backends[b], x, e, l, POINTS);
    assert_true(e[0] == 1 && e[1] == 1 && isinf(e[2]) && e[3] == 0 && isnan(e[4]));
    assert_true(e[5] > 3.4e38f && isfinite(e[5]) && isinf(e[6]) && e[7] == 0 && isinf(e[8]));
    assert_true(l[0] == -INFINITY && l[1] == -INFINITY && isnan(l[4]) && l[9] == -INFINITY);
    assert_true(ulps(l[2], 0x1.62e42fefa39efp6) < 1);
    if (!b) {
      memcpy(wanted[0], e, sizeof e);
      memcpy(wanted[1], l, sizeof l);
    }
    e[4] = wanted[0][4]; // NaN: any is as good
    l[4] = wanted[1][4];
    assert_memory_equal(e, wanted[0], sizeof e);
    assert_memory_equal(l, wanted[1], sizeof l);
  }
}

static void random_programs_agree(void **state) {
  (void)state;
  uint32_t changed = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    trial t;
    difference found;
    vyre_program *exact;
    generate_options o = {.seed = seed, .size = 20, .fast_ulp = 1 + seed % 4};
    assert_int_equal(generate_trial(&o, &t, NULL), VYRE_OK);
    assert_int_equal(t.program->fast_ulp, o.fast_ulp);
    assert_true(compare_run(&t, NULL, "cpu", NULL, &found));
    if (found.verdict == DIFFERENT) fail_msg("seed %d: %s", (int)seed, found.text);
    assert_int_equal(relax_program(t.program, &exact, NULL), VYRE_OK);
    changed += exact->code_count != t.program->code_count;
    vyre_program_release(exact);
    trial_fini(&t);
  }
  assert_true(changed > 20); // what agrees was rewritten
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_join_their_sums),
      cmocka_unit_test(what_is_used_elsewhere_stays),
      cmocka_unit_test(divisions_by_constants_become_products),
      cmocka_unit_test(steady_divisors_are_inverted),
      cmocka_unit_test(roots_are_inverted),
      cmocka_unit_test(sums_of_products_begin_with_what_is_added),
      cmocka_unit_test(sums_of_rows_are_taken_apart),
      cmocka_unit_test(sums_of_rows_agree),
      cmocka_unit_test(roots_are_near),
      cmocka_unit_test(roots_end_where_numbers_do),
      cmocka_unit_test(functions_are_near),
      cmocka_unit_test(functions_end_where_numbers_do),
      cmocka_unit_test(exact_programs_are_left_alone),
      cmocka_unit_test(backends_and_passes_agree),
      cmocka_unit_test(known_arguments_change_nothing),
      cmocka_unit_test(random_programs_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
