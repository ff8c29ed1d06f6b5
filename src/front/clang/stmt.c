// SPDX-License-Identifier: MIT
//
// Statements. The IR has break, continue and return of an invocation. Other jumps (return from an
// inlined function, break out of a switch, continue in a loop that has a step) skip what follows:
// `if (c) return a; rest` becomes `if c { result = a } else { rest }`, and where that does not do,
// a flag is set and what follows is under `if !flag`.
#include "front/clang/lower.h"
#include "front/clang/together.h"

#include <string.h>

// ---- labels -------------------------------------------------------------------------------------

label label_begin(lowering *l, label_kind kind, const void *key) {
  label made = {.outer = l->labels, .kind = kind, .loop_depth = l->loop_depth, .ctx = l->ctx};
  made.needs_flag = fact(l, key, FACT_LABEL + 8 * (int)kind, sizeof(bool));
  static const char *const names[] = {"returned", "broken", "continued", "left"};
  if (*made.needs_flag) made.flag = vyre_build_var(l->b, names[kind], vyre_build_bool(l->b, false));
  return made;
}

void label_end(lowering *l, label *made) {
  l->labels = made->outer;
}

static void jump(lowering *l, label *to) {
  to->jumps++;
  bool from_loop = l->loop_depth > to->loop_depth;
  if (from_loop) note(l, to->needs_flag);
  if (to->flag && l->tail != to) vyre_build_set(l->b, to->flag, vyre_build_bool(l->b, true));
  if (from_loop) vyre_build_break(l->b);
}

pending pending_begin(lowering *l) {
  pending p = {0};
  for (label *at = l->labels; at; at = at->outer) p.count++;
  p.jumps = UNIT_ARRAY(l->u, p.count, uint32_t);
  uint32_t i = 0;
  for (label *at = l->labels; at; at = at->outer) p.jumps[i++] = at->jumps;
  return p;
}

ref pending_flag(lowering *l, const pending *p) {
  ref any = 0;
  uint32_t i = 0;
  for (label *at = l->labels; at && i < p->count; at = at->outer, i++) {
    if (at->jumps == p->jumps[i] || at->loop_depth != l->loop_depth) continue;
    note(l, at->needs_flag);
    ref flag = at->flag ? vyre_build_get(l->b, at->flag) : vyre_build_bool(l->b, false);
    any = any ? e_or(l, any, flag) : flag;
  }
  return any;
}

pending loop_begin(lowering *l) {
  pending p = pending_begin(l);
  p.tail = l->tail;
  l->tail = NULL;
  l->loop_depth++;
  return p;
}

void loop_end(lowering *l, const pending *p) {
  l->loop_depth--;
  l->tail = p->tail;
  uint32_t i = 0;
  for (label *at = l->labels; at && i < p->count; at = at->outer, i++) {
    if (at->jumps == p->jumps[i] || at->loop_depth >= l->loop_depth) continue;
    vyre_build_if(l->b, at->flag ? vyre_build_get(l->b, at->flag) : vyre_build_bool(l->b, false));
    vyre_build_break(l->b);
    vyre_build_end(l->b);
  }
}

// ---- whether a statement ends -------------------------------------------------------------------

static bool list_completes(node *const *list, uint32_t count) {
  bool made = true; // a label is where control comes in again
  for (uint32_t i = 0; i < count; i++)
    made = (made || (list[i]->kind == S_LABEL && list[i]->jumps)) && completes(list[i]);
  return made;
}

bool completes(const node *s) {
  switch (s->kind) {
  case S_RETURN:
  case S_GOTO:
  case S_BREAK:
  case S_CONTINUE: return false;
  case S_BLOCK: return list_completes(s->kid, s->count);
  case S_IF: return !s->kid[2] || completes(s->kid[1]) || completes(s->kid[2]);
  case S_CASE:
  case S_LABEL:
  case S_DEFAULT: return completes(s->kid[0]);
  default: return true;
  }
}

static label *goto_label(const lowering *l, const node *s) {
  label *to = l->labels;
  while (to && (to->kind != LABEL_GOTO || to->ctx != l->ctx || strcmp(to->name, s->name)))
    to = to->outer;
  return to;
}

static label *return_label(const lowering *l) {
  if (l->depth == 0) return NULL;
  label *to = l->labels;
  while (to && to->kind != LABEL_RETURN) to = to->outer;
  return to;
}

// A jump to the label stays in the present loop of the IR.
static bool is_here(const lowering *l, const label *to) {
  return to && to->loop_depth == l->loop_depth;
}

