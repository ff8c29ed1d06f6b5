// SPDX-License-Identifier: MIT
//
// The index of an access that is assumed inside, in 64 bits and by the steps of its form, so that
// it is the number that was found to be inside. Sums on the way may pass 2^63: they wrap.
#include "backend/cpu/codegen/guard.h"
#include "backend/cpu/codegen/guard_machine.h"

static uint32_t at(const guards *g, uint32_t op) {
  return op - g->k->region->body.first;
}

// As an index of its own width.
static llval plain_index(const emitter *e, ref index, unsigned row) {
  return build_extend(e, ref_type(e->p, index), value_scalar(e, index, row));
}

static llval next_to(const emitter *e, llval x, unsigned lane) {
  return lane ? LLVMBuildAdd(e->b, x, const_i64(e->u, lane), "") : x;
}

static llval arithmetic_index(const guards *g, const emitter *e, ref index, unsigned row,
                              unsigned lane) {
  const inst *in = &e->p->code[index];
  llval x = guards_index(g, e, in->arg[0], row, lane);
  if (in->op == VYRE_OP_NEG) return LLVMBuildNeg(e->b, x, "");
  if (in->op == VYRE_OP_SHL) {
    value_range count = range_of(&e->k->known, in->arg[1]);
    unsigned by = (unsigned)count.lo & (type_bits(in->type) - 1);
    return LLVMBuildShl(e->b, x, const_i64(e->u, by), "");
  }
  llval y = guards_index(g, e, in->arg[1], row, lane);
  if (in->op == VYRE_OP_ADD) return LLVMBuildAdd(e->b, x, y, "");
  return in->op == VYRE_OP_SUB ? LLVMBuildSub(e->b, x, y, "") : LLVMBuildMul(e->b, x, y, "");
}

static llval converted_index(const guards *g, const emitter *e, ref index, unsigned row,
                             unsigned lane) {
  const inst *in = &e->p->code[index];
  if (type_bits(in->type) <= type_bits(ref_type(e->p, in->arg[0])))
    return guards_index(g, e, in->arg[0], row, lane);
  if (!g->is_followed[at(g, index)]) return plain_index(e, index, row);
  llval operand = guards_index(g, e, in->arg[0], row, lane);
  word shift = g->shift[at(g, index)];
  if (word_is(&g->m, shift, 0)) return operand;
  return LLVMBuildAdd(e->b, operand, word_value(&g->m, shift), "");
}

// What an earlier phase made is not at hand, and the value itself is as good.
llval guards_index(const guards *g, const emitter *e, ref index, unsigned row, unsigned lane) {
  if (ref_is_const(index)) return const_i64(e->u, (uint64_t)guards_constant(g, index));
  if (e->keep || guards_is_fixed(g, index) || g->state[at(g, index)] != HAS_FORM)
    return plain_index(e, index, row);
  const inst *in = &e->p->code[index];
  uint8_t way = g->assume[at(g, index)];
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID: return in->arg[0] == 0 ? next_to(e, e->x, lane) : e->y[row];
  case VYRE_OP_LOCAL_ID: return next_to(e, e->local_x, lane);
  case VYRE_OP_FOR:
    return e->wide[index - e->first] ? e->wide[index - e->first] : plain_index(e, index, row);
  case VYRE_OP_GET: return guards_index(g, e, e->p->code[in->arg[0]].arg[0], row, lane);
  case VYRE_OP_COPY: return guards_index(g, e, in->arg[0], row, lane);
  case VYRE_OP_CONVERT: return converted_index(g, e, index, row, lane);
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: return guards_index(g, e, in->arg[way == ASSUME_SECOND], row, lane);
  default: return arithmetic_index(g, e, index, row, lane); // it has a form
  }
}

bool guards_can_index(const guards *g, const emitter *e, ref index) {
  if (guards_is_fixed(g, index)) return true;
  const inst *in = &g->k->p->code[index];
  if (g->state[at(g, index)] != HAS_FORM) return false;
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID: return true;
  case VYRE_OP_FOR: return is_uniform(e, index); // else each invocation counts on its own
  case VYRE_OP_GET: return guards_can_index(g, e, g->k->p->code[in->arg[0]].arg[0]);
  case VYRE_OP_CONVERT:
    if (type_bits(in->type) > type_bits(ref_type(g->k->p, in->arg[0])) &&
        !g->is_followed[at(g, index)])
      return false;
    return guards_can_index(g, e, in->arg[0]);
  default: // it has a form, which is that of its operands
    for (int k = 0; k < op_table[in->op].operand_count; k++)
      if (!guards_can_index(g, e, in->arg[k])) return false;
    return true;
  }
}

// Sums wrap, as those of guards_index do.
static bool arithmetic_step(const guards *g, const emitter *e, const inst *in, uint32_t loop,
                            int64_t *step) {
  int64_t x, y;
  if (!guards_step(g, e, in->arg[0], loop, &x)) return false;
  if (in->op == VYRE_OP_NEG) {
    *step = (int64_t)(0 - (uint64_t)x);
    return true;
  }
  if (in->op == VYRE_OP_SHL) {
    unsigned by = (unsigned)range_of(&e->k->known, in->arg[1]).lo & (type_bits(in->type) - 1);
    *step = (int64_t)((uint64_t)x << by);
    return true;
  }
  if (!guards_step(g, e, in->arg[1], loop, &y)) return false;
  *step = (int64_t)(in->op == VYRE_OP_SUB ? (uint64_t)x - (uint64_t)y : (uint64_t)x + (uint64_t)y);
  if (in->op == VYRE_OP_ADD || in->op == VYRE_OP_SUB || (!x && !y)) return true;
  ref factor = in->arg[x ? 1 : 0];
  if ((x && y) || !ref_is_const(factor)) return false;
  *step = (int64_t)((uint64_t)(x ? x : y) * (uint64_t)guards_constant(g, factor));
  return true;
}

// The cases are those of guards_index.
bool guards_step(const guards *g, const emitter *e, ref index, uint32_t loop, int64_t *step) {
  *step = 0;
  if (ref_is_const(index) || guards_is_fixed(g, index)) return true;
  if (e->keep || g->state[at(g, index)] != HAS_FORM) return false;
  const inst *in = &e->p->code[index];
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID: return true;
  case VYRE_OP_FOR: *step = index == loop; return true;
  case VYRE_OP_GET: return guards_step(g, e, e->p->code[in->arg[0]].arg[0], loop, step);
  case VYRE_OP_COPY: return guards_step(g, e, in->arg[0], loop, step);
  case VYRE_OP_CONVERT:
    if (type_bits(in->type) > type_bits(ref_type(e->p, in->arg[0])) &&
        !g->is_followed[at(g, index)])
      return false;
    return guards_step(g, e, in->arg[0], loop, step);
  case VYRE_OP_MIN:
  case VYRE_OP_MAX:
    return guards_step(g, e, in->arg[g->assume[at(g, index)] == ASSUME_SECOND], loop, step);
  default: return arithmetic_step(g, e, in, loop, step); // it has a form
  }
}
