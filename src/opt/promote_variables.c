// SPDX-License-Identifier: MIT
//
// Reads of a variable whose value is known become that value. The walk keeps for each variable what
// it holds: its first value, then what it was set to. A branch starts from what was known before
// it; where two branches meet, a variable holds what both gave it, or a select of the two when both
// values can be seen from outside. A loop starts by forgetting all that is set inside of it. What
// remains of a variable that is never read any more is dce's to remove.
//
// A value that is only an earlier read is not carried over a barrier: backends keep what lives
// across one in memory, where the variable is already.
#include "opt/passes.h"

#include "base/vec.h"
#include "ir/limits.h"
#include "opt/rewrite.h"

typedef struct change { // made in a block, in order
  uint32_t var;
  ref before; // what was known when it was made
} change;

typedef struct outcome { // of a block for one variable
  uint32_t var;
  ref entry; // known when the block began
  ref final; // known when it ended
} outcome;

typedef struct block {
  ref opening, condition; // in the new program; the condition of an if
  size_t first_change, first_outcome;
  bool is_loop;
} block;

typedef struct facts { // about one variable
  ref known;           // what it holds, 0 when unknown
  uint32_t stamp;      // of the last collection that met it
  uint32_t other;      // while joining: number of its outcome in the second branch, plus 1
  uint32_t barriers;   // passed when that was learned
} facts;

typedef struct promotion {
  rewriter *rw;
  facts *facts; // per operation of the body; those of VAR are in use
  vec(change) changes;
  vec(outcome) outcomes;
  block blocks[LIMIT_DEPTH];
  size_t depth;
  uint32_t stamp;
  uint32_t barriers; // passed so far
  bool failed;
} promotion;

static facts *facts_of(promotion *p, uint32_t var) {
  return &p->facts[var - p->rw->region->body.first];
}

static void learn(promotion *p, uint32_t var, ref value) {
  facts *f = facts_of(p, var);
  if (!vec_push(&p->changes, (change){var, f->known})) p->failed = true;
  f->known = value;
  f->barriers = p->barriers;
}

// Takes the changes of the innermost block back and adds one outcome per variable.
static void collect(promotion *p) {
  size_t first = p->blocks[p->depth - 1].first_change;
  p->stamp++;
  for (size_t i = first; i < p->changes.count; i++) {
    change c = p->changes.at[i];
    facts *f = facts_of(p, c.var);
    if (f->stamp == p->stamp) continue;
    f->stamp = p->stamp;
    if (!vec_push(&p->outcomes, (outcome){c.var, c.before, f->known})) p->failed = true;
    f->known = c.before;
  }
  p->changes.count = first;
}

// Whether a value can be used behind the block that begins at `opening`.
static bool outlives(ref value, ref opening) {
  return value && (ref_is_const(value) || value < opening);
}

static ref join(promotion *p, const block *b, ref x, ref y) {
  if (x == y) return outlives(x, b->opening) ? x : 0;
  if (!outlives(x, b->opening) || !outlives(y, b->opening)) return 0;
  return vyre_build_select(p->rw->to, b->condition, x, y);
}

static void forget_sets(promotion *p, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++) {
    const inst *in = &p->rw->from->code[i];
    // A variable declared inside of the loop is new in every iteration.
    if (in->op == VYRE_OP_SET && in->arg[0] < first) learn(p, in->arg[0], 0);
  }
}

static void open_block(promotion *p, uint32_t index) {
  const inst *in = &p->rw->from->code[index];
  bool is_loop = in->op != VYRE_OP_IF;
  if (is_loop) forget_sets(p, index, inst_end(in));
  ref condition = is_loop ? 0 : rewrite_ref(p->rw, in->arg[0]);
  ref opening = rewrite_keep(p->rw, index);
  p->blocks[p->depth++] = (block){opening, condition, p->changes.count, p->outcomes.count, is_loop};
}

