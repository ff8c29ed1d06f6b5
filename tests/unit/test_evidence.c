// SPDX-License-Identifier: MIT
//
// What the runtime remembers: a second process begins with what the first one learned, and whatever
// happens to the files, to other processes or to this one, dispatches go on and give the right
// answer. Every run is a process of its own, as it is for users; the test itself has no threads.
#include "backend/backend.h"
#include "backend/ref/ref.h"
#include "base/paths.h"
#include "policy/route.h"
#include "policy/tune_cache.h"
#include "runtime/kernel.h"
#include "runtime/resize.h"
#include "runtime/runtime.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "../child_process.h"
#include "../told_clock.h"

enum { COUNT = 256 };

// y[i] = a * x[i]; the op's name is the caller's, and part of what is kept.
static vyre_program *make_program(const char *name) {
  char text[400];
  snprintf(text, sizeof text,
           "program %s(a: i32)\nbuffer x: i32[] read\nbuffer y: i32[len(x)] write\n"
           "region scale grid(len(x)) {\n  let i = global_id.x\n  y[i] = a * x[i] + 0 * a\n}\n",
           name);
  vyre_program *p = NULL;
  vyre_error error;
  if (vyre_program_parse(text, strlen(text), name, &p, &error) != VYRE_OK)
    fprintf(stderr, "%s\n", error.message);
  return p;
}

static vyre_kernel *start(const char *op, vyre_runtime_options options, vyre_runtime **rt) {
  vyre_kernel *k = NULL;
  vyre_program *p = make_program(op);
  options.notice = take_notice;
  notice_count = 0;
  notices[0] = 0;
  if (!p || vyre_runtime_new(&options, rt, NULL) != VYRE_OK ||
      vyre_runtime_load(*rt, p, &k, NULL) != VYRE_OK)
    _exit(FAILED);
  vyre_program_release(p);
  return k;
}

static void dispatch(vyre_kernel *k, int count) {
  int32_t x[COUNT], y[COUNT];
  for (int n = 0; n < count; n++) {
    for (int32_t i = 0; i < COUNT; i++) x[i] = i, y[i] = -1;
    vyre_scalar a = vyre_scalar_i32(n);
    vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_dispatch_args args = {.params = &a, .param_count = 1, .buffers = spans, .buffer_count = 2};
    vyre_error error = {0};
    if (vyre_kernel_dispatch(k, &args, NULL, &error) != VYRE_OK) {
      fprintf(stderr, "%s\n", error.message);
      _exit(FAILED);
    }
    for (int32_t i = 0; i < COUNT; i++)
      if (y[i] != n * i) _exit(FAILED);
  }
}

// ---- two processes ------------------------------------------------------------------------------

static void learn_everything(const void *context) {
  const char *backend = context; // NULL: routed
  vyre_runtime *rt;
  setenv("VYRE_AUTOTUNER", "on", 1);
  vyre_kernel *k =
      start("evidence.two", (vyre_runtime_options){.backend = backend, .learn_after = 4}, &rt);
  dispatch(k, 100);
  vyre_runtime_settle(rt);
  dispatch(k, 100);
  vyre_runtime_free(rt);
  CHECK(notice_count == 0);
}

// The samples that the store has of one op or tuner key, per device.
typedef struct found {
  uint64_t latencies, tunings, pass_rows;
} found;

static bool count_line(void *context, const store_line *line) {
  found *f = context;
  if (!strcmp(line->kind, "latency")) f->latencies += line->count;
  if (!strcmp(line->kind, "tuning")) f->tunings += line->count;
  return true;
}

static found look(store *s) {
  found f = {0};
  store_counts counts;
  CHECK(store_visit(s, count_line, &f, NULL) == VYRE_OK);
  CHECK(store_count(s, &counts, NULL) == VYRE_OK);
  f.pass_rows = counts.pass_rows;
  return f;
}

