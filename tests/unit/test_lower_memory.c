// SPDX-License-Identifier: MIT
//
// Memory that runs out while a program is lowered: an error, and nothing is lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../memory_sweep.h"
#include "../lower_targets.h"
#include "lower/lower.h"

// Something for every recipe.
static const char text[] =
    "program p(n: u32, m: i64)\nbuffer x: i32[] readwrite\nbuffer y: f32[] readwrite\n"
    "buffer z: u8[] readwrite\nbuffer w: i64[] readwrite\n"
    "region r grid(len(x), 4) workgroup(4, 1) {\n  shared s: i32[4]\n  array a: i64[3]\n"
    "  let i = global_id.x\n  let l = local_id.x\n  var sum: i64 = w[i] * m\n"
    "  for k in 0..n by 3 { sum = sum + i64(k) }\n  a[i % 3] = sum\n  s[l] = x[i] / x[0]\n"
    "  barrier\n  if i < n { z[i] = u8(popcount(s[3 - l])) }\n"
    "  y[i] = fma(y[i], y[0], floor(y[1])) / sqrt(min(y[2], f32(x[i])))\n"
    "  atomic_max(x[1], i32(a[1]) + rotl(x[2], 5) + mulhi(x[3], abs(x[4])))\n}\n";

static vyre_program *from;
static lower_target target;

static void lower(void) {
  vyre_program *out;
  vyre_error error;
  vyre_status status = lower_program(from, &target, &out, &error);
  if (status != VYRE_OK && status != VYRE_ERROR_MEMORY) fail_msg("%s", error.message);
  assert_int_equal(status == VYRE_OK, out != NULL);
  if (out) vyre_program_release(out);
}

static void lowering_survives(void **state) {
  (void)state;
  vyre_error error;
  if (vyre_program_parse(text, sizeof text - 1, "text", &from, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  const lower_target targets[] = {lower_everything, lower_nothing, lower_words(),
                                  lower_flushing(lower_nothing)};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    target = targets[i];
    memory_sweep(lower, 4);
  }
  vyre_program_release(from);
}

// What is declined is given back as well.
static void decline(void) {
  vyre_program *out;
  vyre_error error;
  lower_target most = lower_nothing;
  most.largest_workgroup = 2;
  vyre_status status = lower_program(from, &most, &out, &error);
  assert_true(status == VYRE_ERROR_UNSUPPORTED || status == VYRE_ERROR_MEMORY);
  assert_null(out);
}

static void declining_survives(void **state) {
  (void)state;
  vyre_error error;
  if (vyre_program_parse(text, sizeof text - 1, "text", &from, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  memory_sweep(decline, 2);
  vyre_program_release(from);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lowering_survives),
      cmocka_unit_test(declining_survives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
