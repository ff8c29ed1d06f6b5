// SPDX-License-Identifier: MIT
//
// What region_fusion and region_chain share: whether two regions may run as one, and how their code
// is put together. Two regions may when both are elastic and one-dimensional in their use of common
// memory: a buffer that one writes and the other touches is accessed by both only at the global id,
// so that each invocation depends on itself alone. Pure functions over frozen programs: any thread.
#ifndef VYRE_OPT_FUSE_H
#define VYRE_OPT_FUSE_H

#include "opt/rewrite.h"

// Whether invocation i of region `b` may follow invocation i of region `a` at once.
bool fuse_is_independent(const vyre_program *p, const region *a, const region *b);

// Decides whether region `next` may join regions first..next-1, which are joined already.
typedef bool (*fuse_may_join)(const vyre_program *p, uint32_t first, uint32_t next);
// Emits the body of a joined region; the grid was set by `begin`.
typedef struct fuse_plan {
  fuse_may_join may_join;
  // Begins the region that replaces first..end-1: name, grid and workgroup.
  void (*begin)(rewriter *rw, const char *name, uint32_t first, uint32_t end);
  // Emits one of its bodies.
  void (*body)(rewriter *rw, uint32_t region);
} fuse_plan;

// Joins runs of neighbouring selected regions. *out stays NULL when there is nothing to join.
vyre_status fuse_regions(const pass_run *run, const fuse_plan *plan, vyre_program **out,
                         vyre_error *error);

// Emits the body of an old region into the open one.
void fuse_copy_body(rewriter *rw, uint32_t region);

#endif
