// SPDX-License-Identifier: MIT
//
// Loop-invariant code goes in front of the loop: pure operations whose operands are made outside,
// reads of variables that the loop does not set, and loads of memory that nothing in the loop can
// change. No operation of the IR traps, so running one that the loop would not have reached costs
// time and nothing else; dear ones are therefore only moved when the loop reaches them in every
// iteration.
#include "opt/passes.h"

#include "opt/effects.h"
#include "opt/rewrite.h"

static bool is_dear(unsigned op) {
  return op == VYRE_OP_DIV || op == VYRE_OP_REM || op == VYRE_OP_SQRT || op == VYRE_OP_LOAD ||
         op_is((vyre_op)op, OPF_MATH);
}

// A barrier lets other invocations' writes be seen, so a load may differ before and after one.
static bool load_is_invariant(const rewriter *rw, range loop, uint32_t mem) {
  const vyre_program *p = rw->from;
  if (effects_writes_memory(p, loop, mem)) return false;
  if (mem_space(mem) == MEM_PRIVATE || !effects_has(p, loop, VYRE_OP_BARRIER)) return true;
  return !effects_writes_memory(p, rw->region->body, mem);
}

static bool can_move(const rewriter *rw, range loop, uint32_t i, uint32_t depth) {
  const inst *in = &rw->from->code[i];
  if (is_dear(in->op) && depth) return false;
  if (op_is((vyre_op)in->op, OPF_PURE)) return true;
  if (in->op == VYRE_OP_GET) return !effects_sets_variable(rw->from, loop, in->arg[0]);
  return in->op == VYRE_OP_LOAD && load_is_invariant(rw, loop, in->arg[0]);
}

static bool operands_are_outside(const rewriter *rw, const bool *moved, uint32_t i,
                                 uint32_t opening) {
  const inst *in = &rw->from->code[i];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++) {
    uint32_t arg = in->arg[k];
    if (operands[k] == 'm' && mem_space(arg) == MEM_PRIVATE)
      arg = mem_index(arg);
    else if (operands[k] != 'v' && operands[k] != 'x')
      continue;
    if (operands[k] == 'v' && ref_is_const(arg)) continue;
    if (arg >= opening && !moved[arg - rw->region->body.first]) return false;
  }
  return true;
}

// Emits in front of the loop what may go there. Blocks inside are counted: what is under a
// condition may not be reached. The condition of a while is reached once at least.
static void hoist(rewriter *rw, bool *moved, uint32_t opening) {
  range loop = {opening, effects_block_end(rw->from, opening)};
  uint32_t depth = 0, first = rw->region->body.first;
  for (uint32_t i = opening + 1; i < loop.end; i++) {
    unsigned op = rw->from->code[i].op;
    if (effects_is_opening(op))
      depth++;
    else if (op == VYRE_OP_END)
      depth--;
    if (moved[i - first] || !can_move(rw, loop, i, depth) ||
        !operands_are_outside(rw, moved, i, opening))
      continue;
    moved[i - first] = true;
    rewrite_keep(rw, i);
    rw->changed = true;
  }
}

static void visit(rewriter *rw, uint32_t index) {
  bool *moved = rw->context; // per operation of the body: it stands in front of a loop now
  unsigned op = rw->from->code[index].op;
  if (moved[index - rw->region->body.first]) return;
  if (op == VYRE_OP_FOR || op == VYRE_OP_WHILE) hoist(rw, moved, index);
  rewrite_keep(rw, index);
}

static bool body(rewriter *rw) {
  size_t count = rw->region->body.end - rw->region->body.first;
  rw->context = arena_alloc_array(rw->scratch, count, sizeof(bool));
  return rw->context && rewrite_each(rw, visit);
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_licm = {
    .info = {.name = "licm",
             .invalidates =
                 (const char *const[]){"cse", "dce", "loop_unswitch", "loop_bounds_tighten", NULL},
             .family = PASS_FAMILY_LOOP},
    .summary = "move loop-invariant code in front of the loop",
    .never = "move writes, loads of what the loop writes, or a division that may be skipped",
    .run = run,
};
