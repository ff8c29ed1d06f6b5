// SPDX-License-Identifier: MIT
//
// Checks that cannot fail: `global_id.x < n` where n is the extent of the grid along x, and its
// other spellings. Kernels are full of them, because elsewhere a grid is rounded up to whole
// workgroups; here a region runs exactly its grid.
#include "opt/passes.h"

#include "analysis/bounds.h"
#include "opt/rewrite.h"

// id < extent, extent > id: true. id >= extent, extent <= id: false.
static bool is_decided(const rewriter *rw, const inst *in, bool *answer) {
  const vyre_program *p = rw->from;
  bool is_reversed = in->op == VYRE_OP_GT || in->op == VYRE_OP_LE;
  ref id = in->arg[is_reversed ? 1 : 0], extent = in->arg[is_reversed ? 0 : 1];
  int axis = bounds_global_axis(p, id);
  if (axis < 0) return false;
  *answer = in->op == VYRE_OP_LT || in->op == VYRE_OP_GT;
  // The extent may have been converted like the id; it is below 2^31 when it is the grid's.
  while (!ref_is_const(extent) && p->code[extent].op == VYRE_OP_CONVERT &&
         type_is_int(p->code[extent].type) && type_bits(p->code[extent].type) >= 32 &&
         type_is_int(ref_type(p, p->code[extent].arg[0])) &&
         type_bits(ref_type(p, p->code[extent].arg[0])) >= 32 &&
         !bounds_is_extent(p, rw->region, extent, (uint32_t)axis))
    extent = p->code[extent].arg[0];
  return bounds_is_extent(p, rw->region, extent, (uint32_t)axis);
}

static void visit(rewriter *rw, uint32_t index) {
  const inst *in = &rw->from->code[index];
  bool answer;
  bool is_order = op_table[in->op].rule == RULE_ORDER;
  bool is_known = is_order && is_decided(rw, in, &answer);
  rewrite_choose(rw, index, is_known ? vyre_build_bool(rw->to, answer) : 0);
}

static bool body(rewriter *rw) {
  return rewrite_each(rw, visit);
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  return rewrite_program(r, body, NULL, out, error);
}

const pass pass_bounds_check_eliminate = {
    .info = {.name = "bounds_check_eliminate",
             .invalidates = (const char *const[]){"const_fold", "algebraic_simplify", "if_simplify",
                                                  "dce", NULL},
             .family = PASS_FAMILY_MEMORY},
    .summary = "decide checks of ids against the grid's own extent",
    .never = "decide a check against anything but the extent of the same axis",
    .run = run,
};
