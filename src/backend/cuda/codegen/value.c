// SPDX-License-Identifier: MIT
//
// Operations. What LLVM computes on numbers is in backend/llvm; here is where values come from and
// go to: facts of the launch, memory, variables.
#include "backend/cuda/codegen/emit.h"

#include "base/error.h"
#include "ir/op_groups.h"

#include <string.h>

lltype emit_memory_type(const emitter *e, vyre_type type) {
  return e->scalars[type == VYRE_BOOL ? VYRE_U8 : type];
}

llval emit_ref(emitter *e, ref value) {
  if (!ref_is_const(value)) return e->values[value];
  const constant *c = &e->p->consts[ref_index(value)];
  return lanewise_const(&e->l, (vyre_type)c->type, c->bits, false);
}

static llval number(emitter *e, uint32_t value) {
  return LLVMConstInt(e->scalars[VYRE_U32], value, false);
}

// At the beginning of the function, so that a slot in a loop is one.
llval emit_slot(emitter *e, lltype type) {
  LLVMBuilderRef b = LLVMCreateBuilderInContext(e->l.context);
  llval first = LLVMGetFirstInstruction(e->entry);
  if (first)
    LLVMPositionBuilderBefore(b, first);
  else
    LLVMPositionBuilderAtEnd(b, e->entry);
  llval slot = LLVMBuildAlloca(b, type, "");
  LLVMDisposeBuilder(b);
  return slot;
}

// ---- facts --------------------------------------------------------------------------------------

llval emit_fact(emitter *e, cuda_fact kind, uint32_t index) {
  for (uint32_t i = 0; i < e->argument_count; i++)
    if (e->arguments[i].kind == kind && e->arguments[i].index == index)
      return LLVMGetParam(e->function, i);
  VYRE_BUG("cuda", "fact %d of %u was not collected", (int)kind, index);
}

static llval special(emitter *e, const char *what, uint32_t axis) {
  char name[64] = "llvm.nvvm.read.ptx.sreg.";
  strcat(name, what);
  strcat(name, axis == 0 ? ".x" : axis == 1 ? ".y" : ".z");
  return lanewise_intrinsic(&e->l, name, NULL, 0, NULL, 0);
}

// A large grid is launched in pieces, which do not begin at 0.
static llval group_number(emitter *e, uint32_t axis) {
  return LLVMBuildAdd(e->l.b, special(e, "ctaid", axis), emit_fact(e, CUDA_BASE, axis), "");
}

static llval axis_fact(emitter *e, const inst *in) {
  uint32_t axis = in->arg[0];
  bool is_past = axis >= e->r->rank;
  LLVMBuilderRef b = e->l.b;
  if (in->op == VYRE_OP_LOCAL_SIZE) return number(e, e->r->workgroup[axis]);
  if (in->op == VYRE_OP_GLOBAL_SIZE) return is_past ? number(e, 1) : emit_fact(e, CUDA_GRID, axis);
  if (in->op == VYRE_OP_GROUP_COUNT)
    return is_past ? number(e, 1)
                   : LLVMBuildUDiv(b, emit_fact(e, CUDA_GRID, axis),
                                   number(e, e->r->workgroup[axis]), "");
  if (is_past) return number(e, 0);
  if (in->op == VYRE_OP_LOCAL_ID) return special(e, "tid", axis);
  if (in->op == VYRE_OP_GROUP_ID) return group_number(e, axis);
  llval first = LLVMBuildMul(b, group_number(e, axis), special(e, "ntid", axis), "");
  return LLVMBuildAdd(b, first, special(e, "tid", axis), "");
}

static llval to_bool(emitter *e, llval byte) {
  return LLVMBuildICmp(e->l.b, LLVMIntNE, byte, LLVMConstNull(LLVMTypeOf(byte)), "");
}

static llval parameter(emitter *e, const inst *in) {
  llval found = emit_fact(e, CUDA_PARAM, in->arg[0]);
  return in->type == VYRE_BOOL ? to_bool(e, found) : found;
}

// Of memory that the host writes meanwhile.
static llval stop_asked(emitter *e) {
  llval flag = LLVMBuildLoad2(e->l.b, e->scalars[VYRE_U32], emit_fact(e, CUDA_STOP, 0), "");
  LLVMSetVolatile(flag, true);
  return to_bool(e, flag);
}

// ---- memory -------------------------------------------------------------------------------------

static vyre_type element_type(const emitter *e, uint32_t mem) {
  uint32_t i = mem_index(mem);
  if (mem_space(mem) == MEM_SHARED) return e->p->shared[i].type;
  if (mem_space(mem) == MEM_PRIVATE) return (vyre_type)e->p->code[i].type;
  return e->p->buffers[i].type;
}

// An index is inside, so it is not negative, whatever its type.
static llval place(emitter *e, const inst *in) {
  uint32_t space = mem_space(in->arg[0]), i = mem_index(in->arg[0]);
  llval base = space == MEM_BUFFER   ? emit_fact(e, CUDA_BUFFER, i)
               : space == MEM_SHARED ? e->shared[i]
                                     : e->values[i];
  llval index = emit_ref(e, in->arg[1]);
  if (type_bits(ref_type(e->p, in->arg[1])) < 64)
    index = LLVMBuildZExt(e->l.b, index, e->scalars[VYRE_U64], "");
  lltype type = emit_memory_type(e, element_type(e, in->arg[0]));
  return LLVMBuildInBoundsGEP2(e->l.b, type, base, &index, 1, "");
}

