// SPDX-License-Identifier: MIT
//
// How the store reads: one statement, its key, and what is done with each row. Private to the
// store. The functions that return a status take the store's lock; the others are for rows.
#ifndef VYRE_PROFILE_STORE_QUERY_H
#define VYRE_PROFILE_STORE_QUERY_H

#include "profile/store_db.h"

typedef struct store_query {
  store *s;
  store_sql sql;
  void (*bind)(sqlite3_stmt *q, const void *key); // from the second parameter on; may be NULL
  const void *key;
  bool (*row)(sqlite3_stmt *q, void *context); // false: that was enough
  void *context;
} store_query;

// Whether memory ran out while rows were copied is known to the caller, not to SQLite.
vyre_status store_read_rows(const store_query *a, vyre_error *error);

// Rows as an array in an arena.
typedef struct store_collecting {
  arena *memory;
  size_t row_bytes;
  char *rows;
  uint32_t count, capacity;
  bool out_of_memory;
  bool (*fill)(sqlite3_stmt *q, arena *memory, void *row); // false: out of memory
} store_collecting;

vyre_status store_collect_rows(store *s, store_sql sql, void (*bind)(sqlite3_stmt *, const void *),
                               const void *key, store_collecting *c, void **rows, uint32_t *count,
                               vyre_error *error);

char *store_copy_column(arena *memory, sqlite3_stmt *q, int at);
void store_read_samples(sqlite3_stmt *q, store_samples *out); // from the first five columns
void store_bind_fingerprint(sqlite3_stmt *q, const void *key);
// A store_latency_row, from the columns of LOAD_LATENCIES.
bool store_fill_latency(sqlite3_stmt *q, arena *memory, void *row);

#endif
