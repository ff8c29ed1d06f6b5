// SPDX-License-Identifier: MIT
#include "backend/traits.h"

#include "ir/eval.h"
#include "ir/limits.h"

// Loops of constant length that run this often at most are short enough to wait for.
enum { SHORT_TRIPS = 1 << 16 };

static uint64_t add(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t multiply(uint64_t a, uint64_t b) {
  return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t traits_trips(const vyre_program *p, const region *r) {
  uint64_t all = 0, trips[LIMIT_DEPTH + 1] = {1}; // of what is open, with all around it
  uint32_t depth = 0;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    if (in->op == VYRE_OP_WHILE) return UINT64_MAX;
    if (in->op == VYRE_OP_END) depth--;
    if (in->op != VYRE_OP_IF && in->op != VYRE_OP_FOR) continue;
    uint64_t count = 1;
    if (in->op == VYRE_OP_FOR) {
      if (!ref_is_const(in->arg[0]) || !ref_is_const(in->arg[1])) return UINT64_MAX;
      count = eval_trip_count((vyre_type)in->type, p->consts[ref_index(in->arg[0])].bits,
                              p->consts[ref_index(in->arg[1])].bits,
                              p->consts[ref_index(in->arg[2])].bits);
      all = add(all, multiply(trips[depth], count));
    }
    trips[depth + 1] = multiply(trips[depth], count);
    depth++;
  }
  return all;
}

bool traits_is_long(const vyre_program *p, const region *r) {
  return traits_trips(p, r) > SHORT_TRIPS;
}

bool traits_has_barrier_in_loop(const vyre_program *p, const region *r) {
  uint32_t end = 0; // of the outermost loop that is open
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    if (i >= end && (in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE)) end = inst_end(in);
    if (i < end && in->op == VYRE_OP_BARRIER) return true;
  }
  return false;
}
