// SPDX-License-Identifier: MIT
//
// What to assume: every access whose index has a form, every `if` on ids whose condition can be
// made of forms. An `if` is assumed to be taken, unless it leaves or asks for one place.
#include "backend/cpu/codegen/guard.h"
#include "backend/cpu/codegen/guard_machine.h"
#include "backend/cpu/codegen/run.h"
#include "ir/limits.h"

static uint32_t at(const guards *g, uint32_t op) {
  return op - g->k->region->body.first;
}

// ---- conditions ---------------------------------------------------------------------------------

typedef struct comparison {
  form x, y;
  int_type type;
} comparison;

// Of two integers that have forms.
static bool is_comparison(guards *g, const inst *in, comparison *out) {
  vyre_type type = ref_type(g->k->p, in->arg[0]);
  out->type = (int_type){type_bits(type), type_is_signed(type)};
  return type_is_int(type) && guards_form(g, in->arg[0], &out->x) &&
         guards_form(g, in->arg[1], &out->y);
}

// Asked the other way round, `not` is gone.
static unsigned opposite_of(unsigned op) {
  switch (op) {
  case VYRE_OP_LT: return VYRE_OP_GE;
  case VYRE_OP_LE: return VYRE_OP_GT;
  case VYRE_OP_GT: return VYRE_OP_LE;
  case VYRE_OP_GE: return VYRE_OP_LT;
  case VYRE_OP_EQ: return VYRE_OP_NE;
  default: return VYRE_OP_EQ; // of NE: only comparisons are asked about
  }
}

static fact comparison_fact(guards *g, const inst *in, bool wanted) {
  comparison q;
  if (!is_comparison(g, in, &q)) return fact_unknown(&g->c);
  switch (wanted ? in->op : opposite_of(in->op)) {
  case VYRE_OP_LT: return fact_less(&g->c, q.x, q.y, q.type);
  case VYRE_OP_LE: return fact_less_equal(&g->c, q.x, q.y, q.type);
  case VYRE_OP_GT: return fact_less(&g->c, q.y, q.x, q.type);
  case VYRE_OP_GE: return fact_less_equal(&g->c, q.y, q.x, q.type);
  case VYRE_OP_EQ: return fact_equal(&g->c, q.x, q.y, q.type);
  default: return fact_unequal(&g->c, q.x, q.y, q.type); // NE
  }
}

static truth fixed_truth(guards *g, ref r) {
  if (ref_is_const(r)) return truth_known(g->k->p->consts[ref_index(r)].bits);
  return (truth){ANSWER_OPEN, g->scalar ? guards_fixed(g, r) : NULL};
}

// What is known of a condition, or of its opposite, along the row.
static fact condition_fact(guards *g, ref r, bool wanted) {
  if (guards_is_fixed(g, r)) {
    truth holds = fixed_truth(g, r);
    return fact_uniform(&g->c, wanted ? holds : truth_opposite(&g->m, holds));
  }
  const inst *in = &g->k->p->code[r];
  switch (in->op) {
  case VYRE_OP_COPY: return condition_fact(g, in->arg[0], wanted);
  case VYRE_OP_NOT: return condition_fact(g, in->arg[0], !wanted);
  case VYRE_OP_AND:
  case VYRE_OP_OR: {
    fact x = condition_fact(g, in->arg[0], wanted), y = condition_fact(g, in->arg[1], wanted);
    return (in->op == VYRE_OP_AND) == wanted ? fact_and(&g->c, x, y) : fact_or(&g->c, x, y);
  }
  case VYRE_OP_LT:
  case VYRE_OP_LE:
  case VYRE_OP_GT:
  case VYRE_OP_GE:
  case VYRE_OP_EQ:
  case VYRE_OP_NE: return comparison_fact(g, in, wanted);
  default: return fact_unknown(&g->c); // right for whatever it is
  }
}

static bool is_point(form f) {
  return word_is_known(f.spread) && !f.spread.lo;
}

// Of values of which no more is known than their static ranges, for any launch: what those decide,
// passes have decided.
static bool is_open_to_both(const guards *g, const inst *in, const comparison *q) {
  bool is_one = word_is_known(q->x.spread) && word_is_known(q->y.spread) &&
                word_is_known(q->x.base) && word_is_known(q->y.base);
  return is_one && !form_moves(q->x) && !form_moves(q->y) && !guards_is_fixed(g, in->arg[0]) &&
         range_is_known(range_of(&g->k->known, in->arg[0])) &&
         range_is_known(range_of(&g->k->known, in->arg[1]));
}

