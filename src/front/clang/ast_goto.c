// SPDX-License-Identifier: MIT
//
// goto. A label of a block that is only jumped to from before it, in the same block, ends a part of
// the block that can be left: the lowering does that as it does break. Anything else (backwards,
// into other statements, case labels inside of other statements) is cut into basic blocks:
//
//   state = 0;
//   while (state != end) {
//     if (state == 0) { ...; state = c ? 3 : 1; }
//     if (state == 1) { ... }
//   }
//
// This is right for every jump. The blocks keep the order of the source, so that a jump forward is
// made in the same turn. Only the innermost block that holds all labels and jumps is taken apart,
// and statements in it that have none stay whole. Declarations that were taken apart are made
// before the loop.
#include "front/clang/ast.h"

#include <string.h>

// ---- what is there ------------------------------------------------------------------------------

static bool is_loop(const node *s) {
  return s->kind == S_FOR || s->kind == S_WHILE || s->kind == S_DO;
}

static bool is_statement(const node *s) {
  return s && s->kind >= S_BLOCK;
}

// A case label that does not stand directly in the body of its switch.
static bool has_deep_case(const node *s, bool is_direct) {
  if (!is_statement(s)) return false;
  if (s->kind == S_SWITCH) return false;
  bool is_label = s->kind == S_CASE || s->kind == S_DEFAULT;
  if (is_label && !is_direct) return true;
  for (uint32_t i = 0; i < s->count; i++)
    if (has_deep_case(s->kid[i], is_direct && is_label)) return true;
  return false;
}

static bool is_deep_switch(const node *s) {
  if (s->kind != S_SWITCH) return false;
  const node *body = s->kid[1];
  if (body->kind != S_BLOCK) return has_deep_case(body, true);
  for (uint32_t i = 0; i < body->count; i++)
    if (has_deep_case(body->kid[i], true)) return true;
  return false;
}

// Labels, gotos to `name` (NULL: to all), and switches that are jumped into the middle of.
static uint32_t count_jumps(const node *s, const char *name) {
  if (!is_statement(s)) return 0;
  uint32_t count = s->kind == S_GOTO && (!name || !strcmp(s->name, name));
  if (!name) count += s->kind == S_LABEL || is_deep_switch(s);
  for (uint32_t i = 0; i < s->count; i++) count += count_jumps(s->kid[i], name);
  return count;
}

// Whether a break or continue in it leads out of it.
static bool escapes(const node *s, bool in_loop, bool in_switch) {
  if (!is_statement(s)) return false;
  if (s->kind == S_BREAK) return !in_loop && !in_switch;
  if (s->kind == S_CONTINUE) return !in_loop;
  if (s->kind == S_CASE || s->kind == S_DEFAULT) {
    if (!in_switch) return true;
  }
  if (is_loop(s)) in_loop = true;
  if (s->kind == S_SWITCH) in_switch = true;
  for (uint32_t i = 0; i < s->count; i++)
    if (escapes(s->kid[i], in_loop, in_switch)) return true;
  return false;
}

static bool has_kind(const node *s, node_kind kind) {
  if (!is_statement(s)) return false;
  if (s->kind == kind) return true;
  for (uint32_t i = 0; i < s->count; i++)
    if (has_kind(s->kid[i], kind)) return true;
  return false;
}

bool ast_leaves(const node *s) {
  return escapes(s, false, false) || has_kind(s, S_RETURN) || count_jumps(s, NULL);
}

// Whether all jumps in the function are forward jumps to labels of blocks around them.
static bool is_forward_only(const node *s, bool is_switch_body) {
  if (!is_statement(s)) return true;
  if (is_deep_switch(s)) return false;
  for (uint32_t i = 0; i < s->count; i++) {
    const node *kid = s->kid[i];
    if (!is_statement(kid)) continue;
    if (!is_forward_only(kid, s->kind == S_SWITCH)) return false;
    for (; kid->kind == S_LABEL; kid = kid->kid[0]) {
      if (s->kind != S_BLOCK || is_switch_body) return false;
      uint32_t before = 0;
      for (uint32_t k = 0; k < i; k++) before += count_jumps(s->kid[k], kid->name);
      if (before != kid->jumps) return false;
      if (kid->kid[0]->kind == S_LABEL) return false; // two labels at one place
    }
  }
  return true;
}

static void set_jumps(node *s, const node *all) {
  if (!is_statement(s)) return;
  if (s->kind == S_LABEL) s->jumps = count_jumps(all, s->name);
  for (uint32_t i = 0; i < s->count; i++) set_jumps(s->kid[i], all);
}