static void begin_with_it(const void *context) {
  (void)context;
  vyre_runtime *rt;
  setenv("VYRE_AUTOTUNER", "on", 1);
  vyre_kernel *k = start("evidence.two", (vyre_runtime_options){.learn_after = 1000}, &rt);
  // Before the first dispatch: the regions are known, with every dispatch of the first process.
  char key[HINTS_KEY];
  hints_region_key(program_fingerprint(k->program), "scale", key);
  CHECK(hints_dispatch_count(rt->hints, key) == 200);
  CHECK(hints_mean_kernel_ns(rt->hints, key) > 0);
  found before = look(rt->evidence.store);
  CHECK(before.latencies >= 64 && before.tunings >= 3 && before.pass_rows >= 1);
  // The first dispatch runs what was decided, from code that is at hand.
  dispatch(k, 1);
  char *text;
  CHECK(vyre_kernel_explain(k, &text, NULL) == VYRE_OK);
  if (!strstr(text, "because routed")) fprintf(stderr, "%s", text);
  CHECK(strstr(text, "because routed"));
  vyre_free(text);
  dispatch(k, 6);
  vyre_runtime_settle(rt);
  CHECK(look(rt->evidence.store).tunings == before.tunings); // nothing was measured again
  vyre_runtime_free(rt);
}

// The decision is gone, the samples are not: the sweep takes them instead of measuring.
static void decide_again(const void *context) {
  (void)context;
  vyre_runtime *rt;
  setenv("VYRE_AUTOTUNER", "on", 1);
  char adapter[128], *path;
  runtime_adapter("cpu", adapter);
  path = tuner_path_for_adapter(adapter, NULL);
  CHECK(path && (unlink(path) == 0 || access(path, F_OK)));
  free(path);
  vyre_kernel *k =
      start("evidence.two", (vyre_runtime_options){.backend = "cpu", .learn_after = 2}, &rt);
  uint64_t before = look(rt->evidence.store).tunings;
  dispatch(k, 6);
  vyre_runtime_settle(rt);
  // Those that noise still hides may be measured again. Without the samples all seven would be,
  // three times at least.
  CHECK(look(rt->evidence.store).tunings < before + 21);
  vyre_runtime_free(rt);
}

static void a_second_process_begins_with_what_the_first_learned(void **state) {
  (void)state;
  in_child(learn_everything, NULL);
  in_child(begin_with_it, NULL);
  in_child(learn_everything, "cpu");
  in_child(decide_again, NULL);
}

// ---- speculation --------------------------------------------------------------------------------

static void speculate_in_vain(const void *context) {
  (void)context;
  store *s;
  vyre_program *p = make_program("evidence.vain");
  CHECK(store_open(NULL, NULL, &s, NULL) == VYRE_OK);
  store_speculation row = {.device = "d",
                           .fingerprint = program_fingerprint(p),
                           .kind = "cycle",
                           .unused = 9,
                           .used = 1,
                           .compile_ns = 1};
  CHECK(store_append(s, &(store_batch){.speculations = &row, .speculation_count = 1}, NULL) ==
        VYRE_OK);
  store_close(s);
  vyre_program_release(p);
}

static void progress(vyre_kernel *k, vyre_runtime *rt, int count) {
  for (int i = 0; i < count; i++) {
    int32_t x[COUNT] = {0}, y[COUNT];
    vyre_scalar a = vyre_scalar_i32(i * 3);
    vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_dispatch_args args = {.params = &a, .param_count = 1, .buffers = spans, .buffer_count = 2};
    CHECK(vyre_kernel_dispatch(k, &args, NULL, NULL) == VYRE_OK);
    vyre_runtime_settle(rt);
  }
}

static void count_prepared(const void *context) {
  const char *op = context;
  vyre_runtime *rt;
  vyre_kernel *k = start(
      op, (vyre_runtime_options){.backend = "ref", .specialise = true, .learn_after = 1000}, &rt);
  progress(k, rt, 10);
  bool is_vain = !strcmp(op, "evidence.vain");
  CHECK(is_vain ? k->speculated == 0 : k->speculated > 0);
  store *s = rt->evidence.store;
  store_speculation sum;
  vyre_runtime_settle(rt);
  CHECK(store_load_speculation(s, NULL, program_fingerprint(k->program), &sum, NULL) == VYRE_OK);
  CHECK(is_vain ? sum.used == 1 : sum.used > 0 && sum.compile_ns > 0 && sum.saved_ns > 0);
  vyre_runtime_free(rt);
}