// An order, or being different: being equal holds in one place at most.
static bool is_worth_assuming(guards *g, const inst *in, bool wanted) {
  comparison q;
  if (!is_comparison(g, in, &q)) return false;
  if (is_open_to_both(g, in, &q)) return false;
  if (in->op != VYRE_OP_EQ && in->op != VYRE_OP_NE) return true;
  if ((in->op == VYRE_OP_EQ) == wanted || !is_point(q.x) || !is_point(q.y)) return false;
  bool is_known = word_is_known(q.x.stride) && word_is_known(q.y.stride);
  return !is_known || q.x.stride.lo != q.y.stride.lo;
}

// Whether the stretch in which a condition must hold is likely to be most of a row.
static bool can_assume(guards *g, ref r, bool wanted) {
  if (guards_is_fixed(g, r)) return true;
  const inst *in = &g->k->p->code[r];
  switch (in->op) {
  case VYRE_OP_COPY: return can_assume(g, in->arg[0], wanted);
  case VYRE_OP_NOT: return can_assume(g, in->arg[0], !wanted);
  case VYRE_OP_AND:
  case VYRE_OP_OR:
    if ((in->op == VYRE_OP_AND) != wanted) return false;
    return can_assume(g, in->arg[0], wanted) && can_assume(g, in->arg[1], wanted);
  case VYRE_OP_LT:
  case VYRE_OP_LE:
  case VYRE_OP_GT:
  case VYRE_OP_GE:
  case VYRE_OP_EQ:
  case VYRE_OP_NE: return is_worth_assuming(g, in, wanted);
  default: return false; // nothing is assumed of what is not understood
  }
}

// An `if` that does nothing but leave is a test for what is not there.
static bool is_exit(const guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  uint32_t last = in->arg[2] - 1;
  unsigned op = g->k->p->code[last].op;
  bool leaves = op == VYRE_OP_RETURN || op == VYRE_OP_BREAK || op == VYRE_OP_CONTINUE;
  return !in->arg[1] && leaves && last == i + 1;
}

static void plan_if(guards *g, uint32_t i, const shapes *shapes, bool other) {
  const inst *in = &g->k->p->code[i];
  if (!(block_at(shapes, i)->parts & AXIS_X)) return;
  bool guess = is_exit(g, i) == other;
  for (int attempt = 0; attempt < 2; attempt++, guess = !guess) {
    if (!can_assume(g, in->arg[0], guess)) continue;
    g->assume[at(g, i)] = guess ? ASSUME_TRUE : ASSUME_FALSE;
    g->conditions++;
    g->count++;
    return;
  }
}

// ---- accesses -----------------------------------------------------------------------------------

static bool is_access(const inst *in) {
  return op_table[in->op].operands[0] == 'm' && mem_space(in->arg[0]) != MEM_PRIVATE;
}

static uint64_t known_length(const guards *g, uint32_t mem) {
  const vyre_program *p = g->k->p;
  if (mem_space(mem) == MEM_SHARED) return p->shared[mem_index(mem)].length;
  ref length = p->buffers[mem_index(mem)].length;
  return ref_is_const(length) ? p->consts[ref_index(length)].bits : 0;
}

// Marks the conversions and clamps that the form of a value goes through.
static void mark_steps(guards *g, ref r) {
  if (guards_is_fixed(g, r)) return;
  const inst *in = &g->k->p->code[r];
  if (g->state[at(g, r)] != HAS_FORM) return;
  uint8_t *slot = &g->assume[at(g, r)];
  switch (in->op) {
  case VYRE_OP_GET:
    if (!g->is_set[at(g, in->arg[0])]) mark_steps(g, g->k->p->code[in->arg[0]].arg[0]);
    return;
  case VYRE_OP_CONVERT: *slot = ASSUME_EXACT; break;
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: *slot = g->is_second[at(g, r)] ? ASSUME_SECOND : ASSUME_FIRST; break;
  case VYRE_OP_COPY:
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL:
  case VYRE_OP_NEG:
  case VYRE_OP_SHL: break;
  default: return; // no step that is known
  }
  for (int k = 0; k < op_table[in->op].operand_count; k++) mark_steps(g, in->arg[k]);
}

