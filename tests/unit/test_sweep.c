// SPDX-License-Identifier: MIT
//
// A sweep of launch shapes on a backend whose speed is told by shape, with a clock that is told:
// who wins, what is measured, kept and measured again is the same in every run. Shapes that fail,
// also after the right answer was written, and shapes that lie do not win, however fast they are.
#include "backend/backend.h"
#include "backend/ref/ref.h"
#include "base/error.h"
#include "runtime/sweep.h"

#include "../scratch_dir.h"
#include "../told_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 4096, DECLARED = 64, FAST = 128, FASTER = 256 };

static const char text[] = "program test.sweep()\nbuffer x: u32[] read\nbuffer y: u32[] write\n"
                           "region r grid(len(x)) workgroup(64) {\n"
                           "  y[global_id.x] = x[global_id.x] * 3\n}\n";

// ---- the backend --------------------------------------------------------------------------------

static struct {
  uint32_t fails_at, lies_at; // this width
  uint64_t ns, faster_by;     // of each dispatch, and less each time; 0: by its width
  uint32_t dispatches[1025];  // by width; 0: as declared
} told;

static uint64_t speed_of(uint32_t width) {
  return width == FASTER ? 2000000 : width == FAST ? 4000000 : 8000000;
}

static vyre_status told_dispatch(void *s, const launch *l, vyre_report *r, vyre_error *error) {
  uint32_t width = l->has_workgroup ? l->regions[0].workgroup[0] : 0;
  told.dispatches[width]++;
  vyre_status status = ref_backend.dispatch(s, l, r, error);
  told_spend(told.ns ? told.ns : speed_of(width));
  told.ns -= told.faster_by;
  if (width && width == told.lies_at) ((uint32_t *)l->buffers[1].data)[COUNT - 1]++;
  if (width && width == told.fails_at)
    return error_set(error, VYRE_ERROR_BACKEND, "the device is lost. Fix: find it");
  return status;
}

static backend told_backend;

// ---- the request --------------------------------------------------------------------------------

static uint32_t x[COUNT], y[COUNT];
static vyre_program *program;
static vyre_executable *executable;
static vyre_device device;
static capture inputs;
static capture_output expected;
static store *samples;

static void ok(vyre_status status, const vyre_error *error) {
  if (status != VYRE_OK) fail_msg("%s", error->message);
}

static int set_up(void **state) {
  vyre_error error;
  uint32_t count = 0;
  if (scratch_dir_make(state)) return -1;
  memset(&told, 0, sizeof told);
  told_backend = ref_backend;
  told_backend.id = "told";
  told_backend.dispatch = told_dispatch;
  backend_set_extra(&told_backend);
  ok(vyre_program_parse(text, sizeof text - 1, "text", &program, &error), &error);
  ok(vyre_compile(program, "told", NULL, &executable, &error), &error);
  ok(vyre_backend_devices("told", &device, 1, &count, &error), &error);
  ok(store_open(&(store_options){.path = scratch_path("evidence.db")}, NULL, &samples, &error),
     &error);
  for (uint32_t i = 0; i < COUNT; i++) x[i] = i;
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 2};
  assert_int_equal(capture_take(&inputs, program, &args), CAPTURE_TAKEN);
  ok(capture_run(&inputs, executable, NULL, NULL, &error), &error);
  assert_true(capture_keep(&inputs, &expected));
  memset(told.dispatches, 0, sizeof told.dispatches);
  return 0;
}

static int tear_down(void **state) {
  capture_output_fini(&expected);
  capture_fini(&inputs);
  store_close(samples);
  vyre_executable_release(executable);
  vyre_program_release(program);
  backend_set_extra(NULL);
  return scratch_dir_remove(state);
}

static sweep_request request(void) {
  return (sweep_request){.program = program,
                         .inputs = &inputs,
                         .expected = &expected,
                         .executable = executable,
                         .device = &device,
                         .store = samples};
}

