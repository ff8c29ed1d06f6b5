// SPDX-License-Identifier: MIT
//
// Memory that runs out while evidence is recorded, kept or read back: it costs what could not be
// kept, and nothing is lost that was taken.
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../memory_sweep.h"
#include "../scratch_dir.h"
#include "profile/hints.h"
#include "profile/store.h"

static const char long_name[] = "a region whose name is so long that no slot of the table holds it "
                                "and that needs memory of its own, wherever it is recorded";

// What was recorded is there, or counted as lost; a copy has the same.
static void check_hints(hints *h, uint64_t recorded) {
  size_t count;
  uint64_t kept = 0;
  hints_entry *all = hints_snapshot(h, &count);
  if (!all) return;
  for (size_t i = 0; i < count; i++) kept += all[i].record.dispatch_count;
  hints_losses lost = hints_lost(h);
  assert_int_equal(kept + lost.evicted_samples + lost.dropped_samples, recorded);
  assert_int_equal(count, hints_len(h));
  free(all);
}

static void work_on_hints(void) {
  hints *h = hints_new(&(hints_options){.capacity = 8, .hot_mean_ns = 100});
  if (!h) return;
  char name[200];
  for (int i = 0; i < 12; i++) {
    snprintf(name, sizeof name, "r%d", i);
    hints_record(h, name, 100, 1);
    snprintf(name, sizeof name, "%s%d", long_name, i % 3);
    hints_record(h, name, 99, 1);
  }
  check_hints(h, 24);
  hints *copy = hints_clone(h);
  if (copy) assert_int_equal(hints_len(copy), hints_len(h));
  hints_free(copy);
  hints_free(h);
}

static void hints_survive(void **state) {
  (void)state;
  memory_sweep(work_on_hints, 5);
}

static char path[300];

static void must_be_memory(vyre_status status) {
  if (status != VYRE_OK && status != VYRE_ERROR_MEMORY && status != VYRE_ERROR_IO)
    fail_msg("status %d", (int)status);
}

static void read_back(store *s, const uint8_t *fingerprint) {
  arena memory = ARENA_INIT;
  store_latency_row *latencies;
  store_tuning_row *tunings;
  uint32_t count;
  vyre_error error;
  opt_report report = {0};
  hints *h = hints_new(NULL);
  if (h) must_be_memory(store_load_regions(s, "d", 10, h, &error));
  must_be_memory(store_load_latencies(s, fingerprint, &memory, &latencies, &count, &error));
  must_be_memory(store_load_tunings(s, "d", "key", &memory, &tunings, &count, &error));
  must_be_memory(store_load_passes(s, fingerprint, &memory, &report, &error));
  opt_report_free(&report);
  hints_free(h);
  arena_free(&memory);
}

static void work_on_the_store(void) {
  static const uint8_t fingerprint[32] = {3};
  uint64_t ns[] = {5, 6};
  store_region region = {"d", fingerprint, "r", {1, 1, 1, 1, 0, 0}, 7};
  store_latency latency = {"d", "op", fingerprint, 3, "", "cpu", "b", ns, 2};
  store_tuning tuning = {"d", "key", "op", {64, 1, 1}, ns, 2};
  store_batch b = {.regions = &region,
                   .region_count = 1,
                   .latencies = &latency,
                   .latency_count = 1,
                   .tunings = &tuning,
                   .tuning_count = 1};
  store *s = NULL;
  vyre_error error;
  vyre_status status = store_open(&(store_options){.path = path}, &(note_sink){0}, &s, &error);
  must_be_memory(status);
  if (status != VYRE_OK) return;
  must_be_memory(store_append(s, &b, &error));
  read_back(s, fingerprint);
  store_close(s);
}

static void the_store_survives(void **state) {
  (void)state;
  strcpy(path, scratch_path("evidence.db"));
  memory_sweep_by(work_on_the_store, 50, 11); // each time writes to the disk
}

static char exported[300];

static void work_on_exchange(void) {
  store *s = NULL;
  vyre_error error;
  uint64_t taken;
  vyre_status status = store_open(&(store_options){.path = path}, &(note_sink){0}, &s, &error);
  must_be_memory(status);
  if (status != VYRE_OK) return;
  must_be_memory(store_import(s, exported, &taken, &error));
  char *again = scratch_path("again.db");
  must_be_memory(store_export(s, again, &error));
  store_close(s);
}

// Evidence of another machine, by its name in the file.
static void make_foreign(void) {
  store *s;
  vyre_error error;
  sqlite3 *db;
  strcpy(path, scratch_path("foreign.db"));
  work_on_the_store();
  assert_int_equal(store_open(&(store_options){.path = path}, &(note_sink){0}, &s, &error),
                   VYRE_OK);
  strcpy(exported, scratch_path("exported.db"));
  assert_int_equal(store_export(s, exported, &error), VYRE_OK);
  store_close(s);
  assert_int_equal(sqlite3_open(exported, &db), SQLITE_OK);
  static const char rename[] = "UPDATE region SET origin = 'm2'; UPDATE latency SET origin = 'm2'";
  assert_int_equal(sqlite3_exec(db, rename, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static void exchange_survives(void **state) {
  (void)state;
  make_foreign();
  strcpy(path, scratch_path("exchange.db"));
#if FAILING_MALLOC
  // At every one of the first, where an import begins.
  store *s;
  vyre_error error;
  uint64_t taken;
  assert_int_equal(store_open(&(store_options){.path = path}, &(note_sink){0}, &s, &error),
                   VYRE_OK);
  for (long at = 1; at <= 40; at++) {
    memory_arm(at, at % 2);
    vyre_status status = store_import(s, exported, &taken, &error);
    memory_disarm();
    must_be_memory(status);
    if (at <= 2) assert_int_equal(status, VYRE_ERROR_MEMORY);
  }
  store_counts counts;
  assert_int_equal(store_import(s, exported, &taken, &error), VYRE_OK);
  assert_int_equal(store_count(s, &counts, &error), VYRE_OK);
  assert_int_equal(counts.foreign, 2);
  store_close(s);
#endif
  memory_sweep_by(work_on_exchange, 50, 37);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hints_survive),
      cmocka_unit_test(the_store_survives),
      cmocka_unit_test(exchange_survives),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
