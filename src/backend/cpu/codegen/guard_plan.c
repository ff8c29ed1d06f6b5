// SPDX-License-Identifier: MIT
//
// What to assume: every access whose index has a form, every `if` on ids whose condition can be
// made of forms. An `if` is assumed to be taken, unless it leaves or asks for one place.
#include "backend/cpu/codegen/guard.h"

static uint32_t at(const guards *g, uint32_t op) {
  return op - g->k->region->body.first;
}

static bool is_dry(const guards *g) {
  return !g->scalar;
}

// ---- conditions ---------------------------------------------------------------------------------

static bool is_fixed(const guards *g, ref r) {
  return ref_is_const(r) || g->is_fixed[at(g, r)];
}

static bool assume_compare(guards *g, const inst *in, bool wanted) {
  form x, y;
  vyre_type type = ref_type(g->k->p, in->arg[0]);
  if (!type_is_int(type) || !guards_form(g, in->arg[0], &x) || !guards_form(g, in->arg[1], &y))
    return false;
  unsigned op = in->op;
  bool is_equality = op == VYRE_OP_EQ || op == VYRE_OP_NE;
  if (is_equality &&
      ((op == VYRE_OP_EQ) == wanted || !x.is_point || !y.is_point || x.stride == y.stride))
    return false;
  guards_require_type(g, &x, type);
  guards_require_type(g, &y, type);
  if (is_equality) {
    guards_require_unequal(g, &x, &y);
    return true;
  }
  // Everything is x < y or x <= y, in one order or the other.
  bool is_less = op == VYRE_OP_LT || op == VYRE_OP_LE;
  bool or_equal = op == VYRE_OP_LE || op == VYRE_OP_GE;
  if (is_less == wanted)
    guards_require_order(g, &x, &y, or_equal == wanted);
  else
    guards_require_order(g, &y, &x, or_equal == wanted);
  return true;
}

