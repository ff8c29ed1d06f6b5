// SPDX-License-Identifier: MIT
#include "profile/store_query.h"

#include "base/error.h"

#include <string.h>

// Visits each row of a bound statement and makes it ready again. `row` returns false to stop.
static int each_row(sqlite3_stmt *q, bool (*row)(sqlite3_stmt *q, void *context), void *context) {
  int code;
  while ((code = sqlite3_step(q)) == SQLITE_ROW)
    if (!row(q, context)) break;
  sqlite3_reset(q);
  return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int run_query(const store_query *a) {
  int code = SQLITE_CORRUPT;
  sqlite3_stmt *q = a->s->db ? store_prepare(a->s, a->sql, &code) : NULL;
  if (!q) return code;
  // This machine's id is the first parameter of every statement that has one.
  if (sqlite3_bind_parameter_count(q)) store_bind_text(q, 1, a->s->machine);
  if (a->bind) a->bind(q, a->key);
  return each_row(q, a->row, a->context);
}

vyre_status store_read_rows(const store_query *a, vyre_error *error) {
  store_lock(a->s);
  int code = run_query(a);
  // The faulty file is set aside; an empty one has no rows.
  if (store_is_corrupt(code) && !a->s->read_only) code = store_recover(a->s, error);
  vyre_status status = code == SQLITE_OK ? VYRE_OK : store_fail(a->s, code, "read", error);
  store_unlock(a->s);
  return status;
}

char *store_copy_column(arena *memory, sqlite3_stmt *q, int at) {
  const char *text = store_column_text(q, at);
  return arena_copy_string(memory, text, strlen(text));
}

void store_read_samples(sqlite3_stmt *q, store_samples *out) {
  out->count = store_column_u64(q, 0);
  out->min_ns = store_column_u64(q, 2);
  store_read_recent(q, 3, out);
  out->date = sqlite3_column_int64(q, 4);
}

static bool collect(sqlite3_stmt *q, void *context) {
  store_collecting *c = context;
  if (c->count == c->capacity) {
    uint32_t grown = c->capacity ? c->capacity * 2 : 8;
    char *rows = arena_alloc_array(c->memory, grown, c->row_bytes);
    c->out_of_memory = !rows;
    if (!rows) return false;
    if (c->count) memcpy(rows, c->rows, c->count * c->row_bytes);
    c->rows = rows;
    c->capacity = grown;
  }
  c->out_of_memory = !c->fill(q, c->memory, c->rows + c->count * c->row_bytes);
  if (!c->out_of_memory) c->count++;
  return !c->out_of_memory;
}

vyre_status store_collect_rows(store *s, store_sql sql, void (*bind)(sqlite3_stmt *, const void *),
                               const void *key, store_collecting *c, void **rows, uint32_t *count,
                               vyre_error *error) {
  vyre_status status = store_read_rows(&(store_query){s, sql, bind, key, collect, c}, error);
  if (status == VYRE_OK && c->out_of_memory) status = error_out_of_memory(error);
  *rows = c->rows;
  *count = status == VYRE_OK ? c->count : 0;
  return status;
}

void store_bind_fingerprint(sqlite3_stmt *q, const void *key) {
  store_bind_blob(q, 2, key, STORE_FINGERPRINT);
}

bool store_fill_latency(sqlite3_stmt *q, arena *memory, void *row) {
  store_latency_row *r = row;
  store_read_samples(q, &r->samples);
  r->size_class = (uint32_t)store_column_u64(q, 6);
  return (r->device = store_copy_column(memory, q, 5)) &&
         (r->work = store_copy_column(memory, q, 7)) &&
         (r->variant = store_copy_column(memory, q, 8)) &&
         (r->build = store_copy_column(memory, q, 9));
}
