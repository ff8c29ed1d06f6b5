// SPDX-License-Identifier: MIT
//
// Structured control flow. Where all invocations of a vector go the same way, a branch is a branch.
// Where they part, `exec` says who is active; a block that nobody enters is jumped over, and a loop
// ends when nobody is left in it.
//
// A masked loop keeps the mask of those still in it in `live`: a failed condition, break and return
// clear bits there. `skipped` has those that continued in this iteration, `returned` those that
// left the region. After a block that somebody may have left, `exec` is what it was before without
// those.
#include "backend/cpu/codegen/across.h"
#include "backend/cpu/codegen/ahead.h"
#include "backend/cpu/codegen/guard.h"

static llval load_mask(const emitter *e, llval variable) {
  return LLVMBuildLoad2(e->b, type_mask(e), variable, "");
}

static llval current(const emitter *e) {
  return e->exec ? e->exec : mask_full(e);
}

static open_block *innermost_loop(emitter *e) {
  for (uint32_t k = e->depth; k-- > 0;)
    if (e->p->code[e->open[k].op].op != VYRE_OP_IF) return &e->open[k];
  return NULL;
}

// Who is active behind a block that was entered with `before`.
static void restore(emitter *e, llval before) {
  const open_block *loop = innermost_loop(e);
  e->exec = before;
  if (loop && loop->live) e->exec = mask_and(e, e->exec, load_mask(e, loop->live));
  if (loop && loop->skipped) e->exec = mask_without(e, e->exec, load_mask(e, loop->skipped));
  if (e->returned) e->exec = mask_without(e, e->exec, load_mask(e, e->returned));
}

// Those who left a loop do not come back to it, unless it runs again: then what is only read inside
// may be lost to them.
static bool comes_back(const emitter *e, const open_block *o, range used, bool runs_again) {
  const inst *in = &e->p->code[o->op];
  if (!o->is_divergent) return false;
  if (in->op == VYRE_OP_IF || (block_at(e->shapes, o->op)->continues & AXIS_X)) return true;
  return runs_again || used.first < o->op || used.end > inst_end(in);
}

// What crosses phases may do so in a loop of the workgroup, which runs the phase again.
bool parted_since(const emitter *e, uint32_t variable) {
  uint32_t slot = variable - e->first;
  bool runs_again = e->keep && e->keep->phases->is_crossing[slot];
  for (uint32_t k = e->declared[slot]; k < e->depth; k++) {
    if (comes_back(e, &e->open[k], e->used[slot], runs_again)) return true;
    runs_again |= e->p->code[e->open[k].op].op != VYRE_OP_IF;
  }
  return false;
}

// ---- if -----------------------------------------------------------------------------------------

// Jumping over a block costs a test and a branch that may be guessed wrong; running a few cheap
// operations for nobody costs less. Blocks with loops must be jumped over: nobody would end them.
enum { CHEAP_BLOCK = 6 };

static bool is_cheap(const emitter *e, uint32_t first, uint32_t end) {
  uint32_t cost = 0;
  for (uint32_t i = first; i < end; i++) {
    const inst *in = &e->p->code[i];
    bool is_plain = op_is((vyre_op)in->op, OPF_PURE) || in->op == VYRE_OP_GET ||
                    in->op == VYRE_OP_SET || in->op == VYRE_OP_VAR;
    bool is_slow = in->op == VYRE_OP_DIV || in->op == VYRE_OP_REM || in->op == VYRE_OP_SQRT ||
                   in->op == VYRE_OP_FMA;
    if (!is_plain || is_slow) return false;
    cost++;
  }
  return cost <= CHEAP_BLOCK;
}

static void emit_masked_part(emitter *e, llval mask, uint32_t first, uint32_t end) {
  if (first >= end) return;
  e->exec = mask;
  llblock after = build_block(e, "parted");
  if (!is_cheap(e, first, end)) {
    llblock part = build_block(e, "part");
    LLVMBuildCondBr(e->b, mask_any(e, mask), part, after);
    build_at(e, part);
  }
  emit_range(e, first, end, after);
  build_go(e, after);
  build_at(e, after);
}

