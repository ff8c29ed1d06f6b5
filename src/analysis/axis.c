// SPDX-License-Identifier: MIT
//
// An estimate of the time that memory takes per invocation, along each axis: an access that is
// contiguous, or the same for all lanes, is one for a whole vector; with a small stride it is a
// few, and otherwise one for each lane. Loops count for what they repeat.
#include "analysis/axis.h"

#include "analysis/shape.h"

enum { LANES = 8, SMALL_STRIDE = 4, REPEATED = 8, DEEPEST = 3 };

// How many lanes there are to fill along an axis, as far as the program says.
static uint32_t lanes_along(const vyre_program *p, const region *r, uint32_t axis) {
  uint64_t extent = r->is_elastic ? UINT64_MAX : r->workgroup[axis];
  if (r->is_elastic && ref_is_const(r->grid[axis]))
    extent = p->consts[ref_index(r->grid[axis])].bits;
  return extent < LANES ? (extent ? (uint32_t)extent : 1) : LANES;
}

static double access_cost(shape index, uint32_t lanes) {
  if (!(index.axes & AXIS_X)) return 1.0 / lanes;
  uint64_t step = index.stride < 0 ? 0 - (uint64_t)index.stride : (uint64_t)index.stride;
  if (!index.is_linear || step > SMALL_STRIDE) return 1;
  return (double)step / lanes;
}

static double body_cost(const vyre_program *p, const region *r, const shapes *s, uint32_t lanes) {
  double cost = 0, weight = 1;
  unsigned depth = 0;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    bool is_end = in->op == VYRE_OP_END && p->code[in->arg[1]].op != VYRE_OP_IF;
    if (in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE)
      weight *= depth++ < DEEPEST ? REPEATED : 1;
    if (is_end) weight /= --depth < DEEPEST ? REPEATED : 1;
    bool is_access = in->op == VYRE_OP_LOAD || in->op == VYRE_OP_STORE;
    if (!is_access || mem_space(in->arg[0]) == MEM_PRIVATE) continue;
    shape index = ref_is_const(in->arg[1]) ? (shape){0} : *shape_at(s, in->arg[1]);
    cost += weight * access_cost(index, lanes);
  }
  return cost;
}

// Whoever comes first at an atomic sees it: the order stays as it was.
static bool has_atomics(const vyre_program *p, const region *r) {
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    if (op_is_atomic(p->code[i].op)) return true;
  return false;
}

bool axis_for_lanes(arena *a, const vyre_program *p, const region *r, const ranges *known,
                    uint32_t *lanes) {
  double best = 0, first = 0;
  *lanes = 0;
  if (r->rank < 2 || has_atomics(p, r)) return true;
  for (uint32_t axis = 0; axis < r->rank; axis++) {
    shapes s;
    if (!shapes_compute_along(a, p, r, known, axis, &s)) return false;
    double cost = body_cost(p, r, &s, lanes_along(p, r, axis));
    if (!axis) best = first = cost;
    if (cost >= best) continue;
    best = cost;
    *lanes = axis;
  }
  if (best * 1.5 > first) *lanes = 0;
  return true;
}
