// SPDX-License-Identifier: MIT
//
// Values between phases. Each operation whose value crosses has one slot per vector of the
// workgroup: a scalar for uniform and linear values, a vector for others. A phase begins by loading
// what it uses from earlier ones (or computing it again, where that is cheap), and stores what it
// makes for later ones. Variables are copied to the stack for the phase, so that LLVM sees them as
// registers there.
#include "backend/cpu/codegen/kernel.h"

static bool is_crossing(const emitter *e, uint32_t i) {
  return e->keep->phases->is_crossing[i - e->first];
}

static uint64_t slot_bytes(const emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  uint64_t lanes = is_kept_scalar(e, i) ? 1 : e->width;
  if (in->op == VYRE_OP_ARRAY)
    return ((uint64_t)(in->arg[0] + 1) * lanes * type_bytes(in->type) + 63) / 64 * 64;
  return type_bytes(in->type) * lanes;
}

static llval slot_at(const emitter *e, uint64_t offset, uint64_t bytes) {
  llval at = LLVMBuildMul(e->b, e->vector, const_i64(e->u, bytes), "");
  at = LLVMBuildAdd(e->b, at, const_i64(e->u, offset), "");
  return LLVMBuildGEP2(e->b, e->u->i8, e->k->scratch, &at, 1, "");
}

llval keep_address(const emitter *e, uint32_t i) {
  return slot_at(e, e->keep->offset[i - e->first] - 1, slot_bytes(e, i));
}

// A version that assumes more may have a scalar where the slot is a vector.
static void store(const emitter *e, uint32_t i, llval value) {
  if (!is_kept_scalar(e, i) && is_scalar(e, i)) value = value_spread(e, i, value);
  lltype byte = is_kept_scalar(e, i) ? e->u->i8 : type_vector_of(e, e->u->i8);
  if (e->p->code[i].type == VYRE_BOOL) value = LLVMBuildZExt(e->b, value, byte, "");
  llval stored = LLVMBuildStore(e->b, value, keep_address(e, i));
  LLVMSetAlignment(stored, type_bytes(e->p->code[i].type));
}

