// SPDX-License-Identifier: MIT
//
// A shared array of records, such as a tile of float4, becomes one array for each field. It is an
// array of records of 2^k elements when of every index the lowest k bits are known, and neighbours
// along x are that far apart somewhere: element 2^k * q + f is then element q of array f, which is
// what neighbours want to find side by side. An index is inside where its quotient is: an array has
// as many elements as there are indices with its lowest bits.
#include "opt/passes.h"

#include "analysis/residue.h"
#include "analysis/shape.h"
#include "base/error.h"
#include "ir/limits.h"
#include "opt/effects.h"
#include "opt/rewrite.h"

#include <stdio.h>

enum { MOST_BITS = 4 };

// Of one shared array of a region.
typedef struct split {
  bool is_used;
  unsigned least_known; // of the lowest bits of its indices
  unsigned strides;     // bit k: neighbours along x are 2^k apart somewhere
  unsigned bits;        // 0: it stays as it is
  uint32_t first;       // in the new program: the array, or that of field 0
} split;

typedef struct splitting {
  const vyre_program *p;
  const region *r;
  ranges known;
  split *arrays; // by number minus that of the region's first
} splitting;

// ---- which --------------------------------------------------------------------------------------

static split *array_of(const splitting *s, const inst *in) {
  uint32_t mem;
  if (!effects_memory(in, &mem) || mem_space(mem) != MEM_SHARED) return NULL;
  return &s->arrays[mem_index(mem) - s->r->shared.first];
}

static void look_at(const splitting *s, const shapes *shapes, const inst *in, split *a) {
  residue low = residue_of(s->p, in->arg[1]);
  if (!a->is_used || low.bits < a->least_known) a->least_known = low.bits;
  a->is_used = true;
  if (ref_is_const(in->arg[1])) return;
  const shape *v = shape_at(shapes, in->arg[1]);
  for (unsigned k = 1; v->is_linear && k <= MOST_BITS; k++)
    if (v->stride == (int64_t)1 << k || v->stride == -((int64_t)1 << k)) a->strides |= 1u << k;
}

// Returns how many arrays are split, -1 when out of memory.
static int find_splits(splitting *s, arena *scratch) {
  shapes shapes;
  uint32_t count = s->r->shared.end - s->r->shared.first;
  int found = 0;
  s->arrays = arena_alloc_array(scratch, count + 1u, sizeof *s->arrays);
  if (!s->arrays || !ranges_compute(scratch, s->p, s->r, &s->known) ||
      !shapes_compute(scratch, s->p, s->r, &s->known, NULL, &shapes))
    return -1;
  for (uint32_t i = s->r->body.first; i < s->r->body.end; i++) {
    split *a = array_of(s, &s->p->code[i]);
    if (a) look_at(s, &shapes, &s->p->code[i], a);
  }
  for (uint32_t i = 0; i < count; i++) {
    split *a = &s->arrays[i];
    for (unsigned k = 1; k <= MOST_BITS && k <= a->least_known; k++)
      if (a->strides >> k & 1 && s->p->shared[s->r->shared.first + i].length >> k) a->bits = k;
    found += a->bits != 0;
  }
  return found;
}

// ---- quotients ----------------------------------------------------------------------------------

static bool is_small(const splitting *s, ref r) { // no sum of two wraps
  return range_is_within(range_of(&s->known, r), 0, INT32_MAX / 2);
}

static ref shifted(rewriter *rw, vyre_op op, ref x, uint64_t by) {
  vyre_type type = vyre_build_type_of(rw->to, x);
  return by ? vyre_build_binary(rw->to, op, x, vyre_build_const(rw->to, type, by)) : x;
}

static ref quotient(rewriter *rw, const splitting *s, ref r, unsigned bits);

// Of x + y, where it is the sum of quotients and of what the lowest bits carry; else 0.
static ref quotient_of_sum(rewriter *rw, const splitting *s, const inst *in, unsigned bits) {
  residue x = residue_of(s->p, in->arg[0]), y = residue_of(s->p, in->arg[1]);
  if (!is_small(s, in->arg[0]) || !is_small(s, in->arg[1]) || x.bits < bits || y.bits < bits)
    return 0;
  uint64_t mask = ((uint64_t)1 << bits) - 1;
  uint64_t more = ((x.value & mask) + (y.value & mask)) >> bits;
  ref sum = quotient(rw, s, in->arg[0], bits);
  if (ref_is_const(in->arg[1]))
    more += s->p->consts[ref_index(in->arg[1])].bits >> bits;
  else
    sum = vyre_build_binary(rw->to, VYRE_OP_ADD, sum, quotient(rw, s, in->arg[1], bits));
  if (!more) return sum;
  return vyre_build_binary(rw->to, VYRE_OP_ADD, sum,
                           vyre_build_const(rw->to, (vyre_type)in->type, more));
}

// Of x << c, where that loses nothing; else 0.
static ref quotient_of_shift(rewriter *rw, const splitting *s, const inst *in, unsigned bits) {
  if (!ref_is_const(in->arg[1]) || !is_small(s, in->arg[0])) return 0;
  uint64_t shift = s->p->consts[ref_index(in->arg[1])].bits;
  if (shift < bits || shift >= 31 || range_of(&s->known, in->arg[0]).hi > INT32_MAX >> shift)
    return 0;
  return shifted(rw, VYRE_OP_SHL, rewrite_ref(rw, in->arg[0]), shift - bits);
}

