// SPDX-License-Identifier: MIT
#include "backend/cpu/codegen/emit.h"

// ---- types and constants ------------------------------------------------------------------------

lltype type_vector_of(const emitter *e, lltype scalar) {
  lanewise l = lanes_of(e);
  return lanewise_vector(&l, scalar);
}

lltype type_value(const emitter *e, vyre_type type, bool is_vector) {
  lanewise l = lanes_of(e);
  return lanewise_type(&l, type, is_vector);
}

lltype type_memory(const unit *u, vyre_type type) {
  return type == VYRE_BOOL ? u->i8 : u->scalars[type];
}

llval const_i64(const unit *u, uint64_t value) {
  return LLVMConstInt(u->i64, value, false);
}

llval const_value(const emitter *e, vyre_type type, uint64_t bits, bool is_vector) {
  lanewise l = lanes_of(e);
  return lanewise_const(&l, type, bits, is_vector);
}

// ---- vectors ------------------------------------------------------------------------------------

llval build_splat(const emitter *e, llval scalar) {
  lanewise l = lanes_of(e);
  return lanewise_splat(&l, scalar);
}

llval build_lane_numbers(const emitter *e, lltype scalar, uint64_t stride) {
  if (e->width == 1) return LLVMConstInt(scalar, 0, false);
  llval lanes[LANEWISE_MOST];
  for (unsigned i = 0; i < e->width; i++) lanes[i] = LLVMConstInt(scalar, i * stride, false);
  return LLVMConstVector(lanes, e->width);
}

llval build_extract(const emitter *e, llval vector, unsigned lane) {
  if (e->width == 1) return vector;
  return LLVMBuildExtractElement(e->b, vector, LLVMConstInt(e->u->i32, lane, false), "");
}

llval build_insert(const emitter *e, llval vector, llval value, unsigned lane) {
  if (e->width == 1) return value;
  return LLVMBuildInsertElement(e->b, vector, value, LLVMConstInt(e->u->i32, lane, false), "");
}

llval build_intrinsic(const emitter *e, const char *name, const lltype *types, unsigned type_count,
                      const llval *args, unsigned count) {
  lanewise l = lanes_of(e);
  return lanewise_intrinsic(&l, name, types, type_count, args, count);
}

llval build_extend(const emitter *e, vyre_type type, llval index) {
  if (type_bits(type) == 64) return index;
  return type_is_signed(type) ? LLVMBuildSExt(e->b, index, e->u->i64, "")
                              : LLVMBuildZExt(e->b, index, e->u->i64, "");
}

// ---- blocks and variables -----------------------------------------------------------------------

llval build_variable(const emitter *e, lltype type, const char *name) {
  return LLVMBuildAlloca(e->k->entry, type, name);
}

llblock build_block(const emitter *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->u->context, e->k->function, name);
}

void build_go(const emitter *e, llblock to) {
  LLVMBuildBr(e->b, to);
}

void build_at(const emitter *e, llblock at) {
  LLVMPositionBuilderAtEnd(e->b, at);
}

static LLVMMetadataRef number_of(const emitter *e, unsigned value) {
  return LLVMValueAsMetadata(LLVMConstInt(e->u->i32, value, false));
}

void build_likely(const emitter *e, llval branch) {
  enum { OFTEN = 4096 };
  LLVMMetadataRef parts[3] = {LLVMMDStringInContext2(e->u->context, "branch_weights", 14),
                              number_of(e, OFTEN), number_of(e, 1)};
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->u->context, parts, 3);
  unsigned kind = LLVMGetMDKindIDInContext(e->u->context, "prof", 4);
  LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(e->u->context, node));
}

void build_poll(const emitter *e) {
  llval flag = LLVMBuildLoad2(e->b, e->u->i32, e->k->stop, "");
  LLVMSetVolatile(flag, true);
  llval is_set = LLVMBuildICmp(e->b, LLVMIntNE, flag, LLVMConstInt(e->u->i32, 0, false), "");
  llblock on = build_block(e, "go_on");
  LLVMBuildCondBr(e->b, is_set, e->k->stopped, on);
  build_at(e, on);
}

// ---- masks --------------------------------------------------------------------------------------

lltype type_mask(const emitter *e) {
  bool is_bit = e->width == 1 || e->u->target->has_predicates;
  return type_vector_of(e, is_bit ? e->u->i1 : e->u->i32);
}

llval mask_pack(const emitter *e, llval bits) {
  lltype type = type_mask(e);
  return LLVMTypeOf(bits) == type ? bits : LLVMBuildSExt(e->b, bits, type, "");
}

llval mask_test(const emitter *e, llval mask) {
  if (LLVMTypeOf(mask) == type_vector_of(e, e->u->i1)) return mask;
  return LLVMBuildICmp(e->b, LLVMIntSLT, mask, LLVMConstNull(LLVMTypeOf(mask)), "");
}

