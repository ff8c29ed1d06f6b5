// SPDX-License-Identifier: MIT
//
// The mathematical functions against MPFR: special values, every exponent, a quarter million random
// points each; the values that Annex F of C names one by one; and the expansion as a pass.
#include "math/expanded.h"
#include "math/points.h"
#include "math/reference.h"

#include "ir/builder.h"
#include "ir/math.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

enum { BATCH = 4096, RANDOM_POINTS = 1 << 18, EXACT_EVERY = 256 };

typedef struct batch {
  const expanded *f;
  size_t count;
  double x[BATCH], y[BATCH], got[BATCH];
} batch;

static void run(const expanded *f, size_t n, const double *x, const double *y, double *got) {
  static union {
    float f32[BATCH];
    double f64[BATCH];
  } a, b, out;
  for (size_t i = 0; i < n; i++) {
    if (f->type == VYRE_F32) {
      a.f32[i] = (float)x[i];
      b.f32[i] = (float)y[i];
    } else {
      a.f64[i] = x[i];
      b.f64[i] = y[i];
    }
  }
  f->run(n, &a, &b, &out);
  for (size_t i = 0; i < n; i++) got[i] = f->type == VYRE_F32 ? (double)out.f32[i] : out.f64[i];
}

static void check_point(const expanded *f, double x, double y, double got, bool is_exact) {
  double limit = reference_limit(f->op, f->type);
  double error = is_exact ? reference_error_exact(f->op, f->type, x, y, got)
                          : reference_error(f->op, f->type, x, y, got);
  if (error <= limit) return;
  fail_msg("%s %s(%a, %a) is %a: %g ulp from the exact result, at most %g are allowed", f->name,
           vyre_type_name(f->type), x, y, got, error, limit);
}

// Every point against MPFR.
static void flush_exact(batch *b) {
  run(b->f, b->count, b->x, b->y, b->got);
  for (size_t i = 0; i < b->count; i++) check_point(b->f, b->x[i], b->y[i], b->got[i], true);
  b->count = 0;
}

static void add_exact(batch *b, double x, double y) {
  b->x[b->count] = x;
  b->y[b->count++] = y;
  if (b->count == BATCH) flush_exact(b);
}

static void test_special_values(void **state) {
  static batch b;
  b = (batch){.f = *state};
  double special[POINTS_SPECIAL_MAX];
  size_t n = points_special(b.f->type, special);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < (b.f->arity == 2 ? n : 1); k++) add_exact(&b, special[i], special[k]);
  flush_exact(&b);
}

// Each exponent with each sign; for pairs, exponents far apart and close together.
static void test_every_exponent(void **state) {
  static batch b;
  b = (batch){.f = *state};
  bool is_f32 = b.f->type == VYRE_F32;
  unsigned mantissa = is_f32 ? 23 : 52, exponents = is_f32 ? 512 : 4096;
  points p = {2};
  for (unsigned e = 0; e < exponents; e++)
    for (int k = 0; k < (is_f32 ? 16 : 4); k++) {
      uint64_t low = points_bits(&p) >> (64 - mantissa);
      double x = points_of_bits(b.f->type, (uint64_t)e << mantissa | (k ? low : 0));
      double y = points_any(&p, b.f->type);
      if (k % 2 && b.f->arity == 2) y = points_round(b.f->type, x * points_uniform(&p, -3, 3));
      add_exact(&b, x, y);
    }
  flush_exact(&b);
}

// The fast reference decides most points; that it is as good as it must be is checked on some.
static void test_random_points(void **state) {
  static batch b;
  b = (batch){.f = *state};
  points p = {3};
  for (size_t done = 0; done < RANDOM_POINTS; done += BATCH) {
    for (size_t i = 0; i < BATCH; i++) points_random(&p, b.f->op, b.f->type, &b.x[i], &b.y[i]);
    run(b.f, BATCH, b.x, b.y, b.got);
    for (size_t i = 0; i < BATCH; i++) {
      bool is_exact = i % EXACT_EVERY == 0;
      check_point(b.f, b.x[i], b.y[i], b.got[i], is_exact);
      if (!is_exact) continue;
      double exact = reference_error_exact(b.f->op, b.f->type, b.x[i], b.y[i], b.got[i]);
      double fast = reference_error_fast(b.f->op, b.f->type, b.x[i], b.y[i], b.got[i]);
      if (!(fabs(exact - fast) <= 1.0 / REFERENCE_MARGIN_PARTS))
        fail_msg("%s %s(%a, %a): the fast reference is off by %g ulp", b.f->name,
                 vyre_type_name(b.f->type), b.x[i], b.y[i], fabs(exact - fast));
    }
  }
}

