// SPDX-License-Identifier: MIT
#include "profile/store_fleet.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "profile/store_query.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

// The machine that figures of a fleet are of: no machine's id, which are hexadecimal.
#define FLEET_ORIGIN "fleet"

// ---- the name of a store ------------------------------------------------------------------------

static bool read_text(sqlite3_stmt *q, void *context) {
  snprintf(context, STORE_ID, "%s", store_column_text(q, 0));
  return true;
}

static int make_id(store *s) {
  uint8_t bytes[16];
  char text[STORE_ID];
  int code = SQLITE_CORRUPT;
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return SQLITE_IOERR;
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  sqlite3_stmt *q = s->db ? store_prepare(s, STORE_SQL_SET_STORE, &code) : NULL;
  if (!q) return code;
  store_bind_text(q, 1, text);
  return store_run(q);
}

// A store that was copied to another machine is another one there.
static void with_machine(const store *s, const char *made, char out[STORE_ID]) {
  uint8_t hash[HASH_BYTES];
  char hex[HASH_HEX];
  hasher h;
  hash_init_for(&h, "vyre 2026 id of a store in a fleet");
  hash_update(&h, made, strlen(made) + 1);
  hash_update(&h, s->machine, strlen(s->machine) + 1);
  hash_final(&h, hash);
  hash_hex(hash, hex);
  snprintf(out, STORE_ID, "%.32s", hex);
}

vyre_status store_id(store *s, char out[STORE_ID], vyre_error *error) {
  char made[STORE_ID] = "";
  store_query get = {.s = s, .sql = STORE_SQL_GET_STORE, .row = read_text, .context = made};
  vyre_status status = store_read_rows(&get, error);
  if (status == VYRE_OK && !made[0]) { // another process may be first: then its name counts
    store_lock(s);
    int code = make_id(s);
    if (code != SQLITE_OK) status = store_fail(s, code, "write to", error);
    store_unlock(s);
    if (status == VYRE_OK) status = store_read_rows(&get, error);
  }
  if (status == VYRE_OK) with_machine(s, made, out);
  return status;
}

// ---- what is new here ---------------------------------------------------------------------------

static void bind_sequence(sqlite3_stmt *q, const void *key) {
  store_bind_u64(q, 2, *(const uint64_t *)key);
}

static const uint8_t *copy_fingerprint(arena *memory, sqlite3_stmt *q, int at) {
  uint8_t *copy = arena_alloc(memory, STORE_FINGERPRINT);
  const void *from = sqlite3_column_blob(q, at);
  if (copy) memset(copy, 0, STORE_FINGERPRINT);
  if (copy && from && sqlite3_column_bytes(q, at) == STORE_FINGERPRINT)
    memcpy(copy, from, STORE_FINGERPRINT);
  return copy;
}

static uint64_t median_of(store_samples *s) {
  for (uint32_t i = 1; i < s->recent_count; i++) // few
    for (uint32_t n = i; n && s->recent_ns[n] < s->recent_ns[n - 1]; n--) {
      uint64_t kept = s->recent_ns[n];
      s->recent_ns[n] = s->recent_ns[n - 1];
      s->recent_ns[n - 1] = kept;
    }
  return s->recent_count ? s->recent_ns[s->recent_count / 2] : s->min_ns;
}

static bool fill_change(sqlite3_stmt *q, arena *memory, void *row) {
  fleet_latency *l = row;
  store_samples samples;
  store_read_samples(q, &samples);
  *l = (fleet_latency){.device = store_copy_column(memory, q, 5),
                       .size_class = (uint32_t)store_column_u64(q, 6),
                       .work = store_copy_column(memory, q, 7),
                       .variant = store_copy_column(memory, q, 8),
                       .build = store_copy_column(memory, q, 9),
                       .op = store_copy_column(memory, q, 10),
                       .fingerprint = copy_fingerprint(memory, q, 11),
                       .count = samples.count,
                       .min_ns = samples.min_ns ? samples.min_ns : 1,
                       .median_ns = median_of(&samples),
                       .sequence = store_column_u64(q, 12)};
  if (l->median_ns < l->min_ns) l->median_ns = l->min_ns;
  return l->device && l->work && l->variant && l->build && l->op && l->fingerprint;
}

static bool fill_wrong(sqlite3_stmt *q, arena *memory, void *row) {
  fleet_wrong *w = row;
  *w = (fleet_wrong){.hash = copy_fingerprint(memory, q, 0),
                     .op = store_copy_column(memory, q, 1),
                     .variant = store_copy_column(memory, q, 2),
                     .device = store_copy_column(memory, q, 3),
                     .detail = store_copy_column(memory, q, 4),
                     .sequence = store_column_u64(q, 5)};
  return w->hash && w->op && w->variant && w->device && w->detail;
}

vyre_status store_load_changes(store *s, uint64_t after, arena *memory, store_changes *out,
                               vyre_error *error) {
  store_collecting latencies = {
      .memory = memory, .row_bytes = sizeof(fleet_latency), .fill = fill_change};
  store_collecting wrongs = {
      .memory = memory, .row_bytes = sizeof(fleet_wrong), .fill = fill_wrong};
  void *rows = NULL;
  *out = (store_changes){.sequence = after};
  vyre_status status = store_collect_rows(s, STORE_SQL_CHANGED_LATENCIES, bind_sequence, &after,
                                          &latencies, &rows, &out->latency_count, error);
  out->latencies = rows;
  if (status == VYRE_OK)
    status = store_collect_rows(s, STORE_SQL_CHANGED_WRONG, bind_sequence, &after, &wrongs, &rows,
                                &out->wrong_count, error);
  if (status != VYRE_OK) return status;
  out->wrongs = rows;
  // Both are in the order of their numbers.
  if (out->latency_count) out->sequence = out->latencies[out->latency_count - 1].sequence;
  if (out->wrong_count && out->wrongs[out->wrong_count - 1].sequence > out->sequence)
    out->sequence = out->wrongs[out->wrong_count - 1].sequence;
  return VYRE_OK;
}

