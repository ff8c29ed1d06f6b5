// SPDX-License-Identifier: MIT
//
// Where a workgroup meets at a barrier and where it does not, the same on every backend: whether
// all come to one barrier in different iterations of a loop, whether that can be told from the
// program or not, and whether or not passes change the program before.
#include "base/process.h"
#include "conform/compare.h"
#include "conform/shapes.h"
#include "lower/lower.h"
#include "opt/scheduler.h"
#include "opt/specialise.h"

#include "../lower_targets.h"
#include "../scratch_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { GROUP = 4, GROUPS = 2, CELLS = GROUP * GROUPS };

typedef struct meeting {
  const char *body;
  vyre_status status;
  uint32_t first[GROUP]; // what the first workgroup has in y, unless it is an error
  bool is_proven;        // devices that do not look can run it
} meeting;

// The parameter n is 2; x is 3, 2, 1, 0 in each workgroup.
static const meeting meetings[] = {
    // Everybody in an iteration of its own.
    {"for k in 0..4u32 { if k == l { s[l] = k\n barrier\n v = s[3 - l] } }",
     VYRE_OK,
     {3, 2, 1, 0},
     false},
    {"s[l] = l\n for k in 0..40u32 { if k == l * 9 { barrier\n v = s[3 - l] } }",
     VYRE_OK,
     {3, 2, 1, 0},
     false},
    {"s[l] = l\n for k in 0..n + 2 { if k == x[l] { barrier\n v = s[3 - l] } }",
     VYRE_OK,
     {3, 2, 1, 0},
     false},
    {"s[l] = l\n var k: u32 = 0\n while k < 4 { if k == l { barrier\n v = s[3 - l] }\n k = k + 1 }",
     VYRE_OK,
     {3, 2, 1, 0},
     false},
    {"s[l] = l\n for k in 0..4u32 { if k != l { continue }\n barrier\n v = s[3 - l] }",
     VYRE_OK,
     {3, 2, 1, 0},
     false},
    {"s[l] = l\n for k in 0..4u32 { if k < l { continue }\n barrier\n v = s[3 - l]\n break }",
     VYRE_OK,
     {3, 2, 1, 0},
     false},
    {"s[l] = l\n for k in l..l + 2 { barrier\n v = v + s[3 - l] + k }",
     VYRE_OK,
     {7, 7, 7, 7},
     false},
    // The inner loop is the same for all, and its counter is not.
    {"s[l] = l\n for j in 0..2u32 { if j == l & 1 { for k in 0..2u32 { if k == j { barrier\n"
     " v = s[3 - l] + k } } } }",
     VYRE_OK,
     {3, 3, 1, 1},
     false},
    // The workgroup together: by a constant, a parameter, a counter, a group id.
    {"s[l] = l\n for k in 0..4u32 { if k == 2 { barrier\n v = s[3 - l] } }",
     VYRE_OK,
     {3, 2, 1, 0},
     true},
    {"s[l] = l\n for k in 0..4u32 { if k == n { barrier\n v = s[3 - l] } }",
     VYRE_OK,
     {3, 2, 1, 0},
     true},
    {"s[l] = l\n for j in 0..3u32 { for k in 0..4u32 { if k == j { barrier\n v = v + s[3 - l] } } "
     "}",
     VYRE_OK,
     {9, 6, 3, 0},
     true},
    {"s[l] = l\n for k in 0..4u32 { if k == group_id.x { barrier\n v = s[3 - l] } }",
     VYRE_OK,
     {3, 2, 1, 0},
     true},
    {"s[l] = l\n for k in 0..4u32 { if k == 7 { barrier }\n v = v + s[l] }",
     VYRE_OK,
     {0, 4, 8, 12},
     true},
    // One comes once more, or not at all.
    {"for k in 0..4u32 { if k <= l { barrier } }", VYRE_ERROR_DIVERGENCE, {0}, false},
    {"for k in 0..3u32 { if k == l { barrier } }", VYRE_ERROR_DIVERGENCE, {0}, false},
    {"for k in 0..1u32 { if k == l { barrier } }", VYRE_ERROR_DIVERGENCE, {0}, false},
    {"if n == l { barrier }", VYRE_ERROR_DIVERGENCE, {0}, false},
    {"var z: u32 = 0\n if z == l { barrier }", VYRE_ERROR_DIVERGENCE, {0}, false},
    {"var z: u32 = 2\n if z > l { return }\n barrier", VYRE_ERROR_DIVERGENCE, {0}, false},
    {"if x[l] > 1 { barrier } else { barrier }", VYRE_ERROR_DIVERGENCE, {0}, false},
    {"for k in 0..2u32 { if k == l / 2 { barrier } else { barrier } }",
     VYRE_ERROR_DIVERGENCE,
     {0},
     false},
};

