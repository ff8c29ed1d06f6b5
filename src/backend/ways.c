// SPDX-License-Identifier: MIT
#include "backend/ways.h"

// More invocations than this are not waited for without polling.
#define SHORT_INVOCATIONS ((uint64_t)1 << 24)

void ways_init(ways *w, const ways_how *how) {
  w->how = how;
  pthread_mutex_init(&w->lock, NULL);
  pthread_mutex_init(&w->building, NULL);
  warm_init(&w->warm);
  atomic_init(&w->references, 1);
}

void ways_hold(void *state) {
  ways *w = state;
  atomic_fetch_add(&w->references, 1);
}

// Reachable, so that it is not taken for lost.
static void keep_for_device(ways *w) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static ways *kept;
  pthread_mutex_lock(&lock);
  w->next = kept;
  kept = w;
  pthread_mutex_unlock(&lock);
}

bool ways_drop(ways *w) {
  if (atomic_fetch_sub(&w->references, 1) > 1) return false;
  if (w->stuck) keep_for_device(w);
  return !w->stuck;
}

void ways_clear(ways *w) {
  for (int way = 0; way < WAY_COUNT; way++) {
    for (ways_runner *next; w->at_rest[way]; w->at_rest[way] = next) {
      next = w->at_rest[way]->next;
      w->how->runner_free(w->at_rest[way]);
    }
    if (w->is_built[way]) w->how->unbuild(w, way);
    w->is_built[way] = false;
  }
}

void ways_fini(ways *w) {
  pthread_mutex_destroy(&w->lock);
  pthread_mutex_destroy(&w->building);
  warm_fini(&w->warm);
}

static bool is_built(ways *w, int way) {
  pthread_mutex_lock(&w->lock);
  bool built = w->is_built[way];
  pthread_mutex_unlock(&w->lock);
  return built;
}

vyre_status ways_build(ways *w, int way, const volatile uint32_t *stop, vyre_error *error) {
  vyre_status status = VYRE_OK;
  if (is_built(w, way)) return VYRE_OK;
  pthread_mutex_lock(&w->building);
  if (!is_built(w, way)) {
    status = w->how->build(w, way, stop, error);
    pthread_mutex_lock(&w->lock);
    w->is_built[way] = status == VYRE_OK;
    pthread_mutex_unlock(&w->lock);
  }
  pthread_mutex_unlock(&w->building);
  return status;
}

vyre_status ways_take(ways *w, int way, const volatile uint32_t *stop, ways_runner **out,
                      vyre_error *error) {
  vyre_status status = ways_build(w, way, stop, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&w->lock);
  *out = w->at_rest[way];
  if (*out) w->at_rest[way] = (*out)->next;
  pthread_mutex_unlock(&w->lock);
  return *out ? VYRE_OK : w->how->runner_new(w, way, out, error);
}

void ways_give(ways *w, int way, ways_runner *runner) {
  pthread_mutex_lock(&w->lock);
  runner->next = w->at_rest[way];
  w->at_rest[way] = runner;
  pthread_mutex_unlock(&w->lock);
}

void ways_leave(ways *w, ways_runner *runner) {
  pthread_mutex_lock(&w->lock);
  runner->next = w->stuck;
  w->stuck = runner;
  pthread_mutex_unlock(&w->lock);
}

int ways_choose(const launch *l, bool is_long) {
  if (!launch_may_end(l)) return WAY_PLAIN;
  if (is_long) return WAY_POLLED;
  uint64_t invocations = launch_invocations(l, l->program->region_count);
  return invocations > SHORT_INVOCATIONS ? WAY_POLLED : WAY_PLAIN;
}

vyre_status ways_warm(ways *w, int way, uint64_t key, const launch *l, vyre_error *error) {
  return warm_launch(&w->warm, &w->how->warm, w, way, key, l, error);
}
