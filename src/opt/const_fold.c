// SPDX-License-Identifier: MIT
//
// Evaluates pure operations whose operands are all constants, with the same function that the
// reference interpreter uses, so the bits cannot differ.
#include "opt/passes.h"

#include "ir/eval.h"
#include "opt/rewrite.h"

static void visit(rewriter *rw, uint32_t index) {
  const inst *old = &rw->from->code[index];
  if (!eval_can((vyre_op)old->op)) {
    rewrite_keep(rw, index);
    return;
  }
  inst in = rewrite_mapped(rw, index);
  uint64_t args[3] = {0};
  for (int k = 0; k < op_table[in.op].operand_count; k++)
    if (!rewrite_const(rw, in.arg[k], &args[k])) {
      rewrite_keep(rw, index);
      return;
    }
  vyre_type operand = vyre_build_type_of(rw->to, in.arg[in.op == VYRE_OP_SELECT ? 1 : 0]);
  uint64_t bits = eval_op((vyre_op)in.op, (vyre_type)in.type, operand, args);
  rewrite_replace(rw, index, vyre_build_const(rw->to, (vyre_type)in.type, bits));
}

static bool body(rewriter *rw) {
  return rewrite_each(rw, visit);
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_const_fold = {
    .info = {.name = "const_fold",
             .invalidates =
                 (const char *const[]){"algebraic_simplify", "canonicalize", "if_simplify", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "evaluate pure operations on constants",
    .never = "fold mathematical functions, or what depends on the launch",
    .run = run,
};
