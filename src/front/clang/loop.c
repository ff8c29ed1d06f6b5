// SPDX-License-Identifier: MIT
//
// Loops. A for statement that counts becomes the IR's `for`, whose bounds are evaluated once, when
// nothing in the loop can change its bound. A counter is taken not to wrap around: a loop that
// would go on for ever because of that ends instead.
#include "front/clang/lower.h"

// The body of a loop of the IR. Returns whether its end can be reached.
static bool lower_body(lowering *l, node *body, label *next) {
  label *break_to = l->break_to, *continue_to = l->continue_to;
  l->break_to = NULL;
  l->continue_to = next;
  if (next) {
    next->loop_depth = l->loop_depth;
    l->labels = l->tail = next;
  }
  bool falls = lower_stmt(l, body);
  if (next) label_end(l, next);
  l->tail = NULL;
  l->break_to = break_to;
  l->continue_to = continue_to;
  return falls || (next && next->jumps);
}

// ---- while and do -------------------------------------------------------------------------------

bool lower_while(lowering *l, node *s) {
  vyre_build_while(l->b);
  ref c = condition(l, s->kid[0]);
  vyre_build_do(l->b, c);
  pending p = loop_begin(l);
  lower_body(l, s->kid[1], NULL);
  vyre_build_end(l->b);
  loop_end(l, &p);
  return true;
}

static void leave_unless(lowering *l, ref c) {
  uint64_t known;
  if (e_is_const(l, c, &known) && known) return;
  vyre_build_if(l->b, e_not(l, c));
  vyre_build_break(l->b);
  vyre_build_end(l->b);
}

bool lower_do(lowering *l, node *s) {
  vyre_build_while(l->b);
  vyre_build_do(l->b, vyre_build_bool(l->b, true));
  pending p = loop_begin(l);
  label next = label_begin(l, LABEL_CONTINUE, s);
  if (lower_body(l, s->kid[0], &next)) {
    ref c = condition(l, s->kid[1]);
    uint64_t known;
    if (e_is_const(l, c, &known) && !known)
      vyre_build_break(l->b);
    else
      leave_unless(l, c);
  }
  vyre_build_end(l->b);
  loop_end(l, &p);
  return true;
}

// ---- for ----------------------------------------------------------------------------------------

static void lower_init(lowering *l, node *init) {
  if (!init) return;
  if (init->kind >= S_BLOCK)
    lower_stmt(l, init);
  else
    effects(l, init);
}

static bool lower_general_for(lowering *l, node *s) {
  lower_init(l, s->kid[0]);
  vyre_build_while(l->b);
  ref c = s->kid[1] ? condition(l, s->kid[1]) : vyre_build_bool(l->b, true);
  vyre_build_do(l->b, c);
  pending p = loop_begin(l);
  label next = label_begin(l, LABEL_CONTINUE, s);
  bool falls = lower_body(l, s->kid[3], s->kid[2] ? &next : NULL);
  if (falls && s->kid[2]) effects(l, s->kid[2]);
  vyre_build_end(l->b);
  loop_end(l, &p);
  return true;
}

static bool contains_break(const node *s, bool in_loop) {
  if (!s || s->kind < S_BLOCK) return false;
  if (s->kind == S_GOTO || (!in_loop && (s->kind == S_BREAK || s->kind == S_RETURN))) return true;
  if (s->kind == S_FOR || s->kind == S_WHILE || s->kind == S_DO) in_loop = true;
  for (uint32_t i = 0; i < s->count; i++)
    if (contains_break(s->kid[i], in_loop)) return true;
  return false;
}

// Variables that the bound mentions must not change in the loop.
static bool is_written_in(const node *s, const decl *d) {
  if (!s) return false;
  if ((s->kind == N_BINARY && s->op >= CXBinaryOperator_Assign &&
       s->op <= CXBinaryOperator_OrAssign) ||
      (s->kind == N_UNARY && s->op >= CXUnaryOperator_PostInc && s->op <= CXUnaryOperator_PreDec)) {
    const node *to = s->kid[0];
    while (to->kind == N_MEMBER || to->kind == N_SWIZZLE || to->kind == N_INDEX ||
           to->kind == N_CAST)
      to = to->kid[0];
    if (to->kind == N_NAME && to->decl == d) return true;
  }
  for (uint32_t i = 0; i < s->count; i++)
    if (is_written_in(s->kid[i], d)) return true;
  return s->kind == S_DECL && s->decl->init && is_written_in(s->decl->init, d);
}

