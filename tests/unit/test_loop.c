// SPDX-License-Identifier: MIT
//
// The loop around the decisions: what was decided once is not decided for good. A made-up backend
// that is much faster than this CPU becomes slow and fast again, or lies for some inputs; the
// runtime follows, undoes, tells and remembers. Each run is a process of its own, as it is for
// users. Where a time decides, it is what the process worked and what the made-up backend says that
// it slept (told_clock.h), so that nothing depends on how busy the machine is.
#include "runtime/kernel.h"
#include "runtime/review.h"
#include "runtime/runtime.h"

#include "../knowing_backend.h"
#include "../told_clock.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "../child_process.h"

enum { COUNT = 64, ROUNDS = 60000, MOST = 40000, SLOW_NS = 4000000 };

// ---- running it ---------------------------------------------------------------------------------

static vyre_kernel *start(const char *op, vyre_runtime_options options, vyre_runtime **rt) {
  vyre_kernel *k = NULL;
  vyre_program *p = knowing_program(op);
  options.notice = take_notice;
  notice_count = 0;
  notices[0] = 0;
  knowing_backend_set();
  CHECK(vyre_runtime_new(&options, rt, NULL) == VYRE_OK);
  CHECK(vyre_runtime_load(*rt, p, &k, NULL) == VYRE_OK);
  vyre_program_release(p);
  return k;
}

// Likewise, with a clock that is told.
static vyre_kernel *start_told(const char *op, vyre_runtime_options options, vyre_runtime **rt) {
  told_clock_begin_with_work();
  knowing_sleep = told_spend;
  return start(op, options, rt);
}

static uint64_t limit_ns; // of dispatches; 0: none

// One dispatch whose first element is `first`; returns whether the answer was right.
static bool dispatch_of(vyre_kernel *k, uint32_t n, uint32_t count, uint32_t first) {
  uint32_t x[4 * COUNT], y[4 * COUNT];
  for (uint32_t i = 0; i < count; i++) x[i] = i + first, y[i] = 0;
  vyre_scalar param = vyre_scalar_u32(n);
  vyre_span spans[] = {{x, count * 4}, {y, count * 4}};
  vyre_dispatch_args args = {.params = &param,
                             .param_count = 1,
                             .buffers = spans,
                             .buffer_count = 2,
                             .timeout_ns = limit_ns};
  vyre_error error = {0};
  vyre_status status = vyre_kernel_dispatch(k, &args, NULL, &error);
  if (status != VYRE_OK) fprintf(stderr, "%s\n", error.message);
  CHECK(status == VYRE_OK);
  steps s = steps_of(n);
  for (uint32_t i = 0; i < count; i++)
    if (y[i] != x[i] * s.factor + s.term) return false;
  return true;
}

static bool dispatch(vyre_kernel *k) {
  return dispatch_of(k, ROUNDS, COUNT, 1000);
}

static void tell_all(vyre_kernel *k) {
  char *text;
  if (vyre_kernel_explain(k, &text, NULL) == VYRE_OK) fprintf(stderr, "%s", text);
  vyre_free(text);
}

static bool is_on(vyre_kernel *k, const char *backend) {
  return !strcmp(kernel_backend(k), backend);
}

// What the background does once in a while: the told clock does not wake it.
static void look_again(vyre_kernel *k) {
  review_kernel(k);
  vyre_runtime_settle(k->runtime);
}

// Dispatches until the backend is `wanted`, or until it is certain that it never will be.
static void follow_to(vyre_kernel *k, const char *wanted) {
  for (int i = 1; i < MOST && !is_on(k, wanted); i++) {
    CHECK(dispatch(k));
    if (i % 16 == 0) look_again(k);
  }
  if (!is_on(k, wanted)) tell_all(k);
  CHECK(is_on(k, wanted));
}

static void learn(vyre_runtime *rt, vyre_kernel *k) {
  for (int i = 0; i < 6; i++) CHECK(dispatch(k));
  vyre_runtime_settle(rt);
  CHECK(dispatch(k));
}

