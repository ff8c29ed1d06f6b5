// SPDX-License-Identifier: MIT
//
// Blocks as branches. What follows a jump in its block is reached by nobody; it goes to a block of
// its own, which LLVM drops.
#include "backend/cuda/codegen/emit.h"

#include "base/error.h"
#include "ir/op_groups.h"

static llblock new_block(emitter *e) {
  return LLVMAppendBasicBlockInContext(e->l.context, e->function, "");
}

static void go_on_at(emitter *e, llblock b) {
  LLVMPositionBuilderAtEnd(e->l.b, b);
}

static void branch(emitter *e, llblock to) {
  LLVMBuildBr(e->l.b, to);
}

static void branch_if(emitter *e, llval condition, llblock then, llblock otherwise) {
  LLVMBuildCondBr(e->l.b, condition, then, otherwise);
}

static void begin_if(emitter *e, const inst *in) {
  emit_block *b = &e->blocks[e->depth++];
  llblock then = new_block(e);
  *b = (emit_block){.behind = new_block(e)};
  b->next = in->arg[1] ? new_block(e) : b->behind;
  branch_if(e, emit_ref(e, in->arg[0]), then, b->next);
  go_on_at(e, then);
}

static void begin_loop(emitter *e) {
  emit_block *b = &e->blocks[e->depth++];
  *b = (emit_block){.next = new_block(e), .behind = new_block(e), .header = new_block(e)};
  branch(e, b->header);
  go_on_at(e, b->header);
}

static void leave_unless(emitter *e, llval condition) {
  llblock body = new_block(e);
  branch_if(e, condition, body, e->blocks[e->depth - 1].behind);
  go_on_at(e, body);
}

llval emit_loop_counter(emitter *e, uint32_t op) {
  const inst *in = &e->p->code[op];
  lltype type = e->scalars[in->type];
  llval slot = emit_slot(e, type), end = emit_ref(e, in->arg[1]);
  LLVMBuildStore(e->l.b, emit_ref(e, in->arg[0]), slot);
  begin_loop(e);
  e->blocks[e->depth - 1].counter = slot;
  llval counter = LLVMBuildLoad2(e->l.b, type, slot, "");
  LLVMIntPredicate less = type_is_signed(in->type) ? LLVMIntSLT : LLVMIntULT;
  leave_unless(e, LLVMBuildICmp(e->l.b, less, counter, end, ""));
  return counter;
}

// The value behind the last one is in the type.
static void step(emitter *e, uint32_t opener, const emit_block *b) {
  llval by = emit_ref(e, e->p->code[opener].arg[2]);
  LLVMBuildStore(e->l.b, LLVMBuildAdd(e->l.b, e->values[opener], by, ""), b->counter);
}

static void end_block(emitter *e, uint32_t opener) {
  const emit_block b = e->blocks[--e->depth];
  if (b.header) {
    branch(e, b.next);
    go_on_at(e, b.next);
    if (b.counter) step(e, opener, &b);
    branch(e, b.header);
  } else {
    branch(e, b.behind);
  }
  go_on_at(e, b.behind);
}

static void jump(emitter *e, vyre_op op) {
  if (op == VYRE_OP_RETURN) {
    LLVMBuildRetVoid(e->l.b);
  } else {
    const emit_block *b = &e->blocks[e->depth];
    do b--;
    while (!b->header);
    branch(e, op == VYRE_OP_BREAK ? b->behind : b->next);
  }
  go_on_at(e, new_block(e));
}

// The whole workgroup, and its accesses to all memory before it.
void emit_barrier(emitter *e) {
  lanewise_intrinsic(&e->l, "llvm.nvvm.barrier0", NULL, 0, NULL, 0);
}

void emit_flow(emitter *e, uint32_t op) {
  const inst *in = &e->p->code[op];
  emit_block *top = e->depth ? &e->blocks[e->depth - 1] : NULL;
  switch ((vyre_op)in->op) {
  case VYRE_OP_IF: begin_if(e, in); return;
  case VYRE_OP_ELSE:
    branch(e, top->behind);
    go_on_at(e, top->next);
    return;
  case VYRE_OP_WHILE: begin_loop(e); return;
  case VYRE_OP_DO: leave_unless(e, emit_ref(e, in->arg[0])); return;
  case VYRE_OP_END: end_block(e, in->arg[1]); return;
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE:
  case VYRE_OP_RETURN: jump(e, (vyre_op)in->op); return;
  case VYRE_OP_BARRIER: emit_barrier(e); return;
  case VYRE_OP_FOR:
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case OPS_MEMORY:
  case OPS_STATE:
  case OPS_NONE: break;
  }
  VYRE_BUG("cuda", "`%s` is no control flow", inst_name(in));
}
