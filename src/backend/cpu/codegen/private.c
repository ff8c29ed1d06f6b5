// SPDX-License-Identifier: MIT
//
// Private arrays. The elements of one index lie side by side for all lanes, so that an index that
// is the same for all is one vector access. One more row than the array has takes the stores that
// go out of bounds, so that they need no branch. An array that is the same for all lanes is scalar.
#include "backend/cpu/codegen/access.h"

typedef struct private_place {
  vyre_type type;
  lltype element;
  uint64_t length;
  bool is_vector; // one element per lane
  llval data;
} private_place;

// Larger arrays go to the scratch memory: threads have small stacks.
enum { STACK_BYTES = 16384 };

// Between phases an array lies in a slot, in the same way for every version of the code.
static bool is_kept(const emitter *e, uint32_t op) {
  return e->keep && e->keep->phases->is_crossing[op - e->first];
}

static private_place place_private(const emitter *e, uint32_t op, unsigned row) {
  const inst *in = &e->p->code[op];
  if (row >= row_count(e, op)) row = 0;
  return (private_place){.type = (vyre_type)in->type,
                         .element = type_memory(e->u, (vyre_type)in->type),
                         .length = in->arg[0],
                         .is_vector = !(is_kept(e, op) ? is_kept_scalar(e, op) : is_scalar(e, op)),
                         .data = e->storage[(size_t)(op - e->first) * e->rows + row]};
}

static uint64_t element_count(const emitter *e, const private_place *p) {
  return (p->length + 1) * (p->is_vector ? e->width : 1);
}

void emit_array(emitter *e, uint32_t i) {
  e->declared[i - e->first] = e->depth;
  for (unsigned row = 0; row < row_count(e, i); row++) {
    private_place p = place_private(e, i, row);
    uint64_t bytes = element_count(e, &p) * type_bytes(p.type);
    llval *slot = &e->storage[(size_t)(i - e->first) * e->rows + row];
    if (is_kept(e, i)) {
      if (!e->is_resumed) *slot = keep_address(e, i);
    } else if (!*slot && bytes <= STACK_BYTES) {
      *slot = build_variable(e, LLVMArrayType2(p.element, element_count(e, &p)), "array");
      LLVMSetAlignment(*slot, 64);
    } else if (!*slot) {
      uint64_t at = kernel_scratch(e->k, bytes);
      llval offset = const_i64(e->u, at);
      *slot = LLVMBuildGEP2(e->k->entry, e->u->i8, e->k->scratch, &offset, 1, "array");
    }
    LLVMBuildMemSet(e->b, *slot, LLVMConstInt(e->u->i8, 0, false), const_i64(e->u, bytes), 8);
  }
}

static llval at_element(const emitter *e, const private_place *p, llval index) {
  if (p->is_vector) index = LLVMBuildMul(e->b, index, const_i64(e->u, e->width), "");
  return LLVMBuildGEP2(e->b, p->element, p->data, &index, 1, "");
}

static llval at_lane(const emitter *e, const private_place *p, llval index, unsigned lane) {
  index = LLVMBuildMul(e->b, index, const_i64(e->u, e->width), "");
  index = LLVMBuildAdd(e->b, index, const_i64(e->u, lane), "");
  return LLVMBuildGEP2(e->b, p->element, p->data, &index, 1, "");
}

// The index as i64, with everything out of bounds in the spare row; `ok` is NULL when proven.
static llval spare_index(const emitter *e, const private_place *p, ref index, llval value,
                         llval *ok) {
  vyre_type type = ref_type(e->p, index);
  value_range r = range_of(&e->k->known, index);
  bool is_vector = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
  if (is_vector)
    value = type_bits(type) == 64  ? value
            : type_is_signed(type) ? LLVMBuildSExt(e->b, value, type_vector_of(e, e->u->i64), "")
                                   : LLVMBuildZExt(e->b, value, type_vector_of(e, e->u->i64), "");
  else
    value = build_extend(e, type, value);
  *ok = NULL;
  bool is_real = is_uniform(e, index) || !e->exec;
  if (is_real && range_is_within(r, 0, (int64_t)p->length - 1)) return value;
  llval length = const_i64(e->u, p->length);
  if (is_vector) length = build_splat(e, length);
  *ok = LLVMBuildICmp(e->b, LLVMIntULT, value, length, "");
  return LLVMBuildSelect(e->b, *ok, value, length, "");
}

