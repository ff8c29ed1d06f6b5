// SPDX-License-Identifier: MIT
//
// The evidence store: what goes in comes out, bounded, apart by machine, and through every fault
// work goes on.
#include "profile/store.h"

#include "../scratch_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

static unsigned told;
static char told_last[600];

static void tell(void *context, const vyre_error *note) {
  (void)context;
  told++;
  strcpy(told_last, note->message);
}

static const note_sink sink = {tell, NULL};
static const uint8_t print_a[32] = {1, 2, 3}, print_b[32] = {9};

static store *open_with(store_options o) {
  store *s;
  vyre_error error;
  told = 0;
  if (store_open(&o, &sink, &s, &error) != VYRE_OK) fail_msg("%s", error.message);
  return s;
}

static store *open_at(const char *path) {
  return open_with((store_options){.path = path});
}

static void must_append(store *s, const store_batch *batch) {
  vyre_error error;
  if (store_append(s, batch, &error) != VYRE_OK) fail_msg("%s", error.message);
}

static void add_region(store *s, const char *device, const char *region, uint64_t count,
                       uint64_t ns) {
  store_region r = {device, print_a, region, {count, ns, ns, 10 * count, 0, 0}, 7};
  must_append(s, &(store_batch){.regions = &r, .region_count = 1});
}

static uint64_t operations_of(store *s, const char *region, uint64_t *ns) {
  store_effort_row *rows;
  uint32_t count;
  arena memory = ARENA_INIT;
  uint64_t found = 0;
  assert_int_equal(store_load_efforts(s, print_a, &memory, &rows, &count, NULL), VYRE_OK);
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(rows[i].region, region)) found = rows[i].operations, *ns = rows[i].total_ns;
  arena_free(&memory);
  return found;
}

static hints *load_regions(store *s, const char *device, uint32_t limit) {
  hints *h = hints_new(NULL);
  vyre_error error;
  if (store_load_regions(s, device, limit, h, &error) != VYRE_OK) fail_msg("%s", error.message);
  return h;
}

static const char *key_of(const char *region) {
  static char key[HINTS_KEY];
  hints_region_key(print_a, region, key);
  return key;
}

static uint64_t region_count(store *s, const char *device, const char *region) {
  hints *h = load_regions(s, device, 1000);
  uint64_t count = hints_dispatch_count(h, key_of(region));
  hints_free(h);
  return count;
}

static store_counts counts_of(store *s) {
  store_counts c;
  vyre_error error;
  if (store_count(s, &c, &error) != VYRE_OK) fail_msg("%s", error.message);
  return c;
}

// Runs SQL on the file, as another program might.
static void tamper(const char *path, const char *sql) {
  sqlite3 *db;
  char *message = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
  sqlite3_close(db);
}

// ---- what goes in comes out --------------------------------------------------------------------

static void regions_are_summed_and_loaded_by_device(void **state) {
  (void)state;
  char *path = scratch_path("deep/er/evidence.db");
  store *s = open_at(path);
  assert_int_equal(told, 0);
  assert_string_equal(store_path(s), path);
  assert_false(store_is_read_only(s));
  add_region(s, "cpu", "blur", 10, 1000);
  add_region(s, "cpu", "blur", 5, 4000);
  add_region(s, "gpu", "blur", 7, 70);
  store_close(s);
  s = open_at(path);
  hints *h = load_regions(s, "cpu", 100);
  region_record r;
  assert_true(hints_record_for(h, key_of("blur"), &r));
  assert_int_equal(r.dispatch_count, 15);
  assert_int_equal(r.kernel_ns_total, 5000);
  assert_int_equal(r.kernel_ns_max, 4000);
  assert_int_equal(r.bytes_total, 150);
  hints_free(h);
  assert_int_equal(region_count(s, "gpu", "blur"), 7);
  assert_int_equal(region_count(s, "tpu", "blur"), 0);
  store_close(s);
}

static void the_latest_regions_are_loaded_in_order(void **state) {
  (void)state;
  store *s = open_at(scratch_path("order.db"));
  const char *names[] = {"a", "b", "c", "d"};
  for (int i = 0; i < 4; i++) add_region(s, "", names[i], 1, 1);
  add_region(s, "", "a", 1, 1);
  hints *h = load_regions(s, "", 3);
  size_t count;
  hints_entry *e = hints_snapshot(h, &count);
  assert_int_equal(count, 3);
  assert_string_equal(e[0].region, key_of("c"));
  assert_string_equal(e[1].region, key_of("d"));
  assert_string_equal(e[2].region, key_of("a"));
  free(e);
  hints_free(h);
  store_close(s);
}

