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

// Elements that lanes of their own index touch, counted over all lanes: of i32 where that is
// enough. What is out of bounds, or keeps what it has, is in the spare row.
static bool has_short_places(const emitter *e, const private_place *p) {
  return element_count(e, p) < INT32_MAX;
}

static llval lane_places(const emitter *e, const private_place *p, ref index, unsigned row,
                         bool keeps_old, llval *ok) {
  llval at = value_vector(e, index, row);
  bool is_short = has_short_places(e, p) && type_bits(ref_type(e->p, index)) == 32;
  lltype type = is_short ? e->u->i32 : e->u->i64;
  llval length = build_splat(e, LLVMConstInt(type, p->length, false));
  if (is_short) { // a negative index is a large one
    value_range r = range_of(&e->k->known, index);
    bool is_proven = !e->exec && range_is_within(r, 0, (int64_t)p->length - 1);
    *ok = is_proven ? NULL : LLVMBuildICmp(e->b, LLVMIntULT, at, length, "");
    if (!is_proven) at = LLVMBuildSelect(e->b, *ok, at, length, "");
  } else {
    at = spare_index(e, p, index, at, ok);
  }
  if (keeps_old) at = LLVMBuildSelect(e->b, mask_test(e, e->exec), at, length, "");
  if (p->is_vector) {
    at = LLVMBuildMul(e->b, at, build_splat(e, LLVMConstInt(type, e->width, false)), "");
    at = LLVMBuildAdd(e->b, at, build_lane_numbers(e, type, 1), "");
  }
  if (is_short || !has_short_places(e, p)) return at;
  return LLVMBuildTrunc(e->b, at, type_vector_of(e, e->u->i32), "");
}

static llval at_place(const emitter *e, const private_place *p, llval place) {
  return LLVMBuildGEP2(e->b, p->element, p->data, &place, 1, "");
}

