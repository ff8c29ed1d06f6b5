// SPDX-License-Identifier: MIT
//
// The runtime gives the same answers while it learns, under threads, and whatever a backend does:
// one that fails at probe, compile or dispatch, or answers wrongly, costs time and a notice,
// nothing else.
#include "backend/backend.h"
#include "backend/ref/ref.h"
#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { COUNT = 64 };

// y[i] = a * x[i] + sum over k < n of k, which specialising turns into a constant.
static vyre_program *make_program(void) {
  vyre_builder *b = vyre_builder_new("test.sum");
  uint32_t a = vyre_build_param(b, "a", VYRE_I32), n = vyre_build_param(b, "n", VYRE_I32);
  vyre_mem x = vyre_build_buffer(b, "x", VYRE_I32, VYRE_READ, 0);
  vyre_mem y = vyre_build_buffer(b, "y", VYRE_I32, VYRE_WRITE, 0);
  vyre_build_region_begin(b, "sum");
  vyre_value grid = vyre_build_len(b, x);
  vyre_build_grid(b, 1, &grid, (uint32_t[3]){64, 1, 1});
  vyre_value i = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0);
  vyre_var sum = vyre_build_var(
      b, "sum",
      vyre_build_binary(b, VYRE_OP_MUL, vyre_build_param_value(b, a), vyre_build_load(b, x, i)));
  vyre_value k = vyre_build_for(b, vyre_build_i32(b, 0), vyre_build_param_value(b, n), 0);
  vyre_build_set(b, sum, vyre_build_binary(b, VYRE_OP_ADD, vyre_build_get(b, sum), k));
  vyre_build_end(b);
  vyre_build_store(b, y, i, vyre_build_get(b, sum));
  vyre_build_region_end(b);
  vyre_program *p = NULL;
  vyre_error error;
  if (vyre_builder_finish(b, &p, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_builder_free(b);
  return p;
}

static vyre_status dispatch(vyre_kernel *k, int32_t a, int32_t n, size_t count, vyre_error *error) {
  int32_t x[COUNT], y[COUNT];
  for (int32_t i = 0; i < COUNT; i++) x[i] = i, y[i] = -1;
  vyre_scalar params[] = {vyre_scalar_i32(a), vyre_scalar_i32(n)};
  vyre_span spans[] = {{x, 4 * count}, {y, 4 * count}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = spans, .buffer_count = 2};
  vyre_status status = vyre_kernel_dispatch(k, &args, NULL, error);
  for (size_t i = 0; i < count && status == VYRE_OK; i++)
    if (y[i] != a * (int32_t)i + n * (n - 1) / 2)
      return error_set(error, VYRE_ERROR_BACKEND, "y[%zu] is %d", i, (int)y[i]);
  return status;
}

// All that was told since the start, from any thread.
static char told[4000];
static unsigned notice_count;
static pthread_mutex_t notice_lock = PTHREAD_MUTEX_INITIALIZER;

static void take_notice(void *context, const char *message) {
  (void)context;
  pthread_mutex_lock(&notice_lock);
  size_t used = strlen(told);
  snprintf(told + used, sizeof told - used, "%s\n", message);
  notice_count++;
  pthread_mutex_unlock(&notice_lock);
}

static bool was_told(const char *what) {
  pthread_mutex_lock(&notice_lock);
  bool found = strstr(told, what) != NULL;
  pthread_mutex_unlock(&notice_lock);
  return found;
}

static vyre_kernel *start(vyre_runtime **rt, vyre_runtime_options options) {
  vyre_error error;
  vyre_kernel *k;
  vyre_program *p = make_program();
  options.notice = take_notice;
  told[0] = 0;
  notice_count = 0;
  assert_int_equal(vyre_runtime_new(&options, rt, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_load(*rt, p, &k, &error), VYRE_OK);
  vyre_program_release(p);
  return k;
}

static void check_dispatches(vyre_kernel *k, int count) {
  vyre_error error;
  for (int i = 0; i < count; i++)
    if (dispatch(k, i, i % 9, COUNT, &error) != VYRE_OK) fail_msg("%s", error.message);
}

static void answers_stay_right_while_learning(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.backend = "ref", .learn_after = 3});
  check_dispatches(k, 50);
  vyre_runtime_settle(rt);
  check_dispatches(k, 50);
  char *text;
  assert_int_equal(vyre_kernel_explain(k, &text, NULL), VYRE_OK);
  assert_non_null(strstr(text, "; learned"));
  assert_non_null(strstr(text, "ref full "));
  vyre_free(text);
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
}