// ---- Annex F ------------------------------------------------------------------------------------

#define INF  __builtin_inf()
#define QNAN __builtin_nan("")

typedef struct named_case {
  vyre_op op;
  double x, y, result;
} named_case;

static const named_case NAMED[] = {
    // pow, the whole table of F.10.4.4
    {VYRE_OP_POW, 0, -3, INF},
    {VYRE_OP_POW, -0.0, -3, -INF},
    {VYRE_OP_POW, 0, -2.5, INF},
    {VYRE_OP_POW, -0.0, -2.5, INF},
    {VYRE_OP_POW, -0.0, -2, INF},
    {VYRE_OP_POW, 0, -INF, INF},
    {VYRE_OP_POW, -0.0, -INF, INF},
    {VYRE_OP_POW, 0, 3, 0},
    {VYRE_OP_POW, -0.0, 3, -0.0},
    {VYRE_OP_POW, 0, 2.5, 0},
    {VYRE_OP_POW, -0.0, 2.5, 0},
    {VYRE_OP_POW, -0.0, 2, 0},
    {VYRE_OP_POW, -1, INF, 1},
    {VYRE_OP_POW, -1, -INF, 1},
    {VYRE_OP_POW, 1, QNAN, 1},
    {VYRE_OP_POW, 1, INF, 1},
    {VYRE_OP_POW, QNAN, 0, 1},
    {VYRE_OP_POW, QNAN, -0.0, 1},
    {VYRE_OP_POW, INF, 0, 1},
    {VYRE_OP_POW, 0, 0, 1},
    {VYRE_OP_POW, -2, 0.5, QNAN},
    {VYRE_OP_POW, -2, 3, -8},
    {VYRE_OP_POW, -2, 4, 16},
    {VYRE_OP_POW, 0.5, -INF, INF},
    {VYRE_OP_POW, -0.5, -INF, INF},
    {VYRE_OP_POW, 2, -INF, 0},
    {VYRE_OP_POW, -2, -INF, 0},
    {VYRE_OP_POW, 0.5, INF, 0},
    {VYRE_OP_POW, -0.5, INF, 0},
    {VYRE_OP_POW, 2, INF, INF},
    {VYRE_OP_POW, -2, INF, INF},
    {VYRE_OP_POW, -INF, -3, -0.0},
    {VYRE_OP_POW, -INF, -2, 0},
    {VYRE_OP_POW, -INF, -2.5, 0},
    {VYRE_OP_POW, -INF, 3, -INF},
    {VYRE_OP_POW, -INF, 2, INF},
    {VYRE_OP_POW, -INF, 2.5, INF},
    {VYRE_OP_POW, INF, -1, 0},
    {VYRE_OP_POW, INF, 1, INF},
    {VYRE_OP_POW, QNAN, 1, QNAN},
    {VYRE_OP_POW, 2, QNAN, QNAN},
    // atan2
    {VYRE_OP_ATAN2, 0, 1, 0},
    {VYRE_OP_ATAN2, -0.0, 1, -0.0},
    {VYRE_OP_ATAN2, 0, 0, 0},
    {VYRE_OP_ATAN2, -0.0, 0, -0.0},
    {VYRE_OP_ATAN2, 1, INF, 0},
    {VYRE_OP_ATAN2, -1, INF, -0.0},
    {VYRE_OP_ATAN2, QNAN, 1, QNAN},
    {VYRE_OP_ATAN2, 0, QNAN, QNAN},
    {VYRE_OP_ATAN2, QNAN, 0, QNAN},
    // hypot, fmod
    {VYRE_OP_HYPOT, INF, QNAN, INF},
    {VYRE_OP_HYPOT, QNAN, -INF, INF},
    {VYRE_OP_HYPOT, 3, -4, 5},
    {VYRE_OP_HYPOT, -0.0, 0, 0},
    {VYRE_OP_HYPOT, QNAN, 0, QNAN},
    {VYRE_OP_FMOD, 0, 3, 0},
    {VYRE_OP_FMOD, -0.0, 3, -0.0},
    {VYRE_OP_FMOD, 5, INF, 5},
    {VYRE_OP_FMOD, -5, INF, -5},
    {VYRE_OP_FMOD, 5, 0, QNAN},
    {VYRE_OP_FMOD, INF, 3, QNAN},
    {VYRE_OP_FMOD, 1, QNAN, QNAN},
    {VYRE_OP_FMOD, -7, 2, -1},
    {VYRE_OP_FMOD, -6, -2, -0.0},
    // functions of one argument
    {VYRE_OP_EXP, -INF, 0, 0},
    {VYRE_OP_EXP, INF, 0, INF},
    {VYRE_OP_EXP, -0.0, 0, 1},
    {VYRE_OP_EXP2, 10, 0, 1024},
    {VYRE_OP_EXP2, -INF, 0, 0},
    {VYRE_OP_EXPM1, -0.0, 0, -0.0},
    {VYRE_OP_EXPM1, -INF, 0, -1},
    {VYRE_OP_EXPM1, INF, 0, INF},
    {VYRE_OP_LOG, 0, 0, -INF},
    {VYRE_OP_LOG, -0.0, 0, -INF},
    {VYRE_OP_LOG, 1, 0, 0},
    {VYRE_OP_LOG, -1, 0, QNAN},
    {VYRE_OP_LOG, INF, 0, INF},
    {VYRE_OP_LOG, -INF, 0, QNAN},
    {VYRE_OP_LOG2, 8, 0, 3},
    {VYRE_OP_LOG2, -0.0, 0, -INF},
    {VYRE_OP_LOG10, 1000, 0, 3},
    {VYRE_OP_LOG10, 1, 0, 0},
    {VYRE_OP_LOG1P, -0.0, 0, -0.0},
    {VYRE_OP_LOG1P, -1, 0, -INF},
    {VYRE_OP_LOG1P, -2, 0, QNAN},
    {VYRE_OP_LOG1P, INF, 0, INF},
    {VYRE_OP_SIN, -0.0, 0, -0.0},
    {VYRE_OP_SIN, INF, 0, QNAN},
    {VYRE_OP_COS, -INF, 0, QNAN},
    {VYRE_OP_COS, -0.0, 0, 1},
    {VYRE_OP_TAN, -0.0, 0, -0.0},
    {VYRE_OP_TAN, INF, 0, QNAN},
    {VYRE_OP_ASIN, -0.0, 0, -0.0},
    {VYRE_OP_ASIN, 1.5, 0, QNAN},
    {VYRE_OP_ACOS, 1, 0, 0},
    {VYRE_OP_ACOS, -1.5, 0, QNAN},
    {VYRE_OP_ATAN, -0.0, 0, -0.0},
    {VYRE_OP_SINH, -0.0, 0, -0.0},
    {VYRE_OP_SINH, -INF, 0, -INF},
    {VYRE_OP_COSH, -INF, 0, INF},
    {VYRE_OP_COSH, 0, 0, 1},
    {VYRE_OP_TANH, -0.0, 0, -0.0},
    {VYRE_OP_TANH, INF, 0, 1},
    {VYRE_OP_TANH, -INF, 0, -1},
    {VYRE_OP_CBRT, -0.0, 0, -0.0},
    {VYRE_OP_CBRT, -INF, 0, -INF},
    {VYRE_OP_CBRT, -27, 0, -3},
    {VYRE_OP_RSQRT, 0, 0, INF},
    {VYRE_OP_RSQRT, -0.0, 0, -INF},
    {VYRE_OP_RSQRT, INF, 0, 0},
    {VYRE_OP_RSQRT, -1, 0, QNAN},
};

