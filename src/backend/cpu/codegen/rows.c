// SPDX-License-Identifier: MIT
//
// Loops over boxes and rows. A row is cut into vectors: whole ones where the assumptions hold (see
// guard.h), and elsewhere vectors in which only some lanes are active. The body is lowered once for
// each of the two.
#include "backend/cpu/codegen/kernel.h"
#include "backend/cpu/codegen/lines.h"
#include "backend/cpu/codegen/tally.h"

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

// The operations that read each variable and array.
static void find_uses(emitter *e) {
  for (uint32_t i = e->first; i < e->k->region->body.end; i++) {
    const inst *in = &e->p->code[i];
    bool is_load = in->op == VYRE_OP_LOAD && mem_space(in->arg[0]) == MEM_PRIVATE;
    if (in->op != VYRE_OP_GET && !is_load) continue;
    range *used = &e->used[(is_load ? mem_index(in->arg[0]) : in->arg[0]) - e->first];
    if (!used->first) used->first = i;
    used->end = i;
  }
}

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
  e->wide = arena_alloc_array(a, count, sizeof(llval));
  e->declared = arena_alloc_array(a, count, sizeof *e->declared);
  e->used = arena_alloc_array(a, count, sizeof *e->used);
  e->made = arena_alloc_array(a, count, sizeof *e->made);
  e->early = arena_alloc_array(a, count, sizeof *e->early);
  e->y = arena_alloc_array(a, rows, sizeof(llval));
  bool ok =
      e->values && e->storage && e->wide && e->declared && e->made && e->used && e->y && e->early;
  if (ok) find_uses(e);
  if (ok && (shapes->returns & AXIS_X)) e->returned = build_variable(e, type_mask(e), "returned");
  return ok ? e : NULL;
}

