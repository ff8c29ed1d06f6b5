// SPDX-License-Identifier: MIT
//
// The pass table and its check, the scheduler on passes made for the purpose, and selection and
// scheduler together: per region, by telemetry and by the report of an earlier compile.
#include "ir/builder.h"
#include "policy/optimize.h"

#include "../parsed_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// ---- the table ----------------------------------------------------------------------------------

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static pass named(const char *name, const char *const *requires, const char *const *invalidates) {
  return (pass){.info = {.name = name,
                         .requires = requires,
                         .invalidates = invalidates,
                         .family = PASS_FAMILY_SCALAR}};
}

static void expect_fault(const pass *passes, size_t count, const char *message) {
  const pass *pointers[8];
  vyre_error error;
  for (size_t i = 0; i < count; i++) pointers[i] = &passes[i];
  assert_int_equal(pass_table_check(pointers, count, &error), VYRE_ERROR_ARGUMENT);
  if (!strstr(error.message, message) || !strstr(error.message, "Fix:"))
    fail_msg("`%s` does not say `%s` with its fix", error.message, message);
}

static void the_table_is_sound_and_says_what_each_pass_does(void **state) {
  (void)state;
  size_t count;
  vyre_error error;
  const pass *const *passes = pass_table(&count);
  assert_int_equal(pass_table_check(passes, count, &error), VYRE_OK);
  for (size_t i = 0; i < count; i++) {
    assert_ptr_equal(pass_find(passes[i]->info.name), passes[i]);
    assert_non_null(passes[i]->summary);
    assert_non_null(passes[i]->never);
    assert_true(passes[i]->info.boundary != PASS_BOUNDARY_ABI_CHANGING);
    if (i) assert_true(passes[i - 1]->info.family <= passes[i]->info.family);
  }
  assert_null(pass_find("frobnicate"));
}

static void two_passes_of_one_name_are_named(void **state) {
  (void)state;
  pass passes[] = {named("a", NULL, NULL), named("b", NULL, NULL), named("a", NULL, NULL)};
  expect_fault(passes, 3, "two passes are called `a`");
}

static void unknown_names_are_named_with_who_uses_them(void **state) {
  (void)state;
  pass requires[] = {named("a", NAMES("nobody"), NULL)};
  expect_fault(requires, 1, "pass `a` requires `nobody`");
  pass invalidates[] = {named("a", NULL, NULL), named("b", NULL, NAMES("a", "nothing"))};
  expect_fault(invalidates, 2, "pass `b` invalidates `nothing`");
}

static void a_circle_is_shown_without_what_leads_to_it(void **state) {
  (void)state;
  pass passes[] = {named("entry", NAMES("a"), NULL), named("a", NAMES("b"), NULL),
                   named("b", NAMES("c"), NULL), named("c", NAMES("a"), NULL)};
  expect_fault(passes, 4, "circle: a -> b -> c -> a.");
  pass itself[] = {named("self", NAMES("self"), NULL)};
  expect_fault(itself, 1, "circle: self -> self.");
}

// ---- the scheduler ------------------------------------------------------------------------------

enum { MAIN_EXTENT = 4 };

