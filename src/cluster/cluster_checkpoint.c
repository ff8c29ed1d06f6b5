// SPDX-License-Identifier: MIT
//
// Checkpoints of all ranks together. Saving: each writes its part; only when all are on the disk is
// the manifest written, by rank 0. Loading: each checks some parts; only when all are right does
// any rank change a buffer.
#include "backend/resident.h"
#include "base/error.h"
#include "cluster/checkpoint.h"
#include "cluster/cluster_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static vyre_status check_buffers(const cluster *c, const checkpoint *k, vyre_error *error) {
  vyre_status status = checkpoint_check(k, error);
  for (uint32_t i = 0; i < k->buffer_count && status == VYRE_OK; i++) {
    const vyre_buffer *b = k->buffers[i].buffer;
    if (!b->layout || b->layout->table != &c->layouts)
      status = error_set(error, VYRE_ERROR_BINDING,
                         "buffer `%.100s` is not one of the cluster. Fix: make it with "
                         "vyre_buffer_new of this runtime",
                         k->buffers[i].name);
  }
  return status;
}

static uint64_t hash_of_buffers(const checkpoint *k) {
  uint64_t hash = k->buffer_count;
  for (uint32_t i = 0; i < k->buffer_count; i++) {
    const char *name = k->buffers[i].name;
    uint64_t facts[3] = {hash, hash_fast(name, strlen(name)), k->buffers[i].buffer->number};
    hash = hash_fast(facts, sizeof facts);
  }
  return hash;
}

// All make this call; `own` is how it went here so far.
static vyre_status agree_begin(cluster *c, call_kind kind, const checkpoint *k, uint64_t fact,
                               vyre_status own, vyre_error *error) {
  if (own == VYRE_OK) {
    uint64_t facts[3] = {fact, hash_fast(k->label, strlen(k->label)), hash_of_buffers(k)};
    calls_add(&c->made, kind, 0, facts, 3);
  } else {
    calls_add_wrong(&c->made, kind, 0);
  }
  return cluster_agree(c, own, (interval){0, 0}, NULL, error);
}

static vyre_status gather_parts(cluster *c, checkpoint *k, vyre_error *error) {
  uint8_t(*all)[HASH_BYTES] = calloc(c->size, sizeof *all);
  vyre_status status = all ? VYRE_OK : error_out_of_memory(error);
  if (status == VYRE_OK)
    status = c->transport->gather(c->state, k->parts.at[c->rank].hash, sizeof *all, all, error);
  for (uint32_t n = 0; n < c->size && status == VYRE_OK; n++) checkpoint_name_part(k, n, all[n]);
  free(all);
  return cluster_failed(c, status, error);
}

vyre_status cluster_save(cluster *c, checkpoint *k, vyre_error *error) {
  vyre_error own_error = {0};
  bool is_new = false;
  if (!error) error = &own_error;
  vyre_status status = cluster_check(c, error);
  if (status != VYRE_OK) return status;
  status = agree_begin(c, CALL_SAVE, k, k->step, check_buffers(c, k, error), error);
  if (status != VYRE_OK) return status;
  status = checkpoint_share(k, c->size) ? checkpoint_write_part(k, c->rank, &is_new, error)
                                        : error_out_of_memory(error);
  status = cluster_agree(c, status, (interval){0, 0}, NULL, error);
  if (status == VYRE_OK) status = gather_parts(c, k, error);
  if (status == VYRE_OK) {
    if (!c->rank) status = checkpoint_write_manifest(k, error);
    status = cluster_agree(c, status, (interval){0, 0}, NULL, error);
  }
  // After a failure of all it is not known whether rank 0 had the manifest written.
  if (status != VYRE_OK && is_new && !c->has_failed) checkpoint_remove_part(k, c->rank);
  return status;
}

// Parts are dealt out; what of a buffer is not in those of this rank is with others.
static vyre_status read_parts(const cluster *c, const checkpoint *k, bool is_kept,
                              vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint32_t b = 0; b < k->buffer_count && is_kept; b++) {
    const vyre_buffer *buf = k->buffers[b].buffer;
    if (buf->size_bytes && madvise(buf->host, buf->size_bytes, MADV_DONTNEED))
      return error_out_of_memory(error);
  }
  for (size_t n = c->rank; n < k->parts.count && status == VYRE_OK; n += c->size)
    status = checkpoint_read_part(k, (uint32_t)n, is_kept, error);
  return status;
}

static layout *layout_of_parts(cluster *c, const checkpoint *k, uint32_t b) {
  intervals *has = calloc(c->size, sizeof *has);
  bool ok = has != NULL;
  for (size_t n = 0; n < k->parts.count && ok; n++)
    for (size_t i = 0; i < k->parts.at[n].pieces.count && ok; i++) {
      const cluster_piece *p = &k->parts.at[n].pieces.at[i];
      if (p->buffer == b) ok = intervals_push(&has[n % c->size], p->lo, p->hi);
    }
  for (uint32_t n = 0; n < c->size && ok; n++) intervals_order(&has[n]);
  if (ok) return layout_intern(&c->layouts, c->size, k->buffers[b].buffer->size_bytes, has);
  layout_sets_free(has, c->size);
  return NULL;
}

vyre_status cluster_load(cluster *c, checkpoint *k, vyre_error *error) {
  vyre_error own_error = {0};
  uint64_t hash = 0;
  if (!error) error = &own_error;
  vyre_status status = cluster_check(c, error);
  if (status != VYRE_OK) return status;
  status = check_buffers(c, k, error);
  if (status == VYRE_OK) status = checkpoint_read_manifest(k, &hash, error);
  status = agree_begin(c, CALL_LOAD_CHECKPOINT, k, hash, status, error);
  if (status != VYRE_OK) return status;
  status = read_parts(c, k, false, error);
  status = cluster_agree(c, status, (interval){0, 0}, NULL, error);
  if (status != VYRE_OK) return status;
  status = read_parts(c, k, true, error); // it may have changed in between
  for (uint32_t b = 0; b < k->buffer_count && status == VYRE_OK; b++) {
    layout *now = layout_of_parts(c, k, b);
    if (now)
      cluster_take_layout(c, k->buffers[b].buffer, now);
    else
      status = error_out_of_memory(error);
  }
  return cluster_failed(c, status, error);
}
