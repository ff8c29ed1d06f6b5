// SPDX-License-Identifier: MIT
//
// How many invocations make a vector: as many as fill a register with the element type that the
// body mostly works on, times two or four when the values that live at once leave registers free.
// Several registers per value hide the latency of chains of operations and share the cost of what
// is scalar. Only speed depends on it.
#include "backend/cpu/codegen/kernel.h"

// A loop's body counts as if it ran this often.
enum { LOOP_WEIGHT = 10, DEEPEST = 4 };

enum { FEW_VECTORS = 6 };

typedef struct estimate {
  const kernel *k;
  const shapes *shapes;
  uint64_t weight[9]; // of operations on elements of so many bytes
  uint32_t *last;     // per operation: where its value or variable is used last
  uint32_t pressure;  // most vectors that live at once
  uint64_t work;      // weight of operations on vectors
  uint64_t turns;     // weight of atomics in which lanes take turns
  uint64_t scattered; // accesses that are made lane by lane
  uint64_t chased;    // weight of those in loops that lanes leave at different times
  uint64_t computed;  // weight of operations on vectors that are no accesses, in such loops
  uint64_t lined;     // as `chased`, in loops in which each lane writes a line of its own
  uint64_t worked;    // and as `computed`
  bool has_loop;
} estimate;

static bool is_vector(const estimate *s, uint32_t i) {
  const shape *v = shape_at(s->shapes, i);
  return (v->axes & AXIS_X) && !v->is_linear;
}

// Neighbours can be updated at once.
static bool takes_turns(const estimate *s, const inst *in) {
  if (!op_is_atomic(in->op)) return false;
  return ref_is_const(in->arg[1]) || !shape_at(s->shapes, in->arg[1])->is_linear;
}

static bool is_scattered(const estimate *s, const inst *in) {
  if (in->op != VYRE_OP_LOAD && in->op != VYRE_OP_STORE) return false;
  if (mem_space(in->arg[0]) == MEM_PRIVATE || ref_is_const(in->arg[1])) return false;
  const shape *v = shape_at(s->shapes, in->arg[1]);
  bool is_line = v->is_linear && (v->stride == 1 || v->stride == -1);
  return (v->axes & AXIS_X) && !is_line;
}

// A loop of which each lane writes a buffer somewhere else.
static bool writes_lines(const estimate *s, uint32_t loop) {
  const inst *code = s->k->p->code;
  for (uint32_t i = loop + 1; i < inst_end(&code[loop]); i++)
    if (code[i].op == VYRE_OP_STORE && mem_space(code[i].arg[0]) == MEM_BUFFER &&
        is_scattered(s, &code[i]))
      return true;
  return false;
}

static void weigh(estimate *s) {
  const region *r = s->k->region;
  uint64_t factor = 1;
  unsigned depth = 0;
  uint32_t parted_end = 0; // of the outermost loop that lanes leave at different times
  uint32_t lined_end = 0;  // of the outermost one that writes lane by lane
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &s->k->p->code[i];
    bool opens = in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE;
    bool closes = in->op == VYRE_OP_END && s->k->p->code[in->arg[1]].op != VYRE_OP_IF;
    if (opens && depth++ < DEEPEST) factor *= LOOP_WEIGHT;
    if (closes && --depth < DEEPEST) factor /= LOOP_WEIGHT;
    s->has_loop |= opens;
    if (opens && i >= parted_end && (block_at(s->shapes, i)->parts & AXIS_X))
      parted_end = inst_end(in);
    if (opens && i >= lined_end && writes_lines(s, i)) lined_end = inst_end(in);
    bool is_computed = op_is((vyre_op)in->op, OPF_PURE) && is_vector(s, i);
    if (i < parted_end && is_scattered(s, in)) s->chased += factor;
    if (i < parted_end && is_computed) s->computed += factor;
    if (i < lined_end && is_scattered(s, in)) s->lined += factor;
    if (i < lined_end && is_computed) s->worked += factor;
    if (takes_turns(s, in)) s->turns += factor;
    if (is_scattered(s, in) || takes_turns(s, in)) s->scattered++;
    if (in->type && is_vector(s, i)) s->work += factor;
    if (in->type && in->type != VYRE_BOOL && is_vector(s, i))
      s->weight[type_bytes(in->type)] += factor;
    if (in->op == VYRE_OP_STORE && !ref_is_const(in->arg[1]) && !ref_is_const(in->arg[2]))
      s->weight[type_bytes(ref_type(s->k->p, in->arg[2]))] += factor;
  }
}

// The smallest size that nearly everything fits.
static unsigned element_bytes(const estimate *s) {
  uint64_t all = s->weight[1] + s->weight[2] + s->weight[4] + s->weight[8], larger = all;
  if (!all) return 4;
  for (unsigned bytes = 1; bytes < 8; bytes *= 2) {
    larger -= s->weight[bytes];
    if (larger * 5 <= all) return bytes;
  }
  return 8;
}

// ---- registers ----------------------------------------------------------------------------------