// The width that is chosen; 0: it stays as declared, and nothing is decided.
static uint32_t chosen_by(const sweep_request *r) {
  tuner *t = tuner_new_empty("adapter", TUNE_ON);
  tune_sweep_result result;
  tune_shape chosen;
  tune_key key;
  vyre_error store_error, error;
  ok(sweep_run(r, t, &result, &chosen, &store_error, &error), &error);
  assert_int_equal(store_error.status, VYRE_OK);
  assert_true(sweep_key(program, &inputs, &key));
  if (tuner_is_decided(t, key.text))
    assert_true(tune_shape_equal(tuner_resolve(t, key.text), chosen));
  else
    assert_int_equal(chosen.axis[0], DECLARED);
  assert_int_equal(chosen.axis[1], 1);
  assert_int_equal(chosen.axis[2], 1);
  uint32_t width = tuner_is_decided(t, key.text) ? chosen.axis[0] : 0;
  tune_sweep_free(&result);
  tuner_free(t);
  return width;
}

static bool proves(uint32_t width, vyre_error *error) {
  sweep_request r = request();
  return sweep_proves(&r, (tune_shape){{width, 1, 1}}, error);
}

// ---- tests --------------------------------------------------------------------------------------

static void only_the_expected_answer_is_a_proof(void **state) {
  (void)state;
  vyre_error error;
  told.fails_at = FASTER;
  told.lies_at = FAST;
  assert_true(proves(DECLARED, &error));
  assert_int_equal(told.dispatches[0], 1); // as a dispatch without a shape
  assert_true(proves(32, &error));
  assert_int_equal(told.dispatches[32], 1);
  assert_false(proves(FASTER, &error));
  assert_int_equal(error.status, VYRE_ERROR_BACKEND);
  assert_false(proves(FAST, &error));
  assert_int_equal(error.status, VYRE_ERROR_VERIFY);
  assert_non_null(strstr(error.message, "4095"));
}

