// SPDX-License-Identifier: MIT
//
// Variants with arguments as constants, and profiles of passes, on a backend whose speed is told
// and with a clock that is told: what is prepared, used and given up is the same in every run.
#include "backend/backend.h"
#include "backend/ref/ref.h"
#include "base/error.h"
#include "ir/program.h"

#include "../scratch_dir.h"
#include "../told_clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../failing_malloc.h"
#include "../loaded_kernel.h"

enum { COUNT = 16 };

static const char text[] = "program test.sum(a: i32, n: i32)\n"
                           "buffer x: i32[] read\n"
                           "buffer y: i32[] write\n"
                           "region sum grid(len(x)) {\n"
                           "  var sum: i32 = a * x[global_id.x]\n"
                           "  for k in 0..n { sum = sum + k }\n"
                           "  y[global_id.x] = sum\n"
                           "}\n";

// ---- the backend --------------------------------------------------------------------------------

static struct {
  uint64_t general_ns, special_ns; // what a dispatch takes
  uint64_t compile_ns, slow_compile_ns;
  atomic_uint compiled, slow_at; // the compilation that takes slow_compile_ns
  atomic_uint lies_from;         // n from which specialised code is wrong; 0: it is right
} speed;

// The code that answered the foreground's last dispatch. Another may run after it, to compare.
static enum { NONE, GENERAL, SPECIAL } answered;

static bool is_general(const vyre_program *p) {
  for (uint32_t i = 1; i < p->code_count; i++)
    if (p->code[i].op == VYRE_OP_PARAM) return true;
  return false;
}

// The background's time passes between dispatches, never during one.
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool has_turn;

static void spend(uint64_t ns) {
  if (!has_turn) pthread_mutex_lock(&turn);
  told_spend(ns);
  if (!has_turn) pthread_mutex_unlock(&turn);
}

static vyre_status told_dispatch(void *s, const launch *l, vyre_report *r, vyre_error *error) {
  vyre_status status = ref_backend.dispatch(s, l, r, error);
  bool is_special = !is_general(l->program);
  if (has_turn && answered == NONE) answered = is_special ? SPECIAL : GENERAL;
  if (is_special && speed.lies_from && l->params[1] >= speed.lies_from)
    ((int32_t *)l->buffers[1].data)[COUNT - 1]++;
  spend(is_special ? speed.special_ns : speed.general_ns);
  return status;
}

static vyre_status told_compile(const backend *self, vyre_program *p, const vyre_compile_options *o,
                                const volatile uint32_t *stop, void **out, vyre_error *error) {
  bool is_slow = ++speed.compiled == speed.slow_at;
  spend(is_slow ? speed.slow_compile_ns : speed.compile_ns);
  return ref_backend.compile(self, p, o, stop, out, error);
}

static backend told_backend;

static vyre_kernel *start(vyre_runtime **rt) {
  vyre_runtime_options options = {
      .backend = "told", .specialise = true, .learn_after = 1000000, .no_store = true};
  told_backend = ref_backend;
  told_backend.id = "told";
  told_backend.dispatch = told_dispatch;
  told_backend.compile = told_compile;
  backend_set_extra(&told_backend);
  speed.general_ns = 3000000;
  speed.special_ns = 20000;
  speed.compile_ns = 100000;
  speed.compiled = speed.slow_at = speed.lies_from = 0;
  return load_text(text, &options, rt);
}

// Whether the answer came from code for these arguments alone.
static bool dispatch(vyre_kernel *k, int32_t a, int32_t n) {
  int32_t x[COUNT], y[COUNT];
  for (int32_t i = 0; i < COUNT; i++) x[i] = i, y[i] = -1;
  vyre_scalar params[] = {vyre_scalar_i32(a), vyre_scalar_i32(n)};
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = spans, .buffer_count = 2};
  vyre_error error;
  pthread_mutex_lock(&turn);
  has_turn = true;
  answered = NONE;
  vyre_status status = vyre_kernel_dispatch(k, &args, NULL, &error);
  has_turn = false;
  pthread_mutex_unlock(&turn);
  if (status != VYRE_OK) fail_msg("%s", error.message);
  for (int32_t i = 0; i < COUNT; i++) assert_int_equal(y[i], a * i + n * (n - 1) / 2);
  return answered == SPECIAL;
}

typedef struct summary {
  unsigned now, foreseen, used, losers, runs, changes, stalls;
  bool looks_ahead;
} summary;

