// SPDX-License-Identifier: MIT
//
// What the amount of work depends on: parameters and lengths behind loops and grids, however they
// get there, and nothing else.
#include "analysis/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// The inputs as text: "n m len(x)".
static void check(const char *source, const char *expected) {
  vyre_program *p;
  vyre_error error;
  if (vyre_program_parse(source, strlen(source), "work", &p, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  work_input found[WORK_INPUTS];
  uint32_t count = work_inputs(p, found);
  char text[400] = "";
  for (uint32_t i = 0; i < count; i++) {
    const char *name =
        found[i].is_length ? p->buffers[found[i].index].name : p->params[found[i].index].name;
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, found[i].is_length ? "%slen(%s)" : "%s%s",
             i ? " " : "", name);
  }
  assert_string_equal(text, expected);
  vyre_program_release(p);
}

static void what_loops_depend_on_is_found(void **state) {
  (void)state;
  check("program p(a: i32, n: i32)\nbuffer x: i32[] readwrite\n"
        "region r grid(len(x)) {\n  let i = global_id.x\n  var s: i32 = a\n"
        "  for k in 0..n { s = s + k }\n  x[i] = s\n}\n",
        "n");
}

static void it_is_followed_through_variables(void **state) {
  (void)state;
  check("program p(a: u32, b: u32, c: u32)\nbuffer x: u32[] readwrite\n"
        "region r grid(len(x)) {\n  let i = global_id.x\n  var step: u32 = 1\n"
        "  var sum: u32 = c\n  while step < a { sum = sum + 1\n    step = step + b }\n"
        "  x[i] = sum\n}\n",
        "a b");
}

static void grids_count_and_floats_do_not(void **state) {
  (void)state;
  check("program p(f: f32, w: u32, h: u32)\nbuffer x: f32[] write\n"
        "region r grid(w, h) {\n  x[global_id.x + w * global_id.y] = f\n}\n",
        "w h");
}

static void one_free_length_is_what_the_bytes_say(void **state) {
  (void)state;
  check("program p()\nbuffer x: f32[] read\nbuffer y: f32[len(x)] write\n"
        "region r grid(len(x)) {\n  y[global_id.x] = x[global_id.x]\n}\n",
        "");
  check("program p()\nbuffer x: f32[] read\nbuffer w: f32[] read\nbuffer y: f32[len(x)] write\n"
        "region r grid(len(x)) {\n  var s: f32 = 0.0\n"
        "  for k in 0..len(w) { s = s + w[k] * x[global_id.x + k] }\n  y[global_id.x] = s\n}\n",
        "len(x) len(w)");
}

static void data_is_not_followed(void **state) {
  (void)state;
  check("program p(a: u32)\nbuffer x: u32[] readwrite\n"
        "region r grid(len(x)) {\n  let i = global_id.x\n  var s: u32 = a\n"
        "  for k in 0..x[a] { s = s + k }\n  x[i] = s\n}\n",
        "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_loops_depend_on_is_found),
      cmocka_unit_test(it_is_followed_through_variables),
      cmocka_unit_test(grids_count_and_floats_do_not),
      cmocka_unit_test(one_free_length_is_what_the_bytes_say),
      cmocka_unit_test(data_is_not_followed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
