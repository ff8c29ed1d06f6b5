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
#include "../raw_listing.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TRIALS = 40 };
#else
enum { TRIALS = 300 };
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

static void check(const trial *t, const outcome *expected, const lower_target *target,
                  const char *name, bool is_racy) {
  vyre_program *p = lowered(t->program, target);
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
  assert_true(trial_run(t, NULL, "ref", NULL, (trial_limits){.fuel = COMPARE_FUEL}, &expected));
  for (unsigned i = 0; i < RECIPE_COUNT; i++) {
    lower_target target = lower_lacking(i);
    check(t, &expected, &target, name, is_racy);
  }
  check(t, &expected, &lower_everything, name, is_racy);
  check(t, &expected, &lower_nothing, name, is_racy);
  lower_target any = lower_converting_any();
  check(t, &expected, &any, name, is_racy);
  outcome_fini(&expected);
}

// ---- the same bits ------------------------------------------------------------------------------

static void test_rows_keep_their_meaning(void **state) {
  (void)state;
  suite s = {.name = "rows"};
  vyre_error error;
  assert_int_equal(suite_add_rows(&s, &error), VYRE_OK);
  assert_int_equal(suite_add_math(&s, 1, 20, &error), VYRE_OK);
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
    generate_options options = {.seed = seed, .with_math = seed % 8 == 0};
    assert_int_equal(generate_trial(&options, &t, NULL), VYRE_OK);
    check_all(&t, name, false);
    trial_fini(&t);
  }
}

// A program of one operation over two buffers, with given values.
static void check_pairs(const char *operation, const char *type, const char *result,
                        const vyre_span spans[2], uint64_t count, const lower_target *target) {
  char text[400];
  snprintf(text, sizeof text,
           "program p()\nbuffer x: %s[] read\nbuffer y: %s[] read\nbuffer o: %s[len(x)] write\n"
           "region all grid(len(x)) { let i = global_id.x\n let a = x[i]\n let b = y[i]\n"
           " o[i] = %s }\n",
           type, type, result, operation);
  vyre_error error;
  vyre_program *p;
  if (vyre_program_parse(text, strlen(text), "text", &p, &error) != VYRE_OK)
    fail_msg("%s\n%s", error.message, text);
  size_t size = count * vyre_type_size(vyre_type_from_name(result));
  vyre_span all[3] = {spans[0], spans[1], {calloc(1, size), size}};
  trial t = {.program = p, .buffers = all, .buffer_count = 3};
  outcome expected;
  assert_true(trial_run(&t, NULL, "ref", NULL, (trial_limits){0}, &expected));
  assert_int_equal(expected.status, VYRE_OK);
  check(&t, &expected, target, operation, false);
  outcome_fini(&expected);
  free(all[2].data);
  vyre_program_release(p);
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

// ---- what is left -------------------------------------------------------------------------------

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
      vyre_program *p = lowered(from, &target);
      vyre_program *same = lowered(from, &lower_everything);
      lowering l = {.from = p, .target = &target, .b = vyre_builder_new("p")};
      for (uint32_t at = 1; at < p->code_count; at++) {
        const inst *in = &p->code[at];
        bool is_of_values = in->op != VYRE_OP_BITCAST && in->op != VYRE_OP_CONVERT;
        if (is_of_values && recipe_table[k]->takes && recipe_table[k]->takes(&l, in))
          fail_msg("%s: `%s` is left for %s", s.cases.at[i].name, inst_name(in), target.name);
      }
      changed[k] += memcmp(program_fingerprint(p), program_fingerprint(same), HASH_BYTES) != 0;
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

typedef struct request {
  uint64_t after, asked; // questions answered with no, and all
} request;

static bool is_stopped(void *context) {
  request *r = context;
  return r->asked++ >= r->after;
}

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
  lower_target target = lower_lacking(RECIPE_stop);
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
  lower_target target = lower_lacking(RECIPE_stop);
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

static vyre_program *parse(const char *text) {
  vyre_program *p;
  vyre_error error;
  if (vyre_program_parse(text, strlen(text), "test", &p, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  return p;
}

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
