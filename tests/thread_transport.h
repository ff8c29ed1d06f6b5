// SPDX-License-Identifier: MIT
//
// A transport whose ranks are threads of one process: what the logic of clusters is tested with,
// without MPI. Messages are copied into queues, one per pair of ranks.
#ifndef VYRE_TESTS_THREAD_TRANSPORT_H
#define VYRE_TESTS_THREAD_TRANSPORT_H

#include "base/error.h"
#include "cluster/transport.h"
#include "ir/types.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HUB_RANKS = 16 };

typedef struct hub_message {
  struct hub_message *next;
  size_t bytes;
  char data[];
} hub_message;

typedef struct hub {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint32_t size, opened;
  hub_message *first[HUB_RANKS][HUB_RANKS], *last[HUB_RANKS][HUB_RANKS]; // from, to
  uint64_t sent_bytes, messages;
  int failed; // the rank that cannot go on, plus 1
  char failure[600];
} hub;

typedef struct hub_rank {
  hub *h;
  uint32_t rank;
} hub_rank;

// Which hub, and which rank, the thread that opens it has.
static _Thread_local hub_rank hub_mine;

static void hub_init(hub *h, uint32_t size) {
  *h = (hub){.size = size};
  pthread_mutex_init(&h->lock, NULL);
  pthread_cond_init(&h->changed, NULL);
}

static void hub_fini(hub *h) {
  for (uint32_t a = 0; a < h->size; a++)
    for (uint32_t b = 0; b < h->size; b++)
      for (hub_message *m = h->first[a][b], *next; m; m = next) {
        next = m->next;
        free(m);
      }
  pthread_mutex_destroy(&h->lock);
  pthread_cond_destroy(&h->changed);
}

static vyre_status hub_open(int32_t unused, void **state, uint32_t *rank, uint32_t *size,
                            vyre_error *error) {
  (void)unused;
  hub_rank *r = malloc(sizeof *r);
  if (!r) return error_out_of_memory(error);
  *r = hub_mine;
  *state = r;
  *rank = r->rank;
  *size = r->h->size;
  return VYRE_OK;
}

static void hub_send(hub *h, uint32_t from, uint32_t to, const void *data, size_t bytes) {
  hub_message *m = malloc(sizeof *m + bytes);
  if (!m) abort();
  m->next = NULL;
  m->bytes = bytes;
  memcpy(m->data, data, bytes);
  pthread_mutex_lock(&h->lock);
  if (h->last[from][to])
    h->last[from][to]->next = m;
  else
    h->first[from][to] = m;
  h->last[from][to] = m;
  h->sent_bytes += bytes;
  h->messages++;
  pthread_cond_broadcast(&h->changed);
  pthread_mutex_unlock(&h->lock);
}

static vyre_status hub_receive(hub *h, uint32_t from, uint32_t to, void *data, size_t bytes,
                               vyre_error *error) {
  pthread_mutex_lock(&h->lock);
  while (!h->first[from][to] && !h->failed) pthread_cond_wait(&h->changed, &h->lock);
  hub_message *m = h->first[from][to];
  if (m) {
    h->first[from][to] = m->next;
    if (!m->next) h->last[from][to] = NULL;
  }
  int who = h->failed;
  pthread_mutex_unlock(&h->lock);
  if (!m)
    return error_set(error, VYRE_ERROR_BACKEND, "rank %d cannot go on: %s", who - 1, h->failure);
  bool fits = m->bytes == bytes;
  if (fits) memcpy(data, m->data, bytes);
  free(m);
  if (fits) return VYRE_OK;
  return error_set(error, VYRE_ERROR_BACKEND, "plans do not fit. Fix: report this");
}

static vyre_status hub_exchange(void *state, const transport_message *sends, uint32_t send_count,
                                const transport_message *receives, uint32_t receive_count,
                                vyre_error *error) {
  hub_rank *r = state;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < send_count; i++)
    hub_send(r->h, r->rank, sends[i].rank, sends[i].data, sends[i].bytes);
  for (uint32_t i = 0; i < receive_count && status == VYRE_OK; i++)
    status =
        hub_receive(r->h, receives[i].rank, r->rank, receives[i].data, receives[i].bytes, error);
  return status;
}

static vyre_status hub_gather(void *state, const void *own, size_t bytes, void *all,
                              vyre_error *error) {
  hub_rank *r = state;
  vyre_status status = VYRE_OK;
  for (uint32_t n = 0; n < r->h->size; n++) hub_send(r->h, r->rank, n, own, bytes);
  for (uint32_t n = 0; n < r->h->size && status == VYRE_OK; n++)
    status = hub_receive(r->h, n, r->rank, (char *)all + n * bytes, bytes, error);
  return status;
}

static uint64_t hub_combined(vyre_type type, vyre_op op, uint64_t a, uint64_t b) {
  bool is_less = type_is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
  switch (op) {
  case VYRE_OP_ATOMIC_ADD: return a + b;
  case VYRE_OP_ATOMIC_MIN: return is_less ? a : b;
  case VYRE_OP_ATOMIC_MAX: return is_less ? b : a;
  case VYRE_OP_ATOMIC_AND: return a & b;
  case VYRE_OP_ATOMIC_OR: return a | b;
  case VYRE_OP_ATOMIC_XOR: return a ^ b;
  default: abort();
  }
}

static vyre_status hub_combine(void *state, void *data, uint64_t count, vyre_type type, vyre_op op,
                               vyre_error *error) {
  hub_rank *r = state;
  size_t size = type_bytes(type), bytes = count * size;
  char *all = malloc(bytes * r->h->size + 1);
  if (!all) return error_out_of_memory(error);
  vyre_status status = hub_gather(state, data, bytes, all, error);
  for (uint64_t i = 0; i < count && status == VYRE_OK; i++) {
    uint64_t sum = 0, next;
    for (uint32_t n = 0; n < r->h->size; n++) {
      next = 0;
      memcpy(&next, all + n * bytes + i * size, size);
      next = type_canonical_bits(type, next);
      sum = n ? hub_combined(type, op, sum, next) : next;
    }
    memcpy((char *)data + i * size, &sum, size);
  }
  free(all);
  return status;
}

static void hub_fail(void *state, const char *message) {
  hub_rank *r = state;
  pthread_mutex_lock(&r->h->lock);
  if (!r->h->failed) {
    snprintf(r->h->failure, sizeof r->h->failure, "%s", message);
    r->h->failed = (int)r->rank + 1;
  }
  pthread_cond_broadcast(&r->h->changed);
  pthread_mutex_unlock(&r->h->lock);
}

static void hub_close(void *state) {
  free(state);
}

static const cluster_transport hub_transport = {
    .version = TRANSPORT_VERSION,
    .open = hub_open,
    .exchange = hub_exchange,
    .gather = hub_gather,
    .combine = hub_combine,
    .fail = hub_fail,
    .close = hub_close,
};

#endif