void place_vector(emitter *e, const row *r, llval x) {
  e->x = r->origin ? LLVMBuildAdd(e->b, r->origin, x, "") : x;
  e->local_x = x;
  for (unsigned i = 0; i < e->rows; i++) e->y[i] = r->y[i];
  e->z = r->z;
  for (int axis = 0; axis < 3; axis++) {
    e->group[axis] = r->group[axis];
    e->local[axis] = r->local[axis];
  }
  if (!e->keep || !r->local[1]) return;
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

// The first and the last elements of rows mostly: a vector takes as long for one lane as for all.
// Bodies with loops take long for each, and large ones are much code once more.
enum { FEW_LANES = 3, MOST_ALONE = 200 };

static bool can_be_alone(const kernel *k, const plan *plan) {
  uint32_t operations = k->region->body.end - k->region->body.first;
  return plan->guards.count && plan->width > FEW_LANES && !plan->phases && !has_loop(k) &&
         operations <= MOST_ALONE && !k->is_large && k->u->options->tier != VYRE_TIER_QUICK;
}

bool versions_new(kernel *k, LLVMBuilderRef b, const plan *plan, versions *out) {
  bool is_guarded = plan->guards.count > 0;
  const shapes *fast = is_guarded ? &plan->fast_shapes : &plan->shapes;
  out->guards = plan->guards;
  out->fast = emitter_new(k, b, plan->width, 1, fast, is_guarded ? plan->guards.assume : NULL);
  out->part = emitter_new(k, b, plan->width, 1, &plan->shapes, NULL);
  out->scalar = emitter_new(k, b, 1, 1, &plan->flat, NULL);
  if (!out->fast || !out->part || !out->scalar) return false;
  out->fast->guards = &out->guards;
  out->repeats = may_repeat(k);
  out->jam = out->other = out->one = NULL;
  if (can_be_alone(k, plan)) {
    out->one = emitter_new(k, b, 1, 1, &plan->flat, NULL);
    if (!out->one) return false;
  }
  out->fast->is_main = plan->rows == 1;
  if (plan->rows > 1) {
    out->jam_guards = plan->jam_guards;
    out->jam =
        emitter_new(k, b, plan->width, plan->rows, &plan->jam_shapes, plan->jam_guards.assume);
    if (!out->jam) return false;
    out->jam->guards = &out->jam_guards;
    out->jam->is_main = true;
    out->packing = plan->packing;
  }
  out->pack = NULL;
  if (plan->packing.count) {
    out->pack = emitter_new(k, b, plan->width, 1, &plan->shapes, NULL);
    if (!out->pack) return false;
    out->pack->guards = &out->jam_guards; // looks whether a line is inside, before its lanes
  }
  if (plan->has_other) {
    out->other_guards = plan->other_guards;
    out->other = emitter_new(k, b, plan->width, 1, &plan->other_shapes, plan->other_guards.assume);
    if (!out->other) return false;
    out->other->guards = &out->other_guards;
  }
  return true;
}

// Lanes from x on, as many as a vector has, until `end`: one by one where they are few.
static void emit_some(kernel *k, versions *v, const row *r, llval x, llval end) {
  LLVMBuilderRef b = v->fast->b;
  llval mask = v->part->width == 1 ? NULL : tail_mask(v->part, x, end);
  if (!v->one) {
    emit_vector(v->part, r, x, mask);
    return;
  }
  llblock few = new_block(k, "few"), some = new_block(k, "some"), after = new_block(k, "after");
  llval count = LLVMBuildSub(b, end, x, "");
  llval is_few = LLVMBuildICmp(b, LLVMIntSLE, count, const_i64(k->u, FEW_LANES), "");
  LLVMBuildCondBr(b, is_few, few, some);
  LLVMPositionBuilderAtEnd(b, few);
  count_loop l;
  count_begin(k, b, &l, x, end, 1);
  emit_vector(v->one, r, l.at, NULL);
  count_end(k, b, &l);
  LLVMBuildBr(b, after);
  LLVMPositionBuilderAtEnd(b, some);
  emit_vector(v->part, r, x, mask);
  LLVMBuildBr(b, after);
  LLVMPositionBuilderAtEnd(b, after);
}

// The stretch of the row for which the assumptions hold.
void find_stretch(versions *v, guards *g, const row *r, llval *first, llval *end) {
  *first = r->x0;
  *end = r->x1;
  if (!g->count) return;
  place_vector(v->scalar, r, const_i64(v->scalar->u, 0));
  guards_emit(g, r->code, v->scalar, r->x0, r->x1, first, end);
}

static bool is_known(llval v, int64_t *value) {
  if (!LLVMIsAConstantInt(v)) return false;
  *value = LLVMConstIntGetSExtValue(v);
  return true;
}

// Whole vectors from `from` on, at least one, until `stop`.
void emit_stretch(kernel *k, emitter *e, const row *r, llval from, llval stop) {
  LLVMBuilderRef b = e->b;
  int64_t start, end;
  if (is_known(from, &start) && is_known(stop, &end) && end - start == (int64_t)e->width) {
    emit_vector(e, r, from, NULL);
    return;
  }
  llblock before = LLVMGetInsertBlock(b), loop = new_block(k, "vectors");
  llblock after = new_block(k, "after_vectors");
  LLVMBuildBr(b, loop);
  LLVMPositionBuilderAtEnd(b, loop);
  llval at = LLVMBuildPhi(b, k->u->i64, "x");
  LLVMAddIncoming(at, &from, &before, 1);
  emit_vector(e, r, at, NULL);
  llval next = LLVMBuildNSWAdd(b, at, const_i64(k->u, e->width), "");
  llblock latch = LLVMGetInsertBlock(b);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, next, stop, ""), loop, after);
  LLVMAddIncoming(at, &next, &latch, 1);
  LLVMPositionBuilderAtEnd(b, after);
}

// Without assumptions and with nothing left over, one loop is all.
static bool is_even(const versions *v, const row *r) {
  if (v->guards.count) return false;
  if (v->fast->width == 1) return true;
  int64_t x0, x1;
  return is_known(r->x0, &x0) && is_known(r->x1, &x1) && (x1 - x0) % v->fast->width == 0;
}

