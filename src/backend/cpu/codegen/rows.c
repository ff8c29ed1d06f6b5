// SPDX-License-Identifier: MIT
//
// Loops over boxes and rows. A row is cut into vectors: whole ones, and a last one in
// which only some lanes are active. The body is lowered once for each of the two.
#include "backend/cpu/codegen/kernel.h"

// ---- loops --------------------------------------------------------------------------------------

static llblock new_block(kernel *k, const char *name) {
  return LLVMAppendBasicBlockInContext(k->u->context, k->function, name);
}

void count_begin(kernel *k, LLVMBuilderRef b, count_loop *l, llval from, llval end, uint64_t step) {
  llblock before = LLVMGetInsertBlock(b), body = new_block(k, "body");
  *l = (count_loop){.end = end, .step = step};
  l->head = new_block(k, "count");
  l->exit = new_block(k, "counted");
  LLVMBuildBr(b, l->head);
  LLVMPositionBuilderAtEnd(b, l->head);
  l->at = LLVMBuildPhi(b, k->u->i64, "");
  LLVMAddIncoming(l->at, &from, &before, 1);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, l->at, end, ""), body, l->exit);
  LLVMPositionBuilderAtEnd(b, body);
}

void count_end(kernel *k, LLVMBuilderRef b, const count_loop *l) {
  llval next = LLVMBuildNSWAdd(b, l->at, const_i64(k->u, l->step), "");
  llblock from = LLVMGetInsertBlock(b);
  LLVMBuildBr(b, l->head);
  LLVMAddIncoming(l->at, &next, &from, 1);
  LLVMPositionBuilderAtEnd(b, l->exit);
}

// ---- vectors ------------------------------------------------------------------------------------

emitter *emitter_new(kernel *k, LLVMBuilderRef b, unsigned width, unsigned rows,
                     const shapes *shapes, const uint8_t *assume) {
  arena *a = &k->u->arena;
  uint32_t count = k->region->body.end - k->region->body.first + 1;
  emitter *e = arena_alloc(a, sizeof *e);
  if (!e) return NULL;
  *e = (emitter){.k = k, .u = k->u, .p = k->p, .b = b, .width = width, .rows = rows};
  e->shapes = shapes;
  e->assume = assume;
  e->first = k->region->body.first;
  e->values = arena_alloc_array(a, (size_t)count * rows, sizeof(llval));
  e->storage = arena_alloc_array(a, (size_t)count * rows, sizeof(llval));
  e->declared = arena_alloc_array(a, count, sizeof *e->declared);
  e->made = arena_alloc_array(a, count, sizeof *e->made);
  e->y = arena_alloc_array(a, rows, sizeof(llval));
  bool ok = e->values && e->storage && e->declared && e->made && e->y;
  if (ok && (shapes->returns & AXIS_X)) e->returned = build_variable(e, type_mask(e), "returned");
  return ok ? e : NULL;
}

void place_vector(emitter *e, const row *r, llval x) {
  e->x = r->origin ? LLVMBuildAdd(e->b, r->origin, x, "") : x;
  e->local_x = x;
  e->y[0] = r->y[0];
  e->z = r->z;
  for (int axis = 0; axis < 3; axis++) {
    e->group[axis] = r->group[axis];
    e->local[axis] = r->local[axis];
  }
  if (!e->keep) return;
  const uint32_t *size = e->k->region->workgroup;
  uint64_t vectors = (size[0] + e->width - 1) / e->width;
  llval at = LLVMBuildMul(e->b, r->local[2], const_i64(e->u, size[1]), "");
  at = LLVMBuildAdd(e->b, at, r->local[1], "");
  at = LLVMBuildMul(e->b, at, const_i64(e->u, vectors), "");
  e->vector = LLVMBuildAdd(e->b, at, LLVMBuildUDiv(e->b, x, const_i64(e->u, e->width), ""), "");
}

