// SPDX-License-Identifier: MIT
//
// Blocks as structured control flow. Every block of the program has a label behind it, where its
// END goes on; a loop has a header that holds nothing but the merge instruction, so that its
// condition may have blocks of its own, and a continue target that steps it.
#include "backend/vulkan/emitter.h"

static void put_label(emitter *e, uint32_t label) {
  spirv_put(&e->m, SECTION_BODY, SpvOpLabel, label);
  e->label = label;
  e->is_open = true;
}

static void branch(emitter *e, uint32_t to) {
  if (e->is_open) spirv_put(&e->m, SECTION_BODY, SpvOpBranch, to);
  e->is_open = false;
}

void emitter_need_block(emitter *e) {
  if (!e->is_open) put_label(e, spirv_id(&e->m));
}

void emitter_begin_code(emitter *e) {
  e->depth = 0;
  e->is_open = true;
  e->label = 0;
  // Its label is written when the variables of the function are known; phis need one they can name.
  uint32_t first = spirv_id(&e->m);
  branch(e, first);
  put_label(e, first);
}

void emitter_end_code(emitter *e) {
  if (e->is_open) spirv_put_words(&e->m, SECTION_BODY, SpvOpReturn, NULL, 0);
}

// ---- choice -------------------------------------------------------------------------------------

uint32_t flow_if(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  (void)row;
  emitter_block *b = &e->blocks[e->depth++];
  *b = (emitter_block){.merge = spirv_id(&e->m)};
  b->next = in->arg[1] ? spirv_id(&e->m) : b->merge;
  uint32_t then = spirv_id(&e->m), condition = emitter_ref(e, in->arg[0]);
  spirv_put(&e->m, SECTION_BODY, SpvOpSelectionMerge, b->merge, SpvSelectionControlMaskNone);
  spirv_put(&e->m, SECTION_BODY, SpvOpBranchConditional, condition, then, b->next);
  put_label(e, then);
  return 0;
}

uint32_t flow_else(emitter *e, uint32_t op, const emitter_row *row) {
  (void)op;
  (void)row;
  emitter_block *b = &e->blocks[e->depth - 1];
  branch(e, b->merge);
  put_label(e, b->next);
  return 0;
}

// ---- turns --------------------------------------------------------------------------------------

// Only where the flag is polled does it end anything.
void flow_begin_turns(emitter *e) {
  e->turns = 0;
  if (!e->t->most_turns || !e->stop) return;
  e->turns = emitter_local(e, emitter_u32(e));
  spirv_put(&e->m, SECTION_BODY, SpvOpStore, e->turns, emitter_number(e, 0));
}

// One more iteration, of whichever loop; the flag tells everybody, and the host, when it is too
// many.
static void count_turn(emitter *e) {
  uint32_t u32 = emitter_u32(e), raise = spirv_id(&e->m), on = spirv_id(&e->m);
  uint32_t flag = spirv_declare_words(&e->m, SpvOpTypeBool, 0, NULL, 0, NULL);
  uint32_t turns = spirv_make(&e->m, SpvOpLoad, u32, e->turns);
  turns = spirv_make(&e->m, SpvOpIAdd, u32, turns, emitter_number(e, 1));
  spirv_put(&e->m, SECTION_BODY, SpvOpStore, e->turns, turns);
  uint32_t most = emitter_number(e, e->t->most_turns);
  uint32_t is_over = spirv_make(&e->m, SpvOpUGreaterThan, flag, turns, most);
  spirv_put(&e->m, SECTION_BODY, SpvOpSelectionMerge, on, SpvSelectionControlMaskNone);
  spirv_put(&e->m, SECTION_BODY, SpvOpBranchConditional, is_over, raise, on);
  put_label(e, raise);
  spirv_put(&e->m, SECTION_BODY, SpvOpAtomicStore, emitter_stop_flag(e),
            emitter_number(e, SpvScopeDevice), emitter_number(e, 0),
            emitter_number(e, STOP_TOO_LONG));
  branch(e, on);
  put_label(e, on);
}

// ---- loops --------------------------------------------------------------------------------------

// The header; for the code that follows, which decides whether to go on.
static void put_loop_merge(emitter *e, emitter_block *b) {
  uint32_t inside = spirv_id(&e->m);
  spirv_put(&e->m, SECTION_BODY, SpvOpLoopMerge, b->merge, b->next, SpvLoopControlMaskNone);
  branch(e, inside);
  put_label(e, inside);
  if (e->turns) count_turn(e);
}

static emitter_block *begin_loop(emitter *e) {
  emitter_block *b = &e->blocks[e->depth++];
  *b = (emitter_block){.merge = spirv_id(&e->m), .next = spirv_id(&e->m)};
  b->header = spirv_id(&e->m);
  return b;
}

static void leave_unless(emitter *e, uint32_t condition, const emitter_block *b) {
  uint32_t body = spirv_id(&e->m);
  spirv_put(&e->m, SECTION_BODY, SpvOpBranchConditional, condition, body, b->merge);
  put_label(e, body);
}

uint32_t flow_while(emitter *e, uint32_t op, const emitter_row *row) {
  (void)op;
  (void)row;
  emitter_block *b = begin_loop(e);
  branch(e, b->header);
  put_label(e, b->header);
  put_loop_merge(e, b);
  return 0;
}

uint32_t flow_do(emitter *e, uint32_t op, const emitter_row *row) {
  (void)row;
  leave_unless(e, emitter_ref(e, e->p->code[op].arg[0]), &e->blocks[e->depth - 1]);
  return 0;
}

