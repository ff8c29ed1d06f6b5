// SPDX-License-Identifier: MIT
//
// Which backend runs an op. Certifying proves and measures candidates through callbacks and puts
// the decision into a table; resolving is a pure function from a table and the facts of a dispatch
// to an entry, or to the reason why there is none. One thread at a time per table.
#ifndef VYRE_POLICY_ROUTE_H
#define VYRE_POLICY_ROUTE_H

#include <vyre/vyre.h>

#include "policy/route_table.h"
#include "policy/trial.h"

// ---- measuring ---------------------------------------------------------------------------------

typedef struct route_backend {
  const char *id;
  // One dispatch with borrowed inputs; `args` is what the caller gave, nothing is copied. May set
  // *elapsed_ns; otherwise the call is timed, transfers included.
  vyre_status (*dispatch)(void *context, const vyre_dispatch_args *args, uint64_t *elapsed_ns,
                          vyre_error *error);
  // Compares the output with that of the reference; its message says where it differs first. NULL
  // when the backend is the reference, or was proven already.
  vyre_status (*check)(void *context, const vyre_dispatch_args *args, vyre_error *error);
  void *context;
} route_backend;

typedef struct route_certify_options {
  const char *default_backend; // stays unless another clearly wins; NULL: the fastest wins
  uint32_t rounds, max_rounds; // 0: 3, and as many; more settle what noise hides
  uint32_t margin_bps;         // 0: TRIAL_MARGIN_BPS
  // What the decision is for; left out of the entry where not given.
  const uint8_t *fingerprint; // 32 bytes
  const char *device;
  bool has_size_class;
  uint32_t size_class;
  const char *work, *variant, *passes, *code, *build; // as in route_entry; each may be NULL
  int64_t date;
  bool (*keep_going)(void *context, uint32_t done, uint32_t expected); // or NULL
  void *context;
} route_certify_options;

enum { ROUTE_MAX_BACKENDS = 32 };

// Puts what a trial decided into the table, with all that was measured: of each backend its fastest
// candidate, and what was rejected. Candidates have the names of their backends.
vyre_status route_decide(route_table *table, const char *op_id, const trial_candidate *candidates,
                         uint32_t count, const trial_decision *decision,
                         const route_certify_options *options, vyre_error *error);

// Proves and measures every backend (a warm-up, then interleaved rounds, the median), and puts the
// decision into the table. A backend that fails or is wrong is recorded as rejected; an error only
// when none is left. `options` may be NULL. *out is borrowed from the table.
vyre_status route_certify(route_table *table, const char *op_id, const vyre_dispatch_args *args,
                          const route_backend *backends, uint32_t count,
                          const route_certify_options *options, const route_entry **out,
                          vyre_error *error);

// ---- resolving ---------------------------------------------------------------------------------

#define ROUTE_MAX_AGE_SECONDS ((int64_t)90 * 24 * 3600)

typedef struct route_query {
  const char *op_id;
  const uint8_t *fingerprint; // 32 bytes; NULL: not compared
  const char *device;         // NULL: not compared
  bool has_size_class;
  uint32_t size_class;
  const char *work;        // NULL: not compared
  int64_t now;             // seconds since 1970
  int64_t max_age_seconds; // 0: no limit
  // Whether the backend can be used here and now; NULL: not asked.
  bool (*has_backend)(void *context, const char *backend);
  void *context;
} route_query;

// From the best to the worst: of several unusable entries the one closest to being usable is named.
typedef enum route_state {
  ROUTE_USABLE,
  ROUTE_BACKEND_MISSING, // decided for a backend that is not here any more
  ROUTE_TOO_OLD,
  ROUTE_OTHER_SIZE,
  ROUTE_OTHER_DEVICE, // measured elsewhere: not trusted for this device
  ROUTE_OTHER_PROGRAM,
  ROUTE_NO_ENTRY,
  ROUTE_STATE_COUNT
} route_state;

const char *route_state_name(route_state state); // "other-device"

// The entry to go by, one for exactly this size and device before a general one. When the state is
// not ROUTE_USABLE, *entry is the one that was closest, or NULL; the caller uses its default. A
// date in the future counts as now: clocks jump.
route_state route_resolve(const route_table *table, const route_query *query,
                          const route_entry **entry);

#endif