// A program of `stores` stores; how many there are is what the passes below change.
static vyre_program *with_stores(uint32_t stores) {
  vyre_builder *b = vyre_builder_new("stores");
  vyre_mem y = vyre_build_buffer(b, "y", VYRE_U32, VYRE_WRITE, 0);
  vyre_build_region_begin(b, "main");
  vyre_value extent = vyre_build_u32(b, MAIN_EXTENT);
  vyre_build_grid(b, 1, &extent, (uint32_t[3]){1, 1, 1});
  for (uint32_t i = 0; i < stores; i++)
    vyre_build_store(b, y, vyre_build_u32(b, i), vyre_build_u32(b, i));
  vyre_build_region_end(b);
  vyre_program *program = NULL;
  vyre_error error;
  if (vyre_builder_finish(b, &program, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_builder_free(b);
  return program;
}

static uint32_t stores_of(const vyre_program *p) {
  return (uint32_t)vyre_program_stats(p).memory_op_count;
}

static vyre_status run_grow(const pass_run *run, vyre_program **out, vyre_error *error) {
  (void)error;
  *out = with_stores(stores_of(run->program) + 1);
  return VYRE_OK;
}

static vyre_status run_shrink(const pass_run *run, vyre_program **out, vyre_error *error) {
  (void)error;
  if (stores_of(run->program) > 1) *out = with_stores(stores_of(run->program) - 1);
  return VYRE_OK;
}

// Down to one store, then up to ten: never the same twice.
static vyre_status run_swing(const pass_run *run, vyre_program **out, vyre_error *error) {
  (void)error;
  *out = with_stores(stores_of(run->program) == 1 ? 10 : 1);
  return VYRE_OK;
}

static vyre_status run_break(const pass_run *run, vyre_program **out, vyre_error *error) {
  vyre_builder *b = vyre_builder_new("broken");
  (void)run;
  vyre_mem y = vyre_build_buffer(b, "y", VYRE_U32, VYRE_READ, 0);
  vyre_build_region_begin(b, "main");
  vyre_value extent = vyre_build_u32(b, 1);
  vyre_build_grid(b, 1, &extent, (uint32_t[3]){1, 1, 1});
  vyre_build_store(b, y, vyre_build_u32(b, 0), vyre_build_u32(b, 0)); // it may only be read
  vyre_build_region_end(b);
  vyre_status status = vyre_builder_finish(b, out, error);
  vyre_builder_free(b);
  return status;
}

static bool has_fewer_stores(const pass_counts *before, const pass_counts *after) {
  return after->memory_ops < before->memory_ops;
}

// Runs one pass on a program of `stores` stores and gives the number that comes out.
static uint32_t schedule(const pass *p, uint32_t stores, opt_plan plan, opt_report *report,
                         opt_summary *summary) {
  vyre_program *program = with_stores(stores), *out;
  vyre_error error;
  plan.passes = &p;
  plan.pass_count = 1;
  if (opt_run(program, &plan, report, summary, &out, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  uint32_t left = stores_of(out);
  vyre_program_release(program);
  vyre_program_release(out);
  return left;
}

static void a_pass_that_invalidates_itself_runs_to_its_fixpoint(void **state) {
  (void)state;
  pass shrink = named("shrink", NULL, NAMES("shrink"));
  shrink.run = run_shrink;
  opt_summary summary;
  opt_report report = {0};
  assert_int_equal(schedule(&shrink, 4, (opt_plan){0}, &report, &summary), 1);
  assert_true(summary.converged);
  assert_int_equal(summary.runs, 4); // three changes, and one that finds nothing
  assert_int_equal(report.rows.count, 4);
  assert_int_equal(report.rows.at[3].outcome, PASS_UNCHANGED);
  assert_int_equal(report.rows.at[0].before.memory_ops, 4);
  assert_int_equal(report.rows.at[0].after.memory_ops, 3);
  opt_report_free(&report);
  shrink.info.invalidates = NULL;
  assert_int_equal(schedule(&shrink, 4, (opt_plan){0}, NULL, &summary), 3);
  assert_int_equal(summary.runs, 1);
}

static void the_cap_returns_the_best_program_and_says_that_it_did_not_settle(void **state) {
  (void)state;
  pass swing = named("swing", NULL, NAMES("swing"));
  swing.run = run_swing;
  opt_summary summary;
  // An even cap ends at ten stores; the best there was is one.
  assert_int_equal(schedule(&swing, 5, (opt_plan){.max_iterations = 4}, NULL, &summary), 1);
  assert_false(summary.converged);
  assert_int_equal(summary.iterations, 4);
  assert_int_equal(schedule(&swing, 5, (opt_plan){0}, NULL, &summary), 1);
  assert_int_equal(summary.iterations, OPT_MAX_ITERATIONS);
  pass grow = named("grow", NULL, NAMES("grow"));
  grow.run = run_grow;
  assert_int_equal(schedule(&grow, 5, (opt_plan){0}, NULL, &summary), 5);
  assert_false(summary.converged);
}

static void stop_after_gives_the_program_as_it_is_then(void **state) {
  (void)state;
  pass grow = named("grow", NULL, NAMES("grow"));
  grow.run = run_grow;
  opt_summary summary;
  for (uint32_t runs = 1; runs <= 3; runs++) {
    assert_int_equal(schedule(&grow, 5, (opt_plan){.stop_after = runs}, NULL, &summary), 5 + runs);
    assert_int_equal(summary.runs, runs);
    assert_false(summary.converged);
  }
}

static void a_change_that_the_gate_rejects_is_undone_and_reported(void **state) {
  (void)state;
  pass grow = named("grow", NULL, NAMES("grow"));
  grow.run = run_grow;
  grow.is_better = has_fewer_stores;
  opt_summary summary;
  opt_report report = {0};
  assert_int_equal(schedule(&grow, 5, (opt_plan){0}, &report, &summary), 5);
  assert_true(summary.converged);
  assert_int_equal(report.rows.count, 1);
  const pass_metric *row = &report.rows.at[0];
  assert_int_equal(row->outcome, PASS_REVERTED);
  assert_string_equal(row->reason, "cost-gate");
  assert_true(row->ran && !row->changed);
  assert_int_equal(row->after.memory_ops, 6); // what it would have been
  opt_report_free(&report);
  pass shrink = named("shrink", NULL, NAMES("shrink"));
  shrink.run = run_shrink;
  shrink.is_better = has_fewer_stores;
  assert_int_equal(schedule(&shrink, 5, (opt_plan){0}, NULL, &summary), 1);
}

static void a_pass_without_its_capability_is_refused(void **state) {
  (void)state;
  pass shrink = named("shrink", NULL, NULL);
  shrink.run = run_shrink;
  shrink.info.required_caps = PASS_CAP_GRID_BARRIER;
  opt_report report = {0};
  assert_int_equal(schedule(&shrink, 3, (opt_plan){0}, &report, NULL), 3);
  assert_int_equal(report.rows.at[0].outcome, PASS_REFUSED);
  assert_string_equal(report.rows.at[0].reason, "missing-capability");
  opt_report_free(&report);
  assert_int_equal(schedule(&shrink, 3, (opt_plan){.caps = PASS_CAP_GRID_BARRIER}, NULL, NULL), 2);
}

static void a_pass_that_makes_an_invalid_program_is_named(void **state) {
  (void)state;
  pass breaks = named("breaks", NULL, NULL);
  breaks.run = run_break;
  const pass *p = &breaks;
  vyre_program *program = with_stores(1), *out;
  vyre_error error;
  opt_plan plan = {.passes = &p, .pass_count = 1};
  assert_int_equal(opt_run(program, &plan, NULL, NULL, &out, &error), VYRE_ERROR_VERIFY);
  assert_non_null(strstr(error.message, "pass `breaks` made an invalid program"));
  assert_null(out);
  vyre_program_release(program);
}

// ---- selection and scheduler --------------------------------------------------------------------

// Two regions with a loop and something invariant in it, both far below the threshold.
static const char two_loops[] = "program two(n: u32)\n"
                                "buffer x: u32[] readwrite\n"
                                "region hot grid(len(x)) {\n"
                                "  for k in 0..n { x[k] = n * 5 }\n"
                                "}\n"
                                "region cold grid(n) {\n"
                                "  for k in 0..n { x[k + 1] = n * 7 }\n"
                                "}\n";

static const select_decision *decision(const optimize_result *r, uint32_t region,
                                       const char *name) {
  for (size_t i = 0; i < r->pass_count; i++)
    if (!strcmp(r->passes[i]->info.name, name)) return &r->decisions[region * r->pass_count + i];
  fail_msg("no pass %s", name);
  return NULL;
}

static optimize_result optimize(vyre_program *program, const optimize_options *options) {
  optimize_result result;
  vyre_error error;
  if (optimize_program(program, options, &result, &error) != VYRE_OK) fail_msg("%s", error.message);
  return result;
}

// Whether something is computed in front of the loop of a region.
static bool is_hoisted(const vyre_program *p, uint32_t index) {
  const region *r = &p->regions[index];
  for (uint32_t i = r->body.first; p->code[i].op != VYRE_OP_FOR; i++)
    if (p->code[i].op == VYRE_OP_MUL) return true;
  return false;
}

static void selected_registered_passes_run_through_scheduler(void **state) {
  (void)state;
  vyre_program *program = with_stores(1);
  hints *h = hints_new(NULL);
  optimize_result r = optimize(program, &(optimize_options){.hints = h});
  assert_true(r.summary.converged);
  assert_true(r.summary.runs > 0);
  assert_true(vyre_program_stats(r.program).node_count > 0);
  for (size_t i = 0; i < r.report.rows.count; i++) {
    const pass_metric *row = &r.report.rows.at[i];
    assert_int_equal(row->ran, decision(&r, 0, row->pass)->selected);
  }
  optimize_result_fini(&r);
  hints_free(h);
  vyre_program_release(program);
}

static void a_hot_region_gets_a_loop_pass_and_the_cold_one_does_not(void **state) {
  (void)state;
  vyre_program *program = parse(two_loops);
  hints *h = hints_new(NULL);
  char key[HINTS_KEY];
  hints_region_key(program_fingerprint(program), "hot", key);
  hints_record(h, key, 1000000, 4);
  hints_region_key(program_fingerprint(program), "cold", key);
  hints_record(h, key, 100, 4);
  optimize_result r = optimize(program, &(optimize_options){.hints = h});
  assert_int_equal(decision(&r, 0, "licm")->reason, SELECT_HOT_PATH_TELEMETRY);
  assert_true(decision(&r, 0, "licm")->selected);
  assert_int_equal(decision(&r, 1, "licm")->reason, SELECT_BELOW_THRESHOLD);
  assert_false(decision(&r, 1, "licm")->selected);
  assert_true(is_hoisted(r.program, 0));
  assert_false(is_hoisted(r.program, 1));
  optimize_result_fini(&r);
  hints_free(h);
  vyre_program_release(program);
}

static void a_report_handed_to_the_next_compile_selects(void **state) {
  (void)state;
  vyre_program *program = parse("program p(n: u32)\n"
                                "buffer x: u32[] write\n"
                                "region main grid(1) {\n"
                                "  for k in 0u32..3 { x[k] = k * 5 }\n"
                                "}\n");
  optimize_result cold = optimize(program, NULL);
  assert_false(decision(&cold, 0, "loop_unroll")->selected);
  optimize_result all = optimize(program, &(optimize_options){.mode = OPTIMIZE_EVERYTHING});
  optimize_result next = optimize(program, &(optimize_options){.previous = &all.report});
  assert_int_equal(decision(&next, 0, "loop_unroll")->reason, SELECT_PASS_COST_REPORT);
  assert_int_equal(vyre_program_stats(next.program).control_flow_count, 0);
  // A pass that gained nothing then is not selected by that.
  assert_int_equal(decision(&next, 0, "loop_unswitch")->reason, SELECT_BELOW_THRESHOLD);
  optimize_result_fini(&next);
  optimize_result_fini(&all);
  optimize_result_fini(&cold);
  vyre_program_release(program);
}

static void named_passes_run_alone_and_unknown_ones_are_errors(void **state) {
  (void)state;
  vyre_program *program = parse(two_loops);
  optimize_result r = optimize(
      program, &(optimize_options){.mode = OPTIMIZE_NAMED, .names = NAMES("loop_unswitch")});
  assert_int_equal(r.report.rows.count, 1); // what it requires is left out
  assert_null(r.decisions);
  optimize_result_fini(&r);
  vyre_error error;
  optimize_options unknown = {.mode = OPTIMIZE_NAMED, .names = NAMES("cse", "nobody")};
  assert_int_equal(optimize_program(program, &unknown, &r, &error), VYRE_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "`nobody`"));
  optimize_result_fini(&r);
  r = optimize(program, &(optimize_options){.mode = OPTIMIZE_NOTHING});
  assert_ptr_equal(r.program, program);
  optimize_result_fini(&r);
  vyre_program_release(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_is_sound_and_says_what_each_pass_does),
      cmocka_unit_test(two_passes_of_one_name_are_named),
      cmocka_unit_test(unknown_names_are_named_with_who_uses_them),
      cmocka_unit_test(a_circle_is_shown_without_what_leads_to_it),
      cmocka_unit_test(a_pass_that_invalidates_itself_runs_to_its_fixpoint),
      cmocka_unit_test(the_cap_returns_the_best_program_and_says_that_it_did_not_settle),
      cmocka_unit_test(stop_after_gives_the_program_as_it_is_then),
      cmocka_unit_test(a_change_that_the_gate_rejects_is_undone_and_reported),
      cmocka_unit_test(a_pass_without_its_capability_is_refused),
      cmocka_unit_test(a_pass_that_makes_an_invalid_program_is_named),
      cmocka_unit_test(selected_registered_passes_run_through_scheduler),
      cmocka_unit_test(a_hot_region_gets_a_loop_pass_and_the_cold_one_does_not),
      cmocka_unit_test(a_report_handed_to_the_next_compile_selects),
      cmocka_unit_test(named_passes_run_alone_and_unknown_ones_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
