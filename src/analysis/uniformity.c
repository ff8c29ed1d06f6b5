// SPDX-License-Identifier: MIT
//
// An operation is divergent in a block along whose axes invocations part, and behind a return of
// some. A loop in which some return is divergent from its beginning: that is where the others come
// back to. Axes along which a workgroup has one invocation do not count.
#include "analysis/uniformity.h"

#include "analysis/shape.h"
#include "ir/limits.h"

typedef struct walk {
  const vyre_program *p;
  const shapes *shapes;
  uint8_t axes;               // of the workgroup that are longer than one
  bool is_parted[LIMIT_OPEN]; // open blocks, outermost first: part of the workgroup may be outside
  uint32_t depth, parted_count;
  bool returned; // part of the workgroup may be gone
} walk;

static uint8_t long_axes(const region *r) {
  uint8_t axes = 0;
  for (uint32_t k = 0; k < 3; k++)
    if (r->workgroup[k] > 1) axes |= (uint8_t)(1u << k);
  return axes;
}

static void open_block(walk *w, uint32_t i) {
  const block_shape *b = block_at(w->shapes, i);
  uint8_t axes = b->parts | b->continues;
  if (w->p->code[i].op != VYRE_OP_IF) axes |= b->returns;
  bool is_parted = axes & w->axes;
  w->is_parted[w->depth++] = is_parted;
  w->parted_count += is_parted;
}

static void visit(walk *w, uint32_t i, bool *is_divergent) {
  unsigned op = w->p->code[i].op;
  *is_divergent = w->returned || w->parted_count;
  if (op == VYRE_OP_IF || op == VYRE_OP_FOR || op == VYRE_OP_WHILE) open_block(w, i);
  if (op == VYRE_OP_END) w->parted_count -= w->is_parted[--w->depth];
  if (op == VYRE_OP_RETURN) w->returned |= *is_divergent;
}

bool uniformity_compute(arena *a, const vyre_program *p, const region *r, const ranges *known,
                        uniformity *out) {
  shapes values;
  *out = (uniformity){.first = r->body.first};
  out->is_divergent = arena_alloc_array(a, r->body.end - r->body.first + 1u, sizeof(bool));
  if (!out->is_divergent || !shapes_compute_apart(a, p, r, known, &values)) return false;
  walk w = {.p = p, .shapes = &values, .axes = long_axes(r)};
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    visit(&w, i, &out->is_divergent[i - out->first]);
  return true;
}

uint32_t uniformity_find_barrier(const vyre_program *p, const region *r, const uniformity *u) {
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    if (p->code[i].op == VYRE_OP_BARRIER && u->is_divergent[i - u->first]) return i;
  return 0;
}
