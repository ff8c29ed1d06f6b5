// SPDX-License-Identifier: MIT
//
// Loads and stores of buffers and shared arrays. By the index: one scalar for all (uniform),
// neighbours (contiguous), or anything (gathered lane by lane). Where nothing proves the index to
// be inside, a load out of bounds reads element 0 instead, which is always there (an empty buffer
// points to zeros), and gives zero; a store is masked.
#include "backend/cpu/codegen/access.h"
#include "backend/cpu/codegen/guard.h"

static llval zero_of(const emitter *e, const place *p, bool is_vector) {
  return LLVMConstNull(is_vector ? type_vector_of(e, p->element) : p->element);
}

static llval load_element(const emitter *e, const place *p, llval index) {
  llval v = LLVMBuildLoad2(e->b, p->element, place_at(e, p, index), "");
  return kernel_mark(e->k, v, p->mem);
}

static bool is_assumed(const emitter *e, uint32_t i) {
  return e->assume && e->assume[i - e->first] == ASSUME_INSIDE;
}

static llval index_scalar(const emitter *e, uint32_t i, unsigned row) {
  ref index = e->p->code[i].arg[1];
  if (is_assumed(e, i)) return guards_index(e->guards, e, index, row);
  return build_extend(e, ref_type(e->p, index), value_scalar(e, index, row));
}

// ---- loads --------------------------------------------------------------------------------------

static llval load_uniform(const emitter *e, const place *p, uint32_t i, unsigned row) {
  llval index = index_scalar(e, i, row);
  if (is_inside(e, p, i)) return from_memory(e, p->type, load_element(e, p, index));
  llval ok = inside_scalar(e, p, index);
  llval safe = LLVMBuildSelect(e->b, ok, index, const_i64(e->u, 0), "");
  llval loaded = LLVMBuildSelect(e->b, ok, load_element(e, p, safe), zero_of(e, p, false), "");
  return from_memory(e, p->type, loaded);
}

static llval load_wide(const emitter *e, const place *p, llval address) {
  llval v = LLVMBuildLoad2(e->b, type_vector_of(e, p->element), address, "");
  LLVMSetAlignment(v, type_bytes(p->type));
  return kernel_mark(e->k, v, p->mem);
}

static llval load_masked(const emitter *e, const place *p, llval address, llval bits) {
  lltype types[2] = {type_vector_of(e, p->element), e->u->ptr};
  llval args[4] = {address, LLVMConstInt(e->u->i32, type_bytes(p->type), false), bits,
                   zero_of(e, p, true)};
  return kernel_mark(e->k, build_intrinsic(e, "llvm.masked.load", types, 2, args, 4), p->mem);
}

// One element after the other; lanes without their bit read element 0 and give zero.
static llval load_lanes(const emitter *e, const place *p, uint32_t i, unsigned row, llval bits) {
  ref index = e->p->code[i].arg[1];
  vyre_type type = ref_type(e->p, index);
  llval indices = value_vector(e, index, row);
  if (bits) indices = LLVMBuildSelect(e->b, bits, indices, LLVMConstNull(LLVMTypeOf(indices)), "");
  if (e->width == 1) {
    llval one = load_element(e, p, build_extend(e, type, indices));
    return bits ? LLVMBuildSelect(e->b, bits, one, zero_of(e, p, true), "") : one;
  }
  llval result = LLVMGetPoison(type_vector_of(e, p->element));
  for (unsigned lane = 0; lane < e->width; lane++) {
    llval at = build_extend(e, type, build_extract(e, indices, lane));
    result = LLVMBuildInsertElement(e->b, result, load_element(e, p, at),
                                    LLVMConstInt(e->u->i32, lane, false), "");
  }
  return bits ? LLVMBuildSelect(e->b, bits, result, zero_of(e, p, true), "") : result;
}

static bool can_mask(const emitter *e, const place *p) {
  return e->width > 1 && type_bytes(p->type) >= 4 && e->u->target->has_masked_moves;
}