uint32_t flow_for(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  vyre_type t = (vyre_type)in->type;
  (void)row;
  uint32_t type = emitter_type(e, t), first = emitter_ref(e, in->arg[0]);
  uint32_t end = emitter_ref(e, in->arg[1]), before = e->label;
  uint32_t flag = spirv_declare_words(&e->m, SpvOpTypeBool, 0, NULL, 0, NULL);
  emitter_block *b = begin_loop(e);
  b->stepped = spirv_id(&e->m);
  branch(e, b->header);
  put_label(e, b->header);
  uint32_t counter = spirv_make(&e->m, SpvOpPhi, type, first, before, b->stepped, b->next);
  put_loop_merge(e, b);
  SpvOp less = type_is_signed(t) ? SpvOpSLessThan : SpvOpULessThan;
  leave_unless(e, spirv_make(&e->m, less, flag, counter, end), b);
  return counter;
}

// The value behind the last one is in the type, so that narrow counters need no cut.
static void step(emitter *e, uint32_t opener, const emitter_block *b) {
  const inst *in = &e->p->code[opener];
  spirv_put(&e->m, SECTION_BODY, SpvOpIAdd, emitter_type(e, (vyre_type)in->type), b->stepped,
            e->values[opener], emitter_ref(e, in->arg[2]));
}

uint32_t flow_end(emitter *e, uint32_t op, const emitter_row *row) {
  uint32_t opener = e->p->code[op].arg[1];
  const emitter_block *b = &e->blocks[--e->depth];
  (void)row;
  if (e->p->code[opener].op != VYRE_OP_IF) {
    branch(e, b->next);
    put_label(e, b->next);
    if (b->stepped) step(e, opener, b);
    branch(e, b->header);
  } else {
    branch(e, b->merge);
  }
  put_label(e, b->merge);
  return 0;
}

// ---- jumps and barriers -------------------------------------------------------------------------

uint32_t flow_jump(emitter *e, uint32_t op, const emitter_row *row) {
  const inst *in = &e->p->code[op];
  (void)row;
  if (in->op == VYRE_OP_RETURN) {
    spirv_put_words(&e->m, SECTION_BODY, SpvOpReturn, NULL, 0);
    e->is_open = false;
    return 0;
  }
  const emitter_block *b = &e->blocks[e->depth];
  do b--;
  while (!b->header);
  branch(e, in->op == VYRE_OP_BREAK ? b->merge : b->next);
  return 0;
}

uint32_t flow_barrier(emitter *e, uint32_t op, const emitter_row *row) {
  (void)op;
  (void)row;
  uint32_t workgroup = emitter_number(e, SpvScopeWorkgroup);
  uint32_t memory =
      emitter_number(e, SpvMemorySemanticsAcquireReleaseMask | SpvMemorySemanticsUniformMemoryMask |
                            SpvMemorySemanticsWorkgroupMemoryMask);
  spirv_put(&e->m, SECTION_BODY, SpvOpControlBarrier, workgroup, workgroup, memory);
  return 0;
}

// ---- floats that are exchanged ------------------------------------------------------------------

// Both are NaN, whichever: shifted, the sign is gone, and all above infinity are.
static uint32_t are_nan(emitter *e, const flow_exchange *x, uint32_t old, uint32_t want) {
  uint32_t type = emitter_type(e, x->bits), is_nan[2];
  uint32_t flag = spirv_declare_words(&e->m, SpvOpTypeBool, 0, NULL, 0, NULL);
  uint64_t infinity = x->bits == VYRE_U32 ? 0xff000000 : 0xffe0000000000000;
  for (int k = 0; k < 2; k++) {
    uint32_t shifted = spirv_make(&e->m, SpvOpShiftLeftLogical, type, k ? want : old,
                                  emitter_const(e, x->bits, 1));
    is_nan[k] =
        spirv_make(&e->m, SpvOpUGreaterThan, flag, shifted, emitter_const(e, x->bits, infinity));
  }
  return spirv_make(&e->m, SpvOpLogicalAnd, flag, is_nan[0], is_nan[1]);
}

// Where another NaN is found than the one that was looked for, that one is looked for.
uint32_t flow_exchange_bits(emitter *e, const flow_exchange *x) {
  spirv_module *m = &e->m;
  uint32_t type = emitter_type(e, x->bits), relaxed = emitter_number(e, 0), before = e->label;
  uint32_t flag = spirv_declare_words(m, SpvOpTypeBool, 0, NULL, 0, NULL), old = spirv_id(m);
  emitter_block b = {.merge = spirv_id(m), .next = spirv_id(m), .header = spirv_id(m)};
  branch(e, b.header);
  put_label(e, b.header);
  uint32_t want = spirv_make(m, SpvOpPhi, type, x->want, before, old, b.next);
  put_loop_merge(e, &b);
  spirv_put(m, SECTION_BODY, SpvOpAtomicCompareExchange, type, old, x->place, x->scope, relaxed,
            relaxed, x->desired, want);
  uint32_t is_other = spirv_make(m, SpvOpINotEqual, flag, old, want);
  uint32_t again = spirv_make(m, SpvOpLogicalAnd, flag, is_other, are_nan(e, x, old, want));
  spirv_put(m, SECTION_BODY, SpvOpBranchConditional, again, b.next, b.merge);
  put_label(e, b.next);
  branch(e, b.header);
  put_label(e, b.merge);
  return old;
}
