// SPDX-License-Identifier: MIT
#include "backend/cpu/codegen/access.h"

#include "analysis/bounds.h"
#include "backend/cpu/codegen/guard.h"

place place_of(const emitter *e, uint32_t mem) {
  uint32_t i = mem_index(mem);
  place out = {.mem = mem};
  if (mem_space(mem) == MEM_SHARED) {
    const shared_array *s = &e->p->shared[i];
    out.type = s->type;
    out.data = kernel_shared(e->k, i);
    out.known_length = s->length;
    out.length = const_i64(e->u, s->length);
  } else {
    const buffer *b = &e->p->buffers[i];
    out.type = b->type;
    out.data = kernel_data(e->k, i);
    out.length = kernel_length(e->k, i);
    if (ref_is_const(b->length)) out.known_length = e->p->consts[ref_index(b->length)].bits;
  }
  out.element = type_memory(e->u, out.type);
  return out;
}

llval place_at(const emitter *e, const place *p, llval index) {
  return LLVMBuildGEP2(e->b, p->element, p->data, &index, 1, "");
}

// ---- bounds -------------------------------------------------------------------------------------

// A range holds for what invocations really compute. A vector may have lanes that are not active
// and compute something else, unless the index is one scalar for all.
bool is_inside(const emitter *e, const place *p, uint32_t op) {
  ref index = e->p->code[op].arg[1];
  if (e->assume && e->assume[op - e->first] == ASSUME_INSIDE) return true;
  if (e->proven && e->proven[op - e->first] == ASSUME_INSIDE) return true;
  if (e->exec && !is_uniform(e, index)) return false;
  return bounds_is_below(&e->k->known, index, p->known_length);
}

llval inside_scalar(const emitter *e, const place *p, llval index) {
  return LLVMBuildICmp(e->b, LLVMIntULT, index, p->length, "");
}

// Elements that a signed index of 32 bits can reach.
static llval at_most_2_31(const emitter *e, llval length) {
  llval top = const_i64(e->u, (uint64_t)1 << 31);
  llval is_more = LLVMBuildICmp(e->b, LLVMIntUGT, length, top, "");
  return LLVMBuildSelect(e->b, is_more, top, length, "");
}

// In the index's own width: the length as the largest number of elements that it can reach.
llval inside_vector(const emitter *e, const place *p, vyre_type type, llval indices) {
  llval limit = p->length;
  if (type == VYRE_I32) limit = at_most_2_31(e, limit);
  if (type_bits(type) == 32) limit = LLVMBuildTrunc(e->b, limit, e->u->i32, "");
  return LLVMBuildICmp(e->b, LLVMIntULT, indices, build_splat(e, limit), "");
}

llval access_bits(const emitter *e, const place *p, uint32_t op, unsigned row) {
  ref index = e->p->code[op].arg[1];
  llval bits = e->exec ? mask_test(e, e->exec) : NULL;
  if (is_inside(e, p, op)) return bits;
  llval indices = value_vector(e, index, row);
  return bits_and(e, bits, inside_vector(e, p, ref_type(e->p, index), indices));
}

// ---- classes ------------------------------------------------------------------------------------

void note_access(const emitter *e, access_class class, bool is_checked) {
  if (!e->is_main) return;
  e->k->accesses[class]++;
  e->k->checked += is_checked;
}

bool is_assumed(const emitter *e, uint32_t op) {
  return e->assume && e->assume[op - e->first] == ASSUME_INSIDE;
}

access_class access_class_of(const emitter *e, uint32_t op) {
  ref index = e->p->code[op].arg[1];
  const shape *s = shape_of(e, index);
  if (e->width == 1) return ACCESS_LANES;
  if (s->is_linear && s->stride == 1) return ACCESS_CONTIGUOUS;
  if (s->is_linear && s->stride == -1) return ACCESS_REVERSED;
  if (!is_assumed(e, op)) return ACCESS_LANES;
  if (s->is_linear && e->guards->record[op - e->first]) return ACCESS_RECORD;
  return !e->keep && guards_can_index(e->guards, e, index) ? ACCESS_STEPS : ACCESS_LANES;
}