// ---- basic blocks -------------------------------------------------------------------------------

typedef struct basic {
  node **list;
  uint32_t count, capacity;
  uint32_t number;
  bool has_end; // control does not go on to the next one
  bool is_reached;
  node *condition;    // of a branch
  struct basic *then; // where it goes on; `other` where the condition does not hold
  struct basic *other;
} basic;

typedef struct target { // of break and continue
  struct target *outer;
  basic *to_break, *to_continue; // NULL: the one outside
} target;

typedef struct named {
  const node *s; // S_LABEL, S_CASE, S_DEFAULT
  basic *at;
} named;

typedef struct flattening {
  unit *u;
  basic **placed;
  uint32_t count, capacity;
  basic *now;
  target *targets;
  named *labels;
  uint32_t label_count, label_capacity;
  node **decls;
  uint32_t decl_count, decl_capacity;
  decl *state;
  uint32_t offset;
} flattening;

static void flatten(flattening *f, node *s);

static node *new_node(flattening *f, node_kind kind, const ctype *type, uint32_t count) {
  node *n = UNIT_NEW(f->u, node);
  n->kind = (uint8_t)kind;
  n->offset = f->offset;
  n->type = type;
  n->count = count;
  n->kid = count ? UNIT_ARRAY(f->u, count, node *) : NULL;
  return n;
}

static node *new_pair(flattening *f, node_kind kind, const ctype *type, node *a, node *b) {
  node *n = new_node(f, kind, type, 2);
  n->kid[0] = a;
  n->kid[1] = b;
  return n;
}

static basic *new_basic(flattening *f) {
  return UNIT_NEW(f->u, basic);
}

static void place(flattening *f, basic *b) {
  b->number = f->count;
  UNIT_PUSH(f->u, f->placed, f->count, f->capacity, b);
  f->now = b;
}

static void go(flattening *f, basic *to) {
  if (f->now->has_end) return;
  f->now->has_end = true;
  f->now->then = to;
}

static void branch(flattening *f, node *condition, basic *then, basic *other) {
  if (f->now->has_end) return;
  f->now->has_end = true;
  f->now->condition = condition;
  f->now->then = then;
  f->now->other = other;
}

// `b` begins here; what came before goes on with it.
static void begin(flattening *f, basic *b) {
  go(f, b);
  place(f, b);
}

static void append(flattening *f, node *s) {
  basic *b = f->now;
  UNIT_PUSH(f->u, b->list, b->count, b->capacity, s);
}

static basic *find_named(flattening *f, const node *s) {
  for (uint32_t i = 0; i < f->label_count; i++) {
    const node *at = f->labels[i].s;
    if (at == s || (s->kind == S_GOTO && at->kind == S_LABEL && !strcmp(at->name, s->name)))
      return f->labels[i].at;
  }
  return NULL;
}

static void find_labels(flattening *f, const node *s) {
  if (!is_statement(s)) return;
  if (s->kind == S_LABEL) {
    named made = {s, new_basic(f)};
    UNIT_PUSH(f->u, f->labels, f->label_count, f->label_capacity, made);
  }
  for (uint32_t i = 0; i < s->count; i++) find_labels(f, s->kid[i]);
}

static bool is_whole(const node *s) {
  return !count_jumps(s, NULL) && !escapes(s, false, false);
}

static node *name_of(flattening *f, decl *d) {
  node *n = new_node(f, N_NAME, d->type, 0);
  n->decl = d;
  d->uses++;
  return n;
}

static node *number_of(flattening *f, const ctype *type, uint64_t bits) {
  node *n = new_node(f, N_INT, type, 0);
  n->bits = bits;
  return n;
}

static node *is_equal(flattening *f, decl *d, uint64_t bits, uint8_t op) {
  node *n = new_pair(f, N_BINARY, type_scalar(f->u, VYRE_I32), name_of(f, d),
                     number_of(f, d->type, bits));
  n->op = op;
  return n;
}

static node *assign(flattening *f, decl *d, node *value) {
  node *n = new_pair(f, N_BINARY, d->type, name_of(f, d), value), *s = new_node(f, S_EXPR, NULL, 1);
  n->op = CXBinaryOperator_Assign;
  d->writes++;
  s->kid[0] = n;
  return s;
}

static decl *new_decl(flattening *f, const char *name, const ctype *type) {
  decl *d = UNIT_NEW(f->u, decl);
  *d = (decl){.name = name, .type = type, .offset = f->offset};
  node *s = new_node(f, S_DECL, NULL, 0);
  s->decl = d;
  UNIT_PUSH(f->u, f->decls, f->decl_count, f->decl_capacity, s);
  return d;
}

