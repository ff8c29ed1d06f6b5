// SPDX-License-Identifier: MIT
//
// A device is compared with the reference before it is chosen by itself: once, in the background,
// and it gets no program that needs what it got wrong. The device is made up.
#include "backend/acquaint.h"
#include "backend/conformance.h"
#include "backend/ref/ref.h"
#include "base/error.h"
#include "runtime/kernel.h"

#include "../scratch_dir.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../loaded_kernel.h"

// ---- the device ---------------------------------------------------------------------------------

static char adapter[32];         // of the present test: what is known of a device stays known
static const char *wrong_buffer; // whose first element is changed; NULL: none
static vyre_type wrong_type;     // of its elements
static vyre_type declined_type;  // of buffers
static atomic_uint compared, compared_here;
static pthread_t foreground;

static vyre_status made_up_probe(const backend *self, vyre_device *devices, uint32_t capacity,
                                 uint32_t *count, vyre_error *error) {
  vyre_status status = ref_backend.probe(self, devices, capacity, count, error);
  if (capacity) snprintf(devices[0].adapter, sizeof devices[0].adapter, "%s", adapter);
  return status;
}

static vyre_status made_up_compile(const backend *self, vyre_program *p,
                                   const vyre_compile_options *o, const volatile uint32_t *stop,
                                   void **out, vyre_error *error) {
  for (uint32_t i = 0; i < p->buffer_count; i++)
    if (p->buffers[i].type == declined_type)
      return error_set(error, VYRE_ERROR_UNSUPPORTED, "no such type. Fix: none is needed");
  return ref_backend.compile(self, p, o, stop, out, error);
}

static vyre_status made_up_dispatch(void *state, const launch *l, vyre_report *r,
                                    vyre_error *error) {
  const vyre_program *p = l->program;
  bool is_compared = !strcmp(p->regions[0].name, "ask");
  compared += is_compared;
  compared_here += is_compared && pthread_equal(pthread_self(), foreground);
  vyre_status status = ref_backend.dispatch(state, l, r, error);
  for (uint32_t i = 0; i < p->buffer_count; i++)
    if (wrong_buffer && !strcmp(p->buffers[i].name, wrong_buffer) &&
        p->buffers[i].type == wrong_type)
      ++*(uint8_t *)l->buffers[i].data;
  return status;
}

static void set_device(const char *name) {
  static backend made_up;
  made_up = ref_backend;
  made_up.id = "fake";
  made_up.is_compared_first = true;
  made_up.probe = made_up_probe;
  made_up.compile = made_up_compile;
  made_up.dispatch = made_up_dispatch;
  backend_set_extra(&made_up);
  snprintf(adapter, sizeof adapter, "%s", name);
  setenv("VYRE_HOME", scratch_path(name), 1);
  wrong_buffer = NULL;
  declined_type = VYRE_VOID;
  compared = compared_here = 0;
  foreground = pthread_self();
}

static bool is_allowed_to_run(const char *text) {
  vyre_program *p;
  vyre_error error;
  assert_int_equal(vyre_program_parse(text, strlen(text), "test", &p, &error), VYRE_OK);
  bool is_allowed = conformance_allows_backend("fake", p, &error);
  vyre_program_release(p);
  return is_allowed;
}

static const char sums[] = "program s()\nbuffer x: u32[] readwrite\n"
                           "region main grid(len(x)) { x[global_id.x] = x[global_id.x] + 1 }\n";
static const char counts[] = "program c()\nbuffer x: u32[] readwrite\n"
                             "region main grid(len(x)) { atomic_add(x[0], 1) }\n";

// ---- comparing ----------------------------------------------------------------------------------

static void a_right_device_is_asked_once(void **state) {
  (void)state;
  vyre_error error;
  set_device("right");
  assert_false(acquaint_has_met_any());
  assert_false(acquaint_allows("fake", false, &error));
  assert_non_null(strstr(error.message, "right was not compared with the reference yet"));
  assert_int_equal(compared, 0);
  assert_true(acquaint_allows("fake", true, &error));
  unsigned asked = compared;
  assert_true(asked > 5);
  assert_true(acquaint_has_met_any());
  assert_true(acquaint_allows("fake", false, &error));
  assert_true(acquaint_allows("fake", true, &error));
  assert_int_equal(compared, asked);
  assert_true(is_allowed_to_run(sums) && is_allowed_to_run(counts));
  assert_null(scratch_read(scratch_path("right/state/conform/right.toml")));
  backend_set_extra(NULL);
}

