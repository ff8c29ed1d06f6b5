// SPDX-License-Identifier: MIT
//
// The store's part in a fleet: what it has that a server may not have yet, and what came from one.
// Figures of a fleet are rows of a machine named `fleet`; they are returned by nothing but
// store_load_fleet. Any thread.
#ifndef VYRE_PROFILE_STORE_FLEET_H
#define VYRE_PROFILE_STORE_FLEET_H

#include "profile/store.h"

enum { STORE_ID = 33 };

// What one variant took, here or, from a server, in the median of machines.
typedef struct fleet_latency {
  const char *device, *op;
  const uint8_t *fingerprint; // STORE_FINGERPRINT bytes
  uint32_t size_class;
  const char *work, *variant, *build;
  uint64_t count;             // samples
  uint64_t min_ns, median_ns; // at least 1
  uint64_t sequence;          // of the store that it is from
} fleet_latency;

// A code that gave a wrong answer.
typedef struct fleet_wrong {
  const uint8_t *hash; // STORE_FINGERPRINT bytes
  const char *op, *variant, *device, *detail;
  uint64_t sequence;
} fleet_wrong;

// A name of the store that no other has: another one after it was cleared or begun anew, so that a
// server does not take it for what it was.
vyre_status store_id(store *s, char out[STORE_ID], vyre_error *error);

typedef struct store_changes {
  fleet_latency *latencies;
  fleet_wrong *wrongs;
  uint32_t latency_count, wrong_count;
  uint64_t sequence; // of the latest
} store_changes;

// What this machine measured after the given sequence; it lives in the arena.
vyre_status store_load_changes(store *s, uint64_t after, arena *memory, store_changes *out,
                               vyre_error *error);

// Keeps what came from a server, and how far it was read; all or nothing.
typedef struct store_pulled {
  const fleet_latency *latencies;
  const fleet_wrong *wrongs;
  uint32_t latency_count, wrong_count;
  const char *server; // NULL: `until_us` is not kept
  int64_t until_us;
} store_pulled;
vyre_status store_keep_pulled(store *s, const store_pulled *pulled, vyre_error *error);
// Until when a server was read, by its clock; 0: never.
vyre_status store_pulled_until(store *s, const char *server, int64_t *until_us, vyre_error *error);

// What the fleet knows of a program, the fastest of each size class and amount of work first.
vyre_status store_load_fleet(store *s, const uint8_t *fingerprint, arena *memory,
                             store_latency_row **rows, uint32_t *count, vyre_error *error);

#endif
