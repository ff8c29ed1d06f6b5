// SPDX-License-Identifier: MIT
//
// The evidence store at its limits: every table forgets its oldest keys, and a batch that fails in
// the middle leaves nothing behind, neither rows nor an open transaction.
#include "base/file.h"
#include "base/hash.h"
#include "profile/store.h"
#include "profile/store_db.h"

#include "../scratch_dir.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static store *open_at(const char *path, uint32_t max_keys) {
  store *s;
  vyre_error error;
  store_options o = {.path = path, .max_keys = max_keys};
  if (store_open(&o, &(note_sink){0}, &s, &error) != VYRE_OK) fail_msg("%s", error.message);
  return s;
}

static void must_append(store *s, const store_batch *batch) {
  vyre_error error;
  if (store_append(s, batch, &error) != VYRE_OK) fail_msg("%s", error.message);
}

// Asks the file itself, as another program might; an open transaction of the store would show.
static int64_t ask(const char *path, const char *sql) {
  sqlite3 *db;
  sqlite3_stmt *q;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
  int code = sqlite3_step(q);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
  int64_t number = code == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
  sqlite3_finalize(q);
  sqlite3_close(db);
  return number;
}

enum { KEYS = 20, BATCHES = 33 }; // the first batch and the thirty-third prune

typedef struct evidence_of { // one of each kind, all named after a number
  char name[32];
  uint8_t fingerprint[32];
  uint64_t ns;
  store_region region;
  store_latency latency;
  store_code code;
  store_decision decision;
  store_tuning tuning;
  store_speculation speculation;
  opt_report report;
  store_passes passes;
} evidence_of;

static void fill(evidence_of *e, int number) {
  *e = (evidence_of){.ns = 5};
  snprintf(e->name, sizeof e->name, "n%d", number);
  memcpy(e->fingerprint, e->name, sizeof e->name);
  e->region = (store_region){"d", e->fingerprint, e->name, {1, 1, 1, 1, 0, 0}, 0};
  e->latency = (store_latency){"d", e->name, e->fingerprint, 3, "", "cpu", "b", &e->ns, 1};
  e->code = (store_code){.hash = e->fingerprint,
                         .op = e->name,
                         .variant = "cpu",
                         .device = "d",
                         .checks = 1,
                         .is_wrong = number == 0,
                         .detail = ""};
  e->decision = (store_decision){.fingerprint = e->fingerprint,
                                 .size_class = 3,
                                 .work = "",
                                 .op = e->name,
                                 .device = "d",
                                 .variant = "cpu",
                                 .build = "b",
                                 .reason = "fastest",
                                 .others = ""};
  e->tuning = (store_tuning){"d", e->name, e->name, {64, 1, 1}, &e->ns, 1};
  e->speculation = (store_speculation){"d", e->fingerprint, "cycle", 1, 1, 1, 1};
  for (int i = 0; i < 4; i++)
    assert_true(vec_push(&e->report.rows, (pass_metric){.pass = "cse", .outcome = PASS_CHANGED}));
  e->passes = (store_passes){e->fingerprint, &e->report};
}

static store_batch all_of(evidence_of *e) {
  return (store_batch){.regions = &e->region,
                       .latencies = &e->latency,
                       .codes = &e->code,
                       .decisions = &e->decision,
                       .tunings = &e->tuning,
                       .speculations = &e->speculation,
                       .passes = &e->passes,
                       .region_count = 1,
                       .latency_count = 1,
                       .code_count = 1,
                       .decision_count = 1,
                       .tuning_count = 1,
                       .speculation_count = 1,
                       .passes_count = 1};
}