static void emit_divergent_if(emitter *e, uint32_t i, llval before) {
  const inst *in = &e->p->code[i];
  llval condition = mask_pack(e, value_vector(e, in->arg[0], 0));
  uint32_t middle = in->arg[1] ? in->arg[1] : in->arg[2];
  emit_masked_part(e, mask_and(e, before, condition), i + 1, middle);
  if (in->arg[1]) emit_masked_part(e, mask_without(e, before, condition), middle + 1, in->arg[2]);
}

static void emit_uniform_if(emitter *e, uint32_t i, llval before) {
  const inst *in = &e->p->code[i];
  llblock then = build_block(e, "then"), after = build_block(e, "endif");
  llblock otherwise = in->arg[1] ? build_block(e, "else") : after;
  LLVMBuildCondBr(e->b, value_scalar(e, in->arg[0], 0), then, otherwise);
  build_at(e, then);
  emit_range(e, i + 1, in->arg[1] ? in->arg[1] : in->arg[2], after);
  build_go(e, after);
  if (in->arg[1]) {
    build_at(e, otherwise);
    e->exec = before;
    emit_range(e, in->arg[1] + 1, in->arg[2], after);
    build_go(e, after);
  }
  build_at(e, after);
}

// Whether a jump depends on data: such are guessed wrong, and each time costs as much as twenty
// operations.
static bool is_loaded(const emitter *e, ref r, unsigned depth) {
  if (ref_is_const(r)) return false;
  const inst *in = &e->p->code[r];
  if (in->op == VYRE_OP_LOAD) return true;
  const char *operands = op_table[in->op].operands;
  for (int k = 0; depth && operands[k]; k++)
    if (operands[k] == 'v' && is_loaded(e, in->arg[k], depth - 1)) return true;
  return false;
}

static bool is_aside_store(const emitter *e, const inst *in) {
  return in->op == VYRE_OP_STORE && mem_space(in->arg[0]) != MEM_PRIVATE &&
         is_uniform(e, in->arg[1]) && is_uniform(e, in->arg[2]);
}

// An `if` of one lane, by data, of few operations and a store: those that are kept are written one
// behind the other. All of it is done in any case, and what is written counts only where the
// condition holds. Nothing is loaded there: what proves such an index is the condition.
static bool is_aside(const emitter *e, uint32_t i) {
  enum { MOST = 8, DEEP = 4 };
  const inst *in = &e->p->code[i];
  uint32_t end = in->arg[2], stores = 0;
  bool is_plain = e->width == 1 && !e->exec && !e->keep && !e->is_resumed && !e->aside;
  if (!is_plain || in->arg[1] || e->u->options->tier == VYRE_TIER_QUICK) return false;
  if (end - i > MOST || !is_loaded(e, in->arg[0], DEEP)) return false;
  for (uint32_t k = i + 1; k < end; k++) {
    const inst *x = &e->p->code[k];
    bool is_slow = x->op == VYRE_OP_DIV || x->op == VYRE_OP_REM || x->op == VYRE_OP_SQRT;
    bool is_plain_op =
        op_is((vyre_op)x->op, OPF_PURE) || x->op == VYRE_OP_GET || x->op == VYRE_OP_SET;
    stores += x->op == VYRE_OP_STORE;
    if (is_slow || (!is_plain_op && !is_aside_store(e, x))) return false;
  }
  return stores == 1;
}

static void emit_aside_if(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  e->k->asides += e->is_main;
  e->aside = value_scalar(e, in->arg[0], 0);
  emit_range(e, i + 1, in->arg[2], NULL);
  e->aside = NULL;
}

static void emit_assumed_if(emitter *e, uint32_t i, bool is_taken) {
  const inst *in = &e->p->code[i];
  uint32_t middle = in->arg[1] ? in->arg[1] : in->arg[2];
  llblock after = build_block(e, "endif");
  if (is_taken)
    emit_range(e, i + 1, middle, after);
  else if (in->arg[1])
    emit_range(e, middle + 1, in->arg[2], after);
  build_go(e, after);
  build_at(e, after);
}

uint32_t emit_if(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  const block_shape *shape = block_at(e->shapes, i);
  uint8_t way = e->assume ? e->assume[i - e->first] : ASSUME_NOTHING;
  llval before = e->exec;
  e->open[e->depth++] = (open_block){.op = i, .is_divergent = shape->parts & AXIS_X};
  if (way != ASSUME_NOTHING)
    emit_assumed_if(e, i, way == ASSUME_TRUE);
  else if (shape->parts & AXIS_X)
    emit_divergent_if(e, i, before);
  else if (is_aside(e, i))
    emit_aside_if(e, i);
  else
    emit_uniform_if(e, i, before);
  e->depth--;
  if (shape->exits & AXIS_X)
    restore(e, before);
  else
    e->exec = before;
  return in->arg[2] + 1;
}

