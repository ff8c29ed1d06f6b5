// SPDX-License-Identifier: MIT
//
// Appending to the store: one batch, one transaction.
#include "base/clock.h"
#include "base/error.h"
#include "profile/store_db.h"

#include <string.h>

typedef struct writing {
  store *s;
  int code; // the first fault; nothing more is done after it
  int64_t date;
  int64_t sequence;
} writing;

static bool next(writing *w, store_sql sql, sqlite3_stmt **statement) {
  if (w->code == SQLITE_OK) *statement = store_prepare(w->s, sql, &w->code);
  return w->code == SQLITE_OK;
}

static void run(writing *w, sqlite3_stmt *statement) {
  w->code = store_run(statement);
}

// The last two columns of every row.
static void bind_age(writing *w, sqlite3_stmt *statement, int at) {
  sqlite3_bind_int64(statement, at, w->date);
  sqlite3_bind_int64(statement, at + 1, ++w->sequence);
}

static void add_region(writing *w, const store_region *r) {
  sqlite3_stmt *q;
  if (!next(w, STORE_SQL_ADD_REGION, &q)) return;
  store_bind_text(q, 1, w->s->machine);
  store_bind_text(q, 2, r->device);
  store_bind_blob(q, 3, r->fingerprint, STORE_FINGERPRINT);
  store_bind_text(q, 4, r->region);
  store_bind_u64(q, 5, r->added.dispatch_count);
  store_bind_u64(q, 6, r->added.kernel_ns_total);
  store_bind_u64(q, 7, r->added.kernel_ns_max);
  store_bind_u64(q, 8, r->added.bytes_total);
  bind_age(w, q, 9);
  run(w, q);
}

// Those dispatches only of which the operations are known, so that the sums fit each other.
static void add_effort(writing *w, const store_region *r) {
  sqlite3_stmt *q;
  if (!r->operations || !next(w, STORE_SQL_ADD_EFFORT, &q)) return;
  store_bind_text(q, 1, w->s->machine);
  store_bind_text(q, 2, r->device);
  store_bind_blob(q, 3, r->fingerprint, STORE_FINGERPRINT);
  store_bind_text(q, 4, r->region);
  store_bind_u64(q, 5, r->operations);
  store_bind_u64(q, 6, r->added.kernel_ns_total);
  store_bind_u64(q, 7, r->added.bytes_total);
  bind_age(w, q, 8);
  run(w, q);
}

// ---- samples -----------------------------------------------------------------------------------

typedef struct sums {
  store_samples samples;
  uint64_t total_ns;
} sums;

static void get_sums(writing *w, sqlite3_stmt *get, sums *out) {
  memset(out, 0, sizeof *out);
  out->samples.min_ns = INT64_MAX;
  int code = sqlite3_step(get);
  if (code == SQLITE_ROW) {
    out->samples.count = store_column_u64(get, 0);
    out->total_ns = store_column_u64(get, 1);
    out->samples.min_ns = store_column_u64(get, 2);
    store_read_recent(get, 3, &out->samples);
  } else if (code != SQLITE_DONE) {
    w->code = code;
  }
  sqlite3_reset(get);
}

static void add_sample(sums *to, uint64_t ns) {
  store_samples *s = &to->samples;
  s->count++;
  to->total_ns = to->total_ns > INT64_MAX - (ns & INT64_MAX) ? INT64_MAX : to->total_ns + ns;
  if (ns < s->min_ns) s->min_ns = ns;
  if (s->recent_count == STORE_RECENT) {
    memmove(s->recent_ns, s->recent_ns + 1, (STORE_RECENT - 1) * sizeof *s->recent_ns);
    s->recent_count--;
  }
  s->recent_ns[s->recent_count++] = ns;
}

// How a table of samples is written: its sums are read with `get` and written with `put`; `bind`
// binds the key to both and returns the number of its last parameter.
typedef struct samples_table {
  store_sql get, put;
  int (*bind)(sqlite3_stmt *statement, const void *key);
} samples_table;

