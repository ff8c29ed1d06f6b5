// SPDX-License-Identifier: MIT
//
// Walks the operations of a block. A variable is a slot on the stack, which LLVM turns into
// registers; one that is uniform or linear along x is a scalar.
#include "backend/cpu/codegen/emit.h"

#include "base/error.h"
#include "ir/op_groups.h"

// ---- variables ----------------------------------------------------------------------------------

// A vector of bools is kept as a mask: registers of bits are wide ones in most targets.
static llval to_slot(const emitter *e, uint32_t variable, llval value) {
  bool is_mask = e->p->code[variable].type == VYRE_BOOL && !is_scalar(e, variable);
  return is_mask ? mask_pack(e, value) : value;
}

static llval load_slot(const emitter *e, uint32_t variable, llval slot) {
  vyre_type type = (vyre_type)e->p->code[variable].type;
  if (is_scalar(e, variable)) return LLVMBuildLoad2(e->b, e->u->scalars[type], slot, "");
  if (type != VYRE_BOOL) return LLVMBuildLoad2(e->b, type_value(e, type, true), slot, "");
  return mask_test(e, LLVMBuildLoad2(e->b, type_mask(e), slot, ""));
}

static llval *slot_at(const emitter *e, uint32_t variable, unsigned row) {
  if (row >= row_count(e, variable)) row = 0;
  return &e->storage[(size_t)(variable - e->first) * e->rows + row];
}

llval variable_new(emitter *e, uint32_t i, unsigned row) {
  llval *slot = slot_at(e, i, row);
  vyre_type type = (vyre_type)e->p->code[i].type;
  bool is_mask = type == VYRE_BOOL && !is_scalar(e, i);
  if (!*slot)
    *slot = build_variable(e, is_mask ? type_mask(e) : type_value(e, type, !is_scalar(e, i)), "");
  return *slot;
}

llval variable_load(const emitter *e, uint32_t variable, unsigned row) {
  return load_slot(e, variable, *slot_at(e, variable, row));
}

void variable_store(const emitter *e, uint32_t variable, unsigned row, llval value) {
  LLVMBuildStore(e->b, to_slot(e, variable, value), *slot_at(e, variable, row));
}

static llval value_for(const emitter *e, uint32_t variable, ref value, unsigned row) {
  return is_scalar(e, variable) ? value_scalar(e, value, row) : value_vector(e, value, row);
}

static void emit_var(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  e->declared[i - e->first] = e->depth;
  for (unsigned row = 0; row < row_count(e, i); row++) {
    variable_new(e, i, row);
    variable_store(e, i, row, value_for(e, i, in->arg[0], row));
  }
}

static void emit_set(emitter *e, const inst *in) {
  uint32_t variable = in->arg[0];
  bool keeps_old = e->exec && !is_scalar(e, variable) && parted_since(e, variable);
  for (unsigned row = 0; row < row_count(e, variable); row++) {
    llval value = value_for(e, variable, in->arg[1], row);
    if (keeps_old)
      value =
          LLVMBuildSelect(e->b, mask_test(e, e->exec), value, variable_load(e, variable, row), "");
    if (e->aside)
      value = LLVMBuildSelect(e->b, e->aside, value, variable_load(e, variable, row), "");
    variable_store(e, variable, row, value);
  }
}

static void emit_get(emitter *e, uint32_t i) {
  uint32_t variable = e->p->code[i].arg[0];
  for (unsigned row = 0; row < row_count(e, i); row++)
    value_set(e, i, row, variable_load(e, variable, row));
}

// ---- facts of the launch ------------------------------------------------------------------------

