// SPDX-License-Identifier: MIT
#include "cluster/layout.h"

#include "base/hash.h"

void layout_sets_free(intervals *has, uint32_t ranks) {
  for (uint32_t n = 0; has && n < ranks; n++) intervals_free(&has[n]);
  free(has);
}

static uint64_t hash_of(uint32_t ranks, uint64_t size, const intervals *has) {
  uint64_t hash = size;
  for (uint32_t n = 0; n < ranks; n++) {
    uint64_t facts[3] = {hash, n, 0};
    facts[2] = has[n].count ? hash_fast(has[n].at, has[n].count * sizeof *has[n].at) : 0;
    hash = hash_fast(facts, sizeof facts);
  }
  return hash;
}

static bool is_same(const layout *l, uint32_t ranks, uint64_t size, const intervals *has) {
  if (l->ranks != ranks || l->size != size) return false;
  for (uint32_t n = 0; n < ranks; n++)
    if (!intervals_are_same(&l->has[n], &has[n])) return false;
  return true;
}

layout *layout_intern(layout_table *t, uint32_t ranks, uint64_t size, intervals *has) {
  uint64_t hash = hash_of(ranks, size, has);
  layout **slot = &t->slots[hash % LAYOUT_SLOTS];
  for (layout *l = *slot; l; l = l->next) {
    if (l->hash != hash || !is_same(l, ranks, size, has)) continue;
    layout_sets_free(has, ranks);
    return layout_retain(l);
  }
  layout *made = malloc(sizeof *made);
  if (!made) {
    layout_sets_free(has, ranks);
    return NULL;
  }
  *made = (layout){has, ranks, 1, size, hash, *slot, t};
  return *slot = made;
}

layout *layout_everywhere(layout_table *t, uint32_t ranks, uint64_t size) {
  intervals *has = calloc(ranks, sizeof *has);
  bool ok = has != NULL;
  for (uint32_t n = 0; n < ranks && ok; n++) ok = intervals_push(&has[n], 0, size);
  if (ok) return layout_intern(t, ranks, size, has);
  layout_sets_free(has, ranks);
  return NULL;
}

layout *layout_retain(layout *l) {
  l->references++;
  return l;
}

void layout_release(layout_table *t, layout *l) {
  if (!l || --l->references) return;
  layout **at = &t->slots[l->hash % LAYOUT_SLOTS];
  while (*at != l) at = &(*at)->next;
  *at = l->next;
  layout_sets_free(l->has, l->ranks);
  free(l);
}

intervals *layout_copy(const layout *l) {
  intervals *has = calloc(l->ranks, sizeof *has);
  bool ok = has != NULL;
  for (uint32_t n = 0; n < l->ranks && ok; n++) ok = intervals_copy(&l->has[n], &has[n]);
  if (ok) return has;
  layout_sets_free(has, l->ranks);
  return NULL;
}