static void add_samples(writing *w, const samples_table *t, const void *key, const uint64_t *ns,
                        uint32_t count) {
  sqlite3_stmt *g, *p;
  sums all;
  uint8_t recent[8 * STORE_RECENT];
  if (!count || !next(w, t->get, &g)) return;
  store_bind_text(g, 1, w->s->machine);
  t->bind(g, key);
  get_sums(w, g, &all);
  if (!next(w, t->put, &p)) return;
  for (uint32_t i = 0; i < count; i++) add_sample(&all, ns[i] > INT64_MAX ? INT64_MAX : ns[i]);
  store_bind_text(p, 1, w->s->machine);
  int at = t->bind(p, key);
  store_bind_u64(p, at + 1, all.samples.count);
  store_bind_u64(p, at + 2, all.total_ns);
  store_bind_u64(p, at + 3, all.samples.min_ns);
  store_bind_blob(p, at + 4, recent, store_write_recent(&all.samples, recent));
  bind_age(w, p, at + 5);
  run(w, p);
}

static int bind_latency(sqlite3_stmt *q, const void *key) {
  const store_latency *l = key;
  store_bind_text(q, 2, l->device);
  store_bind_text(q, 3, l->op);
  store_bind_blob(q, 4, l->fingerprint, STORE_FINGERPRINT);
  store_bind_u64(q, 5, l->size_class);
  store_bind_text(q, 6, l->work);
  store_bind_text(q, 7, l->variant);
  store_bind_text(q, 8, l->build);
  return 8;
}

static int bind_tuning(sqlite3_stmt *q, const void *key) {
  const store_tuning *t = key;
  store_bind_text(q, 2, t->device);
  store_bind_text(q, 3, t->key);
  for (int i = 0; i < 3; i++) store_bind_u64(q, 4 + i, t->shape[i]);
  return 6;
}

static const samples_table latency_table = {STORE_SQL_GET_LATENCY, STORE_SQL_PUT_LATENCY,
                                            bind_latency};
static const samples_table tuning_table = {STORE_SQL_GET_TUNING, STORE_SQL_PUT_TUNING, bind_tuning};

static void put_key_op(writing *w, const store_tuning *t) {
  sqlite3_stmt *q;
  if (!t->op || !next(w, STORE_SQL_PUT_KEY_OP, &q)) return;
  store_bind_text(q, 1, t->key);
  store_bind_text(q, 2, t->op);
  run(w, q);
}

// ---- codes and decisions -----------------------------------------------------------------------

static void add_code(writing *w, const store_code *c) {
  sqlite3_stmt *q;
  if (!next(w, STORE_SQL_ADD_CODE, &q)) return;
  store_bind_text(q, 1, w->s->machine);
  store_bind_blob(q, 2, c->hash, STORE_FINGERPRINT);
  store_bind_text(q, 3, c->op);
  store_bind_text(q, 4, c->variant);
  store_bind_text(q, 5, c->device);
  store_bind_u64(q, 6, c->checks);
  store_bind_u64(q, 7, c->is_wrong);
  store_bind_text(q, 8, c->detail);
  bind_age(w, q, 9);
  run(w, q);
}

static void bind_decision(writing *w, sqlite3_stmt *q, const store_decision *d) {
  store_bind_text(q, 1, w->s->machine);
  store_bind_blob(q, 2, d->fingerprint, STORE_FINGERPRINT);
  store_bind_u64(q, 3, d->size_class);
  store_bind_text(q, 4, d->work);
}

static void add_decision(writing *w, const store_decision *d) {
  sqlite3_stmt *q;
  if (!next(w, STORE_SQL_ADD_DECISION, &q)) return;
  bind_decision(w, q, d);
  const char *texts[] = {d->op, d->device, d->variant, d->build, d->reason};
  for (int i = 0; i < 5; i++) store_bind_text(q, 5 + i, texts[i]);
  store_bind_u64(q, 10, d->samples);
  store_bind_u64(q, 11, d->mean_ns);
  store_bind_u64(q, 12, d->spread_ns);
  store_bind_text(q, 13, d->others);
  bind_age(w, q, 14);
  run(w, q);
  if (!next(w, STORE_SQL_TRIM_DECISIONS, &q)) return;
  bind_decision(w, q, d);
  run(w, q);
}

