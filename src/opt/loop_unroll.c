// SPDX-License-Identifier: MIT
//
// A counted loop with few constant iterations becomes its body, repeated with the counter as a
// constant. Loops that are left by break or continue stay. The size limits keep what is gained by
// constants from being lost to code size.
#include "opt/passes.h"

#include "ir/eval.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

enum { MAX_TRIPS = 16, MAX_OPERATIONS = 128 };

typedef struct trips {
  uint64_t count, first, step;
} trips;

static bool can_unroll(const rewriter *rw, uint32_t index, trips *t) {
  const vyre_program *p = rw->from;
  const inst *in = &p->code[index];
  uint64_t bits[3];
  for (int k = 0; k < 3; k++) {
    if (!ref_is_const(in->arg[k])) return false;
    bits[k] = p->consts[ref_index(in->arg[k])].bits;
  }
  *t = (trips){eval_trip_count((vyre_type)in->type, bits[0], bits[1], bits[2]), bits[0], bits[2]};
  uint64_t size = in->arg[3] - index - 1;
  return t->count <= MAX_TRIPS && t->count * size <= MAX_OPERATIONS &&
         !effects_has_jump_of(p, index);
}

static void unroll(rewriter *rw, uint32_t index, trips t) {
  const inst *in = &rw->from->code[index];
  for (uint64_t k = 0; k < t.count; k++) {
    rw->map[index] = vyre_build_const(rw->to, (vyre_type)in->type, t.first + k * t.step);
    for (uint32_t i = index + 1; i < in->arg[3]; i++) rewrite_keep(rw, i);
  }
  rw->changed = true;
}

static bool body(rewriter *rw) {
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) {
    trips t;
    if (rw->from->code[i].op == VYRE_OP_FOR && can_unroll(rw, i, &t)) {
      unroll(rw, i, t);
      i = rw->from->code[i].arg[3];
    } else {
      rewrite_keep(rw, i);
    }
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_loop_unroll = {
    .info = {.name = "loop_unroll",
             .requires = (const char *const[]){"const_fold", NULL},
             .invalidates =
                 (const char *const[]){"canonicalize", "const_fold", "algebraic_simplify",
                                       "promote_variables", "cse", "if_simplify", "dce",
                                       "load_forward", "loop_unroll", NULL},
             .family = PASS_FAMILY_LOOP},
    .summary = "repeat the body of loops with few constant iterations",
    .never = "repeat more than 16 times, make more than 128 operations, or copy a break",
    .run = run,
};