// Elements at a small constant distance are fields of records. All fields of a record are loaded
// together, so that loads of several fields share them; then all of it has to be inside.
enum { LARGEST_RECORD = 4 };

// What is added to the rest of an index.
static int64_t constant_part(const guards *g, ref r) {
  if (ref_is_const(r)) return guards_constant(g, r);
  const inst *in = &g->k->p->code[r];
  if (g->state[at(g, r)] != HAS_FORM || guards_is_fixed(g, r)) return 0;
  if (in->op == VYRE_OP_COPY || in->op == VYRE_OP_CONVERT) return constant_part(g, in->arg[0]);
  if (in->op != VYRE_OP_ADD && in->op != VYRE_OP_SUB) return 0;
  uint64_t x = (uint64_t)constant_part(g, in->arg[0]), y = (uint64_t)constant_part(g, in->arg[1]);
  return (int64_t)(in->op == VYRE_OP_ADD ? x + y : x - y);
}

// Stores are of records where they write all of them.
static void plan_written_record(guards *g, uint32_t i, int64_t stride) {
  uint32_t members[RUN_MOST];
  if (g->record[at(g, i)] || !run_is_stored(g->k->p, g->k->region, i, (unsigned)stride, members))
    return;
  for (unsigned k = 0; k < stride; k++) {
    g->record[at(g, members[k])] = (uint8_t)stride;
    g->field[at(g, members[k])] = (uint8_t)k;
  }
}

static void plan_record(guards *g, uint32_t i, form f) {
  const inst *in = &g->k->p->code[i];
  if (!word_is_known(f.stride)) return;
  int64_t stride = (int64_t)f.stride.lo;
  if (stride < 2 || stride > LARGEST_RECORD) return;
  if (in->op == VYRE_OP_STORE) plan_written_record(g, i, stride);
  if (in->op != VYRE_OP_LOAD) return;
  int64_t part = constant_part(g, in->arg[1]) % stride;
  g->record[at(g, i)] = (uint8_t)stride;
  g->field[at(g, i)] = (uint8_t)(part < 0 ? part + stride : part);
}

static void plan_access(guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  form f;
  bool is_huge = ref_is_const(in->arg[1]) && guards_constant(g, in->arg[1]) < 0;
  if (is_huge || !guards_form(g, in->arg[1], &f) || form_is_hopeless(f)) return;
  mark_steps(g, in->arg[1]);
  plan_record(g, i, f);
  g->assume[at(g, i)] = ASSUME_INSIDE;
  g->accesses++;
  g->count++;
}

// Elements that an index of this type can reach.
static word reachable(guards *g, uint32_t mem, vyre_type index) {
  uint64_t known = known_length(g, mem);
  llval length =
      g->scalar && mem_space(mem) != MEM_SHARED ? kernel_length(g->k, mem_index(mem)) : NULL;
  word all = known ? word_number(&g->m, known) : word_of(&g->m, length, 0, (int64_t)LIMIT_LENGTH);
  if (index != VYRE_I32) return all;
  return word_least(&g->m, all, word_number(&g->m, (uint64_t)1 << 31));
}

static must where_inside(guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  form f;
  if (!guards_form(g, in->arg[1], &f)) return must_none(&g->c);
  uint8_t record = g->record[at(g, i)], field = g->field[at(g, i)];
  word behind = word_number(&g->m, record ? (uint64_t)record - field : 1);
  word length = reachable(g, in->arg[0], ref_type(g->k->p, in->arg[1]));
  return must_within(&g->c, f, word_number(&g->m, field), word_minus(&g->m, length, behind));
}

// ---- what is the same along a row ---------------------------------------------------------------

static void find_set(guards *g) {
  const region *r = g->k->region;
  for (uint32_t i = r->body.first; i < r->body.end; i++)
    if (g->k->p->code[i].op == VYRE_OP_SET) g->is_set[at(g, g->k->p->code[i].arg[0])] = true;
}