// ---- statements ---------------------------------------------------------------------------------

static void flatten_expr(flattening *f, node *n) {
  if (!n) return;
  if (n->kind >= S_BLOCK) {
    flatten(f, n);
    return;
  }
  node *s = new_node(f, S_EXPR, NULL, 1);
  s->kid[0] = n;
  s->offset = n->offset;
  append(f, s);
}

static void flatten_in(flattening *f, node *body, basic *to_break, basic *to_continue) {
  target t = {f->targets, to_break, to_continue};
  f->targets = &t;
  flatten(f, body);
  f->targets = t.outer;
}

static void flatten_loop(flattening *f, node *init, node *condition, node *step, node *body,
                         bool tests_first) {
  basic *test = new_basic(f), *top = new_basic(f), *next = new_basic(f), *out = new_basic(f);
  flatten_expr(f, init);
  go(f, tests_first ? test : top);
  if (tests_first) {
    place(f, test);
    if (condition)
      branch(f, condition, top, out);
    else
      go(f, top);
  }
  place(f, top);
  flatten_in(f, body, out, next);
  begin(f, next);
  flatten_expr(f, step);
  if (tests_first)
    go(f, test);
  else
    branch(f, condition, top, out);
  place(f, out);
}

static void flatten_if(flattening *f, node *s) {
  basic *then = new_basic(f), *other = new_basic(f), *out = s->kid[2] ? new_basic(f) : other;
  branch(f, s->kid[0], then, other);
  place(f, then);
  flatten(f, s->kid[1]);
  if (s->kid[2]) {
    go(f, out);
    place(f, other);
    flatten(f, s->kid[2]);
  }
  begin(f, out);
}

// The tests of a switch, in the order of its labels; the default comes last.
static void test_cases(flattening *f, node *s, decl *value, basic **other) {
  if (!is_statement(s) || s->kind == S_SWITCH) return;
  if (s->kind == S_CASE || s->kind == S_DEFAULT) {
    named made = {s, new_basic(f)};
    UNIT_PUSH(f->u, f->labels, f->label_count, f->label_capacity, made);
    if (s->kind == S_DEFAULT) {
      *other = made.at;
    } else {
      basic *next = new_basic(f);
      branch(f, is_equal(f, value, s->bits, CXBinaryOperator_EQ), made.at, next);
      place(f, next);
    }
  }
  for (uint32_t i = 0; i < s->count; i++) test_cases(f, s->kid[i], value, other);
}

static void flatten_switch(flattening *f, node *s) {
  basic *out = new_basic(f), *other = out;
  decl *value = new_decl(f, "choice", s->kid[0]->type);
  append(f, assign(f, value, s->kid[0]));
  test_cases(f, s->kid[1], value, &other);
  go(f, other);
  place(f, new_basic(f)); // what stands before the first label never runs
  flatten_in(f, s->kid[1], out, NULL);
  begin(f, out);
}

static void flatten_jump(flattening *f, const node *s) {
  for (target *t = f->targets; t; t = t->outer) {
    basic *to = s->kind == S_BREAK ? t->to_break : t->to_continue;
    if (!to) continue;
    go(f, to);
    return;
  }
}

static void flatten(flattening *f, node *s) {
  if (s->kind != S_BLOCK && is_whole(s)) {
    if (s->kind == S_DECL) UNIT_PUSH(f->u, f->decls, f->decl_count, f->decl_capacity, s);
    if (f->now->has_end) place(f, new_basic(f)); // cannot be reached
    append(f, s);
    if (s->kind == S_RETURN) f->now->has_end = true;
    return;
  }
  if (f->now->has_end && s->kind != S_LABEL && s->kind != S_CASE && s->kind != S_DEFAULT)
    place(f, new_basic(f));
  switch (s->kind) {
  case S_BLOCK:
    for (uint32_t i = 0; i < s->count; i++) flatten(f, s->kid[i]);
    return;
  case S_LABEL:
  case S_CASE:
  case S_DEFAULT:
    begin(f, find_named(f, s));
    flatten(f, s->kid[0]);
    return;
  case S_GOTO: go(f, find_named(f, s)); return;
  case S_BREAK:
  case S_CONTINUE: flatten_jump(f, s); return;
  case S_IF: flatten_if(f, s); return;
  case S_FOR: flatten_loop(f, s->kid[0], s->kid[1], s->kid[2], s->kid[3], true); return;
  case S_WHILE: flatten_loop(f, NULL, s->kid[0], NULL, s->kid[1], true); return;
  case S_DO: flatten_loop(f, NULL, s->kid[1], NULL, s->kid[0], false); return;
  case S_SWITCH: flatten_switch(f, s); return;
  default: append(f, s); return;
  }
}

