// SPDX-License-Identifier: MIT
//
// Rounds of one walk in program order, until nothing changes: axes only grow and linear values only
// stop being linear, so there are few.
//
// A variable that is set where invocations have parted differs along the axes of the parting, if
// they come together again while it lives: that is, for every if and loop that was opened after its
// declaration. Invocations that returned never come back and part nothing.
#include "analysis/shape.h"

#include "analysis/axis.h"
#include "ir/limits.h"
#include "ir/op_groups.h"

typedef struct walk {
  const vyre_program *p;
  const region *region;
  const ranges *known;
  const uint8_t *assume;
  const bool *is_plain;  // per operation: its shape is given
  const bool *is_steady; // per buffer: nobody writes it; NULL: loads at one index are one load
  uint32_t lanes;        // the axis that is called x
  uint64_t vector;       // local ids of vectors begin at multiples of this; 0: anywhere
  shapes *out;
  uint32_t open[LIMIT_OPEN]; // opening operations, outermost first
  uint32_t depth;
  uint32_t *declared; // per variable and array: depth of its declaration
  bool changed;
} walk;

static uint8_t assumed(const walk *w, uint32_t op) {
  return w->assume ? w->assume[op - w->out->first] : ASSUME_NOTHING;
}

static shape of(const walk *w, ref r) {
  return ref_is_const(r) ? (shape){0} : *shape_at(w->out, r);
}

static shape uniform(uint8_t axes) {
  return (shape){.axes = axes & ~AXIS_X};
}

static shape varying(uint8_t axes) {
  return (shape){.axes = axes};
}

// ---- linear values ------------------------------------------------------------------------------

static int64_t wrap(vyre_type type, uint64_t bits) {
  unsigned width = type_bits(type);
  return width == 64 ? (int64_t)bits : (int64_t)(bits << (64 - width)) >> (64 - width);
}

static shape linear(uint8_t axes, vyre_type type, uint64_t stride) {
  int64_t s = wrap(type, stride);
  return s ? (shape){.axes = axes | AXIS_X, .is_linear = true, .stride = s} : uniform(axes);
}

// The step along x of a value that is uniform or linear.
static bool step_of(shape s, uint64_t *step) {
  *step = s.is_linear ? (uint64_t)s.stride : 0;
  return s.is_linear || !(s.axes & AXIS_X);
}

static bool constant_of(const walk *w, ref r, uint64_t *bits) {
  value_range k = range_of(w->known, r);
  *bits = (uint64_t)k.lo;
  return range_is_known(k) && k.lo == k.hi;
}

// ---- vectors that begin at multiples of their width ---------------------------------------------

static shape aligned(shape s, bool is_aligned) {
  s.is_aligned = is_aligned && s.is_linear && s.stride == 1;
  return s;
}

// In a vector such a value is the first one's with the lane's number in its lower bits, which are
// zeros there. Nothing is carried out of them, so that bits above are the same for all lanes, and
// whole multiples of the width between two lanes never end. Else *out is as it was.
static void shape_of_bits(const walk *w, const inst *in, shape from, uint8_t axes, shape *out) {
  uint64_t by, low = w->vector - 1;
  vyre_type type = (vyre_type)in->type;
  if (!from.is_aligned || !constant_of(w, in->arg[1], &by)) return;
  bool is_whole = !type_is_signed(type) || range_of(w->known, in->arg[0]).lo >= 0;
  bool is_multiple = is_whole && by && by <= INT32_MAX && by % w->vector == 0;
  shape line = aligned(linear(axes, type, 1), true);
  switch (in->op) {
  case VYRE_OP_AND:
    if ((by & low) == low) *out = line;
    if (!(by & low)) *out = uniform(axes);
    break;
  case VYRE_OP_SHR:
    if ((uint64_t)1 << (by & (type_bits(type) - 1)) >= w->vector) *out = uniform(axes);
    break;
  case VYRE_OP_DIV:
    if (is_multiple) *out = uniform(axes);
    break;
  case VYRE_OP_REM:
    if (is_multiple) *out = line;
    break;
  default: break; // no bits that are known
  }
}

static shape shape_product(const walk *w, const inst *in, uint8_t axes, uint64_t a, uint64_t b) {
  uint64_t factor;
  if (!a && !b) return uniform(axes);
  if (!b && constant_of(w, in->arg[1], &factor))
    return linear(axes, (vyre_type)in->type, a * factor);
  if (!a && constant_of(w, in->arg[0], &factor))
    return linear(axes, (vyre_type)in->type, b * factor);
  return varying(axes);
}

