// SPDX-License-Identifier: MIT
//
// The body of a region is run once, with `reach`es (analysis/reach.h) in place of numbers. A value
// that no reach follows is a dimension of its own where its type bounds it, and anything where not.
// Conditions narrow the dimensions they compare while their block lasts; what follows a block that
// always leaves is under the opposite condition. Variables hold what any assignment gave them: the
// body is run until that does not grow any more, and given up to the range of the type when it
// grows for long.
#include "analysis/footprint.h"

#include "analysis/reach.h"
#include "ir/op_groups.h"

#include <string.h>

enum { PATIENCE = 4 }; // rounds until a variable that still grows is given up

struct footprint_region {
  const vyre_program *p;
  const region *region;
  bool *is_needed; // per operation of the body: an index or a condition depends on it
  bool has_variables;
  footprint_kind *kinds; // per buffer
};

// ---- what indices depend on ---------------------------------------------------------------------

static bool *needed_at(const footprint_region *r, uint32_t op) {
  return &r->is_needed[op - r->region->body.first];
}

static bool need(const footprint_region *r, ref value) {
  if (!value || ref_is_const(value) || *needed_at(r, value)) return false;
  return *needed_at(r, value) = true;
}

// Operands of what is needed, and the variables it reads. Loads are not followed.
static bool need_operands(footprint_region *r, uint32_t i) {
  const inst *in = &r->p->code[i];
  bool changed = false;
  if (in->op == VYRE_OP_SET) return *needed_at(r, in->arg[0]) && need(r, in->arg[1]);
  if (op_table[in->op].operands[0] == 'm')
    return mem_space(in->arg[0]) == MEM_BUFFER && need(r, in->arg[1]);
  bool decides = in->op == VYRE_OP_IF || in->op == VYRE_OP_FOR; // what of its block runs
  if (!decides && !*needed_at(r, i)) return false;
  if (in->op == VYRE_OP_VAR) r->has_variables = true;
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v' || operands[k] == 'x') changed |= need(r, in->arg[k]);
  return changed;
}

static void find_needed(footprint_region *r) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = r->region->body.end; i-- > r->region->body.first;)
      changed |= need_operands(r, i);
  }
}

// ---- how buffers are used -----------------------------------------------------------------------

static void find_kind(footprint_region *r, uint32_t i, const bool *is_used) {
  const inst *in = &r->p->code[i];
  footprint_kind *k = &r->kinds[mem_index(in->arg[0])];
  if (in->op == VYRE_OP_LOAD) k->is_read = true;
  if (in->op == VYRE_OP_STORE) k->is_written = true;
  if (!op_is_atomic(in->op)) return;
  uint8_t op = in->op == VYRE_OP_ATOMIC_SUB ? VYRE_OP_ATOMIC_ADD : in->op;
  bool commutes =
      op < VYRE_OP_ATOMIC_EXCHANGE && type_is_int(in->type) && !is_used[i - r->region->body.first];
  if (k->is_atomic) commutes = commutes && k->commutes && k->op == op;
  k->is_atomic = true;
  k->commutes = commutes;
  k->op = op;
}

static bool find_kinds(footprint_region *r) {
  const region *region = r->region;
  bool *is_used = calloc(region->body.end - region->body.first + 1u, sizeof *is_used);
  if (!is_used) return false;
  for (uint32_t i = region->body.first; i < region->body.end; i++) {
    const inst *in = &r->p->code[i];
    const char *operands = op_table[in->op].operands;
    for (int k = 0; operands[k]; k++)
      if (operands[k] == 'v' && in->arg[k] && !ref_is_const(in->arg[k]))
        is_used[in->arg[k] - region->body.first] = true;
  }
  for (uint32_t i = region->body.first; i < region->body.end; i++) {
    const inst *in = &r->p->code[i];
    if (op_table[in->op].operands[0] == 'm' && mem_space(in->arg[0]) == MEM_BUFFER)
      find_kind(r, i, is_used);
  }
  free(is_used);
  return true;
}

footprint_region *footprint_new(const vyre_program *p, uint32_t index) {
  footprint_region *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->p = p;
  r->region = &p->regions[index];
  r->is_needed = calloc(r->region->body.end - r->region->body.first + 1u, sizeof *r->is_needed);
  r->kinds = calloc(p->buffer_count + 1u, sizeof *r->kinds);
  if (!r->is_needed || !r->kinds || !find_kinds(r)) {
    footprint_free(r);
    return NULL;
  }
  find_needed(r);
  return r;
}

