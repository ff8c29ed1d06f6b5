// SPDX-License-Identifier: MIT
//
// Reading from the store: what this machine measured, and the lines for people.
#include "base/error.h"
#include "profile/store_query.h"

#include <stdio.h>
#include <string.h>

// ---- regions -----------------------------------------------------------------------------------

typedef struct region_key {
  const char *device;
  uint32_t limit;
} region_key;

static void bind_region(sqlite3_stmt *q, const void *key) {
  const region_key *k = key;
  store_bind_text(q, 2, k->device);
  store_bind_u64(q, 3, k->limit);
}

static bool merge_region(sqlite3_stmt *q, void *context) {
  region_record r = {.dispatch_count = store_column_u64(q, 2),
                     .kernel_ns_total = store_column_u64(q, 3),
                     .kernel_ns_max = store_column_u64(q, 4),
                     .bytes_total = store_column_u64(q, 5)};
  char key[HINTS_KEY];
  if (sqlite3_column_bytes(q, 0) != STORE_FINGERPRINT) return true;
  hints_region_key(sqlite3_column_blob(q, 0), store_column_text(q, 1), key);
  hints_merge(context, key, &r);
  return true;
}

vyre_status store_load_regions(store *s, const char *device, uint32_t limit, hints *into,
                               vyre_error *error) {
  region_key key = {device, limit};
  return store_read_rows(
      &(store_query){s, STORE_SQL_LOAD_REGIONS, bind_region, &key, merge_region, into}, error);
}

static bool fill_effort(sqlite3_stmt *q, arena *memory, void *row) {
  store_effort_row *r = row;
  r->operations = store_column_u64(q, 1);
  r->total_ns = store_column_u64(q, 2);
  r->bytes = store_column_u64(q, 3);
  return (r->region = store_copy_column(memory, q, 0)) != NULL;
}

vyre_status store_load_efforts(store *s, const uint8_t *fingerprint, arena *memory,
                               store_effort_row **rows, uint32_t *count, vyre_error *error) {
  store_collecting c = {.memory = memory, .row_bytes = sizeof **rows, .fill = fill_effort};
  void *found;
  vyre_status status = store_collect_rows(s, STORE_SQL_LOAD_EFFORTS, store_bind_fingerprint,
                                          fingerprint, &c, &found, count, error);
  *rows = found;
  return status;
}

// ---- samples -----------------------------------------------------------------------------------

vyre_status store_load_latencies(store *s, const uint8_t *fingerprint, arena *memory,
                                 store_latency_row **rows, uint32_t *count, vyre_error *error) {
  store_collecting c = {.memory = memory, .row_bytes = sizeof **rows, .fill = store_fill_latency};
  void *found;
  vyre_status status = store_collect_rows(s, STORE_SQL_LOAD_LATENCIES, store_bind_fingerprint,
                                          fingerprint, &c, &found, count, error);
  *rows = found;
  return status;
}

static bool fill_decision(sqlite3_stmt *q, arena *memory, void *row) {
  store_decision_row *r = row;
  const char **texts[] = {&r->work, &r->op, &r->device, &r->variant, &r->build, &r->reason};
  for (int i = 0; i < 6; i++)
    if (!(*texts[i] = store_copy_column(memory, q, 1 + i))) return false;
  r->size_class = (uint32_t)store_column_u64(q, 0);
  r->samples = store_column_u64(q, 7);
  r->mean_ns = store_column_u64(q, 8);
  r->spread_ns = store_column_u64(q, 9);
  r->date = sqlite3_column_int64(q, 11);
  return (r->others = store_copy_column(memory, q, 10)) != NULL;
}

vyre_status store_load_decisions(store *s, const uint8_t *fingerprint, arena *memory,
                                 store_decision_row **rows, uint32_t *count, vyre_error *error) {
  store_collecting c = {.memory = memory, .row_bytes = sizeof **rows, .fill = fill_decision};
  void *found;
  vyre_status status = store_collect_rows(s, STORE_SQL_LOAD_DECISIONS, store_bind_fingerprint,
                                          fingerprint, &c, &found, count, error);
  *rows = found;
  return status;
}

// ---- codes -------------------------------------------------------------------------------------