// The row without what does nothing at its ends.
static row cut_row(versions *v, const row *r) {
  row cut = *r;
  const keeper *keep = v->fast->keep;
  // Who returned has to be counted, so everybody takes part.
  if (!v->guards.count || (keep && keep->phases->has_return)) return cut;
  place_vector(v->scalar, r, const_i64(v->scalar->u, 0));
  guards_gate(&v->guards, r->code, keep ? keep->phases->is_crossing : NULL, v->fast->width,
              v->scalar, &cut.x0, &cut.x1);
  return cut;
}

// Where assumptions hold, and the code that makes them.
typedef struct stretch {
  emitter *code;
  llval first, end;
} stretch;

// Where the row is: x, and the block that looks what to do from there.
typedef struct walk {
  versions *v;
  const row *r;
  llblock head;
  llval x;
} walk;

static void go_on(const walk *w, llval x) {
  LLVMBuilderRef b = w->v->fast->b;
  llblock from = LLVMGetInsertBlock(b);
  LLVMBuildBr(b, w->head);
  LLVMAddIncoming(w->x, &x, &from, 1);
}

// At x: whole vectors as far as the stretch goes, then look again. Else on in the block returned.
// Ends of stretches and x are far from the ends of 64 bits: their differences are exact.
static void try_stretch(kernel *k, const walk *w, const stretch *s) {
  emitter *e = s->code;
  LLVMBuilderRef b = e->b;
  llval first = s->first, end = s->end;
  llval width = const_i64(k->u, e->width), room = LLVMBuildSub(b, end, w->x, "");
  llblock fast = new_block(k, "fast"), rest = new_block(k, "rest");
  llval is_in = LLVMBuildICmp(b, LLVMIntSGE, w->x, first, "");
  llval is_room = LLVMBuildICmp(b, LLVMIntSGE, room, width, "");
  LLVMBuildCondBr(b, LLVMBuildAnd(b, is_in, is_room, ""), fast, rest);
  LLVMPositionBuilderAtEnd(b, fast);
  llval whole = LLVMBuildMul(b, LLVMBuildUDiv(b, room, width, ""), width, "");
  llval stop = LLVMBuildAdd(b, w->x, whole, "");
  emit_stretch(k, e, w->r, w->x, stop);
  go_on(w, stop);
  LLVMPositionBuilderAtEnd(b, rest);
}

// ---- rows whose vectors may overlap -------------------------------------------------------------

// Where whole vectors begin and end, and where the row goes on behind them.
typedef struct jump {
  llval from, stop, next;
} jump;

static void go_fast(const walk *w, llblock fast, const jump *to, jump where) {
  LLVMBuilderRef b = w->v->fast->b;
  llblock from = LLVMGetInsertBlock(b);
  LLVMBuildBr(b, fast);
  LLVMAddIncoming(to->from, &where.from, &from, 1);
  LLVMAddIncoming(to->stop, &where.stop, &from, 1);
  LLVMAddIncoming(to->next, &where.next, &from, 1);
}