// ---- the loop over the states -------------------------------------------------------------------

// Blocks that only lead elsewhere are passed over.
static basic *destination(basic *b, uint32_t most) {
  while (b->then && !b->condition && !b->count && most-- > 0) b = b->then;
  return b;
}

static void reach(flattening *f, basic *b) {
  while (b && !b->is_reached) {
    b->is_reached = true;
    if (b->then) b->then = destination(b->then, f->count);
    if (b->other) reach(f, b->other = destination(b->other, f->count));
    b = b->then;
  }
}

static void keep_reached(flattening *f) {
  uint32_t kept = 0;
  f->placed[0]->number = 0;
  reach(f, f->placed[0]);
  for (uint32_t i = 0; i < f->count; i++) {
    if (!f->placed[i]->is_reached) continue;
    f->placed[i]->number = kept;
    f->placed[kept++] = f->placed[i];
  }
  f->count = kept;
}

static node *go_on(flattening *f, const basic *to) {
  return assign(f, f->state, number_of(f, f->state->type, to->number));
}

static node *show_basic(flattening *f, basic *b) {
  if (b->condition) {
    node *s = new_node(f, S_IF, NULL, 3);
    s->kid[0] = b->condition;
    s->kid[1] = go_on(f, b->then);
    s->kid[2] = go_on(f, b->other);
    UNIT_PUSH(f->u, b->list, b->count, b->capacity, s);
  } else if (b->then) {
    UNIT_PUSH(f->u, b->list, b->count, b->capacity, go_on(f, b->then));
  }
  node *body = new_node(f, S_BLOCK, NULL, b->count), *s = new_node(f, S_IF, NULL, 3);
  for (uint32_t i = 0; i < b->count; i++) body->kid[i] = b->list[i];
  s->kid[0] = is_equal(f, f->state, b->number, CXBinaryOperator_EQ);
  s->kid[1] = body;
  return s;
}

static node *show_states(flattening *f) {
  uint32_t end = f->count;
  node *body = new_node(f, S_BLOCK, NULL, end);
  for (uint32_t i = 0; i < end; i++) body->kid[i] = show_basic(f, f->placed[i]);
  node *loop = new_pair(f, S_WHILE, NULL, is_equal(f, f->state, end, CXBinaryOperator_NE), body);
  node *made = new_node(f, S_STATES, NULL, f->decl_count + 1);
  for (uint32_t i = 0; i < f->decl_count; i++) made->kid[i] = f->decls[i];
  made->kid[f->decl_count] = loop;
  return made;
}

// Takes the statements first..last of a block apart.
static void take_apart(unit *u, node *block, uint32_t first, uint32_t last) {
  flattening f = {.u = u, .offset = block->kid[first]->offset};
  f.state = new_decl(&f, "state", type_scalar(u, VYRE_U32));
  place(&f, new_basic(&f));
  for (uint32_t i = first; i <= last; i++) find_labels(&f, block->kid[i]);
  for (uint32_t i = first; i <= last; i++) flatten(&f, block->kid[i]);
  basic *out = new_basic(&f);
  go(&f, out);
  keep_reached(&f);
  out->number = f.count;
  block->kid[first] = show_states(&f);
  memmove(block->kid + first + 1, block->kid + last + 1,
          (block->count - last - 1) * sizeof *block->kid);
  block->count -= last - first;
}

// The innermost block that holds all of `total`, and that no break or continue leads out of.
static node *find_home(node *s, uint32_t total) {
  if (!is_statement(s) || s->kind == S_SWITCH || count_jumps(s, NULL) != total) return NULL;
  for (uint32_t i = 0; i < s->count; i++) {
    node *inner = find_home(s->kid[i], total);
    if (inner) return inner;
  }
  return s->kind == S_BLOCK && !escapes(s, false, false) ? s : NULL;
}

void ast_structure(unit *u, node *body) {
  uint32_t total = count_jumps(body, NULL);
  if (!total) return;
  set_jumps(body, body);
  if (is_forward_only(body, false)) return;
  node *home = find_home(body, total);
  uint32_t first = UINT32_MAX, last = 0;
  for (uint32_t i = 0; i < home->count; i++) {
    if (!count_jumps(home->kid[i], NULL)) continue;
    if (first == UINT32_MAX) first = i;
    last = i;
  }
  take_apart(u, home, first, last);
}
