// SPDX-License-Identifier: MIT
#include "opt/passes.h"

#include "base/error.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

// In the order in which they run.
static const pass *const table[] = {
    &pass_canonicalize,
    &pass_const_fold,
    &pass_algebraic_simplify,
    &pass_strength_reduce,
    &pass_promote_variables,
    &pass_cse,
    &pass_if_simplify,
    &pass_dce,
    &pass_barrier_eliminate,
    &pass_atomic_simplify,
    &pass_licm,
    &pass_loop_unswitch,
    &pass_loop_bounds_tighten,
    &pass_loop_unroll,
    &pass_bounds_check_eliminate,
    &pass_load_forward,
    &pass_store_sink,
    &pass_dead_store,
    &pass_transient_eliminate,
    &pass_region_fusion,
    &pass_range_propagate,
    &pass_uniform_hoist,
    &pass_region_chain,
};

const pass *const *pass_table(size_t *count) {
  *count = sizeof table / sizeof *table;
  return table;
}

const char *pass_family_name(pass_family family) {
  static const char *const names[] = {"scalar", "sync",     "loop",       "memory",
                                      "fusion", "dataflow", "megakernel", "unknown"};
  return names[family];
}

const char *pass_phase_name(pass_phase phase) {
  return pass_family_name((pass_family)phase); // the phases are the families that are known
}

const char *pass_boundary_name(pass_boundary boundary) {
  static const char *const names[] = {"abi-preserving", "region-changing", "abi-changing"};
  return names[boundary];
}

const char *pass_outcome_name(pass_outcome outcome) {
  static const char *const names[] = {"changed", "unchanged", "not-selected", "refused",
                                      "reverted"};
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
  const char *const *lists[] = {info->requires, info->invalidates};
  for (size_t k = 0; k < 2; k++)
    for (const char *const *name = lists[k]; name && *name; name++)
      if (find(passes, count, *name) == count)
        return error_set(error, VYRE_ERROR_ARGUMENT,
                         "pass `%s` %s `%s`, which is not in the table. Fix: add that pass or "
                         "correct the name",
                         info->name, k ? "invalidates" : "requires", *name);
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
