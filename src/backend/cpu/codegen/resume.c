// SPDX-License-Identifier: MIT
//
// A workgroup whose way through its barriers is not known to be the same for all. Each invocation
// runs as scalar code from where it stands to its next barrier, or to its end, and everything that
// it needs later is in memory; a switch at the top leads back behind the barrier. After each round
// all must stand at the same barrier, or all be done.
#include "backend/cpu/codegen/kernel.h"

enum { AT_START = 0, ENDED = -1 };

typedef struct resumption {
  llval where;       // the switch
  uint64_t state_at; // slots: number of the barrier that each invocation stands at
  llblock end;       // of this invocation's turn
  uint32_t count;    // barriers so far
} resumption;

static llval state_address(const emitter *e) {
  llval offset = LLVMBuildMul(e->b, e->vector, const_i64(e->u, 4), "");
  offset = LLVMBuildAdd(e->b, offset, const_i64(e->u, e->resumption->state_at), "");
  return LLVMBuildGEP2(e->b, e->u->i8, e->k->scratch, &offset, 1, "");
}

static llval state_number(const emitter *e, int number) {
  return LLVMConstInt(e->u->i32, (uint64_t)(int64_t)number, true);
}

static void stand_at(const emitter *e, int number) {
  LLVMBuildStore(e->b, state_number(e, number), state_address(e));
}

void emit_resumable_barrier(emitter *e, uint32_t i) {
  (void)i;
  resumption *r = e->resumption;
  llblock behind = build_block(e, "behind");
  int number = (int)++r->count;
  stand_at(e, number);
  build_go(e, r->end);
  LLVMAddCase(r->where, state_number(e, number), behind);
  build_at(e, behind);
}

// As emit_for, with the counter in memory.
uint32_t emit_resumable_for(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  LLVMIntPredicate less = type_is_signed(in->type) ? LLVMIntSLT : LLVMIntULT;
  uint32_t depth = e->depth++;
  llblock head = build_block(e, "for"), again = build_block(e, "step");
  open_block loop = {.op = i, .next = build_block(e, "next"), .exit = build_block(e, "leave")};
  e->open[depth] = loop;
  llval lo = value_scalar(e, in->arg[0], 0), hi = value_scalar(e, in->arg[1], 0);
  LLVMBuildStore(e->b, lo, keep_address(e, i));
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, less, lo, hi, ""), head, loop.exit);
  build_at(e, head);
  emit_range(e, i + 1, in->arg[3], loop.next);
  build_go(e, loop.next);
  build_at(e, loop.next);
  llval k = keep_load(e, i), left = LLVMBuildSub(e->b, value_scalar(e, in->arg[1], 0), k, "");
  llval step = value_scalar(e, in->arg[2], 0);
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntUGT, left, step, ""), again, loop.exit);
  build_at(e, again);
  build_poll(e);
  LLVMBuildStore(e->b, LLVMBuildAdd(e->b, k, step, ""), keep_address(e, i));
  build_go(e, head);
  build_at(e, loop.exit);
  e->depth--;
  return in->arg[3] + 1;
}

// ---- a turn -------------------------------------------------------------------------------------

static void find_memory(emitter *e) {
  for (uint32_t i = e->first; i < e->k->region->body.end; i++) {
    unsigned op = e->p->code[i].op;
    bool is_memory = op == VYRE_OP_VAR || op == VYRE_OP_ARRAY;
    if (is_memory && e->keep->phases->is_crossing[i - e->first])
      e->storage[i - e->first] = keep_address(e, i);
  }
}

// One invocation, from where it stands.
static void emit_turn(emitter *e) {
  resumption *r = e->resumption;
  llblock start = build_block(e, "start");
  r->end = build_block(e, "turn_end");
  e->done = build_block(e, "ended");
  find_memory(e);
  llval state = LLVMBuildLoad2(e->b, e->u->i32, state_address(e), "");
  r->where = LLVMBuildSwitch(e->b, state, r->end, 8);
  LLVMAddCase(r->where, state_number(e, AT_START), start);
  build_at(e, start);
  emit_range(e, e->first, e->k->region->body.end, e->done);
  build_go(e, e->done);
  build_at(e, e->done);
  stand_at(e, ENDED);
  build_go(e, r->end);
  build_at(e, r->end);
}