// A line of a narrow type that wraps passes over a gap in its range that is smaller than its
// stride; where the gap is larger, it never does.
static bool stays_in_range(const walk *w, ref r, int64_t stride) {
  value_range k = range_of(w->known, r), t = range_of_type(ref_type(w->p, r));
  if (!range_is_known(k)) return false;
  uint64_t gap = (uint64_t)(t.hi - t.lo) - (uint64_t)(k.hi - k.lo) + 1;
  return gap > (stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride);
}

// A wider type keeps a line as it is when no value of the narrow one wraps on the way.
static shape shape_convert(const walk *w, uint32_t i, shape from) {
  const inst *in = &w->p->code[i];
  uint64_t step;
  vyre_type source = ref_type(w->p, in->arg[0]);
  if (!step_of(from, &step)) return varying(from.axes);
  if (!step) return uniform(from.axes);
  if (!type_is_int(in->type) || !type_is_int(source)) return varying(from.axes);
  bool is_wider = type_bits(in->type) > type_bits(source);
  if (!is_wider || assumed(w, i) == ASSUME_EXACT || stays_in_range(w, in->arg[0], from.stride))
    return aligned(linear(from.axes, (vyre_type)in->type, step), from.is_aligned);
  return varying(from.axes);
}

static shape shape_min_max(const walk *w, uint32_t i, uint8_t axes) {
  uint8_t way = assumed(w, i);
  if (way == ASSUME_FIRST || way == ASSUME_SECOND)
    return of(w, w->p->code[i].arg[way == ASSUME_SECOND]);
  return varying(axes);
}

static shape shape_computed(const walk *w, uint32_t i) {
  const inst *in = &w->p->code[i];
  shape args[3] = {{0}};
  uint8_t axes = 0;
  int count = op_table[in->op].operand_count;
  for (int k = 0; k < count; k++) axes |= (args[k] = of(w, in->arg[k])).axes;
  if (!(axes & AXIS_X)) return uniform(axes);
  uint64_t a, b, c;
  bool first = step_of(args[0], &a), both = step_of(args[1], &b) && first;
  vyre_type type = (vyre_type)in->type;
  switch (in->op) {
  case VYRE_OP_COPY: return args[0];
  case VYRE_OP_CONVERT: return shape_convert(w, i, args[0]);
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: return shape_min_max(w, i, axes);
  case VYRE_OP_SELECT:
    if (!(args[0].axes & AXIS_X) && step_of(args[1], &b) && step_of(args[2], &c) && b == c &&
        type_is_int(type))
      return linear(axes, type, b);
    return varying(axes);
  default: break; // no line that is known
  }
  if (!type_is_int(type) || !both) return varying(axes);
  switch (in->op) {
  case VYRE_OP_ADD: return linear(axes, type, a + b);
  case VYRE_OP_SUB: return linear(axes, type, a - b);
  case VYRE_OP_NEG: return linear(axes, type, 0 - a);
  case VYRE_OP_MUL: return shape_product(w, in, axes, a, b);
  case VYRE_OP_SHL:
    if (b || !constant_of(w, in->arg[1], &c)) return varying(axes);
    return linear(axes, type, a << (c & (type_bits(type) - 1)));
  default: return varying(axes); // right for any operation of these operands
  }
}

static shape shape_pure(const walk *w, uint32_t i) {
  const inst *in = &w->p->code[i];
  shape s = shape_computed(w, i), from = of(w, in->arg[0]);
  if (w->vector && from.is_aligned && op_table[in->op].operand_count == 2)
    shape_of_bits(w, in, from, s.axes, &s);
  return s;
}

static shape shape_id(const walk *w, const inst *in) {
  uint8_t axis = (uint8_t)(1u << axis_turned(w->lanes, in->arg[0]));
  // Along x also where the grid is flat: the row is one invocation long, and any class is right.
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID:
    if (axis == AXIS_X)
      return aligned(linear(0, VYRE_U32, 1),
                     w->vector && (in->op == VYRE_OP_LOCAL_ID ||
                                   w->region->workgroup[w->lanes] % w->vector == 0));
    return uniform(in->arg[0] < w->region->rank ? axis : 0);
  default: return uniform(0); // of the workgroup or the grid
  }
}

// ---- control ------------------------------------------------------------------------------------

static block_shape *block(walk *w, uint32_t op) {
  return &w->out->blocks[op - w->out->first];
}

static void widen(walk *w, uint8_t *axes, uint8_t more) {
  if ((*axes | more) == *axes) return;
  *axes |= more;
  w->changed = true;
}

// Axes along which invocations have parted in the blocks above the first `from` open ones.
static uint8_t parted(walk *w, uint32_t from) {
  uint8_t axes = 0;
  for (uint32_t k = from; k < w->depth; k++)
    axes |= block(w, w->open[k])->parts | block(w, w->open[k])->continues;
  return axes;
}