static const vyre_runtime_options soon = {.learn_after = 4};

// ---- times that change --------------------------------------------------------------------------

static void slow_and_back(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start_told("loop.follow", soon, &rt);
  learn(rt, k);
  CHECK(is_on(k, "fake"));
  for (int i = 0; i < 3; i++) {
    atomic_store(&knowing_sleep_ns, SLOW_NS);
    follow_to(k, "cpu");
    atomic_store(&knowing_sleep_ns, 0);
    follow_to(k, "fake");
  }
  vyre_runtime_free(rt);
  CHECK(notice_count == 0);
}

static void a_backend_that_becomes_slow_is_left_and_found_again(void **state) {
  (void)state;
  in_child(slow_and_back, NULL);
}

static void end_while_it_is_slow(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start_told("loop.next", soon, &rt);
  learn(rt, k);
  CHECK(is_on(k, "fake"));
  atomic_store(&knowing_sleep_ns, SLOW_NS);
  follow_to(k, "cpu");
  vyre_runtime_free(rt);
}

// It begins where the last one ended, from code that is at hand, and does not stay there.
static void begin_where_it_was_slow(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start_told("loop.next", (vyre_runtime_options){0}, &rt);
  CHECK(dispatch(k));
  char *text;
  CHECK(vyre_kernel_explain(k, &text, NULL) == VYRE_OK);
  CHECK(strstr(text, "because routed") && is_on(k, "cpu"));
  vyre_free(text);
  follow_to(k, "fake");
  vyre_runtime_free(rt);
}

static void a_route_is_where_to_begin_not_where_to_stay(void **state) {
  (void)state;
  in_child(end_while_it_is_slow, NULL);
  in_child(begin_where_it_was_slow, NULL);
}

// ---- buckets ------------------------------------------------------------------------------------

// The same bytes, another parameter: the new bucket begins with what is known, and decides itself.
static void other_parameter(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start_told("loop.parameter", soon, &rt);
  learn(rt, k);
  CHECK(is_on(k, "fake"));
  atomic_store(&knowing_sleep_ns,
               3000000); // now it takes as long for a short loop, where the CPU does not
  vyre_dispatch_args like = {.params = &(vyre_scalar){VYRE_U32, 4},
                             .param_count = 1,
                             .buffers = (vyre_span[]){{NULL, COUNT * 4}, {NULL, COUNT * 4}},
                             .buffer_count = 2};
  uint64_t key = plan_key(k, &like);
  CHECK(dispatch_of(k, 4, COUNT, 1000));
  plan *p = kernel_find_plan(k, key);
  CHECK(p && !strcmp(p->work, "n:3"));
  for (int i = 1; i < MOST && strcmp(atomic_load(&p->current)->code->backend, "cpu"); i++) {
    CHECK(dispatch_of(k, 4, COUNT, 1000));
    if (i % 16 == 0) look_again(k);
  }
  if (strcmp(atomic_load(&p->current)->code->backend, "cpu")) tell_all(k);
  CHECK(!strcmp(atomic_load(&p->current)->code->backend, "cpu"));
  vyre_runtime_free(rt);
}

static void a_parameter_that_loops_depend_on_has_buckets_of_its_own(void **state) {
  (void)state;
  in_child(other_parameter, NULL);
}

// More values than there is room for share buckets by their bytes, and still work.
static void many_parameters(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.many", (vyre_runtime_options){.learn_after = 100000}, &rt);
  for (uint32_t bytes = 1; bytes <= 4 * COUNT; bytes *= 2)
    for (uint32_t n = 1; n < 1u << 17; n *= 2) CHECK(dispatch_of(k, n - 1, bytes, 9));
  CHECK(atomic_load(&k->plan_count) < KERNEL_PLANS);
  vyre_runtime_free(rt);
}

static void buckets_are_bounded(void **state) {
  (void)state;
  in_child(many_parameters, NULL);
}

// ---- wrong answers ------------------------------------------------------------------------------