// What is shifted out of an index again need not be shifted in; ranges say that nothing was lost.
static ref quotient(rewriter *rw, const splitting *s, ref r, unsigned bits) {
  vyre_type type = ref_type(s->p, r);
  const inst *in = ref_is_const(r) ? NULL : &s->p->code[r];
  ref better = 0;
  if (!in && is_small(s, r))
    better = vyre_build_const(rw->to, type, s->p->consts[ref_index(r)].bits >> bits);
  else if (in && in->op == VYRE_OP_COPY)
    better = quotient(rw, s, in->arg[0], bits);
  else if (in && in->op == VYRE_OP_CONVERT && type_is_int(ref_type(s->p, in->arg[0])) &&
           is_small(s, in->arg[0]) && is_small(s, r))
    better = vyre_build_convert(rw->to, type, quotient(rw, s, in->arg[0], bits));
  else if (in && in->op == VYRE_OP_SHL && is_small(s, r))
    better = quotient_of_shift(rw, s, in, bits);
  else if (in && in->op == VYRE_OP_ADD && is_small(s, r))
    better = quotient_of_sum(rw, s, in, bits);
  return better ? better : shifted(rw, VYRE_OP_SHR, rewrite_ref(rw, r), bits);
}

// ---- the new region -----------------------------------------------------------------------------

static uint32_t declare(rewriter *rw, const shared_array *old, unsigned bits) {
  uint32_t first = builder_shared_count(rw->to), fields = 1u << bits;
  for (uint32_t f = 0; f < fields; f++) {
    char name[LIMIT_NAME + 1];
    int size = snprintf(name, sizeof name, "%s_%u", old->name, f);
    bool is_named = bits && size > 0 && (size_t)size < sizeof name;
    vyre_build_shared(rw->to, is_named ? name : old->name, old->type,
                      (old->length + fields - 1 - f) >> bits);
  }
  return first;
}

static void copy(rewriter *rw, const splitting *s, uint32_t i) {
  const inst *old = &s->p->code[i];
  inst in = rewrite_mapped(rw, i);
  const split *a = array_of(s, old);
  if (a) in.arg[0] = MEM_REF(MEM_SHARED, a->first);
  if (a && a->bits) {
    uint32_t field = (uint32_t)residue_of(s->p, old->arg[1]).value & ((1u << a->bits) - 1);
    in.arg[0] = MEM_REF(MEM_SHARED, a->first + field);
    in.arg[1] = quotient(rw, s, old->arg[1], a->bits);
  }
  rw->map[i] = builder_emit(rw->to, &in);
  if (s->p->names && s->p->names[i]) vyre_build_name(rw->to, rw->map[i], s->p->names[i]);
}

static void copy_region(rewriter *rw, const splitting *s) {
  const region *r = s->r;
  ref grid[3];
  vyre_build_region_begin(rw->to, r->name);
  for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++)
    builder_copy_inst(rw->to, s->p, i, rw->map, 0);
  for (int k = 0; k < 3; k++) grid[k] = rewrite_ref(rw, r->grid[k]);
  vyre_build_grid(rw->to, r->rank, grid, r->workgroup);
  for (uint32_t i = r->shared.first; i < r->shared.end; i++) {
    split *a = &s->arrays[i - r->shared.first];
    a->first = declare(rw, &s->p->shared[i], a->bits);
  }
  for (uint32_t i = r->body.first; i < r->body.end; i++) copy(rw, s, i);
  vyre_build_region_end(rw->to);
}

static vyre_status rewrite(const pass_run *run, splitting *all, const int *found,
                           vyre_program **out, vyre_error *error) {
  rewriter rw = {.from = run->program, .scratch = run->scratch};
  rw.map = arena_alloc_array(run->scratch, run->program->code_count, sizeof *rw.map);
  rw.to = vyre_builder_new("");
  if (!rw.map || !rw.to) {
    vyre_builder_free(rw.to);
    return error_out_of_memory(error);
  }
  builder_copy_interface(rw.to, run->program);
  for (uint32_t i = 0; i < run->program->region_count; i++) {
    if (found[i])
      copy_region(&rw, &all[i]);
    else
      builder_copy_region(rw.to, run->program, i, rw.map);
  }
  vyre_status status = vyre_builder_finish(rw.to, out, error);
  vyre_builder_free(rw.to);
  return status;
}

static vyre_status run(const pass_run *run, vyre_program **out, vyre_error *error) {
  vyre_program *p = run->program;
  splitting *all = arena_alloc_array(run->scratch, p->region_count + 1u, sizeof *all);
  int *found = arena_alloc_array(run->scratch, p->region_count + 1u, sizeof *found);
  int sum = 0;
  if (!all || !found) return error_out_of_memory(error);
  for (uint32_t i = 0; i < p->region_count; i++) {
    const region *r = &p->regions[i];
    if (!run->selected[i] || r->shared.first == r->shared.end) continue;
    all[i] = (splitting){.p = p, .r = r};
    found[i] = find_splits(&all[i], run->scratch);
    if (found[i] < 0) return error_out_of_memory(error);
    sum += found[i];
  }
  if (!sum || p->shared_count + ((uint32_t)sum << MOST_BITS) > LIMIT_SHARED_ARRAYS) return VYRE_OK;
  return rewrite(run, all, found, out, error);
}

const pass pass_array_split = {
    .info = {.name = "array_split",
             .requires = (const char *const[]){"canonicalize", NULL},
             .invalidates =
                 (const char *const[]){"const_fold", "algebraic_simplify", "cse", "dce", NULL},
             .follows = (const char *const[]){"loop_unroll", NULL},
             .family = PASS_FAMILY_SCALAR},
    .summary = "make one shared array for each field of an array of records",
    .never = "split an array whose indices have unknown lowest bits, or by more than 16",
    .run = run,
};