static void what_was_prepared_in_vain_is_remembered(void **state) {
  (void)state;
  in_child(speculate_in_vain, NULL);
  in_child(count_prepared, "evidence.vain");
  in_child(count_prepared, "evidence.fine");
}

// ---- faults of the store ------------------------------------------------------------------------

static void work_with_faults(const void *context) {
  const char *expected = context; // in a notice; NULL: nothing is said
  vyre_runtime *rt;
  vyre_kernel *k = start("evidence.fault", (vyre_runtime_options){.learn_after = 4}, &rt);
  for (int i = 0; i < 5; i++) {
    dispatch(k, 40);
    vyre_runtime_settle(rt);
  }
  vyre_runtime_free(rt);
  CHECK(expected ? strstr(notices, expected) != NULL : notice_count == 0);
  // Each kind of fault is told once, however often it is met.
  for (const char *at = notices; expected && (at = strstr(at, expected)); at++)
    CHECK(!strstr(at + 1, expected));
}

static void write_state(const char *name, const char *text) {
  char *path = path_state(name, NULL);
  mkdir(scratch_path("state"), 0755);
  scratch_write(path, text);
  free(path);
}

static void a_corrupt_database_is_set_aside(void **state) {
  (void)state;
  char garbage[9000];
  memset(garbage, 'g', sizeof garbage);
  garbage[sizeof garbage - 1] = 0;
  write_state("evidence.db", garbage);
  in_child(work_with_faults, "was corrupt");
  assert_int_equal(access(scratch_path("state/evidence.db.corrupt-1"), F_OK), 0);
  in_child(work_with_faults, NULL); // the new one is fine
}

