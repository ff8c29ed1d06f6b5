// SPDX-License-Identifier: MIT
//
// Whether watched dispatches find what was planted and nothing else: against a brute-force answer
// for accesses outside, on the reference and on every backend that counts; generated programs,
// which have no races; and arguments that are wrong.
#include "backend/backend.h"
#include "backend/watch/watch.h"
#include "conform/compare.h"
#include "conform/generate.h"

#include "../parsed_program.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static void keep_first(void *data, const vyre_finding *v) {
  vyre_finding *first = data;
  if (!first->text[0]) *first = *v;
}

static const char gather[] = "program gather()\n"
                             "buffer at: i64[] read\n"
                             "buffer x: u32[] read\n"
                             "buffer y: u32[] write\n"
                             "region r grid(len(at)) workgroup(64) {\n"
                             "  y[global_id.x] = x[at[global_id.x]]\n"
                             "}\n";

static void check_gather(const char *backend) {
  enum { COUNT = 500, LENGTH = 37 };
  vyre_program *p = parse(gather);
  int64_t at[COUNT];
  uint32_t x[LENGTH], y[COUNT] = {0};
  uint64_t outside = 0;
  for (int i = 0; i < LENGTH; i++) x[i] = (uint32_t)i;
  for (int i = 0; i < COUNT; i++) {
    at[i] = i % 7 == 3 ? INT64_MIN + i : i % 11 == 5 ? (int64_t)1 << 40 : i % LENGTH;
    outside += at[i] < 0 || at[i] >= LENGTH;
  }
  vyre_span spans[] = {{at, sizeof at}, {x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 3};
  vyre_finding first = {0};
  uint64_t counts[VYRE_FINDING_KINDS];
  vyre_check_options options = {.backend = backend, .found = keep_first, .data = &first};
  vyre_error error;
  assert_int_equal(vyre_check_dispatch(p, &args, &options, counts, NULL, &error), VYRE_OK);
  assert_int_equal(counts[VYRE_FINDING_BOUNDS], outside);
  assert_int_equal(counts[VYRE_FINDING_RACE] + counts[VYRE_FINDING_DIVISION], 0);
  assert_int_equal(first.count, outside);
  assert_int_equal(first.length, LENGTH);
  assert_int_equal(first.line, 6);
  assert_string_equal(first.memory, "x");
  assert_int_equal(first.index, at[first.invocation[0]]);
  for (int i = 0; i < COUNT; i++) assert_int_equal(y[i], at[i] < 0 || at[i] >= LENGTH ? 0 : at[i]);
  vyre_program_release(p);
}

static void test_counts_are_exact_everywhere(void **state) {
  (void)state;
  check_gather(NULL);
  for (uint32_t i = 0; i < vyre_backend_count(); i++) {
    vyre_device device;
    uint32_t count = 0;
    const char *id = vyre_backend_name(i);
    if (vyre_backend_devices(id, &device, 1, &count, NULL) == VYRE_OK && count && !*device.unusable)
      check_gather(id);
  }
}

// What is watched gives the same bits, and programs that are made without races have none.
static void test_generated_programs_are_clean_and_unchanged(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 300; seed++) {
    trial t;
    generate_options how = {.seed = seed, .size = 20};
    assert_int_equal(generate_trial(&how, &t, NULL), VYRE_OK);
    trial plain, watched, counted;
    assert_true(trial_copy(&t, &plain) && trial_copy(&t, &watched) && trial_copy(&t, &counted));
    vyre_dispatch_args args = {
        .params = t.params, .param_count = t.param_count, .buffer_count = t.buffer_count};
    memcpy(args.workgroup, t.workgroup, sizeof args.workgroup);
    vyre_executable *e;
    assert_int_equal(vyre_compile(t.program, "ref", NULL, &e, NULL), VYRE_OK);
    args.buffers = plain.buffers;
    vyre_status expected = vyre_dispatch(e, &args, NULL, NULL);
    vyre_executable_release(e);
    uint64_t counts[VYRE_FINDING_KINDS], again[VYRE_FINDING_KINDS];
    args.buffers = watched.buffers;
    assert_int_equal(vyre_check_dispatch(t.program, &args, NULL, counts, NULL, NULL), expected);
    if (counts[VYRE_FINDING_RACE]) fail_msg("seed %llu has a race", (unsigned long long)seed);
    bool is_on_cpu = seed % 10 == 0 && expected == VYRE_OK;
    if (is_on_cpu) {
      args.buffers = counted.buffers;
      vyre_check_options on_cpu = {.backend = "cpu"};
      vyre_status status = vyre_check_dispatch(t.program, &args, &on_cpu, again, NULL, NULL);
      if (status == VYRE_OK) assert_true(again[VYRE_FINDING_BOUNDS] >= counts[VYRE_FINDING_BOUNDS]);
    }
    for (uint32_t i = 0; i < t.buffer_count && expected == VYRE_OK; i++)
      assert_memory_equal(plain.buffers[i].data, watched.buffers[i].data,
                          plain.buffers[i].size_bytes);
    trial_fini(&plain);
    trial_fini(&watched);
    trial_fini(&counted);
    trial_fini(&t);
  }
}

static void test_places_are_limited_and_counted(void **state) {
  (void)state;
  char text[4000] = "program p()\nbuffer x: u32[1] write\nregion r grid(4) workgroup(4) {\n";
  for (int i = 0; i < 25; i++) strcat(text, "  x[global_id.x + 1] = 1\n");
  strcat(text, "}\n");
  vyre_program *p = parse(text);
  uint32_t x[1], seen = 0;
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
  uint64_t counts[VYRE_FINDING_KINDS];
  vyre_check_options options = {.most = 3, .data = &seen};
  vyre_finding first = {0};
  options.found = keep_first;
  options.data = &first;
  assert_int_equal(vyre_check_dispatch(p, &args, &options, counts, NULL, NULL), VYRE_OK);
  assert_int_equal(counts[VYRE_FINDING_BOUNDS], 100);
  assert_int_equal(first.count, 4);
  assert_int_equal(first.line, 4);
  vyre_program_release(p);
}

static void test_wrong_calls_are_refused(void **state) {
  (void)state;
  vyre_program *p = parse(gather);
  vyre_dispatch_args none = {0};
  vyre_check_options nowhere = {.backend = "nowhere"}, on_cpu = {.backend = "cpu"};
  vyre_error error;
  assert_int_equal(vyre_check_dispatch(p, &none, &nowhere, NULL, NULL, &error),
                   VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_check_dispatch(p, &none, NULL, NULL, NULL, &error), VYRE_ERROR_BINDING);
  assert_int_equal(vyre_check_dispatch(p, &none, &on_cpu, NULL, NULL, &error), VYRE_ERROR_BINDING);
  vyre_program_release(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts_are_exact_everywhere),
      cmocka_unit_test(test_generated_programs_are_clean_and_unchanged),
      cmocka_unit_test(test_places_are_limited_and_counted),
      cmocka_unit_test(test_wrong_calls_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
