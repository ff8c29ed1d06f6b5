// SPDX-License-Identifier: MIT
#include "backend/traits.h"

#include "ir/eval.h"
#include "ir/limits.h"

// Loops of constant length that run this often at most are short enough to wait for.
enum { SHORT_TRIPS = 1 << 16 };

bool traits_is_long(const vyre_program *p, const region *r) {
  uint64_t trips = 1, open[LIMIT_DEPTH];
  uint32_t depth = 0;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    if (in->op == VYRE_OP_WHILE) return true;
    if (in->op == VYRE_OP_IF) open[depth++] = 1;
    if (in->op == VYRE_OP_END) trips /= open[--depth];
    if (in->op != VYRE_OP_FOR) continue;
    if (!ref_is_const(in->arg[0]) || !ref_is_const(in->arg[1])) return true;
    uint64_t count = eval_trip_count((vyre_type)in->type, p->consts[ref_index(in->arg[0])].bits,
                                     p->consts[ref_index(in->arg[1])].bits,
                                     p->consts[ref_index(in->arg[2])].bits);
    if (count > SHORT_TRIPS || trips * count > SHORT_TRIPS) return true;
    open[depth++] = count ? count : 1;
    trips *= count ? count : 1;
  }
  return false;
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