static llval axis_value(const emitter *e, const inst *in, unsigned row) {
  uint32_t axis = in->arg[0];
  const region *r = e->k->region;
  switch ((vyre_op)in->op) {
  case VYRE_OP_GLOBAL_ID: return axis == 0 ? e->x : axis == 1 ? e->y[row] : e->z;
  case VYRE_OP_LOCAL_ID: return axis == 0 ? e->local_x : e->local[axis];
  case VYRE_OP_GROUP_ID: return e->group[axis];
  case VYRE_OP_GLOBAL_SIZE: return kernel_grid(e->k, axis);
  case VYRE_OP_LOCAL_SIZE: return const_i64(e->u, r->workgroup[axis]);
  case VYRE_OP_GROUP_COUNT:
    return LLVMBuildUDiv(e->b, kernel_grid(e->k, axis), const_i64(e->u, r->workgroup[axis]), "");
  case VYRE_OP_PARAM:
  case VYRE_OP_LEN:
  case OPS_COMPUTED:
  case OPS_MEMORY:
  case OPS_STATE:
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  VYRE_BUG("cpu", "`%s` has no axis", op_table[in->op].name);
}

static void emit_fact(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  for (unsigned row = 0; row < row_count(e, i); row++) {
    llval v;
    if (in->op == VYRE_OP_PARAM)
      v = kernel_param(e->k, in->arg[0]);
    else if (in->op == VYRE_OP_LEN)
      v = LLVMBuildTrunc(e->b, kernel_length(e->k, in->arg[0]), e->u->i32, "");
    else
      v = LLVMBuildTrunc(e->b, axis_value(e, in, row), e->u->i32, "");
    value_set(e, i, row, v);
  }
}

// ---- operations ---------------------------------------------------------------------------------

static void emit_pure(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  uint8_t way = e->assume ? e->assume[i - e->first] : ASSUME_NOTHING;
  bool is_vector = !is_scalar(e, i);
  vyre_type type = ref_type(e->p, in->arg[in->op == VYRE_OP_SELECT]);
  lanewise l = lanes_of(e);
  for (unsigned row = 0; row < row_count(e, i); row++) {
    llval args[3] = {NULL};
    for (int k = 0; k < op_table[in->op].operand_count; k++)
      args[k] = is_vector ? value_vector(e, in->arg[k], row) : value_scalar(e, in->arg[k], row);
    llval v = way == ASSUME_FIRST    ? args[0]
              : way == ASSUME_SECOND ? args[1]
                                     : lanewise_pure(&l, in, type, args, is_vector);
    value_set(e, i, row, v);
  }
}

void emit_value(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  if (in->op != VYRE_OP_STORE && is_in_update(e, i)) return; // its store does it
  switch ((vyre_op)in->op) {
  case VYRE_OP_VAR: emit_var(e, i); break;
  case VYRE_OP_GET: emit_get(e, i); break;
  case VYRE_OP_SET: emit_set(e, in); break;
  case VYRE_OP_ARRAY: emit_array(e, i); break;
  case VYRE_OP_LOAD: emit_load(e, i); break;
  case VYRE_OP_STORE: emit_store(e, i); break;
  case OPS_ATOMIC: emit_atomic(e, i); break;
  case OPS_LAUNCH: emit_fact(e, i); break;
  case OPS_COMPUTED: emit_pure(e, i); break;
  case OPS_STRUCTURE:
  case OPS_NONE: VYRE_BUG("cpu", "`%s` is no value", op_table[in->op].name);
  }
  if (e->keep) keep_value(e, i);
}

void emit_tree(emitter *e, uint32_t i, const bool *is_there) {
  uint32_t *made = &e->made[i - e->first];
  if (*made == e->round || (is_there && is_there[i - e->first])) return;
  *made = e->round;
  const inst *in = &e->p->code[i];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v' && !ref_is_const(in->arg[k])) emit_tree(e, in->arg[k], is_there);
  if (in->op == VYRE_OP_GET) { // of a variable that is never set
    ref first = e->p->code[in->arg[0]].arg[0];
    if (!ref_is_const(first)) emit_tree(e, first, is_there);
    value_set(e, i, 0, value_scalar(e, first, 0));
    return;
  }
  emit_value(e, i);
}

// ---- blocks -------------------------------------------------------------------------------------

// Behind a block that some have left: go on only if somebody is still here.
static void skip_rest(emitter *e, llblock after) {
  llblock rest = build_block(e, "rest");
  LLVMBuildCondBr(e->b, mask_any(e, e->exec), rest, after);
  build_at(e, rest);
}

// What the workgroup computed as a whole is there already.
static bool is_done(const emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  uint32_t made = in->op == VYRE_OP_SET ? in->arg[0] : i;
  return e->keep && e->keep->phases->is_common[made - e->first];
}

// LLVM's time grows with the square of a basic block.
static void cut_block(const emitter *e) {
  llblock next = build_block(e, "next");
  build_go(e, next);
  build_at(e, next);
}

void emit_range(emitter *e, uint32_t first, uint32_t end, llblock after) {
  enum { OPERATIONS_IN_BLOCK = 64 };
  uint32_t emitted = 0;
  for (uint32_t i = first; i < end;) {
    if (e->k->is_large && ++emitted % OPERATIONS_IN_BLOCK == 0) cut_block(e);
    const inst *in = &e->p->code[i];
    uint32_t next = i + 1;
    if (is_done(e, i)) {
      i = next;
      continue;
    }
    debug_at(e, i);
    switch ((vyre_op)in->op) {
    case VYRE_OP_IF: next = emit_if(e, i); break;
    case VYRE_OP_FOR: next = e->is_resumed ? emit_resumable_for(e, i) : emit_for(e, i); break;
    case VYRE_OP_WHILE: next = emit_while(e, i); break;
    case VYRE_OP_BREAK:
    case VYRE_OP_CONTINUE:
    case VYRE_OP_RETURN: emit_leave(e, i); return; // nobody comes further
    case VYRE_OP_BARRIER: emit_resumable_barrier(e, i); break;
    case OPS_COMPUTED:
    case OPS_LAUNCH:
    case OPS_MEMORY:
    case OPS_STATE:
    case VYRE_OP_ELSE:
    case VYRE_OP_DO:
    case VYRE_OP_END:
    case OPS_NONE: emit_value(e, i);
    }
    bool is_block = in->op == VYRE_OP_IF || in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE;
    if (is_block && next < end && (block_at(e->shapes, i)->exits & AXIS_X)) skip_rest(e, after);
    i = next;
  }
}