static void make_trial(const meeting *m, trial *t) {
  char text[1000];
  vyre_error error;
  snprintf(text, sizeof text,
           "program p(n: u32)\nbuffer x: u32[] read\nbuffer y: u32[] write\n"
           "region r grid(len(y)) workgroup(%d) {\n shared s: u32[%d]\n let l = local_id.x\n"
           " var v: u32 = 0\n %s\n y[global_id.x] = v\n}\n",
           GROUP, GROUP, m->body);
  *t = (trial){.param_count = 1, .buffer_count = 2};
  if (vyre_program_parse(text, strlen(text), "meeting", &t->program, &error) != VYRE_OK)
    fail_msg("%s\n%s", error.message, text);
  t->params = calloc(1, sizeof *t->params);
  t->buffers = calloc(2, sizeof *t->buffers);
  assert_true(t->params && t->buffers);
  t->params[0] = vyre_scalar_u32(2);
  for (int i = 0; i < 2; i++) {
    uint32_t *cells = calloc(CELLS, sizeof *cells);
    assert_non_null(cells);
    for (uint32_t k = 0; k < CELLS && !i; k++) cells[k] = GROUP - 1 - k % GROUP;
    t->buffers[i] = (vyre_span){cells, CELLS * sizeof *cells};
  }
}

// `program` may be another with the same interface.
static void expect(const meeting *m, const trial *t, vyre_program *program, const char *backend,
                   vyre_optimize optimize) {
  vyre_compile_options options = {.optimize = optimize, .tier = VYRE_TIER_QUICK};
  outcome o;
  trial_limits limits = {.timeout_ns = COMPARE_TIMEOUT_NS};
  assert_true(trial_run(t, program, backend, &options, limits, &o));
  if (o.status != m->status)
    fail_msg("%s, %d: %s (%s)\n%s", backend, optimize, vyre_status_name(o.status), o.error.message,
             m->body);
  const uint32_t *y = o.buffers[1].data;
  if (m->status == VYRE_OK && memcmp(y, m->first, sizeof m->first))
    fail_msg("%s, %d: %u %u %u %u\n%s", backend, optimize, y[0], y[1], y[2], y[3], m->body);
  outcome_fini(&o);
}

static void test_all_backends_agree(void **state) {
  (void)state;
  bool has_compiler = process_exists("cc");
  for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
    const meeting *m = &meetings[i];
    trial t;
    make_trial(m, &t);
    expect(m, &t, NULL, "ref", VYRE_OPTIMIZE_NONE);
    expect(m, &t, NULL, "ref", VYRE_OPTIMIZE_SELECTED);
    expect(m, &t, NULL, "cpu", VYRE_OPTIMIZE_NONE);
    expect(m, &t, NULL, "cpu", VYRE_OPTIMIZE_SELECTED);
    if (has_compiler) expect(m, &t, NULL, "c", i % 2 ? VYRE_OPTIMIZE_NONE : VYRE_OPTIMIZE_SELECTED);
    trial_fini(&t);
  }
}

static void expect_after_all_passes(const meeting *m, const trial *t, vyre_program *program) {
  size_t count;
  const pass *const *passes = pass_table(&count);
  vyre_program *optimized;
  vyre_error error = {0};
  opt_plan all = {.passes = passes, .pass_count = count, .caps = UINT32_MAX};
  if (opt_run(program, &all, NULL, NULL, &optimized, &error) != VYRE_OK)
    fail_msg("%s\n%s", error.message, m->body);
  expect(m, t, optimized, "ref", VYRE_OPTIMIZE_NONE);
  expect(m, t, optimized, "cpu", VYRE_OPTIMIZE_NONE);
  vyre_program_release(optimized);
}