void footprint_free(footprint_region *r) {
  if (!r) return;
  free(r->is_needed);
  free(r->kinds);
  free(r);
}

footprint_kind footprint_kind_of(const footprint_region *r, uint32_t buffer) {
  return r->kinds[buffer];
}

void footprint_extents(const footprint_region *r, const uint64_t grid[3], uint64_t extents[3]) {
  for (int k = 0; k < 3; k++)
    extents[k] = r->region->is_elastic ? grid[k] : grid[k] / r->region->workgroup[k];
}

// ---- a run of the body --------------------------------------------------------------------------

// Dimensions: ids along each axis, then one per operation of the body.
enum { DIM_GLOBAL = 0, DIM_GROUP = 3, DIM_LOCAL = 6, DIM_FRESH = 9 };

typedef struct undo { // how far a dimension went before a condition narrowed it
  uint32_t dim;
  int64_t first, last;
} undo;

typedef struct block {
  size_t undo_count; // when it began
} block;

typedef struct run {
  const footprint_region *r;
  const footprint_launch *l;
  reach_space space;
  reach *at; // per operation of the body; of a VAR: all that the variable may hold
  vec(undo) undone;
  vec(block) blocks;
  int round;
  bool changed, is_last, out_of_memory;
  footprint *out;
} run;

static reach *slot(run *x, uint32_t op) {
  return &x->at[op - x->r->region->body.first];
}

static reach value_of(run *x, ref r) {
  if (!ref_is_const(r)) return *slot(x, r);
  const constant *c = &x->r->p->consts[ref_index(r)];
  if (!type_is_int(c->type) && c->type != VYRE_BOOL) return reach_any();
  return reach_settled(&x->space, reach_number((int64_t)c->bits), (vyre_type)c->type);
}

// An interval as a dimension of the operation, so that what is computed from it keeps its strides.
static reach fresh(run *x, uint32_t op, int64_t lo, int64_t hi) {
  return reach_along(&x->space, DIM_FRESH + op - x->r->region->body.first, lo, hi);
}

static reach fresh_of_type(run *x, uint32_t op, vyre_type type) {
  int64_t lo, hi;
  return reach_type_range(type, &lo, &hi) ? fresh(x, op, lo, hi) : reach_any();
}

static reach axis_value(run *x, const inst *in) {
  const region *region = x->r->region;
  uint32_t axis = in->arg[0];
  int64_t group = region->workgroup[axis], extent = (int64_t)x->l->grid[axis];
  if (in->op == VYRE_OP_GLOBAL_SIZE) return reach_number(extent);
  if (in->op == VYRE_OP_LOCAL_SIZE) return reach_number(group);
  if (in->op == VYRE_OP_GROUP_COUNT) return reach_number(extent / group);
  uint32_t dims = in->op == VYRE_OP_GLOBAL_ID  ? DIM_GLOBAL
                  : in->op == VYRE_OP_GROUP_ID ? DIM_GROUP
                                               : DIM_LOCAL;
  return reach_dimension(&x->space, dims + axis);
}

// k in lo..hi by step: lo, and a dimension that goes as far as hi - lo is at most.
static reach counter(run *x, uint32_t i, const inst *in, bool *is_empty) {
  vyre_type type = (vyre_type)in->type;
  reach lo = value_of(x, in->arg[0]), hi = value_of(x, in->arg[1]), step = value_of(x, in->arg[2]);
  int64_t lo0, lo1, hi0, hi1, step0 = 1, step1;
  bool lo_is = reach_bounds(&x->space, &lo, type, &lo0, &lo1) == REACH_EXACT;
  bool hi_is = reach_bounds(&x->space, &hi, type, &hi0, &hi1) == REACH_EXACT;
  if (reach_bounds(&x->space, &step, type, &step0, &step1) != REACH_EXACT || step0 < 1) step0 = 1;
  if (lo_is && hi_is) {
    reach difference = reach_sum(&x->space, lo, reach_scaled(&x->space, hi, -1));
    int64_t least, most; // of lo - hi
    if (!difference.is_any) {
      reach_hull(&x->space, &difference, &least, &most);
      *is_empty = least >= 0;
      if (*is_empty) return lo;
      reach turns = fresh(x, i, 0, (-least - 1) / step0);
      return reach_sum(&x->space, lo, reach_scaled(&x->space, turns, step0));
    }
  }
  int64_t type0, type1;
  if (!reach_type_range(type, &type0, &type1)) return reach_any();
  reach_bounds(&x->space, &lo, type, &lo0, &lo1);
  reach_bounds(&x->space, &hi, type, &hi0, &hi1);
  *is_empty = hi1 <= lo0;
  return fresh(x, i, lo0, *is_empty ? lo0 : hi1 - 1);
}

