// SPDX-License-Identifier: MIT
//
// Loads of buffers and shared arrays. By the index: one scalar for all (uniform), neighbours
// upwards or downwards, fields of records, or anything (lane by lane). Where nothing proves the
// index to be inside, a load out of bounds reads element 0 instead, which is always there (an empty
// buffer points to zeros), and gives zero.
#include "backend/cpu/codegen/access.h"
#include "backend/cpu/codegen/ahead.h"
#include "backend/cpu/codegen/guard.h"
#include "backend/cpu/codegen/lines.h"
#include "backend/cpu/codegen/pack.h"
#include "backend/cpu/codegen/run.h"

static llval zero_of(const emitter *e, const place *p, bool is_vector) {
  return LLVMConstNull(is_vector ? type_vector_of(e, p->element) : p->element);
}

static llval load_element(const emitter *e, const place *p, llval index) {
  llval v = LLVMBuildLoad2(e->b, p->element, place_at(e, p, index), "");
  return kernel_mark(e->k, v, p->mem);
}

// One lane jumps, which costs nothing as long as it always goes the same way.
static llval load_if(const emitter *e, const place *p, llval index, llval ok) {
  llblock inside = build_block(e, "load"), after = build_block(e, "loaded");
  llblock before = LLVMGetInsertBlock(e->b);
  build_likely(e, LLVMBuildCondBr(e->b, ok, inside, after));
  build_at(e, inside);
  llval loaded = load_element(e, p, index);
  build_go(e, after);
  build_at(e, after);
  llval result = LLVMBuildPhi(e->b, p->element, "");
  LLVMAddIncoming(result, (llval[]){zero_of(e, p, false), loaded}, (llblock[]){before, inside}, 2);
  return result;
}

static llval load_uniform(const emitter *e, const place *p, uint32_t i, unsigned row) {
  llval index = index_scalar(e, i, row);
  if (!row) note_access(e, ACCESS_UNIFORM, !is_inside(e, p, i));
  if (is_inside(e, p, i)) return from_memory(e, p->type, load_element(e, p, index));
  llval ok = inside_scalar(e, p, index);
  if (e->width == 1) return from_memory(e, p->type, load_if(e, p, index, ok));
  llval safe = LLVMBuildSelect(e->b, ok, index, const_i64(e->u, 0), "");
  llval loaded = LLVMBuildSelect(e->b, ok, load_element(e, p, safe), zero_of(e, p, false), "");
  return from_memory(e, p->type, loaded);
}

// ---- neighbours ---------------------------------------------------------------------------------

llval load_wide(const emitter *e, const place *p, llval address) {
  llval v = LLVMBuildLoad2(e->b, type_vector_of(e, p->element), address, "");
  LLVMSetAlignment(v, type_bytes(p->type));
  return kernel_mark(e->k, v, p->mem);
}

// How many of the first lanes a mask has, where that is known, a power of two, and all that it has.
static unsigned first_lanes(const emitter *e, llval bits) {
  unsigned count = 0, after = 0;
  if (!LLVMIsConstant(bits)) return 0;
  for (unsigned lane = 0; lane < e->width; lane++) {
    llval bit = LLVMGetAggregateElement(bits, lane);
    if (!bit || !LLVMIsAConstantInt(bit)) return 0;
    bool is_set = LLVMConstIntGetZExtValue(bit);
    if (is_set && count == lane)
      count++;
    else
      after |= is_set;
  }
  return after || count < 2 || count == e->width || (count & (count - 1)) ? 0 : count;
}

// As the vector that they are: what was just written as a part of a wider one is found on its way
// to memory then, and a masked load would wait for it to get there.
static llval load_first(const emitter *e, const place *p, llval address, unsigned count) {
  lltype type = LLVMVectorType(p->element, count);
  llval v = LLVMBuildLoad2(e->b, type, address, ""), lanes[LANEWISE_MOST];
  LLVMSetAlignment(v, type_bytes(p->type));
  kernel_mark(e->k, v, p->mem);
  for (unsigned i = 0; i < e->width; i++)
    lanes[i] = LLVMConstInt(e->u->i32, i < count ? i : count, false);
  return LLVMBuildShuffleVector(e->b, v, LLVMConstNull(type), LLVMConstVector(lanes, e->width), "");
}

