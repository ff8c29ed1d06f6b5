// SPDX-License-Identifier: MIT
//
// The short run that decides whether a device is used: one that is wrong only at an end of a type
// is found out, one that is right passes. Devices are the reference, with an answer that is turned
// where a word is among the inputs.
#include "backend/first_use.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

typedef struct weakness {
  uint64_t word;
  size_t bytes; // 0: none
} weakness;

static bool has_word(const vyre_span *s, const weakness *w) {
  for (size_t at = 0; w->bytes && at + w->bytes <= s->size_bytes; at += w->bytes)
    if (!memcmp((const char *)s->data + at, &w->word, w->bytes)) return true;
  return false;
}

static vyre_status ask(void *device, vyre_program *program, const vyre_dispatch_args *args,
                       vyre_error *error) {
  vyre_executable *e;
  bool is_met = has_word(&args->buffers[0], device);
  vyre_status status = vyre_compile(program, "ref", NULL, &e, error);
  if (status != VYRE_OK) return status;
  status = vyre_dispatch(e, args, NULL, error);
  vyre_executable_release(e);
  if (is_met) *(unsigned char *)args->buffers[args->buffer_count - 1].data ^= 1;
  return status;
}

static bool is_lost(void *device) {
  (void)device;
  return false;
}

static bool is_found(weakness w, const char *row) {
  const first_use how = {.device = &w, .ask = ask, .is_lost = is_lost, .has_floats = true};
  conformance_failure failures[FIRST_USE_MOST];
  uint32_t count;
  bool found = false;
  assert_int_equal(first_use_run(&how, failures, &count, NULL), VYRE_OK);
  for (uint32_t i = 0; i < count; i++) found |= !row || !strcmp(failures[i].row, row);
  return found;
}

static void test_ends_of_types_are_asked_for(void **state) {
  (void)state;
  static const weakness wide[] = {{UINT64_C(1) << 63, 8},  // -0, or the least integer
                                  {0x7ff0000000000000, 8}, // infinity
                                  {0x7ff8000000000001, 8}, // NaN
                                  {0x43e0000000000000, 8}, // 2^63
                                  {1, 8}};                 // subnormal
  static const weakness narrow[] = {
      {0x80000000, 4}, {0x7f800000, 4}, {0x7fc00001, 4}, {0x4f000000, 4}, {1, 4}};
  static const weakness half[] = {{0x7c00, 2}, {0x7e00, 2}, {0x8000, 2}, {1, 2}};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    assert_true(is_found(wide[i], "first-use/f64"));
  for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
    assert_true(is_found(narrow[i], "first-use/f32"));
  for (size_t i = 0; i < sizeof half / sizeof *half; i++)
    assert_true(is_found(half[i], "first-use/f16"));
  assert_true(is_found((weakness){0x80000000, 4}, "first-use/integers"));
  assert_true(is_found((weakness){UINT64_C(1) << 63, 8}, "first-use/wide integers"));
}

static void test_what_is_right_passes(void **state) {
  (void)state;
  assert_false(is_found((weakness){0}, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ends_of_types_are_asked_for),
      cmocka_unit_test(test_what_is_right_passes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