static reach binary(run *x, uint32_t i, const inst *in) {
  reach a = value_of(x, in->arg[0]), b = value_of(x, in->arg[1]);
  uint32_t dim = DIM_FRESH + i - x->r->region->body.first;
  return reach_binary(&x->space, (vyre_op)in->op, (vyre_type)in->type, a, b, dim);
}

static reach converted(run *x, uint32_t i, const inst *in) {
  vyre_type from = ref_type(x->r->p, in->arg[0]), to = (vyre_type)in->type;
  if (to == VYRE_BOOL) return fresh(x, i, 0, 1);
  if (from != VYRE_BOOL && !type_is_int(from)) return fresh_of_type(x, i, to);
  reach a = value_of(x, in->arg[0]);
  int64_t lo, hi;
  if (from == VYRE_BOOL || type_bits(to) > type_bits(from)) {
    reach_certainty is = reach_bounds(&x->space, &a, from, &lo, &hi);
    if (is == REACH_EXACT) return a;
    return is == REACH_RANGE ? fresh(x, i, lo, hi) : reach_any();
  }
  return a; // congruent modulo the smaller power of two
}

static reach variable_now(run *x, uint32_t i, const inst *in) {
  reach a = *slot(x, in->arg[0]);
  if (a.is_any || a.lo == a.hi) return a;
  reach spread = fresh(x, i, a.lo, a.hi);
  a.lo = a.hi = 0;
  return reach_sum(&x->space, a, spread);
}

static reach chosen(run *x, const inst *in) {
  reach c = value_of(x, in->arg[0]), a = value_of(x, in->arg[1]), b = value_of(x, in->arg[2]);
  int64_t lo, hi;
  if (!type_is_int(in->type) && in->type != VYRE_BOOL) return reach_any();
  if (reach_bounds(&x->space, &c, VYRE_BOOL, &lo, &hi) == REACH_EXACT && lo == hi)
    return lo ? a : b;
  return reach_joined(&x->space, a, b);
}

static reach parameter(run *x, const inst *in) {
  bool is_number = type_is_int(in->type) || in->type == VYRE_BOOL;
  return is_number ? reach_number((int64_t)x->l->params[in->arg[0]]) : reach_any();
}

static reach evaluate(run *x, uint32_t i) {
  const inst *in = &x->r->p->code[i];
  vyre_type type = (vyre_type)in->type;
  if (!type_is_int(type) && type != VYRE_BOOL) return reach_any();
  switch ((vyre_op)in->op) {
  case VYRE_OP_PARAM: return parameter(x, in);
  case VYRE_OP_LEN: return reach_number((int64_t)x->l->lengths[in->arg[0]]);
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID:
  case VYRE_OP_GROUP_ID:
  case OPS_AXIS_SIZES: return axis_value(x, in);
  case VYRE_OP_COPY: return value_of(x, in->arg[0]);
  case VYRE_OP_BITCAST:
    if (!type_is_int(ref_type(x->r->p, in->arg[0]))) return fresh_of_type(x, i, type);
    return value_of(x, in->arg[0]);
  case VYRE_OP_CONVERT: return converted(x, i, in);
  case VYRE_OP_SELECT: return chosen(x, in);
  case VYRE_OP_NEG: return reach_scaled(&x->space, value_of(x, in->arg[0]), -1);
  case VYRE_OP_GET: return variable_now(x, i, in);
  case VYRE_OP_POPCOUNT:
  case VYRE_OP_CLZ:
  case VYRE_OP_CTZ: return fresh(x, i, 0, type_bits(type));
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL:
  case VYRE_OP_DIV:
  case VYRE_OP_REM:
  case VYRE_OP_MIN:
  case VYRE_OP_MAX:
  case VYRE_OP_AND:
  case VYRE_OP_OR:
  case VYRE_OP_XOR:
  case VYRE_OP_SHL:
  case VYRE_OP_SHR: return binary(x, i, in);
  case VYRE_OP_ABS:
  case VYRE_OP_MULHI:
  case VYRE_OP_NOT:
  case VYRE_OP_ROTL:
  case VYRE_OP_ROTR:
  case OPS_COMPARISON:
  case OPS_EXACT_FLOAT:
  case OPS_MATH:
  case OPS_MEMORY:
  case VYRE_OP_VAR:
  case VYRE_OP_SET:
  case VYRE_OP_ARRAY:
  case OPS_STRUCTURE:
  case OPS_NONE: break;
  }
  return fresh_of_type(x, i, type);
}

