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
#include <time.h>

enum { HUB_RANKS = 16, HUB_DATA = 0, HUB_ALL = 1 };

typedef struct hub_message {
  struct hub_message *next;
  size_t bytes;
  char data[];
} hub_message;

typedef struct hub {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint32_t size, opened;
  // By kind (messages of plans; what all ranks do), from, to.
  hub_message *first[2][HUB_RANKS][HUB_RANKS], *last[2][HUB_RANKS][HUB_RANKS];
  hub_message *places[HUB_RANKS][HUB_RANKS]; // what ranks say of themselves: from, to
  uint64_t sent_bytes, messages;
  int failed; // the rank that cannot go on, plus 1
  char failure[600];
} hub;

typedef struct hub_rank {
  hub *h;
  uint32_t rank;
  const transport_place *place;
  const transport_message *receives; // of the set that was begun
  uint32_t receive_count;
} hub_rank;

// Which hub, and which rank, the thread that opens it has.
static _Thread_local hub_rank hub_mine;

static void hub_init(hub *h, uint32_t size) {
  *h = (hub){.size = size};
  pthread_mutex_init(&h->lock, NULL);
  pthread_cond_init(&h->changed, NULL);
}

static void hub_free_messages(hub_message *m) {
  for (hub_message *next; m; m = next) {
    next = m->next;
    free(m);
  }
}

static void hub_fini(hub *h) {
  for (uint32_t a = 0; a < h->size; a++)
    for (uint32_t b = 0; b < h->size; b++) {
      hub_free_messages(h->first[HUB_DATA][a][b]);
      hub_free_messages(h->first[HUB_ALL][a][b]);
      free(h->places[a][b]);
    }
  pthread_mutex_destroy(&h->lock);
  pthread_cond_destroy(&h->changed);
}

static vyre_status hub_open(int32_t unused, const transport_place *place, void **state,
                            uint32_t *rank, uint32_t *size, vyre_error *error) {
  (void)unused;
  hub_rank *r = malloc(sizeof *r);
  if (!r) return error_out_of_memory(error);
  *r = hub_mine;
  r->place = place;
  *state = r;
  *rank = r->rank;
  *size = r->h->size;
  return VYRE_OK;
}

static void hub_send(hub_rank *r, int kind, uint32_t to, const void *data, size_t bytes) {
  hub *h = r->h;
  uint32_t from = r->rank;
  hub_message *m = malloc(sizeof *m + bytes);
  if (!m) abort();
  m->next = NULL;
  m->bytes = bytes;
  memcpy(m->data, data, bytes);
  pthread_mutex_lock(&h->lock);
  if (h->last[kind][from][to])
    h->last[kind][from][to]->next = m;
  else
    h->first[kind][from][to] = m;
  h->last[kind][from][to] = m;
  h->sent_bytes += bytes;
  h->messages++;
  pthread_cond_broadcast(&h->changed);
  pthread_mutex_unlock(&h->lock);
}

// With the lock.
static void hub_tell(hub_rank *r, uint32_t to) {
  hub *h = r->h;
  hub_message *m = malloc(sizeof *m + r->place->bytes);
  if (!m) abort();
  m->next = NULL;
  m->bytes = r->place->bytes;
  memcpy(m->data, r->place->own, m->bytes);
  free(h->places[r->rank][to]);
  h->places[r->rank][to] = m;
  pthread_cond_broadcast(&h->changed);
}

// What others said while this rank waits; with the lock, which is given away meanwhile.
static vyre_status hub_listen(hub_rank *r, vyre_error *error) {
  hub *h = r->h;
  vyre_status status = VYRE_OK;
  for (uint32_t n = 0; n < h->size && status == VYRE_OK; n++) {
    hub_message *m = h->places[n][r->rank];
    if (!m) continue;
    bool answer = false;
    h->places[n][r->rank] = NULL;
    pthread_mutex_unlock(&h->lock);
    status = r->place->compare(r->place->context, n, m->data, &answer, error);
    free(m);
    pthread_mutex_lock(&h->lock);
    if (status == VYRE_OK && answer) hub_tell(r, n);
  }
  return status;
}