// ---- loops --------------------------------------------------------------------------------------

// Loops that run at most this many iterations, all nested ones together, are over soon without
// looking at the flag.
enum { SHORT_LOOP = 4096 };

// The most iterations of a loop and the short loops around it; 0 when that is too many.
static uint64_t short_trips(const emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  if (in->op != VYRE_OP_FOR) return 0;
  value_range lo = range_of(&e->k->known, in->arg[0]), hi = range_of(&e->k->known, in->arg[1]);
  if (!range_is_known(lo) || !range_is_known(hi)) return 0;
  uint64_t trips = hi.hi <= lo.lo ? 1 : (uint64_t)hi.hi - (uint64_t)lo.lo;
  for (uint32_t k = e->depth; k-- > 0;) {
    if (e->p->code[e->open[k].op].op == VYRE_OP_IF) continue;
    if (trips <= SHORT_LOOP && e->open[k].short_trips) trips *= e->open[k].short_trips;
    break;
  }
  return trips <= SHORT_LOOP ? trips : 0;
}

static open_block *open_loop(emitter *e, uint32_t i) {
  const block_shape *s = block_at(e->shapes, i);
  bool is_masked = (s->parts | s->returns) & AXIS_X;
  uint64_t trips = short_trips(e, i);
  open_block *loop = &e->open[e->depth++];
  *loop = (open_block){
      .op = i, .is_divergent = (s->parts | s->continues) & AXIS_X, .short_trips = trips};
  loop->next = build_block(e, "next");
  loop->exit = build_block(e, "leave");
  if (is_masked) loop->live = build_variable(e, type_mask(e), "live");
  if (s->continues & AXIS_X) loop->skipped = build_variable(e, type_mask(e), "skipped");
  return loop;
}

static void begin_body(emitter *e, const open_block *loop, llval before) {
  e->exec = loop->live ? load_mask(e, loop->live) : before;
  if (loop->skipped) LLVMBuildStore(e->b, LLVMConstNull(type_mask(e)), loop->skipped);
}

// At the end of an iteration: go to `head` unless everybody has left.
static void repeat(emitter *e, const open_block *loop, llblock head, bool polls) {
  if (polls) build_poll(e);
  if (loop->live)
    LLVMBuildCondBr(e->b, mask_any(e, load_mask(e, loop->live)), head, loop->exit);
  else
    build_go(e, head);
}

static void close_loop(emitter *e, llval before) {
  uint32_t op = e->open[--e->depth].op;
  build_at(e, e->open[e->depth].exit);
  e->exec = before;
  if (e->returned && (block_at(e->shapes, op)->returns & AXIS_X))
    e->exec = mask_without(e, before, load_mask(e, e->returned));
}

// Whether everybody returns before the condition that the `while` at `i` asks.
static bool returns_first(const emitter *e, uint32_t i) {
  const inst *code = e->p->code;
  for (uint32_t k = i + 1; k < code[i].arg[1]; k++) {
    if (code[k].op == VYRE_OP_RETURN) return true;
    if (code[k].op == VYRE_OP_IF || code[k].op == VYRE_OP_FOR || code[k].op == VYRE_OP_WHILE)
      k = inst_end(&code[k]);
  }
  return false;
}

// The condition, and where it leads.
static void emit_condition(emitter *e, const open_block *loop, ref condition, llblock body) {
  if (is_uniform(e, condition)) {
    LLVMBuildCondBr(e->b, value_scalar(e, condition, 0), body, loop->exit);
    return;
  }
  llval stay = mask_and(e, e->exec, mask_pack(e, value_vector(e, condition, 0)));
  LLVMBuildStore(e->b, stay, loop->live);
  LLVMBuildCondBr(e->b, mask_any(e, stay), body, loop->exit);
}

