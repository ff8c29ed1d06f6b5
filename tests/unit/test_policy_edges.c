// SPDX-License-Identifier: MIT
//
// Policies at the ends of what they take: the largest number of candidates and one more, files
// whose parts are of the wrong kind, shapes and thresholds to both sides of a limit.
#include "policy/optimize.h"
#include "policy/route.h"
#include "policy/speculate.h"
#include "policy/tune_cache.h"

#include "../sample_programs.h"
#include "../scratch_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// ---- passes -------------------------------------------------------------------------------------

static void nothing_is_what_came_in(void **state) {
  (void)state;
  static const char text[] = "program p()\nbuffer x: f32[] readwrite\n"
                             "region r grid(len(x)) { x[0] = x[1] * 2.0 + x[2] * 1.0 }\n";
  vyre_error error;
  vyre_program *p;
  assert_int_equal(vyre_program_parse(text, sizeof text - 1, "text", &p, &error), VYRE_OK);
  optimize_result r;
  assert_int_equal(optimize_program(p, &(optimize_options){.mode = OPTIMIZE_NOTHING}, &r, &error),
                   VYRE_OK);
  assert_ptr_equal(r.program, p);
  assert_true(r.summary.converged);
  assert_int_equal(r.summary.runs, 0);
  assert_int_equal(r.report.rows.count, 0);
  assert_null(r.decisions);
  assert_true(r.pass_count > 10);
  optimize_result_fini(&r);
  assert_null(r.program);
  const char *const unknown[] = {"cse", "no_such_pass", NULL};
  assert_int_equal(optimize_program(p,
                                    &(optimize_options){.mode = OPTIMIZE_NAMED, .names = unknown},
                                    &r, &error),
                   VYRE_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "`no_such_pass`"));
  optimize_result_fini(&r);
  const char *too_many[66];
  for (int i = 0; i < 65; i++) too_many[i] = "cse";
  too_many[65] = NULL;
  optimize_options o = {.mode = OPTIMIZE_NAMED, .names = too_many};
  assert_int_equal(optimize_program(p, &o, &r, &error), VYRE_ERROR_ARGUMENT);
  optimize_result_fini(&r);
  too_many[64] = NULL; // as many as there may be
  assert_int_equal(optimize_program(p, &o, &r, &error), VYRE_OK);
  optimize_result_fini(&r);
  vyre_program_release(p);
}

// ---- routes -------------------------------------------------------------------------------------

static vyre_status take_time(void *context, const vyre_dispatch_args *args, uint64_t *elapsed_ns,
                             vyre_error *error) {
  (void)args, (void)error;
  *elapsed_ns = 1000 + (uintptr_t)context;
  return VYRE_OK;
}

static bool stop_at_once(void *context, uint32_t done, uint32_t expected) {
  (void)context, (void)done, (void)expected;
  return false;
}

static void as_many_backends_as_there_may_be(void **state) {
  (void)state;
  route_backend backends[ROUTE_MAX_BACKENDS + 1];
  char names[ROUTE_MAX_BACKENDS + 1][8];
  for (uintptr_t i = 0; i <= ROUTE_MAX_BACKENDS; i++) {
    snprintf(names[i], sizeof names[i], "b%d", (int)i);
    backends[i] = (route_backend){names[i], take_time, NULL, (void *)(500 * (40 - i))};
  }
  route_table *t = route_table_new();
  const route_entry *e;
  vyre_error error;
  assert_int_equal(route_certify(t, "op", NULL, backends, 0, NULL, &e, &error),
                   VYRE_ERROR_ARGUMENT);
  assert_int_equal(route_certify(t, "op", NULL, backends, ROUTE_MAX_BACKENDS + 1, NULL, &e, &error),
                   VYRE_ERROR_LIMIT);
  assert_null(e);
  assert_int_equal(route_certify(t, "op", NULL, backends, ROUTE_MAX_BACKENDS, NULL, &e, &error),
                   VYRE_OK);
  assert_string_equal(e->backend, "b31");
  assert_int_equal(e->observation_count, ROUTE_MAX_BACKENDS);
  assert_string_equal(e->observations[0].backend, "b31");
  assert_string_equal(e->observations[31].backend, "b0");
  route_certify_options o = {.keep_going = stop_at_once};
  assert_int_equal(route_certify(t, "ended", NULL, backends, 2, &o, &e, &error),
                   VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "ended before"));
  assert_null(e);
  route_table_free(t);
}

