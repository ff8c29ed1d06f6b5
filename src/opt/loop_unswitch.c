// SPDX-License-Identifier: MIT
//
// A condition that does not change inside a loop is asked once in front of it: the loop is written
// twice, once for each answer. Loops with barriers stay, because a barrier must not come under a
// condition; large ones stay because of their size.
#include "opt/passes.h"

#include "opt/effects.h"
#include "opt/rewrite.h"

enum { MAX_OPERATIONS = 64 };

// The first if in the loop whose condition is made outside; 0 when there is none.
static uint32_t find_branch(const rewriter *rw, uint32_t loop) {
  const vyre_program *p = rw->from;
  range part = {loop, effects_block_end(p, loop)};
  if (part.end - part.first > MAX_OPERATIONS || effects_has(p, part, VYRE_OP_BARRIER)) return 0;
  for (uint32_t i = loop + 1; i < part.end; i++) {
    const inst *in = &p->code[i];
    // A constant condition is if_simplify's.
    if (in->op == VYRE_OP_IF && !ref_is_const(in->arg[0]) && in->arg[0] < loop) return i;
  }
  return 0;
}

// Copies the loop with the answer of the branch taken as given.
static void copy_loop(rewriter *rw, uint32_t loop, uint32_t branch, bool answer) {
  const inst *in = &rw->from->code[branch];
  uint32_t other = in->arg[1], end = in->arg[2];
  range skipped = answer ? (range){other ? other : end, end} : (range){branch, other ? other : end};
  for (uint32_t i = loop; i <= effects_block_end(rw->from, loop); i++) {
    bool is_marker = i == branch || i == other || i == end;
    if (!is_marker && !(i >= skipped.first && i < skipped.end)) rewrite_keep(rw, i);
  }
}

static bool body(rewriter *rw) {
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) {
    unsigned op = rw->from->code[i].op;
    uint32_t branch = op == VYRE_OP_FOR || op == VYRE_OP_WHILE ? find_branch(rw, i) : 0;
    if (!branch) {
      rewrite_keep(rw, i);
      continue;
    }
    vyre_build_if(rw->to, rewrite_ref(rw, rw->from->code[branch].arg[0]));
    copy_loop(rw, i, branch, true);
    vyre_build_else(rw->to);
    copy_loop(rw, i, branch, false);
    vyre_build_end(rw->to);
    rw->changed = true;
    i = effects_block_end(rw->from, i);
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_loop_unswitch = {
    .info = {.name = "loop_unswitch",
             .requires = (const char *const[]){"licm", NULL},
             .invalidates = (const char *const[]){"if_simplify", "dce", "loop_unswitch",
                                                  "loop_bounds_tighten", NULL},
             .family = PASS_FAMILY_LOOP},
    .summary = "ask a condition that does not change once, in front of the loop",
    .never = "put a barrier under a condition, or copy more than 64 operations",
    .run = run,
};