llval mask_full(const emitter *e) {
  return LLVMConstAllOnes(type_mask(e));
}

llval mask_and(const emitter *e, llval a, llval b) {
  if (!a || !b) return a ? a : b;
  return LLVMBuildAnd(e->b, a, b, "");
}

llval mask_without(const emitter *e, llval a, llval b) {
  llval rest = LLVMBuildNot(e->b, b, "");
  return a ? LLVMBuildAnd(e->b, a, rest, "") : rest;
}

llval bits_and(const emitter *e, llval a, llval b) {
  return mask_and(e, a, b);
}

llval bits_number(const emitter *e, llval bits) {
  return LLVMBuildBitCast(e->b, bits, LLVMIntTypeInContext(e->u->context, e->width), "");
}

llval bits_any(const emitter *e, llval bits) {
  if (e->width == 1) return bits;
  llval number = bits_number(e, bits);
  return LLVMBuildICmp(e->b, LLVMIntNE, number, LLVMConstNull(LLVMTypeOf(number)), "");
}

// Registers are put together first, so that one test is enough.
llval mask_any(const emitter *e, llval mask) {
  if (LLVMTypeOf(mask) == type_vector_of(e, e->u->i1)) return bits_any(e, mask);
  unsigned lanes = e->width, most = e->u->target->vector_bits / 32;
  llval left[LANEWISE_MOST], right[LANEWISE_MOST];
  while (lanes > most) {
    lanes /= 2;
    for (unsigned i = 0; i < lanes; i++) {
      left[i] = LLVMConstInt(e->u->i32, i, false);
      right[i] = LLVMConstInt(e->u->i32, lanes + i, false);
    }
    llval none = LLVMGetPoison(LLVMTypeOf(mask));
    llval low = LLVMBuildShuffleVector(e->b, mask, none, LLVMConstVector(left, lanes), "");
    llval high = LLVMBuildShuffleVector(e->b, mask, none, LLVMConstVector(right, lanes), "");
    mask = LLVMBuildOr(e->b, low, high, "");
  }
  llval bits = LLVMBuildICmp(e->b, LLVMIntSLT, mask, LLVMConstNull(LLVMTypeOf(mask)), "");
  llval packed = LLVMBuildBitCast(e->b, bits, LLVMIntTypeInContext(e->u->context, lanes), "");
  return LLVMBuildICmp(e->b, LLVMIntNE, packed, LLVMConstNull(LLVMTypeOf(packed)), "");
}

// ---- values -------------------------------------------------------------------------------------

const shape *shape_of(const emitter *e, uint32_t op) {
  return shape_at(e->shapes, op);
}

bool is_uniform(const emitter *e, ref r) {
  return ref_is_const(r) || !(shape_of(e, r)->axes & AXIS_X);
}

bool is_scalar(const emitter *e, uint32_t op) {
  const shape *s = shape_of(e, op);
  return s->is_linear || !(s->axes & AXIS_X);
}

bool is_kept_scalar(const emitter *e, uint32_t op) {
  const shape *s = shape_at(e->keep->shapes, op);
  return s->is_linear || !(s->axes & AXIS_X);
}

unsigned row_count(const emitter *e, uint32_t op) {
  return shape_of(e, op)->axes & AXIS_Y ? e->rows : 1;
}

static llval *slot_of(const emitter *e, uint32_t op, unsigned row) {
  if (row >= row_count(e, op)) row = 0;
  return &e->values[(size_t)(op - e->first) * e->rows + row];
}

void value_set(emitter *e, uint32_t op, unsigned row, llval value) {
  *slot_of(e, op, row) = value;
}

llval value_scalar(const emitter *e, ref r, unsigned row) {
  if (!ref_is_const(r) && e->is_resumed && e->keep->phases->is_crossing[r - e->first])
    return keep_load(e, r);
  if (!ref_is_const(r)) return *slot_of(e, r, row);
  const constant *c = &e->p->consts[ref_index(r)];
  return const_value(e, (vyre_type)c->type, c->bits, false);
}

llval value_spread(const emitter *e, uint32_t op, llval scalar) {
  const shape *s = shape_of(e, op);
  if (!s->is_linear || e->width == 1) return build_splat(e, scalar);
  llval lanes = build_lane_numbers(e, LLVMTypeOf(scalar), (uint64_t)s->stride);
  return LLVMBuildAdd(e->b, build_splat(e, scalar), lanes, "");
}

llval value_vector(const emitter *e, ref r, unsigned row) {
  llval value = value_scalar(e, r, row);
  if (ref_is_const(r)) return build_splat(e, value);
  return is_scalar(e, r) ? value_spread(e, r, value) : value;
}