void emit_vector(emitter *e, const row *r, llval x, llval exec) {
  place_vector(e, r, x);
  e->exec = exec;
  e->done = build_block(e, "done");
  llblock after = build_block(e, "next_vector");
  bool has_return = e->keep && e->keep->phases->has_return;
  if (has_return)
    keep_begin_vector(e, after);
  else if (e->returned)
    LLVMBuildStore(e->b, LLVMConstNull(type_mask(e)), e->returned);
  if (e->keep) keep_enter(e, r->code);
  emit_range(e, r->code.first, r->code.end, e->done);
  build_go(e, e->done);
  build_at(e, e->done);
  if (e->keep) keep_leave(e, r->code);
  if (has_return) keep_end_vector(e, exec);
  build_go(e, after);
  build_at(e, after);
}

// Lanes below x1.
static llval tail_mask(const emitter *e, llval x, llval x1) {
  llval left = LLVMBuildTrunc(e->b, LLVMBuildSub(e->b, x1, x, ""), e->u->i32, "");
  llval lanes = build_lane_numbers(e, e->u->i32, 1);
  return mask_pack(e, LLVMBuildICmp(e->b, LLVMIntULT, lanes, build_splat(e, left), ""));
}

bool versions_new(kernel *k, LLVMBuilderRef b, const plan *plan, versions *out) {
  out->whole = emitter_new(k, b, plan->width, 1, &plan->shapes, NULL);
  out->part = emitter_new(k, b, plan->width, 1, &plan->shapes, NULL);
  return out->whole && out->part;
}

void emit_row(kernel *k, const versions *v, const row *r) {
  LLVMBuilderRef b = v->whole->b;
  unsigned width = v->whole->width;
  count_loop l;
  llval last = LLVMBuildSub(b, r->x1, const_i64(k->u, width - 1), "");
  llval is_less = LLVMBuildICmp(b, LLVMIntSLT, last, r->x0, "");
  last = LLVMBuildSelect(b, is_less, r->x0, last, "");
  count_begin(k, b, &l, r->x0, last, width);
  emit_vector(v->whole, r, l.at, NULL);
  count_end(k, b, &l);
  bool has_tail = width > 1;
  if (has_tail && LLVMIsConstant(r->x1) && LLVMIsConstant(r->x0))
    has_tail = (LLVMConstIntGetZExtValue(r->x1) - LLVMConstIntGetZExtValue(r->x0)) % width;
  if (!has_tail) return;
  llblock tail = new_block(k, "tail"), after = new_block(k, "row_done");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, l.at, r->x1, ""), tail, after);
  LLVMPositionBuilderAtEnd(b, tail);
  emit_vector(v->part, r, l.at, tail_mask(v->part, l.at, r->x1));
  LLVMBuildBr(b, after);
  LLVMPositionBuilderAtEnd(b, after);
}

// ---- boxes --------------------------------------------------------------------------------------

void poll_stop(kernel *k, LLVMBuilderRef b) {
  emitter e = {.k = k, .u = k->u, .b = b, .width = 1};
  build_poll(&e);
}

void emit_box(kernel *k, LLVMBuilderRef b, const plan *plan) {
  count_loop z, y;
  versions v;
  if (!versions_new(k, b, plan, &v)) return;
  row r = {.x0 = kernel_bound(k, k->lo, 0), .x1 = kernel_bound(k, k->hi, 0)};
  llval y0 = kernel_bound(k, k->lo, 1), y1 = kernel_bound(k, k->hi, 1);
  count_begin(k, b, &z, kernel_bound(k, k->lo, 2), kernel_bound(k, k->hi, 2), 1);
  count_begin(k, b, &y, y0, y1, 1);
  poll_stop(k, b);
  r.y[0] = y.at;
  r.z = z.at;
  r.code = k->region->body;
  emit_row(k, &v, &r);
  count_end(k, b, &y);
  count_end(k, b, &z);
}