// ---- conditions ---------------------------------------------------------------------------------

// Narrows one dimension; false when nothing of it is left.
static bool narrow(run *x, uint32_t dim, int64_t first, int64_t last) {
  reach_space *s = &x->space;
  if (first <= s->first[dim] && last >= s->last[dim]) return true;
  if (!vec_push(&x->undone, (undo){dim, s->first[dim], s->last[dim]})) {
    x->out_of_memory = true;
    return true;
  }
  if (first > s->first[dim]) s->first[dim] = first;
  if (last < s->last[dim]) s->last[dim] = last;
  return s->first[dim] <= s->last[dim];
}

// That `sum` is at most `most`: no term is larger than what the least of the others leaves.
static bool narrow_sum(run *x, const reach *sum, int64_t most) {
  int64_t least, unused;
  reach_hull(&x->space, sum, &least, &unused);
  if (least > most) return false;
  for (uint32_t k = 0; k < sum->count; k++) {
    reach_term t = sum->terms[k];
    int64_t first = x->space.first[t.dim], last = x->space.last[t.dim];
    int64_t own = t.factor > 0 ? t.factor * first : t.factor * last, room = most - (least - own);
    // factor * v <= room, where the least of it is not above.
    if (t.factor > 0 && !narrow(x, t.dim, first, reach_floor(room, t.factor))) return false;
    if (t.factor < 0 && !narrow(x, t.dim, -reach_floor(room, -t.factor), last)) return false;
  }
  return true;
}

static bool narrow_less(run *x, reach a, reach b, vyre_type type, int64_t by) {
  int64_t lo, hi;
  if (reach_bounds(&x->space, &a, type, &lo, &hi) != REACH_EXACT) return true;
  if (reach_bounds(&x->space, &b, type, &lo, &hi) != REACH_EXACT) return true;
  reach difference = reach_sum(&x->space, a, reach_scaled(&x->space, b, -1));
  return difference.is_any || narrow_sum(x, &difference, -by);
}

static bool narrow_comparison(run *x, const inst *in, bool holds) {
  vyre_type type = ref_type(x->r->p, in->arg[0]);
  if (!type_is_int(type)) return true;
  reach a = value_of(x, in->arg[0]), b = value_of(x, in->arg[1]);
  bool is_equal = holds ? in->op == VYRE_OP_EQ : in->op == VYRE_OP_NE;
  if (is_equal) return narrow_less(x, a, b, type, 0) && narrow_less(x, b, a, type, 0);
  switch (in->op) {
  case VYRE_OP_LT: return holds ? narrow_less(x, a, b, type, 1) : narrow_less(x, b, a, type, 0);
  case VYRE_OP_LE: return holds ? narrow_less(x, a, b, type, 0) : narrow_less(x, b, a, type, 1);
  case VYRE_OP_GT: return holds ? narrow_less(x, b, a, type, 1) : narrow_less(x, a, b, type, 0);
  case VYRE_OP_GE: return holds ? narrow_less(x, b, a, type, 0) : narrow_less(x, a, b, type, 1);
  default: return true; // nothing is said
  }
}

// Takes over what follows when `condition` is `holds`; false when it cannot be.
static bool assume(run *x, ref condition, bool holds, int depth) {
  if (depth > 16) return true;
  if (ref_is_const(condition)) {
    bool is = (x->r->p->consts[ref_index(condition)].bits & 1) != 0;
    return is == holds;
  }
  const inst *in = &x->r->p->code[condition];
  switch (in->op) {
  case OPS_COMPARISON: return narrow_comparison(x, in, holds);
  case VYRE_OP_COPY: return assume(x, in->arg[0], holds, depth + 1);
  case VYRE_OP_NOT: return assume(x, in->arg[0], !holds, depth + 1);
  case VYRE_OP_AND:
  case VYRE_OP_OR:
    if ((in->op == VYRE_OP_AND) != holds) return true;
    return assume(x, in->arg[0], holds, depth + 1) && assume(x, in->arg[1], holds, depth + 1);
  default: return true; // nothing is said
  }
}

