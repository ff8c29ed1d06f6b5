// SPDX-License-Identifier: MIT
//
// What the bounds of integers decide: a value that can only be one becomes that constant, a
// comparison of ranges that do not meet becomes its answer, and an operation that leaves all values
// in the range as they are (a mask that covers them, a remainder by something larger, min and max
// with something beyond) becomes its operand. The ranges hold wherever a value is computed, under
// no assumption on conditions, so this may run at any time. Floats have no ranges.
#include "opt/passes.h"

#include "analysis/ranges.h"
#include "opt/rewrite.h"

static ref operand(rewriter *rw, const inst *in, int k) {
  return rewrite_ref(rw, in->arg[k]);
}

// Whether ranges that do not meet, or touch, decide `a op b`.
static bool decides(vyre_op op, value_range a, value_range b, bool *answer) {
  bool is_below = a.hi<b.lo, is_above = a.lo> b.hi;              // certainly a < b, a > b
  bool is_not_above = a.hi <= b.lo, is_not_below = a.lo >= b.hi; // certainly a <= b, a >= b
  switch (op) {
  case VYRE_OP_LT: *answer = is_below; return is_below || is_not_below;
  case VYRE_OP_GE: *answer = is_not_below; return is_below || is_not_below;
  case VYRE_OP_GT: *answer = is_above; return is_above || is_not_above;
  case VYRE_OP_LE: *answer = is_not_above; return is_above || is_not_above;
  case VYRE_OP_EQ:
  case VYRE_OP_NE:
    *answer = op == VYRE_OP_NE ? is_below || is_above : is_not_above && is_not_below;
    return is_below || is_above || (is_not_above && is_not_below);
  default: return false; // no rule: it stays
  }
}

// All bits that a value from 0 to `most` can have.
static uint64_t covering_mask(int64_t most) {
  return most ? UINT64_MAX >> __builtin_clzll((uint64_t)most) : 0;
}

// A constant mask that keeps all, or none, of the bits that x can have.
static ref fold_mask(rewriter *rw, const ranges *known, const inst *in) {
  for (int k = 0; k < 2; k++) {
    ref mask = in->arg[k];
    value_range x = range_of(known, in->arg[1 - k]);
    if (!ref_is_const(mask) || !range_is_known(x) || x.lo < 0) continue;
    uint64_t covering = covering_mask(x.hi),
             kept = covering & rw->from->consts[ref_index(mask)].bits;
    if (kept == covering) return operand(rw, in, 1 - k);
    if (!kept) return vyre_build_const(rw->to, (vyre_type)in->type, 0);
  }
  return 0;
}

static ref fold_arithmetic(rewriter *rw, const ranges *known, const inst *in) {
  value_range a = range_of(known, in->arg[0]), b = range_of(known, in->arg[1]);
  if (!range_is_known(a) || !range_is_known(b)) return 0;
  bool is_smaller = b.lo > 0 && a.hi < b.lo && a.lo > -b.lo; // |a| < |b|
  switch (in->op) {
  case VYRE_OP_MIN:
    return a.hi <= b.lo ? operand(rw, in, 0) : b.hi <= a.lo ? operand(rw, in, 1) : 0;
  case VYRE_OP_MAX:
    return a.lo >= b.hi ? operand(rw, in, 0) : b.lo >= a.hi ? operand(rw, in, 1) : 0;
  case VYRE_OP_REM: return is_smaller ? operand(rw, in, 0) : 0;
  case VYRE_OP_DIV: return is_smaller ? vyre_build_const(rw->to, (vyre_type)in->type, 0) : 0;
  default: return 0; // no rule: it stays
  }
}

static ref fold_comparison(rewriter *rw, const ranges *known, const inst *in) {
  value_range a = range_of(known, in->arg[0]), b = range_of(known, in->arg[1]);
  bool answer;
  if (!type_is_int(ref_type(rw->from, in->arg[0])) || !range_is_known(a) || !range_is_known(b))
    return 0;
  return decides((vyre_op)in->op, a, b, &answer) ? vyre_build_bool(rw->to, answer) : 0;
}

static ref fold_select(rewriter *rw, const inst *in) {
  uint64_t bits;
  return rewrite_const(rw, operand(rw, in, 0), &bits) ? operand(rw, in, bits ? 1 : 2) : 0;
}

static ref fold(rewriter *rw, uint32_t index) {
  const ranges *known = rw->context;
  const inst *in = &rw->from->code[index];
  if (!op_is((vyre_op)in->op, OPF_PURE) && in->op != VYRE_OP_GET) return 0;
  value_range all = known->at[index - known->first];
  if (type_is_int(in->type) && range_is_known(all) && all.lo == all.hi)
    return vyre_build_const(rw->to, (vyre_type)in->type, (uint64_t)all.lo);
  unsigned rule = op_table[in->op].rule;
  if (rule == RULE_EQUALITY || rule == RULE_ORDER) return fold_comparison(rw, known, in);
  if (in->op == VYRE_OP_SELECT) return fold_select(rw, in);
  if (!type_is_int(in->type)) return 0;
  if (in->op == VYRE_OP_AND) return fold_mask(rw, known, in);
  if (in->op == VYRE_OP_ABS && range_of(known, in->arg[0]).lo >= 0) return operand(rw, in, 0);
  return op_table[in->op].operand_count == 2 ? fold_arithmetic(rw, known, in) : 0;
}

static void visit(rewriter *rw, uint32_t index) {
  rewrite_choose(rw, index, fold(rw, index));
}

static bool body(rewriter *rw) {
  ranges known;
  if (!ranges_compute(rw->scratch, rw->from, rw->region, &known)) return false;
  rw->context = &known;
  rewrite_each(rw, visit);
  rw->context = NULL;
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_range_propagate = {
    .info = {.name = "range_propagate",
             .invalidates =
                 (const char *const[]){"const_fold", "algebraic_simplify", "strength_reduce", "cse",
                                       "if_simplify", "dce", "loop_unroll", NULL},
             .family = PASS_FAMILY_DATAFLOW},
    .summary = "decide comparisons and drop masks, min, max and remainders by integer bounds",
    .never = "assume a condition, or decide anything about floats",
    .run = run,
};