// Whole vectors as far as they go; the last one ends where the stretch ends, over lanes that have
// run already. Lanes before and behind the stretch run in part, and no other ones: where a stretch
// begins inside of a vector, its first vector begins there. A loop takes as long for one lane as
// for all: bodies with loops have the first of it only, at the end of a row.
static void emit_overlapping_row(kernel *k, versions *v, const row *r, const stretch *s) {
  LLVMBuilderRef b = v->fast->b;
  bool is_long = has_loop(k);
  walk w = {.v = v, .r = r, .head = new_block(k, "row")};
  llblock before = LLVMGetInsertBlock(b), vectors = new_block(k, "fast");
  llblock fast = new_block(k, "whole"), last = new_block(k, "last"), part = new_block(k, "partly");
  llblock rest = new_block(k, "rest"), on = new_block(k, "outside"),
          done = new_block(k, "row_done");
  llblock begin = new_block(k, "begin"), next = new_block(k, "next");
  llval width = const_i64(k->u, v->fast->width);
  LLVMBuildBr(b, w.head);
  LLVMPositionBuilderAtEnd(b, vectors);
  jump to = {LLVMBuildPhi(b, k->u->i64, ""), LLVMBuildPhi(b, k->u->i64, ""),
             LLVMBuildPhi(b, k->u->i64, "")};
  LLVMPositionBuilderAtEnd(b, w.head);
  w.x = LLVMBuildPhi(b, k->u->i64, "x");
  LLVMAddIncoming(w.x, (llval[]){r->x0}, &before, 1);
  llval room = LLVMBuildSub(b, s->end, w.x, ""), ahead = LLVMBuildSub(b, s->first, w.x, "");
  llval size = LLVMBuildSub(b, s->end, s->first, "");
  llval is_in = LLVMBuildICmp(b, LLVMIntSLE, ahead, const_i64(k->u, 0), "");
  llval is_room = LLVMBuildICmp(b, LLVMIntSGE, room, width, "");
  llval is_wide = LLVMBuildICmp(b, LLVMIntSGE, size, width, "");
  LLVMBuildCondBr(b, LLVMBuildAnd(b, is_in, is_room, ""), fast, rest);
  LLVMPositionBuilderAtEnd(b, fast);
  llval whole = LLVMBuildMul(b, LLVMBuildUDiv(b, room, width, ""), width, "");
  llval stop = LLVMBuildAdd(b, w.x, whole, "");
  go_fast(&w, vectors, &to, (jump){w.x, stop, stop});
  LLVMPositionBuilderAtEnd(b, rest);
  llval is_some = LLVMBuildICmp(b, LLVMIntSGT, room, const_i64(k->u, 0), "");
  llval is_last = LLVMBuildAnd(b, LLVMBuildAnd(b, is_in, is_some, ""), is_wide, "");
  if (is_long)
    is_last = LLVMBuildAnd(b, is_last, LLVMBuildICmp(b, LLVMIntEQ, s->end, r->x1, ""), "");
  LLVMBuildCondBr(b, is_last, last, on);
  LLVMPositionBuilderAtEnd(b, last);
  go_fast(&w, vectors, &to, (jump){LLVMBuildSub(b, s->end, width, ""), s->end, s->end});
  LLVMPositionBuilderAtEnd(b, on);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, w.x, r->x1, ""), part, done);
  LLVMPositionBuilderAtEnd(b, part);
  llval is_near = LLVMBuildICmp(b, LLVMIntSLT, ahead, width, "");
  llval is_begin =
      LLVMBuildAnd(b, LLVMBuildNot(b, is_in, ""), LLVMBuildAnd(b, is_near, is_wide, ""), "");
  if (is_long) is_begin = LLVMConstInt(k->u->i1, 0, false);
  llval limit = LLVMBuildSelect(b, is_begin, s->first, r->x1, "");
  emit_some(k, v, r, w.x, limit);
  llval behind = LLVMBuildNSWAdd(b, w.x, width, "");
  LLVMBuildCondBr(b, is_begin, begin, next);
  LLVMPositionBuilderAtEnd(b, begin);
  go_fast(&w, vectors, &to, (jump){s->first, LLVMBuildAdd(b, s->first, width, ""), behind});
  LLVMPositionBuilderAtEnd(b, next);
  go_on(&w, behind);
  LLVMPositionBuilderAtEnd(b, vectors);
  emit_stretch(k, v->fast, r, to.from, to.stop);
  go_on(&w, to.next);
  LLVMPositionBuilderAtEnd(b, done);
}

// ---- rows that are known ------------------------------------------------------------------------

// A part of a row: whole vectors of a stretch, or one in which only some lanes are active.
typedef struct piece {
  emitter *code; // NULL: in part
  int64_t x, stop;
} piece;

// Before a stretch, the stretch, and behind it. More are left to a loop.
enum { MOST_PIECES = 3 };

