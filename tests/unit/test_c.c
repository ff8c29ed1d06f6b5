// SPDX-License-Identifier: MIT
//
// The emitted C: random programs give the same bits through the C backend as on ref, and the file
// alone compiles without a warning with gcc and clang and gives them too. VYRE_TRIALS sets how many
// programs are tried.
#include "backend/c/emit.h"
#include "base/file.h"
#include "base/process.h"
#include "conform/batch.h"
#include "conform/generate.h"
#include "../scratch_dir.h"
#include "../parsed_program.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TRIALS = 12 };
#else
enum { TRIALS = 48 };
#endif

static uint32_t trial_count(void) {
  const char *setting = getenv("VYRE_TRIALS");
  return setting ? (uint32_t)strtoul(setting, NULL, 10) : TRIALS;
}

static void skip_without_compiler(void) {
  if (process_exists("cc")) return;
  print_message("there is no C compiler\n");
  skip();
}

static void test_random_programs(void **state) {
  (void)state;
  enum { BATCH = 12 };
  skip_without_compiler();
  for (uint64_t seed = 1; seed <= trial_count(); seed += BATCH) {
    trial trials[BATCH];
    difference found[BATCH];
    for (uint64_t i = 0; i < BATCH; i++) {
      generate_options options = {.seed = seed + i, .with_math = i % 4 == 0};
      assert_int_equal(generate_trial(&options, &trials[i], NULL), VYRE_OK);
    }
    assert_true(batch_compare(trials, BATCH, "c", NULL, (trial_limits){0}, found));
    for (uint64_t i = 0; i < BATCH; i++) {
      if (found[i].verdict != SAME)
        fail_msg("seed %llu: %s", (unsigned long long)(seed + i), found[i].text);
      trial_fini(&trials[i]);
    }
  }
}

static void *compiled(const char *compiler, const vyre_program *p) {
  // A name of its own for each: what is loaded must not be written over.
  static unsigned number;
  char name[40], *text;
  size_t size;
  vyre_error error;
  snprintf(name, sizeof name, "%u.c", number++);
  const char *file = scratch_path(name);
  name[strlen(name) - 1] = 's';
  const char *module = scratch_path(name);
  assert_int_equal(c_emit(p, C_FILE, false, &text, &size, &error), VYRE_OK);
  assert_int_equal(file_replace(file, text, size, &error), VYRE_OK);
  free(text);
  const char *const argv[] = {compiler,  "-std=c11", "-O2",  "-Wall", "-Wextra", "-Werror", "-fPIC",
                              "-shared", "-o",       module, file,    "-lm",     NULL};
  if (!process_run(argv)) fail_msg("%s does not take %s", compiler, file);
  void *opened = dlopen(module, RTLD_NOW | RTLD_LOCAL);
  if (!opened) fail_msg("%s", dlerror());
  return opened;
}

static const char sample[] =
    "program sample.one(scale: f32, shift: i64)\n"
    "buffer x: f32[] read\nbuffer y: i32[len(x)] readwrite\ntransient t: i32[len(x) * 2]\n"
    "buffer sum: u64[1] readwrite\n"
    "region first grid(len(x)) {\n  let i = global_id.x\n"
    "  t[i] = i32(x[i] * scale) / (y[i] - 3)\n  t[i + 7] = y[i] % i32(shift) + t[i + 1]\n"
    "  atomic_add(sum[0], u64(popcount(y[i]))) }\n"
    "region second grid(len(x)) workgroup(8) {\n  shared s: i32[8]\n  let l = local_id.x\n"
    "  s[l] = t[global_id.x]\n  barrier\n  var step: u32 = 4\n"
    "  while step > 0 {\n    if l < step { s[l] = s[l] + s[l + step] }\n    barrier\n"
    "    step = step >> 1 }\n  y[global_id.x] = s[0] - rotl(s[7], y[global_id.x]) }\n";

typedef int (*sample_function)(float, int64_t, const float *, uint32_t, int32_t *, uint32_t,
                               uint64_t *, uint32_t);