static bool is_invariant(const node *n, const node *body) {
  if (n->kind == N_NAME && n->decl->type->kind != T_ARRAY &&
      (n->decl->address_taken || (n->decl->writes && is_written_in(body, n->decl))))
    return false;
  for (uint32_t i = 0; i < n->count; i++)
    if (!is_invariant(n->kid[i], body)) return false;
  return true;
}

static bool counter_is_used_after(const counting *c) {
  return !c->declares && c->counter->uses != c->counter->loop_uses;
}

static bool is_integer(const ctype *type) {
  return type->kind == T_SCALAR && type_is_int(type->scalar);
}

// A positive constant; local sizes are known here. 0: it is none.
static uint64_t constant_step(lowering *l, node *step) {
  if (!step) return 1;
  if (!is_integer(step->type) || !is_pure(l, step)) return 0;
  node *call = step;
  uint64_t bits;
  // 16 bits have room for every local size.
  while (call->kind == N_CAST && is_integer(call->type) && call->type->size > 1)
    call = call->kid[0];
  if (call->kind == N_CALL && !call->callee && builtin_local_size(l, call, &bits)) return bits;
  ref r = rvalue_scalar(l, step);
  if (!e_is_const(l, r, &bits) || (int64_t)bits <= 0 || bits > INT32_MAX) return 0;
  return bits;
}

// The counter as the loop counts it, and how the source's counter follows from it.
typedef struct count_plan {
  vyre_type type;
  ref lo, hi;
  uint64_t step;
  bool is_down;
  ref start; // is_down: the source's counter is start - (k - lo)
} count_plan;

static bool is_never_negative(lowering *l, ref r) {
  uint64_t bits;
  vyre_type type = e_type(l, r);
  if (e_is_const(l, r, &bits)) return !type_is_signed(type) || (int64_t)bits >= 0;
  return !type_is_signed(type);
}

static uint64_t largest_of(vyre_type type) {
  return UINT64_MAX >> (64 - type_bits(type) + type_is_signed(type));
}

// x + 1; of the largest number it is that number, with which a loop ends one iteration too early
// where it would go round for ever.
static ref one_more(lowering *l, ref x) {
  vyre_type type = e_type(l, x);
  uint64_t bits, largest = largest_of(type);
  if (e_is_const(l, x, &bits)) return bits == largest ? x : e_add_const(l, x, 1);
  return e_add_const(l, e_binary(l, VYRE_OP_MIN, x, e_const(l, type, largest - 1)), 1);
}

static bool plan_up(lowering *l, const counting *c, count_plan *plan) {
  vyre_type own = c->counter->type->scalar;
  plan->type = c->compared->scalar;
  ref lo = e_convert(l, own, rvalue_scalar(l, c->lo));
  // Compared as unsigned, a counter that starts below zero would be large.
  if (type_is_signed(own) && !type_is_signed(plan->type) && !is_never_negative(l, lo)) return false;
  plan->lo = e_convert(l, plan->type, lo);
  plan->hi = e_convert(l, plan->type, rvalue_scalar(l, c->hi));
  if (c->is_inclusive) plan->hi = one_more(l, plan->hi);
  return true;
}

// i = start; i >= end; i--: k goes up from end to start, and i is start + end - k. start + 1 must
// not wrap: a constant, or something from which something was subtracted.
static bool plan_down(lowering *l, const counting *c, count_plan *plan) {
  vyre_type own = c->counter->type->scalar;
  if (plan->step != 1 || !type_is_signed(own) || own != c->compared->scalar) return false;
  node *lo = ast_skip_casts(c->lo);
  uint64_t bits;
  ref start = e_convert(l, own, rvalue_scalar(l, c->lo));
  bool is_safe = e_is_const(l, start, &bits)
                     ? (int64_t)bits < INT32_MAX
                     : lo->kind == N_BINARY && lo->op == CXBinaryOperator_Sub;
  if (!is_safe) return false;
  plan->type = own;
  plan->is_down = true;
  plan->start = start;
  ref end = e_convert(l, own, rvalue_scalar(l, c->hi));
  if (!c->is_inclusive) end = one_more(l, end);
  plan->lo = end;
  plan->hi = one_more(l, start);
  return true;
}