static piece next_piece(const stretch *stretches, uint32_t count, int64_t width, int64_t x) {
  for (uint32_t i = 0; i < count; i++) {
    int64_t first = LLVMConstIntGetSExtValue(stretches[i].first);
    int64_t room = LLVMConstIntGetSExtValue(stretches[i].end) - x;
    if (x >= first && room >= width) return (piece){stretches[i].code, x, x + room / width * width};
  }
  return (piece){NULL, x, x + width};
}

// The row in pieces, where everything that decides about it is a constant. 0: it is not.
static uint32_t find_pieces(const row *r, const stretch *stretches, uint32_t count, int64_t width,
                            piece out[MOST_PIECES]) {
  int64_t x, x1, unused;
  uint32_t pieces = 0;
  if (!is_known(r->x0, &x) || !is_known(r->x1, &x1)) return 0;
  for (uint32_t i = 0; i < count; i++)
    if (!is_known(stretches[i].first, &unused) || !is_known(stretches[i].end, &unused)) return 0;
  for (; x < x1; x = out[pieces++].stop) {
    if (pieces == MOST_PIECES) return 0;
    out[pieces] = next_piece(stretches, count, width, x);
  }
  return pieces;
}

// Whole vectors, each for itself: where it is and what it accesses are constants.
static void emit_each(kernel *k, emitter *e, const row *r, int64_t x, int64_t stop) {
  bool is_main = e->is_main;
  for (; x < stop; x += e->width) {
    emit_vector(e, r, const_i64(k->u, (uint64_t)x), NULL);
    e->is_main = false; // each access is counted once
  }
  e->is_main = is_main;
}

// Without a loop around it, LLVM sees what a phase leaves in memory and the next one finds there.
static void emit_pieces(kernel *k, versions *v, const row *r, const piece *pieces, uint32_t count) {
  bool is_each = lines_wants(k, r->code);
  (is_each ? lines_enter : lines_leave)(k, v->fast->b);
  for (uint32_t i = 0; i < count; i++) {
    llval x = const_i64(k->u, (uint64_t)pieces[i].x);
    if (pieces[i].code && is_each)
      emit_each(k, pieces[i].code, r, pieces[i].x, pieces[i].stop);
    else if (pieces[i].code)
      emit_stretch(k, pieces[i].code, r, x, const_i64(k->u, (uint64_t)pieces[i].stop));
    else
      emit_vector(v->part, r, x, v->part->width == 1 ? NULL : tail_mask(v->part, x, r->x1));
  }
}

// ---- rows ---------------------------------------------------------------------------------------

// From x on: whole vectors as far as a stretch goes, else one vector lane by lane, and again.
static void emit_mixed_row(kernel *k, versions *v, const row *whole) {
  LLVMBuilderRef b = v->fast->b;
  row cut = cut_row(v, whole);
  stretch stretches[2] = {{.code = v->fast}, {.code = v->other}};
  bool has_other = v->other && guards_differ(&v->guards, &v->other_guards, whole->code);
  uint32_t count = has_other ? 2 : 1;
  find_stretch(v, &v->guards, &cut, &stretches[0].first, &stretches[0].end);
  if (has_other) find_stretch(v, &v->other_guards, &cut, &stretches[1].first, &stretches[1].end);
  piece pieces[MOST_PIECES];
  uint32_t known = find_pieces(&cut, stretches, count, v->fast->width, pieces);
  if (known) {
    emit_pieces(k, v, &cut, pieces, known);
    return;
  }
  lines_leave(k, v->fast->b);
  if (v->repeats && !v->fast->keep && v->fast->width > 1) {
    emit_overlapping_row(k, v, &cut, &stretches[0]);
    return;
  }
  walk w = {.v = v, .r = &cut, .head = new_block(k, "row")};
  llblock before = LLVMGetInsertBlock(b), part = new_block(k, "partly");
  llblock done = new_block(k, "row_done");
  LLVMBuildBr(b, w.head);
  LLVMPositionBuilderAtEnd(b, w.head);
  w.x = LLVMBuildPhi(b, k->u->i64, "x");
  LLVMAddIncoming(w.x, &cut.x0, &before, 1);
  for (uint32_t i = 0; i < count; i++) try_stretch(k, &w, &stretches[i]);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, w.x, cut.x1, ""), part, done);
  LLVMPositionBuilderAtEnd(b, part);
  emit_some(k, v, &cut, w.x, cut.x1);
  go_on(&w, LLVMBuildNSWAdd(b, w.x, const_i64(k->u, v->fast->width), ""));
  LLVMPositionBuilderAtEnd(b, done);
}

