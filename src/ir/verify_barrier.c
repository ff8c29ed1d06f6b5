// SPDX-License-Identifier: MIT
//
// Each condition is evaluated for every invocation of one workgroup, which is at most 1,024 small
// evaluations. A condition that mentions anything but local ids, sizes and constants is unknown.
#include "ir/verify_barrier.h"

#include "ir/eval.h"
#include "ir/limits.h"

// A condition of more operations than this is unknown: nobody writes one over local ids alone.
enum { BUDGET = 64 };

typedef struct evaluation {
  const vyre_program *p;
  const region *region;
  uint32_t local[3];
  int budget;
} evaluation;

static bool evaluate(evaluation *e, ref r, uint64_t *out) {
  if (ref_is_const(r)) {
    *out = e->p->consts[ref_index(r)].bits;
    return true;
  }
  const inst *in = &e->p->code[r];
  if (in->op == VYRE_OP_LOCAL_ID || in->op == VYRE_OP_LOCAL_SIZE) {
    *out = in->op == VYRE_OP_LOCAL_ID ? e->local[in->arg[0]] : e->region->workgroup[in->arg[0]];
    return true;
  }
  if (!eval_can((vyre_op)in->op) || e->budget-- <= 0) return false;
  uint64_t args[3] = {0};
  for (int k = 0; k < op_table[in->op].operand_count; k++)
    if (!evaluate(e, in->arg[k], &args[k])) return false;
  ref first = in->op == VYRE_OP_SELECT ? in->arg[1] : in->arg[0];
  *out = eval_op((vyre_op)in->op, (vyre_type)in->type, ref_type(e->p, first), args);
  return true;
}

static bool is_divergent(const vyre_program *p, const region *r, ref condition) {
  evaluation e = {.p = p, .region = r};
  bool seen[2] = {false, false};
  for (e.local[2] = 0; e.local[2] < r->workgroup[2]; e.local[2]++)
    for (e.local[1] = 0; e.local[1] < r->workgroup[1]; e.local[1]++)
      for (e.local[0] = 0; e.local[0] < r->workgroup[0]; e.local[0]++) {
        uint64_t value;
        e.budget = BUDGET;
        if (!evaluate(&e, condition, &value)) return false;
        seen[value != 0] = true;
        if (seen[0] && seen[1]) return true;
      }
  return false;
}

uint32_t verify_find_divergent_barrier(const vyre_program *p, const region *r) {
  bool open[LIMIT_DEPTH]; // per open block: is its condition divergent?
  uint32_t depth = 0, divergent = 0;
  bool some_returned = false;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    switch (in->op) {
    case VYRE_OP_IF:
      open[depth] = is_divergent(p, r, in->arg[0]);
      divergent += open[depth++];
      break;
    case VYRE_OP_FOR:
    case VYRE_OP_WHILE: open[depth++] = false; break;
    case VYRE_OP_END: divergent -= open[--depth]; break;
    case VYRE_OP_RETURN: some_returned |= divergent > 0; break;
    case VYRE_OP_BARRIER:
      if (divergent || some_returned) return i;
      break;
    default: break;
    }
  }
  return 0;
}
