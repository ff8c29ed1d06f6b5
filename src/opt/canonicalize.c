// SPDX-License-Identifier: MIT
//
// One spelling for what can be written in several ways, so that other passes look for one only:
// copies are seen through, constants stand right, `x - c` of integers is `x + (-c)`, a negated
// comparison is the opposite one.
#include "opt/passes.h"

#include "opt/rewrite.h"

static vyre_op mirrored(unsigned op) {
  switch (op) {
  case VYRE_OP_LT: return VYRE_OP_GT;
  case VYRE_OP_LE: return VYRE_OP_GE;
  case VYRE_OP_GT: return VYRE_OP_LT;
  case VYRE_OP_GE: return VYRE_OP_LE;
  default: return op_is((vyre_op)op, OPF_COMM) ? (vyre_op)op : VYRE_OP_NONE; // its row says
  }
}

// !(a < b) is a >= b for integers; with NaN it is not, so floats keep their `not`. Equality has no
// such gap.
static vyre_op opposite(unsigned op, vyre_type operand) {
  bool is_total = !type_is_float(operand);
  switch (op) {
  case VYRE_OP_EQ: return VYRE_OP_NE;
  case VYRE_OP_NE: return VYRE_OP_EQ;
  case VYRE_OP_LT: return is_total ? VYRE_OP_GE : VYRE_OP_NONE;
  case VYRE_OP_LE: return is_total ? VYRE_OP_GT : VYRE_OP_NONE;
  case VYRE_OP_GT: return is_total ? VYRE_OP_LE : VYRE_OP_NONE;
  case VYRE_OP_GE: return is_total ? VYRE_OP_LT : VYRE_OP_NONE;
  default: return VYRE_OP_NONE; // no rule: it stays
  }
}

static ref rewrite_binary(rewriter *rw, const inst *in) {
  ref x = in->arg[0], y = in->arg[1];
  uint64_t bits;
  if (ref_is_const(x) && !ref_is_const(y) && mirrored(in->op))
    return vyre_build_binary(rw->to, mirrored(in->op), y, x);
  if (in->op == VYRE_OP_SUB && type_is_int(in->type) && !ref_is_const(x) &&
      rewrite_const(rw, y, &bits))
    return vyre_build_binary(rw->to, VYRE_OP_ADD, x,
                             vyre_build_const(rw->to, (vyre_type)in->type, 0 - bits));
  return 0;
}

static ref rewrite_not(rewriter *rw, const inst *in) {
  const inst *made = in->type == VYRE_BOOL ? rewrite_inst(rw, in->arg[0]) : NULL;
  if (!made || op_table[made->op].operand_count != 2) return 0;
  ref x = made->arg[0], y = made->arg[1];
  vyre_op op = opposite(made->op, vyre_build_type_of(rw->to, x));
  return op ? vyre_build_binary(rw->to, op, x, y) : 0;
}

static void visit(rewriter *rw, uint32_t index) {
  inst in = rewrite_mapped(rw, index);
  ref better = 0;
  if (in.op == VYRE_OP_COPY)
    better = in.arg[0];
  else if (in.op == VYRE_OP_NOT)
    better = rewrite_not(rw, &in);
  else if (op_is((vyre_op)in.op, OPF_PURE) && op_table[in.op].operand_count == 2)
    better = rewrite_binary(rw, &in);
  rewrite_choose(rw, index, better);
}

static bool body(rewriter *rw) {
  return rewrite_each(rw, visit);
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_canonicalize = {
    .info = {.name = "canonicalize",
             .invalidates = (const char *const[]){"const_fold", "algebraic_simplify", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "one spelling for each expression: copies gone, constants right",
    .never = "turn a negated float comparison around (NaN), or swap the operands of min and max",
    .run = run,
};