void emit_row(kernel *k, versions *v, const row *r) {
  if (!is_even(v, r)) {
    emit_mixed_row(k, v, r);
    return;
  }
  int64_t x0, x1;
  if (lines_wants(k, r->code) && is_known(r->x0, &x0) && is_known(r->x1, &x1)) {
    lines_enter(k, v->fast->b);
    emit_each(k, v->fast, r, x0, x1);
    return;
  }
  lines_leave(k, v->fast->b);
  count_loop l;
  count_begin(k, v->fast->b, &l, r->x0, r->x1, v->fast->width);
  emit_vector(v->fast, r, l.at, NULL);
  count_end(k, v->fast->b, &l);
}

// ---- boxes --------------------------------------------------------------------------------------

void poll_stop(kernel *k, LLVMBuilderRef b) {
  emitter e = {.k = k, .u = k->u, .b = b, .width = 1};
  build_poll(&e);
}

// A loop whose step is how many rows were done.
static void emit_rows(kernel *k, LLVMBuilderRef b, versions *v, row *r, llval y0, llval y1) {
  llblock before = LLVMGetInsertBlock(b), head = new_block(k, "rows"), body = new_block(k, "body");
  llblock done = new_block(k, "rows_done");
  LLVMBuildBr(b, head);
  LLVMPositionBuilderAtEnd(b, head);
  llval y = LLVMBuildPhi(b, k->u->i64, "y"), next;
  LLVMAddIncoming(y, &y0, &before, 1);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, y, y1, ""), body, done);
  LLVMPositionBuilderAtEnd(b, body);
  poll_stop(k, b);
  if (v->jam) {
    emit_jammed_rows(k, v, r, (range_y){y0, y1}, y, &next);
  } else {
    r->y[0] = y;
    emit_row(k, v, r);
    next = LLVMBuildNSWAdd(b, y, const_i64(k->u, 1), "");
  }
  llblock latch = LLVMGetInsertBlock(b);
  LLVMBuildBr(b, head);
  LLVMAddIncoming(y, &next, &latch, 1);
  LLVMPositionBuilderAtEnd(b, done);
}

void emit_box(kernel *k, LLVMBuilderRef b, const plan *plan) {
  count_loop z;
  versions v;
  if (!versions_new(k, b, plan, &v)) return;
  row r = {.x0 = kernel_bound(k, k->lo, 0), .x1 = kernel_bound(k, k->hi, 0)};
  llval y0 = kernel_bound(k, k->lo, 1), y1 = kernel_bound(k, k->hi, 1);
  llval z0 = kernel_bound(k, k->lo, 2), z1 = kernel_bound(k, k->hi, 2);
  if (k->tally_count) {
    llval rows = LLVMBuildMul(b, LLVMBuildSub(b, y1, y0, ""), LLVMBuildSub(b, z1, z0, ""), "");
    tally_begin(k, b, LLVMBuildMul(b, rows, LLVMBuildSub(b, r.x1, r.x0, ""), ""));
  }
  count_begin(k, b, &z, z0, z1, 1);
  r.z = z.at;
  r.code = k->region->body;
  if (v.pack) pack_rows(&v, &r, y0, y1);
  emit_rows(k, b, &v, &r, y0, y1);
  count_end(k, b, &z);
  if (k->tally_count) tally_end(k, b);
}
