// SPDX-License-Identifier: MIT
#include "backend/warm.h"

#include "base/error.h"
#include "base/limited.h"

#include <stdlib.h>
#include <string.h>

void warm_init(warm_set *s) {
  *s = (warm_set){0};
  pthread_mutex_init(&s->lock, NULL);
}

void warm_fini(warm_set *s) {
  vec_free(&s->keys);
  pthread_mutex_destroy(&s->lock);
}

uint64_t warm_key(uint64_t key, uint64_t number) {
  key = (key ^ number) * UINT64_C(0x100000001b3);
  return key ^ key >> 29;
}

static bool is_warm(warm_set *s, uint64_t key) {
  bool found = false;
  pthread_mutex_lock(&s->lock);
  for (size_t n = 0; n < s->keys.count; n++) found |= s->keys.at[n] == key;
  pthread_mutex_unlock(&s->lock);
  return found;
}

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
  preparation *j = context;
  j->status = j->how->run(j->state, j->way, j->regions, stop, &j->error);
  if (j->status != VYRE_OK || __atomic_load_n(stop, __ATOMIC_RELAXED)) return;
  pthread_mutex_lock(&j->set->lock);
  (void)vec_push(&j->set->keys, j->key); // without memory: once more, next time
  pthread_mutex_unlock(&j->set->lock);
}

static const limited_work preparing = {.run = prepare, .discard = preparation_free};

vyre_status warm_launch(warm_set *s, const warm_how *how, void *state, int way, uint64_t key,
                        const launch *l, vyre_error *error) {
  size_t bytes = l->program->region_count * sizeof(launch_region);
  if (!l->timeout_ns || is_warm(s, key)) return VYRE_OK;
  preparation *j = calloc(1, sizeof *j);
  launch_region *regions = malloc(bytes);
  if (!j || !regions) {
    free(j);
    free(regions);
    return error_out_of_memory(error);
  }
  how->hold(state);
  *j = (preparation){.set = s, .how = how, .state = state, .way = way, .key = key};
  j->regions = memcpy(regions, l->regions, bytes);
  limited_end end = limited_run(&preparing, j, l->deadline_ns);
  if (end == LIMITED_LATE) return launch_compiling_error(l->program, error);
  vyre_status status = end == LIMITED_DONE ? j->status : launch_thread_error(error);
  if (end == LIMITED_DONE && status != VYRE_OK && error) *error = j->error;
  preparation_free(j);
  return status;
}
