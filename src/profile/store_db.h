// SPDX-License-Identifier: MIT
//
// What the files of the evidence store share: the open database, its statements and its errors.
// Private to the store. The caller holds the store's lock.
#ifndef VYRE_PROFILE_STORE_DB_H
#define VYRE_PROFILE_STORE_DB_H

#include "base/size_limit.h"
#include "profile/store.h"

#include <pthread.h>
#include <sqlite3.h>

typedef enum store_sql {
#define SQL(name, text) STORE_SQL_##name,
#include "profile/store_sql.def"
  STORE_SQL_END
} store_sql;

struct store {
  pthread_mutex_t lock;
  size_limit held; // by whoever has the lock
  sqlite3 *db;
  sqlite3_stmt *statements[STORE_SQL_END]; // prepared on first use
  char *path;
  store_options options;
  const note_sink *notes;
  char machine[33]; // the id of this machine, in hexadecimal
  bool read_only;
  bool told_no_wal;
  uint64_t batches;
};

// For every use of the database: reading, too, may make its files grow.
void store_lock(store *s);
void store_unlock(store *s);

// An error that names the store, what was tried and what to do. `code` is SQLite's.
vyre_status store_fail(const store *s, int code, const char *what, vyre_error *error);
bool store_is_corrupt(int code);
// Whether there was no room for a file to grow. SQLite tells it as such, or as an I/O error with
// the system's reason. Of the store's last call.
bool store_is_full(const store *s, int code);

// The statement, ready to be bound; NULL when it cannot be prepared, with *code set.
sqlite3_stmt *store_prepare(store *s, store_sql sql, int *code);
// Runs a statement that gives no row, and makes it ready again. Returns SQLITE_OK or the fault.
int store_run(sqlite3_stmt *statement);
int store_exec(store *s, const char *sql);
// The one number that the statement gives.
int store_get_number(store *s, const char *sql, int64_t *out);

void store_bind_text(sqlite3_stmt *statement, int at, const char *text);
// Numbers above 2^63-1 are kept as that.
void store_bind_u64(sqlite3_stmt *statement, int at, uint64_t number);
void store_bind_blob(sqlite3_stmt *statement, int at, const void *data, size_t size);
uint64_t store_column_u64(sqlite3_stmt *statement, int at); // negative numbers are read as 0
// "" for NULL.
const char *store_column_text(sqlite3_stmt *statement, int at);

// Samples as they are kept: 8 bytes each, little-endian, oldest first.
void store_read_recent(sqlite3_stmt *statement, int at, store_samples *out);
size_t store_write_recent(const store_samples *samples, uint8_t out[8 * STORE_RECENT]);

// A connection that reads a file from elsewhere: no log, no lock, nothing in it runs.
int store_connect_foreign(store *s);
// Whether the database is an evidence store of this format.
int store_check_identity(store *s, bool *ours);

// Moves a file that is no database out of the way and begins a new one.
int store_recover(store *s, vyre_error *error);
int store_begin(store *s);
int store_commit(store *s);
void store_rollback(store *s);

#endif
