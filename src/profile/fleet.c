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

// Rows are sorted by their numbers and wrong answers go first, so that after each batch it can be
// said how far it got.
static vyre_status push(fleet_session *f, arena *memory, uint64_t *sent, vyre_error *error) {
  uint64_t after = 0;
  store_changes changes;
  vyre_status status = f->server->pushed(f->connection, f->id, &after, error);
  if (status == VYRE_OK) status = store_load_changes(f->s, after, memory, &changes, error);
  if (status != VYRE_OK || changes.sequence == after) return status;
  uint32_t done = 0;
  do {
    uint32_t left = changes.latency_count - done, count = left > BATCH_ROWS ? BATCH_ROWS : left;
    const fleet_latency *rows = changes.latencies + done;
    fleet_batch batch = {.store = f->id,
                         .latencies = rows,
                         .latency_count = count,
                         .wrongs = changes.wrongs,
                         .wrong_count = done ? 0 : changes.wrong_count,
                         .sequence = count < left ? rows[count - 1].sequence : changes.sequence};
    status = f->server->push(f->connection, &batch, error);
    if (status != VYRE_OK) return status;
    *sent += count + batch.wrong_count;
    done += count;
  } while (done < changes.latency_count);
  return VYRE_OK;
}

vyre_status fleet_push(fleet_session *f, uint64_t *rows, vyre_error *error) {
  arena memory = ARENA_INIT;
  *rows = 0;
  vyre_status status = push(f, &memory, rows, error);
  arena_free(&memory);
  return status;
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

// Transactions of the server end in another order than they begin: what came shortly before the
// last time is read again, which changes nothing.
static const int64_t OVERLAP_US = 600000000;

static vyre_status pull(fleet_session *f, const fleet_wish *wish, pulling *p, vyre_error *error) {
  int64_t until = 0, now = 0;
  p->latencies = arena_alloc_array(p->memory, FLEET_PULL_LIMIT, sizeof *p->latencies);
  p->wrongs = arena_alloc_array(p->memory, FLEET_PULL_LIMIT, sizeof *p->wrongs);
  if (!p->latencies || !p->wrongs) return error_out_of_memory(error);
  bool is_whole = !wish->fingerprint && !wish->only_wrong;
  vyre_status status = is_whole ? store_pulled_until(f->s, f->name, &until, error) : VYRE_OK;
  fleet_query query = {.store = f->id,
                       .devices = wish->devices,
                       .device_count = wish->device_count,
                       .build = wish->build,
                       .fingerprint = wish->fingerprint,
                       .only_wrong = wish->only_wrong,
                       .since_us = until > OVERLAP_US ? until - OVERLAP_US : 0,
                       .limit = FLEET_PULL_LIMIT};
  if (status == VYRE_OK)
    status = f->server->pull(f->connection, &query, take_latency, take_wrong, p, &now, error);
  if (status == VYRE_OK && p->out_of_memory) status = error_out_of_memory(error);
  if (status != VYRE_OK) return status;
  return store_keep_pulled(f->s,
                           &(store_pulled){.latencies = p->latencies,
                                           .wrongs = p->wrongs,
                                           .latency_count = p->latency_count,
                                           .wrong_count = p->wrong_count,
                                           .server = is_whole ? f->name : NULL,
                                           .until_us = now},
                           error);
}

vyre_status fleet_pull(fleet_session *f, const fleet_wish *wish, fleet_got *got,
                       vyre_error *error) {
  arena memory = ARENA_INIT;
  pulling p = {.memory = &memory};
  vyre_status status = pull(f, wish, &p, error);
  *got = (fleet_got){0};
  if (status == VYRE_OK) *got = (fleet_got){p.latency_count, p.wrong_count};
  arena_free(&memory);
  return status;
}

// ---- a session ----------------------------------------------------------------------------------

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

vyre_status fleet_begin(fleet_session *f, store *s, const char *url, const atomic_bool *stop,
                        vyre_error *error) {
  *f = (fleet_session){.s = s};
  name_of(url, f->name);
  vyre_status status = fleet_find(&f->server, error);
  if (status == VYRE_OK) status = store_id(s, f->id, error);
  return status == VYRE_OK ? f->server->open(url, stop, &f->connection, error) : status;
}

void fleet_end(fleet_session *f) {
  if (f->connection) f->server->close(f->connection);
  f->connection = NULL;
}
