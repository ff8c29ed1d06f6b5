// SPDX-License-Identifier: MIT
#include "opt/relax.h"

#include "ir/eval.h"
#include "opt/rewrite.h"

enum { CONTRACTS_FROM = 1, RECIPROCALS_FROM = 2 };

typedef struct joining {
  uint32_t *uses;  // per operation of the body
  uint32_t *block; // likewise: a number for each stretch between operations that open or close one
  uint32_t *joins; // of a product: the sum that takes it; of a sum: the product; 0: none
} joining;

static bool is_structure(unsigned op) {
  return op == VYRE_OP_IF || op == VYRE_OP_ELSE || op == VYRE_OP_FOR || op == VYRE_OP_WHILE ||
         op == VYRE_OP_DO || op == VYRE_OP_END;
}

static void count_uses(const rewriter *rw, joining *out) {
  uint32_t first = rw->region->body.first, block = 0;
  for (uint32_t i = first; i < rw->region->body.end; i++) {
    const inst *in = &rw->from->code[i];
    const char *operands = op_table[in->op].operands;
    block += is_structure(in->op);
    out->block[i - first] = block;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v' && !ref_is_const(in->arg[k]) && in->arg[k] >= first)
        out->uses[in->arg[k] - first]++;
  }
}

static bool can_join(const rewriter *rw, const joining *p, uint32_t sum, ref product) {
  uint32_t first = rw->region->body.first;
  return !ref_is_const(product) && product >= first && rw->from->code[product].op == VYRE_OP_MUL &&
         p->uses[product - first] == 1 && p->block[product - first] == p->block[sum - first];
}

// Of two products the first one.
static void join_products(const rewriter *rw, joining *p) {
  uint32_t first = rw->region->body.first;
  for (uint32_t i = first; i < rw->region->body.end; i++) {
    const inst *in = &rw->from->code[i];
    bool is_sum = in->op == VYRE_OP_ADD || in->op == VYRE_OP_SUB;
    if (!is_sum || !type_is_float(in->type)) continue;
    for (int k = 0; k < 2 && !p->joins[i - first]; k++) {
      if (!can_join(rw, p, i, in->arg[k])) continue;
      p->joins[i - first] = in->arg[k];
      p->joins[in->arg[k] - first] = i;
    }
  }
}

// x * y + z, x * y - z, z - x * y
static ref contract(rewriter *rw, uint32_t sum, uint32_t product) {
  const inst *in = &rw->from->code[sum];
  inst factors = rewrite_mapped(rw, product);
  bool is_first = in->arg[0] == product, is_less = in->op == VYRE_OP_SUB;
  ref x = factors.arg[0], z = rewrite_ref(rw, in->arg[is_first]);
  if (is_less && is_first) z = vyre_build_unary(rw->to, VYRE_OP_NEG, z);
  if (is_less && !is_first) x = vyre_build_unary(rw->to, VYRE_OP_NEG, x);
  return vyre_build_fma(rw->to, x, factors.arg[1], z);
}

static bool is_normal(vyre_type t, uint64_t bits) {
  uint64_t exponent = type_exponent(t, bits);
  return exponent != 0 && exponent != type_exponents(t);
}

static ref multiply(rewriter *rw, uint32_t index) {
  inst in = rewrite_mapped(rw, index);
  vyre_type t = (vyre_type)in.type;
  uint64_t divisor, one = type_one_bits(t);
  if (!rewrite_const(rw, in.arg[1], &divisor) || !is_normal(t, divisor)) return 0;
  uint64_t reciprocal = eval_op(VYRE_OP_DIV, t, t, (uint64_t[3]){one, divisor});
  if (!is_normal(t, reciprocal)) return 0;
  return vyre_build_binary(rw->to, VYRE_OP_MUL, in.arg[0], vyre_build_const(rw->to, t, reciprocal));
}

static void visit(rewriter *rw, uint32_t index) {
  const joining *p = rw->context;
  const inst *in = &rw->from->code[index];
  uint32_t other = p->joins[index - rw->region->body.first];
  ref better = 0;
  if (other && in->op == VYRE_OP_MUL) {
    rewrite_drop(rw, index);
    return;
  }
  if (other) better = contract(rw, index, other);
  if (in->op == VYRE_OP_DIV && type_is_float(in->type) && rw->from->fast_ulp >= RECIPROCALS_FROM)
    better = multiply(rw, index);
  if (better)
    rewrite_replace(rw, index, better);
  else
    rewrite_keep(rw, index);
}

static bool body(rewriter *rw) {
  uint32_t count = rw->region->body.end - rw->region->body.first + 1;
  joining p = {.uses = arena_alloc_array(rw->scratch, count, sizeof *p.uses),
               .block = arena_alloc_array(rw->scratch, count, sizeof *p.block),
               .joins = arena_alloc_array(rw->scratch, count, sizeof *p.joins)};
  if (!p.uses || !p.block || !p.joins) return false;
  count_uses(rw, &p);
  if (rw->from->fast_ulp >= CONTRACTS_FROM) join_products(rw, &p);
  rw->context = &p;
  vyre_build_fast(rw->to, 0);
  rw->changed = true;
  return rewrite_each(rw, visit);
}

vyre_status relax_program(vyre_program *program, vyre_program **out, vyre_error *error) {
  if (program->fast_ulp) return rewrite_whole(program, body, NULL, out, error);
  *out = vyre_program_retain(program);
  return VYRE_OK;
}
