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
  const char *const *devices; // figures of these
  uint32_t device_count;
  const char *build;          // and of this build
  const uint8_t *fingerprint; // of one program; NULL: of all
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
  vyre_status (*open)(const char *url, fleet_connection **out, vyre_error *error);
  void (*close)(fleet_connection *c); // NULL is fine
  // Makes or migrates what the server needs; for its administrator. *format is what it had.
  vyre_status (*prepare)(fleet_connection *c, const fleet_roles *roles, fleet_told told,
                         void *context, uint32_t *format, vyre_error *error);
  // Up to which sequence the server has what a store measured; 0: it has nothing. UINT64_MAX: this
  // role may not push.
  vyre_status (*pushed)(fleet_connection *c, const char *store, uint64_t *sequence,
                        vyre_error *error);
  // All of the batch or nothing of it; pushing twice is pushing once.
  vyre_status (*push)(fleet_connection *c, const fleet_batch *batch, vyre_error *error);
  // *now_us is the server's clock when it answered.
  vyre_status (*pull)(fleet_connection *c, const fleet_query *query, fleet_take_latency latency,
                      fleet_take_wrong wrong, void *context, int64_t *now_us, vyre_error *error);
} fleet_server;

enum { FLEET_VERSION = 1, FLEET_FORMAT = 1, FLEET_PULL_LIMIT = 50000 };

// The server's functions; opens the module.
vyre_status fleet_find(const fleet_server **out, vyre_error *error);

typedef struct fleet_counts {
  uint64_t pushed;      // rows that were sent
  uint64_t pulled;      // figures that came
  uint64_t quarantined; // codes that were wrong elsewhere, of those
} fleet_counts;

typedef struct fleet_request {
  const char *url;
  const char *const *devices; // that this machine has
  uint32_t device_count;
  const char *build;          // what it runs: see build_name
  const uint8_t *fingerprint; // only what others know of one program; NULL: of all
  bool no_push, no_pull;
} fleet_request;

// Connects, pushes what is new here, pulls what is new there.
vyre_status fleet_sync(store *s, const fleet_request *request, fleet_counts *counts,
                       vyre_error *error);

#endif
