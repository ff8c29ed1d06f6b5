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

// Somebody looks at what an atomic operation found.
static bool uses_atomic(const vyre_program *p, const inst *in) {
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v' && is_atomic(p, in->arg[k])) return true;
  return false;
}

// Where atomics of one kind are: at one element, or anywhere in an object.
typedef struct place {
  uint32_t mem;
  ref index; // 0: not a constant
  unsigned kind;
} place;

// More than people write by hand; with more it is not looked at.
enum { MOST_PLACES = 64 };

typedef struct places {
  place at[MOST_PLACES];
  uint32_t count;
} places;

static bool can_meet(const vyre_program *p, const place *x, const place *y) {
  if (x->mem != y->mem) return false;
  if (!x->index || !y->index) return true;
  return p->consts[ref_index(x->index)].bits == p->consts[ref_index(y->index)].bits;
}

// Sums commute with differences, and nothing else with another kind: what is one more first and
// then has a bit set is not what comes of the other order.
static bool meets_another_kind(const vyre_program *p, places *seen, const inst *in) {
  place now = {.mem = in->arg[0], .index = ref_is_const(in->arg[1]) ? in->arg[1] : 0};
  now.kind = in->op == VYRE_OP_ATOMIC_SUB ? VYRE_OP_ATOMIC_ADD : in->op;
  for (uint32_t i = 0; i < seen->count; i++)
    if (can_meet(p, &seen->at[i], &now) && seen->at[i].kind != now.kind) return true;
  for (uint32_t i = 0; i < seen->count; i++) {
    const place *old = &seen->at[i];
    if (old->mem == now.mem && old->index == now.index && old->kind == now.kind) return false;
  }
  if (seen->count == MOST_PLACES) return true;
  seen->at[seen->count++] = now;
  return false;
}

bool order_matters(const vyre_program *p) {
  for (uint32_t n = 0; n < p->region_count; n++) {
    places seen = {.count = 0}; // a region sees all that the last one left
    for (uint32_t i = p->regions[n].body.first; i < p->regions[n].body.end; i++) {
      const inst *in = &p->code[i];
      if (is_exchange(in->op) || is_rounded(in) || uses_atomic(p, in)) return true;
      if (op_is_atomic(in->op) && meets_another_kind(p, &seen, in)) return true;
    }
  }
  return false;
}