// With the compilers that are there; the function is called as its header declares it.
static void test_the_file_alone(void **state) {
  (void)state;
  enum { COUNT = 64 };
  static const char *const compilers[] = {"gcc", "clang-19", "clang"};
  vyre_program *p = parse(sample);
  float x[COUNT];
  int32_t first[COUNT], expected[COUNT];
  uint64_t expected_sum = 0;
  for (int i = 0; i < COUNT; i++) {
    x[i] = i % 9 ? (float)(i - 30) * 1.25e8f : (float)(i % 2 ? 0.0 / 0.0 : -0.0);
    first[i] = i % 7 ? i % 5 - 2 : INT32_MIN + i % 5;
  }
  memcpy(expected, first, sizeof first);
  vyre_executable *e;
  vyre_error error;
  assert_int_equal(vyre_compile(p, "ref", NULL, &e, &error), VYRE_OK);
  vyre_span spans[] = {{x, sizeof x}, {expected, sizeof expected}, {&expected_sum, 8}};
  vyre_scalar params[] = {vyre_scalar_f32(3.5f), {VYRE_I64, (uint64_t)-5}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = spans, .buffer_count = 3};
  if (vyre_dispatch(e, &args, NULL, &error) != VYRE_OK) fail_msg("%s", error.message);
  uint32_t tried = 0;
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
    if (!process_exists(compilers[i])) continue;
    int32_t y[COUNT];
    uint64_t sum = 0;
    sample_function call;
    void *module = compiled(compilers[i], p), *symbol = dlsym(module, "vyre_sample_one");
    assert_non_null(symbol);
    memcpy(&call, &symbol, sizeof call);
    memcpy(y, first, sizeof y);
    assert_int_equal(call(3.5f, -5, x, COUNT, y, COUNT, &sum, 1), C_RAN);
    assert_memory_equal(y, expected, sizeof y);
    assert_int_equal(sum, expected_sum);
    assert_int_equal(call(3.5f, -5, x, COUNT, y, COUNT - 1, &sum, 1), C_BAD_EXTENT);
    assert_int_equal(call(3.5f, -5, x, 60, y, 60, &sum, 1), C_BAD_EXTENT);
    assert_int_equal(call(3.5f, -5, x, 0, y, 0, &sum, 1), C_RAN);
    dlclose(module);
    tried++;
  }
  vyre_executable_release(e);
  vyre_program_release(p);
  if (!tried) skip_without_compiler();
}

// Random programs, and names that mean something in C.
static void test_no_compiler_warns(void **state) {
  (void)state;
  static const char *const compilers[] = {"gcc", "clang-19"};
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
    if (!process_exists(compilers[i])) continue;
    for (uint64_t seed = 1; seed <= trial_count() / 4; seed++) {
      trial t;
      assert_int_equal(generate_trial(&(generate_options){.seed = seed, .size = 40}, &t, NULL),
                       VYRE_OK);
      dlclose(compiled(compilers[i], t.program));
      trial_fini(&t);
    }
    vyre_program *p = parse("program main(int: f32, g: u32)\nbuffer s: f32[] readwrite\n"
                            "region main grid(len(s)) { let at = global_id.x\n"
                            " s[at] = s[at] * int + f32(g) }\nregion DONE grid(1) { }\n");
    dlclose(compiled(compilers[i], p));
    vyre_program_release(p);
  }
}

// A host that ignores the end of its children takes the compiler's status away.
static void test_children_may_be_ignored(void **state) {
  (void)state;
  skip_without_compiler();
  vyre_program *p = parse("program p()\nbuffer x: u32[] readwrite\n"
                          "region a grid(1) { x[0] = 1 }\n");
  vyre_executable *e = NULL;
  vyre_error error = {0};
  void (*before)(int) = signal(SIGCHLD, SIG_IGN);
  vyre_status status = vyre_compile(p, "c", NULL, &e, &error);
  signal(SIGCHLD, before);
  assert_string_equal(error.message, "");
  assert_int_equal(status, VYRE_OK);
  vyre_executable_release(e);
  vyre_program_release(p);
}

static void test_errors_are_those_of_every_backend(void **state) {
  (void)state;
  skip_without_compiler();
  vyre_program *p = parse("program p()\nbuffer x: u32[] readwrite\n"
                          "region a grid(1) { x[0] = 1 }\n"
                          "region b grid(8) workgroup(8) { var n: u32 = 0\n"
                          " while x[1] == n { n = x[1] }\n"
                          " if x[local_id.x] == 0 { barrier } }\n");
  vyre_executable *e;
  vyre_error error;
  if (vyre_compile(p, "c", NULL, &e, &error) != VYRE_OK) fail_msg("%s", error.message);
  uint32_t x[8] = {0};
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1, .timeout_ns = 50000000};
  assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_ERROR_TIMEOUT);
  assert_non_null(strstr(error.message, "`b`"));
  x[1] = 7;
  assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_ERROR_DIVERGENCE);
  assert_non_null(strstr(error.message, "`b`"));
  vyre_executable_release(e);
  vyre_program_release(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_programs),
      cmocka_unit_test(test_the_file_alone),
      cmocka_unit_test(test_no_compiler_warns),
      cmocka_unit_test(test_errors_are_those_of_every_backend),
      cmocka_unit_test(test_children_may_be_ignored),
  };
  return cmocka_run_group_tests_name("c", tests, scratch_dir_make, scratch_dir_remove);
}