static bool is_fixed_op(const guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  if (g->is_common && g->is_common[at(g, i)]) return true;
  switch (in->op) {
  case VYRE_OP_PARAM:
  case VYRE_OP_LEN:
  case VYRE_OP_GLOBAL_SIZE:
  case VYRE_OP_LOCAL_SIZE:
  case VYRE_OP_GROUP_COUNT:
  case VYRE_OP_GROUP_ID: return true;
  case VYRE_OP_GLOBAL_ID: return in->arg[0] == 2 || (in->arg[0] == 1 && g->rows == 1);
  case VYRE_OP_LOCAL_ID: return in->arg[0] != 0;
  case VYRE_OP_GET:
    return !g->is_set[at(g, in->arg[0])] && guards_is_fixed(g, g->k->p->code[in->arg[0]].arg[0]);
  default: // as fixed as its operands
    if (!op_is((vyre_op)in->op, OPF_PURE)) return false;
    for (int k = 0; k < op_table[in->op].operand_count; k++)
      if (!guards_is_fixed(g, in->arg[k])) return false;
    return true;
  }
}

// ---- plan and emission --------------------------------------------------------------------------

static bool allocate(guards *g) {
  arena *a = &g->k->u->arena;
  uint32_t count = g->k->region->body.end - g->k->region->body.first + 1;
  g->assume = arena_alloc_array(a, count, 1);
  g->state = arena_alloc_array(a, count, 1);
  g->forms = arena_alloc_array(a, count, sizeof *g->forms);
  g->steps = arena_alloc_array(a, count, 1);
  g->shift = arena_alloc_array(a, count, sizeof *g->shift);
  g->is_second = arena_alloc_array(a, count, sizeof(bool));
  g->is_followed = arena_alloc_array(a, count, sizeof(bool));
  g->is_known = arena_alloc_array(a, count, sizeof(bool));
  g->is_fixed = arena_alloc_array(a, count, sizeof(bool));
  g->is_set = arena_alloc_array(a, count, sizeof(bool));
  g->record = arena_alloc_array(a, count, 1);
  g->field = arena_alloc_array(a, count, 1);
  return g->record && g->field && g->assume && g->state && g->forms && g->is_known && g->is_fixed &&
         g->is_set && g->shift && g->is_second && g->is_followed && g->steps;
}

// Where the walk goes on behind operation i: not into blocks that are dead.
static uint32_t next_of(const guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  if (in->op == VYRE_OP_IF && g->assume[at(g, i)] == ASSUME_FALSE)
    return (in->arg[1] ? in->arg[1] : in->arg[2]) + 1;
  if (in->op == VYRE_OP_ELSE && g->assume[at(g, in->arg[1])] == ASSUME_TRUE) return in->arg[2];
  return i + 1;
}

bool guards_prepare(kernel *k, guards_wish wish, guards *out) {
  *out = (guards){.k = k, .rows = wish.rows, .phases = wish.phases};
  if (!allocate(out)) return false;
  find_set(out);
  return true;
}

bool guards_keep_formed(guards *g, range code) {
  guards_begin(g, NULL, NULL, NULL);
  for (uint32_t i = code.first; i < code.end; i++) {
    form f;
    if (g->assume[at(g, i)] != ASSUME_INSIDE) continue;
    if (guards_form(g, g->k->p->code[i].arg[1], &f) && !form_is_hopeless(f)) {
      g->count++;
      g->accesses++;
    } else {
      g->assume[at(g, i)] = ASSUME_NOTHING;
    }
  }
  return g->count > 0;
}

bool guards_plan(kernel *k, const shapes *shapes, guards_wish wish, guards *out) {
  if (!guards_prepare(k, wish, out)) return false;
  if (wish.phases && wish.phases->is_together) out->is_common = wish.phases->is_common;
  range code = k->region->body;
  for (uint32_t i = 0; wish.given && i < code.end - code.first; i++) out->assume[i] = wish.given[i];
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++)
    out->is_fixed[at(out, i)] = is_fixed_op(out, i);
  guards_begin(out, NULL, NULL, NULL);
  for (uint32_t i = code.first; i < code.end; i = next_of(out, i)) {
    const inst *in = &k->p->code[i];
    if (in->op == VYRE_OP_IF && !out->assume[at(out, i)]) plan_if(out, i, shapes, wish.other);
    if (is_access(in)) plan_access(out, i);
  }
  return true;
}

// Where what this operation is assumed to do is what it does.
static must where_step(guards *g, uint32_t op) {
  uint8_t way = g->assume[at(g, op)];
  form f;
  bool is_step = way == ASSUME_EXACT || way == ASSUME_FIRST || way == ASSUME_SECOND;
  return is_step && guards_form(g, op, &f) ? f.valid : must_all(&g->c);
}

