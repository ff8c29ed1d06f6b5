// SPDX-License-Identifier: MIT
//
// Many small regions become one launch, also when their grids differ: the grid is the largest of
// them, and each body runs for the ids of its own. Worth it when launching costs more than the
// lanes that idle, which is why it belongs to the megakernel profile.
#include "opt/passes.h"

#include "opt/effects.h"
#include "opt/fuse.h"

static bool is_chainable(const region *r) {
  return r->is_elastic && r->rank == 1;
}

static bool may_join(const vyre_program *p, uint32_t first, uint32_t next) {
  const region *b = &p->regions[next];
  if (!is_chainable(b)) return false;
  for (uint32_t i = first; i < next; i++) {
    const region *a = &p->regions[i];
    if (!is_chainable(a) || effects_has(p, a->body, VYRE_OP_RETURN)) return false;
    if (!fuse_is_independent(p, a, b)) return false;
  }
  return true;
}

// The extent of an old region's grid as u64, emitted where the builder stands. A negative one is an
// error of the dispatch: it must stay one, so it is not clamped.
static ref emit_extent(rewriter *rw, uint32_t region_index) {
  const region *r = &rw->from->regions[region_index];
  for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++) rewrite_keep(rw, i);
  ref extent = rewrite_ref(rw, r->grid[0]);
  return vyre_build_convert(rw->to, VYRE_U64, extent);
}

static void begin(rewriter *rw, const char *name, uint32_t first, uint32_t end) {
  vyre_build_region_begin(rw->to, name);
  ref largest = emit_extent(rw, first);
  for (uint32_t i = first + 1; i < end; i++)
    largest = vyre_build_binary(rw->to, VYRE_OP_MAX, largest, emit_extent(rw, i));
  vyre_build_grid(rw->to, 1, &largest, rw->from->regions[first].workgroup);
}

static void body(rewriter *rw, uint32_t index) {
  range code = rw->from->regions[index].body;
  ref extent = vyre_build_convert(rw->to, VYRE_U32, emit_extent(rw, index));
  ref id = vyre_build_id(rw->to, VYRE_OP_GLOBAL_ID, 0);
  vyre_build_if(rw->to, vyre_build_binary(rw->to, VYRE_OP_LT, id, extent));
  for (uint32_t i = code.first; i < code.end; i++) {
    const inst *in = &rw->from->code[i];
    if (in->op == VYRE_OP_GLOBAL_SIZE && in->arg[0] == 0)
      rewrite_replace(rw, i, extent);
    else
      rewrite_keep(rw, i);
  }
  vyre_build_end(rw->to);
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  static const fuse_plan plan = {may_join, begin, body};
  return fuse_regions(r, &plan, out, error);
}

const pass pass_region_chain = {
    .info = {.name = "region_chain",
             .requires = (const char *const[]){"region_fusion", NULL},
             .invalidates = (const char *const[]){"cse", "canonicalize", "const_fold",
                                                  "bounds_check_eliminate", "load_forward",
                                                  "if_simplify", "dce", NULL},
             .boundary = PASS_BOUNDARY_REGION_CHANGING,
             .family = PASS_FAMILY_MEGAKERNEL},
    .summary = "run many small regions in one launch",
    .never = "join rigid regions, or regions that need each other's neighbours",
    .run = run,
};
