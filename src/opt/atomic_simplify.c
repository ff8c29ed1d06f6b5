// SPDX-License-Identifier: MIT
//
// Atomics that need not be: one whose result is not used and which changes nothing (adding 0, or 0
// bits) goes; subtracting a constant is adding its negative; two additions to the same element in a
// row, neither result used, are one of the sum. An atomic never becomes a plain access, and those of
// floats stay: adding 0 to -0 changes it, and sums round.
#include "opt/passes.h"

#include "opt/effects.h"
#include "opt/rewrite.h"

// The context is the number of uses of each operation of the body.
static bool is_used(const rewriter *rw, uint32_t i) {
  const uint32_t *uses = rw->context;
  return uses[i - rw->region->body.first] != 0;
}

static bool changes_nothing(const rewriter *rw, const inst *in) {
  uint64_t bits;
  if (!rewrite_const(rw, in->arg[2], &bits)) return false;
  uint64_t ones = type_canonical_bits((vyre_type)in->type, UINT64_MAX);
  switch (in->op) {
  case VYRE_OP_ATOMIC_ADD:
  case VYRE_OP_ATOMIC_SUB:
  case VYRE_OP_ATOMIC_OR:
  case VYRE_OP_ATOMIC_XOR: return bits == 0;
  case VYRE_OP_ATOMIC_AND: return bits == ones;
  default: return false; // no rule: it stays
  }
}

// An addition right behind this one, with nothing but pure operations between, to the same element.
static uint32_t find_partner(const rewriter *rw, uint32_t i) {
  const inst *code = rw->from->code, *in = &code[i];
  if (in->op != VYRE_OP_ATOMIC_ADD || is_used(rw, i)) return 0;
  for (uint32_t k = i + 1; k < rw->region->body.end; k++) {
    bool is_partner = code[k].op == VYRE_OP_ATOMIC_ADD && code[k].arg[0] == in->arg[0] &&
                      code[k].arg[1] == in->arg[1] && !is_used(rw, k);
    if (is_partner) return k;
    if (!op_is((vyre_op)code[k].op, OPF_PURE)) return 0;
  }
  return 0;
}

static bool visit(rewriter *rw, uint32_t *merged, uint32_t i) {
  inst in = rewrite_mapped(rw, i);
  uint32_t first = rw->region->body.first;
  uint64_t bits;
  ref earlier = merged[i - first];
  if (earlier) {
    in.arg[2] = vyre_build_binary(rw->to, VYRE_OP_ADD, earlier, in.arg[2]);
    rw->changed = true;
  }
  uint32_t partner = find_partner(rw, i);
  if (partner) {
    merged[partner - first] = in.arg[2];
    rewrite_drop(rw, i);
    return true;
  }
  if (!is_used(rw, i) && changes_nothing(rw, &in)) {
    rewrite_drop(rw, i);
    return true;
  }
  bool is_negated = in.op == VYRE_OP_ATOMIC_SUB && rewrite_const(rw, in.arg[2], &bits);
  if (is_negated) {
    in.op = VYRE_OP_ATOMIC_ADD;
    in.arg[2] = vyre_build_const(rw->to, (vyre_type)in.type, 0 - bits);
  }
  if (!is_negated && !earlier) return false;
  rewrite_replace(rw, i, builder_emit(rw->to, &in));
  return true;
}

static void count_uses(const rewriter *rw, uint32_t *uses) {
  uint32_t first = rw->region->body.first;
  for (uint32_t i = first; i < rw->region->body.end; i++) {
    const inst *in = &rw->from->code[i];
    const char *operands = op_table[in->op].operands;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v' && !ref_is_const(in->arg[k])) uses[in->arg[k] - first]++;
  }
}

static bool is_candidate(const inst *in) {
  return op_is_atomic(in->op) && !type_is_float(in->type);
}

static bool body(rewriter *rw) {
  uint32_t first = rw->region->body.first, count = rw->region->body.end - first;
  uint32_t *uses = arena_alloc_array(rw->scratch, count, sizeof *uses);
  ref *merged = arena_alloc_array(rw->scratch, count, sizeof *merged);
  if (!uses || !merged) return false;
  rw->context = uses;
  count_uses(rw, uses);
  for (uint32_t i = first; i < rw->region->body.end; i++)
    if (!is_candidate(&rw->from->code[i]) || !visit(rw, merged, i)) rewrite_keep(rw, i);
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_atomic_simplify = {
    .info = {.name = "atomic_simplify",
             .requires = (const char *const[]){"const_fold", NULL},
             .invalidates = (const char *const[]){"const_fold", "dce", "atomic_simplify", NULL},
             .family = PASS_FAMILY_SYNC},
    .summary = "remove or join atomics whose result nobody uses",
    .never = "make an atomic a plain access, or remove one whose result is used",
    .run = run,
};
