// SPDX-License-Identifier: MIT
//
// Rigid regions: one workgroup after the other, the shared arrays cleared before each where
// somebody could see what they held. Without barriers a workgroup is rows of invocations. With
// barriers it runs in phases (barrier.c) where the whole group provably takes the same way, else
// each invocation on its own from barrier to barrier (resume.c).
#include "analysis/overwritten.h"
#include "backend/cpu/codegen/kernel.h"

static void clear_shared(kernel *k, LLVMBuilderRef b) {
  for (uint32_t i = k->region->shared.first; i < k->region->shared.end; i++) {
    const shared_array *s = &k->p->shared[i];
    if (shared_is_overwritten(k->p, k->region, i)) continue;
    llval bytes = const_i64(k->u, (uint64_t)s->length * type_bytes(s->type));
    LLVMBuildMemSet(b, kernel_shared(k, i), LLVMConstInt(k->u->i8, 0, false), bytes, 64);
  }
}

static llval first_of(kernel *k, LLVMBuilderRef b, const row *r, int axis) {
  return LLVMBuildMul(b, r->group[axis], const_i64(k->u, k->region->workgroup[axis]), "");
}

void group_rows_begin(kernel *k, LLVMBuilderRef b, group_rows *g, row *r) {
  const uint32_t *size = k->region->workgroup;
  llval zero = const_i64(k->u, 0);
  g->y.at = g->z.at = zero;
  if (size[2] > 1) count_begin(k, b, &g->z, zero, const_i64(k->u, size[2]), 1);
  if (size[1] > 1) count_begin(k, b, &g->y, zero, const_i64(k->u, size[1]), 1);
  r->local[1] = g->y.at;
  r->local[2] = g->z.at;
  r->y[0] = LLVMBuildAdd(b, first_of(k, b, r, 1), g->y.at, "");
  r->z = LLVMBuildAdd(b, first_of(k, b, r, 2), g->z.at, "");
  r->origin = first_of(k, b, r, 0);
  r->x0 = zero;
  r->x1 = const_i64(k->u, size[0]);
}

void group_rows_end(kernel *k, LLVMBuilderRef b, const group_rows *g) {
  if (k->region->workgroup[1] > 1) count_end(k, b, &g->y);
  if (k->region->workgroup[2] > 1) count_end(k, b, &g->z);
}

static void emit_plain_group(kernel *k, LLVMBuilderRef b, versions *v, row *r) {
  group_rows g;
  group_rows_begin(k, b, &g, r);
  r->code = k->region->body;
  emit_row(k, v, r);
  group_rows_end(k, b, &g);
}

static void emit_voted(kernel *k, LLVMBuilderRef b, versions *v, const plan *plan, row *r) {
  emitter *vote = emitter_new(k, b, plan->width, 1,
                              plan->width == 1 ? &plan->apart_flat : &plan->apart_shapes, NULL);
  emitter *apart = emitter_new(k, b, 1, 1, &plan->apart_flat, NULL);
  if (!vote || !apart) return;
  llblock together = build_block(vote, "together"), one_by_one = build_block(vote, "one_by_one");
  llblock after = build_block(vote, "voted");
  LLVMBuildCondBr(b, vote_emit(k, vote, r), together, one_by_one);
  build_at(vote, together);
  emit_phases(k, b, v, plan->phases, r);
  build_go(vote, after);
  build_at(vote, one_by_one);
  emit_resumed(k, apart, plan->apart, r);
  build_go(vote, after);
  build_at(vote, after);
}

void emit_groups(kernel *k, LLVMBuilderRef b, const plan *plan) {
  count_loop at[3];
  llval lo[3], hi[3];
  row r = {.origin = NULL};
  versions v;
  if (!versions_new(k, b, plan, &v)) return;
  for (uint32_t axis = 0; axis < 3; axis++) {
    lo[axis] = kernel_bound(k, k->lo, axis);
    hi[axis] = kernel_bound(k, k->hi, axis);
  }
  for (int axis = 2; axis >= 0; axis--) {
    count_begin(k, b, &at[axis], lo[axis], hi[axis], 1);
    r.group[axis] = at[axis].at;
  }
  poll_stop(k, b);
  clear_shared(k, b);
  if (!plan->phases)
    emit_plain_group(k, b, &v, &r);
  else if (plan->apart)
    emit_voted(k, b, &v, plan, &r);
  else if (plan->phases->is_together)
    emit_phases(k, b, &v, plan->phases, &r);
  else
    emit_resumed(k, v.part, plan->phases, &r);
  for (int axis = 0; axis < 3; axis++) count_end(k, b, &at[axis]);
}
