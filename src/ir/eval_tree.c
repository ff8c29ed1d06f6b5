// SPDX-License-Identifier: MIT
#include "ir/eval_tree.h"

#include "ir/eval.h"

bool eval_tree_value(eval_tree *t, ref r, uint64_t *out) {
  if (ref_is_const(r)) {
    *out = t->p->consts[ref_index(r)].bits;
    return true;
  }
  if (t->leaf(t->context, r, out)) return true;
  const inst *in = &t->p->code[r];
  if (!eval_can((vyre_op)in->op) || !t->budget) return false;
  t->budget--;
  uint64_t args[3] = {0};
  for (int k = 0; k < op_table[in->op].operand_count; k++)
    if (!eval_tree_value(t, in->arg[k], &args[k])) return false;
  ref first = in->op == VYRE_OP_SELECT ? in->arg[1] : in->arg[0];
  *out = eval_op((vyre_op)in->op, (vyre_type)in->type, ref_type(t->p, first), args);
  return true;
}