static llval load_at_vector(const emitter *e, const private_place *p, ref index, unsigned row) {
  llval ok, at = lane_places(e, p, index, row, false, &ok);
  if (can_gather(e, p->type, false))
    return or_zero(e, ok, build_gather(e, p->type, at_place(e, p, at), NULL));
  llval result = LLVMGetPoison(type_vector_of(e, p->element));
  for (unsigned lane = 0; lane < e->width; lane++) {
    llval one = LLVMBuildLoad2(e->b, p->element, at_place(e, p, build_extract(e, at, lane)), "");
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
  llval ok, at = lane_places(e, p, in->arg[1], row, keeps_old, &ok);
  llval value = to_memory(e, p->type, value_vector(e, in->arg[2], row));
  if (can_gather(e, p->type, false)) {
    build_scatter(e, p->type, at_place(e, p, at), value, NULL);
    return;
  }
  for (unsigned lane = 0; lane < e->width; lane++)
    LLVMBuildStore(e->b, build_extract(e, value, lane), at_place(e, p, build_extract(e, at, lane)));
}

// ---- updates ------------------------------------------------------------------------------------

// a[i] = a[i] + x, where nothing else uses the element: lanes that index an array in different
// places, as one counts digits. Each lane's element is loaded, changed and stored by itself; put
// together as vectors in between, and taken apart again, it would take three times as long.

static bool is_private_access(const inst *in, vyre_op op) {
  return in->op == op && mem_space(in->arg[0]) == MEM_PRIVATE;
}

// The operation between the load and the store, or 0.
static uint32_t updated_by(const vyre_program *p, uint32_t store, uint32_t *load) {
  const inst *in = &p->code[store];
  if (ref_is_const(in->arg[2]) || in->arg[2] >= store) return 0;
  uint32_t made = in->arg[2];
  const inst *by = &p->code[made];
  bool is_plain = op_is((vyre_op)by->op, OPF_PURE) && op_table[by->op].operand_count == 2;
  if (!is_plain || by->type == VYRE_BOOL || by->arg[0] == by->arg[1]) return 0;
  for (int k = 0; k < 2; k++) {
    *load = by->arg[k];
    if (ref_is_const(*load) || ref_type(p, by->arg[!k]) != by->type) continue;
    const inst *old = &p->code[*load];
    if (is_private_access(old, VYRE_OP_LOAD) && old->arg[0] == in->arg[0] &&
        old->arg[1] == in->arg[1] && old->type == by->type)
      return made;
  }
  return 0;
}

// Nothing happens between the load and the store that could change what is loaded, or skip either.
static bool is_straight(const vyre_program *p, uint32_t load, uint32_t store) {
  enum { FAR = 16 };
  if (store - load > FAR) return false;
  for (uint32_t i = load + 1; i < store; i++)
    if (!op_is((vyre_op)p->code[i].op, OPF_PURE) && p->code[i].op != VYRE_OP_LOAD) return false;
  return true;
}

bool updates_find(kernel *k) {
  const vyre_program *p = k->p;
  uint32_t first = k->region->body.first, count = k->region->body.end - first;
  uint32_t *uses = arena_alloc_array(&k->u->arena, count + 1u, sizeof *uses);
  k->update = arena_alloc_array(&k->u->arena, count + 1u, sizeof *k->update);
  if (!uses || !k->update) return false;
  for (uint32_t i = first; i < first + count; i++) {
    const char *operands = op_table[p->code[i].op].operands;
    for (int n = 0; operands[n]; n++)
      if (operands[n] == 'v' && !ref_is_const(p->code[i].arg[n])) uses[p->code[i].arg[n] - first]++;
  }
  for (uint32_t i = first; i < first + count; i++) {
    uint32_t load, made;
    if (!is_private_access(&p->code[i], VYRE_OP_STORE)) continue;
    made = updated_by(p, i, &load);
    if (!made || uses[made - first] != 1 || uses[load - first] != 1 || !is_straight(p, load, i))
      continue;
    k->update[load - first] = k->update[made - first] = k->update[i - first] = i;
  }
  return true;
}

bool is_in_update(const emitter *e, uint32_t i) {
  uint32_t store = e->k->update[i - e->first];
  return store && e->width > 1 && e->rows == 1 && !is_uniform(e, e->p->code[store].arg[1]);
}

static void update_lanes(const emitter *e, const private_place *p, const inst *in, llval places,
                         lltype index) {
  const inst *by = &e->p->code[in->arg[2]];
  const inst *left = ref_is_const(by->arg[0]) ? NULL : &e->p->code[by->arg[0]];
  bool is_right = !left || !is_private_access(left, VYRE_OP_LOAD) ||
                  e->k->update[by->arg[0] - e->first] != e->k->update[in->arg[2] - e->first];
  ref other = by->arg[!is_right];
  llval vector = is_uniform(e, other) ? NULL : value_vector(e, other, 0);
  llval scalar = vector ? NULL : value_scalar(e, other, 0);
  lanewise l = {e->u->context, e->u->module, e->b, e->u->scalars, 1};
  for (unsigned lane = 0; lane < e->width; lane++) {
    llval number = const_i64(e->u, lane);
    llval at = LLVMBuildLoad2(e->b, index, LLVMBuildGEP2(e->b, index, places, &number, 1, ""), "");
    LLVMSetVolatile(at, true); // else LLVM takes the vector apart instead
    llval address = at_place(e, p, LLVMBuildZExt(e->b, at, e->u->i64, ""));
    llval old = LLVMBuildLoad2(e->b, p->element, address, "");
    llval more = vector ? build_extract(e, vector, lane) : scalar;
    llval args[3] = {is_right ? more : old, is_right ? old : more};
    LLVMBuildStore(e->b, lanewise_pure(&l, by, p->type, args, false), address);
  }
}

static void private_update(const emitter *e, const private_place *p, const inst *in,
                           bool keeps_old) {
  llval ok, at = lane_places(e, p, in->arg[1], 0, keeps_old, &ok);
  update_lanes(e, p, in, spill(e, at), has_short_places(e, p) ? e->u->i32 : e->u->i64);
}

void private_store(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  uint32_t array = mem_index(in->arg[0]);
  bool keeps_old = e->exec && parted_since(e, array);
  if (is_in_update(e, i)) {
    private_place p = place_private(e, array, 0);
    note_access(e, ACCESS_PRIVATE, false);
    note_access(e, ACCESS_PRIVATE, false);
    private_update(e, &p, in, keeps_old);
    return;
  }
  note_access(e, ACCESS_PRIVATE, false);
  for (unsigned row = 0; row < row_count(e, array); row++) {
    private_place p = place_private(e, array, row);
    if (is_uniform(e, in->arg[1]))
      store_at_uniform(e, &p, in, row, keeps_old);
    else
      store_at_vector(e, &p, in, row, keeps_old);
  }
}
