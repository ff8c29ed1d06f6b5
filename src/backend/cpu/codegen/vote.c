// SPDX-License-Identifier: MIT
//
// Barriers under conditions that differ between invocations but seldom inside of a workgroup, such
// as `if (row < rows)`. Where such conditions rest on ids and arguments alone, a workgroup asks
// them of all its invocations before it begins: if they hold for everybody, it runs in phases, as
// if there were no conditions. Else it runs one by one, which finds out whether that is an error.
#include "backend/cpu/codegen/kernel.h"

// ---- whether ------------------------------------------------------------------------------------

static bool holds_barrier(const kernel *k, uint32_t i) {
  for (uint32_t at = i + 1; at < inst_end(&k->p->code[i]); at++)
    if (k->p->code[at].op == VYRE_OP_BARRIER) return true;
  return false;
}

static bool is_voted(const kernel *k, const shapes *s, uint32_t i) {
  const inst *in = &k->p->code[i];
  return in->op == VYRE_OP_IF && block_at(s, i)->parts && holds_barrier(k, i) &&
         is_apart(k, 0, in->arg[0]);
}

static bool compute(kernel *k, plan *plan, const uint8_t *voted) {
  arena *a = &k->u->arena;
  phases *together = arena_alloc(a, sizeof *together);
  shapes s;
  if (!together || !shapes_compute(a, k->p, k->region, &k->known, voted, &s) ||
      !phases_compute(a, k->p, k->region, &s, together))
    return false;
  if (!together->is_together) return true;
  k->voted = voted;
  plan->apart = plan->phases;
  plan->apart_shapes = plan->shapes;
  plan->shapes = s;
  plan->phases = together;
  return true;
}

bool vote_plan(kernel *k, plan *plan) {
  uint32_t count = k->region->body.end - k->region->body.first, found = 0;
  uint8_t *voted = arena_alloc_array(&k->u->arena, count + 1u, 1);
  if (!voted) return false;
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++) {
    if (!is_voted(k, &plan->shapes, i)) continue;
    voted[i - k->region->body.first] = ASSUME_TRUE;
    found++;
  }
  return !found || compute(k, plan, voted);
}

// ---- asking -------------------------------------------------------------------------------------

// Of the vector at x: whether the conditions hold for all of its invocations.
static llval holds(emitter *e, const row *r, llval x) {
  llval left = LLVMBuildTrunc(e->b, LLVMBuildSub(e->b, r->x1, x, ""), e->u->i32, "");
  llval lanes = build_lane_numbers(e, e->u->i32, 1);
  llval is_here = LLVMBuildICmp(e->b, LLVMIntULT, lanes, build_splat(e, left), "");
  llval fails = LLVMConstNull(type_vector_of(e, e->u->i1));
  place_vector(e, r, x);
  e->round++;
  for (uint32_t i = e->first; i < e->k->region->body.end; i++) {
    if (!e->k->voted[i - e->first]) continue;
    ref condition = e->p->code[i].arg[0];
    if (!ref_is_const(condition)) emit_tree(e, condition, NULL);
    llval is_not = LLVMBuildNot(e->b, value_vector(e, condition, 0), "");
    fails = LLVMBuildOr(e->b, fails, is_not, "");
  }
  return LLVMBuildNot(e->b, bits_any(e, LLVMBuildAnd(e->b, fails, is_here, "")), "");
}

llval vote_emit(kernel *k, emitter *e, row *r) {
  group_rows rows;
  count_loop x;
  llval all = build_variable(e, k->u->i1, "all");
  LLVMBuildStore(e->b, LLVMConstInt(k->u->i1, 1, false), all);
  group_rows_begin(k, e->b, &rows, r);
  count_begin(k, e->b, &x, r->x0, r->x1, e->width);
  llval so_far = LLVMBuildLoad2(e->b, k->u->i1, all, "");
  LLVMBuildStore(e->b, LLVMBuildAnd(e->b, so_far, holds(e, r, x.at), ""), all);
  count_end(k, e->b, &x);
  group_rows_end(k, e->b, &rows);
  return LLVMBuildLoad2(e->b, k->u->i1, all, "");
}