static void size_classes_have_plans_of_their_own(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_error error;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.backend = "ref", .no_learning = true});
  for (size_t count = 0; count <= COUNT; count++)
    assert_int_equal(dispatch(k, 3, 4, count, &error), VYRE_OK);
  char *text;
  assert_int_equal(vyre_kernel_explain(k, &text, NULL), VYRE_OK);
  assert_non_null(strstr(text, "size class 5"));
  assert_non_null(strstr(text, "size class 9"));
  vyre_free(text);
  vyre_runtime_free(rt); // frees the kernel too
}

static void bad_arguments_are_reported_and_change_nothing(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_error error;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.backend = "ref", .learn_after = 1});
  vyre_dispatch_args none = {0};
  for (int i = 0; i < 5; i++) {
    assert_int_equal(vyre_kernel_dispatch(k, &none, NULL, &error), VYRE_ERROR_BINDING);
    vyre_span nulls[] = {{NULL, 64}, {NULL, 64}};
    vyre_scalar params[] = {vyre_scalar_i32(1), vyre_scalar_i32(1)};
    vyre_dispatch_args bad = {
        .params = params, .param_count = 2, .buffers = nulls, .buffer_count = 2};
    assert_int_equal(vyre_kernel_dispatch(k, &bad, NULL, &error), VYRE_ERROR_BINDING);
  }
  assert_int_equal(vyre_kernel_dispatch(k, NULL, NULL, &error), VYRE_ERROR_ARGUMENT);
  check_dispatches(k, 10);
  vyre_runtime_free(rt);
}

static void *dispatch_many(void *kernel) {
  vyre_error error;
  for (int i = 0; i < 300; i++)
    if (dispatch(kernel, i, i % 7, COUNT, &error) != VYRE_OK) return (void *)1;
  return NULL;
}

static void several_threads_share_a_kernel(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.backend = "ref", .learn_after = 5});
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, dispatch_many, k);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  vyre_runtime_free(rt);
}

static void submitted_dispatches_complete(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_error error;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.backend = "ref"});
  int32_t x[COUNT] = {0}, y[4][COUNT];
  vyre_completion *c[4];
  vyre_scalar params[] = {vyre_scalar_i32(1), vyre_scalar_i32(5)};
  vyre_span spans[4][2];
  for (int i = 0; i < 4; i++) {
    spans[i][0] = (vyre_span){x, sizeof x};
    spans[i][1] = (vyre_span){y[i], sizeof y[i]};
    vyre_dispatch_args args = {
        .params = params, .param_count = 2, .buffers = spans[i], .buffer_count = 2};
    assert_int_equal(vyre_kernel_submit(k, &args, &c[i], &error), VYRE_OK);
  }
  for (int i = 0; i < 4; i++) {
    assert_int_equal(vyre_completion_wait(c[i], &error), VYRE_OK);
    assert_int_equal(y[i][COUNT - 1], 10);
  }
  vyre_runtime_free(rt);
}

// ---- ending -------------------------------------------------------------------------------------

static atomic_uint slow_dispatches;
static atomic_bool is_freeing;
static pthread_t foreground;

// The background goes as far as timing its candidates, waits until the runtime is being freed, and
// is slow from then on.
enum { UNDER_WAY = 3 };

static vyre_status count_slowly(void *s, const launch *l, vyre_report *r, vyre_error *error) {
  bool is_background = !pthread_equal(pthread_self(), foreground);
  if (is_background && atomic_fetch_add(&slow_dispatches, 1) + 1 >= UNDER_WAY) do
      nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    while (!atomic_load(&is_freeing));
  return ref_backend.dispatch(s, l, r, error);
}

