// SPDX-License-Identifier: MIT
#include "profile/store_db.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

static const char *const sql_texts[STORE_SQL_END] = {
#define SQL(name, text) text,
#include "profile/store_sql.def"
};

// ---- errors ------------------------------------------------------------------------------------

void store_lock(store *s) {
  pthread_mutex_lock(&s->lock);
  s->held = size_limit_hold();
}

void store_unlock(store *s) {
  size_limit held = s->held;
  pthread_mutex_unlock(&s->lock);
  size_limit_release(&held);
}

bool store_is_corrupt(int code) {
  return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

// The largest step by which SQLite's files grow is 32 KiB.
static bool has_room(const store *s) {
  enum { ENOUGH = 64 * 1024 };
  struct statvfs disk;
  return statvfs(s->path, &disk) || (uint64_t)disk.f_bavail * disk.f_frsize >= ENOUGH;
}

bool store_is_full(const store *s, int code) {
  if ((code & 0xff) == SQLITE_FULL) return true;
  if ((code & 0xff) != SQLITE_IOERR) return false;
  // The system's reason is lost when undoing the write met another.
  int reason = s->db ? sqlite3_system_errno(s->db) : 0;
  return reason == ENOSPC || reason == EDQUOT || !has_room(s);
}

// Files of the process may not grow so far; that is not lost as the disk's reason may be.
static bool is_limited(int code) {
  struct rlimit limit;
  return (code & 0xff) == SQLITE_IOERR && !getrlimit(RLIMIT_FSIZE, &limit) &&
         limit.rlim_cur != RLIM_INFINITY;
}

vyre_status store_fail(const store *s, int code, const char *what, vyre_error *error) {
  int kind = code & 0xff;
  if (kind == SQLITE_NOMEM) return error_out_of_memory(error);
  const char *fix = "check the file and the disk; without it nothing is remembered";
  const char *reason = sqlite3_errstr(code);
  if (store_is_full(s, code)) {
    fix = "free some disk space";
    reason = "the disk is full";
  } else if (is_limited(code)) {
    fix = "raise the limit on the size of files (ulimit -f), or check the disk";
    reason = "a file may not grow so large, or the disk failed";
  }
  if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED) fix = "let the other process finish";
  if (kind == SQLITE_READONLY || kind == SQLITE_CANTOPEN || kind == SQLITE_PERM)
    fix = "use a directory that can be written, or set VYRE_HOME to one";
  if (store_is_corrupt(code)) fix = "delete the file; it is made anew";
  return error_set(error, VYRE_ERROR_IO, "cannot %s the evidence store `%s`: %s. Fix: %s", what,
                   s->path, reason, fix);
}

// ---- statements --------------------------------------------------------------------------------

sqlite3_stmt *store_prepare(store *s, store_sql sql, int *code) {
  *code = SQLITE_OK;
  if (!s->statements[sql])
    *code = sqlite3_prepare_v3(s->db, sql_texts[sql], -1, SQLITE_PREPARE_PERSISTENT,
                               &s->statements[sql], NULL);
  return s->statements[sql];
}

int store_run(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
}

int store_exec(store *s, const char *sql) {
  return sqlite3_exec(s->db, sql, NULL, NULL, NULL);
}

int store_get_number(store *s, const char *sql, int64_t *out) {
  sqlite3_stmt *statement;
  int code = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) *out = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return code == SQLITE_ROW ? SQLITE_OK : code == SQLITE_DONE ? SQLITE_ERROR : code;
}

int store_begin(store *s) {
  return store_exec(s, "BEGIN IMMEDIATE");
}

int store_commit(store *s) {
  return store_exec(s, "COMMIT");
}

void store_rollback(store *s) {
  if (s->db && !sqlite3_get_autocommit(s->db)) store_exec(s, "ROLLBACK");
}

// ---- values ------------------------------------------------------------------------------------

void store_bind_text(sqlite3_stmt *statement, int at, const char *text) {
  sqlite3_bind_text(statement, at, text ? text : "", -1, SQLITE_TRANSIENT);
}

void store_bind_u64(sqlite3_stmt *statement, int at, uint64_t number) {
  sqlite3_bind_int64(statement, at, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

void store_bind_blob(sqlite3_stmt *statement, int at, const void *data, size_t size) {
  sqlite3_bind_blob64(statement, at, data, size, SQLITE_TRANSIENT);
}

uint64_t store_column_u64(sqlite3_stmt *statement, int at) {
  int64_t number = sqlite3_column_int64(statement, at);
  return number < 0 ? 0 : (uint64_t)number;
}

const char *store_column_text(sqlite3_stmt *statement, int at) {
  const unsigned char *text = sqlite3_column_text(statement, at);
  return text ? (const char *)text : "";
}

void store_read_recent(sqlite3_stmt *statement, int at, store_samples *out) {
  const uint8_t *bytes = sqlite3_column_blob(statement, at);
  size_t count = (size_t)sqlite3_column_bytes(statement, at) / 8;
  out->recent_count = 0;
  for (size_t i = 0; bytes && i < count && i < STORE_RECENT; i++) {
    uint64_t x = 0;
    for (int k = 7; k >= 0; k--) x = x << 8 | bytes[8 * i + (size_t)k];
    out->recent_ns[out->recent_count++] = x;
  }
}

size_t store_write_recent(const store_samples *samples, uint8_t out[8 * STORE_RECENT]) {
  for (uint32_t i = 0; i < samples->recent_count; i++)
    for (unsigned k = 0; k < 8; k++) out[8 * i + k] = (uint8_t)(samples->recent_ns[i] >> (8 * k));
  return 8 * (size_t)samples->recent_count;
}