uint32_t emit_while(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  ref condition = e->p->code[in->arg[1]].arg[0];
  llval before = e->exec;
  uint32_t depth = e->depth;
  open_block *loop = open_loop(e, i);
  llblock head = build_block(e, "while"), body = build_block(e, "do");
  if (loop->live) LLVMBuildStore(e->b, current(e), loop->live);
  build_go(e, head);
  build_at(e, head);
  e->exec = loop->live ? load_mask(e, loop->live) : before;
  // The condition itself is no place to continue from.
  llval skipped = loop->skipped;
  loop->skipped = NULL;
  emit_range(e, i + 1, in->arg[1], loop->exit);
  loop = &e->open[depth];
  loop->skipped = skipped;
  bool is_left = returns_first(e, i);
  if (is_left)
    build_go(e, loop->exit);
  else
    emit_condition(e, loop, condition, body);
  build_at(e, body);
  begin_body(e, loop, before);
  if (!is_left) emit_range(e, in->arg[1] + 1, in->arg[2], loop->next);
  build_go(e, e->open[depth].next);
  build_at(e, e->open[depth].next);
  repeat(e, &e->open[depth], head, true);
  close_loop(e, before);
  return in->arg[2] + 1;
}

// ---- for ----------------------------------------------------------------------------------------

static llval is_less(const emitter *e, vyre_type type, llval x, llval y) {
  return LLVMBuildICmp(e->b, type_is_signed(type) ? LLVMIntSLT : LLVMIntULT, x, y, "");
}

// More than one step is left before hi: without overflow, as k < hi.
static llval has_next(const emitter *e, llval k, llval hi, llval step) {
  return LLVMBuildICmp(e->b, LLVMIntUGT, LLVMBuildSub(e->b, hi, k, ""), step, "");
}

static void set_counter(emitter *e, uint32_t i, llval k) {
  for (unsigned row = 0; row < row_count(e, i); row++) value_set(e, i, row, k);
}

// All invocations count alike: a scalar counter in 64 bits, and perhaps a mask of those still in
// the loop.
typedef struct counting {
  vyre_type type; // of the compare: 64-bit counters may pass the end of their type
  llval lo, hi, step;
  llval last; // or NULL: how many turns follow the first one, of a count by ones
} counting;

static counting count_of(emitter *e, const inst *in) {
  vyre_type type = (vyre_type)in->type;
  counting c = {.type = type_bits(type) == 64 ? type : VYRE_VOID};
  c.lo = build_extend(e, type, value_scalar(e, in->arg[0], 0));
  c.hi = build_extend(e, type, value_scalar(e, in->arg[1], 0));
  c.step = build_extend(e, type, value_scalar(e, in->arg[2], 0));
  return c;
}

static llval begins(const emitter *e, const counting *c) {
  return is_less(e, c->type ? c->type : VYRE_I64, c->lo, c->hi);
}

// Whether another turn follows that of k.
static llval goes_on(const emitter *e, const counting *c, llval k, llval next) {
  if (c->type) return has_next(e, k, c->hi, c->step);
  if (!c->last) return is_less(e, VYRE_I64, next, c->hi);
  return LLVMBuildICmp(e->b, LLVMIntNE, LLVMBuildSub(e->b, k, c->lo, ""), c->last, "");
}

// The body for lo <= k < hi, where lo < hi; goes on behind it when the counter is through, and to
// the loop's exit when everybody left.
static void emit_count(emitter *e, uint32_t i, const counting *c, llval before, bool polls) {
  const inst *in = &e->p->code[i];
  uint32_t depth = e->depth - 1;
  llblock head = build_block(e, "for"), again = head;
  llblock through = build_block(e, "through"), from = LLVMGetInsertBlock(e->b);
  build_go(e, head);
  build_at(e, head);
  llval k = LLVMBuildPhi(e->b, e->u->i64, "k");
  LLVMAddIncoming(k, (llval[]){c->lo}, &from, 1);
  e->wide[i - e->first] = k;
  set_counter(e, i, c->type ? k : LLVMBuildTrunc(e->b, k, e->u->scalars[in->type], ""));
  begin_body(e, &e->open[depth], before);
  emit_range(e, i + 1, in->arg[3], e->open[depth].next);
  open_block *loop = &e->open[depth];
  build_go(e, loop->next);
  build_at(e, loop->next);
  llval next = c->type ? LLVMBuildAdd(e->b, k, c->step, "") : LLVMBuildNSWAdd(e->b, k, c->step, "");
  llblock latch = LLVMGetInsertBlock(e->b);
  if (polls || loop->live) again = build_block(e, "step");
  LLVMBuildCondBr(e->b, goes_on(e, c, k, next), again, through);
  if (again != head) {
    build_at(e, again);
    repeat(e, loop, head, polls);
    latch = LLVMGetInsertBlock(e->b);
  }
  LLVMAddIncoming(k, &next, &latch, 1);
  build_at(e, through);
}