// A program that ends does not wait until all is learned about a kernel that takes long.
static void freeing_ends_what_is_being_learned(void **state) {
  (void)state;
  backend slow = ref_backend;
  slow.id = "slow";
  slow.dispatch = count_slowly;
  backend_set_extra(&slow);
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt, (vyre_runtime_options){.backend = "slow", .learn_after = 1});
  vyre_error error;
  foreground = pthread_self();
  for (int i = 0; i < 2; i++) assert_int_equal(dispatch(k, 1, 5, COUNT, &error), VYRE_OK);
  while (atomic_load(&slow_dispatches) < UNDER_WAY) sched_yield();
  atomic_store(&is_freeing, true);
  vyre_runtime_free(rt);
  assert_in_range(atomic_load(&slow_dispatches), UNDER_WAY, UNDER_WAY + 4); // of more than 20
  backend_set_extra(NULL);
}

// ---- backends that misbehave --------------------------------------------------------------------

static enum { WORKS, FAILS_PROBE, FAILS_COMPILE, FAILS_DISPATCH, LIES, FAILS_LATER } behaviour;
static atomic_int fake_dispatches;

static vyre_status fake_probe(const backend *self, vyre_device *d, uint32_t capacity,
                              uint32_t *count, vyre_error *error) {
  if (behaviour == FAILS_PROBE)
    return error_set(error, VYRE_ERROR_BACKEND, "no device today. Fix: come back tomorrow");
  return ref_backend.probe(self, d, capacity, count, error);
}

static vyre_status fake_compile(const backend *self, vyre_program *p, const vyre_compile_options *o,
                                const volatile uint32_t *stop, void **out, vyre_error *error) {
  if (behaviour == FAILS_COMPILE)
    return error_set(error, VYRE_ERROR_BACKEND, "the compiler is broken. Fix: mend it");
  return ref_backend.compile(self, p, o, stop, out, error);
}

static vyre_status fake_dispatch(void *s, const launch *l, vyre_report *r, vyre_error *error) {
  fake_dispatches++;
  if (behaviour == FAILS_DISPATCH || (behaviour == FAILS_LATER && fake_dispatches > 6))
    return error_set(error, VYRE_ERROR_BACKEND, "the device is lost. Fix: find it");
  // Fast, so that it would be chosen: the work is not done at all when it lies.
  if (behaviour == LIES) return VYRE_OK;
  vyre_status status = ref_backend.dispatch(s, l, r, error);
  return status;
}

static const backend fake = {
    .id = "fake",
    .summary = "misbehaves",
    .probe = fake_probe,
    .compile = fake_compile,
    .dispatch = fake_dispatch,
    .release = NULL,
};

static void misbehaving_backends_cost_nothing_but_time(void **state) {
  (void)state;
  backend misbehaving = fake;
  misbehaving.release = ref_backend.release;
  static const char *const expected[] = {"fake",         "",    "broken", "device is lost",
                                         "wrong-result", "fake"};
  for (behaviour = WORKS; behaviour <= FAILS_LATER; behaviour++) {
    backend_set_extra(&misbehaving);
    fake_dispatches = 0;
    vyre_runtime *rt;
    vyre_kernel *k = start(&rt, (vyre_runtime_options){.learn_after = 2, .no_store = true});
    check_dispatches(k, 30);
    vyre_runtime_settle(rt);
    check_dispatches(k, 30);
    char *text;
    assert_int_equal(vyre_kernel_explain(k, &text, NULL), VYRE_OK);
    if (!strstr(text, expected[behaviour])) fail_msg("behaviour %d: %s", behaviour, text);
    vyre_free(text);
    if (behaviour == LIES) assert_true(was_told("wrong answer"));
    if (notice_count > 2) fail_msg("%s", told); // each kind of thing is told once
    vyre_runtime_free(rt);
    backend_set_extra(NULL);
  }
}

// ---- memory over processes ----------------------------------------------------------------------

static char *read_routes(void) {
  char *path = path_config("pgo.toml", NULL), *text;
  size_t size;
  vyre_error error;
  if (file_read(path, 1 << 20, &text, &size, &error) != VYRE_OK) fail_msg("%s", error.message);
  free(path);
  return text;
}

static void write_routes(const char *text) {
  char *path = path_config("pgo.toml", NULL);
  assert_int_equal(file_make_parents(path, NULL), VYRE_OK);
  assert_int_equal(file_replace(path, text, strlen(text), NULL), VYRE_OK);
  free(path);
}