static void sums_stop_at_the_largest_number(void **state) {
  (void)state;
  store *s = open_at(scratch_path("sums.db"));
  for (int i = 0; i < 3; i++) add_region(s, "", "r", UINT64_MAX, UINT64_MAX);
  hints *h = load_regions(s, "", 10);
  region_record r;
  assert_true(hints_record_for(h, key_of("r"), &r));
  assert_true(r.dispatch_count == INT64_MAX);
  assert_true(r.kernel_ns_total == INT64_MAX);
  hints_free(h);
  uint64_t ns[] = {UINT64_MAX, 5};
  store_latency l = {"d", "op", print_a, 3, "", "cpu", "b", ns, 2};
  must_append(s, &(store_batch){.latencies = &l, .latency_count = 1});
  arena memory = ARENA_INIT;
  store_latency_row *rows;
  uint32_t count;
  assert_int_equal(store_load_latencies(s, print_a, &memory, &rows, &count, NULL), VYRE_OK);
  assert_int_equal(rows[0].samples.min_ns, 5);
  assert_true(rows[0].samples.recent_ns[0] == INT64_MAX);
  arena_free(&memory);
  store_close(s);
}

static void latencies_keep_sums_and_recent_samples(void **state) {
  (void)state;
  store *s = open_at(scratch_path("latency.db"));
  for (uint64_t i = 0; i < 50; i++) {
    uint64_t ns[2] = {1000 + 2 * i, 1001 + 2 * i};
    store_latency l[2] = {{"d", "op", print_a, 3, "", "cpu", "b", ns, 2},
                          {"d", "op", print_a, 3, "", "ref", "b", ns, 1}};
    must_append(s, &(store_batch){.latencies = l, .latency_count = i < 3 ? 2 : 1});
  }
  arena memory = ARENA_INIT;
  store_latency_row *rows;
  uint32_t count;
  vyre_error error;
  assert_int_equal(store_load_latencies(s, print_a, &memory, &rows, &count, &error), VYRE_OK);
  assert_int_equal(count, 2);
  assert_string_equal(rows[0].variant, "cpu");
  assert_int_equal(rows[0].samples.count, 100);
  assert_int_equal(rows[0].samples.min_ns, 1000);
  assert_int_equal(rows[0].samples.recent_count, STORE_RECENT);
  assert_int_equal(rows[0].samples.recent_ns[0], 1100 - STORE_RECENT);
  assert_int_equal(rows[0].samples.recent_ns[STORE_RECENT - 1], 1099);
  assert_true(rows[0].samples.date > 1600000000);
  assert_string_equal(rows[1].variant, "ref");
  assert_int_equal(rows[1].samples.count, 3);
  // Every part of the key counts.
  uint64_t one = 7;
  store_latency others[] = {{"e", "op", print_a, 3, "", "cpu", "b", &one, 1},
                            {"d", "po", print_a, 3, "", "cpu", "b", &one, 1},
                            {"d", "op", print_a, 4, "", "cpu", "b", &one, 1},
                            {"d", "op", print_a, 3, "n:4", "cpu", "b", &one, 1},
                            {"d", "op", print_a, 3, "", "cpu", "c", &one, 1},
                            {"d", "op", print_b, 3, "", "cpu", "b", &one, 1}};
  must_append(s, &(store_batch){.latencies = others, .latency_count = 6});
  assert_int_equal(store_load_latencies(s, print_a, &memory, &rows, &count, &error), VYRE_OK);
  assert_int_equal(count, 2 + 5);
  assert_int_equal(store_load_latencies(s, print_b, &memory, &rows, &count, &error), VYRE_OK);
  assert_int_equal(count, 1);
  assert_string_equal(rows[0].build, "b");
  arena_free(&memory);
  store_close(s);
}

static void tunings_are_kept_per_shape(void **state) {
  (void)state;
  store *s = open_at(scratch_path("tuning.db"));
  uint64_t ns[] = {30, 20, 25};
  for (uint32_t i = 0; i < 20; i++) {
    store_tuning t = {"d", "v1-key", NULL, {32u << (i % 6), 1 + i % 2, 1}, ns, 3};
    must_append(s, &(store_batch){.tunings = &t, .tuning_count = 1});
  }
  arena memory = ARENA_INIT;
  store_tuning_row *rows;
  uint32_t count;
  vyre_error error;
  assert_int_equal(store_load_tunings(s, "d", "v1-key", &memory, &rows, &count, &error), VYRE_OK);
  assert_int_equal(count, 6);
  assert_int_equal(rows[0].shape[0], 32);
  assert_int_equal(rows[0].samples.count, 12);
  assert_int_equal(rows[0].samples.recent_ns[1], 20);
  assert_int_equal(rows[5].shape[0], 1024);
  assert_int_equal(store_load_tunings(s, "d", "v1-other", &memory, &rows, &count, &error), VYRE_OK);
  assert_int_equal(count, 0);
  arena_free(&memory);
  store_close(s);
}

static void speculation_is_summed(void **state) {
  (void)state;
  store *s = open_at(scratch_path("speculation.db"));
  store_speculation e[] = {{"d", print_a, "cycle", 3, 1, 400, 900},
                           {"d", print_a, "arithmetic", 1, 0, 100, 300},
                           {"d", print_b, "cycle", 0, 5, 500, 0}};
  must_append(s, &(store_batch){.speculations = e, .speculation_count = 3});
  must_append(s, &(store_batch){.speculations = e, .speculation_count = 1});
  store_speculation sum;
  assert_int_equal(store_load_speculation(s, "d", print_a, &sum, NULL), VYRE_OK);
  assert_int_equal(sum.used, 7);
  assert_int_equal(sum.unused, 2);
  assert_int_equal(sum.compile_ns, 900);
  assert_int_equal(sum.saved_ns, 2100);
  assert_int_equal(store_load_speculation(s, "e", print_a, &sum, NULL), VYRE_OK);
  assert_int_equal(sum.used, 0);
  store_close(s);
}