typedef struct open_loops {
  uint32_t at[LIMIT_OPEN], end[LIMIT_OPEN];
  uint32_t count;
} open_loops;

// A value from outside of a loop lives until the loop's end.
static void use(estimate *s, const open_loops *loops, uint32_t made, uint32_t user) {
  for (uint32_t k = 0; k < loops->count; k++) {
    if (loops->at[k] <= made) continue;
    user = loops->end[k];
    break;
  }
  uint32_t *last = &s->last[made - s->k->region->body.first];
  if (*last < user) *last = user;
}

static void find_last(estimate *s) {
  const region *r = s->k->region;
  open_loops loops = {.count = 0};
  for (uint32_t i = r->body.first; i < r->body.end; i++) {
    const inst *in = &s->k->p->code[i];
    const char *operands = op_table[in->op].operands;
    for (int k = 0; operands[k]; k++) {
      bool is_value = operands[k] == 'v' && !ref_is_const(in->arg[k]);
      if (is_value || operands[k] == 'x') use(s, &loops, in->arg[k], i);
    }
    if (in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE) {
      loops.at[loops.count] = i;
      loops.end[loops.count++] = inst_end(in);
    }
    if (in->op == VYRE_OP_END && s->k->p->code[in->arg[1]].op != VYRE_OP_IF) loops.count--;
  }
}

static void find_pressure(estimate *s, uint32_t *ending) {
  uint32_t first = s->k->region->body.first, live = 0;
  for (uint32_t i = first; i < s->k->region->body.end; i++) {
    uint32_t last = s->last[i - first];
    // Getting and copying makes no new value.
    unsigned op = s->k->p->code[i].op;
    if (last && op != VYRE_OP_GET && op != VYRE_OP_COPY && is_vector(s, i)) {
      live++;
      ending[last - first]++;
    }
    if (live > s->pressure) s->pressure = live;
    live -= ending[i - first];
  }
}

// ---- choice -------------------------------------------------------------------------------------

static unsigned largest_divisor(unsigned width, uint32_t size) {
  while (width > size) width /= 2;
  while (width > 4 && size % width) width /= 2;
  return width;
}

// LLVM's time grows faster than a block of code: measured, vectors of a body of this size take ten
// times what one lane takes, and seconds.
static bool is_too_much(const estimate *s, unsigned width) {
  enum { MOST_CODE = 8192, EACH_LANE = 4 };
  uint64_t operations = s->k->region->body.end - s->k->region->body.first;
  return operations + EACH_LANE * width * s->scattered > MOST_CODE;
}

// Straight code that is mostly accesses made lane by lane gains nothing by more lanes: they are as
// many instructions an invocation, and LLVM's time for a block grows faster than the block
// (measured: 64 lanes with 13 of them take ten times what clang takes for a loop).
static unsigned fewer_lanes(const estimate *s, unsigned width) {
  enum { MOST_LANEWISE = 400, FEWEST = 16 };
  while (!s->has_loop && width > FEWEST && s->scattered * width > MOST_LANEWISE) width /= 2;
  return width;
}

bool choose_width(const kernel *k, const shapes *shapes, plan *plan) {
  unsigned *out = &plan->width;
  *out = k->u->options->width;
  if (*out) return true;
  arena *a = &k->u->arena;
  uint32_t count = k->region->body.end - k->region->body.first + 1;
  estimate s = {.k = k, .shapes = shapes};
  s.last = arena_alloc_array(a, count, sizeof *s.last);
  uint32_t *ending = arena_alloc_array(a, count, sizeof *ending);
  if (!s.last || !ending) return false;
  weigh(&s);
  find_last(&s);
  find_pressure(&s, ending);
  // Lanes take turns at an atomic: with little else to do, vectors only delay them.
  if (s.turns && s.work <= FEW_VECTORS * s.turns) {
    *out = 1;
    return true;
  }
  // Loops that do little but follow indices, or go along a row for each lane and write it: lanes
  // that wait for the longest one, and for each other's accesses in as many lines of memory, lose
  // to one after the other (measured: a sparse product by a factor of 2, a solver by 8).
  bool chases = s.chased && s.computed <= s.chased, lines = s.lined && s.worked <= 2 * s.lined;
  if (k->region->is_elastic && !k->region->is_merged && (chases || lines)) {
    *out = 1;
    return true;
  }
  unsigned registers = k->u->target->has_predicates ? 30 : 15;
  unsigned width = k->u->target->vector_bits / 8 / element_bytes(&s);
  // Without a loop, values that do not fit go to the stack once, and longer chains of independent
  // work are worth more.
  bool is_quick = k->u->options->tier == VYRE_TIER_QUICK;
  if (!is_quick && (!s.has_loop || s.pressure * 2 <= registers + 3)) width *= 2;
  width = fewer_lanes(&s, width > 64 ? 64 : width);
  *out = k->region->is_elastic ? width : largest_divisor(width, k->region->workgroup[0]);
  plan->is_large = is_too_much(&s, *out);
  if (plan->is_large) *out = 1;
  return true;
}
