// SPDX-License-Identifier: MIT
//
// Rows that are jammed: a loop whose loads are the same for neighbouring rows, as in a product of
// matrices, runs for several rows at once, so that what it loads is used several times. All control
// flow has to be the same for all of them.
#include "backend/cpu/codegen/kernel.h"

// Of a box, along x; the last box of a row may have a part of one more.
enum { BOX_VECTORS = 4 };

// ---- whether ------------------------------------------------------------------------------------

static bool is_simple(const kernel *k, const shapes *s) {
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++) {
    const inst *in = &k->p->code[i];
    const block_shape *b = block_at(s, i);
    if ((b->parts | b->continues | b->exits | b->returns) & (AXIS_X | AXIS_Y)) return false;
    if (op_is_atomic(in->op) || in->op == VYRE_OP_ARRAY) return false;
  }
  return !(s->returns & (AXIS_X | AXIS_Y));
}

// A vector that a loop loads for all rows alike, beside vectors that differ between them.
static bool shares_loads(const kernel *k, const shapes *s) {
  unsigned depth = 0, shared = 0, sums = 0;
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++) {
    const inst *in = &k->p->code[i];
    uint8_t axes = shape_at(s, i)->axes;
    if (in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) depth++;
    if (in->op == VYRE_OP_END && k->p->code[in->arg[1]].op != VYRE_OP_IF) depth--;
    if (depth && in->op == VYRE_OP_LOAD && (axes & AXIS_X) && !(axes & AXIS_Y)) shared++;
    if (depth && in->op == VYRE_OP_SET) sums += (shape_at(s, in->arg[0])->axes & 3) == 3;
  }
  return shared && sums;
}

static unsigned count_sums(const kernel *k, const shapes *s) {
  unsigned count = 0;
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++)
    count += k->p->code[i].op == VYRE_OP_VAR && (shape_at(s, i)->axes & 3) == 3;
  return count;
}

// Registers per row: its sums, each as many as a vector of lanes takes.
static unsigned rows_that_fit(const kernel *k, const plan *plan, const shapes *s) {
  unsigned registers = k->u->target->has_predicates ? 24 : 12;
  unsigned each = plan->width * 32 / k->u->target->vector_bits;
  unsigned rows = registers / (count_sums(k, s) * (each ? each : 1));
  return rows > MOST_ROWS ? MOST_ROWS : rows;
}

bool choose_rows(kernel *k, plan *plan) {
  plan->rows = 1;
  plan->jam_reason = JAM_NOT_ASKED;
  if (!k->region->is_elastic || k->region->rank < 2 || plan->width == 1 ||
      k->u->options->tier == VYRE_TIER_QUICK)
    return true;
  if (!guards_plan(k, &plan->shapes, (guards_wish){.rows = 2}, &plan->jam_guards) ||
      !shapes_compute(&k->u->arena, k->p, k->region, &k->known, plan->jam_guards.assume,
                      &plan->jam_shapes))
    return false;
  plan->jam_reason = !is_simple(k, &plan->jam_shapes)      ? JAM_CONTROL
                     : !shares_loads(k, &plan->jam_shapes) ? JAM_NO_LOADS
                                                           : JAM_REGISTERS;
  if (plan->jam_reason != JAM_REGISTERS) return true;
  unsigned rows = rows_that_fit(k, plan, &plan->jam_shapes);
  if (rows < 2) return true;
  plan->jam_reason = JAM_DONE;
  plan->rows = plan->jam_guards.rows = rows;
  pack_plan(k, &plan->jam_guards, &plan->jam_shapes, plan->width, BOX_VECTORS + 1, &plan->packing);
  return true;
}

bool has_loop(const kernel *k) {
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++)
    if (k->p->code[i].op == VYRE_OP_FOR || k->p->code[i].op == VYRE_OP_WHILE) return true;
  return false;
}

// Streams want long rows, so that a call costs nothing. Jammed rows want what they share in the
// cache: narrow boxes, of many rows.
void choose_tile(const kernel *k, const plan *plan, uint32_t tile[3]) {
  if (plan->rows > 1) {
    tile[0] = BOX_VECTORS * plan->width;
    tile[1] = plan->rows * 16;
  } else if (k->region->is_elastic && !has_loop(k)) {
    tile[0] = k->tally_count ? 65536 : 16384; // copies of counters are added behind each box
  }
}

// ---- lowering -----------------------------------------------------------------------------------

static llval least(LLVMBuilderRef b, llval x, llval y) {
  return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, x, y, ""), x, y, "");
}

static llval round_up(kernel *k, LLVMBuilderRef b, llval x, unsigned to) {
  llval more = LLVMBuildAdd(b, x, const_i64(k->u, to - 1), "");
  return LLVMBuildAnd(b, more, const_i64(k->u, ~(uint64_t)(to - 1)), "");
}

// The part of the row that whole vectors of all rows cover: *from == *stop == x1 when there is
// none. Where invocations may run twice, the last vector at the row's end may overlap the one
// before.
static void find_middle(kernel *k, versions *v, const row *r, llval *from, llval *stop) {
  LLVMBuilderRef b = v->jam->b;
  llval first, end;
  find_stretch(v, &v->jam_guards, r, &first, &end);
  llval skip = round_up(k, b, LLVMBuildSub(b, first, r->x0, ""), v->jam->width);
  *from = LLVMBuildAdd(b, r->x0, skip, "");
  llval room = LLVMBuildSub(b, end, *from, "");
  llval is_some = LLVMBuildICmp(b, LLVMIntSGE, room, const_i64(k->u, v->jam->width), "");
  llval whole = LLVMBuildAnd(b, room, const_i64(k->u, ~(uint64_t)(v->jam->width - 1)), "");
  whole = LLVMBuildAdd(b, *from, whole, "");
  if (v->repeats) {
    llval is_end = LLVMBuildICmp(b, LLVMIntEQ, end, r->x1, "");
    whole = LLVMBuildSelect(b, is_end, end, whole, "");
  }
  *stop = LLVMBuildSelect(b, is_some, whole, r->x1, "");
  *from = LLVMBuildSelect(b, is_some, *from, r->x1, "");
}