static void every_table_forgets_its_oldest_keys(void **state) {
  (void)state;
  const char *path = scratch_path("tables.db");
  store *s = open_at(path, KEYS);
  for (int i = 0; i < BATCHES; i++) {
    evidence_of e;
    fill(&e, i);
    store_batch b = all_of(&e);
    must_append(s, &b);
    opt_report_free(&e.report);
  }
  store_counts c;
  assert_int_equal(store_count(s, &c, NULL), VYRE_OK);
  // Pruned before the last batch was added.
  assert_int_equal(c.regions, KEYS + 1);
  assert_int_equal(c.latencies, KEYS + 1);
  assert_int_equal(c.tunings, KEYS + 1);
  assert_int_equal(c.speculations, KEYS + 1);
  assert_int_equal(c.decisions, KEYS + 1);
  assert_int_equal(c.codes, KEYS + 2); // what was wrong once, the very first, is never forgotten
  assert_int_equal(c.pass_rows, 4 * (KEYS + 1));
  assert_int_equal(ask(path, "SELECT count(*) FROM meta WHERE key LIKE 'tune %'"), KEYS + 1);
  static const char *const oldest[] = {
      "SELECT count(*) FROM region WHERE region = 'n11'",
      "SELECT count(*) FROM latency WHERE op = 'n11'",
      "SELECT count(*) FROM tuning WHERE key = 'n11'",
      "SELECT count(*) FROM meta WHERE key = 'tune n11'",
  };
  static const char *const kept[] = {
      "SELECT count(*) FROM region WHERE region = 'n12'",
      "SELECT count(*) FROM latency WHERE op = 'n12'",
      "SELECT count(*) FROM tuning WHERE key = 'n12'",
      "SELECT count(*) FROM meta WHERE key = 'tune n12'",
  };
  for (size_t i = 0; i < sizeof oldest / sizeof *oldest; i++) {
    assert_int_equal(ask(path, oldest[i]), 0);
    assert_int_equal(ask(path, kept[i]), 1);
  }
  store_close(s);
}

static void between_prunings_nothing_is_forgotten(void **state) {
  (void)state;
  const char *path = scratch_path("between.db");
  store *s = open_at(path, KEYS);
  for (int i = 0; i < BATCHES - 1; i++) {
    evidence_of e;
    fill(&e, i);
    must_append(s, &(store_batch){.regions = &e.region, .region_count = 1});
    opt_report_free(&e.report);
  }
  assert_int_equal(ask(path, "SELECT count(*) FROM region"), BATCHES - 1);
  store_close(s);
}

static void a_batch_that_fails_in_the_middle_leaves_nothing(void **state) {
  (void)state;
  const char *path = scratch_path("middle.db");
  store *s = open_at(path, KEYS);
  evidence_of e;
  fill(&e, 1);
  must_append(s, &(store_batch){.regions = &e.region, .region_count = 1});
  ask(path, "ALTER TABLE speculation RENAME TO hidden");
  opt_report_free(&e.report);
  fill(&e, 2);
  store_batch b = all_of(&e);
  vyre_error error = {0};
  assert_int_not_equal(store_append(s, &b, &error), VYRE_OK);
  assert_non_null(strstr(error.message, "Fix:"));
  assert_int_equal(ask(path, "SELECT count(*) FROM region"), 1);
  assert_int_equal(ask(path, "SELECT count(*) FROM latency"), 0);
  assert_int_equal(ask(path, "SELECT count(*) FROM tuning"), 0);
  ask(path,
      "ALTER TABLE hidden RENAME TO speculation"); // not possible while the store holds the file
  must_append(s, &b);
  assert_int_equal(ask(path, "SELECT count(*) FROM region"), 2);
  assert_int_equal(ask(path, "SELECT count(*) FROM pass"), 4);
  opt_report_free(&e.report);
  store_close(s);
}

