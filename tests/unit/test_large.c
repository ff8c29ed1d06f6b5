// SPDX-License-Identifier: MIT
//
// Large programs: they compile, in a time that the runner allows, and compute what the reference
// does. What LLVM cannot take in one piece is cut and compiled for one lane; see docs/BACKENDS.md.
#include "base/strbuf.h"
#include "vyre/vyre.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LENGTH = 37 };

static const char head[] = "program large()\nbuffer x: f32[] read\nbuffer ix: u32[] read\n"
                           "buffer y: f32[] readwrite\n";
static const char begin[] = "region main grid(len(y)) {\nlet i = global_id.x\nvar s: f32 = x[i]\n";

static vyre_program *parse(strbuf *text) {
  vyre_program *p = NULL;
  vyre_error error;
  assert_false(text->failed);
  if (vyre_program_parse(text->at, text->size, "test", &p, &error) != VYRE_OK)
    fail_msg("%u:%u: %s", error.line, error.column, error.message);
  strbuf_fini(text);
  return p;
}

static void run(vyre_program *p, const char *backend, float *y) {
  float x[LENGTH];
  uint32_t ix[LENGTH];
  for (uint32_t i = 0; i < LENGTH; i++) {
    x[i] = (float)(i % 7) * 0.25f + 0.5f;
    ix[i] = i * 5 % (LENGTH + 3); // some are out of bounds
    y[i] = (float)i;
  }
  vyre_span spans[] = {{x, sizeof x}, {ix, sizeof ix}, {y, LENGTH * sizeof *y}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 3};
  vyre_executable *e;
  vyre_error error;
  if (vyre_compile(p, backend, NULL, &e, &error) != VYRE_OK) fail_msg("%s", error.message);
  if (vyre_dispatch(e, &args, NULL, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_executable_release(e);
}

// Takes the program.
static void check(vyre_program *p) {
  float expected[LENGTH], y[LENGTH];
  run(p, "ref", expected);
  run(p, "cpu", y);
  assert_memory_equal(y, expected, sizeof y);
  vyre_program_release(p);
}

// One line per repetition.
static void check_body(uint32_t count, const char *line) {
  strbuf text = {0};
  strbuf_puts(&text, head);
  strbuf_puts(&text, begin);
  for (uint32_t k = 0; k < count; k++) strbuf_printf(&text, line, k % 29, k % 11);
  strbuf_puts(&text, "y[i] = s\n}\n");
  check(parse(&text));
}

static void test_long_body(void **state) {
  (void)state;
  check_body(24000, "s = s * 0.5 + %u.25 - %u.5\n");
}

static void test_many_loads(void **state) {
  (void)state;
  check_body(3000, "s = s + x[i * 2 + %u] * %u.5\n");
}

static void test_many_gathers(void **state) {
  (void)state;
  check_body(2000, "s = s + x[ix[i + %u] * 3 + %u]\n");
}

static void test_many_stores(void **state) {
  (void)state;
  check_body(2000, "y[i * 3 + %u] = s + %u.5\n");
}

static void test_many_conditions(void **state) {
  (void)state;
  check_body(3000, "if s > %u.5 {\ns = s * 0.5 + %u.0\n}\n");
}

static void test_many_loops(void **state) {
  (void)state;
  check_body(1500, "for k in 0u32..(i + %u) %% 5 {\ns = s * 0.5 + x[k + %u]\n}\n");
}

static void test_many_regions(void **state) {
  (void)state;
  strbuf text = {0};
  strbuf_puts(&text, head);
  for (uint32_t k = 0; k < 4096; k++)
    strbuf_printf(
        &text, "region r%u grid(len(y)) {\nlet i = global_id.x\ny[i] = y[i] * 0.5 + x[i]\n}\n", k);
  check(parse(&text));
}

// A shared array each: what one region costs does not depend on the arrays of the others.
static void test_many_shared_arrays(void **state) {
  (void)state;
  strbuf text = {0};
  strbuf_puts(&text, head);
  for (uint32_t k = 0; k < 1000; k++)
    strbuf_printf(&text,
                  "region r%u grid(37) workgroup(37) {\nshared t: f32[37]\nlet i = local_id.x\n"
                  "t[i] = y[i] * 0.5\nbarrier\ny[i] = t[36 - i] + x[i]\n}\n",
                  k);
  check(parse(&text));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_body),       cmocka_unit_test(test_many_loads),
      cmocka_unit_test(test_many_gathers),    cmocka_unit_test(test_many_stores),
      cmocka_unit_test(test_many_conditions), cmocka_unit_test(test_many_loops),
      cmocka_unit_test(test_many_regions),    cmocka_unit_test(test_many_shared_arrays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
