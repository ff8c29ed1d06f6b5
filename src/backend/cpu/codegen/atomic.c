// SPDX-License-Identifier: MIT
//
// Atomics, one active lane after the other, or neighbours at once where no other thread is at them.
// On buffers they are real: other threads run other parts
// of the grid. A shared array belongs to one workgroup, and a workgroup to one thread, so that an
// ordinary read and write is as good. No ordering of other accesses is promised.
#include "backend/cpu/codegen/access.h"
#include "backend/cpu/codegen/tally.h"

static llval build_plain(const emitter *e, const inst *in, llval at, llval x, llval y) {
  lanewise l = lanes_of(e);
  llval old = LLVMBuildLoad2(e->b, e->u->scalars[in->type], at, "");
  LLVMBuildStore(e->b, lanewise_combine(&l, in, old, x, y), at);
  return old;
}

// The copy that is counted into, or NULL.
static const tally *tally_of(const emitter *e, uint32_t mem) {
  return mem_space(mem) == MEM_BUFFER ? e->k->tallies[mem_index(mem)] : NULL;
}

typedef struct lanes {
  const place *place;
  bool is_plain;       // no other thread is at it
  llval indices, x, y; // spilled vectors, or scalars where all lanes have the same
  bool is_same[3];
  llval olds; // variable, NULL when nobody looks at them
} lanes;

static llval build_one(const emitter *e, const inst *in, const lanes *l, llval index, llval x,
                       llval y) {
  llval at = place_at(e, l->place, build_extend(e, ref_type(e->p, in->arg[1]), index));
  if (l->is_plain) return build_plain(e, in, at, x, y);
  lanewise all = lanes_of(e);
  return lanewise_atomic(&all, in, at, x, y);
}

static llval lane_of(const emitter *e, const lanes *l, int which, lltype type, llval lane) {
  llval from = which == 0 ? l->indices : which == 1 ? l->x : l->y;
  return !from || l->is_same[which] ? from : spilled_lane(e, from, type, lane);
}

// A loop, not a sequence: many updates of memory in a row that may meet confuse CPUs that guess
// which of them do.
static void emit_lanes(const emitter *e, const inst *in, const lanes *l, llval bits) {
  lltype type = e->u->scalars[in->type], index_type = e->u->scalars[ref_type(e->p, in->arg[1])];
  lane_loop loop;
  lanes_begin(e, &loop, bits);
  llval index = lane_of(e, l, 0, index_type, loop.lane);
  llval x = lane_of(e, l, 1, type, loop.lane), y = lane_of(e, l, 2, type, loop.lane);
  llval old = build_one(e, in, l, index, x, y);
  if (l->olds) spill_lane(e, l->olds, old, loop.lane);
  lanes_end(e, &loop);
}

// Neighbours that are all inside are different elements: they are updated at once, and what
// inactive lanes have there is written back.
static bool is_at_once(const emitter *e, uint32_t i) {
  return e->width > 1 && !is_uniform(e, e->p->code[i].arg[1]) && is_assumed(e, i) &&
         access_class_of(e, i) == ACCESS_CONTIGUOUS;
}

static void update_at_once(const emitter *e, uint32_t i, const lanes *l, unsigned row) {
  const inst *in = &e->p->code[i];
  llval at = line_address(e, l->place, i, row), old = load_wide(e, l->place, at);
  llval x = value_vector(e, in->arg[2], row);
  llval y = in->op == VYRE_OP_ATOMIC_CAS ? value_vector(e, in->arg[3], row) : NULL;
  lanewise all = lanes_of(e);
  llval made = lanewise_combine(&all, in, old, x, y);
  if (e->exec) made = LLVMBuildSelect(e->b, mask_test(e, e->exec), made, old, "");
  store_wide(e, l->place, at, made);
  if (l->olds) LLVMBuildStore(e->b, old, l->olds);
}

static void emit_plain(const emitter *e, uint32_t i, lanes *l, llval bits, unsigned row) {
  l->is_plain = true;
  if (is_at_once(e, i))
    update_at_once(e, i, l, row);
  else
    emit_lanes(e, &e->p->code[i], l, bits);
}

// One thread needs no lock, and most dispatches of small kernels have one.
static void emit_both_ways(const emitter *e, uint32_t i, lanes *l, llval bits, unsigned row) {
  llblock alone = build_block(e, "alone"), shared = build_block(e, "locked");
  llblock after = build_block(e, "counted");
  llval is_alone = kernel_is_alone(e->k);
  const tally *own = tally_of(e, l->place->mem);
  if (own) is_alone = LLVMBuildOr(e->b, is_alone, own->is_own, "");
  LLVMBuildCondBr(e->b, is_alone, alone, shared);
  build_at(e, alone);
  emit_plain(e, i, l, bits, row);
  build_go(e, after);
  build_at(e, shared);
  l->is_plain = false;
  emit_lanes(e, &e->p->code[i], l, bits);
  build_go(e, after);
  build_at(e, after);
}

static llval operand(const emitter *e, lanes *l, int which, ref r, unsigned row) {
  l->is_same[which] = is_uniform(e, r);
  return l->is_same[which] ? value_scalar(e, r, row) : spill(e, value_vector(e, r, row));
}

static llval emit_in_row(emitter *e, uint32_t i, const place *p, unsigned row) {
  const inst *in = &e->p->code[i];
  lltype vector = type_vector_of(e, e->u->scalars[in->type]);
  lanes l = {.place = p};
  llval bits = access_bits(e, p, i, row);
  l.indices = operand(e, &l, 0, in->arg[1], row);
  l.x = operand(e, &l, 1, in->arg[2], row);
  if (in->op == VYRE_OP_ATOMIC_CAS) l.y = operand(e, &l, 2, in->arg[3], row);
  if (e->k->is_used[i - e->first]) l.olds = spill(e, LLVMConstNull(vector));
  if (mem_space(in->arg[0]) == MEM_SHARED)
    emit_plain(e, i, &l, bits, row);
  else
    emit_both_ways(e, i, &l, bits, row);
  return l.olds ? LLVMBuildLoad2(e->b, vector, l.olds, "") : LLVMConstNull(vector);
}

void emit_atomic(emitter *e, uint32_t i) {
  place p = place_of(e, e->p->code[i].arg[0]);
  const tally *own = tally_of(e, p.mem);
  if (own) p.data = own->data;
  note_access(e, ACCESS_ATOMIC, !is_inside(e, &p, i));
  for (unsigned row = 0; row < row_count(e, i); row++)
    value_set(e, i, row, emit_in_row(e, i, &p, row));
}