// Wrong for one input in a hundred, and not for those it was proven on.
static void lie_sometimes(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.liar", soon, &rt);
  learn(rt, k);
  CHECK(is_on(k, "fake"));
  atomic_store(&knowing_lies_below, 10);
  int wrong = 0, dispatches = 0;
  for (uint32_t i = 0; is_on(k, "fake") && dispatches < 3000; i++, dispatches++) {
    wrong += !dispatch_of(k, ROUNDS, COUNT, i * 7 % 1000);
    vyre_runtime_settle(rt); // the background keeps up
  }
  if (dispatches >= 300) tell_all(k);
  CHECK(dispatches < 300);
  // Where the dispatch itself compares, the caller never sees a wrong answer.
  CHECK(wrong <= 3);
  CHECK(is_on(k, "cpu"));
  // Told once, with its true name.
  vyre_runtime_settle(rt);
  CHECK(notice_count == 1 && strstr(notices, "`fake full ") && strstr(notices, "loop.liar"));
  // Another size class does not take it either.
  for (uint32_t i = 0; i < 20; i++) CHECK(dispatch_of(k, ROUNDS, 4 * COUNT, 5000));
  vyre_runtime_settle(rt);
  for (uint32_t i = 0; i < 20; i++) CHECK(dispatch_of(k, ROUNDS, 4 * COUNT, i % 10));
  vyre_runtime_free(rt);
}

// Who has a time limit does not wait for a comparison: it is made behind the answer, which was
// wrong then, and it ends what gave it all the same.
static void lie_to_who_cannot_wait(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.hasty", soon, &rt);
  learn(rt, k);
  CHECK(is_on(k, "fake"));
  limit_ns = UINT64_C(60000000000);
  atomic_store(&knowing_lies_below, 10);
  int wrong = 0, dispatches = 0;
  for (; is_on(k, "fake") && dispatches < 300; dispatches++) {
    wrong += !dispatch_of(k, ROUNDS, COUNT, dispatches % 3 ? 1000 : 5);
    vyre_runtime_settle(rt);
  }
  if (is_on(k, "fake")) tell_all(k);
  CHECK(is_on(k, "cpu") && wrong >= 1);
  CHECK(notice_count == 1 && strstr(notices, "`fake full ") && strstr(notices, "loop.hasty"));
  for (uint32_t i = 0; i < 20; i++) CHECK(dispatch_of(k, ROUNDS, COUNT, i % 10));
  vyre_runtime_free(rt);
}

static void a_wrong_answer_is_found_behind_a_time_limit(void **state) {
  (void)state;
  in_child(lie_to_who_cannot_wait, NULL);
}

static void refuse_the_liar(const void *context) {
  (void)context;
  vyre_runtime *rt;
  atomic_store(&knowing_lies_below, 10);
  vyre_kernel *k = start("loop.liar", soon, &rt);
  learn(rt, k);
  CHECK(is_on(k, "cpu"));
  for (uint32_t i = 0; i < 20; i++) CHECK(dispatch_of(k, ROUNDS, COUNT, i % 10));
  char *text;
  CHECK(vyre_kernel_explain(k, &text, NULL) == VYRE_OK);
  CHECK(strstr(text, "wrong answer before"));
  vyre_free(text);
  vyre_runtime_free(rt);
}

static void a_wrong_answer_is_found_undone_told_and_remembered(void **state) {
  (void)state;
  char path[300];
  in_child(lie_sometimes, NULL);
  in_child(refuse_the_liar, NULL);
  char *routes = scratch_read(scratch_path("config/pgo.toml"));
  assert_non_null(routes);
  assert_non_null(strstr(routes, "[[quarantine]]"));
  // Another machine that was given the file, and nothing else.
  snprintf(path, sizeof path, "%s/other", scratch_dir);
  mkdir(path, 0755);
  strcat(path, "/config");
  mkdir(path, 0755);
  strcat(path, "/pgo.toml");
  scratch_write(path, strstr(routes, "[[quarantine]]"));
  free(routes);
  snprintf(path, sizeof path, "%s/other", scratch_dir);
  setenv("VYRE_HOME", path, 1);
  in_child(refuse_the_liar, NULL);
  // And the store alone.
  setenv("VYRE_HOME", scratch_dir, 1);
  unlink(scratch_path("config/pgo.toml"));
  in_child(refuse_the_liar, NULL);
}