// Whether a jump inside of `s` leads to a label, past what follows `s`.
static bool may_jump(const lowering *l, const node *s, bool in_loop, bool in_switch) {
  if (!s || s->kind < S_BLOCK) return false;
  switch (s->kind) {
  case S_RETURN: return is_here(l, return_label(l));
  case S_GOTO: return is_here(l, goto_label(l, s));
  case S_BREAK: return !in_loop && !in_switch && is_here(l, l->break_to);
  case S_CONTINUE: return !in_loop && is_here(l, l->continue_to);
  case S_FOR:
  case S_WHILE:
  case S_DO: in_loop = in_switch = true; break;
  case S_SWITCH: in_switch = true; break;
  default: break;
  }
  for (uint32_t i = 0; i < s->count; i++)
    if (may_jump(l, s->kid[i], in_loop, in_switch)) return true;
  return false;
}

// ---- lists --------------------------------------------------------------------------------------

// `first`, which may be missing, and what follows it.
static bool lower_rest(lowering *l, node *first, node **list, uint32_t count) {
  if (!first) return lower_list(l, list, count);
  node **all = UNIT_ARRAY(l->u, count + 1, node *);
  all[0] = first;
  if (count) memcpy(all + 1, list, count * sizeof *all);
  return lower_list(l, all, count + 1);
}

// The label that a statement jumps to and does nothing else.
static label *bare_jump(const lowering *l, const node *s) {
  while (s->kind == S_BLOCK && s->count == 1) s = s->kid[0];
  return s->kind == S_BREAK                  ? l->break_to
         : s->kind == S_CONTINUE             ? l->continue_to
         : s->kind == S_RETURN && !s->kid[0] ? return_label(l)
         : s->kind == S_GOTO                 ? goto_label(l, s)
                                             : NULL;
}

// if (c) { ... jump } rest: the rest goes into the other side.
static bool lower_if_and_rest(lowering *l, node *s, node **rest, uint32_t count) {
  lower_at(l, s->offset);
  ref c = condition(l, s->kid[0]);
  uint64_t known;
  if (e_is_const(l, c, &known)) {
    node *taken = known ? s->kid[1] : s->kid[2];
    return lower_rest(l, taken, rest, count);
  }
  bool falls;
  label *only = bare_jump(l, s->kid[1]);
  if (only && !only->flag && is_here(l, only)) {
    only->jumps++;
    vyre_build_if(l->b, e_not(l, c));
    falls = lower_rest(l, s->kid[2], rest, count);
  } else if (!completes(s->kid[1])) {
    vyre_build_if(l->b, c);
    lower_stmt(l, s->kid[1]);
    if (s->kid[2] || count) vyre_build_else(l->b);
    falls = lower_rest(l, s->kid[2], rest, count);
  } else {
    vyre_build_if(l->b, c);
    falls = lower_rest(l, s->kid[1], rest, count);
    vyre_build_else(l->b);
    lower_stmt(l, s->kid[2]);
  }
  vyre_build_end(l->b);
  return falls;
}

static bool leaves_on_one_side(const node *s) {
  return s->kind == S_IF && (!completes(s->kid[1]) || (s->kid[2] && !completes(s->kid[2])));
}

// What comes before a label that is jumped to, which is where it can be left. What it declares can
// be used behind the label.
static bool lower_to_label(lowering *l, node **list, uint32_t count, node *at) {
  label *tail = l->tail;
  label out = label_begin(l, LABEL_GOTO, at);
  out.name = at->name;
  l->labels = l->tail = &out;
  bool is_open = true;
  for (uint32_t i = 0; i < count; i++) {
    is_open = is_open && !may_jump(l, list[i], false, false);
    if (!is_open) lower_hoist(l, list[i]);
  }
  bool falls = lower_list(l, list, count);
  label_end(l, &out);
  l->tail = tail;
  return falls || out.jumps;
}

