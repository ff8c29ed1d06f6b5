// SPDX-License-Identifier: MIT
//
// An operation is divergent in a block along whose axes invocations part, and behind a return of
// some. A loop in which some return is divergent from its beginning: that is where the others come
// back to. Axes along which a workgroup has one invocation do not count.
#include "analysis/uniformity.h"

#include "analysis/shape.h"
#include "ir/limits.h"

// Of open blocks: part of the workgroup may be outside of `parted` ones, part of it may return in
// `left` ones before the others come back to their beginning.
typedef struct parting {
  bool is_parted, is_left;
} parting;

typedef struct walk {
  const vyre_program *p;
  const shapes *shapes;
  uint8_t axes;             // of the workgroup that are longer than one
  parting open[LIMIT_OPEN]; // outermost first
  uint32_t depth, parted_count, left_count;
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
  parting p = {.is_parted = (b->parts | b->continues) & w->axes,
               .is_left = w->p->code[i].op != VYRE_OP_IF && b->returns & w->axes};
  w->open[w->depth++] = p;
  w->parted_count += p.is_parted;
  w->left_count += p.is_left;
}

static void close_block(walk *w) {
  parting p = w->open[--w->depth];
  w->parted_count -= p.is_parted;
  w->left_count -= p.is_left;
}

static void visit(walk *w, uint32_t i, uniformity *out) {
  unsigned op = w->p->code[i].op;
  bool is_parted = w->parted_count, is_divergent = is_parted || w->left_count || w->returned;
  out->is_parted[i - out->first] = is_parted;
  out->is_divergent[i - out->first] = is_divergent;
  if (op == VYRE_OP_IF || op == VYRE_OP_FOR || op == VYRE_OP_WHILE) open_block(w, i);
  if (op == VYRE_OP_END) close_block(w);
  if (op == VYRE_OP_RETURN) w->returned |= is_divergent;
}

bool uniformity_compute(arena *a, const vyre_program *p, const region *r, const ranges *known,
                        uniformity *out) {
  shapes values;
  *out = (uniformity){.first = r->body.first};
  uint32_t count = r->body.end - r->body.first + 1u;
  out->is_divergent = arena_alloc_array(a, count, sizeof(bool));
  out->is_parted = arena_alloc_array(a, count, sizeof(bool));
  if (!out->is_divergent || !out->is_parted || !shapes_compute_apart(a, p, r, known, &values))
    return false;
  walk w = {.p = p, .shapes = &values, .axes = long_axes(r)};
  for (uint32_t i = r->body.first; i < r->body.end; i++) visit(&w, i, out);
  return true;
}

uint32_t uniformity_find_barrier(const vyre_program *p, const region *r, const uniformity *u) {
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    if (p->code[i].op == VYRE_OP_BARRIER && u->is_divergent[i - u->first]) return i;
  return 0;
}