// Several iterations at a time as long as there are so many, with loads that ran ahead of them; the
// rest one by one.
static void emit_count_ahead(emitter *e, uint32_t i, const counting *c, ahead *a) {
  const inst *in = &e->p->code[i];
  uint32_t depth = e->depth - 1;
  llblock head = build_block(e, "ahead"), some = build_block(e, "some");
  llblock rest = build_block(e, "rest"), one = build_block(e, "one"),
          from = LLVMGetInsertBlock(e->b);
  llblock through = build_block(e, "through");
  build_go(e, head);
  build_at(e, head);
  llval k = LLVMBuildPhi(e->b, e->u->i64, "k"), room = LLVMBuildNSWSub(e->b, c->hi, k, "");
  LLVMAddIncoming(k, (llval[]){c->lo}, &from, 1);
  llval is_room = LLVMBuildICmp(e->b, LLVMIntSGE, room, const_i64(e->u, a->count), "");
  LLVMBuildCondBr(e->b, is_room, some, rest);
  build_at(e, some);
  bool is_main = e->is_main;
  if (is_main) e->k->ahead += a->loads;
  e->is_main = false; // the rest counts the others
  for (a->at = 0; a->at < a->count; a->at++) {
    llval now = LLVMBuildNSWAdd(e->b, k, const_i64(e->u, a->at), "");
    e->wide[i - e->first] = now;
    set_counter(e, i, LLVMBuildTrunc(e->b, now, e->u->scalars[in->type], ""));
    e->ahead = a;
    if (a->at) e->open[depth].next = build_block(e, "next"); // the first copy has the loop's own
    emit_range(e, i + 1, in->arg[3], e->open[depth].next);
    e->ahead = NULL;
    build_go(e, e->open[depth].next);
    build_at(e, e->open[depth].next);
  }
  e->is_main = is_main;
  llval next = LLVMBuildNSWAdd(e->b, k, const_i64(e->u, a->count), "");
  llblock latch = LLVMGetInsertBlock(e->b);
  build_go(e, head);
  LLVMAddIncoming(k, &next, &latch, 1);
  build_at(e, rest);
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, k, c->hi, ""), one, through);
  build_at(e, one);
  e->open[depth].next = build_block(e, "next");
  emit_count(e, i, &(counting){.lo = k, .hi = c->hi, .step = c->step}, NULL, false);
  build_go(e, through);
  build_at(e, through);
}

// A vector of turns for each lane at a time.
static void emit_count_across(emitter *e, uint32_t i, const counting *c, across *x) {
  const inst *in = &e->p->code[i];
  for (unsigned lane = 0; lane < e->width; lane += x->lanes) {
    llblock head = build_block(e, "across"), through = build_block(e, "through");
    llblock from = LLVMGetInsertBlock(e->b);
    build_go(e, head);
    build_at(e, head);
    llval k = LLVMBuildPhi(e->b, e->u->i64, "k");
    LLVMAddIncoming(k, (llval[]){c->lo}, &from, 1);
    e->wide[i - e->first] = k;
    set_counter(e, i, LLVMBuildTrunc(e->b, k, e->u->scalars[in->type], ""));
    across_turn(e, x, lane);
    llval next = LLVMBuildNSWAdd(e->b, k, c->step, "");
    llblock latch = LLVMGetInsertBlock(e->b);
    LLVMBuildCondBr(e->b, is_less(e, VYRE_I64, next, c->hi), head, through);
    LLVMAddIncoming(k, &next, &latch, 1);
    build_at(e, through);
  }
}

// Small loops that may run long look at the flag once in so many iterations.
enum { CHUNK = 1024 };

static bool has_loop_inside(const emitter *e, uint32_t i) {
  for (uint32_t k = i + 1; k < e->p->code[i].arg[3]; k++)
    if (e->p->code[k].op == VYRE_OP_FOR || e->p->code[k].op == VYRE_OP_WHILE) return true;
  return false;
}