// Every column of every row, of more rows than fit a first guess: 8 of each key are kept, the
// latest first.
static void decisions_come_back_as_they_were(void **state) {
  (void)state;
  enum { CLASSES = 40, OF_A_KEY = 10, KEPT = 8 };
  store *s = open_at(scratch_path("decisions.db"), 1000);
  uint8_t fingerprint[32] = {7};
  for (uint32_t i = 0; i < CLASSES * OF_A_KEY; i++) {
    store_decision d = {.fingerprint = fingerprint,
                        .size_class = i % CLASSES,
                        .work = "n:3",
                        .op = "op",
                        .device = "device",
                        .variant = "variant",
                        .build = "build",
                        .reason = "reason",
                        .samples = 3 * i,
                        .mean_ns = 5 * i,
                        .spread_ns = 7 * i,
                        .others = "others"};
    must_append(s, &(store_batch){.decisions = &d, .decision_count = 1});
  }
  arena memory = ARENA_INIT;
  store_decision_row *rows;
  uint32_t count;
  assert_int_equal(store_load_decisions(s, fingerprint, &memory, &rows, &count, NULL), VYRE_OK);
  assert_int_equal(count, CLASSES * KEPT);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t number = i / KEPT + (OF_A_KEY - 1 - i % KEPT) * CLASSES;
    assert_int_equal(rows[i].size_class, i / KEPT);
    assert_int_equal(rows[i].samples, 3 * number);
    assert_int_equal(rows[i].mean_ns, 5 * number);
    assert_int_equal(rows[i].spread_ns, 7 * number);
    assert_true(rows[i].date > 0);
    const char *const texts[] = {rows[i].work,  rows[i].op,     rows[i].device, rows[i].variant,
                                 rows[i].build, rows[i].reason, rows[i].others};
    static const char *const wanted[] = {"n:3",   "op",     "device", "variant",
                                         "build", "reason", "others"};
    for (int k = 0; k < 7; k++) assert_string_equal(texts[k], wanted[k]);
  }
  arena_free(&memory);
  store_close(s);
}

typedef struct wanted_line {
  const char *kind;
  uint64_t count, total_ns, extreme_ns;
  bool is_found;
} wanted_line;

static bool look_at(void *context, const store_line *line) {
  for (wanted_line *w = context; w->kind; w++) {
    if (strcmp(w->kind, line->kind)) continue;
    assert_false(w->is_found);
    assert_null(line->origin);
    assert_string_equal(line->device, "d");
    assert_int_equal(line->count, w->count);
    assert_int_equal(line->total_ns, w->total_ns);
    assert_int_equal(line->extreme_ns, w->extreme_ns);
    w->is_found = true;
  }
  return true;
}

static void check_lines(store *s, const wanted_line wanted[4]) {
  wanted_line lines[5] = {{0}};
  vyre_error error;
  memcpy(lines, wanted, 4 * sizeof *lines);
  if (store_visit(s, look_at, lines, &error) != VYRE_OK) fail_msg("%s", error.message);
  for (int i = 0; i < 4; i++) assert_true(lines[i].is_found);
}

// Every sum and extreme, of one batch and of two.
static void sums_are_exact(void **state) {
  (void)state;
  static const uint8_t fingerprint[32] = {7};
  static const uint64_t first[] = {30, 10, 20}, second[] = {4, 50};
  store *s = open_at(scratch_path("sums.db"), 0);
  store_region region = {"d", fingerprint, "r", {3, 60, 30, 100, 0, 0}, 7};
  store_latency latency = {"d", "op", fingerprint, 5, "n:1", "ref", "build", first, 3};
  store_tuning tuning = {
      .device = "d", .key = "key", .op = "op", .shape = {8, 1, 1}, .ns = first, .count = 3};
  store_speculation speculation = {.device = "d",
                                   .fingerprint = fingerprint,
                                   .kind = "cycle",
                                   .used = 2,
                                   .unused = 3,
                                   .compile_ns = 11,
                                   .saved_ns = 13};
  store_batch batch = {.regions = &region,
                       .region_count = 1,
                       .latencies = &latency,
                       .latency_count = 1,
                       .tunings = &tuning,
                       .tuning_count = 1,
                       .speculations = &speculation,
                       .speculation_count = 1};
  must_append(s, &batch);
  check_lines(s, (wanted_line[4]){{"region", 3, 60, 30, false},
                                  {"latency", 3, 60, 10, false},
                                  {"tuning", 3, 60, 10, false},
                                  {"speculation", 5, 11, 2, false}});
  region.added = (region_record){2, 54, 50, 10, 0, 0};
  latency.ns = tuning.ns = second;
  latency.count = tuning.count = 2;
  must_append(s, &batch);
  const wanted_line both[4] = {{"region", 5, 114, 50, false},
                               {"latency", 5, 114, 4, false},
                               {"tuning", 5, 114, 4, false},
                               {"speculation", 10, 22, 4, false}};
  check_lines(s, both);
  store_close(s);
  s = open_at(scratch_path("sums.db"), 0);
  check_lines(s, both);
  store_speculation sum;
  assert_int_equal(store_load_speculation(s, NULL, fingerprint, &sum, NULL), VYRE_OK);
  assert_int_equal(sum.used, 4);
  assert_int_equal(sum.unused, 6);
  assert_int_equal(sum.compile_ns, 22);
  assert_int_equal(sum.saved_ns, 26);
  store_close(s);
}

