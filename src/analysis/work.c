// SPDX-License-Identifier: MIT
#include "analysis/work.h"

#include <stdlib.h>

// A set of inputs: parameters in the lower half, buffers in the upper one. Those past the end are
// left out.
typedef uint64_t inputs;
enum { HALF = 32 };

static inputs input_bit(uint32_t index, bool is_length) {
  return index < HALF ? (inputs)1 << (index + (is_length ? HALF : 0)) : 0;
}

static inputs of_operand(const vyre_program *p, const inputs *known, const inst *in, int slot) {
  uint32_t r = in->arg[slot];
  if (op_table[in->op].operands[slot] == 'x') return known[r];
  return op_table[in->op].operands[slot] == 'v' && !ref_is_const(r) && r < p->code_count ? known[r]
                                                                                         : 0;
}

// What an operation's value, or the variable it declares, is computed from. What was loaded from
// memory is data, and not followed.
static inputs of_operation(const vyre_program *p, const inputs *known, uint32_t i) {
  const inst *in = &p->code[i];
  if (in->op == VYRE_OP_PARAM) return input_bit(in->arg[0], false);
  if (in->op == VYRE_OP_LEN) return input_bit(in->arg[0], true);
  inputs set = known[i];
  if (op_is(in->op, OPF_READS) && in->op != VYRE_OP_GET) return set;
  for (int k = 0; k < op_table[in->op].operand_count; k++) set |= of_operand(p, known, in, k);
  return set;
}

// Until nothing changes: a variable may be set behind the place where it is read.
static void follow(const vyre_program *p, inputs *known) {
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    for (uint32_t i = 1; i < p->code_count; i++) {
      const inst *in = &p->code[i];
      inputs set = of_operation(p, known, i);
      has_changed |= set != known[i];
      known[i] = set;
      if (in->op != VYRE_OP_SET) continue;
      inputs variable = known[in->arg[0]] | of_operand(p, known, in, 1);
      has_changed |= variable != known[in->arg[0]];
      known[in->arg[0]] = variable;
    }
  }
}

static inputs of_loops(const vyre_program *p, const inputs *known) {
  inputs set = 0;
  for (uint32_t i = 1; i < p->code_count; i++) {
    const inst *in = &p->code[i];
    if (in->op == VYRE_OP_FOR) set |= of_operand(p, known, in, 0) | of_operand(p, known, in, 1);
    if (in->op == VYRE_OP_DO) set |= of_operand(p, known, in, 0);
  }
  return set;
}

static inputs of_grids(const vyre_program *p, const inputs *known) {
  inputs set = 0;
  for (uint32_t r = 0; r < p->region_count; r++)
    for (int k = 0; k < 3; k++)
      if (!ref_is_const(p->regions[r].grid[k])) set |= known[p->regions[r].grid[k]];
  return set;
}

static bool is_free(const buffer *b) {
  return !b->is_transient && !b->length;
}

static uint32_t take(const vyre_program *p, inputs set, work_input out[WORK_INPUTS]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < p->param_count && count < WORK_INPUTS; i++)
    if ((set & input_bit(i, false)) && !type_is_float(p->params[i].type))
      out[count++] = (work_input){false, i};
  for (uint32_t i = 0; i < p->buffer_count && count < WORK_INPUTS; i++)
    if ((set & input_bit(i, true)) && is_free(&p->buffers[i])) out[count++] = (work_input){true, i};
  return count;
}

uint32_t work_inputs(const vyre_program *p, work_input out[WORK_INPUTS]) {
  uint32_t free_lengths = 0;
  inputs *known = calloc(p->code_count + 1u, sizeof *known);
  if (!known) return 0;
  for (uint32_t i = 0; i < p->buffer_count; i++) free_lengths += is_free(&p->buffers[i]);
  follow(p, known);
  inputs set = of_loops(p, known), grids = of_grids(p, known);
  set |= grids;
  if (free_lengths < 2) set &= ((inputs)1 << HALF) - 1; // one length alone is what the bytes say
  uint32_t count = take(p, set, out);
  free(known);
  return count;
}