// Whether lanes that are neighbours by their index are neighbours in memory even when some are out
// of bounds. A u32 index that passes 2^32 starts over at 0, where an address does not; a signed
// index is negative then and takes no part, and 64-bit ones wrap as addresses do.
static bool is_line(const emitter *e, ref index) {
  const shape *s = shape_of(e, index);
  if (!s->is_linear || s->stride != 1 || e->width == 1) return false;
  value_range r = range_of(&e->k->known, index);
  return ref_type(e->p, index) != VYRE_U32 || r.lo > 0 || r.hi < UINT32_MAX;
}

// One field of as many records as there are lanes: all of them at once, and a shuffle.
static llval load_field(const emitter *e, const place *p, uint32_t i, unsigned row) {
  unsigned record = e->guards->record[i - e->first], field = e->guards->field[i - e->first];
  unsigned count = record * e->width;
  llval first = LLVMBuildSub(e->b, index_scalar(e, i, row), const_i64(e->u, field), "");
  lltype type = LLVMVectorType(p->element, count);
  llval all = LLVMBuildLoad2(e->b, type, place_at(e, p, first), "");
  LLVMSetAlignment(all, type_bytes(p->type));
  kernel_mark(e->k, all, p->mem);
  llval lanes[64];
  for (unsigned k = 0; k < e->width; k++)
    lanes[k] = LLVMConstInt(e->u->i32, k * record + field, false);
  return LLVMBuildShuffleVector(e->b, all, LLVMGetPoison(type), LLVMConstVector(lanes, e->width),
                                "");
}

static llval load_vector(emitter *e, const place *p, uint32_t i, unsigned row) {
  ref index = e->p->code[i].arg[1];
  const shape *s = shape_of(e, index);
  bool is_contiguous = s->is_linear && s->stride == 1;
  if (is_contiguous && e->width > 1 && (is_assumed(e, i) || (!e->exec && is_inside(e, p, i))))
    return load_wide(e, p, place_at(e, p, index_scalar(e, i, row)));
  if (s->is_linear && e->width > 1 && is_assumed(e, i) && e->guards->record[i - e->first])
    return load_field(e, p, i, row);
  llval bits = access_bits(e, p, i, row);
  if (bits && is_line(e, index) && can_mask(e, p))
    return load_masked(e, p, place_at(e, p, index_scalar(e, i, row)), bits);
  return load_lanes(e, p, i, row, bits);
}

void emit_load(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  if (mem_space(in->arg[0]) == MEM_PRIVATE) {
    private_load(e, i);
    return;
  }
  place p = place_of(e, in->arg[0]);
  for (unsigned row = 0; row < row_count(e, i); row++)
    value_set(e, i, row,
              is_uniform(e, in->arg[1]) ? load_uniform(e, &p, i, row)
                                        : from_memory(e, p.type, load_vector(e, &p, i, row)));
}

// ---- stores -------------------------------------------------------------------------------------

static void store_element(const emitter *e, const place *p, llval index, llval value) {
  kernel_mark(e->k, LLVMBuildStore(e->b, value, place_at(e, p, index)), p->mem);
}

// The value of the last active lane, as if they ran in order.
static llval last_active(const emitter *e, llval vector) {
  if (e->width == 1) return vector;
  if (!e->exec) return build_extract(e, vector, e->width - 1);
  llval number = bits_number(e, mask_test(e, e->exec));
  lltype type = LLVMTypeOf(number);
  llval args[2] = {number, LLVMConstInt(e->u->i1, 0, false)};
  llval leading = build_intrinsic(e, "llvm.ctlz", &type, 1, args, 2);
  llval lane = LLVMBuildSub(e->b, LLVMConstInt(type, e->width - 1, false), leading, "");
  lane = LLVMBuildAnd(e->b, lane, LLVMConstInt(type, e->width - 1, false), "");
  return LLVMBuildExtractElement(e->b, vector, lane, "");
}