// What is left of each row on both sides of the middle.
static void emit_sides(kernel *k, versions *v, const row *r, llval y, llval rows, llval from,
                       llval stop) {
  LLVMBuilderRef b = v->fast->b;
  count_loop side;
  llval one = const_i64(k->u, 1);
  count_begin(k, b, &side, const_i64(k->u, 0), LLVMBuildMul(b, rows, const_i64(k->u, 2), ""), 1);
  llval is_right = LLVMBuildTrunc(b, side.at, k->u->i1, "");
  row part = *r;
  part.y[0] = LLVMBuildAdd(b, y, LLVMBuildLShr(b, side.at, one, ""), "");
  part.x0 = LLVMBuildSelect(b, is_right, stop, r->x0, "");
  part.x1 = LLVMBuildSelect(b, is_right, r->x1, from, "");
  emit_row(k, v, &part);
  count_end(k, b, &side);
}

void pack_rows(versions *v, const row *r, llval y0, llval y1) {
  pack_box box = {r->x0, r->x1, y0, y1, r->z, BOX_VECTORS + 1};
  v->is_packed = pack_emit(&v->packing, &v->jam_guards, v->pack, v->scalar, &box);
}

// Vectors from `from` on until `stop`, of which the last one ends there.
static void emit_overlapping(kernel *k, emitter *e, const row *r, llval from, llval stop) {
  llval width = const_i64(k->u, e->width), last = LLVMBuildSub(e->b, stop, width, "");
  count_loop x;
  count_begin(k, e->b, &x, from, stop, e->width);
  emit_vector(e, r, least(e->b, x.at, last), NULL);
  count_end(k, e->b, &x);
}

static void emit_vectors(kernel *k, versions *v, const row *r, llval from, llval stop) {
  if (v->repeats)
    emit_overlapping(k, v->jam, r, from, stop);
  else
    emit_stretch(k, v->jam, r, from, stop);
}

// From copies, where this box has them.
static void emit_middle(kernel *k, versions *v, const row *r, llval from, llval stop) {
  emitter *e = v->jam;
  if (!v->pack) {
    emit_vectors(k, v, r, from, stop);
    return;
  }
  llblock packed = build_block(e, "from_copies"), plain = build_block(e, "from_buffers");
  llblock after = build_block(e, "middle_done");
  LLVMBuildCondBr(e->b, v->is_packed, packed, plain);
  build_at(e, plain);
  emit_vectors(k, v, r, from, stop);
  build_go(e, after);
  build_at(e, packed);
  e->packing = &v->packing;
  e->is_main = false; // the other one is counted
  emit_vectors(k, v, r, from, stop);
  e->packing = NULL;
  build_go(e, after);
  build_at(e, after);
}

void emit_jammed_rows(kernel *k, versions *v, row *r, range_y box, llval y, llval *next) {
  LLVMBuilderRef b = v->jam->b;
  emitter *e = v->jam;
  llval all = const_i64(k->u, e->rows), one = const_i64(k->u, 1), from, stop, y1 = box.end;
  if (v->repeats) { // the last rows overlap those before
    llval last = LLVMBuildSub(b, y1, all, "");
    llval is_high = LLVMBuildICmp(b, LLVMIntSGE, last, box.first, "");
    y = LLVMBuildSelect(b, is_high, least(b, y, last), y, "");
  }
  llblock before = LLVMGetInsertBlock(b), jammed = build_block(e, "jammed");
  llblock middle = build_block(e, "middle"), sides = build_block(e, "sides");
  llval is_room = LLVMBuildICmp(b, LLVMIntSLE, LLVMBuildAdd(b, y, all, ""), y1, "");
  LLVMBuildCondBr(b, is_room, jammed, sides);
  build_at(e, jammed);
  for (unsigned i = 0; i < e->rows; i++) r->y[i] = LLVMBuildAdd(b, y, const_i64(k->u, i), "");
  find_middle(k, v, r, &from, &stop);
  llblock found = LLVMGetInsertBlock(b);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, from, stop, ""), middle, sides);
  build_at(e, middle);
  emit_middle(k, v, r, from, stop);
  llblock covered = LLVMGetInsertBlock(b);
  build_go(e, sides);
  build_at(e, sides);
  llblock origins[3] = {before, found, covered};
  llval rows = LLVMBuildPhi(b, k->u->i64, ""), left = LLVMBuildPhi(b, k->u->i64, "");
  llval right = LLVMBuildPhi(b, k->u->i64, "");
  LLVMAddIncoming(rows, (llval[]){one, all, all}, origins, 3);
  LLVMAddIncoming(left, (llval[]){r->x1, from, from}, origins, 3);
  LLVMAddIncoming(right, (llval[]){r->x1, stop, stop}, origins, 3);
  emit_sides(k, v, r, y, rows, left, right);
  *next = LLVMBuildNSWAdd(b, y, rows, "");
}