// Passes unroll what is the same for all, and leave the rest; what they prove is no other mistake
// than the program had before, with or without constants in the place of its arguments.
static void test_passes_leave_meetings_alone(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
    const meeting *m = &meetings[i];
    trial t;
    vyre_program *special;
    vyre_error error = {0};
    make_trial(m, &t);
    expect_after_all_passes(m, &t, t.program);
    vyre_status status = specialise_program(t.program, (uint64_t[]){2}, (uint64_t[]){CELLS, CELLS},
                                            &special, &error);
    if (status != VYRE_OK) fail_msg("%s\n%s", error.message, m->body);
    expect_after_all_passes(m, &t, special);
    vyre_program_release(special);
    trial_fini(&t);
  }
}

// A device that does not see who is missing gets what is proven, and nothing else; what it gets
// runs with the barriers that asking to stop adds.
static void test_devices_get_what_is_proven(void **state) {
  (void)state;
  lower_target target = lower_asking();
  for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
    const meeting *m = &meetings[i];
    trial t;
    vyre_program *lowered = NULL;
    vyre_error error;
    make_trial(m, &t);
    vyre_status status = lower_program(t.program, &target, &lowered, &error);
    if (status != (m->is_proven ? VYRE_OK : VYRE_ERROR_UNSUPPORTED))
      fail_msg("%s\n%s", vyre_status_name(status), m->body);
    if (lowered) expect(m, &t, lowered, "ref", VYRE_OPTIMIZE_NONE);
    vyre_program_release(lowered);
    trial_fini(&t);
  }
}

static void test_random_meetings(void **state) {
  (void)state;
  shapes_options options = {.kinds = 0};
  bool has_compiler = process_exists("cc");
  for (uint32_t k = 0; k < shapes_count(); k++)
    if (!strcmp(shapes_name(k), "meeting")) options.kinds = 1u << k;
  assert_true(options.kinds);
  for (; options.seed < 30; options.seed++) {
    const char *backend = options.seed % 10 || !has_compiler ? "cpu" : "c";
    trial t;
    difference d;
    assert_int_equal(shapes_trial(&options, &t, NULL, NULL), VYRE_OK);
    assert_true(compare_run(&t, NULL, backend, NULL, &d));
    if (d.verdict != SAME)
      fail_msg("seed %llu on %s: %s", (unsigned long long)options.seed, backend, d.text);
    trial_fini(&t);
  }
}

// Who asks in a loop leaves it, and the workgroup with it.
static void test_loops_without_end_are_left(void **state) {
  (void)state;
  if (!process_exists("cc")) skip();
  static const char *const bodies[] = {
      "for k in 0..4u32 { if k == l { barrier } }\n while n == 2 { v = v + x[v] }",
      "while n == 2 { for k in 0..4u32 { if k == l { barrier } } }",
      "for k in 0..4u32 { if k == l { while n == 2 { v = v + x[v] }\n barrier } }",
      "if x[l] == 3 { while n == 2 { v = v + x[v] } }\n barrier",
      "if x[l] == 0 { while n == 2 { v = v + x[v] } }\n barrier\n v = 1",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    meeting m = {.body = bodies[i]};
    trial t;
    outcome o;
    make_trial(&m, &t);
    assert_true(trial_run(&t, NULL, "c", NULL, (trial_limits){.timeout_ns = 20000000}, &o));
    if (o.status != VYRE_ERROR_TIMEOUT)
      fail_msg("%s (%s)\n%s", vyre_status_name(o.status), o.error.message, m.body);
    outcome_fini(&o);
    trial_fini(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_backends_agree),
      cmocka_unit_test(test_passes_leave_meetings_alone),
      cmocka_unit_test(test_devices_get_what_is_proven),
      cmocka_unit_test(test_random_meetings),
      cmocka_unit_test(test_loops_without_end_are_left),
  };
  return cmocka_run_group_tests_name("meeting", tests, scratch_dir_make, scratch_dir_remove);
}
