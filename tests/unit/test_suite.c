// SPDX-License-Identifier: MIT
//
// The conformance suites themselves: their rows are race-free and pass on the reference, what a
// program needs is found, and what a device failed is kept and applied.
#include "backend/conformance.h"
#include "conform/race.h"
#include "conform/suite.h"
#include "../scratch_dir.h"
#include "../parsed_program.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static void make_suite(suite *s) {
  vyre_error e = {0};
  if (suite_add_rows(s, &e) != VYRE_OK || suite_add_math(s, 1, 20, &e) != VYRE_OK)
    fail_msg("%s:%u:%u: %s\n%s", e.file, e.line, e.column, e.message, e.excerpt);
}

static void test_rows_run_without_races(void **state) {
  (void)state;
  suite s = {.name = "rows"};
  make_suite(&s);
  assert_true(s.cases.count > 200);
  for (size_t i = 0; i < s.cases.count; i++) {
    suite_case *c = &s.cases.at[i];
    race_report race;
    if (c->is_racy || c->is_alone) continue;
    assert_true(race_check(&c->trial, 0, &race));
    if (race.verdict != RACE_FREE) fail_msg("%s: %s", c->name, race.text);
  }
  assert_true(suite_run(&s, "ref", NULL, (trial_limits){0}));
  suite_counts n = suite_count(&s);
  assert_int_equal(n.passed, s.cases.count);
  assert_int_equal(n.failed + n.declined, 0);
  suite_fini(&s);
}

// Every row is needed by its own program, and every operation by some row.
static void test_rows_cover_the_operations(void **state) {
  (void)state;
  suite s = {.name = "rows"};
  features covered = {{0}};
  make_suite(&s);
  for (size_t i = 0; i < s.cases.count; i++) {
    suite_case *c = &s.cases.at[i];
    features has;
    features_of(c->trial.program, &has);
    if (c->is_alone) continue;
    if (!features_meet(&has, &c->needs)) fail_msg("%s does not do what it is about", c->name);
    for (uint32_t f = 0; f < FEATURE_COUNT; f++)
      if (features_has(&c->needs, f)) features_add(&covered, f);
  }
  for (int op = 1; op < VYRE_OP_COUNT; op++) {
    bool is_structure = op == VYRE_OP_LEN || op == VYRE_OP_ELSE || op == VYRE_OP_DO ||
                        op == VYRE_OP_END || (op >= VYRE_OP_VAR && op <= VYRE_OP_SET);
    bool found = is_structure;
    for (int t = 0; t < VYRE_TYPE_COUNT; t++)
      found |= features_has(&covered, (uint32_t)(op * VYRE_TYPE_COUNT + t));
    if (!found) fail_msg("no row is about `%s`", op_table[op].name);
  }
  suite_fini(&s);
}

static void test_verdicts_are_counted(void **state) {
  (void)state;
  suite s = {.name = "random"};
  generate_options o = {.seed = 3};
  assert_int_equal(suite_add_random(&s, &o, 45, NULL), VYRE_OK);
  assert_true(suite_run(&s, "ref", NULL, (trial_limits){0}));
  assert_int_equal(suite_count(&s).passed, 45);
  s.cases.at[7].result.verdict = DIFFERENT;
  s.cases.at[8].result.verdict = DECLINED;
  s.cases.at[9].result.verdict = UNUSABLE;
  suite_counts n = suite_count(&s);
  assert_int_equal(n.passed, 42);
  assert_int_equal(n.failed, 2);
  assert_int_equal(n.declined, 1);
  features needs, has;
  suite_needs(&s.cases.at[7], &needs);
  features_of(s.cases.at[7].trial.program, &has);
  assert_memory_equal(&needs, &has, sizeof has);
  suite_fini(&s);
}

