// SPDX-License-Identifier: MIT
//
// Pass selection: the behaviour of the original, by the names of its tests, then every threshold,
// the profiles, and what is decided otherwise here.
#include "opt/scheduler.h"
#include "policy/select.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static pass_info meta(const char *name, pass_family family, const char *const *requires) {
  return (pass_info){
      .name = name,
      .requires = requires,
      .boundary = PASS_BOUNDARY_ABI_PRESERVING,
      .family = family,
  };
}

// One region that stores 1 to a buffer of one element.
static vyre_program *tiny_program(const char *op_id) {
  vyre_builder *b = vyre_builder_new(op_id);
  vyre_mem out = vyre_build_buffer(b, "out", VYRE_U32, VYRE_WRITE, vyre_build_u32(b, 1));
  vyre_build_region_begin(b, "main");
  vyre_value extent = vyre_build_u32(b, 1);
  vyre_build_grid(b, 1, &extent, (uint32_t[3]){1, 1, 1});
  vyre_build_store(b, out, vyre_build_u32(b, 0), vyre_build_u32(b, 1));
  vyre_build_region_end(b);
  vyre_program *program = NULL;
  vyre_error error;
  if (vyre_builder_finish(b, &program, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_builder_free(b);
  return program;
}

static vyre_stats tiny_stats(void) {
  vyre_program *program = tiny_program("tiny");
  vyre_stats stats = vyre_program_stats(program);
  vyre_program_release(program);
  return stats;
}

// Selects among a few records and copies the decisions out.
static void select_among(const pass_info *passes, size_t count, const select_input *input,
                         select_decision *out) {
  const pass_info *pointers[512];
  assert_in_range(count, 1, 512);
  for (size_t i = 0; i < count; i++) pointers[i] = &passes[i];
  select_index *index = select_index_new(pointers, count);
  assert_non_null(index);
  assert_true(select_passes(index, input, out));
  for (size_t i = 0; i < count; i++) assert_ptr_equal(out[i].pass, &passes[i]);
  select_index_free(index);
}

static select_decision select_one(pass_info pass, const select_input *input) {
  select_decision decision;
  select_among(&pass, 1, input, &decision);
  return decision;
}

static pass_info decode_scan_fuse(void) {
  return meta("decode_scan_fuse", PASS_FAMILY_MEMORY, NULL);
}

static pass_metric metric(const char *pass, bool changed, uint64_t before, uint64_t after) {
  pass_counts counts = {
      .static_storage_bytes = 4096, .instructions = 12, .memory_ops = 1, .register_pressure = 4};
  pass_metric row = {.pass = pass,
                     .ran = true,
                     .changed = changed,
                     .outcome = changed ? PASS_CHANGED : PASS_UNCHANGED,
                     .runtime_ns = 100,
                     .before = counts,
                     .after = counts};
  row.before.nodes = before;
  row.after.nodes = after;
  return row;
}

static void small_cold_program_skips_expensive_memory_pass(void **state) {
  (void)state;
  vyre_stats stats = tiny_stats();
  hints *h = hints_new(NULL);
  select_input input = {
      .profiles = PASS_PROFILE_RELEASE, .stats = &stats, .op_id = "tiny", .hints = h};
  select_decision d = select_one(decode_scan_fuse(), &input);
  assert_false(d.selected);
  assert_int_equal(d.reason, SELECT_BELOW_THRESHOLD);
  hints_free(h);
}

static void hot_region_selects_expensive_pass(void **state) {
  (void)state;
  hints *h = hints_new(NULL);
  hints_record(h, "hot_entry", 1000000, 4);
  vyre_program *program = tiny_program("hot_entry");
  vyre_stats stats = vyre_program_stats(program);
  select_input input = {.profiles = PASS_PROFILE_RELEASE,
                        .stats = &stats,
                        .op_id = vyre_program_name(program),
                        .hints = h};
  select_decision d = select_one(decode_scan_fuse(), &input);
  assert_true(d.selected);
  assert_int_equal(d.reason, SELECT_HOT_PATH_TELEMETRY);
  assert_int_equal(d.priority, select_reason_priority(SELECT_HOT_PATH_TELEMETRY));
  assert_true(d.priority > select_reason_priority(SELECT_PASS_COST_REPORT));
  vyre_program_release(program);
  hints_free(h);
}

static void pass_cost_report_selects_cold_expensive_pass(void **state) {
  (void)state;
  vyre_stats stats = tiny_stats();
  opt_report report = {0};
  assert_true(vec_push(&report.rows, metric("decode_scan_fuse", true, 10, 3)));
  select_input input = {.profiles = PASS_PROFILE_RELEASE, .stats = &stats, .report = &report};
  select_decision d = select_one(decode_scan_fuse(), &input);
  assert_true(d.selected);
  assert_int_equal(d.reason, SELECT_PASS_COST_REPORT);
  assert_int_equal(d.priority, select_reason_priority(SELECT_PASS_COST_REPORT));
  opt_report_free(&report);
}

static void non_reducing_cost_report_preserves_cold_fallback(void **state) {
  (void)state;
  vyre_stats stats = tiny_stats();
  opt_report report = {0};
  assert_true(vec_push(&report.rows, metric("decode_scan_fuse", false, 10, 3)));
  assert_true(vec_push(&report.rows, metric("decode_scan_fuse", true, 3, 3)));
  assert_true(vec_push(&report.rows, metric("decode_scan_fuse", true, 3, 10)));
  assert_true(vec_push(&report.rows, metric("another_pass", true, 10, 3)));
  select_input input = {.profiles = PASS_PROFILE_RELEASE, .stats = &stats, .report = &report};
  select_decision d = select_one(decode_scan_fuse(), &input);
  assert_false(d.selected);
  assert_int_equal(d.reason, SELECT_BELOW_THRESHOLD);
  assert_int_equal(d.priority, select_reason_priority(SELECT_BELOW_THRESHOLD));
  opt_report_free(&report);
}

static void selected_pass_closes_over_required_dependencies(void **state) {
  (void)state;
  vyre_stats stats = tiny_stats();
  static const char *const requires[] = {"shape_facts", NULL};
  pass_info passes[] = {
      meta("shape_facts", PASS_FAMILY_MEMORY, NULL),
      meta("memory_optimizer", PASS_FAMILY_SCALAR, requires),
  };
  select_input input = {.profiles = PASS_PROFILE_RELEASE, .stats = &stats};
  select_decision d[2];
  select_among(passes, 2, &input, d);
  assert_true(d[0].selected && d[1].selected);
  assert_int_equal(d[0].reason, SELECT_REQUIRED_DEPENDENCY);
  assert_int_equal(d[0].priority, 100);
  assert_int_equal(d[1].reason, SELECT_ALWAYS_ON);
  assert_int_equal(d[1].priority, 200);
}

static void selected_registered_passes_run_through_scheduler(void **state) {
  (void)state;
  size_t count;
  const pass *const *table = pass_table(&count);
  const pass_info *infos[128];
  select_decision decisions[128];
  bool selected[128];
  assert_in_range(count, 1, 128);
  for (size_t i = 0; i < count; i++) infos[i] = &table[i]->info;
  vyre_program *program = tiny_program("tiny"), *optimized = NULL;
  vyre_stats stats = vyre_program_stats(program);
  hints *h = hints_new(NULL);
  select_index *index = select_index_new(infos, count);
  select_input input = {
      .profiles = PASS_PROFILE_RELEASE, .stats = &stats, .op_id = "tiny", .hints = h};
  assert_true(select_passes(index, &input, decisions));
  size_t chosen = 0;
  for (size_t i = 0; i < count; i++) chosen += selected[i] = decisions[i].selected;
  assert_in_range(chosen, 1, count - 1); // some always run, and some are not worth it here
  opt_plan plan = {.passes = table, .pass_count = count, .selected = selected};
  opt_summary summary;
  vyre_error error;
  if (opt_run(program, &plan, NULL, &summary, &optimized, &error) != VYRE_OK)
    fail_msg("%s", error.message);
  assert_true(summary.converged);
  assert_true(vyre_program_stats(optimized).node_count > 0);
  vyre_program_release(optimized);
  vyre_program_release(program);
  select_index_free(index);
  hints_free(h);
}

// ---- beyond the original's tests ---------------------------------------------------------------

static void priorities_and_names_are_pinned(void **state) {
  (void)state;
  assert_int_equal(select_reason_priority(SELECT_HOT_PATH_TELEMETRY), 500);
  assert_int_equal(select_reason_priority(SELECT_PASS_COST_REPORT), 400);
  assert_int_equal(select_reason_priority(SELECT_PROGRAM_SHAPE), 300);
  assert_int_equal(select_reason_priority(SELECT_ALWAYS_ON), 200);
  assert_int_equal(select_reason_priority(SELECT_REQUIRED_DEPENDENCY), 100);
  assert_int_equal(select_reason_priority(SELECT_BELOW_THRESHOLD), 0);
  assert_int_equal(select_reason_priority(SELECT_PROFILE_REJECTED), 0);
  assert_string_equal(select_reason_name(SELECT_PROFILE_REJECTED), "profile-rejected");
  for (int i = 0; i < SELECT_REASON_COUNT; i++)
    for (int k = 0; k < i; k++)
      assert_string_not_equal(select_reason_name((select_reason)i),
                              select_reason_name((select_reason)k));
}

static void each_family_has_its_threshold(void **state) {
  (void)state;
  struct {
    pass_family family;
    size_t field; // in vyre_stats
    uint64_t threshold;
  } rows[] = {
      {PASS_FAMILY_LOOP, offsetof(vyre_stats, node_count), 12},
      {PASS_FAMILY_MEMORY, offsetof(vyre_stats, peak_memory_bytes), 16384},
      {PASS_FAMILY_FUSION, offsetof(vyre_stats, top_level_regions), 2},
      {PASS_FAMILY_DATAFLOW, offsetof(vyre_stats, node_count), 64},
      {PASS_FAMILY_MEGAKERNEL, offsetof(vyre_stats, node_count), 512},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int above = 0; above < 2; above++) {
      vyre_stats stats = {0};
      uint64_t value = rows[i].threshold - 1 + (uint64_t)above;
      memcpy((char *)&stats + rows[i].field, &value, sizeof value);
      select_input input = {.profiles = PASS_PROFILE_RELEASE | PASS_PROFILE_DATAFLOW |
                                        PASS_PROFILE_MEGAKERNEL,
                            .stats = &stats};
      select_decision d = select_one(meta("p", rows[i].family, NULL), &input);
      assert_int_equal(d.selected, above);
      assert_int_equal(d.reason, above ? SELECT_PROGRAM_SHAPE : SELECT_BELOW_THRESHOLD);
    }
  }
  vyre_stats nothing = {0};
  select_input input = {.profiles = PASS_PROFILE_RELEASE, .stats = &nothing};
  pass_family always[] = {PASS_FAMILY_SCALAR, PASS_FAMILY_SYNC, PASS_FAMILY_UNKNOWN};
  for (int i = 0; i < 3; i++) {
    select_decision d = select_one(meta("p", always[i], NULL), &input);
    assert_int_equal(d.reason, SELECT_ALWAYS_ON);
  }
}

static void profiles_accept_their_families_and_combine(void **state) {
  (void)state;
  for (pass_family family = 0; family < PASS_FAMILY_COUNT; family++) {
    pass_info pass = meta("p", family, NULL);
    unsigned wants = family == PASS_FAMILY_DATAFLOW     ? PASS_PROFILE_DATAFLOW
                     : family == PASS_FAMILY_MEGAKERNEL ? PASS_PROFILE_MEGAKERNEL
                                                        : PASS_PROFILE_RELEASE;
    for (unsigned profiles = 0; profiles < 8; profiles++)
      assert_int_equal(pass_profile_accepts(profiles, &pass), (profiles & wants) != 0);
    pass.required_caps = PASS_CAP_GRID_BARRIER;
    assert_int_equal(pass_profile_accepts(7, &pass), wants != PASS_PROFILE_RELEASE);
    pass.boundary = PASS_BOUNDARY_ABI_CHANGING;
    assert_false(pass_profile_accepts(7, &pass));
  }
}

static void the_profile_is_asked_before_telemetry(void **state) {
  (void)state;
  vyre_stats stats = {.node_count = 10000};
  hints *h = hints_new(NULL);
  hints_record(h, "r", 1000000, 1);
  select_input input = {
      .profiles = PASS_PROFILE_RELEASE, .stats = &stats, .region = "r", .hints = h};
  pass_info pass = meta("p", PASS_FAMILY_DATAFLOW, NULL);
  select_decision d = select_one(pass, &input);
  assert_false(d.selected);
  assert_true(d.outside_profile);
  assert_int_equal(d.reason, SELECT_PROFILE_REJECTED);
  input.profiles = PASS_PROFILE_RELEASE | PASS_PROFILE_DATAFLOW;
  assert_int_equal(select_one(pass, &input).reason, SELECT_HOT_PATH_TELEMETRY);
  input.region = "cold";
  assert_int_equal(select_one(pass, &input).reason, SELECT_PROGRAM_SHAPE);
  hints_free(h);
}

static void a_requirement_outside_the_profile_is_pulled_in_and_says_so(void **state) {
  (void)state;
  vyre_stats stats = {0};
  static const char *const requires[] = {"ranges", NULL};
  pass_info passes[] = {
      meta("user", PASS_FAMILY_SCALAR, requires),
      meta("ranges", PASS_FAMILY_DATAFLOW, NULL),
  };
  select_input input = {.profiles = PASS_PROFILE_RELEASE, .stats = &stats};
  select_decision d[2];
  select_among(passes, 2, &input, d);
  assert_true(d[1].selected);
  assert_true(d[1].outside_profile);
  assert_int_equal(d[1].reason, SELECT_REQUIRED_DEPENDENCY);
}

static void each_cost_counts_and_other_regions_do_not(void **state) {
  (void)state;
  vyre_stats stats = {0};
  select_input input = {.profiles = PASS_PROFILE_RELEASE, .stats = &stats, .region = "mine"};
  for (size_t i = 0; i < sizeof(pass_counts) / sizeof(uint64_t); i++) {
    pass_metric row = {.pass = "decode_scan_fuse", .ran = true, .changed = true};
    ((uint64_t *)&row.before)[i] = UINT64_MAX;
    ((uint64_t *)&row.after)[i] = UINT64_MAX - 1;
    // Another cost that grew does not weigh it down.
    ((uint64_t *)&row.after)[(i + 1) % 9] += 5;
    opt_report report = {0};
    assert_true(vec_push(&report.rows, row));
    input.report = &report;
    assert_int_equal(select_one(decode_scan_fuse(), &input).reason, SELECT_PASS_COST_REPORT);
    report.rows.at[0].region = "other";
    assert_int_equal(select_one(decode_scan_fuse(), &input).reason, SELECT_BELOW_THRESHOLD);
    report.rows.at[0].region = "mine";
    assert_int_equal(select_one(decode_scan_fuse(), &input).reason, SELECT_PASS_COST_REPORT);
    opt_report_free(&report);
  }
}

// Cycles, requirements on oneself, on nothing, and twice are all harmless here; a chain in either
// direction is followed to its end, whatever the size of the table.
static void closure_follows_chains_and_survives_cycles(void **state) {
  (void)state;
  enum { LENGTH = 400 };
  vyre_stats stats = {0};
  select_input input = {.profiles = PASS_PROFILE_RELEASE, .stats = &stats};
  static char names[LENGTH + 1][8];
  static const char *requires[LENGTH][4];
  static pass_info passes[LENGTH];
  static select_decision d[LENGTH];
  for (int i = 0; i <= LENGTH; i++) snprintf(names[i], sizeof names[i], "p%d", i % LENGTH);
  for (int forward = 0; forward < 2; forward++) {
    for (int i = 0; i < LENGTH; i++) {
      requires[i][0] = names[forward ? i + 1 : (i + LENGTH - 1) % LENGTH];
      requires[i][1] = names[i];
      requires[i][2] = "nowhere";
      requires[i][3] = NULL;
      passes[i] = meta(names[i], PASS_FAMILY_LOOP, requires[i]);
    }
    select_among(passes, LENGTH, &input, d);
    for (int i = 0; i < LENGTH; i++) assert_false(d[i].selected);
    passes[7].family = PASS_FAMILY_SCALAR;
    select_among(passes, LENGTH, &input, d);
    for (int i = 0; i < LENGTH; i++) {
      assert_true(d[i].selected);
      assert_int_equal(d[i].reason, i == 7 ? SELECT_ALWAYS_ON : SELECT_REQUIRED_DEPENDENCY);
    }
  }
}

// The closure of the original, which is slow and plain.
static void slow_closure(const pass_info *passes, size_t count, bool *selected) {
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t i = 0; i < count; i++) {
      for (size_t k = 0; selected[i] && passes[i].requires[k]; k++) {
        for (size_t n = 0; n < count; n++) {
          if (selected[n] || strcmp(passes[n].name, passes[i].requires[k])) continue;
          selected[n] = grew = true;
        }
      }
    }
  }
}

