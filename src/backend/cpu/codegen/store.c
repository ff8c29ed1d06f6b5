// SPDX-License-Identifier: MIT
//
// Stores to buffers and shared arrays, by the same classes as loads. What is not inside, or not
// active, is not written. Of several lanes that write one element the last one wins, as if they ran
// in order.
#include "backend/cpu/codegen/access.h"
#include "backend/cpu/codegen/guard.h"
#include "backend/cpu/codegen/lines.h"
#include "backend/cpu/codegen/run.h"

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

// What does not count goes where nobody reads it. No jump, so that none is guessed wrong.
static void store_aside(const emitter *e, const place *p, llval index, llval value, llval ok) {
  llval at = LLVMBuildSelect(e->b, ok, place_at(e, p, index), kernel_aside(e->k), "");
  kernel_mark(e->k, LLVMBuildStore(e->b, value, at), p->mem);
}

static void store_uniform(emitter *e, const place *p, uint32_t i, unsigned row) {
  const inst *in = &e->p->code[i];
  llval index = index_scalar(e, i, row), ok = NULL;
  if (!row) note_access(e, ACCESS_UNIFORM, !is_inside(e, p, i));
  llval value = is_uniform(e, in->arg[2]) ? value_scalar(e, in->arg[2], row)
                                          : last_active(e, value_vector(e, in->arg[2], row));
  if (!is_inside(e, p, i)) ok = inside_scalar(e, p, index);
  if (e->exec) ok = bits_and(e, ok, mask_any(e, e->exec));
  ok = bits_and(e, ok, e->aside);
  value = to_memory(e, p->type, value);
  if (!ok) {
    store_element(e, p, index, value);
    return;
  }
  if (e->aside) {
    store_aside(e, p, index, value, ok);
    return;
  }
  llblock inside = build_block(e, "store"), after = build_block(e, "stored");
  LLVMBuildCondBr(e->b, ok, inside, after);
  build_at(e, inside);
  store_element(e, p, index, value);
  build_go(e, after);
  build_at(e, after);
}

void store_wide(const emitter *e, const place *p, llval address, llval value) {
  llval stored = LLVMBuildStore(e->b, value, address);
  LLVMSetAlignment(stored, type_bytes(p->type));
  kernel_mark(e->k, stored, p->mem);
}

// Whole lines of a buffer that nobody reads need not come into the caches, where all of it does not
// fit anyway: writing them takes no reading then, which is a third of the traffic of a copy.
static bool can_stream(const emitter *e, const place *p) {
  enum { LINE = 64 };
  return mem_space(p->mem) == MEM_BUFFER && e->k->is_only_written[mem_index(p->mem)] &&
         e->u->target->vector_bits >= 256 && e->u->options->tier != VYRE_TIER_QUICK && e->is_main &&
         e->width * type_bytes(p->type) % LINE == 0;
}

// Asked of each vector, because only whole lines can go.
static void store_streaming(const emitter *e, const place *p, llval address, llval value) {
  llblock by = build_block(e, "stream"), plain = build_block(e, "store");
  llblock after = build_block(e, "stored");
  llval at = LLVMBuildPtrToInt(e->b, address, e->u->i64, "");
  llval bits =
      LLVMBuildAnd(e->b, LLVMBuildOr(e->b, at, kernel_stays(e->k), ""), const_i64(e->u, 63), "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, bits, const_i64(e->u, 0), ""), by, plain);
  build_at(e, by);
  llval stored = LLVMBuildStore(e->b, value, address);
  LLVMSetAlignment(stored, 64);
  unsigned kind = LLVMGetMDKindIDInContext(e->u->context, "nontemporal", 11);
  LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(e->u->i32, 1, false));
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->u->context, &one, 1);
  LLVMSetMetadata(stored, kind, LLVMMetadataAsValue(e->u->context, node));
  kernel_mark(e->k, stored, p->mem);
  build_go(e, after);
  build_at(e, plain);
  store_wide(e, p, address, value);
  build_go(e, after);
  build_at(e, after);
}

static void store_masked(const emitter *e, const place *p, llval address, llval value, llval bits) {
  lltype types[2] = {type_vector_of(e, p->element), e->u->ptr};
  llval args[4] = {value, address, LLVMConstInt(e->u->i32, type_bytes(p->type), false), bits};
  kernel_mark(e->k, build_intrinsic(e, "llvm.masked.store", types, 2, args, 4), p->mem);
}

