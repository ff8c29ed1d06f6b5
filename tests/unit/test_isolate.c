// SPDX-License-Identifier: MIT
//
// Fences and processes of their own: an access on either side of a buffer ends the process that
// does it, and its last words say where; guard bytes see the rest.
#include "conform/isolate.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { WAIT_MS = 30000 };

typedef struct touched {
  size_t size;
  fence_side side;
  int64_t offset;
  int64_t frozen;
} touched;

static char content[9000];

static void touch(void *context) {
  const touched *a = context;
  vyre_span span;
  if (!fence_copy(&(vyre_span){content, a->size}, a->side, a->frozen, 7, &span)) _exit(3);
  ((volatile char *)span.data)[a->offset]++;
  if (!fence_is_intact(&span)) _exit(4);
  fence_free(&span);
}

static void expect(touched a, isolate_end expected, const char *words) {
  char text[300] = "";
  assert_int_equal(isolate_run(touch, &a, WAIT_MS, text, sizeof text), expected);
  if (!strstr(text, words)) fail_msg("`%s` does not say `%s`", text, words);
}

static void test_inside_is_free(void **state) {
  (void)state;
  expect((touched){1, FENCE_END, 0, FENCE_WRITABLE}, ISOLATE_DONE, "");
  expect((touched){9000, FENCE_END, 8999, FENCE_WRITABLE}, ISOLATE_DONE, "");
  expect((touched){9000, FENCE_START, 0, FENCE_WRITABLE}, ISOLATE_DONE, "");
  expect((touched){4096, FENCE_START, 4095, FENCE_WRITABLE}, ISOLATE_DONE, "");
}

static void test_either_side_is_fatal(void **state) {
  (void)state;
  expect((touched){100, FENCE_END, 100, FENCE_WRITABLE}, ISOLATE_DIED,
         "at 0 bytes after bound buffer 7 of 100");
  expect((touched){9000, FENCE_END, 9003, FENCE_WRITABLE}, ISOLATE_DIED,
         "at 3 bytes after bound buffer 7 of 9000");
  expect((touched){100, FENCE_START, -1, FENCE_WRITABLE}, ISOLATE_DIED,
         "at 1 bytes before bound buffer 7 of 100");
  expect((touched){4096, FENCE_END, -2, FENCE_WRITABLE}, ISOLATE_DIED,
         "at 2 bytes before bound buffer 7");
  expect((touched){4096, FENCE_START, 4096, FENCE_WRITABLE}, ISOLATE_DIED,
         "at 0 bytes after bound buffer 7");
  for (int side = 0; side < FENCE_SIDES; side++)
    for (int64_t offset = -1; offset < 1; offset++)
      expect((touched){0, (fence_side)side, offset, FENCE_WRITABLE}, ISOLATE_DIED,
             "bound buffer 7 of 0 bytes");
}

static void test_guard_bytes_see_the_other_side(void **state) {
  (void)state;
  expect((touched){100, FENCE_START, 100, FENCE_WRITABLE}, ISOLATE_DIED, "status 4");
  expect((touched){100, FENCE_END, -1, FENCE_WRITABLE}, ISOLATE_DIED, "status 4");
  expect((touched){100, FENCE_END, -3996, FENCE_WRITABLE}, ISOLATE_DIED, "status 4");
}

static void test_frozen_is_read_only(void **state) {
  (void)state;
  expect((touched){100, FENCE_END, 3, 0}, ISOLATE_DIED, "at 3 bytes into frozen bound buffer 7");
  expect((touched){100, FENCE_START, 100, 0}, ISOLATE_DIED, "at 0 bytes after bound buffer 7");
  // 9000 bytes end with a page: 808 of them are before it.
  expect((touched){9000, FENCE_END, 4904, 808}, ISOLATE_DIED, "into frozen");
  expect((touched){9000, FENCE_END, 808, 808}, ISOLATE_DIED, "at 808 bytes into frozen");
  expect((touched){9000, FENCE_END, 807, 808}, ISOLATE_DONE, "");
  expect((touched){9000, FENCE_END, 808, 809}, ISOLATE_DONE, "");
}

static void stray(void *context) {
  (void)context;
  *(volatile char *)(uintptr_t)0x10000000000 = 1;
}

static void spin(void *context) {
  volatile int *never = context;
  while (!*never) continue;
}

static void abort_it(void *context) {
  (void)context;
  abort();
}

static void test_other_ends(void **state) {
  (void)state;
  char text[300];
  int never = 0;
  assert_int_equal(isolate_run(stray, NULL, WAIT_MS, text, sizeof text), ISOLATE_DIED);
  assert_non_null(strstr(text, "nobody's"));
  assert_int_equal(isolate_run(abort_it, NULL, WAIT_MS, text, sizeof text), ISOLATE_DIED);
  assert_non_null(strstr(text, "Abort"));
  assert_int_equal(isolate_run(spin, &never, 200, text, sizeof text), ISOLATE_DIED);
  assert_non_null(strstr(text, "did not end"));
}

static void write_shared(void *context) {
  *(int *)context = 42;
}

static void test_results_come_back(void **state) {
  (void)state;
  int *shared = isolate_share(sizeof *shared);
  assert_non_null(shared);
  isolate p;
  char text[300];
  assert_true(isolate_start(&p, write_shared, shared));
  assert_int_equal(isolate_wait(&p, WAIT_MS, text, sizeof text), ISOLATE_DONE);
  assert_int_equal(*shared, 42);
  isolate_unshare(shared, sizeof *shared);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inside_is_free),
      cmocka_unit_test(test_either_side_is_fatal),
      cmocka_unit_test(test_guard_bytes_see_the_other_side),
      cmocka_unit_test(test_frozen_is_read_only),
      cmocka_unit_test(test_other_ends),
      cmocka_unit_test(test_results_come_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