// ---- what came from elsewhere -------------------------------------------------------------------

// Older than all own rows, so that they go first when room is needed; the latest among them last.
static int64_t foreign_age(int64_t sequence) {
  return sequence - ((int64_t)1 << 62);
}

static int put_latency(store *s, const fleet_latency *l, int64_t age) {
  int code;
  store_samples samples = {.recent_ns = {l->median_ns}, .recent_count = 1};
  uint8_t recent[8 * STORE_RECENT];
  sqlite3_stmt *q = store_prepare(s, STORE_SQL_PUT_LATENCY, &code);
  if (!q) return code;
  const char *texts[] = {FLEET_ORIGIN, l->device, l->op};
  for (int i = 0; i < 3; i++) store_bind_text(q, 1 + i, texts[i]);
  store_bind_blob(q, 4, l->fingerprint, STORE_FINGERPRINT);
  store_bind_u64(q, 5, l->size_class);
  store_bind_text(q, 6, l->work);
  store_bind_text(q, 7, l->variant);
  store_bind_text(q, 8, l->build);
  store_bind_u64(q, 9, l->count);
  store_bind_u64(q, 10,
                 l->median_ns > UINT64_MAX / (l->count + 1) ? UINT64_MAX : l->median_ns * l->count);
  store_bind_u64(q, 11, l->min_ns);
  store_bind_blob(q, 12, recent, store_write_recent(&samples, recent));
  sqlite3_bind_int64(q, 13, clock_unix_seconds());
  sqlite3_bind_int64(q, 14, age);
  return store_run(q);
}

static int put_wrong(store *s, const fleet_wrong *w, int64_t age) {
  int code;
  sqlite3_stmt *q = store_prepare(s, STORE_SQL_IMPORT_CODE, &code);
  if (!q) return code;
  store_bind_text(q, 1, FLEET_ORIGIN);
  store_bind_blob(q, 2, w->hash, STORE_FINGERPRINT);
  store_bind_text(q, 3, w->op);
  store_bind_text(q, 4, w->variant);
  store_bind_text(q, 5, w->device);
  store_bind_u64(q, 6, 0);
  store_bind_u64(q, 7, 1);
  store_bind_text(q, 8, w->detail);
  sqlite3_bind_int64(q, 9, clock_unix_seconds());
  sqlite3_bind_int64(q, 10, age);
  return store_run(q);
}

static int put_until(store *s, const store_pulled *pulled) {
  int code;
  sqlite3_stmt *q = store_prepare(s, STORE_SQL_SET_PULLED, &code);
  if (!q) return code;
  store_bind_text(q, 1, pulled->server);
  sqlite3_bind_int64(q, 2, pulled->until_us);
  return store_run(q);
}

static int keep_all(store *s, const store_pulled *pulled) {
  int64_t sequence = 0;
  int code = store_begin(s);
  if (code != SQLITE_OK) return code;
  // There is no sequence before the first batch.
  (void)store_get_number(s, "SELECT value FROM meta WHERE key = 'sequence'", &sequence);
  for (uint32_t i = 0; code == SQLITE_OK && i < pulled->latency_count; i++)
    code = put_latency(s, &pulled->latencies[i], foreign_age(++sequence));
  for (uint32_t i = 0; code == SQLITE_OK && i < pulled->wrong_count; i++)
    code = put_wrong(s, &pulled->wrongs[i], foreign_age(++sequence));
  if (code == SQLITE_OK && pulled->server) code = put_until(s, pulled);
  if (code == SQLITE_OK) code = store_commit(s);
  if (code != SQLITE_OK) store_rollback(s);
  return code;
}

vyre_status store_keep_pulled(store *s, const store_pulled *pulled, vyre_error *error) {
  if (s->read_only) return store_fail(s, SQLITE_READONLY, "write to", error);
  store_lock(s);
  int code = s->db ? keep_all(s, pulled) : SQLITE_CORRUPT;
  vyre_status status = code == SQLITE_OK ? VYRE_OK : store_fail(s, code, "write to", error);
  store_unlock(s);
  return status;
}

static void bind_server(sqlite3_stmt *q, const void *key) {
  store_bind_text(q, 1, key);
}

static bool read_until(sqlite3_stmt *q, void *context) {
  *(int64_t *)context = sqlite3_column_int64(q, 0);
  return true;
}

vyre_status store_pulled_until(store *s, const char *server, int64_t *until_us, vyre_error *error) {
  *until_us = 0;
  return store_read_rows(
      &(store_query){s, STORE_SQL_GET_PULLED, bind_server, server, read_until, until_us}, error);
}

static void bind_program(sqlite3_stmt *q, const void *key) {
  store_bind_text(q, 1, FLEET_ORIGIN); // in place of this machine
  store_bind_fingerprint(q, key);
}

vyre_status store_load_fleet(store *s, const uint8_t *fingerprint, arena *memory,
                             store_latency_row **rows, uint32_t *count, vyre_error *error) {
  store_collecting c = {.memory = memory, .row_bytes = sizeof **rows, .fill = store_fill_latency};
  void *found;
  vyre_status status = store_collect_rows(s, STORE_SQL_LOAD_FLEET, bind_program, fingerprint, &c,
                                          &found, count, error);
  *rows = found;
  return status;
}
