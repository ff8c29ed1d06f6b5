// SPDX-License-Identifier: MIT
//
// Dispatches of the CPU backend: memory of transients that is used again, time limits of kernels
// without loops, and what keeps the compiled code of two machines apart.
#include "backend/cpu/compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static vyre_program *parse(const char *text) {
  vyre_program *p;
  vyre_error error;
  if (vyre_program_parse(text, strlen(text), "test", &p, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  return p;
}

static vyre_executable *compile(const char *text) {
  vyre_program *p = parse(text);
  vyre_executable *e;
  vyre_error error;
  if (vyre_compile(p, "cpu", NULL, &e, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_program_release(p);
  return e;
}

static vyre_status dispatch(vyre_executable *e, uint32_t *data, size_t count, uint64_t timeout_ns) {
  vyre_span span = {data, count * sizeof *data};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1, .timeout_ns = timeout_ns};
  vyre_error error;
  return vyre_dispatch(e, &args, NULL, &error);
}

// The block of a small dispatch is far too small for the next one, and large enough afterwards.
static void transients_of_any_size_follow_one_another(void **state) {
  (void)state;
  vyre_executable *e = compile("program twice()\n"
                               "buffer x: u32[] readwrite\n"
                               "transient t: u32[len(x)]\n"
                               "region a grid(len(x)) { t[global_id.x] = x[global_id.x] + 1 }\n"
                               "region b grid(len(x)) { x[global_id.x] = t[global_id.x] * 2 }\n");
  static const size_t counts[] = {1, 8u << 20, 16, 17, 8u << 20, 3, 33};
  uint32_t *data = malloc((8u << 20) * sizeof *data);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    for (size_t k = 0; k < counts[i]; k++) data[k] = (uint32_t)k;
    assert_int_equal(dispatch(e, data, counts[i], 0), VYRE_OK);
    for (size_t k = 0; k < counts[i]; k += counts[i] / 7 + 1) assert_int_equal(data[k], 2 * k + 2);
    assert_int_equal(data[counts[i] - 1], 2 * counts[i]);
  }
  free(data);
  vyre_executable_release(e);
}

// Transients are zero at the beginning of every dispatch, also in memory that was used before.
static void transients_begin_with_zeros(void **state) {
  (void)state;
  vyre_executable *e = compile("program sum()\n"
                               "buffer x: u32[] readwrite\n"
                               "transient t: u32[len(x)]\n"
                               "region a grid(len(x)) {\n"
                               "  if x[global_id.x] > 0 { t[global_id.x] = 5 }\n"
                               "}\n"
                               "region b grid(len(x)) { x[global_id.x] = t[global_id.x] }\n");
  for (uint32_t round = 0; round < 3; round++) {
    uint32_t data[40];
    for (uint32_t i = 0; i < 40; i++) data[i] = round == 0 || i % 2;
    assert_int_equal(dispatch(e, data, 40, 0), VYRE_OK);
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(data[i], round == 0 || i % 2 ? 5 : 0);
  }
  vyre_executable_release(e);
}

// No loop asks for the time here: the end of the time is seen between parts of the grid. The grids
// are so large that no machine gets through them first; the first one is a single row.
static void a_time_limit_ends_kernels_without_loops(void **state) {
  (void)state;
  static const char *const extents[] = {"2147483647", "3, 2147483647", "2, 3, 2147483647"};
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "program wide()\n"
             "buffer x: u32[] readwrite\n"
             "region a grid(%s) {\n"
             "  let a = sin(sin(sin(sin(f64(global_id.x) + f64(global_id.y * 7 + global_id.z)))))\n"
             "  if exp(exp(exp(cos(cos(cos(a)))))) == 0.125 { x[0] = 1 }\n"
             "}\n",
             extents[i]);
    vyre_executable *e = compile(text);
    uint32_t data[1] = {0};
    assert_int_equal(dispatch(e, data, 1, 20000000), VYRE_ERROR_TIMEOUT);
    vyre_executable_release(e);
  }
}

// ---- what compiled code is kept under -----------------------------------------------------------

static void code_is_kept_apart(void **state) {
  (void)state;
  vyre_program *p = parse("program a()\nbuffer x: u32[] write\nregion r grid(1) { x[0] = 1 }\n");
  vyre_program *q = parse("program a()\nbuffer x: u32[] write\nregion r grid(1) { x[0] = 2 }\n");
  const struct {
    const char *host;
    const vyre_program *program;
    cpu_options options;
  } rows[] = {
      {"this", p, {.cpu = "", .features = "", .width = 4}},
      {"that", p, {.cpu = "", .features = "", .width = 4}},
      {"this", q, {.cpu = "", .features = "", .width = 4}},
      {"this", p, {.cpu = "znver3", .features = "", .width = 4}},
      {"this", p, {.cpu = "", .features = "+avx2", .width = 4}},
      {"this", p, {.cpu = "", .features = "", .width = 8}},
      {"this", p, {.cpu = "", .features = "", .width = 4, .tier = VYRE_TIER_QUICK}},
      {"this", p, {.cpu = "", .features = "", .width = 4, .debug_lines = true}},
  };
  enum { ROWS = sizeof rows / sizeof *rows };
  uint8_t names[ROWS][HASH_BYTES];
  for (int i = 0; i < ROWS; i++) {
    cache_key key;
    cpu_cache_key(&key, rows[i].host, rows[i].program, &rows[i].options);
    hash_final(&key.hash, names[i]);
    for (int k = 0; k < i; k++)
      if (!memcmp(names[i], names[k], HASH_BYTES))
        fail_msg("rows %d and %d share their code", k, i);
  }
  vyre_program_release(p);
  vyre_program_release(q);
}

int main(void) {
  setenv("VYRE_CACHE", "off", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transients_of_any_size_follow_one_another),
      cmocka_unit_test(transients_begin_with_zeros),
      cmocka_unit_test(a_time_limit_ends_kernels_without_loops),
      cmocka_unit_test(code_is_kept_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