static void the_last_pass_report_is_kept(void **state) {
  (void)state;
  store *s = open_at(scratch_path("passes.db"));
  opt_report report = {0};
  for (uint32_t i = 0; i < 3; i++) {
    pass_metric m = {.pass = i ? "cse" : "licm",
                     .region = i == 2 ? "blur" : NULL,
                     .iteration = i,
                     .ran = true,
                     .changed = i == 2,
                     .outcome = i == 2 ? PASS_CHANGED : PASS_NOT_SELECTED,
                     .reason = i == 1 ? "below-threshold" : NULL,
                     .runtime_ns = 100 + i,
                     .before = {.nodes = 10, .ir_bytes = UINT64_MAX},
                     .after = {.nodes = 7, .ir_bytes = 5}};
    assert_true(vec_push(&report.rows, m));
  }
  store_passes p = {print_a, &report};
  must_append(s, &(store_batch){.passes = &p, .passes_count = 1});
  must_append(s, &(store_batch){.passes = &p, .passes_count = 1}); // replaces, does not add
  arena memory = ARENA_INIT;
  opt_report loaded = {0};
  assert_int_equal(store_load_passes(s, print_a, &memory, &loaded, NULL), VYRE_OK);
  assert_int_equal(loaded.rows.count, 3);
  for (size_t i = 0; i < 3; i++) {
    const pass_metric *a = &report.rows.at[i], *b = &loaded.rows.at[i];
    assert_string_equal(a->pass, b->pass);
    assert_int_equal(a->region != NULL, b->region != NULL);
    if (a->region) assert_string_equal(a->region, b->region);
    assert_int_equal(a->reason != NULL, b->reason != NULL);
    assert_int_equal(a->iteration, b->iteration);
    assert_int_equal(a->changed, b->changed);
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->runtime_ns, b->runtime_ns);
    assert_memory_equal(&a->before, &b->before, sizeof a->before);
    assert_memory_equal(&a->after, &b->after, sizeof a->after);
  }
  opt_report_free(&loaded);
  assert_int_equal(store_load_passes(s, print_b, &memory, &loaded, NULL), VYRE_OK);
  assert_int_equal(loaded.rows.count, 0);
  opt_report_free(&report);
  arena_free(&memory);
  store_close(s);
}

static bool count_line(void *context, const store_line *line) {
  assert_true(*line->kind && line->date > 0);
  ++*(int *)context;
  return *(int *)context < 3;
}

static void lines_can_be_visited_and_everything_cleared(void **state) {
  (void)state;
  char *path = scratch_path("visit.db");
  store *s = open_at(path);
  uint64_t ns = 7;
  store_region r = {"d", print_a, "blur", {2, 3, 4, 5, 0, 0}, 7};
  store_latency l = {"d", "op", print_a, 3, "", "cpu", "b", &ns, 1};
  store_tuning t = {"d", "key", "op", {8, 8, 1}, &ns, 1};
  store_speculation e = {"d", print_a, "cycle", 1, 0, 0, 0};
  must_append(s, &(store_batch){.regions = &r,
                                .latencies = &l,
                                .tunings = &t,
                                .speculations = &e,
                                .region_count = 1,
                                .latency_count = 1,
                                .tuning_count = 1,
                                .speculation_count = 1});
  int lines = -10;
  assert_int_equal(store_visit(s, count_line, &lines, NULL), VYRE_OK);
  assert_int_equal(lines, -6);
  lines = 0;
  assert_int_equal(store_visit(s, count_line, &lines, NULL), VYRE_OK);
  assert_int_equal(lines, 3); // it stopped when told to
  store_counts c = counts_of(s);
  assert_int_equal(c.regions + c.latencies + c.tunings + c.speculations, 4);
  assert_int_equal(c.foreign, 0);
  assert_true(c.size_bytes > 4096);
  // Operations are summed with the times of the same dispatches, on all devices.
  store_region more = {"e", print_a, "blur", {1, 9, 9, 5, 0, 0}, 100};
  must_append(s, &(store_batch){.regions = &more, .region_count = 1});
  store_region unknown = {"e", print_a, "blur", {1, 50, 50, 5, 0, 0}, 0};
  must_append(s, &(store_batch){.regions = &unknown, .region_count = 1});
  assert_int_equal(operations_of(s, "blur", &ns), 107);
  assert_int_equal(ns, 12);
  assert_int_equal(store_clear(s, NULL), VYRE_OK);
  assert_int_equal(operations_of(s, "blur", &ns), 0);
  c = counts_of(s);
  assert_int_equal(c.regions + c.latencies + c.tunings + c.speculations, 0);
  add_region(s, "d", "again", 1, 1);
  assert_int_equal(region_count(s, "d", "again"), 1);
  store_close(s);
}