static void close_loop(promotion *p, const block *b) {
  for (size_t i = b->first_outcome; i < p->outcomes.count; i++) learn(p, p->outcomes.at[i].var, 0);
}

// `second` is where the outcomes of the second branch begin.
static void close_if(promotion *p, const block *b, size_t second) {
  size_t count = p->outcomes.count;
  for (size_t i = second; i < count; i++)
    facts_of(p, p->outcomes.at[i].var)->other = (uint32_t)i + 1;
  for (size_t i = b->first_outcome; i < second; i++) {
    outcome o = p->outcomes.at[i];
    uint32_t other = facts_of(p, o.var)->other;
    facts_of(p, o.var)->other = 0;
    learn(p, o.var, join(p, b, o.final, other ? p->outcomes.at[other - 1].final : o.entry));
  }
  for (size_t i = second; i < count; i++) {
    outcome o = p->outcomes.at[i];
    if (!facts_of(p, o.var)->other) continue; // joined above
    facts_of(p, o.var)->other = 0;
    learn(p, o.var, join(p, b, o.entry, o.final));
  }
}

static void close_block(promotion *p, uint32_t index) {
  bool has_else = p->rw->from->code[p->rw->from->code[index].arg[1]].op == VYRE_OP_IF &&
                  p->rw->from->code[p->rw->from->code[index].arg[1]].arg[1];
  size_t first_part = p->outcomes.count;
  rewrite_keep(p->rw, index);
  collect(p);
  block b = p->blocks[--p->depth];
  if (b.is_loop)
    close_loop(p, &b);
  else
    close_if(p, &b, has_else ? first_part : p->outcomes.count);
  p->outcomes.count = b.first_outcome;
}

static void visit_get(promotion *p, uint32_t index) {
  uint32_t var = p->rw->from->code[index].arg[0];
  facts *f = facts_of(p, var);
  const inst *made = f->known ? rewrite_inst(p->rw, f->known) : NULL;
  bool is_old_read = made && made->op == VYRE_OP_GET && f->barriers != p->barriers;
  if (f->known && !is_old_read) {
    rewrite_replace(p->rw, index, f->known);
    return;
  }
  learn(p, var, rewrite_keep(p->rw, index)); // the next read is this one
}

static void visit(rewriter *rw, uint32_t index) {
  promotion *p = rw->context;
  const inst *in = &rw->from->code[index];
  switch (in->op) {
  case VYRE_OP_VAR:
    rewrite_keep(rw, index);
    learn(p, index, rewrite_ref(rw, in->arg[0]));
    return;
  case VYRE_OP_SET:
    rewrite_keep(rw, index);
    learn(p, in->arg[0], rewrite_ref(rw, in->arg[1]));
    return;
  case VYRE_OP_GET: visit_get(p, index); return;
  case VYRE_OP_IF:
  case VYRE_OP_FOR:
  case VYRE_OP_WHILE: open_block(p, index); return;
  case VYRE_OP_BARRIER: p->barriers++; break;
  case VYRE_OP_ELSE: collect(p); break;
  case VYRE_OP_END: close_block(p, index); return;
  default: break; // kept as it is
  }
  rewrite_keep(rw, index);
}

static bool body(rewriter *rw) {
  size_t count = rw->region->body.end - rw->region->body.first;
  promotion p = {.rw = rw, .facts = arena_alloc_array(rw->scratch, count, sizeof(facts))};
  if (!p.facts) return false;
  rw->context = &p;
  rewrite_each(rw, visit);
  rw->context = NULL;
  vec_free(&p.changes);
  vec_free(&p.outcomes);
  return !p.failed;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_promote_variables = {
    .info = {.name = "promote_variables",
             .invalidates =
                 (const char *const[]){"canonicalize", "const_fold", "algebraic_simplify", "cse",
                                       "dce", "if_simplify", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "replace reads of variables whose value is known",
    .never = "carry a value over a loop that sets it, or out of the block that made it",
    .run = run,
};