static void what_it_gets_wrong_is_not_given_to_it(void **state) {
  (void)state;
  vyre_error error;
  set_device("wrong");
  wrong_buffer = "q"; // of atomics
  wrong_type = VYRE_I32;
  assert_true(acquaint_allows("fake", true, &error));
  assert_true(is_allowed_to_run(sums));
  assert_false(is_allowed_to_run(counts));
  char *known = scratch_read(scratch_path("wrong/state/conform/wrong.toml"));
  assert_non_null(strstr(known, "first-use/atomics"));
  assert_null(strstr(strstr(known, "[[failed]]") + 1, "[[failed]]"));
  free(known);
  backend_set_extra(NULL);
}

// What a device declines it need not do.
static void what_it_declines_is_no_fault(void **state) {
  (void)state;
  vyre_error error;
  set_device("without");
  declined_type = VYRE_U64;
  assert_true(acquaint_allows("fake", true, &error));
  assert_null(scratch_read(scratch_path("without/state/conform/without.toml")));
  backend_set_extra(NULL);
}

// ---- the runtime --------------------------------------------------------------------------------

static void dispatch(vyre_kernel *k, int count) {
  static uint32_t x[4096];
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
  vyre_error error;
  for (int i = 0; i < count; i++) {
    x[7] = 5;
    if (vyre_kernel_dispatch(k, &args, NULL, &error) != VYRE_OK) fail_msg("%s", error.message);
    assert_int_equal(x[7], 6);
  }
  vyre_runtime_settle(k->runtime);
}

static char *explained(vyre_kernel *k) {
  char *text;
  assert_int_equal(vyre_kernel_explain(k, &text, NULL), VYRE_OK);
  return text;
}

// The background compares, whoever dispatches does not wait for it, and then it is a candidate.
static void the_runtime_compares_in_the_background(void **state) {
  (void)state;
  vyre_runtime_options options = {.learn_after = 2, .without = "opencl"};
  vyre_runtime *rt;
  set_device("learned");
  vyre_kernel *k = load_text(sums, &options, &rt);
  dispatch(k, 4);
  assert_true(compared > 5);
  assert_int_equal(compared_here, 0);
  char *text = explained(k);
  assert_non_null(strstr(text, "fake full"));
  vyre_free(text);
  finish(rt);
}

// A routing table that came from elsewhere names it: this CPU answers until it was compared.
static void a_routed_device_is_compared_first(void **state) {
  (void)state;
  vyre_runtime_options options = {.without = "opencl"};
  vyre_runtime *rt;
  set_device("routed");
  mkdir(scratch_path("routed"), 0700);
  mkdir(scratch_path("routed/config"), 0700);
  scratch_write(scratch_path("routed/config/pgo.toml"),
                "version = 1\n[routes.s]\nbackend = \"fake\"\nobservations = []\n");
  vyre_kernel *k = load_text(sums, &options, &rt);
  dispatch(k, 1);
  assert_int_equal(compared, 0);
  dispatch(k, 1); // leaves its inputs
  assert_true(compared > 5);
  assert_int_equal(compared_here, 0);
  dispatch(k, 2);
  finish(rt);
}

// It gets nothing that needs what it got wrong.
static void the_runtime_keeps_to_what_was_found(void **state) {
  (void)state;
  static const char text[] = "program s()\nbuffer x: u32[] readwrite\nregion main grid(len(x)) {\n"
                             "  if global_id.x == 7 { atomic_add(x[global_id.x], 1) }\n}\n";
  vyre_runtime_options options = {.learn_after = 2, .without = "opencl"};
  vyre_runtime *rt;
  set_device("kept");
  wrong_buffer = "q";
  wrong_type = VYRE_I32;
  vyre_kernel *k = load_text(text, &options, &rt);
  dispatch(k, 4);
  assert_int_equal(compared_here, 0);
  char *story = explained(k);
  assert_non_null(strstr(story, "first-use/atomics"));
  vyre_free(story);
  finish(rt);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_right_device_is_asked_once),
      cmocka_unit_test(what_it_gets_wrong_is_not_given_to_it),
      cmocka_unit_test(what_it_declines_is_no_fault),
      cmocka_unit_test(the_runtime_compares_in_the_background),
      cmocka_unit_test(a_routed_device_is_compared_first),
      cmocka_unit_test(the_runtime_keeps_to_what_was_found),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