static char *learn_and_explain(vyre_runtime_options options) {
  vyre_runtime *rt;
  char *text;
  vyre_kernel *k = start(&rt, options);
  check_dispatches(k, 10);
  vyre_runtime_settle(rt);
  check_dispatches(k, 10);
  assert_int_equal(vyre_kernel_explain(k, &text, NULL), VYRE_OK);
  vyre_runtime_free(rt);
  return text;
}

static void what_was_learned_is_there_for_the_next_process(void **state) {
  (void)state;
  write_routes("");
  vyre_free(learn_and_explain((vyre_runtime_options){.learn_after = 2}));
  char *routes = read_routes();
  assert_non_null(strstr(routes, "test.sum"));
  assert_non_null(strstr(routes, "latency_ns"));
  free(routes);
  char *text = learn_and_explain((vyre_runtime_options){.learn_after = 1000});
  if (!strstr(text, "routing table: usable")) fail_msg("%s", text);
  vyre_free(text);
}

// A file that names a lying backend costs a proof, nothing else.
static void evidence_that_lies_is_not_believed(void **state) {
  (void)state;
  backend misbehaving = fake;
  misbehaving.release = ref_backend.release;
  behaviour = LIES;
  backend_set_extra(&misbehaving);
  write_routes("[routes.\"test.sum\"]\nbackend = \"fake\"\n"
               "[[routes.\"test.sum\".observations]]\nbackend = \"fake\"\nlatency_ns = 1\n");
  char *text = learn_and_explain((vyre_runtime_options){.learn_after = 1000});
  if (!strstr(text, "wrong-result")) fail_msg("%s", text);
  vyre_free(text);
  backend_set_extra(NULL);
}

static void corrupt_and_unwritable_files_are_told_once(void **state) {
  (void)state;
  write_routes("[routes.\n= not toml");
  vyre_free(learn_and_explain((vyre_runtime_options){.learn_after = 2}));
  assert_true(notice_count >= 1);
  char *home = strdup(getenv("VYRE_HOME"));
  setenv("VYRE_HOME", "/proc/nothing", 1);
  vyre_free(learn_and_explain((vyre_runtime_options){.learn_after = 2}));
  assert_true(notice_count >= 1);
  setenv("VYRE_HOME", home, 1);
  free(home);
}

static void tuning_proves_and_keeps_a_shape(void **state) {
  (void)state;
  write_routes("");
  setenv("VYRE_AUTOTUNER", "on", 1);
  char *text = learn_and_explain((vyre_runtime_options){.backend = "ref", .learn_after = 2});
  if (!strstr(text, "; launch shape: ")) fail_msg("%s", text);
  vyre_free(text);
  unsetenv("VYRE_AUTOTUNER");
  text = learn_and_explain((vyre_runtime_options){.backend = "ref", .learn_after = 2});
  if (!strstr(text, "decided-before")) fail_msg("%s", text);
  vyre_free(text);
  setenv("VYRE_AUTOTUNER", "perhaps", 1);
  vyre_free(learn_and_explain((vyre_runtime_options){.backend = "ref", .learn_after = 2}));
  assert_true(was_told("VYRE_AUTOTUNER"));
  unsetenv("VYRE_AUTOTUNER");
}

int main(void) {
  char home[] = "/tmp/vyre-test-runtime-XXXXXX", command[80];
  if (!mkdtemp(home)) return 2;
  setenv("VYRE_HOME", home, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_stay_right_while_learning),
      cmocka_unit_test(size_classes_have_plans_of_their_own),
      cmocka_unit_test(bad_arguments_are_reported_and_change_nothing),
      cmocka_unit_test(several_threads_share_a_kernel),
      cmocka_unit_test(submitted_dispatches_complete),
      cmocka_unit_test(freeing_ends_what_is_being_learned),
      cmocka_unit_test(misbehaving_backends_cost_nothing_but_time),
      cmocka_unit_test(what_was_learned_is_there_for_the_next_process),
      cmocka_unit_test(evidence_that_lies_is_not_believed),
      cmocka_unit_test(corrupt_and_unwritable_files_are_told_once),
      cmocka_unit_test(tuning_proves_and_keeps_a_shape),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(command, sizeof command, "rm -rf %s", home);
  return system(command) ? 2 : failed;
}