static bool read_code(sqlite3_stmt *q, void *context) {
  store_code_state *out = context;
  out->checks = store_column_u64(q, 0);
  out->is_wrong = store_column_u64(q, 1) != 0;
  snprintf(out->detail, sizeof out->detail, "%s", store_column_text(q, 2));
  return true;
}

vyre_status store_load_code(store *s, const uint8_t *hash, store_code_state *out,
                            vyre_error *error) {
  *out = (store_code_state){0};
  return store_read_rows(
      &(store_query){s, STORE_SQL_LOAD_CODE, store_bind_fingerprint, hash, read_code, out}, error);
}

typedef struct wrong_visiting {
  bool (*visit)(void *context, const store_wrong *wrong);
  void *context;
} wrong_visiting;

static void bind_op(sqlite3_stmt *q, const void *key) {
  store_bind_text(q, 2, key);
}

static bool visit_wrong(sqlite3_stmt *q, void *context) {
  const wrong_visiting *v = context;
  if (sqlite3_column_bytes(q, 5) != STORE_FINGERPRINT) return true;
  store_wrong wrong = {.op = store_column_text(q, 0),
                       .variant = store_column_text(q, 1),
                       .device = store_column_text(q, 2),
                       .detail = store_column_text(q, 3),
                       .date = sqlite3_column_int64(q, 4),
                       .hash = sqlite3_column_blob(q, 5)};
  return v->visit(v->context, &wrong);
}

vyre_status store_visit_wrong(store *s, const char *op,
                              bool (*visit)(void *context, const store_wrong *wrong), void *context,
                              vyre_error *error) {
  wrong_visiting v = {visit, context};
  return store_read_rows(&(store_query){s, STORE_SQL_LOAD_WRONG, bind_op, op, visit_wrong, &v},
                         error);
}

// ---- launch shapes -----------------------------------------------------------------------------

static void bind_tuning(sqlite3_stmt *q, const void *key) {
  const char *const *k = key;
  store_bind_text(q, 2, k[0]);
  store_bind_text(q, 3, k[1]);
}

static bool fill_tuning(sqlite3_stmt *q, arena *memory, void *row) {
  (void)memory;
  store_tuning_row *r = row;
  store_read_samples(q, &r->samples);
  for (int i = 0; i < 3; i++) r->shape[i] = (uint32_t)store_column_u64(q, 5 + i);
  return true;
}

vyre_status store_load_tunings(store *s, const char *device, const char *key, arena *memory,
                               store_tuning_row **rows, uint32_t *count, vyre_error *error) {
  const char *keys[2] = {device, key};
  store_collecting c = {.memory = memory, .row_bytes = sizeof **rows, .fill = fill_tuning};
  void *found;
  vyre_status status =
      store_collect_rows(s, STORE_SQL_LOAD_TUNINGS, bind_tuning, keys, &c, &found, count, error);
  *rows = found;
  return status;
}

// ---- speculation and passes --------------------------------------------------------------------

