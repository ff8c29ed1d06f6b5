// SPDX-License-Identifier: MIT
#include "analysis/order.h"

static bool is_exchange(unsigned op) {
  return op == VYRE_OP_ATOMIC_EXCHANGE || op == VYRE_OP_ATOMIC_CAS;
}

// Sums of floats are rounded on the way.
static bool is_rounded(const inst *in) {
  return (in->op == VYRE_OP_ATOMIC_ADD || in->op == VYRE_OP_ATOMIC_SUB) && type_is_float(in->type);
}

static bool is_atomic(const vyre_program *p, ref r) {
  return !ref_is_const(r) && op_is_atomic(p->code[r].op);
}

bool order_matters(const vyre_program *p) {
  for (uint32_t i = 1; i < p->code_count; i++) {
    const inst *in = &p->code[i];
    const char *operands = op_table[in->op].operands;
    if (is_exchange(in->op) || is_rounded(in)) return true;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v' && is_atomic(p, in->arg[k])) return true;
  }
  return false;
}