// ---- evidence -----------------------------------------------------------------------------------

static void be_hot(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.hot", soon, &rt);
  char ours[HINTS_KEY], theirs[HINTS_KEY];
  vyre_program *other = NULL;
  const char *text = "program other()\nbuffer x: u32[] write\n"
                     "region main grid(len(x)) {\n  x[global_id.x] = 1\n}\n";
  CHECK(vyre_program_parse(text, strlen(text), "other", &other, NULL) == VYRE_OK);
  hints_region_key(program_fingerprint(k->program), "main", ours);
  hints_region_key(program_fingerprint(other), "main", theirs);
  atomic_store(&knowing_sleep_ns, 0);
  for (int i = 0; i < 40 && !context; i++) CHECK(dispatch_of(k, 400000, COUNT, 3));
  if (!context) vyre_runtime_settle(rt);
  CHECK(hints_is_hot(rt->hints, ours));
  CHECK(!hints_is_hot(rt->hints, theirs));
  vyre_program_release(other);
  vyre_runtime_free(rt);
}

static void a_hot_region_is_hot_in_its_own_program_only(void **state) {
  (void)state;
  in_child(be_hot, NULL);
  in_child(be_hot, "what the first one left");
}

// A process that just ends, as interpreters of other languages do.
static void end_without_freeing(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.end", soon, &rt);
  learn(rt, k);
  for (int i = 0; i < 100; i++) {
    CHECK(dispatch(k));
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
}

static void find_what_was_left(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.end", soon, &rt);
  arena memory = ARENA_INIT;
  store_decision_row *decisions;
  uint32_t count = 0;
  CHECK(k->prior_count > 0);
  CHECK(store_load_decisions(rt->evidence.store, program_fingerprint(k->program), &memory,
                             &decisions, &count, NULL) == VYRE_OK);
  CHECK(count > 0 && strstr(decisions[0].variant, "fake") && decisions[0].samples > 0);
  CHECK(strstr(decisions[0].others, "cpu quick none"));
  arena_free(&memory);
  vyre_runtime_free(rt);
}

static void what_was_learned_survives_a_process_that_just_ends(void **state) {
  (void)state;
  in_child(end_without_freeing, NULL);
  in_child(find_what_was_left, NULL);
}

// ---- another machine, another time --------------------------------------------------------------

static void learn_here(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.cores", soon, &rt);
  learn(rt, k);
  vyre_runtime_free(rt);
}

// What was measured with another number of cores says what to try, and nothing runs because of it.
static void begin_with_one_core(const void *context) {
  (void)context;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)sched_getcpu(), &one);
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || sched_setaffinity(0, sizeof one, &one)) _exit(CANNOT);
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.cores", soon, &rt);
  CHECK(dispatch(k));
  char *text;
  CHECK(vyre_kernel_explain(k, &text, NULL) == VYRE_OK);
  CHECK(strstr(text, "routing table: usable") && !strstr(text, "because routed"));
  vyre_free(text);
  learn(rt, k);
  CHECK(is_on(k, "fake"));
  vyre_runtime_free(rt);
}

static void another_number_of_cores_is_another_machine(void **state) {
  (void)state;
  in_child(learn_here, NULL);
  in_child(begin_with_one_core, NULL);
}

