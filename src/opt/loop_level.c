// SPDX-License-Identifier: MIT
//
// A loop that each invocation begins at its own number, such as
//
//     for c in local_id.x..columns by 256 { ... }
//
// becomes one that all begin together: neighbours are then neighbours in every iteration, and
// nobody waits under a mask. With `off` what an invocation begins later than the first one, and
// `most` the largest of them:
//
//     let u = lo - off                         // the same for all
//     for t in 0..(hi - u) - most by step { the body at lo + t }   // everybody has all of these
//     if off < left { the body behind them }                       // at most one is left
//
// One at most is left because the step is larger than `most`; both are below 2^31, and their sum
// does not wrap. Differences are those of integers:
// where u + most would wrap, which is asked unless it is known, the loop runs as it stands, in an
// else block, where this pass leaves loops alone. Each invocation does what it did, in its order.
#include "opt/passes.h"

#include "analysis/shape.h"
#include "ir/limits.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

enum { MAX_OPERATIONS = 64 };

typedef struct facts {
  ranges known;
  shapes shapes;
  const bool *is_else; // per operation of the body: the innermost block around it is an else
} facts;

// ---- whether ------------------------------------------------------------------------------------

static bool is_uniform(const facts *f, ref r) {
  return ref_is_const(r) || !(shape_at(&f->shapes, r)->axes & AXIS_X);
}

// Steps are literals.
static uint64_t step_of(const vyre_program *p, const inst *in) {
  return p->consts[ref_index(in->arg[2])].bits;
}

// What the last invocation of a row begins later than the first one.
static uint64_t most_of(const rewriter *rw, const facts *f, const inst *in) {
  return (uint64_t)shape_at(&f->shapes, in->arg[0])->stride * (rw->region->workgroup[0] - 1);
}

static bool can_level(const rewriter *rw, const facts *f, uint32_t i) {
  const vyre_program *p = rw->from;
  const inst *in = &p->code[i];
  range part = {i, inst_end(in)};
  if (in->op != VYRE_OP_FOR || (in->type != VYRE_U32 && in->type != VYRE_U64) ||
      ref_is_const(in->arg[0]) || rw->region->is_elastic || f->is_else[i - rw->region->body.first])
    return false;
  const shape *lo = shape_at(&f->shapes, in->arg[0]);
  if (!lo->is_linear || lo->stride < 1 || lo->stride > 64 || !is_uniform(f, in->arg[1]))
    return false;
  if (part.end - part.first > MAX_OPERATIONS || effects_has(p, part, VYRE_OP_BARRIER) ||
      effects_has_jump_of(p, i))
    return false;
  return step_of(p, in) > most_of(rw, f, in) && step_of(p, in) <= INT32_MAX;
}

// ---- rewriting ----------------------------------------------------------------------------------

static ref number(const rewriter *rw, vyre_type type, uint64_t value) {
  return vyre_build_const(rw->to, type, value);
}

static ref binary(const rewriter *rw, vyre_op op, ref x, ref y) {
  return vyre_build_binary(rw->to, op, x, y);
}

// x - y, and 0 where that is less.
static ref without(const rewriter *rw, vyre_type type, ref x, ref y) {
  ref is_more = binary(rw, VYRE_OP_GT, x, y);
  return vyre_build_select(rw->to, is_more, binary(rw, VYRE_OP_SUB, x, y), number(rw, type, 0));
}

static void copy_body(rewriter *rw, uint32_t i, ref counter) {
  rw->map[i] = counter;
  for (uint32_t k = i + 1; k < rw->from->code[i].arg[3]; k++) rewrite_keep(rw, k);
}

// What the invocation begins later than the first one of its row.
static ref offset_of(rewriter *rw, const facts *f, const inst *in) {
  vyre_type type = (vyre_type)in->type;
  uint64_t stride = (uint64_t)shape_at(&f->shapes, in->arg[0])->stride;
  ref off = vyre_build_id(rw->to, VYRE_OP_LOCAL_ID, 0);
  if (type != VYRE_U32) off = vyre_build_convert(rw->to, type, off);
  return stride > 1 ? binary(rw, VYRE_OP_MUL, off, number(rw, type, stride)) : off;
}