llval keep_load(const emitter *e, uint32_t i) {
  vyre_type type = (vyre_type)e->p->code[i].type;
  lltype element = type_memory(e->u, type);
  llval v = LLVMBuildLoad2(e->b, is_scalar(e, i) ? element : type_vector_of(e, element),
                           keep_address(e, i), "");
  LLVMSetAlignment(v, type_bytes(type));
  if (type != VYRE_BOOL) return v;
  return LLVMBuildICmp(e->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

static bool is_memory(const emitter *e, uint32_t i) {
  unsigned op = e->p->code[i].op;
  return op == VYRE_OP_VAR || op == VYRE_OP_ARRAY;
}

void keep_value(const emitter *e, uint32_t i) {
  if (e->p->code[i].type == VYRE_VOID || is_memory(e, i)) return;
  llval value = e->values[(size_t)(i - e->first) * e->rows];
  llval steering = e->keep->steering[i - e->first];
  if (steering) LLVMBuildStore(e->b, value, steering);
  if (is_crossing(e, i)) store(e, i, value);
}

// ---- entering a phase ---------------------------------------------------------------------------

static bool mark(emitter *e, uint32_t i) {
  uint32_t *made = &e->made[i - e->first];
  if (*made == e->round) return false;
  *made = e->round;
  return true;
}

static void need_memory(emitter *e, uint32_t i, uint32_t phase) {
  const phases *ph = e->keep->phases;
  if (ph->phase[i - e->first] == phase || ph->is_common[i - e->first] || !mark(e, i)) return;
  e->declared[i - e->first] = 0;
  if (e->p->code[i].op == VYRE_OP_ARRAY) {
    e->storage[(size_t)(i - e->first) * e->rows] = keep_address(e, i);
  } else {
    variable_new(e, i, 0);
    variable_store(e, i, 0, keep_load(e, i));
  }
}

// Operands are made before what uses them; chains of cheap values are short.
static void need_value(emitter *e, ref r, uint32_t phase) {
  const phases *ph = e->keep->phases;
  if (ref_is_const(r) || ph->phase[r - e->first] == phase) return;
  const inst *in = &e->p->code[r];
  if (ph->is_common[r - e->first] || !mark(e, r)) return; // common values are always there
  if (!ph->is_cheap[r - e->first]) {
    value_set(e, r, 0, keep_load(e, r));
    return;
  }
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v') need_value(e, in->arg[k], phase);
  const keeper *keep = e->keep;
  e->keep = NULL; // made again, not to be kept
  emit_value(e, r);
  e->keep = keep;
}

void keep_enter(emitter *e, range code) {
  uint32_t phase = e->keep->phases->phase[code.first - e->first];
  e->round++;
  for (uint32_t i = code.first; i < code.end; i++) {
    const inst *in = &e->p->code[i];
    const char *operands = op_table[in->op].operands;
    for (int k = 0; operands[k]; k++) {
      if (operands[k] == 'v') need_value(e, in->arg[k], phase);
      if (operands[k] == 'x') need_memory(e, in->arg[k], phase);
      if (operands[k] == 'm' && mem_space(in->arg[k]) == MEM_PRIVATE)
        need_memory(e, mem_index(in->arg[k]), phase);
    }
  }
}

void keep_leave(emitter *e, range code) {
  e->round++;
  for (uint32_t i = code.first; i < code.end; i++) {
    const inst *in = &e->p->code[i];
    uint32_t variable = in->op == VYRE_OP_SET ? in->arg[0] : i;
    bool is_set = in->op == VYRE_OP_SET || in->op == VYRE_OP_VAR;
    if (!is_set || !is_crossing(e, variable) || !mark(e, variable)) continue;
    store(e, variable, variable_load(e, variable, 0));
  }
}

// ---- slots --------------------------------------------------------------------------------------

bool keeper_init(keeper *k, emitter *e, const phases *phases, const shapes *shapes,
                 uint64_t vectors) {
  const region *r = e->k->region;
  uint32_t count = r->body.end - r->body.first + 1;
  arena *a = &e->u->arena;
  *k = (keeper){.phases = phases, .shapes = shapes, .width = e->width};
  const keeper *before = e->keep;
  e->keep = k;
  k->offset = arena_alloc_array(a, count, sizeof *k->offset);
  k->steering = arena_alloc_array(a, count, sizeof(llval));
  if (!k->offset || !k->steering) return false;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    uint32_t slot = i - r->body.first;
    if (phases->is_crossing[slot])
      k->offset[slot] = 1 + kernel_scratch(e->k, vectors * slot_bytes(e, i));
    if (phases->is_together && phases->is_steering[slot] && !phases->is_cheap[slot] &&
        !phases->is_common[slot])
      k->steering[slot] = build_variable(e, e->u->scalars[e->p->code[i].type], "steering");
  }
  e->keep = before;
  if (!phases->has_return) return true;
  k->gone_at = kernel_scratch(e->k, vectors * 4 * e->width);
  k->left = build_variable(e, e->u->i1, "left");
  k->gone = build_variable(e, e->u->i1, "gone");
  return true;
}

// Who returned in an earlier phase, as bytes or words per lane.
static llval gone_address(const emitter *e) {
  return slot_at(e, e->keep->gone_at, (uint64_t)4 * e->width);
}

void keep_begin_vector(emitter *e, llblock skip) {
  llval gone = LLVMBuildLoad2(e->b, type_vector_of(e, e->u->i32), gone_address(e), "");
  LLVMSetAlignment(gone, 4);
  llval mask =
      mask_pack(e, LLVMBuildICmp(e->b, LLVMIntNE, gone, LLVMConstNull(LLVMTypeOf(gone)), ""));
  LLVMBuildStore(e->b, mask, e->returned);
  e->exec = mask_without(e, e->exec, mask);
  llblock here = LLVMAppendBasicBlockInContext(e->u->context, e->k->function, "alive");
  LLVMBuildCondBr(e->b, mask_any(e, e->exec), here, skip);
  build_at(e, here);
}

static void raise(const emitter *e, llval flag, llval condition) {
  llval old = LLVMBuildLoad2(e->b, e->u->i1, flag, "");
  LLVMBuildStore(e->b, LLVMBuildOr(e->b, old, condition, ""), flag);
}

void keep_end_vector(emitter *e, llval all) {
  llval mask = LLVMBuildLoad2(e->b, type_mask(e), e->returned, "");
  llval words = LLVMBuildSExt(e->b, mask_test(e, mask), type_vector_of(e, e->u->i32), "");
  LLVMSetAlignment(LLVMBuildStore(e->b, words, gone_address(e)), 4);
  raise(e, e->keep->gone, mask_any(e, mask));
  raise(e, e->keep->left, mask_any(e, mask_without(e, all, mask)));
}