static void a_foreign_database_is_left_alone(void **state) {
  (void)state;
  mkdir(scratch_path("state"), 0755);
  sqlite3 *db;
  assert_int_equal(sqlite3_open(scratch_path("state/evidence.db"), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "CREATE TABLE mine (x)", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  in_child(work_with_faults, "not one of vyre");
}

static void fill_disk(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start("evidence.full", (vyre_runtime_options){.learn_after = 4}, &rt);
  dispatch(k, 1);
  vyre_runtime_settle(rt);
  // From here on no file of this process grows: what a full disk does, without one.
  struct rlimit limit = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 4096;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  for (int i = 0; i < 5; i++) {
    dispatch(k, 40);
    vyre_runtime_settle(rt);
  }
  vyre_runtime_free(rt);
  CHECK(strstr(notices, "not remembered"));
  CHECK(notice_count <= 3);
  (void)context;
}

static void a_full_disk_costs_only_the_memory(void **state) {
  (void)state;
  in_child(fill_disk, NULL);
  in_child(work_with_faults, NULL);
}

static void work_read_only(const void *context) {
  if (setgid(65534) || setuid(65534)) _exit(CANNOT);
  work_with_faults(context);
}

static void a_read_only_home_is_read(void **state) {
  (void)state;
  in_child(work_with_faults, NULL);
  static const char *const parts[] = {"state", "config", "cache", ""};
  for (int i = 0; i < 4; i++) chmod(scratch_path(parts[i]), 0555);
  chmod(scratch_path("state/evidence.db"), 0444);
  in_child(work_read_only, "can only be read");
  for (int i = 3; i >= 0; i--) chmod(scratch_path(parts[i]), 0755);
}

// ---- faults of routes ---------------------------------------------------------------------------

typedef struct routed_case {
  const char *route, *expected; // the file, and what explain says
} routed_case;

static void explain_routed(const void *context) {
  const routed_case *c = context;
  char *path = path_config("pgo.toml", NULL), *text;
  mkdir(scratch_path("config"), 0755);
  scratch_write(path, c->route);
  free(path);
  vyre_runtime *rt;
  vyre_kernel *k = start("evidence.route", (vyre_runtime_options){.learn_after = 1000}, &rt);
  dispatch(k, 4);
  vyre_runtime_settle(rt);
  dispatch(k, 4);
  CHECK(vyre_kernel_explain(k, &text, NULL) == VYRE_OK);
  if (!strstr(text, c->expected)) fprintf(stderr, "%s", text);
  CHECK(strstr(text, c->expected));
  vyre_free(text);
  vyre_runtime_free(rt);
}

static void a_driver_that_vanished_and_a_clock_that_jumps_back_cost_nothing(void **state) {
  (void)state;
  static const routed_case cases[] = {
      {"[routes.\"evidence.route\"]\nbackend = \"gone\"\n", "backend-missing"},
      // Written when the clock was ten years ahead.
      {"[routes.\"evidence.route\"]\nbackend = \"cpu\"\ndate = \"2099-01-01T00:00:00Z\"\n",
       "routing table: usable"},
      {"[routes.\"evidence.route\"]\nbackend = \"cpu\"\ndate = \"2001-01-01T00:00:00Z\"\n",
       "too-old"},
      {"[routes.\"evidence.route\"]\nbackend = \"cpu\"\ndevice = \"cpu-of-somebody-else\"\n",
       "other-device"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) in_child(explain_routed, &cases[i]);
}

// Absurd numbers, for everything that is read: they cost time, never the answer.
static void lie(const void *context) {
  (void)context;
  store *s;
  vyre_program *p = make_program("evidence.lie");
  char adapter[128];
  uint64_t one = 1;
  opt_report report = {0};
  pass_metric row = {.pass = "no_such_pass", .changed = true, .ran = true, .before = {.nodes = 1}};
  runtime_adapter("cpu", adapter);
  CHECK(store_open(NULL, NULL, &s, NULL) == VYRE_OK);
  tune_key key = tune_key_make(
      program_fingerprint(p),
      &(tune_static_shape){.workgroup = {{64, 1, 1}}, .output_bytes = COUNT * sizeof(int32_t)});
  CHECK(vec_push(&report.rows, row));
  store_region region = {adapter,
                         program_fingerprint(p),
                         "scale",
                         {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0, 0},
                         UINT64_MAX};
  store_tuning tuning = {.device = adapter,
                         .key = key.text,
                         .shape = {1024, 1, 1},
                         .ns = (uint64_t[9]){1, 1, 1, 1, 1, 1, 1, 1, 1},
                         .count = 9};
  store_latency latency = {
      adapter, "evidence.lie", program_fingerprint(p), 12, "", "gone", "", &one, 1};
  store_passes passes = {program_fingerprint(p), &report};
  store_batch batch = {.regions = &region,
                       .region_count = 1,
                       .tunings = &tuning,
                       .tuning_count = 1,
                       .latencies = &latency,
                       .latency_count = 1,
                       .passes = &passes,
                       .passes_count = 1};
  CHECK(store_append(s, &batch, NULL) == VYRE_OK);
  store_close(s);
  vec_free(&report.rows);
  setenv("VYRE_AUTOTUNER", "on", 1);
  vyre_runtime *rt;
  vyre_kernel *k =
      start("evidence.lie", (vyre_runtime_options){.backend = "cpu", .learn_after = 2}, &rt);
  char key_text[HINTS_KEY];
  hints_region_key(program_fingerprint(p), "scale", key_text);
  CHECK(hints_is_hot(rt->hints, key_text)); // it was believed, where belief does no harm
  dispatch(k, 10);
  vyre_runtime_settle(rt);
  dispatch(k, 10);
  char *text;
  CHECK(vyre_kernel_explain(k, &text, NULL) == VYRE_OK);
  CHECK(strstr(text, "; launch shape: ") && k->earlier.rows.count >= 1);
  vyre_free(text);
  vyre_runtime_free(rt);
  vyre_program_release(p);
}

static void evidence_that_lies_costs_only_time(void **state) {
  (void)state;
  in_child(lie, NULL);
}

static vyre_status told_dispatch(void *s, const launch *l, vyre_report *r, vyre_error *error) {
  vyre_status status = ref_backend.dispatch(s, l, r, error);
  told_spend(1000);
  return status;
}

// A plan that is idle is told to use smaller workgroups; they are measured before they are used.
static void resize(const void *context) {
  (void)context;
  vyre_runtime *rt;
  static backend told;
  told_clock_begin();
  told = ref_backend;
  told.id = "told";
  told.dispatch = told_dispatch;
  backend_set_extra(&told);
  setenv("VYRE_AUTOTUNER", "on", 1);
  vyre_kernel *k =
      start("evidence.resize", (vyre_runtime_options){.backend = "told", .learn_after = 2}, &rt);
  dispatch(k, 8);
  vyre_runtime_settle(rt);
  plan *p = NULL;
  for (int i = 0; i < KERNEL_PLANS && !p; i++) p = atomic_load(&k->plans[i]);
  CHECK(p && atomic_load(&p->state) == PLAN_LEARNED);
  variant *v = plan_variant(k, p, atomic_load(&p->current)->code, (uint32_t[3]){256, 1, 1});
  atomic_store(&p->current, v);
  // The background looks as well, and may do so in between: then there is nothing new to see.
  uint32_t resizes = 0;
  for (int i = 0; i < 20 && !resizes; i++) {
    pthread_mutex_lock(&k->lock);
    resize_consider(k, p);
    resizes = p->window.resizes;
    pthread_mutex_unlock(&k->lock);
    if (resizes) break;
    dispatch(k, 40);
    told_spend(1000000000);
  }
  CHECK(resizes);
  dispatch(k, 1);
  vyre_runtime_settle(rt);
  CHECK(atomic_load(&p->wanted_x) == 0);
  CHECK(atomic_load(&p->current)->shape[0] <= 256); // 0: the declared one
  dispatch(k, 5);
  vyre_runtime_free(rt);
}

static void the_resize_policy_is_asked_and_not_believed(void **state) {
  (void)state;
  in_child(resize, NULL);
}

// ---- killed, and many at once -------------------------------------------------------------------

// Learns, tunes and saves without end, one op after the other, and says so after each.
static void save_forever(unsigned round, int told) {
  setenv("VYRE_AUTOTUNER", "on", 1);
  for (unsigned n = 0;; n++) {
    char op[64];
    snprintf(op, sizeof op, "evidence.kill.r%u.n%u", round % 40, n % 8);
    vyre_runtime *rt;
    vyre_kernel *k = start(op, (vyre_runtime_options){.backend = "ref", .learn_after = 1}, &rt);
    // A forced backend keeps no route; the table is saved all the same.
    route_entry entry = {.op_id = op, .backend = "ref", .reason = "fastest", .date = 1};
    dispatch(k, 2);
    vyre_runtime_settle(rt);
    CHECK(route_table_put(rt->routes, &entry, NULL) == VYRE_OK);
    runtime_save_routes(rt);
    vyre_runtime_free(rt);
    CHECK(notice_count == 0);
    CHECK(write(told, "", 1) == 1);
  }
}

static void files_are_sound(const void *context) {
  (void)context;
  vyre_runtime *rt;
  setenv("VYRE_AUTOTUNER", "on", 1);
  start("evidence.kill.after", (vyre_runtime_options){.backend = "ref"}, &rt);
  tuner *t;
  char adapter[128];
  note_sink notes = runtime_notes(rt);
  runtime_adapter("ref", adapter);
  t = tuner_new(adapter, TUNE_OFF_USE_DEFAULT, &notes);
  CHECK(t && notice_count == 0);
  tuner_free(t);
  (void)look(rt->evidence.store);
  CHECK(notice_count == 0);
  vyre_runtime_free(rt);
}

static void killed_at_any_moment_the_files_stay_valid(void **state) {
  (void)state;
  enum { KILLS = 200 };
  int told[2];
  char one;
  assert_int_equal(pipe(told), 0);
  fcntl(told[0], F_SETFL, O_NONBLOCK);
  for (unsigned round = 0; round < KILLS; round++) {
    pid_t child = fork();
    assert_true(child >= 0); // killing -1 would kill everything
    if (child == 0) save_forever(round, told[1]);
    // Every fourth time after a save, however busy the machine is; otherwise at any moment.
    for (int wait = 0; round % 4 == 3 && wait < 10000 && read(told[0], &one, 1) != 1; wait++)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 1000000 + (round * 7919) % 29000 * 1000}, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    while (read(told[0], &one, 1) == 1) {
    }
    if (round % 10 == 9) in_child(files_are_sound, NULL);
  }
  close(told[0]);
  close(told[1]);
  char *routes = scratch_read(scratch_path("config/pgo.toml"));
  assert_non_null(routes);
  assert_non_null(strstr(routes, "evidence.kill."));
  free(routes);
}

enum { PROCESSES = 8, OPS = 3 };

// Certifies and tunes its own ops, while the others do the same.
static void learn_own_ops(unsigned process) {
  setenv("VYRE_AUTOTUNER", "on", 1);
  for (unsigned n = 0; n < OPS; n++) {
    char op[64];
    snprintf(op, sizeof op, "evidence.many.p%u.n%u", process, n);
    vyre_runtime *rt;
    vyre_kernel *k = start(op, (vyre_runtime_options){.learn_after = 2}, &rt);
    dispatch(k, 8);
    vyre_runtime_settle(rt);
    vyre_runtime_free(rt);
    CHECK(notice_count == 0);
  }
}

static bool count_op(void *context, const store_line *line) {
  unsigned process, n;
  bool *seen = context;
  if (!strcmp(line->kind, "latency") &&
      sscanf(line->subject, "evidence.many.p%u.n%u", &process, &n) == 2)
    seen[process * OPS + n] = true;
  return true;
}

static size_t count_shapes(const char *backend) {
  char adapter[128];
  tune_cache *shapes = tune_cache_new();
  runtime_adapter(backend, adapter);
  char *path = tuner_path_for_adapter(adapter, NULL);
  CHECK(tune_cache_load(shapes, path, NULL, NULL) == VYRE_OK);
  size_t count = tune_cache_count(shapes);
  tune_cache_free(shapes);
  free(path);
  return count;
}

static void find_all_ops(const void *context) {
  (void)context;
  vyre_runtime *rt;
  start("evidence.many.after", (vyre_runtime_options){0}, &rt);
  bool seen[PROCESSES * OPS] = {false};
  CHECK(store_visit(rt->evidence.store, count_op, seen, NULL) == VYRE_OK);
  for (int i = 0; i < PROCESSES * OPS; i++) {
    char op[64];
    size_t first;
    snprintf(op, sizeof op, "evidence.many.p%d.n%d", i / OPS, i % OPS);
    CHECK(seen[i]);
    CHECK(route_table_find(rt->routes, op, &first) == 1);
  }
  size_t shapes = 0;
  for (uint32_t i = 0; vyre_backend_name(i); i++) shapes += count_shapes(vyre_backend_name(i));
  CHECK(shapes == PROCESSES * OPS); // each with the backend that won
  vyre_runtime_free(rt);
}

static void eight_processes_lose_no_entry(void **state) {
  (void)state;
  pid_t children[PROCESSES];
  for (unsigned i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    assert_true(children[i] >= 0);
    if (children[i]) continue;
    learn_own_ops(i);
    _exit(0);
  }
  for (unsigned i = 0; i < PROCESSES; i++) {
    int status;
    waitpid(children[i], &status, 0);
    assert_int_equal(status, 0);
  }
  in_child(find_all_ops, NULL);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh_home, scratch_dir_remove)
  const struct CMUnitTest tests[] = {
      CASE(a_second_process_begins_with_what_the_first_learned),
      CASE(what_was_prepared_in_vain_is_remembered),
      CASE(a_corrupt_database_is_set_aside),
      CASE(a_foreign_database_is_left_alone),
      CASE(a_full_disk_costs_only_the_memory),
      CASE(a_read_only_home_is_read),
      CASE(a_driver_that_vanished_and_a_clock_that_jumps_back_cost_nothing),
      CASE(evidence_that_lies_costs_only_time),
      CASE(the_resize_policy_is_asked_and_not_believed),
      CASE(killed_at_any_moment_the_files_stay_valid),
      CASE(eight_processes_lose_no_entry),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