static void begin_block(run *x) {
  if (!vec_push(&x->blocks, (block){x->undone.count})) x->out_of_memory = true;
}

static void end_block(run *x) {
  if (x->out_of_memory) return;
  block b = x->blocks.at[--x->blocks.count];
  while (x->undone.count > b.undo_count) {
    undo u = x->undone.at[--x->undone.count];
    x->space.first[u.dim] = u.first;
    x->space.last[u.dim] = u.last;
  }
}

static bool leaves(const vyre_program *p, uint32_t end) {
  uint8_t last = p->code[end - 1].op;
  return last == VYRE_OP_RETURN || last == VYRE_OP_BREAK || last == VYRE_OP_CONTINUE;
}

// ---- operations in turn -------------------------------------------------------------------------

static void touch(run *x, const inst *in) {
  if (!x->is_last || mem_space(in->arg[0]) != MEM_BUFFER) return;
  uint32_t b = mem_index(in->arg[0]);
  reach index = value_of(x, in->arg[1]);
  footprint *f = &x->out[b];
  intervals *to = in->op == VYRE_OP_LOAD    ? &f->reads
                  : in->op == VYRE_OP_STORE ? &f->writes
                                            : &f->atomics;
  vyre_type type = ref_type(x->r->p, in->arg[1]);
  if (!reach_elements(&x->space, &index, type, x->l->lengths[b], to)) x->out_of_memory = true;
}

// What a variable may hold besides: other ids move it along, loops do not.
static void assign(run *x, uint32_t variable, reach value) {
  vyre_type type = (vyre_type)x->r->p->code[variable].type;
  reach *now = slot(x, variable);
  value = reach_flattened(&x->space, value, DIM_FRESH);
  reach next = x->round ? reach_joined(&x->space, *now, value) : value;
  if (reach_is_same(now, &next)) return;
  if (x->round >= PATIENCE) {
    int64_t lo, hi;
    next = reach_type_range(type, &lo, &hi) ? reach_interval(lo, hi) : reach_any();
    if (reach_is_same(now, &next)) return;
  }
  x->changed = true;
  *now = next;
}

// A set within the first round comes after the variable's first value.
static void set(run *x, const inst *in) {
  if (!*needed_at(x->r, in->arg[0])) return;
  reach value = value_of(x, in->arg[1]), *now = slot(x, in->arg[0]);
  if (!x->round) value = reach_joined(&x->space, *now, value);
  assign(x, in->arg[0], value);
}

// What follows an IF or ELSE up to its end cannot be: from there on.
static uint32_t begin_if(run *x, uint32_t i, const inst *in) {
  begin_block(x);
  if (!x->out_of_memory && !assume(x, in->arg[0], true, 0)) {
    if (in->arg[1]) return in->arg[1]; // its ELSE
    return in->arg[2];
  }
  return i + 1;
}

static uint32_t begin_else(run *x, uint32_t i, const inst *in) {
  end_block(x);
  begin_block(x);
  bool can_be = x->out_of_memory || assume(x, x->r->p->code[in->arg[1]].arg[0], false, 0);
  return can_be ? i + 1 : in->arg[2];
}

static uint32_t end_of(run *x, uint32_t i, const inst *in) {
  const inst *opened = &x->r->p->code[in->arg[1]];
  end_block(x);
  if (opened->op != VYRE_OP_IF || opened->arg[1] || !leaves(x->r->p, i) || x->out_of_memory)
    return i + 1;
  // Whoever is still here did not enter the block. What is narrowed now belongs to the block
  // around it. Where nobody is left the rest of that block is looked at all the same.
  size_t mark = x->undone.count;
  if (assume(x, opened->arg[0], false, 0)) return i + 1;
  while (x->undone.count > mark) {
    undo u = x->undone.at[--x->undone.count];
    x->space.first[u.dim] = u.first;
    x->space.last[u.dim] = u.last;
  }
  return i + 1;
}

static uint32_t begin_for(run *x, uint32_t i, const inst *in) {
  bool is_empty = false;
  reach value = counter(x, i, in, &is_empty);
  *slot(x, i) = reach_settled(&x->space, value, (vyre_type)in->type);
  begin_block(x);
  return is_empty ? in->arg[3] : i + 1;
}

