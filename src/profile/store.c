// SPDX-License-Identifier: MIT
//
// Opening the store, and what to do when that is hard: no write-ahead logging, only reading, a file
// that is no database.
#include "profile/store.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/lockfile.h"
#include "base/paths.h"
#include "base/size_limit.h"
#include "base/strbuf.h"
#include "profile/store_db.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { APPLICATION = 0x76797265, FORMAT = 2, PAGE_BYTES = 4096 };

// Keys are in one order everywhere: origin, device, then what it is about. `sequence` says in which
// order rows were last added to; time does not, because clocks jump.
static const char schema[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE tuning (origin TEXT, device TEXT, key TEXT, x INTEGER, y INTEGER, z INTEGER,"
    " count INTEGER, total_ns INTEGER, min_ns INTEGER, recent BLOB, date INTEGER, sequence INTEGER,"
    " PRIMARY KEY (origin, device, key, x, y, z)) WITHOUT ROWID;"
    "CREATE TABLE speculation (origin TEXT, device TEXT, fingerprint BLOB, kind TEXT,"
    " used INTEGER, unused INTEGER, compile_ns INTEGER, saved_ns INTEGER, date INTEGER,"
    " sequence INTEGER, PRIMARY KEY (origin, device, fingerprint, kind)) WITHOUT ROWID;"
    "CREATE TABLE pass (origin TEXT, fingerprint BLOB, number INTEGER, pass TEXT, region TEXT,"
    " iteration INTEGER, ran INTEGER, changed INTEGER, outcome INTEGER, reason TEXT,"
    " runtime_ns INTEGER, counts BLOB, date INTEGER, sequence INTEGER,"
    " PRIMARY KEY (origin, fingerprint, number)) WITHOUT ROWID;"
    "CREATE INDEX tuning_age ON tuning (sequence);"
    "CREATE INDEX speculation_age ON speculation (sequence);"
    "CREATE INDEX pass_age ON pass (sequence);";

// What format 2 has and format 1 had not, or had under keys that told too little apart.
static const char schema_2[] =
    "CREATE TABLE region (origin TEXT, device TEXT, fingerprint BLOB, region TEXT, count INTEGER,"
    " total_ns INTEGER, max_ns INTEGER, bytes INTEGER, date INTEGER, sequence INTEGER,"
    " PRIMARY KEY (origin, device, fingerprint, region)) WITHOUT ROWID;"
    "CREATE TABLE latency (origin TEXT, device TEXT, op TEXT, fingerprint BLOB, size_class INTEGER,"
    " work TEXT, variant TEXT, build TEXT, count INTEGER, total_ns INTEGER, min_ns INTEGER,"
    " recent BLOB, date INTEGER, sequence INTEGER,"
    " PRIMARY KEY (origin, device, op, fingerprint, size_class, work, variant, build))"
    " WITHOUT ROWID;"
    "CREATE TABLE code (origin TEXT, hash BLOB, op TEXT, variant TEXT, device TEXT, checks INTEGER,"
    " is_wrong INTEGER, detail TEXT, date INTEGER, sequence INTEGER, PRIMARY KEY (origin, hash))"
    " WITHOUT ROWID;"
    "CREATE TABLE decision (origin TEXT, fingerprint BLOB, size_class INTEGER, work TEXT,"
    " number INTEGER, op TEXT, device TEXT, variant TEXT, build TEXT, reason TEXT, samples INTEGER,"
    " mean_ns INTEGER, spread_ns INTEGER, others TEXT, date INTEGER, sequence INTEGER,"
    " PRIMARY KEY (origin, fingerprint, size_class, work, number)) WITHOUT ROWID;"
    "CREATE INDEX region_age ON region (sequence);"
    "CREATE INDEX latency_age ON latency (sequence);"
    "CREATE INDEX latency_program ON latency (fingerprint);"
    "CREATE INDEX code_hash ON code (hash);"
    "CREATE INDEX code_age ON code (sequence);"
    "CREATE INDEX decision_age ON decision (sequence);";

// What later versions of format 2 add; earlier ones do not look at it.
static const char schema_effort[] =
    "CREATE TABLE IF NOT EXISTS effort (origin TEXT, device TEXT, fingerprint BLOB, region TEXT,"
    " operations INTEGER, total_ns INTEGER, bytes INTEGER, date INTEGER, sequence INTEGER,"
    " PRIMARY KEY (origin, device, fingerprint, region)) WITHOUT ROWID;";

// Format 1 named regions without their program, and latencies without their variant: what cannot be
// told apart is of no use. The rest stays.
static const char from_1[] = "DROP TABLE region; DROP TABLE latency;";

__attribute__((format(printf, 2, 3))) static void tell(const store *s, const char *format, ...) {
  vyre_error note;
  va_list args;
  va_start(args, format);
  error_setv(&note, VYRE_ERROR_IO, format, args);
  va_end(args);
  note_tell(s->notes, &note);
}

// ---- fork --------------------------------------------------------------------------------------

// SQLite keeps facts about files for the whole process, among them which locks it has. A child of
// fork() inherits the facts without the locks, so it must neither use nor close a connection of its
// parent, nor open one of its own.
static atomic_uint connections; // open, or being opened
static bool has_parents;        // there were some when this process was forked

static void in_child(void) {
  has_parents = has_parents || atomic_load(&connections);
}

static void watch_forks(void) {
  (void)pthread_atfork(NULL, NULL, in_child);
}

static vyre_status check_process(vyre_error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  if (!has_parents) return VYRE_OK;
  return error_set(
      error, VYRE_ERROR_UNSUPPORTED,
      "the evidence store was open when this process was forked, and cannot be used in "
      "it. Fix: fork before the first runtime is made");
}

// ---- one connection ----------------------------------------------------------------------------

static void store_disconnect(store *s) {
  for (int i = 0; i < STORE_SQL_END; i++) {
    sqlite3_finalize(s->statements[i]);
    s->statements[i] = NULL;
  }
  if (s->db) atomic_fetch_sub(&connections, 1);
  sqlite3_close(s->db);
  s->db = NULL;
}

// As a URI, so that a file in a directory that cannot be written can be read without a log.
static char *immutable_uri(const char *path) {
  strbuf uri = {0};
  strbuf_puts(&uri, "file:");
  for (const char *p = path; *p; p++) {
    if (strchr("%?#", *p))
      strbuf_printf(&uri, "%%%02x", (unsigned char)*p);
    else
      strbuf_putc(&uri, *p);
  }
  strbuf_puts(&uri, "?immutable=1");
  return strbuf_take(&uri, NULL);
}

static int connect(store *s, int flags, bool immutable) {
  char *name = immutable ? immutable_uri(s->path) : s->path;
  if (!name) return SQLITE_NOMEM;
  atomic_fetch_add(&connections, 1);
  int code = sqlite3_open_v2(name, &s->db,
                             flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                                 (immutable ? SQLITE_OPEN_URI : 0),
                             s->options.vfs);
  if (!s->db) atomic_fetch_sub(&connections, 1);
  if (immutable) free(name);
  if (code != SQLITE_OK) return code;
  sqlite3_busy_timeout(s->db, (int)s->options.busy_timeout_ms);
  // The file may come from anybody: it may hold data, and nothing that runs.
  sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  return SQLITE_OK;
}

typedef enum identity { OURS, OLDER, EMPTY, NEWER, SOMEBODY_ELSES } identity;

// Within a transaction: another process may be making the tables at this moment.
static int identify_now(store *s, identity *out) {
  int64_t application, format, tables;
  int code = store_get_number(s, "PRAGMA application_id", &application);
  if (code == SQLITE_OK) code = store_get_number(s, "PRAGMA user_version", &format);
  if (code == SQLITE_OK) code = store_get_number(s, "SELECT count(*) FROM sqlite_schema", &tables);
  if (code != SQLITE_OK) return code;
  *out = SOMEBODY_ELSES;
  if (application == 0 && format == 0 && tables == 0) *out = EMPTY;
  if (application == APPLICATION) *out = format > FORMAT ? NEWER : format < FORMAT ? OLDER : OURS;
  return SQLITE_OK;
}

static int identify(store *s, identity *out) {
  int code = store_exec(s, "BEGIN");
  if (code == SQLITE_OK) code = identify_now(s, out);
  if (code == SQLITE_OK) code = store_commit(s);
  if (code != SQLITE_OK) store_rollback(s);
  return code;
}

int store_check_identity(store *s, bool *ours) {
  identity who = EMPTY;
  int code = identify(s, &who);
  *ours = who == OURS;
  return code;
}

int store_connect_foreign(store *s) {
  struct stat info; // opening a pipe would wait for its other end
  if (!stat(s->path, &info) && !S_ISREG(info.st_mode)) return SQLITE_CANTOPEN;
  int code = connect(s, SQLITE_OPEN_READONLY, true);
  if (code == SQLITE_OK) sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 1 << 20);
  return code;
}

// Whoever comes second finds it done.
static int create_tables(store *s) {
  identity who = OURS;
  char pragmas[96];
  snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d",
           APPLICATION, FORMAT);
  int code = store_begin(s);
  if (code == SQLITE_OK) code = identify_now(s, &who);
  bool is_new = who == EMPTY, is_old = who == OLDER;
  if (code == SQLITE_OK && is_new) code = store_exec(s, schema);
  if (code == SQLITE_OK && is_old) code = store_exec(s, from_1);
  if (code == SQLITE_OK && (is_new || is_old)) code = store_exec(s, schema_2);
  if (code == SQLITE_OK) code = store_exec(s, schema_effort);
  if (code == SQLITE_OK && (is_new || is_old)) code = store_exec(s, pragmas);
  if (code == SQLITE_OK) code = store_commit(s);
  if (code != SQLITE_OK) store_rollback(s);
  return code;
}