static lltype type_private(const emitter *e, const private_place *p) {
  return p->is_vector ? type_vector_of(e, p->element) : p->element;
}

static llval or_zero(const emitter *e, llval ok, llval value) {
  return ok ? LLVMBuildSelect(e->b, ok, value, LLVMConstNull(LLVMTypeOf(value)), "") : value;
}

static llval load_at_uniform(const emitter *e, const private_place *p, ref index, unsigned row) {
  llval ok, at = spare_index(e, p, index, value_scalar(e, index, row), &ok);
  llval v = LLVMBuildLoad2(e->b, type_private(e, p), at_element(e, p, at), "");
  LLVMSetAlignment(v, type_bytes(p->type));
  return or_zero(e, ok, v);
}

static llval load_at_vector(const emitter *e, const private_place *p, ref index, unsigned row) {
  llval ok, at = spare_index(e, p, index, value_vector(e, index, row), &ok);
  llval result = LLVMGetPoison(type_vector_of(e, p->element));
  for (unsigned lane = 0; lane < e->width; lane++) {
    llval k = build_extract(e, at, lane);
    llval address = p->is_vector ? at_lane(e, p, k, lane) : at_element(e, p, k);
    llval one = LLVMBuildLoad2(e->b, p->element, address, "");
    result = build_insert(e, result, one, lane);
  }
  return or_zero(e, ok, result);
}

void private_load(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  note_access(e, ACCESS_PRIVATE, false);
  for (unsigned row = 0; row < row_count(e, i); row++) {
    private_place p = place_private(e, mem_index(in->arg[0]), row);
    llval v = is_uniform(e, in->arg[1]) ? load_at_uniform(e, &p, in->arg[1], row)
                                        : load_at_vector(e, &p, in->arg[1], row);
    if (p.is_vector && is_scalar(e, i)) v = build_extract(e, v, 0);
    value_set(e, i, row, from_memory(e, p.type, v));
  }
}

// Nobody else sees the array: an inactive lane may write its old value back.
static void store_at_uniform(const emitter *e, const private_place *p, const inst *in, unsigned row,
                             bool keeps_old) {
  llval ok, at = spare_index(e, p, in->arg[1], value_scalar(e, in->arg[1], row), &ok);
  llval address = at_element(e, p, at);
  llval value = p->is_vector ? value_vector(e, in->arg[2], row) : value_scalar(e, in->arg[2], row);
  value = to_memory(e, p->type, value);
  if (keeps_old && p->is_vector) {
    llval old = LLVMBuildLoad2(e->b, type_private(e, p), address, "");
    LLVMSetAlignment(old, type_bytes(p->type));
    value = LLVMBuildSelect(e->b, mask_test(e, e->exec), value, old, "");
  }
  LLVMSetAlignment(LLVMBuildStore(e->b, value, address), type_bytes(p->type));
}

static void store_at_vector(const emitter *e, const private_place *p, const inst *in, unsigned row,
                            bool keeps_old) {
  llval ok, at = spare_index(e, p, in->arg[1], value_vector(e, in->arg[1], row), &ok);
  if (keeps_old) {
    llval spare = build_splat(e, const_i64(e->u, p->length));
    at = LLVMBuildSelect(e->b, mask_test(e, e->exec), at, spare, "");
  }
  llval value = to_memory(e, p->type, value_vector(e, in->arg[2], row));
  for (unsigned lane = 0; lane < e->width; lane++)
    LLVMBuildStore(e->b, build_extract(e, value, lane),
                   at_lane(e, p, build_extract(e, at, lane), lane));
}

void private_store(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  uint32_t array = mem_index(in->arg[0]);
  bool keeps_old = e->exec && parted_since(e, array);
  note_access(e, ACCESS_PRIVATE, false);
  for (unsigned row = 0; row < row_count(e, array); row++) {
    private_place p = place_private(e, array, row);
    if (is_uniform(e, in->arg[1]))
      store_at_uniform(e, &p, in, row, keeps_old);
    else
      store_at_vector(e, &p, in, row, keeps_old);
  }
}