bool can_mask(const emitter *e, const place *p) {
  const target *t = e->u->target;
  return e->width > 1 && (type_bytes(p->type) >= 4 ? t->has_masked_moves : t->has_predicates);
}

llval index_scalar(const emitter *e, uint32_t op, unsigned row) {
  ref index = e->p->code[op].arg[1];
  if (is_assumed(e, op)) return guards_index(e->guards, e, index, row, 0);
  bool is_counter = !ref_is_const(index) && e->p->code[index].op == VYRE_OP_FOR;
  if (is_counter && e->wide[index - e->first]) return e->wide[index - e->first];
  return build_extend(e, ref_type(e->p, index), value_scalar(e, index, row));
}

// ---- neighbours ---------------------------------------------------------------------------------

// A u32 index that passes 2^32 starts over at 0, where an address does not; a signed index is
// negative then and takes no part, and 64-bit ones wrap as addresses do.
bool is_line(const emitter *e, uint32_t op) {
  access_class class = access_class_of(e, op);
  if (class != ACCESS_CONTIGUOUS && class != ACCESS_REVERSED) return false;
  ref index = e->p->code[op].arg[1];
  value_range r = range_of(&e->k->known, index);
  return ref_type(e->p, index) != VYRE_U32 || r.lo > 0 || r.hi < UINT32_MAX;
}

static llval lowest_index(const emitter *e, uint32_t op, unsigned row) {
  llval first = index_scalar(e, op, row);
  if (access_class_of(e, op) != ACCESS_REVERSED) return first;
  return LLVMBuildSub(e->b, first, const_i64(e->u, e->width - 1), "");
}

llval lane_index(const emitter *e, uint32_t op, unsigned row, unsigned lane, llval indices) {
  ref index = e->p->code[op].arg[1];
  if (!indices) return guards_index(e->guards, e, index, row, lane);
  return build_extend(e, ref_type(e->p, index), build_extract(e, indices, lane));
}

llval line_address(const emitter *e, const place *p, uint32_t op, unsigned row) {
  return place_at(e, p, lowest_index(e, op, row));
}

// low < limit, and width - 1 < limit - low, both unsigned: the sum of low and width could wrap.
static llval all_from(const emitter *e, const place *p, vyre_type type, llval low) {
  llval limit = p->length;
  if (type == VYRE_I32) limit = at_most_2_31(e, limit);
  llval starts = LLVMBuildICmp(e->b, LLVMIntULT, low, limit, "");
  llval rest = LLVMBuildSub(e->b, limit, low, "");
  llval ends = LLVMBuildICmp(e->b, LLVMIntULT, const_i64(e->u, e->width - 1), rest, "");
  return LLVMBuildAnd(e->b, starts, ends, "");
}

llval line_is_inside(const emitter *e, const place *p, uint32_t op, unsigned row) {
  return all_from(e, p, ref_type(e->p, e->p->code[op].arg[1]), lowest_index(e, op, row));
}

// ---- neighbours by chance -----------------------------------------------------------------------

// A table of one axis of several, such as where the neighbours of each column of an image are: most
// of it counts on.
static bool is_table(const emitter *e, const inst *in) {
  if (in->op != VYRE_OP_LOAD || e->k->region->rank < 2 || ref_is_const(in->arg[1])) return false;
  const shape *index = shape_of(e, in->arg[1]);
  return index->is_linear && index->stride == 1 && !(index->axes & AXIS_Y) &&
         mem_space(in->arg[0]) == MEM_BUFFER;
}