// What a machine is called stays the same from one version to the next: otherwise it would take its
// own evidence for another's. The system's id is not given away.
static void a_machine_keeps_its_name(void **state) {
  (void)state;
  char *id = NULL, host[256] = "", hex[HASH_HEX];
  size_t size;
  uint8_t digest[HASH_BYTES];
  hasher h;
  hash_init(&h);
  hash_update(&h, "vyre-machine", strlen("vyre-machine"));
  if (file_read("/etc/machine-id", 4096, &id, &size, NULL) == VYRE_OK) {
    hash_update(&h, id, size);
  } else {
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    hash_update(&h, host, strlen(host));
  }
  free(id);
  hash_final(&h, digest);
  hash_hex(digest, hex);
  hex[32] = 0;
  store *s = open_at(scratch_path("machine.db"), 0);
  assert_string_equal(s->machine, hex);
  store_close(s);
}

// What SQLite says, in its plain and its extended codes, leads to what can be done about it.
static void each_failure_says_what_to_do(void **state) {
  (void)state;
  static const struct {
    int code;
    const char *fix;
  } rows[] = {
      {SQLITE_BUSY, "let the other process finish"},
      {SQLITE_BUSY_SNAPSHOT, "let the other process finish"},
      {SQLITE_LOCKED, "let the other process finish"},
      {SQLITE_READONLY, "use a directory that can be written"},
      {SQLITE_READONLY_DBMOVED, "use a directory that can be written"},
      {SQLITE_CANTOPEN, "use a directory that can be written"},
      {SQLITE_CANTOPEN_ISDIR, "use a directory that can be written"},
      {SQLITE_PERM, "use a directory that can be written"},
      {SQLITE_CORRUPT, "delete the file"},
      {SQLITE_CORRUPT_INDEX, "delete the file"},
      {SQLITE_NOTADB, "delete the file"},
      {SQLITE_FULL, "free some disk space"},
      {SQLITE_ERROR, "check the file and the disk"},
  };
  store *s = open_at(scratch_path("failing.db"), 0);
  vyre_error error;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(store_fail(s, rows[i].code, "write", &error), VYRE_ERROR_IO);
    const char *fix = strstr(error.message, "Fix: ");
    if (!fix || !strstr(fix, rows[i].fix)) fail_msg("%d: %s", rows[i].code, error.message);
    assert_non_null(strstr(error.message, "cannot write the evidence store `"));
    assert_non_null(strstr(error.message, "failing.db"));
  }
  assert_int_equal(store_fail(s, SQLITE_NOMEM, "write", &error), VYRE_ERROR_MEMORY);
  store_close(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_table_forgets_its_oldest_keys),
      cmocka_unit_test(between_prunings_nothing_is_forgotten),
      cmocka_unit_test(decisions_come_back_as_they_were),
      cmocka_unit_test(a_batch_that_fails_in_the_middle_leaves_nothing),
      cmocka_unit_test(sums_are_exact),
      cmocka_unit_test(a_machine_keeps_its_name),
      cmocka_unit_test(each_failure_says_what_to_do),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
