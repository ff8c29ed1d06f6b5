// SPDX-License-Identifier: MIT
#include "opt/passes.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/strbuf.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// What is registered comes behind those of the list.
static const pass *table[PASS_LIMIT] = {
#define PASS(name) &pass_##name,
#include "opt/passes.def"
#undef PASS
};

enum {
#define PASS(name) +1
  LISTED_PASSES = 0
#include "opt/passes.def"
#undef PASS
};
static_assert((int)LISTED_PASSES <= (int)PASS_LIMIT, "raise PASS_LIMIT");

static atomic_size_t table_count = LISTED_PASSES;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; // of whoever adds

__attribute__((constructor)) static void watch_forks(void) {
  fork_guard(&table_lock, NULL);
}

const pass *const *pass_table(size_t *count) {
  *count = atomic_load_explicit(&table_count, memory_order_acquire);
  return table;
}

const char *pass_family_name(pass_family family) {
  static const char *const names[PASS_FAMILY_COUNT] = {[PASS_FAMILY_SCALAR] = "scalar",
                                                       [PASS_FAMILY_SYNC] = "sync",
                                                       [PASS_FAMILY_LOOP] = "loop",
                                                       [PASS_FAMILY_MEMORY] = "memory",
                                                       [PASS_FAMILY_FUSION] = "fusion",
                                                       [PASS_FAMILY_DATAFLOW] = "dataflow",
                                                       [PASS_FAMILY_MEGAKERNEL] = "megakernel",
                                                       [PASS_FAMILY_UNKNOWN] = "unknown"};
  return names[family];
}

const char *pass_boundary_name(pass_boundary boundary) {
  static const char *const names[PASS_BOUNDARY_COUNT] = {
      [PASS_BOUNDARY_ABI_PRESERVING] = "abi-preserving",
      [PASS_BOUNDARY_REGION_CHANGING] = "region-changing",
      [PASS_BOUNDARY_ABI_CHANGING] = "abi-changing"};
  return names[boundary];
}

const char *pass_outcome_name(pass_outcome outcome) {
  static const char *const names[PASS_OUTCOME_COUNT] = {[PASS_CHANGED] = "changed",
                                                        [PASS_UNCHANGED] = "unchanged",
                                                        [PASS_NOT_SELECTED] = "not-selected",
                                                        [PASS_REFUSED] = "refused",
                                                        [PASS_REVERTED] = "reverted"};
  return names[outcome];
}

static size_t find(const pass *const *passes, size_t count, const char *name) {
  size_t i = 0;
  while (i < count && strcmp(passes[i]->info.name, name)) i++;
  return i;
}

const pass *pass_find(const char *name) {
  size_t count, i;
  const pass *const *passes = pass_table(&count);
  i = find(passes, count, name);
  return i < count ? passes[i] : NULL;
}

static vyre_status check_names(const pass *const *passes, size_t count, size_t i,
                               vyre_error *error) {
  const pass_info *info = &passes[i]->info;
  if (find(passes, count, info->name) != i)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "two passes are called `%s`. Fix: rename one in the pass table", info->name);
  static const char *const verbs[] = {"requires", "invalidates", "follows"};
  const char *const *lists[] = {info->requires, info->invalidates, info->follows};
  for (size_t k = 0; k < 3; k++)
    for (const char *const *name = lists[k]; name && *name; name++)
      if (find(passes, count, *name) == count)
        return error_set(error, VYRE_ERROR_ARGUMENT,
                         "pass `%s` %s `%s`, which is not in the table. Fix: add that pass or "
                         "correct the name",
                         info->name, verbs[k], *name);
  return VYRE_OK;
}

// Depth-first search over requirements; the path is printed when it meets itself.
typedef struct search {
  const pass *const *passes;
  size_t count;
  char *seen; // per pass: 1 on the path, 2 done
  size_t *path;
  size_t depth;
} search;

static bool has_cycle(search *s, size_t i) {
  s->path[s->depth++] = i;
  s->seen[i] = 1;
  for (const char *const *name = s->passes[i]->info.requires; name && *name; name++) {
    size_t next = find(s->passes, s->count, *name);
    if (s->seen[next] == 1) {
      s->path[s->depth++] = next;
      return true;
    }
    if (!s->seen[next] && has_cycle(s, next)) return true;
  }
  s->seen[i] = 2;
  s->depth--;
  return false;
}

static vyre_status cycle_error(const search *s, vyre_error *error) {
  strbuf path = {0};
  size_t first = 0;
  while (s->path[first] != s->path[s->depth - 1]) first++;
  for (size_t i = first; i < s->depth; i++)
    strbuf_printf(&path, "%s%s", i > first ? " -> " : "", s->passes[s->path[i]]->info.name);
  char *text = strbuf_take(&path, NULL);
  error_set(error, VYRE_ERROR_ARGUMENT,
            "passes require each other in a circle: %.300s. Fix: remove one of these requirements",
            text ? text : "");
  free(text);
  return VYRE_ERROR_ARGUMENT;
}

vyre_status pass_table_check(const pass *const *passes, size_t count, vyre_error *error) {
  for (size_t i = 0; i < count; i++) {
    vyre_status status = check_names(passes, count, i, error);
    if (status != VYRE_OK) return status;
  }
  search s = {passes, count, calloc(count + 1, 1), calloc(count + 2, sizeof(size_t)), 0};
  vyre_status status = s.seen && s.path ? VYRE_OK : error_out_of_memory(error);
  for (size_t i = 0; i < count && status == VYRE_OK; i++)
    if (!s.seen[i] && has_cycle(&s, i)) status = cycle_error(&s, error);
  free(s.seen);
  free(s.path);
  return status;
}

vyre_status pass_table_add(const pass *added, vyre_error *error) {
  pthread_mutex_lock(&table_lock);
  size_t count = atomic_load_explicit(&table_count, memory_order_relaxed);
  vyre_status status = VYRE_OK;
  if (count == PASS_LIMIT)
    status = error_set(error, VYRE_ERROR_LIMIT, "there are %d passes already. Fix: register fewer",
                       PASS_LIMIT);
  if (status == VYRE_OK) {
    const pass *all[PASS_LIMIT];
    memcpy(all, table, count * sizeof *all);
    all[count] = added;
    status = pass_table_check(all, count + 1, error);
  }
  if (status == VYRE_OK) {
    table[count] = added;
    atomic_store_explicit(&table_count, count + 1, memory_order_release);
  }
  pthread_mutex_unlock(&table_lock);
  return status;
}
