// SPDX-License-Identifier: MIT
//
// Checks that hold for all turns of a loop. Bounds of loops are often loaded (the rows of a sparse
// matrix), so that nothing is known of them before a row of invocations. Before such a loop begins
// they are numbers: code computes by the calculus of analysis/stretch.h whether the accesses of
// all its turns are inside, with what was made before the loop in the place of what is fixed along
// a row. The loop is lowered twice, for yes and for no.
//
// Only indices that are the same for the whole vector are asked about. They are the counter's, and
// the counter counts alike for every lane, active or not.
#include "backend/cpu/codegen/access.h"
#include "backend/cpu/codegen/guard.h"
#include "backend/cpu/codegen/guard_machine.h"

enum { MOST_COPIED = 200 }; // operations

static bool is_access(const inst *in) {
  return op_table[in->op].operands[0] == 'm' && mem_space(in->arg[0]) != MEM_PRIVATE;
}

// Made in the loop, the same for all lanes, and of nothing but the counter and what was there.
static bool follows(const emitter *e, uint32_t loop, ref r, unsigned *steps) {
  if (ref_is_const(r) || r == loop) return true;
  if (r < loop) return is_uniform(e, r);
  const inst *in = &e->p->code[r];
  if (++*steps > 16) return false;
  switch (in->op) {
  case VYRE_OP_COPY:
  case VYRE_OP_CONVERT:
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL:
  case VYRE_OP_NEG:
  case VYRE_OP_SHL: break;
  default: return false; // it has no form, or another one in each turn
  }
  for (int k = 0; k < op_table[in->op].operand_count; k++)
    if (!follows(e, loop, in->arg[k], steps)) return false;
  return true;
}

// An access that is made in every turn, and that nothing has proven.
static bool is_open(const emitter *e, uint32_t loop, uint32_t i) {
  const inst *in = &e->p->code[i];
  unsigned steps = 0;
  if (!is_access(in) || ref_is_const(in->arg[1]) || !is_uniform(e, in->arg[1])) return false;
  place p = place_of(e, in->arg[0]);
  return !is_inside(e, &p, i) && follows(e, loop, in->arg[1], &steps);
}

static uint32_t find_open(const emitter *e, uint32_t loop, uint8_t *assume) {
  uint32_t count = 0, depth = 0;
  for (uint32_t i = loop + 1; i < e->p->code[loop].arg[3]; i++) {
    const inst *in = &e->p->code[i];
    if (in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) return 0;
    if (in->op == VYRE_OP_IF) depth++;
    if (in->op == VYRE_OP_END) depth--;
    if (depth || !is_open(e, loop, i)) continue;
    if (assume) assume[i - e->first] = ASSUME_INSIDE;
    count++;
  }
  return count;
}

// Values that were made before the loop and are the same for all lanes are at hand.
static void find_fixed(const emitter *e, uint32_t loop, bool *is_fixed) {
  for (uint32_t i = e->first; i < loop; i++)
    is_fixed[i - e->first] = e->p->code[i].type != VYRE_VOID && is_uniform(e, i);
}

// Accesses whose index is the counter, a number of 32 bits: it is within from..end - 1.
static llval counter_is_inside(const emitter *e, uint32_t loop, loop_ends ends, uint8_t *wanted,
                               uint8_t *proven) {
  const inst *in = &e->p->code[loop];
  llval all = NULL;
  for (uint32_t i = loop + 1; i < in->arg[3]; i++) {
    if (!wanted[i - e->first] || e->p->code[i].arg[1] != loop) continue;
    place p = place_of(e, e->p->code[i].arg[0]);
    all = bits_and(e, all, LLVMBuildICmp(e->b, LLVMIntSLE, ends.end, p.length, ""));
    wanted[i - e->first] = ASSUME_NOTHING;
    proven[i - e->first] = ASSUME_INSIDE;
  }
  if (!all || !type_is_signed(in->type)) return all;
  return bits_and(e, all, LLVMBuildICmp(e->b, LLVMIntSGE, ends.from, const_i64(e->u, 0), ""));
}

// The others, by their forms.
static llval forms_are_inside(emitter *e, guards *g, range code, uint8_t *proven) {
  if (!guards_keep_formed(g, code)) return NULL;
  llval first, end;
  guards_emit(g, code, e, const_i64(e->u, 0), const_i64(e->u, 1), &first, &end);
  for (uint32_t i = code.first; i < code.end; i++)
    if (g->assume[i - e->first]) proven[i - e->first] = ASSUME_INSIDE;
  return LLVMBuildICmp(e->b, LLVMIntSLT, first, end, "");
}

llval guards_loop(emitter *e, uint32_t loop, loop_ends ends, const uint8_t **proven) {
  const inst *in = &e->p->code[loop];
  bool is_asked = e->is_main && e->rows == 1 && !e->k->is_large && !e->proven &&
                  e->u->options->tier != VYRE_TIER_QUICK;
  if (!is_asked || in->arg[3] - loop > MOST_COPIED || !find_open(e, loop, NULL)) return NULL;
  arena *a = &e->u->arena;
  guards *g = arena_alloc(a, sizeof *g);
  uint8_t *found = arena_alloc_array(a, e->k->region->body.end - e->first + 1u, 1);
  guards_wish wish = {.rows = 1};
  if (!g || !found || !guards_prepare(e->k, wish, g)) return NULL;
  find_fixed(e, loop, g->is_fixed);
  g->is_common = g->is_fixed; // there already
  find_open(e, loop, g->assume);
  bool is_short = type_bits(in->type) <= 32;
  llval holds = is_short ? counter_is_inside(e, loop, ends, g->assume, found) : NULL;
  llval others = forms_are_inside(e, g, (range){loop + 1, in->arg[3]}, found);
  *proven = found;
  return others ? bits_and(e, holds, others) : holds;
}
