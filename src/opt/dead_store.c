// SPDX-License-Identifier: MIT
//
// A store is dead when the same element is stored to again before anybody can look: the same index
// later in the same block, with no load or atomic of that object, no barrier, no jump and no other
// block between. Stores to transient buffers and private arrays that are never loaded are
// transient_eliminate's and dce's.
#include "opt/passes.h"

#include "base/vec.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

typedef struct pending_store {
  uint32_t at, mem;
  ref index;
} pending_store;

typedef vec(pending_store) pending_list;

enum { LOOK_BACK = 32 };

static void forget(pending_list *list, uint32_t mem) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++)
    if (list->at[i].mem != mem) list->at[kept++] = list->at[i];
  list->count = kept;
}

static bool add_store(pending_list *list, const inst *in, uint32_t at, bool *dead, uint32_t first) {
  for (size_t i = 0; i < list->count; i++)
    if (list->at[i].mem == in->arg[0] && list->at[i].index == in->arg[1]) {
      dead[list->at[i].at - first] = true;
      list->at[i].at = at;
      return true;
    }
  if (list->count == LOOK_BACK) list->count = 0;
  return vec_push(list, (pending_store){at, in->arg[0], in->arg[1]});
}

static bool find_dead(const rewriter *rw, bool *dead) {
  pending_list list = {0};
  bool ok = true;
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end && ok; i++) {
    const inst *in = &rw->from->code[i];
    if (in->op == VYRE_OP_STORE)
      ok = add_store(&list, in, i, dead, rw->region->body.first);
    else if (in->op == VYRE_OP_LOAD || op_is_atomic(in->op))
      forget(&list, in->arg[0]);
    else if (in->op >= VYRE_OP_IF || in->op == VYRE_OP_ARRAY)
      list.count = 0;
  }
  vec_free(&list);
  return ok;
}

static bool body(rewriter *rw) {
  size_t count = rw->region->body.end - rw->region->body.first;
  bool *dead = arena_alloc_array(rw->scratch, count, sizeof *dead);
  if (!dead || !find_dead(rw, dead)) return false;
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) {
    if (dead[i - rw->region->body.first])
      rewrite_drop(rw, i);
    else
      rewrite_keep(rw, i);
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_dead_store = {
    .info = {.name = "dead_store",
             .requires = (const char *const[]){"cse", NULL},
             .invalidates = (const char *const[]){"dce", NULL},
             .family = PASS_FAMILY_MEMORY},
    .summary = "remove stores that are overwritten before anybody looks",
    .never = "remove a store when a load, barrier, jump or block comes before the next",
    .run = run,
};