// ---- the rest ----------------------------------------------------------------------------------

static void add_speculation(writing *w, const store_speculation *e) {
  sqlite3_stmt *q;
  if (!next(w, STORE_SQL_ADD_SPECULATION, &q)) return;
  store_bind_text(q, 1, w->s->machine);
  store_bind_text(q, 2, e->device);
  store_bind_blob(q, 3, e->fingerprint, STORE_FINGERPRINT);
  store_bind_text(q, 4, e->kind);
  store_bind_u64(q, 5, e->used);
  store_bind_u64(q, 6, e->unused);
  store_bind_u64(q, 7, e->compile_ns);
  store_bind_u64(q, 8, e->saved_ns);
  bind_age(w, q, 9);
  run(w, q);
}

static void put_pass(writing *w, const uint8_t *fingerprint, uint64_t number,
                     const pass_metric *m) {
  sqlite3_stmt *q;
  if (!next(w, STORE_SQL_PUT_PASS, &q)) return;
  pass_counts counts[2] = {m->before, m->after};
  store_bind_text(q, 1, w->s->machine);
  store_bind_blob(q, 2, fingerprint, STORE_FINGERPRINT);
  store_bind_u64(q, 3, number);
  store_bind_text(q, 4, m->pass);
  // NULL is the whole program, and no reason.
  if (m->region)
    store_bind_text(q, 5, m->region);
  else
    sqlite3_bind_null(q, 5);
  store_bind_u64(q, 6, m->iteration);
  store_bind_u64(q, 7, m->ran);
  store_bind_u64(q, 8, m->changed);
  store_bind_u64(q, 9, m->outcome);
  if (m->reason)
    store_bind_text(q, 10, m->reason);
  else
    sqlite3_bind_null(q, 10);
  store_bind_u64(q, 11, m->runtime_ns);
  store_bind_blob(q, 12, counts, sizeof counts);
  bind_age(w, q, 13);
  run(w, q);
}

static void put_passes(writing *w, const store_passes *e) {
  sqlite3_stmt *q;
  if (!next(w, STORE_SQL_DROP_PASSES, &q)) return;
  store_bind_text(q, 1, w->s->machine);
  store_bind_blob(q, 2, e->fingerprint, STORE_FINGERPRINT);
  run(w, q);
  for (size_t i = 0; i < e->report->rows.count; i++)
    put_pass(w, e->fingerprint, i, &e->report->rows.at[i]);
}

static void prune(writing *w, store_sql sql, uint32_t max_keys) {
  sqlite3_stmt *q;
  if (!next(w, sql, &q)) return;
  store_bind_u64(q, 1, max_keys);
  run(w, q);
}

// A program's pass rows count as one key, about as long as the pass table.
static void prune_all(writing *w, uint32_t max_keys) {
  enum { ROWS_PER_PROGRAM = 4 };
  prune(w, STORE_SQL_PRUNE_REGION, max_keys);
  prune(w, STORE_SQL_PRUNE_EFFORT, max_keys);
  prune(w, STORE_SQL_PRUNE_LATENCY, max_keys);
  prune(w, STORE_SQL_PRUNE_CODE, max_keys);
  prune(w, STORE_SQL_PRUNE_DECISION, max_keys);
  prune(w, STORE_SQL_PRUNE_TUNING, max_keys);
  prune(w, STORE_SQL_PRUNE_SPECULATION, max_keys);
  prune(w, STORE_SQL_PRUNE_PASS, max_keys * ROWS_PER_PROGRAM);
  sqlite3_stmt *q;
  if (next(w, STORE_SQL_PRUNE_KEY_OP, &q)) run(w, q);
}

