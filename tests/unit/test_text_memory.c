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

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static struct {
  long calls, fail_at, held; // held: allocations less frees, while armed
  bool armed, fail_all;
} memory;

static bool must_fail(void) {
  if (!memory.armed) return false;
  memory.calls++;
  return memory.fail_all ? memory.calls >= memory.fail_at : memory.calls == memory.fail_at;
}

void *malloc(size_t size) {
  if (must_fail()) return NULL;
  memory.held += memory.armed;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  if (must_fail()) return NULL;
  memory.held += memory.armed;
  return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  if (must_fail()) return NULL;
  memory.held += memory.armed && !old;
  return __libc_realloc(old, size);
}

void free(void *old) {
  memory.held -= memory.armed && old;
  __libc_free(old);
}

static const char text[] =
    "// c\nprogram p(a: f32, n: u32)\nlet m = n * n\nbuffer x: f32[m] readwrite // c\n"
    "buffer y: f32[m + len(z)] read\nbuffer z: u32[] readwrite\n\n"
    "region r grid(let h = n / 2; h, h) {\n  shared s: f32[4]\n\n  // c\n  let i = global_id.x\n"
    "  var v: f32 = 1.5e-3\n  for k in 0..n by 2 {\n    if x[k] < 0.1 && k != 3 {\n"
    "      v = fma(v, -x[i + k], 2.0) // c\n    } else if k == 7 {\n      break\n    }\n  }\n"
    "  while {\n    let t = y[i]\n    do t > v\n  }\n  let t = x[0]\n  let t$2 = x[1]\n"
    "  x[atomic_add(z[i], 1)] = t - t$2\n}\n";

static void arm(long fail_at, bool fail_all) {
  memory.calls = memory.held = 0;
  memory.fail_at = fail_at;
  memory.fail_all = fail_all;
  memory.armed = true;
}

// True when all allocations were made.
static bool parse_once(long fail_at, bool fail_all) {
  vyre_program *p = NULL;
  vyre_error error = {0};
  arm(fail_at, fail_all);
  vyre_status status = vyre_program_parse(text, sizeof text - 1, "t", &p, &error);
  vyre_program_release(p);
  memory.armed = false;
  assert_true(status == VYRE_OK || (status == VYRE_ERROR_MEMORY && !p));
  assert_int_equal(memory.held, 0);
  return memory.calls < fail_at;
}

static bool print_once(const vyre_program *p, const char *wanted, long fail_at, bool fail_all) {
  char *out = NULL;
  size_t size;
  vyre_error error = {0};
  arm(fail_at, fail_all);
  vyre_status status = vyre_program_print(p, &out, &size, &error);
  memory.armed = false;
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
#if IS_SANITIZED
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