static void leave_loop(walk *w, const inst *in) {
  uint32_t at = w->depth;
  while (w->open[at - 1] != in->arg[1]) at--;
  block_shape *loop = block(w, in->arg[1]);
  uint8_t axes = loop->continues;
  for (uint32_t k = at; k < w->depth; k++) axes |= block(w, w->open[k])->parts;
  for (uint32_t k = at; k < w->depth; k++) widen(w, &block(w, w->open[k])->exits, axes);
  widen(w, in->op == VYRE_OP_BREAK ? &loop->parts : &loop->continues, axes);
}

static void leave_region(walk *w) {
  uint8_t axes = parted(w, 0);
  widen(w, &w->out->returns, axes);
  for (uint32_t k = 0; k < w->depth; k++) {
    widen(w, &block(w, w->open[k])->returns, axes);
    widen(w, &block(w, w->open[k])->exits, axes);
  }
}

static void open_block(walk *w, uint32_t i, uint8_t axes) {
  widen(w, &block(w, i)->parts, axes);
  w->open[w->depth++] = i;
}

// ---- values -------------------------------------------------------------------------------------

static bool has_given(const walk *w, uint32_t op) {
  return w->is_plain && w->is_plain[op - w->out->first];
}

static void merge(walk *w, uint32_t op, shape s) {
  if (has_given(w, op)) return;
  shape *slot = &w->out->values[op - w->out->first], old = *slot;
  shape now = {.axes = old.axes | s.axes};
  uint64_t a, b;
  if (step_of(old, &a) && step_of(s, &b) && a == b && a) {
    now.is_linear = true;
    now.stride = old.stride;
  } else if (old.is_linear || s.is_linear) {
    now.axes |= AXIS_X;
  }
  if (now.axes == old.axes && now.is_linear == old.is_linear) return;
  *slot = now;
  w->changed = true;
}

static void assign(walk *w, uint32_t variable, shape s) {
  uint8_t axes = parted(w, w->declared[variable - w->out->first]);
  if (axes & AXIS_X) s.is_linear = false;
  s.axes |= axes;
  merge(w, variable, s);
}

static void give(walk *w, uint32_t i, shape s) {
  if (has_given(w, i)) return;
  shape *slot = &w->out->values[i - w->out->first];
  if (slot->axes == s.axes && slot->is_linear == s.is_linear && slot->stride == s.stride &&
      slot->is_aligned == s.is_aligned)
    return;
  *slot = s;
  w->changed = true;
}

// Whether all that load at one index get one value, with nobody writing in between.
static bool is_one_load(const walk *w, uint32_t memory) {
  return !w->is_steady || (mem_space(memory) == MEM_BUFFER && w->is_steady[mem_index(memory)]);
}

static shape shape_load(const walk *w, const inst *in) {
  uint8_t axes = of(w, in->arg[1]).axes;
  if (mem_space(in->arg[0]) == MEM_PRIVATE)
    return varying(axes | of(w, mem_index(in->arg[0])).axes);
  return varying(is_one_load(w, in->arg[0]) ? axes : AXIS_ALL);
}

static void store(walk *w, const inst *in) {
  if (mem_space(in->arg[0]) != MEM_PRIVATE) return;
  uint8_t axes = of(w, in->arg[1]).axes | of(w, in->arg[2]).axes;
  assign(w, mem_index(in->arg[0]), varying(axes));
}

static void visit_value(walk *w, uint32_t i) {
  const inst *in = &w->p->code[i];
  uint32_t slot = i - w->out->first;
  switch ((vyre_op)in->op) {
  case VYRE_OP_VAR:
    w->declared[slot] = w->depth;
    merge(w, i, of(w, in->arg[0]));
    break;
  case VYRE_OP_ARRAY: w->declared[slot] = w->depth; break;
  case VYRE_OP_GET: give(w, i, of(w, in->arg[0])); break;
  case VYRE_OP_SET: assign(w, in->arg[0], of(w, in->arg[1])); break;
  case VYRE_OP_LOAD: give(w, i, shape_load(w, in)); break;
  case VYRE_OP_STORE: store(w, in); break;
  case VYRE_OP_PARAM:
  case VYRE_OP_LEN: break;
  case OPS_ATOMIC: give(w, i, varying(AXIS_ALL)); break;
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID:
  case VYRE_OP_GROUP_ID:
  case OPS_AXIS_SIZES: give(w, i, shape_id(w, in)); break;
  case OPS_COMPUTED: give(w, i, shape_pure(w, i)); break;
  case OPS_STRUCTURE:
  case OPS_NONE: give(w, i, varying(AXIS_ALL)); break;
  }
}

static void visit_for(walk *w, uint32_t i) {
  const inst *in = &w->p->code[i];
  shape lo = of(w, in->arg[0]), hi = of(w, in->arg[1]);
  // Not linear even when lo is: the counter of an invocation that is through goes on beyond hi, so
  // a line through it would not keep to the counter's range.
  lo.is_linear = lo.is_aligned = false;
  lo.stride = 0;
  give(w, i, lo);
  open_block(w, i, lo.axes | hi.axes);
}