static summary explain(vyre_kernel *k) {
  summary s = {0};
  char *said;
  assert_int_equal(vyre_kernel_explain(k, &said, NULL), VYRE_OK);
  const char *line = strstr(said, "specialised variants: "), *changes = strstr(said, "  the arg");
  if (!line || !changes ||
      sscanf(line,
             "specialised variants: %u now; of all, %u were foreseen and %u of those used; %u sets "
             "of arguments gained nothing; those that are here ran %u",
             &s.now, &s.foreseen, &s.used, &s.losers, &s.runs) != 5 ||
      sscanf(changes, "  the arguments changed %u times, %u times there was no", &s.changes,
             &s.stalls) != 2)
    fail_msg("%s", said);
  s.looks_ahead = strstr(said, "the next one is prepared ahead") != NULL;
  vyre_free(said);
  return s;
}

// n counts up; the background is always done before the next dispatch, as if compiling took no
// time. Returns how many found a variant of their own.
static unsigned count_up(vyre_runtime *rt, vyre_kernel *k, int32_t first, int32_t count) {
  unsigned special = 0;
  for (int32_t i = 0; i < count; i++) {
    special += dispatch(k, 7, first + i);
    vyre_runtime_settle(rt);
  }
  return special;
}

// ---- foresight ----------------------------------------------------------------------------------

// Of the first 8 nothing is known ahead; from then on AHEAD are ready at any time, and all are used
// but those at the end. Another variant runs in each bucket of n, whose first AHEAD were timed
// beside that of the bucket before: they are not used until they are timed again.
enum { RECOGNISED = 8, AHEAD = 3 };

static void check_counting(vyre_runtime *rt, vyre_kernel *k, unsigned count, unsigned buckets,
                           unsigned now) {
  unsigned special = count_up(rt, k, 2, (int32_t)count), foreseen = count - RECOGNISED + AHEAD;
  summary s = explain(k);
  assert_int_equal(s.changes, count);
  assert_int_equal(s.stalls, RECOGNISED);
  assert_int_equal(s.foreseen, foreseen);
  assert_int_equal(s.used, foreseen - AHEAD);
  assert_int_equal(special, foreseen - AHEAD - AHEAD * buckets);
  assert_int_equal(s.losers, 0);
  assert_int_equal(s.now, now);
  assert_true(s.looks_ahead);
}

static void foreseen_arguments_find_their_variant(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  check_counting(rt, k, 30, 1, 1 + 25); // the first miss has one too
  // Those that come back have theirs; none is made twice.
  unsigned compiled = speed.compiled;
  assert_int_equal(count_up(rt, k, 20, 5), 5);
  // So do the first of the bucket of 16, which were timed again when they were asked for.
  assert_int_equal(count_up(rt, k, 16, AHEAD), AHEAD);
  summary s = explain(k);
  assert_int_equal(s.stalls, RECOGNISED);
  assert_int_equal(s.now - 26, speed.compiled - compiled);
  finish(rt);
}

static void variants_make_room_for_others(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  check_counting(rt, k, 200, 4, 64);
  assert_int_equal(explain(k).runs, 64 - AHEAD);
  finish(rt);
}

// Also those that others took the place of.
static void variants_are_given_back(void **state) {
#if FAILING_MALLOC
  for (int attempt = 0; attempt < 4; attempt++) { // the first makes what is made once
    memory_arm(0, false);
    variants_make_room_for_others(state);
    memory_disarm();
    if (!memory.held) return;
  }
  fail_msg("%ld blocks are lost", (long)memory.held);
#else
  (void)state;
  skip();
#endif
}

// What is slow once, for want of a core, says nothing about the next.
static void one_slow_compilation_does_not_end_foresight(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  speed.slow_at = 6;
  speed.slow_compile_ns = 50000000;
  check_counting(rt, k, 60, 2, 1 + 55);
  finish(rt);
}

// A variant that is timed again was there: that it took less than compiling says nothing about what
// a miss costs.
static void timing_again_does_not_end_foresight(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  speed.general_ns = 300000;
  speed.compile_ns = 150000000;
  check_counting(rt, k, 60, 2, 1 + 55);
  finish(rt);
}

// Some are right: those that are not are found before they answer (dispatch looks at every answer).
static void wrong_variants_are_found_one_by_one(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  speed.lies_from = 24;
  assert_int_equal(count_up(rt, k, 2, 22), 22 - RECOGNISED - AHEAD);
  assert_int_equal(count_up(rt, k, 24, 20), 0);
  summary s = explain(k);
  assert_int_equal(s.losers, 6); // then time in vain has used up its budget
  finish(rt);
}

