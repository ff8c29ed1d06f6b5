// SPDX-License-Identifier: MIT
//
// Which shared arrays need not be cleared: those that are wholly written first. What is not known
// is cleared, which other tests would not notice where it is for nothing; and where it is not, each
// program here finds in its second workgroup what the first one left.
#include "analysis/overwritten.h"

#include <vyre/vyre.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { GROUPS = 5, MOST = 64 * GROUPS };

static void run(vyre_program *p, const char *backend, uint32_t *out) {
  vyre_executable *e;
  vyre_error error;
  vyre_scalar n = vyre_scalar_u32(3);
  vyre_span span = {out, MOST * sizeof *out};
  vyre_dispatch_args args = {.params = &n, .param_count = 1, .buffers = &span, .buffer_count = 1};
  memset(out, 0, MOST * sizeof *out);
  if (vyre_compile(p, backend, NULL, &e, &error) || vyre_dispatch(e, &args, NULL, &error))
    fail_msg("%s", error.message);
  vyre_executable_release(e);
}

// A region whose workgroups have 64 invocations; behind `body` each reads all of s.
static void expect(bool wanted, const char *shape, uint32_t length, const char *body) {
  char text[1500];
  uint32_t of_ref[MOST], of_cpu[MOST];
  vyre_program *p;
  vyre_error error;
  snprintf(text, sizeof text,
           "program p(n: u32)\nbuffer out: u32[] write\n"
           "region main grid%s {\n"
           "  shared s: u32[%u]\n"
           "  let x = local_id.x\n  let y = local_id.y\n  let z = local_id.z\n"
           "  let at = x + local_size.x * (y + local_size.y * z)\n"
           "  let g = group_id.x\n"
           "%s\n"
           "  barrier\n"
           "  var sum: u32 = 0\n"
           "  for k in 0u32..%u { sum = sum * 3 + s[k] }\n"
           "  barrier\n"
           "  for k in 0u32..%u { s[k] = 77 }\n"
           "  out[g * 64 + at] = sum\n"
           "}\n",
           shape, length, body, length, length);
  if (vyre_program_parse(text, strlen(text), "test", &p, &error)) fail_msg("%s", error.message);
  if (shared_is_overwritten(p, &p->regions[0], 0) != wanted)
    fail_msg("%s\n%s: not %s", shape, body, wanted ? "overwritten" : "cleared");
  run(p, "ref", of_ref);
  run(p, "cpu", of_cpu);
  assert_memory_equal(of_cpu, of_ref, sizeof of_ref);
  vyre_program_release(p);
}

static const char in_1d[] = "(320) workgroup(64)", in_2d[] = "(80, 4) workgroup(16, 4)",
                  in_y[] = "(5, 64) workgroup(1, 64)", in_3d[] = "(40, 4, 2) workgroup(8, 4, 2)";

static void by_the_own_number(void **state) {
  (void)state;
  expect(true, in_1d, 64, "s[x] = g + x");
  expect(true, in_1d, 63, "s[x] = g + x");
  expect(true, in_1d, 64, "s[i32(x)] = g + x");
  expect(true, in_1d, 64, "s[u64(i16(x))] = g + x");
  expect(true, in_1d, 64, "if n == 3 { out[0] = 1 }\n s[x] = g");
  expect(true, in_2d, 64, "s[y * 16 + x] = g + x");
  expect(true, in_2d, 64, "s[x + 16 * y] = g + x");
  expect(true, in_2d, 64, "s[(y << 4) + x] = g + x");
  expect(true, in_2d, 64, "s[x * 4 + y] = g + x");
  expect(true, in_y, 64, "s[y] = g + y");
  expect(true, in_y, 64, "s[y + x * 64] = g + y");
}

static void not_by_all(void **state) {
  (void)state;
  expect(false, in_1d, 64, "if x < n { s[x] = g }");
  expect(false, in_1d, 64, "if n == 4 { return }\n s[x] = g");
  expect(false, in_1d, 64, "for k in 0u32..n { s[x] = g }");
  expect(false, in_1d, 64, "var m: u32 = n\n while m > 0 { s[x] = g\n m = m - 1 }");
}

static void not_everything(void **state) {
  (void)state;
  expect(false, in_1d, 65, "s[x] = g");
  expect(false, in_1d, 64, "s[x / 2] = 1");
  expect(false, in_1d, 64, "s[u32(u8(x))] = g");
  expect(false, in_1d, 64, "s[x + n] = g");
  expect(false, in_1d, 64, "s[0] = 1");
  expect(false, in_2d, 64, "s[x] = 1");
  expect(false, in_2d, 64, "s[y * 15 + x] = 1");
  expect(false, in_2d, 64, "s[(y << 3) + x] = 1");
  expect(false, in_2d, 64, "s[x * 16 + y] = 1");
  expect(false, in_2d, 64, "s[x * 16 + x] = 1");
  expect(false, in_3d, 64, "s[y * 8 + x] = 1");
  expect(false, in_1d, 64, "out[0] = 1");
}

static void not_first(void **state) {
  (void)state;
  expect(false, in_1d, 64, "let old = s[x]\n s[x] = old + g");
  expect(false, in_1d, 64, "let old = atomic_add(s[x], 1)\n s[x] = old + g");
  expect(false, in_1d, 64, "if n == 4 { out[0] = s[1] }\n s[x] = g");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_the_own_number),
      cmocka_unit_test(not_by_all),
      cmocka_unit_test(not_everything),
      cmocka_unit_test(not_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
