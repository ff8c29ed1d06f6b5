// SPDX-License-Identifier: MIT
//
// A barrier orders the accesses before it with those after it. Where one side has none, it orders
// nothing: a second barrier with no access to shared memory or buffers since the first, one before
// the first access of the region or behind the last, and every barrier of a workgroup of one. A
// region in which some invocations may return early keeps its barriers, whose absence would hide
// that mistake.
#include "opt/passes.h"

#include "opt/effects.h"
#include "opt/rewrite.h"

static bool is_visible_access(const inst *in) {
  uint32_t mem;
  return effects_memory(in, &mem) && mem_space(mem) != MEM_PRIVATE;
}

// Whether nothing that a barrier could order lies between the start of the block, or the last
// barrier in it, and `at`. Blocks in between may do anything.
static bool is_idle_before(const rewriter *rw, uint32_t at) {
  const vyre_program *p = rw->from;
  for (uint32_t i = at; i-- > rw->region->body.first;) {
    unsigned op = p->code[i].op;
    if (op == VYRE_OP_BARRIER) return true;
    if (is_visible_access(&p->code[i]) || op_is((vyre_op)op, OPF_OPEN | OPF_CLOSE)) return false;
  }
  return true; // the region begins here
}

static bool is_idle_behind(const rewriter *rw, uint32_t at) {
  const vyre_program *p = rw->from;
  for (uint32_t i = at + 1; i < rw->region->body.end; i++)
    if (is_visible_access(&p->code[i]) || p->code[i].op == VYRE_OP_BARRIER) return false;
  return true;
}

static bool body(rewriter *rw) {
  const uint32_t *w = rw->region->workgroup;
  bool is_single = w[0] * w[1] * w[2] == 1;
  bool may_return = effects_has(rw->from, rw->region->body, VYRE_OP_RETURN);
  uint32_t depth = 0;
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) {
    unsigned op = rw->from->code[i].op;
    if (effects_is_opening(op))
      depth++;
    else if (op == VYRE_OP_END)
      depth--;
    bool is_idle = op == VYRE_OP_BARRIER &&
                   (is_single ||
                    (!may_return && (is_idle_before(rw, i) || (!depth && is_idle_behind(rw, i)))));
    if (is_idle)
      rewrite_drop(rw, i);
    else
      rewrite_keep(rw, i);
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_barrier_eliminate = {
    .info = {.name = "barrier_eliminate",
             .invalidates = (const char *const[]){"if_simplify", "dce", "load_forward", "licm",
                                                  "barrier_eliminate", NULL},
             .family = PASS_FAMILY_SYNC},
    .summary = "remove barriers that order nothing",
    .never = "remove a barrier of a larger workgroup with accesses on both sides",
    .run = run,
};