static uint64_t add_up(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void bind_speculation(sqlite3_stmt *q, const void *key) {
  const store_speculation *k = key;
  store_bind_text(q, 2, k->device);
  store_bind_blob(q, 3, k->fingerprint, STORE_FINGERPRINT);
}

static bool sum_speculation(sqlite3_stmt *q, void *context) {
  store_speculation *out = context;
  out->used = add_up(out->used, store_column_u64(q, 0));
  out->unused = add_up(out->unused, store_column_u64(q, 1));
  out->compile_ns = add_up(out->compile_ns, store_column_u64(q, 2));
  out->saved_ns = add_up(out->saved_ns, store_column_u64(q, 3));
  return true;
}

vyre_status store_load_speculation(store *s, const char *device, const uint8_t *fingerprint,
                                   store_speculation *out, vyre_error *error) {
  store_speculation key = {.device = device, .fingerprint = fingerprint};
  *out = (store_speculation){0};
  return store_read_rows(
      &(store_query){s, STORE_SQL_LOAD_SPECULATION, bind_speculation, &key, sum_speculation, out},
      error);
}

typedef struct pass_reading {
  arena *memory;
  opt_report *out;
  bool out_of_memory;
} pass_reading;

static bool read_pass(sqlite3_stmt *q, void *context) {
  pass_reading *r = context;
  pass_counts counts[2] = {{0}, {0}};
  const void *bytes = sqlite3_column_blob(q, 8);
  if (bytes && (size_t)sqlite3_column_bytes(q, 8) == sizeof counts)
    memcpy(counts, bytes, sizeof counts);
  bool has_region = sqlite3_column_type(q, 1) != SQLITE_NULL;
  bool has_reason = sqlite3_column_type(q, 6) != SQLITE_NULL;
  uint64_t outcome = store_column_u64(q, 5);
  pass_metric m = {.pass = store_copy_column(r->memory, q, 0),
                   .region = has_region ? store_copy_column(r->memory, q, 1) : NULL,
                   .iteration = (uint32_t)store_column_u64(q, 2),
                   .ran = store_column_u64(q, 3) != 0,
                   .changed = store_column_u64(q, 4) != 0,
                   .outcome = outcome <= PASS_REVERTED ? (pass_outcome)outcome : PASS_UNCHANGED,
                   .reason = has_reason ? store_copy_column(r->memory, q, 6) : NULL,
                   .runtime_ns = store_column_u64(q, 7),
                   .before = counts[0],
                   .after = counts[1]};
  bool copied = m.pass && (m.region || !has_region) && (m.reason || !has_reason);
  r->out_of_memory = !copied || !vec_push(&r->out->rows, m);
  return !r->out_of_memory;
}

vyre_status store_load_passes(store *s, const uint8_t *fingerprint, arena *memory, opt_report *out,
                              vyre_error *error) {
  pass_reading r = {memory, out, false};
  vyre_status status = store_read_rows(
      &(store_query){s, STORE_SQL_LOAD_PASSES, store_bind_fingerprint, fingerprint, read_pass, &r},
      error);
  return status == VYRE_OK && r.out_of_memory ? error_out_of_memory(error) : status;
}

static bool read_date(sqlite3_stmt *q, void *context) {
  *(int64_t *)context = sqlite3_column_int64(q, 0);
  return true;
}

vyre_status store_passes_date(store *s, const uint8_t *fingerprint, int64_t *date,
                              vyre_error *error) {
  *date = 0;
  return store_read_rows(&(store_query){s, STORE_SQL_PASSES_DATE, store_bind_fingerprint,
                                        fingerprint, read_date, date},
                         error);
}

// ---- for people --------------------------------------------------------------------------------

typedef struct visiting {
  const char *machine;
  bool (*visit)(void *context, const store_line *line);
  void *context;
} visiting;

static bool visit_row(sqlite3_stmt *q, void *context) {
  visiting *v = context;
  const char *origin = store_column_text(q, 1);
  store_line line = {.kind = store_column_text(q, 0),
                     .origin = strcmp(origin, v->machine) ? origin : NULL,
                     .device = store_column_text(q, 2),
                     .subject = store_column_text(q, 3),
                     .detail = store_column_text(q, 4),
                     .count = store_column_u64(q, 5),
                     .total_ns = store_column_u64(q, 6),
                     .extreme_ns = store_column_u64(q, 7),
                     .date = sqlite3_column_int64(q, 8),
                     .op = store_column_text(q, 9),
                     .fingerprint = store_column_text(q, 10)};
  return v->visit(v->context, &line);
}

vyre_status store_visit(store *s, bool (*visit)(void *context, const store_line *line),
                        void *context, vyre_error *error) {
  visiting v = {s->machine, visit, context};
  return store_read_rows(&(store_query){s, STORE_SQL_VISIT, NULL, NULL, visit_row, &v}, error);
}

static bool read_counts(sqlite3_stmt *q, void *context) {
  uint64_t *numbers[] = {
      &((store_counts *)context)->regions,   &((store_counts *)context)->latencies,
      &((store_counts *)context)->tunings,   &((store_counts *)context)->speculations,
      &((store_counts *)context)->codes,     &((store_counts *)context)->decisions,
      &((store_counts *)context)->pass_rows, &((store_counts *)context)->foreign,
      &((store_counts *)context)->size_bytes};
  for (int i = 0; i < 9; i++) *numbers[i] = store_column_u64(q, i);
  return true;
}

vyre_status store_count(store *s, store_counts *out, vyre_error *error) {
  *out = (store_counts){0};
  return store_read_rows(&(store_query){s, STORE_SQL_COUNT, NULL, NULL, read_counts, out}, error);
}
