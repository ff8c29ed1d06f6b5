// SPDX-License-Identifier: MIT
#include "backend/warm.h"

#include "base/error.h"
#include "base/limited.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void warm_init(warm_set *s) {
  *s = (warm_set){0};
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&s->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&s->lock, NULL);
}

void warm_fini(warm_set *s) {
  vec_free(&s->keys);
  vec_free(&s->under_way);
  pthread_cond_destroy(&s->changed);
  pthread_mutex_destroy(&s->lock);
}

uint64_t warm_key(uint64_t key, uint64_t number) {
  key = (key ^ number) * UINT64_C(0x100000001b3);
  return key ^ key >> 29;
}

// ---- keys ---------------------------------------------------------------------------------------

typedef enum key_state { KEY_WARM, KEY_LATE, KEY_OWN, KEY_NO_MEMORY } key_state;

// With the lock. Where it is; the count when it is nowhere.
static size_t place_of(const uint64_t *keys, size_t count, uint64_t key) {
  size_t at = 0;
  while (at < count && keys[at] != key) at++;
  return at;
}

static bool is_warm(const warm_set *s, uint64_t key) {
  return place_of(s->keys.at, s->keys.count, key) < s->keys.count;
}

static bool is_under_way(const warm_set *s, uint64_t key) {
  return place_of(s->under_way.at, s->under_way.count, key) < s->under_way.count;
}

// Waits for whoever is at it; KEY_OWN: nobody was, and the caller has to see to it.
static key_state claim(warm_set *s, uint64_t key, uint64_t deadline_ns) {
  struct timespec until = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
  int passed = 0;
  pthread_mutex_lock(&s->lock);
  while (!is_warm(s, key) && is_under_way(s, key) && !passed)
    passed = pthread_cond_timedwait(&s->changed, &s->lock, &until);
  key_state state = is_warm(s, key)                ? KEY_WARM
                    : is_under_way(s, key)         ? KEY_LATE
                    : vec_push(&s->under_way, key) ? KEY_OWN
                                                   : KEY_NO_MEMORY;
  pthread_mutex_unlock(&s->lock);
  return state;
}

static void settle(warm_set *s, uint64_t key, bool is_done) {
  pthread_mutex_lock(&s->lock);
  s->under_way.at[place_of(s->under_way.at, s->under_way.count, key)] =
      s->under_way.at[s->under_way.count - 1];
  s->under_way.count--;
  if (is_done) (void)vec_push(&s->keys, key); // without memory: once more, next time
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

// ---- compiling ----------------------------------------------------------------------------------

// Owns what it uses.
typedef struct preparation {
  warm_set *set;
  const warm_how *how;
  void *state;
  int way;
  uint64_t key;
  launch_region *regions;
  vyre_status status;
  vyre_error error;
} preparation;

static void preparation_free(void *context) {
  preparation *j = context;
  j->how->release(j->state);
  free(j->regions);
  free(j);
}

static void prepare(void *context, const volatile uint32_t *stop) {
  static const volatile uint32_t never = 0;
  preparation *j = context;
  (void)stop; // there is one for each kind of launch, and it is needed later if not now
  j->status = j->how->run(j->state, j->way, j->regions, &never, &j->error);
  settle(j->set, j->key, j->status == VYRE_OK);
}

static const limited_work preparing = {.run = prepare, .discard = preparation_free};

static vyre_status run_preparation(preparation *j, const launch *l, vyre_error *error) {
  limited_end end = limited_run(&preparing, j, l->deadline_ns);
  if (end == LIMITED_LATE) return launch_compiling_error(l->program, error);
  if (end == LIMITED_NONE) settle(j->set, j->key, false);
  vyre_status status = end == LIMITED_DONE ? j->status : launch_thread_error(error);
  if (end == LIMITED_DONE && status != VYRE_OK && error) *error = j->error;
  preparation_free(j);
  return status;
}

vyre_status warm_launch(warm_set *s, const warm_how *how, void *state, int way, uint64_t key,
                        const launch *l, vyre_error *error) {
  size_t bytes = l->program->region_count * sizeof(launch_region);
  if (!l->timeout_ns) return VYRE_OK;
  key_state known = claim(s, key, l->deadline_ns);
  if (known == KEY_WARM) return VYRE_OK;
  if (known == KEY_LATE) return launch_compiling_error(l->program, error);
  if (known == KEY_NO_MEMORY) return error_out_of_memory(error);
  preparation *j = calloc(1, sizeof *j);
  launch_region *regions = malloc(bytes);
  if (!j || !regions) {
    free(j);
    free(regions);
    settle(s, key, false);
    return error_out_of_memory(error);
  }
  how->hold(state);
  *j = (preparation){.set = s, .how = how, .state = state, .way = way, .key = key};
  j->regions = memcpy(regions, l->regions, bytes);
  return run_preparation(j, l, error);
}