static void test_annex_f(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++)
    for (int k = 0; k < 2; k++) {
      const named_case *c = &NAMED[i];
      const expanded *f = expanded_find(c->op, k ? VYRE_F64 : VYRE_F32);
      double got;
      run(f, 1, &c->x, &c->y, &got);
      bool is_same =
          isnan(c->result) ? isnan(got) : got == c->result && !signbit(got) == !signbit(c->result);
      if (!is_same)
        fail_msg("%s %s(%g, %g) is %g, not %g", f->name, vyre_type_name(f->type), c->x, c->y, got,
                 c->result);
    }
}

static void test_nan_in_nan_out(void **state) {
  (void)state;
  for (size_t i = 0; i < expanded_count; i++) {
    double x = QNAN, y = 3, got;
    run(&expanded_functions[i], 1, &x, &y, &got);
    if (!isnan(got)) fail_msg("%s of NaN is %g", expanded_functions[i].name, got);
  }
}

// ---- the pass -----------------------------------------------------------------------------------

// out[i] = op(x[i], y[i]) inside a block, with names.
static vyre_program *make_program(vyre_op op, vyre_type t) {
  vyre_builder *b = vyre_builder_new("program");
  vyre_mem x = vyre_build_buffer(b, "x", t, VYRE_READ, 0);
  vyre_mem y = vyre_build_buffer(b, "y", t, VYRE_READ, 0);
  vyre_mem out = vyre_build_buffer(b, "out", t, VYRE_WRITE, 0);
  vyre_build_region_begin(b, "region");
  vyre_value n = vyre_build_len(b, out);
  vyre_build_grid(b, 1, &n, (uint32_t[3]){64, 1, 1});
  vyre_value id = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0);
  vyre_build_if(b, vyre_build_binary(b, VYRE_OP_LT, id, vyre_build_len(b, out)));
  vyre_value args[2] = {vyre_build_load(b, x, id), vyre_build_load(b, y, id)};
  vyre_build_name(b, args[0], "argument");
  vyre_value r = op_is(op, OPF_MATH)
                     ? vyre_build_op(b, op, VYRE_VOID, op_table[op].operand_count, args)
                     : vyre_build_binary(b, op, args[0], args[1]);
  vyre_build_name(b, r, "result");
  vyre_build_store(b, out, id, r);
  vyre_build_end(b);
  vyre_build_region_end(b);
  vyre_program *program;
  vyre_error error;
  if (vyre_builder_finish(b, &program, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_builder_free(b);
  return program;
}

static bool has_name(const vyre_program *p, const char *name) {
  for (uint32_t i = 1; i < p->code_count; i++)
    if (p->names && p->names[i] && strcmp(p->names[i], name) == 0) return true;
  return false;
}

static void test_expansion_is_exact_operations_only(void **state) {
  (void)state;
  for (size_t i = 0; i < expanded_count; i++) {
    const expanded *f = &expanded_functions[i];
    vyre_program *p = make_program(f->op, f->type), *q = NULL;
    assert_int_equal(math_expand(p, &q, NULL), VYRE_OK);
    assert_ptr_not_equal(p, q);
    for (uint32_t k = 1; k < q->code_count; k++) {
      const inst *in = &q->code[k];
      assert_false(op_is((vyre_op)in->op, OPF_MATH));
      bool is_wide = in->type == VYRE_F64 || in->type == VYRE_I64 || in->type == VYRE_U64;
      if (f->type == VYRE_F32 && is_wide)
        fail_msg("%s for f32 uses %s", f->name, vyre_type_name((vyre_type)in->type));
    }
    assert_true(has_name(q, "argument") && has_name(q, "result"));
    assert_string_equal(q->name, "program");
    assert_string_equal(q->regions[0].name, "region");
    assert_true(q->regions[0].is_elastic);
    vyre_program_release(p);
    vyre_program_release(q);
  }
}

static void test_nothing_to_expand_gives_the_same_program(void **state) {
  (void)state;
  vyre_program *p = make_program(VYRE_OP_ADD, VYRE_F32), *q = NULL;
  assert_int_equal(math_expand(p, &q, NULL), VYRE_OK);
  assert_ptr_equal(p, q);
  vyre_program_release(p);
  vyre_program_release(q);
}

// What was uniform stays so: a barrier under a condition over a function of a parameter is reached
// by the whole workgroup before the expansion and after it, also with the blocks that sin and fmod
// bring.
static void test_uniform_values_stay_uniform(void **state) {
  (void)state;
  vyre_builder *b = vyre_builder_new("uniform");
  uint32_t a = vyre_build_param(b, "a", VYRE_F32);
  vyre_build_region_begin(b, "region");
  vyre_value n = vyre_build_u32(b, 64);
  vyre_build_grid(b, 1, &n, (uint32_t[3]){64, 1, 1});
  vyre_value x = vyre_build_unary(b, VYRE_OP_SIN, vyre_build_param_value(b, a));
  vyre_value y = vyre_build_binary(b, VYRE_OP_FMOD, x, vyre_build_f32(b, 0.25f));
  vyre_build_if(b, vyre_build_binary(b, VYRE_OP_GT, y, vyre_build_f32(b, 0)));
  vyre_build_barrier(b);
  vyre_build_end(b);
  vyre_build_region_end(b);
  vyre_program *p, *q;
  vyre_error error;
  if (vyre_builder_finish(b, &p, &error) != VYRE_OK) fail_msg("%s", error.message);
  if (math_expand(p, &q, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_builder_free(b);
  vyre_program_release(p);
  vyre_program_release(q);
}

// ---- backends -----------------------------------------------------------------------------------

enum { COMPARED = 512 };

typedef union elements { // of either type
  float f32[COMPARED];
  double f64[COMPARED];
} elements;

typedef struct values {
  elements x, y, out;
} values;

static void store_value(vyre_type t, elements *to, size_t i, double v) {
  if (t == VYRE_F32)
    to->f32[i] = (float)v;
  else
    to->f64[i] = v;
}

static double load_value(vyre_type t, const elements *from, size_t i) {
  return t == VYRE_F32 ? (double)from->f32[i] : from->f64[i];
}

static void dispatch(const char *backend, const expanded *f, values *v) {
  size_t bytes = COMPARED * vyre_type_size(f->type);
  vyre_span spans[3] = {{&v->x, bytes}, {&v->y, bytes}, {&v->out, bytes}};
  vyre_program *program = make_program(f->op, f->type);
  vyre_executable *executable = NULL;
  vyre_error error = {0};
  if (vyre_compile(program, backend, NULL, &executable, &error) != VYRE_OK ||
      vyre_dispatch(executable, &(vyre_dispatch_args){.buffers = spans, .buffer_count = 3}, NULL,
                    &error) != VYRE_OK)
    fail_msg("%s: %s", backend, error.message);
  vyre_executable_release(executable);
  vyre_program_release(program);
}

// A backend runs the expansion; the C that the other tests measure gives the same bits.
static void compare_backend(const char *backend, const expanded *f) {
  static values v;
  double special[POINTS_SPECIAL_MAX], x[COMPARED], y[COMPARED], want[COMPARED];
  size_t n = points_special(f->type, special);
  points p = {4};
  for (size_t i = 0; i < COMPARED; i++) {
    points_random(&p, f->op, f->type, &x[i], &y[i]);
    if (i < n) x[i] = special[i];
    store_value(f->type, &v.x, i, x[i]);
    store_value(f->type, &v.y, i, y[i]);
  }
  run(f, COMPARED, x, y, want);
  dispatch(backend, f, &v);
  for (size_t i = 0; i < COMPARED; i++) {
    double got = load_value(f->type, &v.out, i);
    if (isnan(got) && isnan(want[i])) continue;
    if (memcmp(&got, &want[i], sizeof got) != 0)
      fail_msg("%s %s(%a, %a) is %a on %s and %a compiled as C", f->name, vyre_type_name(f->type),
               x[i], y[i], got, backend, want[i]);
  }
}

static void test_interpreter_gives_the_same_bits(void **state) {
  (void)state;
  for (size_t i = 0; i < expanded_count; i++) compare_backend("ref", &expanded_functions[i]);
}

static void test_cpu_gives_the_same_bits(void **state) {
  (void)state;
  for (size_t i = 0; i < expanded_count; i++) compare_backend("cpu", &expanded_functions[i]);
}

// ---- all of them --------------------------------------------------------------------------------

int main(void) {
  static const struct CMUnitTest whole[] = {
      cmocka_unit_test(test_annex_f),
      cmocka_unit_test(test_nan_in_nan_out),
      cmocka_unit_test(test_expansion_is_exact_operations_only),
      cmocka_unit_test(test_nothing_to_expand_gives_the_same_program),
      cmocka_unit_test(test_uniform_values_stay_uniform),
      cmocka_unit_test(test_interpreter_gives_the_same_bits),
      cmocka_unit_test(test_cpu_gives_the_same_bits),
  };
  static const struct {
    const char *what;
    CMUnitTestFunction run;
  } parts[] = {{"special values", test_special_values},
               {"every exponent", test_every_exponent},
               {"random points", test_random_points}};
  enum { WHOLE = sizeof whole / sizeof *whole, PARTS = sizeof parts / sizeof *parts, MAX = 256 };
  static struct CMUnitTest tests[MAX];
  static char names[MAX][48];
  size_t n = 0;
  for (; n < WHOLE; n++) tests[n] = whole[n];
  for (size_t i = 0; i < expanded_count; i++)
    for (size_t k = 0; k < PARTS && n < MAX; k++, n++) {
      const expanded *f = &expanded_functions[i];
      snprintf(names[n], sizeof names[n], "%s %s: %s", f->name, vyre_type_name(f->type),
               parts[k].what);
      tests[n] = (struct CMUnitTest){names[n], parts[k].run, NULL, NULL, (void *)f};
    }
  return _cmocka_run_group_tests("math", tests, n, NULL, NULL);
}
