// SPDX-License-Identifier: MIT
//
// A pure operation that gives the same value in all invocations moves out of conditions and loops,
// to the outermost place where its operands are there: backends compute it once there, not once
// per lane. No operation of the IR traps, so computing one that would not have been reached costs
// time and nothing else; dear ones therefore do not leave an if that all invocations skip or enter
// together. Loads and reads of variables stay where they are.
#include "opt/passes.h"

#include "analysis/shape.h"
#include "ir/limits.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

typedef struct hoisting {
  shapes shapes;
  bool *moved; // per operation of the body: it stands further out now
} hoisting;

static bool is_dear(unsigned op) {
  return op == VYRE_OP_DIV || op == VYRE_OP_REM || op == VYRE_OP_SQRT ||
         op_is((vyre_op)op, OPF_MATH);
}

static bool operands_are_outside(const rewriter *rw, const hoisting *h, uint32_t i,
                                 uint32_t opening) {
  const inst *in = &rw->from->code[i];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++) {
    if (operands[k] != 'v' || ref_is_const(in->arg[k]) || in->arg[k] < opening) continue;
    if (!h->moved[in->arg[k] - h->shapes.first]) return false;
  }
  return true;
}

// An if that invocations take together: what is in it may not be needed by any of them.
static bool is_joint_if(const rewriter *rw, const hoisting *h, uint32_t opening) {
  return rw->from->code[opening].op == VYRE_OP_IF && !block_at(&h->shapes, opening)->parts;
}

// Emits in front of the block what may go there.
static void hoist(rewriter *rw, hoisting *h, uint32_t opening) {
  bool is_joint[LIMIT_DEPTH];
  uint32_t depth = 0, joint = 0;
  for (uint32_t i = opening; i < effects_block_end(rw->from, opening); i++) {
    unsigned op = rw->from->code[i].op;
    if (effects_is_opening(op))
      joint += is_joint[depth++] = is_joint_if(rw, h, i);
    else if (op == VYRE_OP_END)
      joint -= is_joint[--depth];
    bool *moved = &h->moved[i - h->shapes.first];
    if (*moved || !op_is((vyre_op)op, OPF_PURE) || shape_at(&h->shapes, i)->axes ||
        (joint && is_dear(op)) || !operands_are_outside(rw, h, i, opening))
      continue;
    *moved = true;
    rewrite_keep(rw, i);
    rw->changed = true;
  }
}

static void visit(rewriter *rw, uint32_t index) {
  hoisting *h = rw->context;
  if (h->moved[index - h->shapes.first]) return;
  if (effects_is_opening(rw->from->code[index].op)) hoist(rw, h, index);
  rewrite_keep(rw, index);
}

static bool body(rewriter *rw) {
  uint32_t count = rw->region->body.end - rw->region->body.first;
  hoisting h = {.moved = arena_alloc_array(rw->scratch, count + 1u, sizeof(bool))};
  ranges known;
  if (!h.moved || !ranges_compute(rw->scratch, rw->from, rw->region, &known) ||
      !shapes_compute(rw->scratch, rw->from, rw->region, &known, NULL, &h.shapes))
    return false;
  rw->context = &h;
  rewrite_each(rw, visit);
  rw->context = NULL;
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_uniform_hoist = {
    .info = {.name = "uniform_hoist",
             .invalidates =
                 (const char *const[]){"cse", "loop_unswitch", "loop_bounds_tighten", NULL},
             .family = PASS_FAMILY_DATAFLOW},
    .summary = "move what is the same for all invocations out of conditions and loops",
    .never = "move loads, reads of variables, or a division out of an if that all share",
    .run = run,
};
