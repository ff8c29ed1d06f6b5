// SPDX-License-Identifier: MIT
#include "opt/effects.h"

bool effects_has(const vyre_program *p, range part, vyre_op op) {
  for (uint32_t i = part.first; i < part.end; i++)
    if (p->code[i].op == op) return true;
  return false;
}

bool effects_writes_memory(const vyre_program *p, range part, uint32_t mem) {
  for (uint32_t i = part.first; i < part.end; i++) {
    uint32_t other;
    if (effects_writes(&p->code[i]) && effects_memory(&p->code[i], &other) && other == mem)
      return true;
  }
  return false;
}

bool effects_sets_variable(const vyre_program *p, range part, uint32_t var) {
  for (uint32_t i = part.first; i < part.end; i++)
    if (p->code[i].op == VYRE_OP_SET && p->code[i].arg[0] == var) return true;
  return false;
}

bool effects_has_jump_of(const vyre_program *p, uint32_t opening) {
  uint32_t end = effects_block_end(p, opening);
  for (uint32_t i = opening; i < end; i++) {
    unsigned op = p->code[i].op;
    if ((op == VYRE_OP_BREAK || op == VYRE_OP_CONTINUE) && p->code[i].arg[1] == opening)
      return true;
  }
  return false;
}
