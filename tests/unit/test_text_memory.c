// SPDX-License-Identifier: MIT
//
// Memory that runs out while a text is parsed or printed: each allocation fails once, alone and
// with all that follow. The call says so or succeeds, and leaks nothing (the sanitizers of the
// other text tests see to that; under them this test is skipped, as they have their own malloc).
#include <vyre/vyre.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "../failing_malloc.h"

#if FAILING_MALLOC
static const char text[] =
    "// c\nprogram p(a: f32, n: u32)\ntunable T: u32 in (4, 8) where T * T <= 16\nlet m = n * "
    "n\nbuffer x: f32[m] readwrite // c\n"
    "buffer y: f32[m + len(z)] read\nbuffer z: u32[] readwrite\n\n"
    "region r grid(let h = n / 2; h, h) {\n  shared s: f32[T * T]\n\n  // c\n  let i = "
    "global_id.x\n"
    "  var v: f32 = 1.5e-3\n  for k in 0..n by T {\n    if x[k] < 0.1 && k != 3 {\n"
    "      v = fma(v, -x[i + k], 2.0) // c\n    } else if k == 7 {\n      break\n    }\n  }\n"
    "  while {\n    let t = y[i]\n    do t > v\n  }\n  let t = x[0]\n  let t$2 = x[1]\n"
    "  x[atomic_add(z[i], 1)] = t - t$2\n}\n";

// True when all allocations were made.
static bool parse_once(long fail_at, bool fail_all) {
  vyre_program *p = NULL;
  vyre_error error = {0};
  memory_arm(fail_at, fail_all);
  vyre_status status = vyre_program_parse(text, sizeof text - 1, "t", &p, &error);
  vyre_program_release(p);
  memory_disarm();
  assert_true(status == VYRE_OK || (status == VYRE_ERROR_MEMORY && !p));
  assert_int_equal(memory.held, 0);
  return memory.calls < fail_at;
}

static bool print_once(const vyre_program *p, const char *wanted, long fail_at, bool fail_all) {
  char *out = NULL;
  size_t size;
  vyre_error error = {0};
  memory_arm(fail_at, fail_all);
  vyre_status status = vyre_program_print(p, &out, &size, &error);
  memory_disarm();
  assert_int_equal(memory.held, out != NULL);
  if (status == VYRE_OK)
    assert_string_equal(out, wanted);
  else
    assert_int_equal(status, VYRE_ERROR_MEMORY);
  vyre_free(out);
  return memory.calls < fail_at;
}
#endif

static void memory_runs_out(void **state) {
  (void)state;
#if !FAILING_MALLOC
  print_message("skipped: the sanitizer has its own malloc\n");
  skip();
#else
  vyre_program *p = NULL;
  char *wanted = NULL;
  size_t size;
  assert_int_equal(vyre_program_parse(text, sizeof text - 1, "t", &p, NULL), VYRE_OK);
  assert_int_equal(vyre_program_print(p, &wanted, &size, NULL), VYRE_OK);
  long most = 0;
  for (int fail_all = 0; fail_all < 2; fail_all++) {
    long at = 1;
    while (!parse_once(at, fail_all)) at++;
    if (at > most) most = at;
    for (at = 1; !print_once(p, wanted, at, fail_all);) at++;
  }
  assert_true(most > 20);
  vyre_free(wanted);
  vyre_program_release(p);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_runs_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