static llval load(emitter *e, const inst *in) {
  vyre_type type = element_type(e, in->arg[0]);
  llval found = LLVMBuildLoad2(e->l.b, emit_memory_type(e, type), place(e, in), "");
  LLVMSetAlignment(found, type_bytes(type));
  return type == VYRE_BOOL ? to_bool(e, found) : found;
}

static void store(emitter *e, const inst *in) {
  vyre_type type = element_type(e, in->arg[0]);
  llval value = emit_ref(e, in->arg[2]);
  if (type == VYRE_BOOL) value = LLVMBuildZExt(e->l.b, value, e->scalars[VYRE_U8], "");
  LLVMSetAlignment(LLVMBuildStore(e->l.b, value, place(e, in)), type_bytes(type));
}

static llval atomic(emitter *e, const inst *in) {
  bool is_exchange = in->op == VYRE_OP_ATOMIC_CAS;
  llval at = place(e, in), x = emit_ref(e, in->arg[2]);
  return lanewise_atomic(&e->l, in, at, x, is_exchange ? emit_ref(e, in->arg[3]) : NULL);
}

// ---- private state ------------------------------------------------------------------------------

static llval variable(emitter *e, const inst *in) {
  llval slot = emit_slot(e, e->scalars[in->type]);
  LLVMBuildStore(e->l.b, emit_ref(e, in->arg[0]), slot);
  return slot;
}

// Zero each time that it is reached.
static llval array(emitter *e, const inst *in) {
  uint64_t bytes = (uint64_t)in->arg[0] * type_bytes(in->type);
  llval slot = emit_slot(e, LLVMArrayType2(emit_memory_type(e, (vyre_type)in->type), in->arg[0]));
  LLVMSetAlignment(slot, 8);
  LLVMBuildMemSet(e->l.b, slot, LLVMConstNull(e->scalars[VYRE_U8]),
                  LLVMConstInt(e->scalars[VYRE_U64], bytes, false), 8);
  return slot;
}

// ---- all ----------------------------------------------------------------------------------------

// Rounded by an instruction that LLVM does not look through: it would compute in f16 what comes
// before, which the lowering has decided against (lower/half.c).
static llval to_half(emitter *e, llval x) {
  llval bits = lanewise_intrinsic(&e->l, "llvm.nvvm.f2h.rn", NULL, 0, &x, 1);
  return LLVMBuildBitCast(e->l.b, bits, e->scalars[VYRE_F16], "");
}

static llval pure(emitter *e, const inst *in) {
  llval args[3] = {0};
  uint32_t count = op_table[in->op].operand_count;
  for (uint32_t k = 0; k < count; k++) args[k] = emit_ref(e, in->arg[k]);
  vyre_type type = ref_type(e->p, in->arg[in->op == VYRE_OP_SELECT ? 1 : 0]);
  bool is_to_half = in->op == VYRE_OP_CONVERT && in->type == VYRE_F16 && type == VYRE_F32;
  return is_to_half ? to_half(e, args[0]) : lanewise_pure(&e->l, in, type, args, false);
}

static llval value_of(emitter *e, uint32_t op) {
  const inst *in = &e->p->code[op];
  switch ((vyre_op)in->op) {
  case OPS_COMPUTED: return pure(e, in);
  case VYRE_OP_PARAM: return parameter(e, in);
  case VYRE_OP_LEN: return emit_fact(e, CUDA_LENGTH, in->arg[0]);
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID:
  case VYRE_OP_GROUP_ID:
  case OPS_AXIS_SIZES: return axis_fact(e, in);
  case VYRE_OP_LOAD: return load(e, in);
  case VYRE_OP_STORE: store(e, in); return NULL;
  case OPS_ATOMIC: return atomic(e, in);
  case VYRE_OP_VAR: return variable(e, in);
  case VYRE_OP_GET: return LLVMBuildLoad2(e->l.b, e->scalars[in->type], e->values[in->arg[0]], "");
  case VYRE_OP_SET:
    LLVMBuildStore(e->l.b, emit_ref(e, in->arg[1]), e->values[in->arg[0]]);
    return NULL;
  case VYRE_OP_ARRAY: return array(e, in);
  case VYRE_OP_FOR: return emit_loop_counter(e, op);
  case OPS_FLOW: emit_flow(e, op); return NULL;
  case OPS_NONE: break;
  }
  VYRE_BUG("cuda", "%s was not lowered", inst_name(in));
}

void emit_operation(emitter *e, uint32_t op) {
  const inst *in = &e->p->code[op];
  llval made = in->op == OP_STOP_ASKED ? stop_asked(e) : value_of(e, op);
  e->values[op] = made;
  const char *name = e->options->keeps_names && e->p->names ? e->p->names[op] : NULL;
  if (name && made && LLVMIsAInstruction(made)) LLVMSetValueName2(made, name, strlen(name));
}