static char told[4000];

static void tell(void *context, const vyre_error *note) {
  (void)context;
  strncat(told, note->message, sizeof told - strlen(told) - 2);
  strcat(told, "\n");
}

static const note_sink sink = {tell, NULL};

// Loads a file of routes; returns how many entries were taken, and what was told is in `told`.
static size_t load_routes(const char *text, vyre_status *status) {
  const char *path = scratch_path("routes.toml");
  vyre_error error;
  scratch_write(path, text);
  told[0] = 0;
  route_table *t = route_table_new();
  *status = route_table_load(t, path, &sink, &error);
  size_t count = route_table_count(t);
  route_table_free(t);
  return count;
}

static void parts_of_the_wrong_kind_are_told(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t count;
    const char *said; // "" when nothing is
    vyre_status status;
  } rows[] = {
      {"", 0, "", VYRE_OK},
      {"version = 1\n", 0, "", VYRE_OK},
      {"routes = 3\n", 0, "`routes` is no table", VYRE_OK},
      {"[routes.a]\nbackend = \"cpu\"\nalso = 4\n", 1, "`also` is no array", VYRE_OK},
      {"[routes.a]\nbackend = \"cpu\"\nalso = [4]\n", 1, "something else than tables", VYRE_OK},
      {"[routes.a]\nbackend = \"cpu\"\nobservations = 4\n", 0, "a list that is no array", VYRE_OK},
      {"version = 999\n[routes.a]\nbackend = \"cpu\"\n", 0, "", VYRE_ERROR_UNSUPPORTED},
      {"version = \"1\"\n[routes.a]\nbackend = \"cpu\"\n", 0, "", VYRE_ERROR_UNSUPPORTED},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vyre_status status;
    size_t count = load_routes(rows[i].text, &status);
    if (count != rows[i].count || status != rows[i].status || !strstr(told, rows[i].said) ||
        (!*rows[i].said && *told))
      fail_msg("row %zu: %zu entries, status %d, told: %s", i, count, (int)status, told);
  }
}

// ---- shapes -------------------------------------------------------------------------------------

static void shapes_end_at_their_limits(void **state) {
  (void)state;
  static const struct {
    tune_shape shape;
    bool is_valid;
  } rows[] = {
      {{{1, 1, 1}}, true},          {{{1024, 1, 1}}, true},       {{{1, 1024, 1}}, true},
      {{{1, 1, 1024}}, true},       {{{1025, 1, 1}}, false},      {{{512, 2, 1}}, true},
      {{{512, 3, 1}}, false},       {{{0, 1, 1}}, false},         {{{1, 0, 1}}, false},
      {{{1, 1, 0}}, false},         {{{8, 8, 16}}, true},         {{{8, 8, 17}}, false},
      {{{65536, 65536, 1}}, false}, {{{65536, 1, 65536}}, false},
  };
  tune_cache *cache = tune_cache_new();
  vyre_error error;
  size_t valid = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char key[16], text[60];
    tune_shape s = rows[i].shape;
    snprintf(key, sizeof key, "k%zu", i);
    assert_int_equal(tune_shape_is_valid(s), rows[i].is_valid);
    vyre_status status = tune_cache_set(cache, key, s, &error);
    assert_int_equal(status, rows[i].is_valid ? VYRE_OK : VYRE_ERROR_ARGUMENT);
    valid += rows[i].is_valid;
    assert_int_equal(tune_cache_count(cache), valid);
    snprintf(text, sizeof text, "[%u, %u, %u] is no launch shape", s.axis[0], s.axis[1], s.axis[2]);
    if (!rows[i].is_valid) assert_non_null(strstr(error.message, text));
  }
  tune_cache_free(cache);
}