// How the turns of a loop are taken; both NULL: one by one.
typedef struct taking {
  ahead *ahead;
  across *across;
} taking;

static bool is_by_ones(llval step) {
  return LLVMIsAConstantInt(step) && LLVMConstIntGetZExtValue(step) == 1;
}

// LLVM takes several turns together where it need not work out how many there are: they are counted
// before the loop, and frozen, so that it does not look at what they were made of.
static llval last_turn(const emitter *e, const counting *all, llval lo, llval is_last) {
  llval left = LLVMBuildSub(e->b, all->hi, lo, "");
  llval turns = LLVMBuildSelect(e->b, is_last, left, const_i64(e->u, CHUNK), "");
  return LLVMBuildSub(e->b, LLVMBuildFreeze(e->b, turns, ""), const_i64(e->u, 1), "");
}

static void emit_chunks(emitter *e, uint32_t i, const counting *all, llval before, taking t) {
  llblock head = build_block(e, "chunk"), on = build_block(e, "next_chunk");
  llblock from = LLVMGetInsertBlock(e->b), exit = e->open[e->depth - 1].exit;
  build_go(e, head);
  build_at(e, head);
  llval lo = LLVMBuildPhi(e->b, e->u->i64, "from");
  LLVMAddIncoming(lo, (llval[]){all->lo}, &from, 1);
  llval many = LLVMBuildNSWMul(e->b, all->step, const_i64(e->u, CHUNK), "");
  llval end = LLVMBuildNSWAdd(e->b, lo, many, "");
  llval is_last = LLVMBuildICmp(e->b, LLVMIntSGE, end, all->hi, "");
  counting c = {
      .lo = lo, .hi = LLVMBuildSelect(e->b, is_last, all->hi, end, ""), .step = all->step};
  if (e->width == 1 && is_by_ones(all->step)) c.last = last_turn(e, all, lo, is_last);
  if (t.across)
    emit_count_across(e, i, &c, t.across);
  else if (t.ahead)
    emit_count_ahead(e, i, &c, t.ahead);
  else
    emit_count(e, i, &c, before, false);
  LLVMBuildCondBr(e->b, is_last, exit, on);
  build_at(e, on);
  build_poll(e);
  llblock latch = LLVMGetInsertBlock(e->b);
  build_go(e, head);
  LLVMAddIncoming(lo, &end, &latch, 1);
}

// All turns, where there is at least one; goes to the loop's exit.
static void emit_turns(emitter *e, uint32_t i, const counting *c, llval before) {
  const open_block *loop = &e->open[e->depth - 1];
  bool is_chunked = !loop->short_trips && !loop->live && !c->type && !has_loop_inside(e, i);
  bool polls = !loop->short_trips;
  llblock exit = loop->exit;
  ahead a;
  across x;
  if (is_chunked && across_plan(e, i, &x)) {
    llblock done = build_block(e, "crossed");
    across_begin(e, &x);
    e->open[e->depth - 1].exit = done;
    emit_chunks(e, i, c, before, (taking){.across = &x});
    e->open[e->depth - 1].exit = exit;
    build_at(e, e->open[e->depth - 1].next); // nobody continues
    LLVMBuildUnreachable(e->b);
    build_at(e, done);
    across_end(e, &x);
    build_go(e, exit);
  } else if (is_chunked) {
    emit_chunks(e, i, c, before, (taking){.ahead = ahead_plan(e, i, &a) ? &a : NULL});
  } else {
    emit_count(e, i, c, before, polls);
    build_go(e, exit);
  }
}

static void emit_counted_for(emitter *e, uint32_t i, llval before) {
  counting c = count_of(e, &e->p->code[i]);
  open_block *loop = open_loop(e, i);
  if (loop->live) LLVMBuildStore(e->b, current(e), loop->live);
  llblock start = build_block(e, "begin");
  LLVMBuildCondBr(e->b, begins(e, &c), start, loop->exit);
  build_at(e, start);
  const uint8_t *proven = NULL;
  llval is_inside = guards_loop(e, i, (loop_ends){c.lo, c.hi}, &proven);
  if (is_inside) {
    llblock inside = build_block(e, "inside"), checked = build_block(e, "checked");
    LLVMBuildCondBr(e->b, is_inside, inside, checked);
    build_at(e, inside);
    e->proven = proven;
    emit_turns(e, i, &c, before);
    e->proven = NULL;
    build_at(e, checked);
    e->open[e->depth - 1].next = build_block(e, "next");
    e->is_main = false; // each access is counted once
  }
  emit_turns(e, i, &c, before);
  if (is_inside) e->is_main = true;
  close_loop(e, before);
}

