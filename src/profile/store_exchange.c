// SPDX-License-Identifier: MIT
//
// Evidence that travels: export, import, and forgetting. Every row carries the id of the machine
// that measured it, so a file may be copied, shared or merged and nothing changes hands.
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/strbuf.h"
#include "profile/store_db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- export ------------------------------------------------------------------------------------

static int vacuum_into(store *s, const char *path) {
  sqlite3_stmt *q;
  int code = sqlite3_prepare_v2(s->db, "VACUUM INTO ?1", -1, &q, NULL);
  if (code != SQLITE_OK) return code;
  store_bind_text(q, 1, path);
  code = store_run(q);
  sqlite3_finalize(q);
  return code;
}

// Returns 0 or errno.
static int sync_and_rename(const char *from, const char *to) {
  int fd = open(from, O_RDONLY | O_CLOEXEC), reason = fd < 0 ? errno : 0;
  if (!reason && fsync(fd) < 0) reason = errno;
  if (fd >= 0) close(fd);
  if (!reason && rename(from, to) < 0) reason = errno;
  return reason;
}

vyre_status store_export(store *s, const char *path, vyre_error *error) {
  strbuf name = {0};
  strbuf_printf(&name, "%s.tmp", path);
  char *temporary = strbuf_take(&name, NULL);
  if (!temporary) return error_out_of_memory(error);
  vyre_status status = file_make_parents(path, error);
  if (status == VYRE_OK) {
    (void)unlink(temporary);
    store_lock(s);
    int code = s->db ? vacuum_into(s, temporary) : SQLITE_CORRUPT;
    store_unlock(s);
    int reason = code == SQLITE_OK ? sync_and_rename(temporary, path) : 0;
    if (code != SQLITE_OK)
      status = store_fail(s, code, "export", error);
    else if (reason)
      status = error_set(error, VYRE_ERROR_IO,
                         "cannot write `%s`: %s. Fix: choose a directory that can be written", path,
                         format_errno(reason));
    if (status != VYRE_OK) (void)unlink(temporary);
  }
  free(temporary);
  return status;
}

// ---- import ------------------------------------------------------------------------------------

// A table to be copied: how to read and write it, and what its columns are: t text, n number,
// f fingerprint, r recent samples, and the sequence at the end.
typedef struct transfer {
  store_sql read, write;
  const char *columns;
} transfer;

static const transfer transfers[] = {
    {STORE_SQL_READ_REGIONS, STORE_SQL_IMPORT_REGION, "ttftnnnnn"},
    {STORE_SQL_READ_LATENCIES, STORE_SQL_IMPORT_LATENCY, "tttfntttnnnrn"},
    {STORE_SQL_READ_CODES, STORE_SQL_IMPORT_CODE, "tftttnntn"},
    {STORE_SQL_READ_TUNINGS, STORE_SQL_IMPORT_TUNING, "tttnnnnnnrn"},
    {STORE_SQL_READ_SPECULATIONS, STORE_SQL_IMPORT_SPECULATION, "ttftnnnnn"},
};

static bool copy_columns(sqlite3_stmt *from, sqlite3_stmt *to, const char *columns) {
  for (int i = 0; columns[i]; i++) {
    uint8_t recent[8 * STORE_RECENT];
    store_samples samples;
    switch (columns[i]) {
    case 't': store_bind_text(to, i + 1, store_column_text(from, i)); break;
    case 'n': store_bind_u64(to, i + 1, store_column_u64(from, i)); break;
    case 'r':
      store_read_recent(from, i, &samples);
      store_bind_blob(to, i + 1, recent, store_write_recent(&samples, recent));
      break;
    case 'f':
      if (sqlite3_column_bytes(from, i) != STORE_FINGERPRINT) return false;
      store_bind_blob(to, i + 1, sqlite3_column_blob(from, i), STORE_FINGERPRINT);
      break;
    }
  }
  return *store_column_text(from, 0) != 0; // somebody must have measured it
}

// Foreign rows are older than all own ones, so that they go first when room is needed.
static int64_t age_of(const store *s, sqlite3_stmt *row, int64_t sequence) {
  return strcmp(store_column_text(row, 0), s->machine) ? sequence - ((int64_t)1 << 62) : sequence;
}