// Constants that gain nothing: after eight sets of arguments it is left alone.
static void a_kernel_that_gains_nothing_is_left_alone(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  speed.special_ns = speed.general_ns = 20000;
  for (int round = 0; round < 20; round++) assert_int_equal(count_up(rt, k, 2, 10), 0);
  summary s = explain(k);
  assert_int_equal(s.losers, 8);
  assert_int_equal(s.now, 8); // it is remembered that they gain nothing
  assert_int_equal(s.foreseen, 0);
  assert_int_equal(s.changes, 18); // what comes later is not even looked at
  finish(rt);
}

// Time in vain: 100 ms, and one part in 20 of what has passed.
static void time_spent_in_vain_has_a_budget(void **state) {
  (void)state;
  vyre_runtime *rt;
  vyre_kernel *k = start(&rt);
  speed.special_ns = speed.general_ns;
  speed.compile_ns = 40000000;
  for (int round = 0; round < 20; round++) count_up(rt, k, 2, 10);
  assert_int_equal(explain(k).losers, 2);
  told_spend(UINT64_C(100000000000));
  for (int round = 0; round < 20; round++) count_up(rt, k, 2, 10);
  assert_int_equal(explain(k).losers, 8);
  finish(rt);
}

// What is over sooner than looking for a variant pays is looked for in the first dispatch of each
// bucket only, whose time is not known.
static void short_dispatches_are_left_alone(void **state) {
  (void)state;
  for (uint64_t ns = 9999; ns <= 10000; ns++) {
    vyre_runtime *rt;
    vyre_kernel *k = start(&rt);
    speed.general_ns = ns;
    speed.special_ns = 1000;
    speed.compile_ns = 100;
    count_up(rt, k, 2, 30);
    summary s = explain(k);
    assert_int_equal(s.changes, ns < 10000 ? 4 : 30);
    assert_int_equal(s.foreseen, ns < 10000 ? 0 : 25);
    finish(rt);
  }
}

// ---- profiles -----------------------------------------------------------------------------------

// Two small regions can be run as one: whether that is faster is measured, so it is a candidate.
static void all_profiles_of_passes_are_tried(void **state) {
  (void)state;
  static const char text[] =
      "program two()\nbuffer x: i32[] readwrite\n"
      "region first grid(len(x)) {\n  x[global_id.x] = x[global_id.x] + 1\n}\n"
      "region second grid(len(x)) {\n  x[global_id.x] = x[global_id.x] * 3\n}\n";
  vyre_runtime *rt;
  vyre_error error;
  vyre_program *p;
  vyre_kernel *k;
  char *explained;
  vyre_runtime_options options = {.backend = "ref", .learn_after = 2, .no_store = true};
  assert_int_equal(vyre_program_parse(text, strlen(text), "two", &p, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_new(&options, &rt, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_load(rt, p, &k, &error), VYRE_OK);
  for (int n = 0; n < 20; n++) {
    int32_t x[COUNT] = {0};
    vyre_span span = {x, sizeof x};
    vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
    assert_int_equal(vyre_kernel_dispatch(k, &args, NULL, &error), VYRE_OK);
    assert_int_equal(x[COUNT - 1], 3);
    if (n == 4) vyre_runtime_settle(rt);
  }
  assert_int_equal(vyre_kernel_explain(k, &explained, NULL), VYRE_OK);
  bool is_there =
      strstr(explained, "ref full dataflow.") || strstr(explained, "ref full megakernel.");
  if (!is_there) fail_msg("%s", explained);
  vyre_free(explained);
  vyre_program_release(p);
  vyre_runtime_free(rt);
}

static int set_up(void **state) {
  if (scratch_dir_make(state) || setenv("VYRE_HOME", scratch_dir, 1)) return -1;
  told_clock_begin();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(foreseen_arguments_find_their_variant),
      cmocka_unit_test(variants_make_room_for_others),
      cmocka_unit_test(variants_are_given_back),
      cmocka_unit_test(one_slow_compilation_does_not_end_foresight),
      cmocka_unit_test(wrong_variants_are_found_one_by_one),
      cmocka_unit_test(timing_again_does_not_end_foresight),
      cmocka_unit_test(time_spent_in_vain_has_a_budget),
      cmocka_unit_test(a_kernel_that_gains_nothing_is_left_alone),
      cmocka_unit_test(short_dispatches_are_left_alone),
      cmocka_unit_test(all_profiles_of_passes_are_tried),
  };
  return cmocka_run_group_tests(tests, set_up, scratch_dir_remove);
}
