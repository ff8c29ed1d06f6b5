// SPDX-License-Identifier: MIT
#include "analysis/order.h"

#include "ir/limits.h"

#include <string.h>

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

// Per object: the kind of its atomics in this region, whose operations commute; 0: none yet.
typedef struct kinds {
  uint8_t buffers[LIMIT_BUFFERS], shared[LIMIT_SHARED_ARRAYS];
} kinds;

// Sums commute with differences, and nothing else with another kind: (x + 1) | 2 is not (x | 2)
// + 1.
static bool is_other_kind(kinds *seen, const inst *in) {
  uint32_t at = mem_index(in->arg[0]);
  uint8_t *slot = mem_space(in->arg[0]) == MEM_SHARED ? &seen->shared[at] : &seen->buffers[at];
  uint8_t kind = in->op == VYRE_OP_ATOMIC_SUB ? VYRE_OP_ATOMIC_ADD : (uint8_t)in->op;
  bool is_other = *slot && *slot != kind;
  *slot = kind;
  return is_other;
}

bool order_matters(const vyre_program *p) {
  kinds seen = {{0}, {0}};
  for (uint32_t n = 0; n < p->region_count; n++) {
    memset(seen.buffers, 0, sizeof seen.buffers); // a region sees all that the last one left
    for (uint32_t i = p->regions[n].body.first; i < p->regions[n].body.end; i++) {
      const inst *in = &p->code[i];
      if (is_exchange(in->op) || is_rounded(in) || uses_atomic(p, in)) return true;
      if (op_is_atomic(in->op) && is_other_kind(&seen, in)) return true;
    }
  }
  return false;
}
