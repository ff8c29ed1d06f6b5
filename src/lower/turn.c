// SPDX-License-Identifier: MIT
//
// A machine whose lanes are neighbours along x wants memory to be in order along x: where another
// axis is (analysis/axis.h), the two change places, in the grid, the workgroup and everything that
// asks for them. The region remembers it, so that the launch can be turned too.
#include "lower/recipe.h"

#include "analysis/axis.h"

static bool is_needed(const lower_target *t) {
  return t->runs_lanes_along_x;
}

// Only what the program says: what recipes build is about the region as it is now.
static bool takes(const lowering *l, const inst *in) {
  if (!l->lanes || !l->origin) return false;
  return op_table[in->op].rule == RULE_AXIS && axis_turned(l->lanes, in->arg[0]) != in->arg[0];
}

static ref rewrite(lowering *l, const inst *in) {
  return vyre_build_id(l->b, (vyre_op)in->op, axis_turned(l->lanes, in->arg[0]));
}

const recipe recipe_turn = {
    .name = "turn",
    .doc = "x and the axis along which memory is in order change places",
    .is_needed = is_needed,
    .takes = takes,
    .rewrite = rewrite,
};