// What was loaded by each lane, and what is computed from it, is seldom a line.
static bool is_loaded(const emitter *e, ref index, unsigned depth) {
  if (ref_is_const(index) || is_uniform(e, index)) return false;
  const inst *in = &e->p->code[index];
  if (is_table(e, in)) return false;
  if (in->op == VYRE_OP_LOAD || op_is_atomic(in->op)) return true;
  const char *operands = op_table[in->op].operands;
  for (int k = 0; depth && operands[k]; k++)
    if (operands[k] == 'v' && is_loaded(e, in->arg[k], depth - 1)) return true;
  return false;
}

bool is_line_by_chance(const emitter *e, uint32_t op) {
  enum { DEEP = 6 };
  ref index = e->p->code[op].arg[1];
  return e->width > 1 && access_class_of(e, op) == ACCESS_LANES && !shape_of(e, index)->is_linear &&
         !is_loaded(e, index, DEEP);
}

llval lanes_are_line(const emitter *e, const place *p, uint32_t op, unsigned row, llval *address) {
  ref index = e->p->code[op].arg[1];
  vyre_type type = ref_type(e->p, index);
  llval indices = value_vector(e, index, row), first = build_extract(e, indices, 0);
  llval line =
      LLVMBuildAdd(e->b, build_splat(e, first), build_lane_numbers(e, e->u->scalars[type], 1), "");
  llval strays = LLVMBuildICmp(e->b, LLVMIntNE, indices, line, "");
  if (e->exec) strays = bits_and(e, strays, mask_test(e, e->exec));
  llval low = build_extend(e, type, first);
  *address = place_at(e, p, low);
  llval is_line = LLVMBuildNot(e->b, bits_any(e, strays), "");
  return LLVMBuildAnd(e->b, is_line, all_from(e, p, type, low), "");
}

// A line of u32 indices that may wrap: whether this one does not.
llval line_is_straight(const emitter *e, uint32_t op, unsigned row) {
  llval low = lowest_index(e, op, row); // negative when a reversed one wraps, which is large here
  return LLVMBuildICmp(e->b, LLVMIntULE, low, const_i64(e->u, (1ull << 32) - e->width), "");
}

llval build_reversed(const emitter *e, llval vector, access_class class) {
  if (class != ACCESS_REVERSED) return vector;
  llval lanes[LANEWISE_MOST];
  for (unsigned i = 0; i < e->width; i++)
    lanes[i] = LLVMConstInt(e->u->i32, e->width - 1 - i, false);
  return LLVMBuildShuffleVector(e->b, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                LLVMConstVector(lanes, e->width), "");
}

// ---- two ways -----------------------------------------------------------------------------------

either either_begin(const emitter *e, llval condition) {
  llblock first = build_block(e, "line");
  either out = {.second = build_block(e, "lanes"), .after = build_block(e, "accessed")};
  LLVMBuildCondBr(e->b, condition, first, out.second);
  build_at(e, first);
  return out;
}

void either_else(const emitter *e, either *x, llval first) {
  x->first = first;
  x->from_first = LLVMGetInsertBlock(e->b);
  build_go(e, x->after);
  build_at(e, x->second);
}

llval either_end(const emitter *e, const either *x, llval second) {
  llblock from_second = LLVMGetInsertBlock(e->b);
  build_go(e, x->after);
  build_at(e, x->after);
  if (!second) return NULL;
  llval result = LLVMBuildPhi(e->b, LLVMTypeOf(second), "");
  LLVMAddIncoming(result, (llval[]){x->first, second}, (llblock[]){x->from_first, from_second}, 2);
  return result;
}

// ---- bool in memory -----------------------------------------------------------------------------

llval to_memory(const emitter *e, vyre_type type, llval value) {
  if (type != VYRE_BOOL) return value;
  bool is_vector = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
  return LLVMBuildZExt(e->b, value, is_vector ? type_vector_of(e, e->u->i8) : e->u->i8, "");
}