static void sizes_end_at_the_largest_that_fits(void **state) {
  (void)state;
  uint32_t sizes[TUNE_SIZES];
  static const uint32_t rows[][2] = {{0, 0},   {31, 0},  {32, 1},   {63, 1},   {64, 2},
                                     {255, 3}, {256, 4}, {1023, 5}, {1024, 6}, {UINT32_MAX, 6}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(tune_sizes(rows[i][0], sizes), rows[i][1]);
    for (uint32_t k = 0; k < rows[i][1]; k++) assert_int_equal(sizes[k], 32u << k);
  }
}

static void resizing_begins_at_its_thresholds(void **state) {
  (void)state;
  const tune_resize_policy policy = {1024, 32, 1.0, 1000};
  static const struct {
    tune_feedback seen;
    bool changes;
    uint32_t size;
  } rows[] = {
      {{5000, 0, 64, 2.0}, false, 0},    // busy and fast enough
      {{5000, 0, 64, 1.0}, false, 0},    // exactly enough
      {{5000, 0, 64, 0.99}, true, 128},  // too slow: grow
      {{5000, 1000, 64, 2.0}, false, 0}, // idle as long as allowed
      {{5000, 1001, 64, 2.0}, true, 32}, // longer: shrink
      {{5000, 0, 1024, 0.5}, false, 0},  // as large as it gets
      {{5000, 0, 512, 0.5}, true, 1024}, {{5000, 1001, 32, 2.0}, false, 0}, // as small as it gets
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint32_t size = 0;
    bool changes = tune_suggest_resize(&policy, &rows[i].seen, &size);
    if (changes != rows[i].changes || (changes && size != rows[i].size))
      fail_msg("row %zu: %d, %u", i, changes, size);
  }
}

// ---- speculation --------------------------------------------------------------------------------

static void speculation_begins_at_its_thresholds(void **state) {
  (void)state;
  static const struct {
    speculate_inputs in;
    bool speculates;
    uint64_t savings;
  } rows[] = {
      {{.program_hit_count = 8,
        .prediction_confidence_bps = 6000,
        .miss_cost_ns = 1000,
        .speculative_cost_ns = 599},
       true,
       1},
      {{.program_hit_count = 7,
        .prediction_confidence_bps = 6000,
        .miss_cost_ns = 1000,
        .speculative_cost_ns = 599},
       false,
       0},
      {{.program_hit_count = 8,
        .prediction_confidence_bps = 5999,
        .miss_cost_ns = 1000,
        .speculative_cost_ns = 1},
       false,
       0},
      {{.program_hit_count = 8,
        .prediction_confidence_bps = 6000,
        .miss_cost_ns = 1000,
        .speculative_cost_ns = 600},
       false,
       0},
      {{.program_hit_count = 8,
        .prediction_confidence_bps = 10000,
        .miss_cost_ns = 1,
        .speculative_cost_ns = 0},
       true,
       1},
      {{.program_hit_count = 8,
        .prediction_confidence_bps = 10000,
        .miss_cost_ns = 0,
        .speculative_cost_ns = 0},
       false,
       0},
      {{.program_hit_count = 8,
        .prediction_confidence_bps = 20000,
        .miss_cost_ns = 1000,
        .speculative_cost_ns = 400},
       true,
       600},
      {{.program_hit_count = UINT32_MAX,
        .prediction_confidence_bps = 10000,
        .miss_cost_ns = UINT64_MAX,
        .speculative_cost_ns = 0},
       true,
       UINT64_MAX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    speculate_decision d = speculate_decide(rows[i].in);
    if (d.speculate != rows[i].speculates || d.expected_savings_ns != rows[i].savings)
      fail_msg("row %zu: %d, %llu", i, d.speculate, (unsigned long long)d.expected_savings_ns);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_what_came_in),
      cmocka_unit_test(as_many_backends_as_there_may_be),
      cmocka_unit_test(parts_of_the_wrong_kind_are_told),
      cmocka_unit_test(shapes_end_at_their_limits),
      cmocka_unit_test(sizes_end_at_the_largest_that_fits),
      cmocka_unit_test(resizing_begins_at_its_thresholds),
      cmocka_unit_test(speculation_begins_at_its_thresholds),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