static void test_names_of_features(void **state) {
  (void)state;
  static const char names[] = "add:f32 convert:i64 atomic_add:u32 barrier index:i32 shared "
                              "barrier-in-loop";
  features f, again;
  strbuf out = {0};
  assert_true(features_parse(names, VYRE_VOID, &f));
  features_print(&f, &out);
  strbuf_putc(&out, 0);
  assert_string_equal(out.at, names);
  assert_true(features_parse(out.at, VYRE_VOID, &again));
  assert_memory_equal(&f, &again, sizeof f);
  strbuf_fini(&out);
  assert_true(features_parse("add", VYRE_U8, &f));
  assert_true(features_parse("add:u8", VYRE_VOID, &again));
  assert_memory_equal(&f, &again, sizeof f);
  assert_false(features_parse("nonsense", VYRE_U8, &f));
  assert_false(features_parse("add:u9", VYRE_VOID, &f));
  vyre_program *p = parse("program p()\nbuffer x: f32[] readwrite\n"
                          "region r grid(64) workgroup(8) {\n  shared s: f32[8]\n"
                          "  for k in 0..3u32 { barrier\n s[local_id.x] = x[k] }\n}\n");
  features_of(p, &f);
  assert_true(features_parse("shared barrier-in-loop load:f32 store:f32 for:u32 index:u32",
                             VYRE_VOID, &again));
  assert_true(features_contain(&f, &again));
  assert_true(features_parse("transient region add:f32", VYRE_VOID, &again));
  assert_false(features_meet(&f, &again));
  vyre_program_release(p);
}

static void test_failures_are_kept_and_applied(void **state) {
  (void)state;
  setenv("VYRE_HOME", scratch_dir, 1);
  vyre_program *adds = parse("program adds()\nbuffer x: f32[] readwrite\n"
                             "region r grid(len(x)) { x[global_id.x] = x[global_id.x] + 1.0 }\n");
  vyre_program *copies = parse("program copies()\nbuffer x: i8[] readwrite\n"
                               "region r grid(len(x)) { x[global_id.x + 1] = x[global_id.x] }\n");
  vyre_error error = {0};
  assert_true(conformance_allows("opencl-test", adds, &error));
  conformance_failure failures[2] = {{.row = "float-arithmetic/f32", .detail = "o[1] is \"2\""},
                                     {.row = "random/7", .needs_all = true}};
  assert_true(features_parse("add sub", VYRE_F32, &failures[0].needs));
  assert_true(features_parse("load:i8 store:i8 mul:i8", VYRE_VOID, &failures[1].needs));
  assert_int_equal(conformance_record("opencl-test", failures, 2, &error), VYRE_OK);
  conformance_failure *loaded;
  uint32_t count;
  assert_int_equal(conformance_load("opencl-test", &loaded, &count, &error), VYRE_OK);
  assert_int_equal(count, 2);
  assert_memory_equal(loaded, failures, sizeof failures);
  free(loaded);
  assert_false(conformance_allows("opencl-test", adds, &error));
  assert_int_equal(error.status, VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "float-arithmetic/f32"));
  assert_true(conformance_allows("opencl-test", copies, &error)); // has no product
  assert_true(conformance_allows("opencl-other", adds, &error));
  assert_true(conformance_allows_backend("ref", adds, &error));
  assert_int_equal(conformance_record("opencl-test", NULL, 0, &error), VYRE_OK);
  assert_true(conformance_allows("opencl-test", adds, &error));
  vyre_program_release(adds);
  vyre_program_release(copies);
}

static void test_damaged_files_are_reported(void **state) {
  (void)state;
  static const char *const texts[] = {
      "version = 2\n",
      "version = 1\n[[failed]]\nrow = \"x\"\n",
      "version = 1\n[[failed]]\nrow = \"x\"\nany = \"nonsense:f32\"\n",
      "version = 1\nfailed = 3\n",
      "version = ",
  };
  setenv("VYRE_HOME", scratch_dir, 1);
  conformance_failure one = {.row = "x", .needs_all = false};
  vyre_error error = {0};
  assert_int_equal(conformance_record("opencl-bad", &one, 1, &error), VYRE_OK);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    conformance_failure *loaded;
    uint32_t count;
    scratch_write(scratch_path("state/conform/opencl-bad.toml"), texts[i]);
    assert_int_not_equal(conformance_load("opencl-bad", &loaded, &count, &error), VYRE_OK);
    assert_null(loaded);
    assert_non_null(strstr(error.message, "Fix:"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_run_without_races),
      cmocka_unit_test(test_rows_cover_the_operations),
      cmocka_unit_test(test_verdicts_are_counted),
      cmocka_unit_test(test_names_of_features),
      cmocka_unit_test(test_failures_are_kept_and_applied),
      cmocka_unit_test(test_damaged_files_are_reported),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