static void store_lanes(const emitter *e, const place *p, uint32_t i, unsigned row, llval value,
                        llval bits) {
  ref index = e->p->code[i].arg[1];
  vyre_type type = ref_type(e->p, index);
  bool is_stepping = !bits && access_class_of(e, i) == ACCESS_STEPS;
  llval indices = is_stepping ? NULL : value_vector(e, index, row);
  if (!is_stepping && can_gather(e, p->type, bits != NULL)) {
    store_scattered(e, p, index, indices, value, bits);
    return;
  }
  if (!bits) {
    for (unsigned lane = 0; lane < e->width; lane++)
      store_element(e, p, lane_index(e, i, row, lane, indices), build_extract(e, value, lane));
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
static bool is_own(const emitter *e, uint32_t i) {
  uint32_t mem = e->p->code[i].arg[0];
  return mem_space(mem) == MEM_BUFFER && e->k->is_own[mem_index(mem)];
}

static void store_blended(const emitter *e, const place *p, llval address, llval value,
                          llval bits) {
  llval old = load_wide(e, p, address);
  store_wide(e, p, address, LLVMBuildSelect(e->b, bits, value, old, ""));
}

static void store_masked_line(const emitter *e, const place *p, uint32_t i, unsigned row,
                              llval value, llval bits) {
  access_class class = access_class_of(e, i);
  value = build_reversed(e, value, class);
  store_masked(e, p, line_address(e, p, i, row), value, build_reversed(e, bits, class));
}

void store_checked(const emitter *e, const place *p, uint32_t i, unsigned row, llval value) {
  access_class class = access_class_of(e, i);
  llval bits = access_bits(e, p, i, row);
  bool is_neighbours = class == ACCESS_CONTIGUOUS || class == ACCESS_REVERSED;
  if (!bits || !is_neighbours || !can_mask(e, p)) {
    store_lanes(e, p, i, row, value, bits);
  } else if (is_line(e, i)) {
    store_masked_line(e, p, i, row, value, bits);
  } else {
    either x = either_begin(e, line_is_straight(e, i, row));
    store_masked_line(e, p, i, row, value, bits);
    either_else(e, &x, NULL);
    store_lanes(e, p, i, row, value, bits);
    either_end(e, &x, NULL);
  }
}

// One compare and a branch are little beside an access of each lane.
static void store_by_chance(const emitter *e, const place *p, uint32_t i, unsigned row,
                            llval value) {
  llval address;
  either x = either_begin(e, lanes_are_line(e, p, i, row, &address));
  if (e->exec)
    store_masked(e, p, address, value, mask_test(e, e->exec));
  else
    store_wide(e, p, address, value);
  either_else(e, &x, NULL);
  store_checked(e, p, i, row, value);
  either_end(e, &x, NULL);
}

// One compare for all lanes. A shared array is this thread's alone: what inactive lanes have there
// may be written back.
static void store_looking(const emitter *e, const place *p, uint32_t i, unsigned row, llval value) {
  access_class class = access_class_of(e, i);
  either x = either_begin(e, line_is_inside(e, p, i, row));
  llval address = line_address(e, p, i, row), all = build_reversed(e, value, class);
  if (e->exec)
    store_blended(e, p, address, all, build_reversed(e, mask_test(e, e->exec), class));
  else
    store_wide(e, p, address, all);
  either_else(e, &x, NULL);
  store_checked(e, p, i, row, value);
  either_end(e, &x, NULL);
}

static void store_vector(const emitter *e, const place *p, uint32_t i, unsigned row) {
  access_class class = access_class_of(e, i);
  bool is_line = class == ACCESS_CONTIGUOUS || class == ACCESS_REVERSED;
  bool is_proven = is_assumed(e, i) || is_inside(e, p, i);
  llval value = to_memory(e, p->type, value_vector(e, e->p->code[i].arg[2], row));
  if (!row) note_access(e, class, !is_proven && !(is_line && e->guards));
  if (is_line && is_proven && !e->exec) {
    (can_stream(e, p) ? store_streaming : store_wide)(e, p, line_address(e, p, i, row),
                                                      build_reversed(e, value, class));
  } else if (is_line && is_assumed(e, i) && is_own(e, i)) {
    llval bits = build_reversed(e, mask_test(e, e->exec), class);
    store_blended(e, p, line_address(e, p, i, row), build_reversed(e, value, class), bits);
  } else if (is_line && ((e->guards && !e->exec) || mem_space(p->mem) == MEM_SHARED)) {
    store_looking(e, p, i, row, value);
  } else if (is_line_by_chance(e, i) && (!e->exec || can_mask(e, p))) {
    store_by_chance(e, p, i, row, value);
  } else {
    store_checked(e, p, i, row, value);
  }
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
  if (lines_store(e, i) || (!e->aside && run_store(e, i))) return;
  place p = place_of(e, in->arg[0]);
  for (unsigned row = 0; row < store_rows(e, in); row++) {
    if (is_uniform(e, in->arg[1]))
      store_uniform(e, &p, i, row);
    else
      store_vector(e, &p, i, row);
  }
}
