// SPDX-License-Identifier: MIT
//
// Memory that runs out while something is decided, kept or read back: an error or an answer, and
// nothing is lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../memory_sweep.h"
#include "../sample_programs.h"
#include "../scratch_dir.h"
#include "policy/optimize.h"
#include "policy/predict.h"
#include "policy/route.h"
#include "policy/tune_cache.h"

static void must_be_memory(vyre_status status) {
  if (status != VYRE_OK && status != VYRE_ERROR_MEMORY) fail_msg("status %d", (int)status);
}

// ---- routes -------------------------------------------------------------------------------------

static char routes_path[300];

static vyre_status measure(void *context, const vyre_dispatch_args *args, uint64_t *elapsed_ns,
                           vyre_error *error) {
  (void)args, (void)error;
  *elapsed_ns = *(const uint64_t *)context;
  return VYRE_OK;
}

static void certify(route_table *t) {
  static uint64_t slow = 5000, fast = 1000;
  const route_backend backends[] = {{"slow", measure, NULL, &slow}, {"fast", measure, NULL, &fast}};
  static const uint8_t fingerprint[32] = {7};
  const route_certify_options o = {.fingerprint = fingerprint,
                                   .device = "d",
                                   .has_size_class = true,
                                   .size_class = 4,
                                   .date = 9};
  const route_entry *e;
  vyre_error error;
  vyre_status status = route_certify(t, "op", NULL, backends, 2, &o, &e, &error);
  must_be_memory(status);
  if (status == VYRE_OK) assert_string_equal(e->backend, "fast");
  must_be_memory(route_certify(t, "other", NULL, backends, 1, NULL, &e, &error));
}

static void work_on_routes(void) {
  vyre_error error;
  unlink(routes_path);
  route_table *t = route_table_new(), *u = route_table_new();
  if (t && u) {
    certify(t);
    if (route_table_save(t, routes_path, NULL, &error) == VYRE_OK)
      must_be_memory(route_table_load(u, routes_path, NULL, &error));
    must_be_memory(route_table_merge(u, t, &error));
    const route_entry *e;
    if (route_table_count(u) == 2)
      assert_int_equal(route_resolve(u, &(route_query){.op_id = "op", .device = "d"}, &e),
                       ROUTE_USABLE);
  }
  route_table_free(t);
  route_table_free(u);
}

static void routes_survive(void **state) {
  (void)state;
  strcpy(routes_path, scratch_path("pgo.toml"));
  memory_sweep(work_on_routes, 20);
}

// ---- shapes -------------------------------------------------------------------------------------

static vyre_status time_shape(void *context, tune_shape shape, uint64_t *elapsed_ns,
                              vyre_error *error) {
  (void)context, (void)error;
  *elapsed_ns = 100000 / shape.axis[0];
  return VYRE_OK;
}

static void work_on_shapes(void) {
  static const tune_shape shapes[] = {{{32, 1, 1}}, {{64, 1, 1}}, {{128, 1, 1}}};
  tune_sweep_options o = {.usual = TUNE_DEFAULT_SHAPE, .run = time_shape};
  tune_sweep_result result = {0};
  vyre_error error;
  vyre_status status = tune_sweep(shapes, 3, &o, &result, &error);
  must_be_memory(status);
  if (status == VYRE_OK) tune_sweep_free(&result);
  tuner *t = tuner_new("some adapter", TUNE_ON, NULL);
  if (!t) return;
  unlink(tuner_path(t));
  if (tuner_record_decision(t, "v1-a", shapes[0], &error) == VYRE_OK &&
      tuner_record_decision(t, "v1-b", shapes[2], &error) == VYRE_OK &&
      tuner_persist(t, NULL, &error) == VYRE_OK) {
    tuner *u = tuner_new("some adapter", TUNE_ON, NULL);
    if (u && tuner_is_decided(u, "v1-b")) assert_int_equal(tuner_resolve(u, "v1-b").axis[0], 128);
    tuner_free(u);
  }
  tuner_free(t);
}

static void shapes_survive(void **state) {
  (void)state;
  memory_sweep(work_on_shapes, 15);
}

// ---- predictions and passes ---------------------------------------------------------------------

static void work_on_predictions(void) {
  predictor *p = predictor_new(2, 16);
  if (!p) return;
  for (uint64_t i = 0; i < 40; i++) predictor_observe(p, (uint64_t[]){i, 7}, true);
  uint64_t values[2];
  prediction out;
  if (predictor_next(p, 1, values, &out)) assert_int_equal(values[0], 40);
  predictor_free(p);
}

static void predictions_survive(void **state) {
  (void)state;
  memory_sweep(work_on_predictions, 0);
}

static vyre_program *sample;

static void work_on_passes(void) {
  for (int mode = OPTIMIZE_SELECTED; mode <= OPTIMIZE_NOTHING; mode++) {
    static const char *const names[] = {"cse", "dce", NULL};
    optimize_options o = {.mode = (optimize_mode)mode, .names = names, .selection = "cse,dce;licm"};
    optimize_result result;
    vyre_error error;
    vyre_status status = optimize_program(sample, &o, &result, &error);
    must_be_memory(status);
    assert_int_equal(status == VYRE_OK, result.program != NULL);
    if (status == VYRE_OK) free(optimize_selection(&result));
    optimize_result_fini(&result);
  }
}

static void passes_survive(void **state) {
  (void)state;
  vyre_error error;
  sample = sample_structure(&error);
  assert_non_null(sample);
  memory_sweep(work_on_passes, 50);
  vyre_program_release(sample);
}

static int make_home(void **state) {
  if (scratch_dir_make(state)) return -1;
  return setenv("VYRE_HOME", scratch_dir, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(routes_survive),
      cmocka_unit_test(shapes_survive),
      cmocka_unit_test(predictions_survive),
      cmocka_unit_test(passes_survive),
  };
  return cmocka_run_group_tests(tests, make_home, scratch_dir_remove);
}