static llval load_masked(const emitter *e, const place *p, llval address, llval bits) {
  unsigned count = first_lanes(e, bits);
  if (count) return load_first(e, p, address, count);
  lltype types[2] = {type_vector_of(e, p->element), e->u->ptr};
  llval args[4] = {address, LLVMConstInt(e->u->i32, type_bytes(p->type), false), bits,
                   zero_of(e, p, true)};
  return kernel_mark(e->k, build_intrinsic(e, "llvm.masked.load", types, 2, args, 4), p->mem);
}

// ---- records ------------------------------------------------------------------------------------

// One field of as many records as there are lanes: all of them at once, and a shuffle.
static llval load_field(const emitter *e, const place *p, uint32_t i, unsigned row) {
  unsigned record = e->guards->record[i - e->first], field = e->guards->field[i - e->first];
  unsigned count = record * e->width;
  llval first = LLVMBuildSub(e->b, index_scalar(e, i, row), const_i64(e->u, field), "");
  lltype type = LLVMVectorType(p->element, count);
  llval all = LLVMBuildLoad2(e->b, type, place_at(e, p, first), "");
  LLVMSetAlignment(all, type_bytes(p->type));
  kernel_mark(e->k, all, p->mem);
  llval lanes[LANEWISE_MOST];
  for (unsigned k = 0; k < e->width; k++)
    lanes[k] = LLVMConstInt(e->u->i32, k * record + field, false);
  return LLVMBuildShuffleVector(e->b, all, LLVMGetPoison(type), LLVMConstVector(lanes, e->width),
                                "");
}

// ---- anything -----------------------------------------------------------------------------------

// One element after the other; lanes without their bit read element 0 and give zero.
static llval load_lanes(const emitter *e, const place *p, uint32_t i, unsigned row, llval bits) {
  bool is_stepping = !bits && access_class_of(e, i) == ACCESS_STEPS;
  llval indices = is_stepping ? NULL : value_vector(e, e->p->code[i].arg[1], row);
  if (!is_stepping && can_gather(e, p->type, bits != NULL))
    return load_gathered(e, p, e->p->code[i].arg[1], indices, bits);
  if (bits) indices = LLVMBuildSelect(e->b, bits, indices, LLVMConstNull(LLVMTypeOf(indices)), "");
  llval result = LLVMGetPoison(type_vector_of(e, p->element));
  for (unsigned lane = 0; lane < e->width; lane++) {
    llval at = lane_index(e, i, row, lane, indices);
    result = build_insert(e, result, load_element(e, p, at), lane);
  }
  return bits ? LLVMBuildSelect(e->b, bits, result, zero_of(e, p, true), "") : result;
}

// The same in a loop, which is a tenth of the code: for what runs at the ends of rows only.
static llval load_active_lanes(const emitter *e, const place *p, uint32_t i, unsigned row,
                               llval bits) {
  ref index = e->p->code[i].arg[1];
  vyre_type type = ref_type(e->p, index);
  if (can_gather(e, p->type, true))
    return load_gathered(e, p, index, value_vector(e, index, row), bits);
  lane_loop l;
  llval indices = spill(e, value_vector(e, index, row)), found = spill(e, zero_of(e, p, true));
  lanes_begin(e, &l, bits);
  llval at = build_extend(e, type, spilled_lane(e, indices, e->u->scalars[type], l.lane));
  spill_lane(e, found, load_element(e, p, at), l.lane);
  lanes_end(e, &l);
  return LLVMBuildLoad2(e->b, type_vector_of(e, p->element), found, "");
}

// ---- all ----------------------------------------------------------------------------------------

static llval load_masked_line(const emitter *e, const place *p, uint32_t i, unsigned row,
                              llval bits) {
  access_class class = access_class_of(e, i);
  bits = build_reversed(e, bits, class);
  return build_reversed(e, load_masked(e, p, line_address(e, p, i, row), bits), class);
}