llval from_memory(const emitter *e, vyre_type type, llval value) {
  if (type != VYRE_BOOL) return value;
  return LLVMBuildICmp(e->b, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
}

// ---- lanes --------------------------------------------------------------------------------------

llval spill(const emitter *e, llval vector) {
  llval array = build_variable(e, LLVMTypeOf(vector), "lanes");
  LLVMBuildStore(e->b, vector, array);
  return array;
}

// LLVM 19 takes a lane that is extended to as many bits as the whole vector has for all of its
// lanes (store <2 x i32>, load i32, zext to i64): an index of two lanes in one, outside of its
// memory. It does not look through what is volatile.
static bool is_mistaken_for_all(const emitter *e, lltype element) {
  return LLVMGetTypeKind(element) == LLVMIntegerTypeKind &&
         e->width * LLVMGetIntTypeWidth(element) <= 64;
}

llval spilled_lane(const emitter *e, llval array, lltype element, llval lane) {
  llval at = LLVMBuildGEP2(e->b, element, array, &lane, 1, "");
  llval loaded = LLVMBuildLoad2(e->b, element, at, "");
  if (is_mistaken_for_all(e, element)) LLVMSetVolatile(loaded, true);
  return loaded;
}

void spill_lane(const emitter *e, llval array, llval value, llval lane) {
  llval at = LLVMBuildGEP2(e->b, LLVMTypeOf(value), array, &lane, 1, "");
  LLVMBuildStore(e->b, value, at);
}

// All lanes, one after the other.
static void all_lanes_begin(const emitter *e, lane_loop *l, llblock from) {
  llval zero = LLVMConstInt(e->u->i64, 0, false);
  build_go(e, l->head);
  build_at(e, l->head);
  l->rest = LLVMBuildPhi(e->b, e->u->i64, "lane");
  LLVMAddIncoming(l->rest, &zero, &from, 1);
  l->lane = l->rest;
  l->next = LLVMBuildNSWAdd(e->b, l->rest, const_i64(e->u, 1), "");
  l->limit = const_i64(e->u, e->width);
}

static void some_lanes_begin(const emitter *e, lane_loop *l, llblock from, llval bits) {
  llval number = bits_number(e, bits);
  lltype type = LLVMTypeOf(number);
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, number, LLVMConstNull(type), ""), l->head,
                  l->exit);
  build_at(e, l->head);
  l->rest = LLVMBuildPhi(e->b, type, "rest");
  LLVMAddIncoming(l->rest, &number, &from, 1);
  llval args[2] = {l->rest, LLVMConstInt(e->u->i1, 1, false)};
  llval lane = build_intrinsic(e, "llvm.cttz", &type, 1, args, 2);
  l->lane = e->width < 64 ? LLVMBuildZExt(e->b, lane, e->u->i64, "") : lane;
  llval less = LLVMBuildSub(e->b, l->rest, LLVMConstInt(type, 1, false), "");
  l->next = LLVMBuildAnd(e->b, l->rest, less, "");
  l->limit = LLVMConstNull(type);
}

void lanes_begin(const emitter *e, lane_loop *l, llval bits) {
  *l = (lane_loop){.lane = const_i64(e->u, 0)};
  l->head = build_block(e, "lane");
  l->exit = build_block(e, "lanes_done");
  llblock from = LLVMGetInsertBlock(e->b);
  if (e->width > 1 && bits) {
    some_lanes_begin(e, l, from, bits);
  } else if (e->width > 1) {
    all_lanes_begin(e, l, from);
  } else {
    if (bits)
      build_likely(e, LLVMBuildCondBr(e->b, bits, l->head, l->exit));
    else
      build_go(e, l->head);
    build_at(e, l->head);
  }
}

void lanes_end(const emitter *e, const lane_loop *l) {
  if (l->rest) {
    llblock from = LLVMGetInsertBlock(e->b);
    LLVMAddIncoming(l->rest, (llval[]){l->next}, &from, 1);
    llval is_more = LLVMBuildICmp(e->b, LLVMIntNE, l->next, l->limit, "");
    LLVMBuildCondBr(e->b, is_more, l->head, l->exit);
  } else {
    build_go(e, l->exit);
  }
  build_at(e, l->exit);
}
