// SPDX-License-Identifier: MIT
//
// Structure that decides nothing: an if with a constant condition is replaced by the branch that
// runs, empty branches go, a loop that cannot run goes, and so does what stands behind a jump in
// the same block, and a jump to where control goes anyway.
#include "opt/passes.h"

#include "ir/eval.h"
#include "opt/rewrite.h"

typedef struct simplifier {
  rewriter *rw;
  bool *dropped; // per operation of the body: an ELSE or END whose opening is gone
} simplifier;

static bool *dropped_at(simplifier *s, uint32_t i) {
  return &s->dropped[i - s->rw->region->body.first];
}

static bool is_constant(const simplifier *s, ref old, uint64_t *bits) {
  return rewrite_const(s->rw, rewrite_ref(s->rw, old), bits);
}

static bool is_end_of_block(const inst *in) {
  return in->op == VYRE_OP_END || in->op == VYRE_OP_ELSE || in->op == VYRE_OP_DO;
}

// Where to go on: either i + 1, or behind what was skipped.
static uint32_t visit_if(simplifier *s, uint32_t i) {
  const inst *in = &s->rw->from->code[i];
  uint32_t other = in->arg[1], end = in->arg[2];
  uint64_t bits;
  if (is_constant(s, in->arg[0], &bits)) {
    s->rw->changed = true;
    *dropped_at(s, end) = true;
    if (other) *dropped_at(s, other) = true;
    return bits ? i + 1 : (other ? other : end) + 1;
  }
  bool then_empty = (other ? other : end) == i + 1;
  bool else_empty = !other || end == other + 1;
  if (then_empty && else_empty) {
    s->rw->changed = true;
    return end + 1;
  }
  if (else_empty && other) {
    s->rw->changed = true;
    *dropped_at(s, other) = true;
  }
  if (!then_empty) {
    rewrite_keep(s->rw, i);
    return i + 1;
  }
  s->rw->changed = true;
  vyre_build_if(s->rw->to,
                vyre_build_unary(s->rw->to, VYRE_OP_NOT, rewrite_ref(s->rw, in->arg[0])));
  return other + 1;
}

static uint32_t visit_for(simplifier *s, uint32_t i) {
  const inst *in = &s->rw->from->code[i];
  uint64_t lo, hi, step;
  bool never = is_constant(s, in->arg[0], &lo) && is_constant(s, in->arg[1], &hi) &&
               is_constant(s, in->arg[2], &step) &&
               eval_trip_count((vyre_type)in->type, lo, hi, step) == 0;
  if (never || in->arg[3] == i + 1) { // an empty body decides nothing either
    s->rw->changed = true;
    return in->arg[3] + 1;
  }
  rewrite_keep(s->rw, i);
  return i + 1;
}

// Where the block that `i` stands in ends.
static uint32_t end_of_block(const simplifier *s, uint32_t i) {
  const inst *code = s->rw->from->code;
  uint32_t depth = 0;
  for (; i < s->rw->region->body.end && (depth || !is_end_of_block(&code[i])); i++) {
    if (code[i].op == VYRE_OP_IF || code[i].op == VYRE_OP_FOR || code[i].op == VYRE_OP_WHILE)
      depth++;
    else if (code[i].op == VYRE_OP_END)
      depth--;
  }
  return i;
}

// A jump: what follows it in its block never runs. A jump at the very end of what it leaves is
// none. A `while` needs its condition, though nobody comes to it.
static uint32_t visit_jump(simplifier *s, uint32_t i) {
  const inst *code = s->rw->from->code, *in = &code[i];
  uint32_t body_end = s->rw->region->body.end, next = i + 1, end = end_of_block(s, next);
  bool is_idle = in->op == VYRE_OP_RETURN
                     ? next == body_end
                     : in->op == VYRE_OP_CONTINUE && code[next].op == VYRE_OP_END &&
                           code[next].arg[1] == in->arg[1];
  if (is_idle)
    s->rw->changed = true;
  else
    rewrite_keep(s->rw, i);
  if (end < body_end && code[end].op == VYRE_OP_DO) return next;
  s->rw->changed |= end > next;
  return end;
}

static uint32_t visit(simplifier *s, uint32_t i) {
  const inst *in = &s->rw->from->code[i];
  switch (in->op) {
  case VYRE_OP_IF: return visit_if(s, i);
  case VYRE_OP_FOR: return visit_for(s, i);
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE:
  case VYRE_OP_RETURN: return visit_jump(s, i);
  case VYRE_OP_ELSE:
    // A kept first branch of a constant condition ends here; the second one is skipped.
    if (*dropped_at(s, i)) return in->arg[2];
    break;
  case VYRE_OP_END:
    if (*dropped_at(s, i)) return i + 1;
    break;
  default: break; // kept as it is
  }
  rewrite_keep(s->rw, i);
  return i + 1;
}

static bool body(rewriter *rw) {
  range b = rw->region->body;
  simplifier s = {rw, arena_alloc_array(rw->scratch, b.end - b.first, sizeof(bool))};
  if (!s.dropped) return false;
  for (uint32_t i = b.first; i < b.end;) i = visit(&s, i);
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_if_simplify = {
    .info = {.name = "if_simplify",
             .invalidates =
                 (const char *const[]){"promote_variables", "cse", "dce", "if_simplify", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "remove branches, loops and jumps that decide nothing",
    .never = "remove a while, or a jump that skips something",
    .run = run,
};