static void closure_equals_that_of_the_original_on_random_tables(void **state) {
  (void)state;
  enum { MOST = 24 };
  uint64_t random = 7;
  vyre_stats stats = {0};
  select_input input = {.profiles = PASS_PROFILE_RELEASE, .stats = &stats};
  char names[MOST][8];
  for (int i = 0; i < MOST; i++) snprintf(names[i], sizeof names[i], "p%d", i);
  for (int round = 0; round < 2000; round++) {
    pass_info passes[MOST];
    const char *requires[MOST][4];
    bool expected[MOST];
    size_t count = 1 + (size_t)(round % MOST);
    for (size_t i = 0; i < count; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      uint64_t bits = random >> 20;
      size_t needs = bits % 4;
      for (size_t k = 0; k < needs; k++) requires[i][k] = names[(bits >> (3 + 5 * k)) % MOST];
      requires[i][needs] = NULL;
      expected[i] = (bits >> 30) % 4 == 0;
      passes[i] = meta(names[i], expected[i] ? PASS_FAMILY_SCALAR : PASS_FAMILY_LOOP, requires[i]);
    }
    slow_closure(passes, count, expected);
    select_decision d[MOST];
    select_among(passes, count, &input, d);
    for (size_t i = 0; i < count; i++) assert_int_equal(d[i].selected, expected[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_cold_program_skips_expensive_memory_pass),
      cmocka_unit_test(hot_region_selects_expensive_pass),
      cmocka_unit_test(pass_cost_report_selects_cold_expensive_pass),
      cmocka_unit_test(non_reducing_cost_report_preserves_cold_fallback),
      cmocka_unit_test(selected_pass_closes_over_required_dependencies),
      cmocka_unit_test(selected_registered_passes_run_through_scheduler),
      cmocka_unit_test(priorities_and_names_are_pinned),
      cmocka_unit_test(each_family_has_its_threshold),
      cmocka_unit_test(profiles_accept_their_families_and_combine),
      cmocka_unit_test(the_profile_is_asked_before_telemetry),
      cmocka_unit_test(a_requirement_outside_the_profile_is_pulled_in_and_says_so),
      cmocka_unit_test(each_cost_counts_and_other_regions_do_not),
      cmocka_unit_test(closure_follows_chains_and_survives_cycles),
      cmocka_unit_test(closure_equals_that_of_the_original_on_random_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
