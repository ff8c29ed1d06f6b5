// SPDX-License-Identifier: MIT
//
// How many operations an invocation makes, as far as that can be known before it runs.
#include "analysis/effort.h"
#include "../parsed_program.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

#define NOT_KNOWN UINT64_MAX

// With n = 5, m = 3, 40 elements in x and 7 in y.
static void expect(const char *body, uint64_t wanted) {
  char text[900];
  snprintf(text, sizeof text,
           "program p(n: u32, m: i32)\nbuffer x: f32[] readwrite\nbuffer y: i32[] readwrite\n"
           "region r grid(len(x)) {\n  let i = global_id.x\n%s\n}\n",
           body);
  float x[40];
  int32_t y[7];
  const vyre_scalar params[] = {vyre_scalar_u32(5), {VYRE_I32, 3}};
  const vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  const vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = spans, .buffer_count = 2};
  vyre_program *p = parse(text);
  effort *e = effort_new(p);
  uint64_t found;
  assert_non_null(e);
  bool is_known = effort_of_invocation(e, 0, &args, &found);
  if (is_known != (wanted != NOT_KNOWN) || (is_known && found != wanted))
    fail_msg("%s: %llu", body, is_known ? (unsigned long long)found : 0);
  effort_free(e);
  vyre_program_release(p);
}

static void test_straight_lines(void **state) {
  (void)state;
  expect("  x[i] = 2.0 * x[i] + 1.0", 2);
  expect("  x[i] = fma(x[i], 2.0, 1.0) / 3.0", 3);
  expect("  x[i] = x[i]", 0);
  expect("  y[i] = (y[i] * 3 + 1) ^ (y[i] >> 2)", 4); // no floats: integers count
  expect("  x[i + 1] = x[i * 2] + 1.0", 1);           // otherwise they do not
  expect("  if i < n { x[i] = x[i] + 1.0 } else { x[i] = x[i] * 2.0 }", 2);
}

static void test_loops(void **state) {
  (void)state;
  expect("  for k in 0..10u32 { x[i] = x[i] + 1.0 }", 10);
  expect("  for k in 0..n { x[i] = x[i] + 1.0 }", 5);
  expect("  for k in 0..n { for l in k..k { }\n for j in 0..m { x[i] = x[i] + 1.0 }\n"
         "    x[i] = x[i] * 2.0 }",
         5 * 3 + 5);
  expect("  for k in 1..len(y) by 2 { x[i] = x[i] + 1.0 }", 3);
  expect("  for k in 0..n * 2 + 1 { x[i] = x[i] + 1.0 }", 11);
  expect("  for k in n..2 { x[i] = x[i] + 1.0 }\n  x[i] = -x[i]", 1);
}

static void test_what_is_not_known(void **state) {
  (void)state;
  expect("  while x[i] < 3.0 { x[i] = x[i] + 1.0 }", NOT_KNOWN);
  expect("  for k in 0..n { if x[i] > 3.0 { break }\n x[i] = x[i] + 1.0 }", NOT_KNOWN);
  expect("  for k in 0..n { if x[i] > 3.0 { return }\n x[i] = x[i] + 1.0 }", NOT_KNOWN);
  expect("  for k in 0..y[i] { x[i] = x[i] + 1.0 }", NOT_KNOWN);
  expect("  for k in 0..i { x[i] = x[i] + 1.0 }", NOT_KNOWN);
  expect("  if i > n { return }\n  x[i] = x[i] + 1.0", 1);
}

// They are as many operations as they are made of.
static void test_functions(void **state) {
  (void)state;
  vyre_program *p = parse("program p()\nbuffer x: f32[] readwrite\n"
                          "region r grid(len(x)) { x[global_id.x] = exp(x[global_id.x]) }");
  effort *e = effort_new(p);
  uint64_t found = 0;
  assert_true(effort_of_invocation(e, 0, &(vyre_dispatch_args){0}, &found));
  assert_true(found > 5 && found < 100);
  effort_free(e);
  vyre_program_release(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_straight_lines),
      cmocka_unit_test(test_loops),
      cmocka_unit_test(test_what_is_not_known),
      cmocka_unit_test(test_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