bool lower_list(lowering *l, node **list, uint32_t count) {
  for (uint32_t i = count; i-- > 0;) { // the last label is the outermost
    if (list[i]->kind != S_LABEL || !list[i]->jumps || goto_label(l, list[i])) continue;
    pending p = pending_begin(l);
    if (!lower_to_label(l, list, i, list[i])) return false;
    ref flag = pending_flag(l, &p); // of jumps that lead further
    if (flag) vyre_build_if(l->b, e_not(l, flag));
    bool falls = lower_rest(l, list[i]->kid[0], list + i + 1, count - i - 1);
    if (flag) vyre_build_end(l->b);
    return falls;
  }
  for (uint32_t i = 0; i < count; i++) {
    node *s = list[i];
    bool jumps = may_jump(l, s, false, false);
    if (jumps && leaves_on_one_side(s)) return lower_if_and_rest(l, s, list + i + 1, count - i - 1);
    pending p = pending_begin(l);
    label *tail = l->tail;
    if (i + 1 < count) l->tail = NULL;
    bool goes_on = lower_stmt(l, s);
    l->tail = tail;
    if (!goes_on) return false;
    if (!jumps || i + 1 == count) continue;
    ref flag = pending_flag(l, &p);
    if (!flag) continue;
    vyre_build_if(l->b, e_not(l, flag));
    bool falls = lower_list(l, list + i + 1, count - i - 1);
    vyre_build_end(l->b);
    return falls;
  }
  return true;
}

// ---- declarations -------------------------------------------------------------------------------

static void declare_local_memory(lowering *l, decl *d) {
  base *b = base_of_decl(l, d);
  if (b->kind != B_NONE) return; // declared once per kernel, however often it is reached
  base_declare_shared(l, b, d->name, d->type, d->type->size, d->offset);
}

static bool all_constant(lowering *l, const value *v) {
  uint64_t bits;
  for (uint32_t i = 0; i < v->type->leaf_count; i++)
    if (v->at[i].p || !e_is_const(l, v->at[i].v, &bits)) return false;
  return true;
}

// A pointer that needs nothing computed is the same in every block.
static bool is_fixed_pointer(const value *v) {
  return v->at && v->type->kind == T_POINTER && v->at->p && !v->at->p->index && !v->at->p->sel;
}

static bool all_zero(lowering *l, const value *v) {
  uint64_t bits;
  for (uint32_t i = 0; i < v->type->leaf_count; i++)
    if (v->at[i].p || !e_is_const(l, v->at[i].v, &bits) || bits) return false;
  return true;
}

// Whether a kernel of the source may change the variable. What the other kernels do is not known.
static bool may_change(const lowering *l, const base *b, const decl *d) {
  if (d->is_const) return false;
  uint32_t kernels = 0;
  for (uint32_t i = 0; i < l->u->ast->function_count; i++)
    kernels += l->u->ast->functions[i]->is_kernel;
  return b->is_written || b->is_mutable || kernels > 1;
}

// A buffer of the program, which is declared in the next round: the caller keeps what is in it from
// one dispatch to the next. What begins with a value that stays is a table.
static void declare_global(lowering *l, base *b, decl *d) {
  if (b->kind != B_NONE) return; // declared once per kernel, however often it is reached
  value init = {d->type, NULL};
  lower_at(l, d->offset);
  if (d->init) init = init_value(l, d->type, d->init);
  if (init.at && !all_zero(l, &init)) {
    if (is_fixed_pointer(&init) && !may_change(l, b, d)) {
      base_declare(l, b, d->name, d->type, BASE_PARAMETER, &init, 0, d->offset);
      return;
    }
    if (!all_constant(l, &init))
      lower_refuse(l, d->offset, "a variable in global memory that begins with an address",
                   "declare it constant, as in `global int *constant p = &x`");
    base_declare_table(l, b, d->name, d->type, &init, d->offset);
    b->space = SPACE_GLOBAL;
    if (may_change(l, b, d)) base_begin_global(l, b);
    return;
  }
  base_stand_in(l, b, d->name, d->type, d->offset);
}

void lower_decl(lowering *l, decl *d) {
  base *b = base_of_decl(l, d);
  if (d->space == SPACE_LOCAL) {
    declare_local_memory(l, d);
    return;
  }
  if (d->space == SPACE_GLOBAL && !d->is_param) {
    declare_global(l, b, d);
    return;
  }
  lower_at(l, d->offset);
  uint32_t since = builder_code_count(l->b);
  value init = {d->type, NULL};
  if (d->init && !b->is_hoisted && d->space == SPACE_PRIVATE && copies_in_loop(d->type) &&
      is_lvalue(d->init)) {
    place from = lvalue(l, d->init), to = {.type = d->type, .at = pointer_to(l, b)};
    base_declare(l, b, d->name, d->type, BASE_MUTABLE, &init, since, d->offset);
    copy_in_loop(l, &to, &from);
    return;
  }
  b->is_declaring = true;
  if (d->init) init = init_value(l, d->type, d->init);
  b->is_declaring = false;
  bool is_table =
      d->space == SPACE_CONSTANT || (d->type->kind == T_ARRAY && d->is_const && d->writes == 0);
  if (is_table && init.at && all_constant(l, &init)) {
    base_declare_table(l, b, d->name, d->type, &init, d->offset);
    return;
  }
  if (d->space == SPACE_CONSTANT && is_fixed_pointer(&init)) {
    base_declare(l, b, d->name, d->type, BASE_PARAMETER, &init, since, d->offset);
    return;
  }
  if (d->space == SPACE_CONSTANT)
    lower_refuse(l, d->offset, "a constant whose value is not constant",
                 "give it a constant value");
  if (b->is_hoisted) { // declared before the switch that this is in
    place to = {.type = d->type, .at = pointer_to(l, b)};
    if (init.at) store(l, &to, init, d->offset);
    return;
  }
  base_use use = d->writes > 0 || !d->init ? BASE_MUTABLE : BASE_CONSTANT;
  if (d->type->is_sampler && d->init) use = BASE_PARAMETER; // stays a constant
  base_declare(l, b, d->name, d->type, use, &init, since, d->offset);
}

