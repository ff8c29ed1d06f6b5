// SPDX-License-Identifier: MIT
#include "profile/fleet.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/module.h"

#include <stdio.h>
#include <string.h>

vyre_status fleet_find(const fleet_server **out, vyre_error *error) {
  const void *found;
  *out = NULL;
  vyre_status status = module_find(FLEET_MODULE_FILE, FLEET_MODULE_SYMBOL, &found, error);
  if (status != VYRE_OK) return status;
  const fleet_server *server = found;
  if (server->version != FLEET_VERSION)
    return error_set(
        error, VYRE_ERROR_BACKEND,
        "the module %s is of another version of vyre. Fix: install both from one build",
        FLEET_MODULE_FILE);
  *out = server;
  return VYRE_OK;
}

// ---- there --------------------------------------------------------------------------------------

// So that a server that is far away, or a process that is killed, has something to show.
enum { BATCH_ROWS = 20000 };

typedef struct syncing {
  store *s;
  const fleet_request *request;
  const fleet_server *server;
  fleet_connection *connection;
  char id[STORE_ID];
  fleet_counts *counts;
  arena memory;
} syncing;

// Rows are sorted by their numbers and wrong answers go first, so that after each batch it can be
// said how far it got.
static vyre_status push(syncing *y, vyre_error *error) {
  uint64_t after = 0;
  store_changes changes;
  vyre_status status = y->server->pushed(y->connection, y->id, &after, error);
  if (status == VYRE_OK) status = store_load_changes(y->s, after, &y->memory, &changes, error);
  if (status != VYRE_OK || changes.sequence == after) return status;
  uint32_t done = 0;
  do {
    uint32_t left = changes.latency_count - done, count = left > BATCH_ROWS ? BATCH_ROWS : left;
    const fleet_latency *rows = changes.latencies + done;
    fleet_batch batch = {.store = y->id,
                         .latencies = rows,
                         .latency_count = count,
                         .wrongs = changes.wrongs,
                         .wrong_count = done ? 0 : changes.wrong_count,
                         .sequence = count < left ? rows[count - 1].sequence : changes.sequence};
    status = y->server->push(y->connection, &batch, error);
    if (status != VYRE_OK) return status;
    y->counts->pushed += count + batch.wrong_count;
    done += count;
  } while (done < changes.latency_count);
  return VYRE_OK;
}

// ---- back ---------------------------------------------------------------------------------------

typedef struct pulling {
  arena *memory;
  fleet_latency *latencies;
  fleet_wrong *wrongs;
  uint32_t latency_count, wrong_count;
  bool out_of_memory;
} pulling;

static const char *copy_text(pulling *p, const char *text) {
  const char *copy = arena_copy_string(p->memory, text, strlen(text));
  if (!copy) p->out_of_memory = true;
  return copy;
}

static const uint8_t *copy_hash(pulling *p, const uint8_t *hash) {
  uint8_t *copy = arena_alloc(p->memory, STORE_FINGERPRINT);
  if (!copy) p->out_of_memory = true;
  return copy ? memcpy(copy, hash, STORE_FINGERPRINT) : NULL;
}

// A server's texts are no more trusted than a file's: names of variants are parsed before use.
static bool take_latency(void *context, const fleet_latency *row) {
  pulling *p = context;
  if (p->latency_count == FLEET_PULL_LIMIT) return false;
  fleet_latency *l = &p->latencies[p->latency_count];
  *l = *row;
  l->device = copy_text(p, row->device);
  l->op = copy_text(p, row->op);
  l->work = copy_text(p, row->work);
  l->variant = copy_text(p, row->variant);
  l->build = copy_text(p, row->build);
  l->fingerprint = copy_hash(p, row->fingerprint);
  if (!p->out_of_memory) p->latency_count++;
  return !p->out_of_memory;
}

static bool take_wrong(void *context, const fleet_wrong *row) {
  pulling *p = context;
  if (p->wrong_count == FLEET_PULL_LIMIT) return false;
  fleet_wrong *w = &p->wrongs[p->wrong_count];
  *w = *row;
  w->hash = copy_hash(p, row->hash);
  w->op = copy_text(p, row->op);
  w->variant = copy_text(p, row->variant);
  w->device = copy_text(p, row->device);
  w->detail = copy_text(p, row->detail);
  if (!p->out_of_memory) p->wrong_count++;
  return !p->out_of_memory;
}

// Until when each server was read is kept by a hash: addresses may hold passwords.
static void name_of(const char *url, char out[STORE_ID]) {
  uint8_t hash[HASH_BYTES];
  char hex[HASH_HEX];
  hasher h;
  hash_init_for(&h, "vyre 2026 name of a server of a fleet");
  hash_update(&h, url, strlen(url));
  hash_final(&h, hash);
  hash_hex(hash, hex);
  snprintf(out, STORE_ID, "%.32s", hex);
}

// Transactions of the server end in another order than they begin: what came shortly before the
// last time is read again, which changes nothing.
static const int64_t OVERLAP_US = 600000000;

static vyre_status pull(syncing *y, vyre_error *error) {
  const fleet_request *r = y->request;
  char name[STORE_ID];
  int64_t until = 0, now = 0;
  pulling p = {.memory = &y->memory};
  name_of(r->url, name);
  p.latencies = arena_alloc_array(&y->memory, FLEET_PULL_LIMIT, sizeof *p.latencies);
  p.wrongs = arena_alloc_array(&y->memory, FLEET_PULL_LIMIT, sizeof *p.wrongs);
  if (!p.latencies || !p.wrongs) return error_out_of_memory(error);
  vyre_status status = r->fingerprint ? VYRE_OK : store_pulled_until(y->s, name, &until, error);
  fleet_query query = {.store = y->id,
                       .devices = r->devices,
                       .device_count = r->device_count,
                       .build = r->build,
                       .fingerprint = r->fingerprint,
                       .since_us = until > OVERLAP_US ? until - OVERLAP_US : 0,
                       .limit = FLEET_PULL_LIMIT};
  if (status == VYRE_OK)
    status = y->server->pull(y->connection, &query, take_latency, take_wrong, &p, &now, error);
  if (status == VYRE_OK && p.out_of_memory) status = error_out_of_memory(error);
  if (status == VYRE_OK)
    status = store_keep_pulled(y->s,
                               &(store_pulled){.latencies = p.latencies,
                                               .wrongs = p.wrongs,
                                               .latency_count = p.latency_count,
                                               .wrong_count = p.wrong_count,
                                               .server = r->fingerprint ? NULL : name,
                                               .until_us = now},
                               error);
  if (status != VYRE_OK) return status;
  y->counts->pulled += p.latency_count;
  y->counts->quarantined += p.wrong_count;
  return VYRE_OK;
}

vyre_status fleet_sync(store *s, const fleet_request *request, fleet_counts *counts,
                       vyre_error *error) {
  syncing y = {.s = s, .request = request, .counts = counts, .memory = ARENA_INIT};
  *counts = (fleet_counts){0};
  vyre_status status = fleet_find(&y.server, error);
  if (status == VYRE_OK) status = store_id(s, y.id, error);
  if (status == VYRE_OK) status = y.server->open(request->url, &y.connection, error);
  if (status == VYRE_OK && !request->no_push) status = push(&y, error);
  if (status == VYRE_OK && !request->no_pull) status = pull(&y, error);
  if (y.connection) y.server->close(y.connection);
  arena_free(&y.memory);
  return status;
}