static void set_sequence(writing *w) {
  sqlite3_stmt *q;
  if (!next(w, STORE_SQL_SET_SEQUENCE, &q)) return;
  sqlite3_bind_int64(q, 1, w->sequence);
  run(w, q);
}

static void get_sequence(writing *w) {
  sqlite3_stmt *q;
  if (!next(w, STORE_SQL_GET_SEQUENCE, &q)) return;
  int code = sqlite3_step(q);
  if (code == SQLITE_ROW)
    w->sequence = sqlite3_column_int64(q, 0);
  else if (code != SQLITE_DONE)
    w->code = code;
  sqlite3_reset(q);
}

static void add_all(writing *w, const store_batch *b) {
  for (uint32_t i = 0; i < b->region_count; i++) add_region(w, &b->regions[i]);
  for (uint32_t i = 0; i < b->region_count; i++) add_effort(w, &b->regions[i]);
  for (uint32_t i = 0; i < b->latency_count; i++)
    add_samples(w, &latency_table, &b->latencies[i], b->latencies[i].ns, b->latencies[i].count);
  for (uint32_t i = 0; i < b->code_count; i++) add_code(w, &b->codes[i]);
  for (uint32_t i = 0; i < b->decision_count; i++) add_decision(w, &b->decisions[i]);
  for (uint32_t i = 0; i < b->tuning_count; i++) {
    add_samples(w, &tuning_table, &b->tunings[i], b->tunings[i].ns, b->tunings[i].count);
    put_key_op(w, &b->tunings[i]);
  }
  for (uint32_t i = 0; i < b->speculation_count; i++) add_speculation(w, &b->speculations[i]);
  for (uint32_t i = 0; i < b->passes_count; i++) put_passes(w, &b->passes[i]);
}

// `max_keys` 0: no pruning this time.
static int append_once(store *s, const store_batch *batch, uint32_t max_keys) {
  writing w = {.s = s, .date = clock_unix_seconds(), .code = store_begin(s)};
  get_sequence(&w);
  if (w.code == SQLITE_OK && max_keys) prune_all(&w, max_keys);
  if (w.code == SQLITE_OK) add_all(&w, batch);
  set_sequence(&w);
  if (w.code == SQLITE_OK) w.code = store_commit(s);
  if (w.code != SQLITE_OK) store_rollback(s);
  return w.code;
}

// SQLITE_FULL is either a full disk, which forgetting does not help, or the file's own limit.
static bool is_at_limit(store *s) {
  int64_t pages = 0, most = 0;
  return store_get_number(s, "PRAGMA page_count", &pages) == SQLITE_OK &&
         store_get_number(s, "PRAGMA max_page_count", &most) == SQLITE_OK &&
         pages >= most - most / 10;
}

// The file has reached its limit: the oldest keys make room.
static int append_pruned(store *s, const store_batch *batch) {
  int code = SQLITE_FULL;
  for (uint32_t keys = s->options.max_keys / 2; keys > 0 && code == SQLITE_FULL; keys /= 4)
    code = append_once(s, batch, keys);
  return code;
}

vyre_status store_append(store *s, const store_batch *batch, vyre_error *error) {
  enum { PRUNE_EVERY = 32 };
  if (s->read_only) return store_fail(s, SQLITE_READONLY, "write to", error);
  store_lock(s);
  uint32_t max_keys = s->batches++ % PRUNE_EVERY ? 0 : s->options.max_keys;
  int code = s->db ? append_once(s, batch, max_keys) : SQLITE_CORRUPT;
  if (store_is_corrupt(code)) {
    code = store_recover(s, error);
    if (code == SQLITE_OK) code = append_once(s, batch, 0);
  }
  if (code == SQLITE_FULL && is_at_limit(s)) code = append_pruned(s, batch);
  vyre_status status = code == SQLITE_OK ? VYRE_OK : store_fail(s, code, "write to", error);
  store_unlock(s);
  return status;
}