static void note(const emitter *e, llval low, llval high) {
  llval state = LLVMBuildLoad2(e->b, e->u->i32, state_address(e), "");
  llval lowest = LLVMBuildLoad2(e->b, e->u->i32, low, "");
  llval highest = LLVMBuildLoad2(e->b, e->u->i32, high, "");
  llval is_less = LLVMBuildICmp(e->b, LLVMIntSLT, state, lowest, "");
  llval is_more = LLVMBuildICmp(e->b, LLVMIntSGT, state, highest, "");
  LLVMBuildStore(e->b, LLVMBuildSelect(e->b, is_less, state, lowest, ""), low);
  LLVMBuildStore(e->b, LLVMBuildSelect(e->b, is_more, state, highest, ""), high);
}

// ---- rounds -------------------------------------------------------------------------------------

static void emit_round(kernel *k, emitter *e, row *r, llval low, llval high) {
  group_rows rows;
  count_loop x;
  LLVMBuildStore(e->b, LLVMConstInt(e->u->i32, INT32_MAX, false), low);
  LLVMBuildStore(e->b, LLVMConstInt(e->u->i32, (uint64_t)INT32_MIN, true), high);
  group_rows_begin(k, e->b, &rows, r);
  count_begin(k, e->b, &x, r->x0, r->x1, 1);
  place_vector(e, r, x.at);
  emit_turn(e);
  note(e, low, high);
  count_end(k, e->b, &x);
  group_rows_end(k, e->b, &rows);
}

static void clear_states(const emitter *e, uint64_t count) {
  llval offset = const_i64(e->u, e->resumption->state_at);
  llval states = LLVMBuildGEP2(e->b, e->u->i8, e->k->scratch, &offset, 1, "");
  LLVMBuildMemSet(e->b, states, LLVMConstInt(e->u->i8, AT_START, false), const_i64(e->u, count * 4),
                  64);
}

void emit_resumed(kernel *k, emitter *e, const phases *phases, row *r) {
  const uint32_t *size = k->region->workgroup;
  uint64_t count = (uint64_t)size[0] * size[1] * size[2];
  keeper *keep = arena_alloc(&k->u->arena, sizeof *keep);
  resumption *resume = arena_alloc(&k->u->arena, sizeof *resume);
  if (!keep || !resume || !keeper_init(keep, e, phases, e->shapes, count)) return;
  resume->state_at = kernel_scratch(k, count * 4);
  e->keep = keep;
  e->resumption = resume;
  e->is_resumed = true;
  llval low = build_variable(e, e->u->i32, "low"), high = build_variable(e, e->u->i32, "high");
  llblock again = build_block(e, "round"), same = build_block(e, "same");
  llblock more = build_block(e, "more"), diverged = build_block(e, "diverged");
  llblock done = build_block(e, "group_done");
  clear_states(e, count);
  build_go(e, again);
  build_at(e, again);
  emit_round(k, e, r, low, high);
  llval lowest = LLVMBuildLoad2(e->b, e->u->i32, low, "");
  llval highest = LLVMBuildLoad2(e->b, e->u->i32, high, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, lowest, highest, ""), same, diverged);
  build_at(e, same);
  llval is_over = LLVMBuildICmp(e->b, LLVMIntEQ, highest, state_number(e, ENDED), "");
  LLVMBuildCondBr(e->b, is_over, done, more);
  build_at(e, more);
  build_poll(e);
  build_go(e, again);
  build_at(e, diverged);
  kernel_return(k, e->b, CPU_DIVERGED);
  build_at(e, done);
}