static int import_table(store *s, store *from, const transfer *t, int64_t *sequence,
                        uint64_t *taken) {
  int code, step;
  sqlite3_stmt *read = store_prepare(from, t->read, &code);
  if (!read) return code;
  sqlite3_stmt *write = store_prepare(s, t->write, &code);
  if (!write) return code;
  store_bind_u64(read, 1, s->options.max_keys);
  while ((step = sqlite3_step(read)) == SQLITE_ROW && code == SQLITE_OK) {
    if (!copy_columns(read, write, t->columns)) continue;
    sqlite3_bind_int64(write, (int)strlen(t->columns) + 1, age_of(s, read, ++*sequence));
    code = store_run(write);
    if (code == SQLITE_OK) *taken += (uint64_t)sqlite3_changes(s->db);
  }
  sqlite3_reset(read);
  return code != SQLITE_OK || step == SQLITE_ROW || step == SQLITE_DONE ? code : step;
}

static int import_all(store *s, store *from, uint64_t *taken) {
  int64_t sequence = 0;
  int code = store_begin(s);
  if (code != SQLITE_OK) return code;
  // There is no sequence before the first batch.
  (void)store_get_number(s, "SELECT value FROM meta WHERE key = 'sequence'", &sequence);
  for (size_t i = 0; code == SQLITE_OK && i < sizeof transfers / sizeof *transfers; i++)
    code = import_table(s, from, &transfers[i], &sequence, taken);
  sqlite3_stmt *q = code == SQLITE_OK ? store_prepare(s, STORE_SQL_SET_SEQUENCE, &code) : NULL;
  if (q) {
    sqlite3_bind_int64(q, 1, sequence);
    code = store_run(q);
  }
  if (code == SQLITE_OK) code = store_commit(s);
  if (code != SQLITE_OK) store_rollback(s);
  return code;
}

vyre_status store_import(store *s, const char *path, uint64_t *taken, vyre_error *error) {
  store *from = calloc(1, sizeof *from);
  bool ours = false;
  *taken = 0;
  if (from) from->path = strdup(path);
  if (!from || !from->path) {
    free(from);
    return error_out_of_memory(error);
  }
  pthread_mutex_init(&from->lock, NULL);
  vyre_status status = VYRE_OK;
  int code = store_connect_foreign(from);
  if (code == SQLITE_OK) code = store_check_identity(from, &ours);
  if (code != SQLITE_OK || !ours)
    status = error_set(error, VYRE_ERROR_IO,
                       "`%s` is no evidence that this version can read%s%s. Fix: name a file that "
                       "`vyre profile export` wrote",
                       path, code != SQLITE_OK ? ": " : "",
                       code != SQLITE_OK ? sqlite3_errstr(code) : "");
  if (status == VYRE_OK && s->read_only) status = store_fail(s, SQLITE_READONLY, "write to", error);
  if (status == VYRE_OK) {
    store_lock(s);
    code = s->db ? import_all(s, from, taken) : SQLITE_CORRUPT;
    if (code != SQLITE_OK) status = store_fail(s, code, "import into", error);
    store_unlock(s);
  }
  if (status != VYRE_OK) *taken = 0;
  store_close(from);
  return status;
}

vyre_status store_clear(store *s, vyre_error *error) {
  if (s->read_only) return store_fail(s, SQLITE_READONLY, "write to", error);
  store_lock(s);
  int code = SQLITE_CORRUPT;
  if (s->db) {
    code = store_begin(s);
    if (code == SQLITE_OK)
      code = store_exec(s, "DELETE FROM region; DELETE FROM latency; DELETE FROM tuning;"
                           "DELETE FROM speculation; DELETE FROM pass; DELETE FROM code;"
                           "DELETE FROM decision; DELETE FROM effort; DELETE FROM meta");
    if (code == SQLITE_OK) code = store_commit(s);
    if (code != SQLITE_OK)
      store_rollback(s);
    else
      (void)store_exec(s, "VACUUM");
  }
  vyre_status status = code == SQLITE_OK ? VYRE_OK : store_fail(s, code, "clear", error);
  store_unlock(s);
  return status;
}