// ---- bounds ------------------------------------------------------------------------------------

static void keys_are_bounded_and_the_oldest_go_first(void **state) {
  (void)state;
  char path[256], name[32];
  strcpy(path, scratch_path("keys.db"));
  store *s = open_with((store_options){.path = path, .max_keys = 50});
  for (int i = 0; i < 330; i++) {
    if (i == 100) {
      // A clock that was ahead: dates do not decide what goes.
      tamper(path, "UPDATE region SET date = 9000000000");
    }
    snprintf(name, sizeof name, "r%d", i);
    add_region(s, "d", name, 1, 1);
    add_region(s, "d", "always", 1, 1);
  }
  store_counts c = counts_of(s);
  assert_in_range(c.regions, 50, 50 + 32);
  assert_int_equal(region_count(s, "d", "always"), 330);
  assert_int_equal(region_count(s, "d", "r329"), 1);
  assert_int_equal(region_count(s, "d", "r0"), 0);
  store_close(s);
}

static void the_file_is_bounded(void **state) {
  (void)state;
  enum { LIMIT = 400 * 1024 };
  char path[256], name[200];
  strcpy(path, scratch_path("bounded.db"));
  store *s = open_with((store_options){.path = path, .max_bytes = LIMIT});
  for (int batch = 0; batch < 60; batch++) {
    store_region r[100];
    static char names[100][200];
    for (int i = 0; i < 100; i++) {
      snprintf(names[i], sizeof names[i], "%0150d-%d", batch, i);
      r[i] = (store_region){"d", print_a, names[i], {1, 1, 1, 1, 0, 0}, 0};
    }
    must_append(s, &(store_batch){.regions = r, .region_count = 100});
    assert_in_range(counts_of(s).size_bytes, 0, LIMIT);
  }
  snprintf(name, sizeof name, "%0150d-%d", 59, 99);
  assert_int_equal(region_count(s, "d", name), 1);
  snprintf(name, sizeof name, "%0150d-%d", 0, 0);
  assert_int_equal(region_count(s, "d", name), 0);
  store_close(s);
}

// ---- several at once ---------------------------------------------------------------------------

static void processes_add_up(void **state) {
  (void)state;
  enum { PROCESSES = 6, BATCHES = 30 };
  char path[256];
  strcpy(path, scratch_path("shared.db"));
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    if ((children[i] = fork())) continue;
    store *s;
    if (store_open(&(store_options){.path = path, .busy_timeout_ms = 60000}, NULL, &s, NULL) !=
        VYRE_OK)
      _exit(1);
    for (int k = 0; k < BATCHES; k++) {
      store_region r = {"d", print_a, "shared", {1, 2, 2, 3, 0, 0}, 7};
      if (store_append(s, &(store_batch){.regions = &r, .region_count = 1}, NULL) != VYRE_OK)
        _exit(2);
    }
    store_close(s);
    _exit(0);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    waitpid(children[i], &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  store *s = open_at(path);
  assert_int_equal(region_count(s, "d", "shared"), PROCESSES * BATCHES);
  store_close(s);
}

static void *append_many(void *s) {
  for (int k = 0; k < 50; k++) {
    store_region r = {"d", print_a, "threads", {1, 2, 2, 3, 0, 0}, 7};
    if (store_append(s, &(store_batch){.regions = &r, .region_count = 1}, NULL) != VYRE_OK)
      return s;
  }
  return NULL;
}

static void threads_add_up(void **state) {
  (void)state;
  store *s = open_at(scratch_path("threads.db"));
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, append_many, s);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  assert_int_equal(region_count(s, "d", "threads"), 200);
  store_close(s);
}