// Of another phase, and computed again in this one.
static must where_cheap(guards *g, ref r, uint32_t phase) {
  const phases *ph = g->phases;
  must all = must_all(&g->c);
  if (ref_is_const(r) || ph->phase[at(g, r)] == phase) return all;
  if (ph->is_common[at(g, r)] || !ph->is_cheap[at(g, r)]) return all;
  all = must_and(&g->c, all, where_step(g, r));
  const inst *in = &g->k->p->code[r];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v') all = must_and(&g->c, all, where_cheap(g, in->arg[k], phase));
  return all;
}

// A conversion or clamp is assumed to do nothing because of an access, which may be in another
// phase: what this phase computes of it has to be true here too.
static must where_steps(guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  const char *operands = op_table[in->op].operands;
  must all = where_step(g, i);
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v')
      all = must_and(&g->c, all, where_cheap(g, in->arg[k], g->phases->phase[at(g, i)]));
  return all;
}

void guards_emit(guards *g, range code, emitter *scalar, llval x0, llval x1, llval *first,
                 llval *end) {
  guards_begin(g, scalar, x0, x1);
  must all = must_all(&g->c);
  for (uint32_t i = code.first; i < code.end; i = next_of(g, i)) {
    uint8_t way = g->assume[at(g, i)];
    if (way == ASSUME_TRUE || way == ASSUME_FALSE) {
      fact f = condition_fact(g, g->k->p->code[i].arg[0], way == ASSUME_TRUE);
      all = must_and(&g->c, all, f.must);
    } else if (way == ASSUME_INSIDE) {
      all = must_and(&g->c, all, where_inside(g, i));
    }
    if (g->phases) all = must_and(&g->c, all, where_steps(g, i));
  }
  *first = word_value(&g->m, all.first);
  *end = word_value(&g->m, all.end);
  g->scalar = NULL;
}

bool guards_differ(const guards *x, const guards *y, range code) {
  unsigned count = 0;
  for (uint32_t i = code.first; i < code.end; i++) {
    uint8_t way = x->assume[at(x, i)];
    bool is_condition = way == ASSUME_TRUE || way == ASSUME_FALSE;
    count += is_condition && way != y->assume[at(y, i)];
  }
  return count == 1;
}

// ---- gates --------------------------------------------------------------------------------------

// The one `if` that does something, or 0.
static uint32_t find_gate(const guards *g, range code, const bool *kept) {
  uint32_t gate = 0;
  for (uint32_t i = code.first; i < code.end; i++) {
    const inst *in = &g->k->p->code[i];
    uint32_t made = in->op == VYRE_OP_SET ? in->arg[0] : i;
    if (g->is_common && g->is_common[at(g, made)]) continue;
    if (kept && kept[at(g, made)]) return 0;
    if (in->op == VYRE_OP_IF && !gate && !in->arg[1]) {
      gate = i;
      i = in->arg[2];
      continue;
    }
    bool is_silent = op_is((vyre_op)in->op, OPF_PURE) || in->op == VYRE_OP_GET ||
                     in->op == VYRE_OP_SET || in->op == VYRE_OP_VAR || in->op == VYRE_OP_ARRAY ||
                     in->op == VYRE_OP_LOAD;
    if (!is_silent) return 0;
  }
  return gate;
}

void guards_gate(guards *g, range code, const bool *kept, unsigned width, emitter *scalar,
                 llval *x0, llval *x1) {
  uint32_t gate = find_gate(g, code, kept);
  if (!gate) return;
  ref condition = g->k->p->code[gate].arg[0];
  guards_begin(g, NULL, NULL, NULL);
  condition_fact(g, condition, true); // finds which values have forms
  guards_begin(g, scalar, *x0, *x1);
  g->c.wants = WANTS_MAY;
  may can = condition_fact(g, condition, true).may;
  LLVMBuilderRef b = scalar->b;
  if (!word_is_same(can.first, g->c.first)) {
    llval skip = LLVMBuildSub(b, word_value(&g->m, can.first), *x0, "");
    skip = LLVMBuildAnd(b, skip, const_i64(g->k->u, ~(uint64_t)(width - 1)), "");
    *x0 = LLVMBuildAdd(b, *x0, skip, "");
  }
  *x1 = word_value(&g->m, can.end);
  g->scalar = NULL;
}