static void store_uniform(emitter *e, const place *p, uint32_t i, unsigned row) {
  const inst *in = &e->p->code[i];
  llval index = index_scalar(e, i, row), ok = NULL;
  llval value = is_uniform(e, in->arg[2]) ? value_scalar(e, in->arg[2], row)
                                          : last_active(e, value_vector(e, in->arg[2], row));
  if (!is_inside(e, p, i)) ok = inside_scalar(e, p, index);
  if (e->exec) ok = bits_and(e, ok, mask_any(e, e->exec));
  value = to_memory(e, p->type, value);
  if (!ok) {
    store_element(e, p, index, value);
    return;
  }
  llblock inside = build_block(e, "store"), after = build_block(e, "stored");
  LLVMBuildCondBr(e->b, ok, inside, after);
  build_at(e, inside);
  store_element(e, p, index, value);
  build_go(e, after);
  build_at(e, after);
}

static void store_wide(const emitter *e, const place *p, llval address, llval value) {
  llval stored = LLVMBuildStore(e->b, value, address);
  LLVMSetAlignment(stored, type_bytes(p->type));
  kernel_mark(e->k, stored, p->mem);
}

static void store_masked(const emitter *e, const place *p, llval address, llval value, llval bits) {
  lltype types[2] = {type_vector_of(e, p->element), e->u->ptr};
  llval args[4] = {value, address, LLVMConstInt(e->u->i32, type_bytes(p->type), false), bits};
  kernel_mark(e->k, build_intrinsic(e, "llvm.masked.store", types, 2, args, 4), p->mem);
}

static void store_lanes(const emitter *e, const place *p, vyre_type type, llval indices,
                        llval value, llval bits) {
  if (!bits) {
    for (unsigned lane = 0; lane < e->width; lane++)
      store_element(e, p, build_extend(e, type, build_extract(e, indices, lane)),
                    build_extract(e, value, lane));
    return;
  }
  lane_loop l;
  llval all_indices = spill(e, indices), all_values = spill(e, value);
  lanes_begin(e, &l, bits);
  llval at = spilled_lane(e, all_indices, e->u->scalars[type], l.lane);
  store_element(e, p, build_extend(e, type, at), spilled_lane(e, all_values, p->element, l.lane));
  lanes_end(e, &l);
}

// Only this invocation writes the element, and only this thread runs the vector: what inactive
// lanes have there may be written back. Selected stores are slow on many CPUs.
static void store_blended(const emitter *e, const place *p, llval address, llval value,
                          llval bits) {
  llval old = load_wide(e, p, address);
  store_wide(e, p, address, LLVMBuildSelect(e->b, bits, value, old, ""));
}

static void store_vector(emitter *e, const place *p, uint32_t i, unsigned row) {
  const inst *in = &e->p->code[i];
  ref index = in->arg[1];
  const shape *s = shape_of(e, index);
  llval value = to_memory(e, p->type, value_vector(e, in->arg[2], row));
  llval bits = access_bits(e, p, i, row);
  bool is_contiguous = s->is_linear && s->stride == 1 && e->width > 1;
  if (is_contiguous && bits && is_assumed(e, i) && e->k->is_own[mem_index(in->arg[0])] &&
      mem_space(in->arg[0]) == MEM_BUFFER) {
    store_blended(e, p, place_at(e, p, index_scalar(e, i, row)), value, bits);
    return;
  }
  if (is_contiguous && (!bits || (is_line(e, index) && can_mask(e, p)))) {
    llval address = place_at(e, p, index_scalar(e, i, row));
    if (bits)
      store_masked(e, p, address, value, bits);
    else
      store_wide(e, p, address, value);
    return;
  }
  store_lanes(e, p, ref_type(e->p, index), value_vector(e, index, row), value, bits);
}

static unsigned store_rows(const emitter *e, const inst *in) {
  uint8_t axes = shape_axes(e->shapes, in->arg[1]) | shape_axes(e->shapes, in->arg[2]);
  return axes & AXIS_Y ? e->rows : 1;
}

void emit_store(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  if (mem_space(in->arg[0]) == MEM_PRIVATE) {
    private_store(e, i);
    return;
  }
  place p = place_of(e, in->arg[0]);
  for (unsigned row = 0; row < store_rows(e, in); row++) {
    if (is_uniform(e, in->arg[1]))
      store_uniform(e, &p, i, row);
    else
      store_vector(e, &p, i, row);
  }
}