static llval load_wide_line(const emitter *e, const place *p, uint32_t i, unsigned row) {
  return build_reversed(e, load_wide(e, p, line_address(e, p, i, row)), access_class_of(e, i));
}

// Neighbours of which some are out of bounds or not active. Where the machine cannot move some of a
// vector, all are read when all are inside.
static llval load_part_of_line(const emitter *e, const place *p, uint32_t i, unsigned row,
                               llval bits) {
  bool masks = can_mask(e, p);
  if (masks && is_line(e, i)) return load_masked_line(e, p, i, row, bits);
  either x = either_begin(e, masks ? line_is_straight(e, i, row) : line_is_inside(e, p, i, row));
  either_else(e, &x, masks ? load_masked_line(e, p, i, row, bits) : load_wide_line(e, p, i, row));
  return either_end(e, &x, load_active_lanes(e, p, i, row, bits));
}

// Where some are out of bounds, or not known not to be.
static llval load_checked(const emitter *e, const place *p, uint32_t i, unsigned row) {
  access_class class = access_class_of(e, i);
  llval bits = access_bits(e, p, i, row);
  if (bits && (class == ACCESS_CONTIGUOUS || class == ACCESS_REVERSED))
    return load_part_of_line(e, p, i, row, bits);
  // At the ends of rows few are active.
  return bits && e->exec && !e->guards && !e->keep ? load_active_lanes(e, p, i, row, bits)
                                                   : load_lanes(e, p, i, row, bits);
}

// One compare for all lanes, where the index is a line that nothing is known of before the row.
static llval load_looking(const emitter *e, const place *p, uint32_t i, unsigned row) {
  either x = either_begin(e, line_is_inside(e, p, i, row));
  either_else(e, &x, load_wide_line(e, p, i, row));
  return either_end(e, &x, load_checked(e, p, i, row));
}

// One compare and a branch are little beside an access of each lane.
static llval load_by_chance(const emitter *e, const place *p, uint32_t i, unsigned row) {
  llval address;
  either x = either_begin(e, lanes_are_line(e, p, i, row, &address));
  either_else(e, &x, load_wide(e, p, address));
  return either_end(e, &x, load_checked(e, p, i, row));
}

// Lanes that are not active may read what is inside: only the bounds matter.
static llval load_vector(const emitter *e, const place *p, uint32_t i, unsigned row) {
  access_class class = access_class_of(e, i);
  bool is_line = class == ACCESS_CONTIGUOUS || class == ACCESS_REVERSED;
  bool is_proven = is_assumed(e, i) || (!e->exec && is_inside(e, p, i));
  if (!row) note_access(e, class, !is_proven && !(is_line && e->guards));
  if (is_line && is_proven) return load_wide_line(e, p, i, row);
  if (is_line && e->guards) return load_looking(e, p, i, row);
  if (class == ACCESS_RECORD) return load_field(e, p, i, row);
  if (class == ACCESS_STEPS) return load_lanes(e, p, i, row, NULL); // all are inside
  if (is_line_by_chance(e, i)) return load_by_chance(e, p, i, row);
  return load_checked(e, p, i, row);
}

void emit_load(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  if (mem_space(in->arg[0]) == MEM_PRIVATE) {
    private_load(e, i);
    return;
  }
  llval early = e->packing ? packed_value(e, i) : ahead_value(e, i);
  if (early) {
    value_set(e, i, 0, early);
    return;
  }
  llval line = lines_load(e, i);
  if (line) {
    value_set(e, i, 0, from_memory(e, (vyre_type)in->type, line));
    return;
  }
  if (run_is_loaded(e, i) || (!is_uniform(e, in->arg[1]) && run_load(e, i))) return;
  place p = place_of(e, in->arg[0]);
  for (unsigned row = 0; row < row_count(e, i); row++)
    value_set(e, i, row,
              is_uniform(e, in->arg[1]) ? load_uniform(e, &p, i, row)
                                        : from_memory(e, p.type, load_vector(e, &p, i, row)));
}