// Each invocation has its own bounds.
static void emit_varying_for(emitter *e, uint32_t i, llval before) {
  const inst *in = &e->p->code[i];
  vyre_type type = (vyre_type)in->type;
  uint32_t depth = e->depth;
  open_block *loop = open_loop(e, i);
  bool is_one = is_scalar(e, i);
  llval lo = value_vector(e, in->arg[0], 0), hi = value_vector(e, in->arg[1], 0);
  llval step = value_scalar(e, in->arg[2], 0), steps = value_vector(e, in->arg[2], 0);
  llval start = is_one ? value_scalar(e, in->arg[0], 0) : lo;
  llval stay = mask_and(e, before, mask_pack(e, is_less(e, type, lo, hi)));
  LLVMBuildStore(e->b, stay, loop->live);
  llblock head = build_block(e, "for"), from = LLVMGetInsertBlock(e->b);
  LLVMBuildCondBr(e->b, mask_any(e, stay), head, loop->exit);
  build_at(e, head);
  llval k = LLVMBuildPhi(e->b, LLVMTypeOf(start), "k");
  LLVMAddIncoming(k, &start, &from, 1);
  set_counter(e, i, k);
  begin_body(e, loop, before);
  emit_range(e, i + 1, in->arg[3], loop->next);
  loop = &e->open[depth];
  build_go(e, loop->next);
  build_at(e, loop->next);
  llval more = has_next(e, is_one ? build_splat(e, k) : k, hi, steps);
  LLVMBuildStore(e->b, mask_and(e, load_mask(e, loop->live), mask_pack(e, more)), loop->live);
  llval next = LLVMBuildAdd(e->b, k, is_one ? step : steps, "");
  repeat(e, loop, head, !loop->short_trips);
  llblock latch = LLVMGetInsertBlock(e->b);
  LLVMAddIncoming(k, &next, &latch, 1);
  close_loop(e, before);
}

uint32_t emit_for(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  if (is_uniform(e, in->arg[0]) && is_uniform(e, in->arg[1]))
    emit_counted_for(e, i, e->exec);
  else
    emit_varying_for(e, i, e->exec);
  return in->arg[3] + 1;
}

// ---- leaving ------------------------------------------------------------------------------------

// Whether all that are still in the loop (or in the region) come here together.
static bool is_together(emitter *e, uint32_t from) {
  for (uint32_t k = from; k < e->depth; k++)
    if (e->open[k].is_divergent) return false;
  return true;
}

static void clear_bits(const emitter *e, llval variable) {
  LLVMBuildStore(e->b, mask_without(e, load_mask(e, variable), current(e)), variable);
}

static void set_bits(const emitter *e, llval variable) {
  LLVMBuildStore(e->b, LLVMBuildOr(e->b, load_mask(e, variable), current(e), ""), variable);
}

static void emit_return(emitter *e) {
  if (e->returned) set_bits(e, e->returned);
  if (is_together(e, 0)) {
    build_go(e, e->done);
    build_at(e, build_block(e, "unreached"));
    return;
  }
  for (uint32_t k = 0; k < e->depth; k++)
    if (e->open[k].live) clear_bits(e, e->open[k].live);
}

void emit_leave(emitter *e, uint32_t i) {
  const inst *in = &e->p->code[i];
  if (in->op == VYRE_OP_RETURN) {
    emit_return(e);
    return;
  }
  open_block *loop = innermost_loop(e);
  bool together = is_together(e, (uint32_t)(loop - e->open) + 1) && !loop->skipped;
  bool is_break = in->op == VYRE_OP_BREAK;
  if (together) {
    build_go(e, is_break ? loop->exit : loop->next);
    build_at(e, build_block(e, "unreached"));
  } else if (is_break) {
    clear_bits(e, loop->live);
  } else {
    set_bits(e, loop->skipped);
  }
}
