// SPDX-License-Identifier: MIT
//
// A device that starts whole workgroups starts some that stick out of the grid of an elastic
// region: invocations outside of it end at once.
#include "lower/recipe.h"

static bool is_needed(const lower_target *t) {
  return t->pads_grid;
}

static void enter(lowering *l) {
  if (!l->r->is_elastic) return;
  ref is_outside = 0;
  for (uint32_t k = 0; k < l->r->rank; k++) {
    ref id = vyre_build_id(l->b, VYRE_OP_GLOBAL_ID, k);
    ref past = lower_bin(l, VYRE_OP_GE, id, vyre_build_id(l->b, VYRE_OP_GLOBAL_SIZE, k));
    is_outside = k ? lower_bin(l, VYRE_OP_OR, is_outside, past) : past;
  }
  lower_if(l, is_outside);
  vyre_build_return(l->b);
  lower_end(l);
}

const recipe recipe_grid_guard = {
    .name = "grid_guard",
    .doc = "invocations outside of the grid end at once",
    .is_needed = is_needed,
    .enter = enter,
};