static int set_wal(store *s, bool *is_set) {
  sqlite3_stmt *statement;
  int code = sqlite3_prepare_v2(s->db, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  *is_set = code == SQLITE_ROW && !strcmp(store_column_text(statement, 0), "wal");
  sqlite3_finalize(statement);
  return code == SQLITE_ROW ? SQLITE_OK : code;
}

static int prepare_writing(store *s) {
  char pragma[64];
  bool is_wal;
  int code = set_wal(s, &is_wal);
  if (store_is_full(s, code)) return code; // says nothing about the file system
  if (!is_wal) {
    if (!s->told_no_wal)
      tell(s,
           "the evidence store `%s` works without write-ahead logging, which its file system "
           "does not allow: several processes wait for one another longer. Fix: set VYRE_HOME to a "
           "local directory",
           s->path);
    s->told_no_wal = true;
  }
  snprintf(pragma, sizeof pragma, "PRAGMA max_page_count = %llu",
           (unsigned long long)(s->options.max_bytes / PAGE_BYTES));
  code = store_exec(s, "PRAGMA synchronous = NORMAL");
  return code == SQLITE_OK ? store_exec(s, pragma) : code;
}

// ---- opening -----------------------------------------------------------------------------------

// Not `path`.lock, which is SQLite's own where it locks with files.
static vyre_status lock_store(const store *s, int *lock, vyre_error *error) {
  char name[4200];
  snprintf(name, sizeof name, "%.4000s.open", s->path);
  return lockfile_acquire(name, LOCKFILE_TIMEOUT_NS, lock, error);
}

// Several processes may begin with the same missing file, and a change of the journal mode fails at
// once when it meets another: they take turns.
static int create(store *s, bool is_locked) {
  int lock;
  if (!is_locked && lock_store(s, &lock, NULL) != VYRE_OK) return SQLITE_CANTOPEN;
  int code = prepare_writing(s);
  if (code == SQLITE_OK) code = create_tables(s);
  if (!is_locked) lockfile_release(lock);
  return code;
}

static int open_writable(store *s, bool is_locked, identity *who) {
  int code = connect(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, false);
  if (code == SQLITE_OK) code = identify(s, who);
  if (code == SQLITE_OK && sqlite3_db_readonly(s->db, "main") == 1) code = SQLITE_READONLY;
  if (code != SQLITE_OK || *who == NEWER || *who == SOMEBODY_ELSES) return code;
  if (*who == OURS) {
    code = prepare_writing(s);
    return code == SQLITE_OK ? store_exec(s, schema_effort) : code;
  }
  code = create(s, is_locked);
  if (code == SQLITE_OK) *who = OURS;
  return code;
}

// A file in a directory that can be written may have a log to read; elsewhere it must be taken as
// it is.
static int open_read_only(store *s, identity *who) {
  int code = SQLITE_CANTOPEN;
  for (int immutable = 0; immutable < 2 && code != SQLITE_OK; immutable++) {
    store_disconnect(s);
    code = connect(s, SQLITE_OPEN_READONLY, immutable);
    if (code == SQLITE_OK) code = identify(s, who);
  }
  if (code == SQLITE_OK && *who == OURS) {
    s->read_only = true;
    tell(s,
         "the evidence store `%s` can only be read: nothing new is remembered. Fix: make it "
         "writable, or set VYRE_HOME to another directory",
         s->path);
  }
  return code;
}

static bool needs_read_only(int code) {
  int kind = code & 0xff;
  return kind == SQLITE_READONLY || kind == SQLITE_CANTOPEN || kind == SQLITE_PERM;
}

static int open_any(store *s, identity *who) {
  int code = open_writable(s, false, who);
  if (needs_read_only(code) && access(s->path, R_OK) == 0) code = open_read_only(s, who);
  return code;
}

// Renames the file and its logs. Returns 0 or errno.
static int move_aside(const store *s, char *name, size_t size) {
  static const char *const parts[] = {"", "-wal", "-shm"};
  for (int i = 1; i < 100; i++) {
    snprintf(name, size, "%s.corrupt-%d", s->path, i);
    if (access(name, F_OK) == 0) continue;
    if (rename(s->path, name) < 0) return errno;
    for (int k = 1; k < 3; k++) {
      char from[4200], to[4200];
      snprintf(from, sizeof from, "%.4000s%s", s->path, parts[k]);
      snprintf(to, sizeof to, "%.4000s%s", name, parts[k]);
      (void)rename(from, to);
    }
    return 0;
  }
  return EEXIST;
}

// The damage may be anywhere, so all of the file is looked at.
static int check_whole(store *s) {
  sqlite3_stmt *q;
  int code = sqlite3_prepare_v2(s->db, "PRAGMA integrity_check(1)", -1, &q, NULL);
  if (code != SQLITE_OK) return code;
  code = sqlite3_step(q);
  bool sound = code == SQLITE_ROW && !strcmp(store_column_text(q, 0), "ok");
  sqlite3_finalize(q);
  return sound ? SQLITE_OK : SQLITE_CORRUPT;
}

int store_recover(store *s, vyre_error *error) {
  char name[4200];
  int lock;
  identity who;
  store_disconnect(s);
  if (lock_store(s, &lock, error) != VYRE_OK) return SQLITE_CORRUPT;
  // Another process may have done it already.
  int code = open_writable(s, true, &who);
  if (code == SQLITE_OK) code = check_whole(s);
  if (store_is_corrupt(code)) {
    store_disconnect(s);
    if (move_aside(s, name, sizeof name) == 0) {
      tell(
          s,
          "the evidence store was corrupt; it was kept as `%s` and begun anew. Fix: nothing has to "
          "be done; delete that file when it is of no use",
          name);
      code = open_writable(s, true, &who);
    }
  }
  lockfile_release(lock);
  return code;
}

// Not for anything secret: it only tells machines apart, and does not give away the system's id.
static void find_machine(char out[33]) {
  char *text = NULL;
  size_t size = 0;
  hasher h;
  uint8_t digest[HASH_BYTES];
  char hex[HASH_HEX];
  hash_init(&h);
  hash_update(&h, "vyre-machine", 12);
  if (file_read("/etc/machine-id", 4096, &text, &size, NULL) != VYRE_OK) {
    char name[256] = "";
    (void)gethostname(name, sizeof name - 1);
    hash_update(&h, name, strlen(name));
  } else {
    hash_update(&h, text, size);
  }
  free(text);
  hash_final(&h, digest);
  hash_hex(digest, hex);
  memcpy(out, hex, 32);
  out[32] = 0;
}

static store *store_new(const store_options *options, const note_sink *notes, vyre_error *error) {
  store *s = calloc(1, sizeof *s);
  if (!s) {
    error_out_of_memory(error);
    return NULL;
  }
  if (options) s->options = *options;
  s->notes = notes;
  if (!s->options.path)
    s->path = path_state("evidence.db", error);
  else if (!(s->path = strdup(s->options.path)))
    error_out_of_memory(error);
  s->options.path = NULL;
  if (!s->options.max_bytes) s->options.max_bytes = (uint64_t)64 << 20;
  if (!s->options.max_keys) s->options.max_keys = 100000;
  if (!s->options.busy_timeout_ms) s->options.busy_timeout_ms = 5000;
  pthread_mutex_init(&s->lock, NULL);
  find_machine(s->machine);
  if (s->path) return s;
  store_close(s);
  return NULL;
}

vyre_status store_open(const store_options *options, const note_sink *notes, store **out,
                       vyre_error *error) {
  *out = NULL;
  vyre_error own; // the status is read from it
  if (!error) error = &own;
  store *s = store_new(options, notes, error);
  if (!s) return error->status;
  identity who = OURS;
  size_limit held = size_limit_hold();
  vyre_status status = check_process(error);
  if (status == VYRE_OK) status = file_check_own(s->path, error);
  if (status != VYRE_OK) {
    store_close(s);
    size_limit_release(&held);
    return status;
  }
  // When the directory cannot be made, opening says so.
  (void)file_make_parents(s->path, NULL);
  int code = open_any(s, &who);
  if (store_is_corrupt(code)) code = store_recover(s, error);
  if (code != SQLITE_OK)
    status = store_fail(s, code, "open", error);
  else if (who == NEWER)
    status = error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "the evidence store `%s` has a format this version does not know. Fix: use "
                       "the newer vyre that wrote it, or set VYRE_HOME to another directory",
                       s->path);
  else if (who == OLDER)
    status =
        error_set(error, VYRE_ERROR_UNSUPPORTED,
                  "the evidence store `%s` has an older format and can only be read. Fix: make "
                  "it writable, or set VYRE_HOME to another directory",
                  s->path);
  else if (who == SOMEBODY_ELSES || (who == EMPTY && s->read_only))
    status =
        error_set(error, VYRE_ERROR_IO,
                  "`%s` is a database, but not one of vyre. Fix: move it away, or set VYRE_HOME "
                  "to another directory",
                  s->path);
  if (status == VYRE_OK)
    *out = s;
  else
    store_close(s);
  size_limit_release(&held);
  return status;
}

void store_close(store *s) {
  if (!s) return;
  size_limit held = size_limit_hold();
  store_disconnect(s);
  size_limit_release(&held);
  pthread_mutex_destroy(&s->lock);
  free(s->path);
  free(s);
}

const char *store_path(const store *s) {
  return s->path;
}

bool store_is_read_only(const store *s) {
  return s->read_only;
}
