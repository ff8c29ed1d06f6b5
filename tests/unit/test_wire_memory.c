// SPDX-License-Identifier: MIT
//
// Memory that runs out while a program is decoded or encoded, and how much a hostile file can make
// the decoder allocate.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../failing_malloc.h"
#include "../sample_programs.h"
#include "ir/wire.h"

#if FAILING_MALLOC
// True when all allocations were made.
static bool decode_once(const void *bytes, size_t size, long fail_at, bool fail_all) {
  vyre_program *p = NULL;
  vyre_error error = {0};
  memory_arm(fail_at, fail_all);
  vyre_status status = vyre_program_decode(bytes, size, &p, &error);
  vyre_program_release(p);
  memory_disarm();
  assert_true(status == VYRE_OK || (status == VYRE_ERROR_MEMORY && !p));
  assert_int_equal(memory.held, 0);
  return memory.calls < fail_at;
}

static bool encode_once(const vyre_program *p, const void *wanted, long fail_at, bool fail_all) {
  void *bytes = NULL;
  size_t size = 0;
  vyre_error error = {0};
  memory_arm(fail_at, fail_all);
  vyre_status status = vyre_program_encode(p, &bytes, &size, &error);
  memory_disarm();
  assert_int_equal(memory.held, bytes != NULL);
  if (status == VYRE_OK)
    assert_memory_equal(bytes, wanted, size);
  else
    assert_int_equal(status, VYRE_ERROR_MEMORY);
  vyre_free(bytes);
  return memory.calls < fail_at;
}
#endif

static void memory_runs_out(void **state) {
  (void)state;
#if FAILING_MALLOC
  vyre_error error;
  vyre_program *p = sample_structure(&error);
  void *bytes = NULL;
  size_t size = 0;
  assert_int_equal(vyre_program_encode(p, &bytes, &size, &error), VYRE_OK);
  for (int fail_all = 0; fail_all < 2; fail_all++) {
    long at = 1;
    while (!decode_once(bytes, size, at, fail_all)) at++;
    assert_true(at > 5);
    for (at = 1; !encode_once(p, bytes, at, fail_all);) at++;
  }
  vyre_free(bytes);
  vyre_program_release(p);
#else
  print_message("skipped: the sanitizer has its own malloc\n");
  skip();
#endif
}

// Each byte of each section in turn becomes a number that asks for as much as it can.
static void memory_is_in_proportion(void **state) {
  (void)state;
#if FAILING_MALLOC
  static const uint8_t number[4] = {0xff, 0xff, 0xff, 0x07};
  vyre_error error;
  vyre_program *p = sample_structure(&error);
  void *bytes = NULL;
  size_t size = 0;
  assert_int_equal(vyre_program_encode(p, &bytes, &size, &error), VYRE_OK);
  uint8_t *file = malloc(size + 3);
  wire_offsets offsets;
  assert_true(wire_find_sections(bytes, size, offsets));
  for (int section = 0; section < WIRE_SECTION_COUNT; section++)
    for (size_t at = offsets[section]; at < offsets[section + 1]; at++) {
      memcpy(file, bytes, at);
      memcpy(file + at, number, 4);
      memcpy(file + at + 4, (uint8_t *)bytes + at + 1, size - at - 1);
      size_t length = offsets[section + 1] - offsets[section] + 3;
      wire_put_u64(file + WIRE_AT_TABLE + 8 * section, length);
      wire_seal(file, size + 3);
      vyre_program *q = NULL;
      memory_arm(0, false);
      vyre_program_decode(file, size + 3, &q, &error);
      vyre_program_release(q);
      memory_disarm();
      assert_int_equal(memory.held, 0);
      assert_true(memory.peak_bytes < 32 * size + 16384);
    }
  free(file);
  vyre_free(bytes);
  vyre_program_release(p);
#else
  print_message("skipped: the sanitizer has its own malloc\n");
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_runs_out),
      cmocka_unit_test(memory_is_in_proportion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