static uint32_t step(run *x, uint32_t i) {
  const inst *in = &x->r->p->code[i];
  switch (in->op) {
  case VYRE_OP_IF: return begin_if(x, i, in);
  case VYRE_OP_ELSE: return begin_else(x, i, in);
  case VYRE_OP_FOR: return begin_for(x, i, in);
  case VYRE_OP_WHILE: begin_block(x); return i + 1;
  case VYRE_OP_END: return end_of(x, i, in);
  case VYRE_OP_SET: set(x, in); return i + 1;
  case VYRE_OP_VAR:
    if (*needed_at(x->r, i)) assign(x, i, value_of(x, in->arg[0]));
    return i + 1;
  case OPS_MEMORY: touch(x, in); break;
  default: break; // a value, or nothing
  }
  if (*needed_at(x->r, i))
    *slot(x, i) = reach_settled(&x->space, evaluate(x, i), (vyre_type)in->type);
  return i + 1;
}

static void run_body(run *x, bool is_last) {
  x->changed = false;
  x->is_last = is_last;
  for (uint32_t i = x->r->region->body.first; i < x->r->region->body.end && !x->out_of_memory;)
    i = step(x, i);
  while (x->blocks.count && !x->out_of_memory) end_block(x);
  while (x->undone.count) { // narrowed outside of any block
    undo u = x->undone.at[--x->undone.count];
    x->space.first[u.dim] = u.first;
    x->space.last[u.dim] = u.last;
  }
}

static void place_ids(run *x, const footprint_box *box) {
  const region *region = x->r->region;
  for (int k = 0; k < 3; k++) {
    int64_t size = region->is_elastic ? 1 : region->workgroup[k];
    int64_t first = (int64_t)box->first[k], end = (int64_t)box->end[k];
    x->space.first[DIM_GLOBAL + k] = first * size;
    x->space.last[DIM_GLOBAL + k] = end * size - 1;
    x->space.first[DIM_GROUP + k] = first;
    x->space.last[DIM_GROUP + k] = end - 1;
    x->space.last[DIM_LOCAL + k] = size - 1;
  }
}

// One box, in arrays of a run that may have been used before. Values are written before they are
// read, those of variables apart.
static void find_box(run *x, size_t count, const footprint_box *box, footprint *out) {
  for (int k = 0; k < 3; k++)
    if (box->first[k] >= box->end[k]) return;
  x->out = out;
  x->round = 0;
  memset(x->space.first, 0, (DIM_FRESH + count) * sizeof *x->space.first);
  memset(x->space.last, 0, (DIM_FRESH + count) * sizeof *x->space.last);
  place_ids(x, box);
  if (x->r->has_variables) {
    memset(x->at, 0, count * sizeof *x->at);
    do {
      run_body(x, false);
      x->round++;
    } while (x->changed && !x->out_of_memory);
  }
  if (!x->out_of_memory) run_body(x, true);
  for (uint32_t b = 0; b < x->r->p->buffer_count; b++) {
    intervals_order(&out[b].reads);
    intervals_order(&out[b].writes);
    intervals_order(&out[b].atomics);
  }
}

bool footprint_find_each(const footprint_region *r, const footprint_launch *launch,
                         const footprint_box *boxes, uint32_t box_count, footprint *out) {
  size_t count = r->region->body.end - r->region->body.first + 1u;
  run x = {.r = r, .l = launch};
  x.at = calloc(count, sizeof *x.at);
  x.space.first = malloc((DIM_FRESH + count) * sizeof *x.space.first);
  x.space.last = malloc((DIM_FRESH + count) * sizeof *x.space.last);
  x.out_of_memory = !x.at || !x.space.first || !x.space.last;
  for (uint32_t n = 0; n < box_count && !x.out_of_memory; n++)
    find_box(&x, count, &boxes[n], &out[(size_t)n * r->p->buffer_count]);
  free(x.at);
  free(x.space.first);
  free(x.space.last);
  vec_free(&x.undone);
  vec_free(&x.blocks);
  return !x.out_of_memory;
}

bool footprint_find(const footprint_region *r, const footprint_launch *launch,
                    const footprint_box *box, footprint *out) {
  return footprint_find_each(r, launch, box, 1, out);
}

void footprints_fini(footprint *out, uint32_t buffer_count) {
  for (uint32_t b = 0; b < buffer_count; b++) {
    intervals_free(&out[b].reads);
    intervals_free(&out[b].writes);
    intervals_free(&out[b].atomics);
  }
}