// What is_invariant does not look at: memory, and small arrays in variables.
static bool is_array(const base *b) {
  return b->kind == B_MEMORY || (b->kind == B_VARS && b->type->kind == T_ARRAY);
}

static bool plan_count(lowering *l, node *s, count_plan *plan) {
  const counting *c = s->counts;
  if (!c || !is_integer(c->counter->type) || !is_integer(c->compared)) return false;
  base *b = base_of_decl(l, c->counter);
  if (c->counter->address_taken || b->in_memory || b->is_mutable) return false;
  // After a break the counter is what it was then.
  if (counter_is_used_after(c) && contains_break(s->kid[3], false)) return false;
  if (!is_pure(l, c->lo) || !is_pure(l, c->hi) || !is_invariant(c->hi, s->kid[3])) return false;
  plan->step = constant_step(l, c->step);
  if (!plan->step) return false;
  base_set loads = {0}, *outer = l->loaded;
  l->loaded = &loads;
  bool ok = c->is_down ? plan_down(l, c, plan) : plan_up(l, c, plan);
  l->loaded = outer;
  // The last round knows all that is written.
  for (uint32_t i = 0; i < loads.count; i++)
    if (is_array(loads.at[i]) && loads.at[i]->is_written) ok = false;
  return ok;
}

// The source's counter of this iteration.
static ref count_value(lowering *l, const counting *c, const count_plan *plan, ref k) {
  vyre_type own = c->counter->type->scalar;
  if (plan->is_down) {
    uint64_t lo;
    ref ends = e_is_const(l, plan->lo, &lo) ? e_add_const(l, plan->start, (int64_t)lo)
                                            : e_binary(l, VYRE_OP_ADD, plan->start, plan->lo);
    ref i = e_binary(l, VYRE_OP_SUB, ends, k);
    e_name(l, i, c->counter->name);
    return i;
  }
  ref i = e_convert(l, own, k);
  e_name(l, i, c->counter->name);
  return i;
}

// What the counter is after the loop.
static ref count_end(lowering *l, const count_plan *plan) {
  ref runs = e_binary(l, VYRE_OP_LT, plan->lo, plan->hi);
  if (plan->is_down) {
    ref past = e_binary(l, VYRE_OP_SUB, plan->lo, e_int(l, plan->type, 1));
    return e_select(l, runs, past, plan->start);
  }
  ref end = plan->hi;
  if (plan->step > 1) {
    ref step = e_int(l, plan->type, (int64_t)plan->step), one = e_int(l, plan->type, 1);
    ref past = e_binary(l, VYRE_OP_SUB, e_binary(l, VYRE_OP_SUB, plan->hi, plan->lo), one);
    ref trips = e_binary(l, VYRE_OP_ADD, e_binary(l, VYRE_OP_DIV, past, step), one);
    end = e_binary(l, VYRE_OP_ADD, plan->lo, e_binary(l, VYRE_OP_MUL, trips, step));
  }
  return e_select(l, runs, end, plan->lo);
}

static bool lower_counted_for(lowering *l, node *s, const count_plan *plan) {
  const counting *c = s->counts;
  base *b = base_of_decl(l, c->counter);
  base outside = *b;
  ref k = vyre_build_for(l->b, plan->lo, plan->hi, e_int(l, plan->type, (int64_t)plan->step));
  pending p = loop_begin(l);
  cell *cells = UNIT_NEW(l->u, cell);
  cells->v = count_value(l, c, plan, k);
  b->kind = B_VALUE;
  b->cells = cells;
  b->type = c->counter->type;
  lower_body(l, s->kid[3], NULL);
  vyre_build_end(l->b);
  loop_end(l, &p);
  b->kind = outside.kind;
  b->cells = outside.cells;
  b->type = outside.type;
  if (counter_is_used_after(c)) {
    place to = {.type = c->counter->type, .at = pointer_to(l, b)};
    ref end = e_convert(l, c->counter->type->scalar, count_end(l, plan));
    store(l, &to, value_scalar(l, end), s->offset);
  }
  return true;
}

bool lower_for(lowering *l, node *s) {
  count_plan plan = {0};
  return plan_count(l, s, &plan) ? lower_counted_for(l, s, &plan) : lower_general_for(l, s);
}
