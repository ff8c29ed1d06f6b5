// SPDX-License-Identifier: MIT
//
// A loop whose whole body stands under a condition on its counter runs only the iterations where
// the condition holds: `for k in lo..hi { if k < m { ... } }` becomes `for k in lo..min(hi, m) {
// ... }`, and `k >= m` raises the lower bound when the step is 1.
#include "opt/passes.h"

#include "opt/effects.h"
#include "opt/rewrite.h"

typedef struct guard {
  uint32_t branch, branch_end; // the if and its end
  vyre_op op;                  // LT or GE, with the counter on the left
  ref bound;                   // old, made before the loop
} guard;

// The comparison with the counter on the left; NONE when it is another one.
static vyre_op counter_left(const inst *test, uint32_t loop, ref *bound) {
  static const struct {
    uint8_t op, mirrored;
  } mirrors[] = {{VYRE_OP_LT, VYRE_OP_GT},
                 {VYRE_OP_GT, VYRE_OP_LT},
                 {VYRE_OP_LE, VYRE_OP_GE},
                 {VYRE_OP_GE, VYRE_OP_LE}};
  for (size_t i = 0; i < 4; i++) {
    if (test->op != mirrors[i].op) continue;
    bool is_left = test->arg[0] == loop, is_right = test->arg[1] == loop;
    if (is_left == is_right) return VYRE_OP_NONE;
    *bound = test->arg[is_left ? 1 : 0];
    return (vyre_op)(is_left ? mirrors[i].op : mirrors[i].mirrored);
  }
  return VYRE_OP_NONE;
}

// Pure operations, one if without else, nothing behind it.
static bool find_guard(const vyre_program *p, uint32_t loop, guard *g) {
  *g = (guard){0};
  uint32_t end = p->code[loop].arg[3], i = loop + 1;
  while (i < end && op_is((vyre_op)p->code[i].op, OPF_PURE)) i++;
  const inst *branch = &p->code[i];
  if (branch->op != VYRE_OP_IF || branch->arg[1] || branch->arg[2] + 1 != end) return false;
  if (ref_is_const(branch->arg[0])) return false;
  g->branch = i;
  g->branch_end = branch->arg[2];
  g->op = counter_left(&p->code[branch->arg[0]], loop, &g->bound);
  bool is_outside = ref_is_const(g->bound) || g->bound < loop;
  bool is_unit = p->consts[ref_index(p->code[loop].arg[2])].bits == 1;
  return (g->op == VYRE_OP_LT || (g->op == VYRE_OP_GE && is_unit)) && is_outside;
}

static void tighten(rewriter *rw, uint32_t loop, const guard *g) {
  inst in = rewrite_mapped(rw, loop);
  ref bound = rewrite_ref(rw, g->bound);
  if (g->op == VYRE_OP_LT)
    in.arg[1] = vyre_build_binary(rw->to, VYRE_OP_MIN, in.arg[1], bound);
  else
    in.arg[0] = vyre_build_binary(rw->to, VYRE_OP_MAX, in.arg[0], bound);
  rw->map[loop] = builder_emit(rw->to, &in);
  const char *name = rw->from->names ? rw->from->names[loop] : NULL;
  if (name) vyre_build_name(rw->to, rw->map[loop], name);
  rw->changed = true;
}

static bool body(rewriter *rw) {
  size_t count = rw->region->body.end - rw->region->body.first;
  bool *dropped = arena_alloc_array(rw->scratch, count, sizeof *dropped);
  if (!dropped) return false;
  for (uint32_t i = rw->region->body.first; i < rw->region->body.end; i++) {
    guard g;
    if (dropped[i - rw->region->body.first]) continue;
    if (rw->from->code[i].op == VYRE_OP_FOR && find_guard(rw->from, i, &g)) {
      dropped[g.branch - rw->region->body.first] = true;
      dropped[g.branch_end - rw->region->body.first] = true;
      tighten(rw, i, &g);
    } else {
      rewrite_keep(rw, i);
    }
  }
  return true;
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_loop_bounds_tighten = {
    .info = {.name = "loop_bounds_tighten",
             .requires = (const char *const[]){"canonicalize", NULL},
             .invalidates = (const char *const[]){"const_fold", "dce", "loop_unroll",
                                                  "loop_bounds_tighten", NULL},
             .family = PASS_FAMILY_LOOP},
    .summary = "put a condition on the counter into the loop's bounds",
    .never = "touch a loop with an else, or with code behind the condition",
    .run = run,
};