static void killed_writers_lose_only_what_was_not_saved(void **state) {
  (void)state;
  char path[256];
  strcpy(path, scratch_path("killed.db"));
  int told_pipe[2];
  uint64_t saved = 0, one;
  assert_int_equal(pipe(told_pipe), 0);
  fcntl(told_pipe[0], F_SETFL, O_NONBLOCK);
  for (int round = 0; round < 60; round++) {
    pid_t child = fork();
    assert_true(child >= 0); // killing -1 would kill everything
    if (child == 0) {
      store *s;
      if (store_open(&(store_options){.path = path}, NULL, &s, NULL) != VYRE_OK) _exit(1);
      for (uint64_t k = 1;; k++) {
        store_region r = {"d", print_a, "r", {1, 1, 1, 1, 0, 0}, 7};
        if (store_append(s, &(store_batch){.regions = &r, .region_count = 1}, NULL) != VYRE_OK)
          _exit(1);
        if (write(told_pipe[1], &k, sizeof k) != sizeof k) _exit(1);
      }
    }
    // Every other time after a save, however busy the machine is; otherwise at any moment.
    for (int wait = 0; round % 2 && wait < 10000; wait++) {
      if (read(told_pipe[0], &one, sizeof one) == sizeof one) {
        saved++;
        break;
      }
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    nanosleep(&(struct timespec){.tv_nsec = (round * 7919) % 9000 * 1000}, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    while (read(told_pipe[0], &one, sizeof one) == sizeof one) saved++;
    store *s = open_at(path);
    assert_int_equal(told, 0);
    uint64_t count = region_count(s, "d", "r");
    assert_in_range(count, saved, saved + 1);
    saved = count;
    store_close(s);
  }
  assert_true(saved > 0);
  close(told_pipe[0]);
  close(told_pipe[1]);
}

// ---- faults ------------------------------------------------------------------------------------

static void a_corrupt_file_is_set_aside_and_work_goes_on(void **state) {
  (void)state;
  char path[256];
  strcpy(path, scratch_path("garbage.db"));
  scratch_write(path, "this is no database, and long enough to be taken for a broken one........."
                      "..................................................................");
  store *s = open_at(path);
  assert_int_equal(told, 1);
  assert_non_null(strstr(told_last, "garbage.db.corrupt-1"));
  assert_non_null(strstr(told_last, "Fix:"));
  assert_int_equal(access(scratch_path("garbage.db.corrupt-1"), F_OK), 0);
  add_region(s, "d", "r", 1, 1);
  assert_int_equal(region_count(s, "d", "r"), 1);
  store_close(s);
}

// The first page is sound, the rest is not: found only when it is read.
static void corruption_is_also_survived_later(void **state) {
  (void)state;
  for (int reads = 0; reads < 2; reads++) {
    char path[256];
    strcpy(path, scratch_path(reads ? "late-read.db" : "late-write.db"));
    store *s = open_at(path);
    for (int i = 0; i < 300; i++) {
      char name[64];
      snprintf(name, sizeof name, "a-region-with-a-rather-long-name-%d", i);
      add_region(s, "d", name, 1, 1);
    }
    store_close(s);
    int fd = open(path, O_RDWR);
    off_t size = lseek(fd, 0, SEEK_END);
    char junk[4096];
    memset(junk, 0x5a, sizeof junk);
    for (off_t at = 4096; at < size; at += 4096) assert_int_equal(pwrite(fd, junk, 4096, at), 4096);
    close(fd);
    s = open_at(path);
    if (reads)
      assert_int_equal(region_count(s, "d", "r"), 0);
    else
      add_region(s, "d", "r", 1, 1);
    assert_int_equal(told, 1);
    add_region(s, "d", "r", 1, 1);
    assert_int_equal(region_count(s, "d", "r"), reads ? 1 : 2);
    store_close(s);
  }
}

static void other_databases_are_left_alone(void **state) {
  (void)state;
  char path[256];
  strcpy(path, scratch_path("other.db"));
  tamper(path, "CREATE TABLE photos (x)");
  store *s;
  vyre_error error;
  assert_int_equal(store_open(&(store_options){.path = path}, &sink, &s, &error), VYRE_ERROR_IO);
  assert_non_null(strstr(error.message, "not one of vyre"));
  assert_null(s);
  tamper(path, "INSERT INTO photos VALUES (1)");
  strcpy(path, scratch_path("newer.db"));
  store_close(open_at(path));
  tamper(path, "PRAGMA user_version = 3");
  assert_int_equal(store_open(&(store_options){.path = path}, &sink, &s, &error),
                   VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "Fix:"));
}

// In a child that is not the superuser, whom permissions do not stop.
static int as_nobody(int (*run)(const char *path), const char *path) {
  pid_t child = fork();
  if (child == 0) _exit(setgid(65534) || setuid(65534) ? 77 : run(path));
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int use_read_only(const char *path) {
  store *s;
  vyre_error error;
  told = 0;
  if (store_open(&(store_options){.path = path}, &sink, &s, &error) != VYRE_OK) return 1;
  if (!store_is_read_only(s) || told != 1 || !strstr(told_last, "can only be read")) return 2;
  hints *h = hints_new(NULL);
  if (store_load_regions(s, "d", 10, h, &error) != VYRE_OK) return 3;
  if (hints_dispatch_count(h, key_of("r")) != 4) return 4;
  store_region r = {"d", print_a, "r", {1, 1, 1, 1, 0, 0}, 7};
  if (store_append(s, &(store_batch){.regions = &r, .region_count = 1}, &error) != VYRE_ERROR_IO)
    return 5;
  if (!strstr(error.message, "Fix:")) return 6;
  hints_free(h);
  store_close(s);
  return 0;
}

static int open_missing(const char *path) {
  store *s;
  vyre_error error;
  return store_open(&(store_options){.path = path}, &sink, &s, &error) == VYRE_ERROR_IO &&
                 strstr(error.message, "Fix:")
             ? 0
             : 1;
}

static void a_read_only_directory_is_read(void **state) {
  (void)state;
  char path[256], dir[256];
  strcpy(dir, scratch_path("loc#ked?a=%41")); // marks that mean something in a URI
  mkdir(dir, 0755);
  chmod(scratch_dir, 0755);
  strcpy(path, scratch_path("loc#ked?a=%41/evidence.db"));
  store *s = open_at(path);
  add_region(s, "d", "r", 4, 1);
  store_close(s);
  chmod(dir, 0555);
  chmod(path, 0444);
  int status = as_nobody(use_read_only, path);
  if (status == 77) skip();
  assert_int_equal(status, 0);
  assert_int_equal(as_nobody(open_missing, scratch_path("loc#ked?a=%41/none.db")), 0);
  chmod(dir, 0755);
}

static void without_write_ahead_logging_it_says_so_and_works(void **state) {
  (void)state;
  // A file system layer of SQLite that has no shared memory.
  store *s = open_with((store_options){.path = scratch_path("nowal.db"), .vfs = "unix-dotfile"});
  assert_int_equal(told, 1);
  assert_non_null(strstr(told_last, "write-ahead"));
  assert_non_null(strstr(told_last, "Fix:"));
  add_region(s, "d", "r", 4, 1);
  assert_int_equal(region_count(s, "d", "r"), 4);
  store_close(s);
}

static void a_full_disk_is_an_error_and_loses_nothing(void **state) {
  (void)state;
  char path[256];
  strcpy(path, scratch_path("full.db"));
  pid_t child = fork();
  if (child == 0) {
    store *s;
    vyre_error error;
    if (store_open(&(store_options){.path = path}, NULL, &s, &error) != VYRE_OK) _exit(1);
    store_region r = {"d", print_a, "r", {1, 1, 1, 1, 0, 0}, 7};
    store_batch batch = {.regions = &r, .region_count = 1};
    if (store_append(s, &batch, &error) != VYRE_OK) _exit(2);
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 128 * 1024;
    setrlimit(RLIMIT_FSIZE, &limit);
    uint64_t appended = 1;
    vyre_status status;
    while ((status = store_append(s, &batch, &error)) == VYRE_OK && appended < 100000) appended++;
    if (status != VYRE_ERROR_IO || !strstr(error.message, "Fix: raise the limit on")) _exit(3);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (store_append(s, &batch, &error) != VYRE_OK) _exit(4);
    hints *h = hints_new(NULL);
    if (store_load_regions(s, "d", 10, h, &error) != VYRE_OK) _exit(5);
    _exit(hints_dispatch_count(h, key_of("r")) == appended + 1 ? 0 : 6);
  }
  int status;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

enum { CANNOT = 77 };

// A file system of its own with `free_bytes` left, which only this process sees.
static void enter_small_disk(const char *folder, size_t free_bytes) {
  enum { DISK_BYTES = 256 * 1024 };
  char size[32], fill[300], bytes[4096] = {0};
  snprintf(size, sizeof size, "size=%d", DISK_BYTES);
  mkdir(folder, 0755);
  if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("tmpfs", folder, "tmpfs", 0, size))
    _exit(CANNOT);
  snprintf(fill, sizeof fill, "%s/fill", folder);
  int f = open(fill, O_WRONLY | O_CREAT, 0600);
  for (size_t i = 0; i < DISK_BYTES - free_bytes; i += sizeof bytes)
    if (write(f, bytes, sizeof bytes) != sizeof bytes) break;
  close(f);
}

// Opens a store where there is no room for it. Does not return.
static void open_without_room(const char *path) {
  store *s;
  vyre_error error = {0};
  told = 0;
  vyre_status status = store_open(&(store_options){.path = path}, &sink, &s, &error);
  if (status == VYRE_OK) _exit(1);
  if (!strstr(error.message, "the disk is full") || !strstr(error.message, "Fix:")) _exit(2);
  _exit(told ? 3 : 0); // nothing is wrong with the file system
}

static int exit_status_of(pid_t child) {
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_full_disk_is_told_as_such(void **state) {
  (void)state;
  char folder[200], path[256];
  strcpy(folder, scratch_path("disk"));
  snprintf(path, sizeof path, "%s/evidence.db", folder);
  for (size_t room = 0; room <= 64 * 1024; room += 8192) {
    pid_t child = fork();
    if (child == 0) {
      enter_small_disk(folder, room);
      open_without_room(path);
    }
    int status = exit_status_of(child);
    if (status == CANNOT) {
      print_message("a file system for the test cannot be mounted here\n");
      skip();
    }
    if (status) fail_msg("with %zu bytes left: %d", room, status);
  }
}

static void the_default_place_follows_vyre_home(void **state) {
  (void)state;
  char *home = getenv("VYRE_HOME") ? strdup(getenv("VYRE_HOME")) : NULL;
  setenv("VYRE_HOME", scratch_path("home"), 1);
  store *s;
  assert_int_equal(store_open(NULL, NULL, &s, NULL), VYRE_OK);
  assert_string_equal(store_path(s), scratch_path("home/state/evidence.db"));
  store_close(s);
  if (home)
    setenv("VYRE_HOME", home, 1);
  else
    unsetenv("VYRE_HOME");
  free(home);
}

// ---- exchange ----------------------------------------------------------------------------------

static void fill(store *s, uint64_t count) {
  uint64_t ns[] = {10, 20};
  store_region r = {"d", print_a, "blur", {count, 3, 4, 5, 0, 0}, 7};
  store_latency l = {"d", "op", print_a, 3, "", "cpu", "b", ns, 2};
  store_tuning t = {"d", "key", "op", {8, 8, 1}, ns, 2};
  store_speculation e = {"d", print_a, "cycle", count, 0, 0, 0};
  must_append(s, &(store_batch){.regions = &r,
                                .latencies = &l,
                                .tunings = &t,
                                .speculations = &e,
                                .region_count = 1,
                                .latency_count = 1,
                                .tuning_count = 1,
                                .speculation_count = 1});
}

static uint64_t must_import(store *s, const char *path) {
  uint64_t taken;
  vyre_error error;
  if (store_import(s, path, &taken, &error) != VYRE_OK) fail_msg("%s", error.message);
  return taken;
}

static void own_evidence_comes_back_once(void **state) {
  (void)state;
  char out[256];
  strcpy(out, scratch_path("sub/export.db"));
  store *s = open_at(scratch_path("own.db"));
  fill(s, 5);
  assert_int_equal(store_export(s, out, NULL), VYRE_OK);
  assert_int_equal(must_import(s, out), 0); // nothing in it is news
  assert_int_equal(region_count(s, "d", "blur"), 5);
  fill(s, 5);
  assert_int_equal(must_import(s, out), 0);
  assert_int_equal(region_count(s, "d", "blur"), 10);
  assert_int_equal(store_clear(s, NULL), VYRE_OK);
  assert_int_equal(must_import(s, out), 4);
  assert_int_equal(region_count(s, "d", "blur"), 5);
  assert_int_equal(counts_of(s).foreign, 0);
  assert_int_equal(store_export(s, out, NULL), VYRE_OK); // over an existing file
  store_close(s);
}

static void foreign_evidence_is_kept_apart(void **state) {
  (void)state;
  char theirs[256];
  strcpy(theirs, scratch_path("theirs.db"));
  store *other = open_at(scratch_path("other-machine.db"));
  fill(other, 1000);
  assert_int_equal(store_export(other, theirs, NULL), VYRE_OK);
  tamper(theirs, "UPDATE region SET origin = 'm2'; UPDATE latency SET origin = 'm2';"
                 "UPDATE tuning SET origin = 'm2'; UPDATE speculation SET origin = 'm2'");
  store *s = open_at(scratch_path("mine.db"));
  fill(s, 5);
  assert_int_equal(must_import(s, theirs), 4);
  assert_int_equal(must_import(s, theirs), 0);
  assert_int_equal(counts_of(s).foreign, 4);
  // Nothing of it is returned for this device, though the names are the same.
  assert_int_equal(region_count(s, "d", "blur"), 5);
  arena memory = ARENA_INIT;
  store_latency_row *rows;
  store_tuning_row *shapes;
  uint32_t count;
  assert_int_equal(store_load_latencies(s, print_a, &memory, &rows, &count, NULL), VYRE_OK);
  assert_int_equal(count, 1);
  assert_int_equal(rows[0].samples.count, 2);
  assert_int_equal(store_load_tunings(s, "d", "key", &memory, &shapes, &count, NULL), VYRE_OK);
  assert_int_equal(count, 1);
  store_speculation sum;
  assert_int_equal(store_load_speculation(s, "d", print_a, &sum, NULL), VYRE_OK);
  assert_int_equal(sum.used, 5);
  // A later state of that machine replaces the earlier one.
  tamper(theirs, "UPDATE region SET count = 2000");
  assert_int_equal(must_import(s, theirs), 1);
  tamper(theirs, "UPDATE region SET count = 1500");
  assert_int_equal(must_import(s, theirs), 0);
  // It travels on with its own name.
  char both[256];
  strcpy(both, scratch_path("both.db"));
  assert_int_equal(store_export(s, both, NULL), VYRE_OK);
  store *third = open_at(scratch_path("third.db"));
  assert_int_equal(must_import(third, both), 8);
  assert_int_equal(counts_of(third).foreign, 4);
  arena_free(&memory);
  store_close(third);
  store_close(other);
  store_close(s);
}

static void foreign_evidence_goes_before_own(void **state) {
  (void)state;
  char theirs[256], sql[200];
  strcpy(theirs, scratch_path("many.db"));
  store_close(open_at(theirs));
  for (int i = 0; i < 60; i++) {
    snprintf(sql, sizeof sql,
             "INSERT INTO region VALUES ('m2', 'd', zeroblob(32), 'r%d', 1, 1, 1, 1, 1, %d)", i, i);
    tamper(theirs, sql);
  }
  store *s = open_with((store_options){.path = scratch_path("few.db"), .max_keys = 70});
  for (int i = 0; i < 40; i++) {
    snprintf(sql, sizeof sql, "own%d", i);
    add_region(s, "d", sql, 1, 1);
  }
  assert_int_equal(must_import(s, theirs), 60);
  for (int i = 0; i < 64; i++) add_region(s, "d", "own0", 1, 1);
  store_counts c = counts_of(s);
  assert_int_equal(c.regions, 70);
  assert_int_equal(c.foreign, 30);
  store_close(s);
}

static void files_that_lie_do_no_harm(void **state) {
  (void)state;
  char path[256], mine[256];
  strcpy(mine, scratch_path("honest.db"));
  store *s = open_at(mine);
  uint64_t taken;
  vyre_error error;
  strcpy(path, scratch_path("liar.db"));
  assert_int_equal(store_import(s, path, &taken, &error), VYRE_ERROR_IO); // there is none
  assert_int_not_equal(access(path, F_OK), 0);
  scratch_write(path, "no database at all, though it may look like one to those who do not look");
  assert_int_equal(store_import(s, path, &taken, &error), VYRE_ERROR_IO);
  assert_non_null(strstr(error.message, "Fix:"));
  unlink(path);
  tamper(path, "CREATE TABLE region (x)");
  assert_int_equal(store_import(s, path, &taken, &error), VYRE_ERROR_IO);
  unlink(path);
  // Ours by name, with numbers, texts and blobs that are not.
  store_close(open_at(path));
  tamper(path,
         "INSERT INTO region VALUES ('m', 'd', zeroblob(32), 'minus', -5, -6, 'x', NULL, 9e99, 1);"
         "INSERT INTO region VALUES ('', 'd', zeroblob(32), 'nobody', 1, 1, 1, 1, 1, 2);"
         "INSERT INTO latency VALUES ('m','d','op',x'00',1,'','cpu','b',1,1,1,x'0011',1,3);"
         "INSERT INTO latency VALUES ('m','d','op',zeroblob(32),1,'','cpu','b',1,1,1,"
         "zeroblob(100003),1,4);"
         "INSERT INTO tuning VALUES ('m','d','k',-1,'y',5000000000,1,1,1,NULL,1,5)");
  assert_int_equal(store_import(s, path, &taken, &error), VYRE_OK);
  assert_int_equal(taken, 3);
  // A view in place of a table, and a trigger.
  tamper(path, "DROP TABLE region; CREATE VIEW region AS SELECT * FROM latency");
  assert_int_equal(store_import(s, path, &taken, &error), VYRE_ERROR_IO);
  assert_int_equal(taken, 0);
  store_close(s);
  // The same lies in the store itself.
  tamper(mine, "UPDATE region SET count = 'x', total_ns = NULL");
  tamper(mine, "UPDATE latency SET count = -1, recent = x'01', total_ns = 'text'");
  s = open_at(mine);
  fill(s, 1);
  int lines = -100;
  assert_int_equal(store_visit(s, count_line, &lines, NULL), VYRE_OK);
  store_close(s);
}

// What processes that begin at once take turns by, and nothing that nobody knows of.
static void nothing_else_stands_beside_the_store(void **state) {
  (void)state;
  assert_int_equal(mkdir(scratch_path("beside"), 0755), 0);
  store *s = open_at(scratch_path("beside/e.db"));
  add_region(s, "cpu", "r", 1, 10);
  store_close(s);
  assert_int_equal(access(scratch_path("beside/e.db.open.lock"), F_OK), 0);
  static const char *const known[] = {".", "..", "e.db", "e.db-wal", "e.db-shm", "e.db.open.lock"};
  DIR *folder = opendir(scratch_path("beside"));
  assert_non_null(folder);
  for (const struct dirent *d; (d = readdir(folder));) {
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      is_known |= !strcmp(d->d_name, known[i]);
    if (!is_known) fail_msg("there is `%s`", d->d_name);
  }
  closedir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_else_stands_beside_the_store),
      cmocka_unit_test(regions_are_summed_and_loaded_by_device),
      cmocka_unit_test(the_latest_regions_are_loaded_in_order),
      cmocka_unit_test(sums_stop_at_the_largest_number),
      cmocka_unit_test(latencies_keep_sums_and_recent_samples),
      cmocka_unit_test(tunings_are_kept_per_shape),
      cmocka_unit_test(speculation_is_summed),
      cmocka_unit_test(the_last_pass_report_is_kept),
      cmocka_unit_test(lines_can_be_visited_and_everything_cleared),
      cmocka_unit_test(keys_are_bounded_and_the_oldest_go_first),
      cmocka_unit_test(the_file_is_bounded),
      cmocka_unit_test(processes_add_up),
      cmocka_unit_test(threads_add_up),
      cmocka_unit_test(killed_writers_lose_only_what_was_not_saved),
      cmocka_unit_test(a_corrupt_file_is_set_aside_and_work_goes_on),
      cmocka_unit_test(corruption_is_also_survived_later),
      cmocka_unit_test(other_databases_are_left_alone),
      cmocka_unit_test(a_read_only_directory_is_read),
      cmocka_unit_test(without_write_ahead_logging_it_says_so_and_works),
      cmocka_unit_test(a_full_disk_is_an_error_and_loses_nothing),
      cmocka_unit_test(a_full_disk_is_told_as_such),
      cmocka_unit_test(the_default_place_follows_vyre_home),
      cmocka_unit_test(own_evidence_comes_back_once),
      cmocka_unit_test(foreign_evidence_is_kept_apart),
      cmocka_unit_test(foreign_evidence_goes_before_own),
      cmocka_unit_test(files_that_lie_do_no_harm),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