// x = value, where this is all that x ever gets.
static bool lower_late(lowering *l, node *n) {
  if (n->kind != N_BINARY || n->op != CXBinaryOperator_Assign) return false;
  node *to = n->kid[0];
  if (to->kind != N_NAME || !to->decl->is_late) return false;
  base *b = base_of_decl(l, to->decl);
  if (b->in_memory || b->is_mutable) return false;
  uint32_t since = builder_code_count(l->b);
  value v = value_convert(l, rvalue(l, n->kid[1]), to->type, n->offset);
  base_declare(l, b, to->decl->name, to->decl->type, BASE_CONSTANT, &v, since, to->decl->offset);
  return true;
}

// ---- statements ---------------------------------------------------------------------------------

static bool lower_if(lowering *l, node *s) {
  ref c = condition(l, s->kid[0]);
  uint64_t known;
  if (e_is_const(l, c, &known)) {
    node *taken = known ? s->kid[1] : s->kid[2];
    return !taken || lower_stmt(l, taken);
  }
  if (together_if(l, c, s)) return true;
  vyre_build_if(l->b, c);
  bool falls = lower_stmt(l, s->kid[1]);
  if (s->kid[2]) {
    vyre_build_else(l->b);
    falls |= lower_stmt(l, s->kid[2]);
  } else {
    falls = true;
  }
  vyre_build_end(l->b);
  return falls;
}

static bool lower_return(lowering *l, node *s) {
  if (l->depth == 0) {
    vyre_build_return(l->b);
    return false;
  }
  label *to = return_label(l);
  if (s->kid[0] && to->result) {
    value v = rvalue(l, s->kid[0]);
    place result = {.type = to->result->type, .at = pointer_to(l, to->result)};
    store(l, &result, value_convert(l, v, result.type, s->offset), s->offset);
  } else if (s->kid[0]) {
    effects(l, s->kid[0]);
  }
  jump(l, to);
  return false;
}

bool lower_stmt(lowering *l, node *s) {
  if (s->kind != S_BLOCK) lower_at(l, s->offset);
  if (l->guard) return together_stmt(l, s);
  switch (s->kind) {
  case S_BLOCK: return lower_list(l, s->kid, s->count);
  case S_DECL:
    if (!s->decl->is_late) lower_decl(l, s->decl);
    return true;
  case S_EXPR:
    if (!lower_late(l, s->kid[0])) effects(l, s->kid[0]);
    return true;
  case S_IF: return lower_if(l, s);
  case S_FOR: return lower_for(l, s);
  case S_WHILE: return lower_while(l, s);
  case S_DO: return lower_do(l, s);
  case S_SWITCH: return lower_switch(l, s);
  case S_BREAK:
    if (l->break_to)
      jump(l, l->break_to);
    else
      vyre_build_break(l->b);
    return false;
  case S_CONTINUE:
    if (l->continue_to)
      jump(l, l->continue_to);
    else
      vyre_build_continue(l->b);
    return false;
  case S_RETURN: return lower_return(l, s);
  case S_GOTO: jump(l, goto_label(l, s)); return false;
  case S_LABEL: return lower_stmt(l, s->kid[0]);
  case S_STATES:
    for (uint32_t i = 0; i + 1 < s->count; i++) lower_hoist(l, s->kid[i]);
    return lower_stmt(l, s->kid[s->count - 1]);
  case S_CASE:
  case S_DEFAULT:
    lower_refuse(l, s->offset, "a case label inside of another statement",
                 "put it directly into the switch");
  default: lower_refuse(l, s->offset, "a statement that is not understood", "simplify it");
  }
}