// Returns where to go on: behind a block that is dead.
static uint32_t visit(walk *w, uint32_t i) {
  const inst *in = &w->p->code[i];
  uint8_t way = assumed(w, i);
  switch ((vyre_op)in->op) {
  case VYRE_OP_IF:
    if (way == ASSUME_FALSE && !in->arg[1]) return in->arg[2] + 1;
    open_block(w, i, way ? 0 : of(w, in->arg[0]).axes);
    return way == ASSUME_FALSE ? in->arg[1] + 1 : i + 1;
  case VYRE_OP_ELSE: return assumed(w, in->arg[1]) == ASSUME_TRUE ? in->arg[2] : i + 1;
  case VYRE_OP_FOR: visit_for(w, i); break;
  case VYRE_OP_WHILE: open_block(w, i, 0); break;
  case VYRE_OP_DO: widen(w, &block(w, in->arg[1])->parts, of(w, in->arg[0]).axes); break;
  case VYRE_OP_END: w->depth--; break;
  case VYRE_OP_BREAK:
  case VYRE_OP_CONTINUE: leave_loop(w, in); break;
  case VYRE_OP_RETURN: leave_region(w); break;
  case VYRE_OP_BARRIER: break;
  case OPS_COMPUTED:
  case OPS_LAUNCH:
  case VYRE_OP_LOAD:
  case VYRE_OP_STORE:
  case OPS_ATOMIC:
  case OPS_STATE:
  case OPS_NONE: visit_value(w, i); break;
  }
  return i + 1;
}

// Before the first round a variable has the shape of its declaration, so that a linear one can stay
// linear.
static bool find_shapes(arena *a, walk *w, const shapes *plain) {
  const region *r = w->region;
  shapes *out = w->out;
  uint32_t count = r->body.end - r->body.first + 1;
  *out = (shapes){.first = r->body.first};
  out->values = arena_alloc_array(a, count, sizeof *out->values);
  out->blocks = arena_alloc_array(a, count, sizeof *out->blocks);
  w->declared = arena_alloc_array(a, count, sizeof *w->declared);
  bool *seen = arena_alloc_array(a, count, sizeof *seen);
  if (!out->values || !out->blocks || !w->declared || !seen) return false;
  for (uint32_t i = 0; w->is_plain && i < count; i++)
    if (w->is_plain[i]) out->values[i] = plain->values[i], seen[i] = true;
  do {
    w->changed = false;
    for (uint32_t i = r->body.first; i < r->body.end;) {
      uint32_t slot = i - out->first;
      if (w->p->code[i].op == VYRE_OP_VAR && !seen[slot]) {
        seen[slot] = true;
        out->values[slot] = aligned(of(w, w->p->code[i].arg[0]), false);
      }
      i = visit(w, i);
    }
  } while (w->changed);
  return true;
}

bool shapes_compute_in_vectors(arena *a, const vyre_program *p, const region *r,
                               const ranges *known, shapes_wish wish, shapes *out) {
  walk w = {.p = p, .region = r, .known = known, .assume = wish.assume, .out = out};
  w.is_plain = wish.is_plain;
  w.vector = wish.vector > 1 ? wish.vector : 0;
  return find_shapes(a, &w, wish.plain);
}

bool shapes_compute_along(arena *a, const vyre_program *p, const region *r, const ranges *known,
                          uint32_t lanes, shapes *out) {
  walk w = {.p = p, .region = r, .known = known, .lanes = lanes, .out = out};
  return find_shapes(a, &w, NULL);
}

static void find_steady(const vyre_program *p, const region *r, bool *is_steady) {
  for (uint32_t i = 0; i < LIMIT_BUFFERS; i++) is_steady[i] = true;
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &p->code[i];
    bool is_write = in->op == VYRE_OP_STORE || op_is_atomic(in->op);
    if (is_write && mem_space(in->arg[0]) == MEM_BUFFER) is_steady[mem_index(in->arg[0])] = false;
  }
}

bool shapes_compute_apart(arena *a, const vyre_program *p, const region *r, const ranges *known,
                          shapes *out) {
  bool is_steady[LIMIT_BUFFERS];
  find_steady(p, r, is_steady);
  walk w = {.p = p, .region = r, .known = known, .is_steady = is_steady, .out = out};
  return find_shapes(a, &w, NULL);
}

bool shapes_compute(arena *a, const vyre_program *p, const region *r, const ranges *known,
                    const uint8_t *assume, shapes *out) {
  return shapes_compute_in_vectors(a, p, r, known, (shapes_wish){.assume = assume}, out);
}
