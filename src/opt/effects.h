// SPDX-License-Identifier: MIT
//
// What a stretch of code does to memory and control, asked by the passes that move or copy code.
// Pure functions of a frozen program: any thread.
#ifndef VYRE_OPT_EFFECTS_H
#define VYRE_OPT_EFFECTS_H

#include "ir/program.h"

static inline uint32_t effects_block_end(const vyre_program *p, uint32_t opening) {
  return inst_end(&p->code[opening]);
}

static inline bool effects_is_opening(unsigned op) {
  return op == VYRE_OP_IF || op == VYRE_OP_FOR || op == VYRE_OP_WHILE;
}

// Memory operand of a load, store or atomic; false for everything else.
static inline bool effects_memory(const inst *in, uint32_t *mem) {
  if (op_table[in->op].operands[0] != 'm') return false;
  *mem = in->arg[0];
  return true;
}

static inline bool effects_writes(const inst *in) {
  return in->op == VYRE_OP_STORE || op_is_atomic(in->op);
}

bool effects_has(const vyre_program *p, range part, vyre_op op);
bool effects_writes_memory(const vyre_program *p, range part, uint32_t mem);
bool effects_sets_variable(const vyre_program *p, range part, uint32_t var);
// A break or continue of the loop `opening` itself, not of one inside of it.
bool effects_has_jump_of(const vyre_program *p, uint32_t opening);

#endif