static void tamper(const char *sql) {
  sqlite3 *db;
  char *message = NULL;
  assert_int_equal(sqlite3_open(scratch_path("state/evidence.db"), &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s", message);
  sqlite3_close(db);
}

static void learn_and_say(const void *context) {
  const char *expected = context; // in the notices; NULL: none
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.cores", soon, &rt);
  learn(rt, k);
  if (!is_on(k, "fake")) tell_all(k);
  CHECK(is_on(k, "fake"));
  vyre_runtime_free(rt);
  CHECK(expected ? notice_count == 1 && strstr(notices, expected) : notice_count == 0);
}

static void clocks_and_formats_that_are_ahead_cost_nothing(void **state) {
  (void)state;
  in_child(learn_here, NULL);
  // Written by a clock that was far ahead: time has jumped backwards since.
  tamper("UPDATE latency SET date = 9000000000; UPDATE decision SET date = 9000000000;"
         "UPDATE region SET date = 9000000000; UPDATE code SET date = 9000000000");
  in_child(learn_and_say, NULL);
  tamper("PRAGMA user_version = 99");
  in_child(learn_and_say, "a format this version does not know");
}

static void a_store_of_the_first_format_is_taken_over(void **state) {
  (void)state;
  in_child(learn_here, NULL);
  tamper("DROP TABLE region; DROP TABLE latency; DROP TABLE code; DROP TABLE decision;"
         "CREATE TABLE region (origin TEXT, device TEXT, region TEXT, count INTEGER);"
         "CREATE TABLE latency (origin TEXT, device TEXT, op TEXT);"
         "INSERT INTO meta VALUES ('tune kept', 'op'); PRAGMA user_version = 1");
  in_child(learn_and_say, NULL);
  sqlite3 *db;
  sqlite3_stmt *q;
  assert_int_equal(sqlite3_open(scratch_path("state/evidence.db"), &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db,
                                      "SELECT (SELECT count(*) FROM latency), user_version "
                                      "FROM pragma_user_version",
                                      -1, &q, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_step(q), SQLITE_ROW);
  assert_true(sqlite3_column_int(q, 0) > 0);
  assert_int_equal(sqlite3_column_int(q, 1), 2);
  sqlite3_finalize(q);
  sqlite3_close(db);
}

// ---- killed -------------------------------------------------------------------------------------

// Decides again without end, and is killed at some moment of it.
static void decide_forever(void) {
  vyre_runtime *rt;
  vyre_kernel *k = start_told("loop.kill", soon, &rt);
  learn(rt, k);
  for (int i = 0;; i++) {
    atomic_store(&knowing_sleep_ns, i % 2 ? 0 : SLOW_NS);
    follow_to(k, i % 2 ? "fake" : "cpu");
  }
}

static void files_are_sound(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start("loop.kill", soon, &rt);
  for (int i = 0; i < 3; i++) CHECK(dispatch(k));
  vyre_runtime_free(rt);
  CHECK(notice_count == 0);
}

static void killed_in_the_middle_of_a_decision_the_files_stay_valid(void **state) {
  (void)state;
  enum { KILLS = 12 };
  for (unsigned round = 0; round < KILLS; round++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) decide_forever();
    nanosleep(&(struct timespec){.tv_nsec = 100000000 + (round * 7919) % 400 * 1000000}, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    in_child(files_are_sound, NULL);
  }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh_home, scratch_dir_remove)
  const struct CMUnitTest tests[] = {
      CASE(a_backend_that_becomes_slow_is_left_and_found_again),
      CASE(a_route_is_where_to_begin_not_where_to_stay),
      CASE(a_parameter_that_loops_depend_on_has_buckets_of_its_own),
      CASE(buckets_are_bounded),
      CASE(a_wrong_answer_is_found_undone_told_and_remembered),
      CASE(a_wrong_answer_is_found_behind_a_time_limit),
      CASE(a_hot_region_is_hot_in_its_own_program_only),
      CASE(what_was_learned_survives_a_process_that_just_ends),
      CASE(another_number_of_cores_is_another_machine),
      CASE(clocks_and_formats_that_are_ahead_cost_nothing),
      CASE(a_store_of_the_first_format_is_taken_over),
      CASE(killed_in_the_middle_of_a_decision_the_files_stay_valid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