static bool assume_condition(guards *g, ref r, bool wanted) {
  if (is_fixed(g, r)) {
    if (is_dry(g)) return true;
    llval v = guards_fixed(g, r);
    guards_require(g, wanted ? v : LLVMBuildNot(g->scalar->b, v, ""));
    return true;
  }
  const inst *in = &g->k->p->code[r];
  switch (in->op) {
  case VYRE_OP_COPY: return assume_condition(g, in->arg[0], wanted);
  case VYRE_OP_NOT: return assume_condition(g, in->arg[0], !wanted);
  case VYRE_OP_AND:
  case VYRE_OP_OR:
    if ((in->op == VYRE_OP_AND) != wanted) return false;
    return assume_condition(g, in->arg[0], wanted) && assume_condition(g, in->arg[1], wanted);
  case VYRE_OP_LT:
  case VYRE_OP_LE:
  case VYRE_OP_GT:
  case VYRE_OP_GE:
  case VYRE_OP_EQ:
  case VYRE_OP_NE: return assume_compare(g, in, wanted);
  default: return false;
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
    if (!assume_condition(g, in->arg[0], guess)) continue;
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
  if (ref_is_const(r) || is_fixed(g, r)) return;
  const inst *in = &g->k->p->code[r];
  if (g->state[at(g, r)] != HAS_FORM) return;
  form x, y;
  uint8_t *slot = &g->assume[at(g, r)];
  switch (in->op) {
  case VYRE_OP_GET:
    if (!g->is_set[at(g, in->arg[0])]) mark_steps(g, g->k->p->code[in->arg[0]].arg[0]);
    return;
  case VYRE_OP_CONVERT: *slot = ASSUME_EXACT; break;
  case VYRE_OP_MIN:
  case VYRE_OP_MAX:
    guards_form(g, in->arg[0], &x);
    guards_form(g, in->arg[1], &y);
    *slot = form_moves(&x) ? ASSUME_FIRST : ASSUME_SECOND;
    break;
  case VYRE_OP_COPY:
  case VYRE_OP_ADD:
  case VYRE_OP_SUB:
  case VYRE_OP_MUL:
  case VYRE_OP_NEG:
  case VYRE_OP_SHL: break;
  default: return;
  }
  for (int k = 0; k < op_table[in->op].operand_count; k++) mark_steps(g, in->arg[k]);
}

// Elements at a small constant distance are fields of records. All fields of a record are loaded
// together, so that loads of several fields share them; then all of it has to be inside.
enum { LARGEST_RECORD = 4 };

static int64_t constant_part(const guards *g, ref r);

static int64_t term_part(const guards *g, ref r) {
  int64_t c;
  return guards_negative_term(g, r, &c) ? c : constant_part(g, r);
}

static int64_t constant_part(const guards *g, ref r) {
  if (ref_is_const(r)) {
    value_range k = range_of(&g->k->known, r);
    return range_is_known(k) ? k.lo : 0;
  }
  const inst *in = &g->k->p->code[r];
  if (g->state[at(g, r)] != HAS_FORM || is_fixed(g, r)) return 0;
  if (in->op == VYRE_OP_COPY || in->op == VYRE_OP_CONVERT) return constant_part(g, in->arg[0]);
  if (in->op == VYRE_OP_ADD) return term_part(g, in->arg[0]) + term_part(g, in->arg[1]);
  if (in->op == VYRE_OP_SUB) return constant_part(g, in->arg[0]) - constant_part(g, in->arg[1]);
  return 0;
}

static void plan_record(guards *g, uint32_t i, const form *f) {
  const inst *in = &g->k->p->code[i];
  if (in->op != VYRE_OP_LOAD || f->stride < 2 || f->stride > LARGEST_RECORD) return;
  int64_t part = constant_part(g, in->arg[1]) % f->stride;
  g->record[at(g, i)] = (uint8_t)f->stride;
  g->field[at(g, i)] = (uint8_t)(part < 0 ? part + f->stride : part);
}

static void plan_access(guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  form f;
  if (!guards_form(g, in->arg[1], &f)) return;
  mark_steps(g, in->arg[1]);
  plan_record(g, i, &f);
  g->assume[at(g, i)] = ASSUME_INSIDE;
  g->accesses++;
  g->count++;
}

static void require_inside(guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  form f;
  if (!guards_form(g, in->arg[1], &f)) return;
  emitter *e = g->scalar;
  uint32_t mem = in->arg[0];
  llval length = mem_space(mem) == MEM_SHARED ? const_i64(e->u, known_length(g, mem))
                                              : kernel_length(g->k, mem_index(mem));
  if (ref_type(g->k->p, in->arg[1]) == VYRE_I32) {
    llval top = const_i64(e->u, (uint64_t)1 << 31);
    llval is_more = LLVMBuildICmp(e->b, LLVMIntUGT, length, top, "");
    length = LLVMBuildSelect(e->b, is_more, top, length, "");
  }
  uint8_t record = g->record[at(g, i)], field = g->field[at(g, i)];
  uint64_t behind = record ? (uint64_t)record - field : 1;
  llval most = LLVMBuildSub(e->b, length, const_i64(e->u, behind), "");
  guards_require_range(g, &f, const_i64(e->u, field), most);
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
    return !g->is_set[at(g, in->arg[0])] && is_fixed(g, g->k->p->code[in->arg[0]].arg[0]);
  default:
    if (!op_is((vyre_op)in->op, OPF_PURE)) return false;
    for (int k = 0; k < op_table[in->op].operand_count; k++)
      if (!is_fixed(g, in->arg[k])) return false;
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
  g->is_known = arena_alloc_array(a, count, sizeof(bool));
  g->is_fixed = arena_alloc_array(a, count, sizeof(bool));
  g->is_set = arena_alloc_array(a, count, sizeof(bool));
  g->record = arena_alloc_array(a, count, 1);
  g->field = arena_alloc_array(a, count, 1);
  return g->record && g->field && g->assume && g->state && g->forms && g->is_known && g->is_fixed &&
         g->is_set;
}

// Where the walk goes on behind operation i: not into blocks that are dead.
static uint32_t next_of(const guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  if (in->op == VYRE_OP_IF && g->assume[at(g, i)] == ASSUME_FALSE)
    return (in->arg[1] ? in->arg[1] : in->arg[2]) + 1;
  if (in->op == VYRE_OP_ELSE && g->assume[at(g, in->arg[1])] == ASSUME_TRUE) return in->arg[2];
  return i + 1;
}

bool guards_plan(kernel *k, const shapes *shapes, guards_wish wish, guards *out) {
  *out = (guards){.k = k, .rows = wish.rows, .phases = wish.phases};
  if (wish.phases && wish.phases->is_together) out->is_common = wish.phases->is_common;
  range code = k->region->body;
  if (!allocate(out)) return false;
  find_set(out);
  for (uint32_t i = k->region->body.first; i < k->region->body.end; i++)
    out->is_fixed[at(out, i)] = is_fixed_op(out, i);
  for (uint32_t i = code.first; i < code.end; i = next_of(out, i)) {
    const inst *in = &k->p->code[i];
    if (in->op == VYRE_OP_IF) plan_if(out, i, shapes, wish.other);
    if (is_access(in)) plan_access(out, i);
  }
  return true;
}

static void begin(guards *g, emitter *scalar, llval x0, llval x1) {
  uint32_t count = g->k->region->body.end - g->k->region->body.first;
  for (uint32_t i = 0; i < count; i++) g->is_known[i] = false;
  g->scalar = scalar;
  scalar->round++;
  g->low = g->type_low = g->x0 = x0;
  g->high = g->type_high = g->x1 = x1;
  g->bad = g->never = NULL;
}

static void require_step(guards *g, uint32_t op) {
  uint8_t way = g->assume[at(g, op)];
  form f;
  if (way == ASSUME_EXACT || way == ASSUME_FIRST || way == ASSUME_SECOND) guards_form(g, op, &f);
}

// Of another phase, and computed again in this one.
static void require_cheap(guards *g, ref r, uint32_t phase) {
  const phases *ph = g->phases;
  if (ref_is_const(r) || ph->phase[at(g, r)] == phase) return;
  if (ph->is_common[at(g, r)] || !ph->is_cheap[at(g, r)]) return;
  require_step(g, r);
  const inst *in = &g->k->p->code[r];
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v') require_cheap(g, in->arg[k], phase);
}

// A conversion or clamp is assumed to do nothing because of an access, which may be in another
// phase: what this phase computes of it has to be true here too.
static void require_steps(guards *g, uint32_t i) {
  const inst *in = &g->k->p->code[i];
  const char *operands = op_table[in->op].operands;
  require_step(g, i);
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v') require_cheap(g, in->arg[k], g->phases->phase[at(g, i)]);
}

void guards_emit(guards *g, range code, emitter *scalar, llval x0, llval x1, llval *first,
                 llval *end) {
  begin(g, scalar, x0, x1);
  for (uint32_t i = code.first; i < code.end; i = next_of(g, i)) {
    uint8_t way = g->assume[at(g, i)];
    if (way == ASSUME_TRUE || way == ASSUME_FALSE)
      assume_condition(g, g->k->p->code[i].arg[0], way == ASSUME_TRUE);
    else if (way == ASSUME_INSIDE)
      require_inside(g, i);
    if (g->phases) require_steps(g, i);
  }
  *first = g->low;
  *end = g->bad ? LLVMBuildSelect(scalar->b, g->bad, g->low, g->high, "") : g->high;
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

// Sound only where every form in the condition is the value itself, for the whole row.
static llval is_sound(const guards *g) {
  LLVMBuilderRef b = g->scalar->b;
  llval starts = LLVMBuildICmp(b, LLVMIntSLE, g->type_low, g->x0, "");
  llval ends = LLVMBuildICmp(b, LLVMIntSGE, g->type_high, g->x1, "");
  llval ok = LLVMBuildAnd(b, starts, ends, "");
  return g->bad ? LLVMBuildAnd(b, ok, LLVMBuildNot(b, g->bad, ""), "") : ok;
}

void guards_gate(guards *g, range code, const bool *kept, unsigned width, emitter *scalar,
                 llval *x0, llval *x1) {
  uint32_t gate = find_gate(g, code, kept);
  g->is_gating = true;
  bool ok = gate && assume_condition(g, g->k->p->code[gate].arg[0], true);
  if (ok) {
    LLVMBuilderRef b = scalar->b;
    begin(g, scalar, *x0, *x1);
    assume_condition(g, g->k->p->code[gate].arg[0], true);
    llval sound = is_sound(g), skip = LLVMBuildSub(b, g->low, *x0, "");
    skip = LLVMBuildAnd(b, skip, const_i64(g->k->u, ~(uint64_t)(width - 1)), "");
    llval low = LLVMBuildAdd(b, *x0, skip, ""), high = g->high;
    if (g->never) high = LLVMBuildSelect(b, g->never, low, high, "");
    *x0 = LLVMBuildSelect(b, sound, low, *x0, "");
    *x1 = LLVMBuildSelect(b, sound, high, *x1, "");
    g->scalar = NULL;
  }
  g->is_gating = false;
}

// ---- exact indices ------------------------------------------------------------------------------

// As an index of its own width, when nothing better is known.
static llval plain_index(const emitter *e, ref index, unsigned row) {
  return build_extend(e, ref_type(e->p, index), value_scalar(e, index, row));
}

static llval next_to(const emitter *e, llval x, unsigned lane) {
  return lane ? LLVMBuildNSWAdd(e->b, x, const_i64(e->u, lane), "") : x;
}

// Where the step is known when it runs, a product may pass 64 bits on the way to a sum that does
// not: it wraps.
static llval term_index(const guards *g, const emitter *e, ref index, unsigned row, unsigned lane) {
  int64_t c;
  if (guards_negative_term(g, index, &c)) return const_i64(e->u, (uint64_t)c);
  return guards_index(g, e, index, row, lane);
}

static llval arithmetic_index(const guards *g, const emitter *e, ref index, unsigned row,
                              unsigned lane) {
  const inst *in = &e->p->code[index];
  bool wraps = g->forms[at(g, index)].is_runtime;
  if (in->op == VYRE_OP_ADD) {
    llval a = term_index(g, e, in->arg[0], row, lane), b = term_index(g, e, in->arg[1], row, lane);
    return wraps ? LLVMBuildAdd(e->b, a, b, "") : LLVMBuildNSWAdd(e->b, a, b, "");
  }
  llval x = guards_index(g, e, in->arg[0], row, lane), y;
  if (in->op == VYRE_OP_NEG) {
    y = x;
    x = const_i64(e->u, 0);
  } else if (in->op == VYRE_OP_SHL) {
    value_range count = range_of(&e->k->known, in->arg[1]);
    y = const_i64(e->u, (uint64_t)1 << ((uint64_t)count.lo & (type_bits(in->type) - 1)));
  } else {
    y = guards_index(g, e, in->arg[1], row, lane);
  }
  switch (in->op) {
  case VYRE_OP_SUB:
  case VYRE_OP_NEG: return wraps ? LLVMBuildSub(e->b, x, y, "") : LLVMBuildNSWSub(e->b, x, y, "");
  default: return wraps ? LLVMBuildMul(e->b, x, y, "") : LLVMBuildNSWMul(e->b, x, y, "");
  }
}

// Follows the same steps as the form, so that it is the same number. What an earlier phase made is
// not at hand, and the value itself is as good.
llval guards_index(const guards *g, const emitter *e, ref index, unsigned row, unsigned lane) {
  if (e->keep || is_fixed(g, index) || g->state[at(g, index)] != HAS_FORM)
    return plain_index(e, index, row);
  const inst *in = &e->p->code[index];
  uint8_t way = g->assume[at(g, index)];
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID: return in->arg[0] == 0 ? next_to(e, e->x, lane) : e->y[row];
  case VYRE_OP_LOCAL_ID: return next_to(e, e->local_x, lane);
  case VYRE_OP_FOR:
    return e->wide[index - e->first] ? e->wide[index - e->first] : plain_index(e, index, row);
  case VYRE_OP_GET: return guards_index(g, e, e->p->code[in->arg[0]].arg[0], row, lane);
  case VYRE_OP_COPY:
  case VYRE_OP_CONVERT: return guards_index(g, e, in->arg[0], row, lane);
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: return guards_index(g, e, in->arg[way == ASSUME_SECOND], row, lane);
  default: return arithmetic_index(g, e, index, row, lane);
  }
}

bool guards_can_index(const guards *g, ref index) {
  if (is_fixed(g, index)) return true;
  const inst *in = &g->k->p->code[index];
  if (g->state[at(g, index)] != HAS_FORM) return false;
  switch (in->op) {
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOCAL_ID:
  case VYRE_OP_FOR: return true;
  case VYRE_OP_GET: return guards_can_index(g, g->k->p->code[in->arg[0]].arg[0]);
  default:
    for (int k = 0; k < op_table[in->op].operand_count; k++)
      if (!guards_can_index(g, in->arg[k])) return false;
    return true;
  }
}