// What is short is repeated, and the best counts; what is long is not.
static void short_runs_are_timed_many_times(void **state) {
  (void)state;
  static const struct {
    uint64_t ns, faster_by;
    uint32_t runs;
  } cases[] = {
      {1000, 10, 16}, {2000000, 0, 1}, {200000, 0, 1}, {199999, 0, 2}, {80000, 0, 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t best, spent = 7, sum = 0;
    vyre_error error;
    for (uint32_t n = 0; n < cases[i].runs; n++) sum += cases[i].ns - n * cases[i].faster_by;
    told.ns = cases[i].ns;
    told.faster_by = cases[i].faster_by;
    told.dispatches[0] = 0;
    ok(capture_time(&inputs, executable, NULL, &best, &spent, &error), &error);
    assert_int_equal(told.dispatches[0], cases[i].runs);
    assert_int_equal(best, cases[i].ns - (cases[i].runs - 1) * cases[i].faster_by);
    assert_int_equal(spent, 7 + sum);
  }
}

static void the_fastest_that_is_right_is_chosen(void **state) {
  (void)state;
  sweep_request r = request();
  r.store = NULL;
  assert_int_equal(chosen_by(&r), FASTER);
  told.lies_at = FASTER;
  assert_int_equal(chosen_by(&r), FAST);
  told.fails_at = FAST;
  assert_int_equal(chosen_by(&r), DECLARED); // decided: nothing is clearly faster
}

static void one_shape_is_compared_with_the_usual_one(void **state) {
  (void)state;
  sweep_request r = request();
  tune_shape fast = {{FAST, 1, 1}}, slow = {{32, 1, 1}}, faster = {{FASTER, 1, 1}};
  r.store = NULL;
  r.only = &fast;
  assert_int_equal(chosen_by(&r), FAST);
  assert_int_equal(told.dispatches[FASTER], 0);
  r.only = &slow;
  assert_int_equal(chosen_by(&r), DECLARED);
  r.usual = &faster;
  r.only = &fast;
  assert_int_equal(chosen_by(&r), FASTER);
}

static uint32_t all_dispatches(void) {
  uint32_t sum = 0;
  for (size_t i = 0; i < sizeof told.dispatches / sizeof *told.dispatches; i++)
    sum += told.dispatches[i];
  return sum;
}

static bool count_tuning(void *context, const store_line *line) {
  if (!strcmp(line->kind, "tuning")) *(uint64_t *)context += line->count;
  return true;
}

static uint64_t stored(void) {
  uint64_t count = 0;
  vyre_error error;
  ok(store_visit(samples, count_tuning, &count, &error), &error);
  return count;
}

static void samples_are_kept_and_not_taken_again(void **state) {
  (void)state;
  sweep_request r = request();
  assert_int_equal(chosen_by(&r), FASTER);
  uint32_t measured = all_dispatches();
  uint64_t kept = stored();
  assert_true(kept >= 3 * TRIAL_ROUNDS);
  // What was settled is proven once more, and not measured.
  memset(told.dispatches, 0, sizeof told.dispatches);
  assert_int_equal(chosen_by(&r), FASTER);
  assert_int_equal(stored(), kept);
  assert_true(all_dispatches() < measured / 2);
  assert_in_range(told.dispatches[FASTER], 1, 2);
  // One that lies now is not used, whatever was measured then.
  told.lies_at = FASTER;
  assert_int_not_equal(chosen_by(&r), FASTER);
  told.lies_at = 0;
  // Asked to, it measures everything.
  memset(told.dispatches, 0, sizeof told.dispatches);
  r.again = true;
  assert_int_equal(chosen_by(&r), FASTER);
  assert_int_equal(all_dispatches(), measured);
  assert_int_equal(stored(), 2 * kept);
}

static bool stops_at_once(void *context, uint32_t done, uint32_t all) {
  (void)done, (void)all;
  ++*(unsigned *)context;
  return false;
}

static void a_sweep_ends_when_it_is_told_to(void **state) {
  (void)state;
  sweep_request r = request();
  unsigned asked = 0;
  r.store = NULL;
  assert_int_equal(chosen_by(&r), FASTER);
  uint32_t measured = all_dispatches();
  memset(told.dispatches, 0, sizeof told.dispatches);
  r.budget_ns = 1; // it is over after the first round
  chosen_by(&r);
  uint32_t limited = all_dispatches();
  assert_true(limited > 0 && limited < measured);
  memset(told.dispatches, 0, sizeof told.dispatches);
  r.budget_ns = UINT64_MAX;
  assert_int_equal(chosen_by(&r), FASTER);
  assert_int_equal(all_dispatches(), measured);
  r.keep_going = stops_at_once;
  r.context = &asked;
  memset(told.dispatches, 0, sizeof told.dispatches);
  assert_int_equal(chosen_by(&r), 0);
  assert_true(asked > 0 && all_dispatches() < measured / 2);
}

static void programs_without_an_elastic_region_have_no_shape(void **state) {
  (void)state;
  static const char *const texts[] = {
      "program p()\nbuffer y: u32[] write\nregion r grid(8) workgroup(8) { y[local_id.x] = 1 }\n",
      "program p()\nbuffer y: u32[] write\nregion r grid(8) workgroup(8) { y[local_id.x] = 1 }\n"
      "region s grid(8) workgroup(2) { y[global_id.x] = 1 }\n"};
  tune_key key;
  for (int i = 0; i < 2; i++) {
    vyre_program *p;
    vyre_error error;
    uint32_t shape[3];
    ok(vyre_program_parse(texts[i], strlen(texts[i]), "text", &p, &error), &error);
    assert_ptr_equal(sweep_region(p), i ? &p->regions[1] : NULL);
    assert_int_equal(sweep_key(p, &inputs, &key), i);
    sweep_launch_shape(p, (tune_shape){{2, 1, 1}}, shape);
    assert_int_equal(shape[0], i ? 0 : 2);
    sweep_launch_shape(p, (tune_shape){{2, 2, 1}}, shape);
    assert_int_equal(shape[0], 2);
    assert_int_equal(shape[1], 2);
    assert_int_equal(shape[2], 1);
    vyre_program_release(p);
  }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  told_clock_begin();
  const struct CMUnitTest tests[] = {
      CASE(only_the_expected_answer_is_a_proof),
      CASE(short_runs_are_timed_many_times),
      CASE(the_fastest_that_is_right_is_chosen),
      CASE(one_shape_is_compared_with_the_usual_one),
      CASE(samples_are_kept_and_not_taken_again),
      CASE(a_sweep_ends_when_it_is_told_to),
      CASE(programs_without_an_elastic_region_have_no_shape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