static void emit_level(rewriter *rw, uint32_t i, ref off, ref most, ref u) {
  const inst *in = &rw->from->code[i];
  vyre_type type = (vyre_type)in->type;
  ref lo = rewrite_ref(rw, in->arg[0]), hi = rewrite_ref(rw, in->arg[1]);
  ref step = rewrite_ref(rw, in->arg[2]), zero = number(rw, type, 0);
  ref all = without(rw, type, hi, u), shared = without(rw, type, all, most);
  ref t = vyre_build_for(rw->to, zero, shared, step);
  copy_body(rw, i, binary(rw, VYRE_OP_ADD, lo, t));
  vyre_build_end(rw->to);
  // They took shared - over in whole steps, and one more step where something is over.
  ref over = binary(rw, VYRE_OP_REM, shared, step), is_over = binary(rw, VYRE_OP_GT, over, zero);
  ref taken = binary(rw, VYRE_OP_ADD, binary(rw, VYRE_OP_SUB, shared, over),
                     vyre_build_select(rw->to, is_over, step, zero));
  ref beyond = without(rw, type, binary(rw, VYRE_OP_ADD, most, over), step);
  ref left = vyre_build_select(rw->to, is_over, beyond, binary(rw, VYRE_OP_SUB, all, shared));
  vyre_build_if(rw->to, binary(rw, VYRE_OP_LT, off, left));
  copy_body(rw, i, binary(rw, VYRE_OP_ADD, lo, taken));
  vyre_build_end(rw->to);
}

// The first invocation begins at 0.
static bool begins_at_id(const rewriter *rw, ref lo) {
  const inst *code = rw->from->code;
  if (code[lo].op == VYRE_OP_CONVERT && !ref_is_const(code[lo].arg[0])) lo = code[lo].arg[0];
  return code[lo].op == VYRE_OP_LOCAL_ID && code[lo].arg[0] == 0;
}

static void level(rewriter *rw, const facts *f, uint32_t i) {
  const inst *in = &rw->from->code[i];
  vyre_type type = (vyre_type)in->type;
  ref off = offset_of(rw, f, in), most = number(rw, type, most_of(rw, f, in));
  rw->changed = true;
  if (begins_at_id(rw, in->arg[0])) {
    emit_level(rw, i, off, most, number(rw, type, 0));
    return;
  }
  ref u = binary(rw, VYRE_OP_SUB, rewrite_ref(rw, in->arg[0]), off);
  ref last = number(rw, type, type == VYRE_U32 ? UINT32_MAX : UINT64_MAX);
  ref limit = binary(rw, VYRE_OP_SUB, last, most);
  vyre_build_if(rw->to, binary(rw, VYRE_OP_LE, u, limit));
  emit_level(rw, i, off, most, u);
  vyre_build_else(rw->to);
  for (uint32_t k = i; k <= inst_end(in); k++) rewrite_keep(rw, k);
  vyre_build_end(rw->to);
}

// ---- the pass -----------------------------------------------------------------------------------

static bool *find_else(const rewriter *rw) {
  const region *r = rw->region;
  bool *out = arena_alloc_array(rw->scratch, r->body.end - r->body.first + 1u, sizeof *out);
  bool is_else[LIMIT_OPEN + 1] = {false};
  uint32_t depth = 0;
  for (uint32_t i = r->body.first; out && i < r->body.end; i++) {
    unsigned op = rw->from->code[i].op;
    out[i - r->body.first] = is_else[depth];
    if (effects_is_opening(op)) is_else[++depth] = false;
    if (op == VYRE_OP_ELSE) is_else[depth] = true;
    if (op == VYRE_OP_END) depth--;
  }
  return out;
}

static bool body(rewriter *rw) {
  facts f;
  f.is_else = find_else(rw);
  if (!f.is_else || !ranges_compute(rw->scratch, rw->from, rw->region, &f.known) ||
      !shapes_compute(rw->scratch, rw->from, rw->region, &f.known, NULL, &f.shapes))
    return false;
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) {
    if (!can_level(rw, &f, i)) {
      rewrite_keep(rw, i);
      continue;
    }
    level(rw, &f, i);
    i = inst_end(&rw->from->code[i]);
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_loop_level = {
    .info = {.name = "loop_level",
             .requires = (const char *const[]){"algebraic_simplify", "if_simplify", NULL},
             .invalidates = (const char *const[]){"canonicalize", "const_fold",
                                                  "algebraic_simplify", "strength_reduce", "cse",
                                                  "if_simplify", "dce", "licm", NULL},
             .family = PASS_FAMILY_LOOP},
    .summary = "let loops that invocations begin at their own numbers begin for all together",
    .never = "copy a barrier or a break, or more than 64 operations",
    .run = run,
};
