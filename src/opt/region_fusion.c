// SPDX-License-Identifier: MIT
//
// Neighbouring regions over the same grid become one: a producer is joined with a consumer that
// needs of element i only element i, and siblings with each other. What they exchange through a
// transient buffer then stays in registers (load_forward), and the buffer goes
// (transient_eliminate).
#include "opt/passes.h"

#include "analysis/bounds.h"
#include "opt/effects.h"
#include "opt/fuse.h"

static bool has_same_grid(const vyre_program *p, const region *a, const region *b) {
  if (a->rank != b->rank) return false;
  for (uint32_t k = 0; k < a->rank; k++)
    if (!bounds_is_same(p, a->grid[k], b->grid[k])) return false;
  return true;
}

// Each region is compared with all that it would join: without a limit, the time of programs of
// thousands of regions is that of their square. Joining more gains nothing.
enum { MOST_JOINED = 32 };

static bool may_join(const vyre_program *p, uint32_t first, uint32_t next) {
  const region *b = &p->regions[next];
  if (next - first >= MOST_JOINED) return false;
  if (!b->is_elastic || !has_same_grid(p, &p->regions[first], b)) return false;
  for (uint32_t i = first; i < next; i++) {
    const region *a = &p->regions[i];
    // A return in an earlier body would end the later ones too.
    if (!a->is_elastic || effects_has(p, a->body, VYRE_OP_RETURN)) return false;
    if (!fuse_is_independent(p, a, b)) return false;
  }
  return true;
}

static void begin(rewriter *rw, const char *name, uint32_t first, uint32_t end) {
  (void)end;
  const region *r = &rw->from->regions[first];
  vyre_build_region_begin(rw->to, name);
  for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++) rewrite_keep(rw, i);
  ref grid[3];
  for (int k = 0; k < 3; k++) grid[k] = rewrite_ref(rw, r->grid[k]);
  vyre_build_grid(rw->to, r->rank, grid, r->workgroup);
}

static vyre_status run(const pass_run *r, vyre_program **out, vyre_error *error) {
  static const fuse_plan plan = {may_join, begin, fuse_copy_body};
  return fuse_regions(r, &plan, out, error);
}

const pass pass_region_fusion = {
    .info = {.name = "region_fusion",
             .invalidates = (const char *const[]){"cse", "load_forward", "dead_store",
                                                  "transient_eliminate", "dce", NULL},
             .boundary = PASS_BOUNDARY_REGION_CHANGING,
             .family = PASS_FAMILY_FUSION},
    .summary = "join neighbouring regions over the same grid",
    .never = "join rigid regions, other grids, or regions that need each other's neighbours",
    .run = run,
};
