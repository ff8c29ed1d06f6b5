// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static bool is_zero(const unsigned char *at, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (at[i]) return false;
  return true;
}

// Small, odd and large sizes, each filled with rubbish after it was found zero; then the same again
// in the memory that a reset left behind.
static void test_memory_is_zeroed_and_aligned(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 15, 16, 17, 4000, 5000, 100000, 5 << 20, 100, 9 << 20, 1};
  arena a = ARENA_INIT;
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      unsigned char *memory = arena_alloc(&a, sizes[i]);
      assert_non_null(memory);
      assert_int_equal((uintptr_t)memory % 16, 0);
      assert_true(is_zero(memory, sizes[i]));
      memset(memory, 0xa5, sizes[i]);
    }
    assert_int_equal(a.allocations, sizeof sizes / sizeof *sizes);
    arena_reset(&a);
    assert_int_equal(a.allocations, 0);
  }
  arena_free(&a);
}

static void test_impossible_sizes(void **state) {
  (void)state;
  arena a = ARENA_INIT;
  assert_null(arena_alloc(&a, SIZE_MAX));
  assert_null(arena_alloc(&a, SIZE_MAX - 64));
  assert_null(arena_alloc_array(&a, SIZE_MAX / 2, 3));
  assert_string_equal(arena_copy_string(&a, "abcdef", 3), "abc");
  arena_reset(&a);
  arena_free(&a);
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory_is_zeroed_and_aligned),
      cmocka_unit_test(test_impossible_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