enum { HUB_TELL_MS = 50 }; // ranks that wait for longer say where they are

// With the lock; whether the time was over.
static bool hub_wait(hub *h) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += HUB_TELL_MS * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000L;
  until.tv_nsec %= 1000000000L;
  return pthread_cond_timedwait(&h->changed, &h->lock, &until) != 0;
}

// A message of another size: the others may know why.
static vyre_status hub_puzzled(hub_rank *r, vyre_error *error) {
  hub *h = r->h;
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&h->lock);
  for (int turn = 0; turn < 100 && status == VYRE_OK && !h->failed; turn++) {
    for (uint32_t n = 0; n < h->size; n++)
      if (n != r->rank) hub_tell(r, n);
    hub_wait(h);
    status = hub_listen(r, error);
  }
  if (status == VYRE_OK && h->failed)
    status =
        error_set(error, VYRE_ERROR_BACKEND, "rank %d cannot go on: %s", h->failed - 1, h->failure);
  pthread_mutex_unlock(&h->lock);
  if (status != VYRE_OK) return status;
  return error_set(error, VYRE_ERROR_BACKEND, "plans do not fit. Fix: report this");
}

static vyre_status hub_receive(hub_rank *r, int kind, uint32_t from, void *data, size_t bytes,
                               vyre_error *error) {
  hub *h = r->h;
  uint32_t to = r->rank;
  vyre_status status = VYRE_OK;
  pthread_mutex_lock(&h->lock);
  while (!h->first[kind][from][to] && !h->failed && status == VYRE_OK) {
    if (hub_wait(h)) hub_tell(r, from);
    status = hub_listen(r, error);
  }
  hub_message *m = h->first[kind][from][to];
  if (m) {
    h->first[kind][from][to] = m->next;
    if (!m->next) h->last[kind][from][to] = NULL;
  }
  int who = h->failed;
  pthread_mutex_unlock(&h->lock);
  if (status != VYRE_OK) {
    free(m);
    return status;
  }
  if (!m)
    return error_set(error, VYRE_ERROR_BACKEND, "rank %d cannot go on: %s", who - 1, h->failure);
  bool fits = m->bytes == bytes;
  if (fits) memcpy(data, m->data, bytes);
  free(m);
  if (fits) return VYRE_OK;
  return hub_puzzled(r, error);
}

static vyre_status hub_begin(void *state, const transport_message *sends, uint32_t send_count,
                             const transport_message *receives, uint32_t receive_count,
                             vyre_error *error) {
  (void)error;
  hub_rank *r = state;
  for (uint32_t i = 0; i < send_count; i++)
    hub_send(r, HUB_DATA, sends[i].rank, sends[i].data, sends[i].bytes);
  r->receives = receives;
  r->receive_count = receive_count;
  return VYRE_OK;
}

static vyre_status hub_test(void *state, bool *is_done, vyre_error *error) {
  (void)state;
  (void)error;
  *is_done = false;
  return VYRE_OK;
}

static vyre_status hub_end(void *state, vyre_error *error) {
  hub_rank *r = state;
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < r->receive_count && status == VYRE_OK; i++)
    status = hub_receive(r, HUB_DATA, r->receives[i].rank, r->receives[i].data,
                         r->receives[i].bytes, error);
  r->receive_count = 0;
  return status;
}

static vyre_status hub_gather(void *state, const void *own, size_t bytes, void *all,
                              vyre_error *error) {
  hub_rank *r = state;
  vyre_status status = VYRE_OK;
  for (uint32_t n = 0; n < r->h->size; n++) hub_send(r, HUB_ALL, n, own, bytes);
  for (uint32_t n = 0; n < r->h->size && status == VYRE_OK; n++)
    status = hub_receive(r, HUB_ALL, n, (char *)all + n * bytes, bytes, error);
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
    .begin = hub_begin,
    .test = hub_test,
    .end = hub_end,
    .gather = hub_gather,
    .combine = hub_combine,
    .fail = hub_fail,
    .close = hub_close,
};

#endif
