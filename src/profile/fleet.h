// SPDX-License-Identifier: MIT
//
// Evidence that a fleet of machines shares through a server. A machine's own store stays its truth:
// what it measured is pushed in batches that may be pushed again, and what the others measured
// comes back as one figure per program, size and variant. Such a figure says in which order to try,
// and nothing more; wrong answers that others found are kept, too. The server is behind a table of
// functions, in a module that is opened when somebody names one. Any thread, each with its own
// connection.
#ifndef VYRE_PROFILE_FLEET_H
#define VYRE_PROFILE_FLEET_H

#include "profile/store_fleet.h"

#include <stdatomic.h>

#define FLEET_ENV           "VYRE_FLEET"
#define FLEET_MODULE_FILE   "libvyre-postgres.so"
#define FLEET_MODULE_SYMBOL "vyre_fleet_postgres"

typedef struct fleet_connection fleet_connection;

typedef struct fleet_batch {
  const char *store; // the id of the store that the rows are from
  const fleet_latency *latencies;
  const fleet_wrong *wrongs;
  uint32_t latency_count, wrong_count;
  uint64_t sequence; // all that the store had up to here is on the server afterwards
} fleet_batch;

typedef struct fleet_query {
  const char *store;          // whose rows are not wanted
  const char *const *devices; // figures of these; of one program, none means any
  uint32_t device_count;
  const char *build;          // and of this build
  const uint8_t *fingerprint; // of one program, and no wrong answers; NULL: of all
  bool only_wrong;            // wrong answers alone
  int64_t since_us;           // what came to the server later, by its clock
  uint32_t limit;             // at most so many figures, the latest first
} fleet_query;

typedef struct fleet_roles {
  const char *const *machines; // that may write their own rows
  const char *const *readers;
  uint32_t machine_count, reader_count;
} fleet_roles;

// A role that was made, with the password it got; told once and kept nowhere.
typedef void (*fleet_told)(void *context, const char *role, const char *password);
// False: that was enough.
typedef bool (*fleet_take_latency)(void *context, const fleet_latency *row);
typedef bool (*fleet_take_wrong)(void *context, const fleet_wrong *row);

typedef struct fleet_server {
  uint32_t version; // FLEET_VERSION: of this table
  // Gives up when *stop becomes true; `stop` may be NULL.
  vyre_status (*open)(const char *url, const atomic_bool *stop, fleet_connection **out,
                      vyre_error *error);
  void (*close)(fleet_connection *c); // NULL is fine
  // From another thread: whoever waits for the server gets an error soon.
  void (*interrupt)(fleet_connection *c);
  // Makes or migrates what the server needs; for its administrator. *format is what it had.
  vyre_status (*prepare)(fleet_connection *c, const fleet_roles *roles, fleet_told told,
                         void *context, uint32_t *format, vyre_error *error);
  // Up to which sequence the server has what a store measured; 0: it has nothing. UINT64_MAX: this
  // role may not push.
  vyre_status (*pushed)(fleet_connection *c, const char *store, uint64_t *sequence,
                        vyre_error *error);
  // All of the batch or nothing of it; pushing twice is pushing once.
  vyre_status (*push)(fleet_connection *c, const fleet_batch *batch, vyre_error *error);
  // *now_us is the server's clock when it answered; 0 of one program.
  vyre_status (*pull)(fleet_connection *c, const fleet_query *query, fleet_take_latency latency,
                      fleet_take_wrong wrong, void *context, int64_t *now_us, vyre_error *error);
} fleet_server;

enum { FLEET_VERSION = 1, FLEET_FORMAT = 1, FLEET_PULL_LIMIT = 50000 };

// The server's functions; opens the module.
vyre_status fleet_find(const fleet_server **out, vyre_error *error);

// A store and a server that are connected. One thread, but for what is said.
typedef struct fleet_session {
  store *s;
  const fleet_server *server;
  fleet_connection *connection; // NULL: not connected
  char id[STORE_ID];            // of the store
  char name[STORE_ID];          // of the server: a hash, because addresses may hold passwords
} fleet_session;

// Opens the module and connects.
vyre_status fleet_begin(fleet_session *f, store *s, const char *url, const atomic_bool *stop,
                        vyre_error *error);
void fleet_end(fleet_session *f); // also of one that was not begun but is zero

// Sends what the server does not have. *rows counts it, as far as it got.
vyre_status fleet_push(fleet_session *f, uint64_t *rows, vyre_error *error);

typedef struct fleet_wish {
  const char *const *devices; // that this machine has; of one program, none means any
  uint32_t device_count;
  const char *build;          // what it runs: see build_name
  const uint8_t *fingerprint; // of one program; NULL: all that is new
  bool only_wrong;            // all that was wrong anywhere, and nothing else
} fleet_wish;

typedef struct fleet_got {
  uint64_t latencies, wrongs;
} fleet_got;

// Takes what others measured into the store.
vyre_status fleet_pull(fleet_session *f, const fleet_wish *wish, fleet_got *got, vyre_error *error);

#endif
