// SPDX-License-Identifier: MIT
//
// Functions of a subgroup under a condition that only some subgroups of a workgroup meet:
//
//   if (get_sub_group_id() == 0) { v = sub_group_reduce_add(part[i]); if (i == 0) *o = v; }
//
// They meet in barriers of the workgroup (builtin_group.c), so that all have to come. The
// statements that call one are taken out of the condition, and what they change stays under it:
// their operands are computed by all, which is harmless as no operation of the IR can fail, and
// what the others get goes nowhere. All other statements get an if of their own. The loops around
// such a call count by themselves, so that all take as many turns.
#include "front/clang/together.h"

#include <string.h>

enum { MOST_DEPTH = 64, MOST_STEPS = 12 };
enum { UNKNOWN, NO, YES }; // of a function

// ---- what is there ------------------------------------------------------------------------------

static bool is_team_name(const char *name) {
  static const char *const ends[] = {"reduce_", "scan_",     "broadcast", "shuffle", "rotate",
                                     "all",     "clustered", "any",       "barrier"};
  if (!strncmp(name, "intel_", 6)) name += 6;
  if (strncmp(name, "sub_group_", 10)) return false;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (!strncmp(name + 10, ends[i], strlen(ends[i]))) return true;
  return false;
}

static bool has_team(lowering *l, const node *n, uint32_t depth) {
  if (!n || depth > MOST_DEPTH) return false;
  if (n->kind == S_DECL) return n->decl->init && has_team(l, n->decl->init, depth + 1);
  if (n->kind == N_CALL && !n->callee && is_team_name(n->name)) return true;
  if (n->kind == N_CALL && n->callee) {
    function *f = n->callee;
    ast_function(l->u, f);
    if (f->has_team == UNKNOWN) {
      f->has_team = NO; // until it is known, for one that calls itself
      f->has_team = has_team(l, f->body, depth + 1) ? YES : NO;
    }
    if (f->has_team == YES) return true;
  }
  for (uint32_t i = 0; i < n->count; i++)
    if (has_team(l, n->kid[i], depth + 1)) return true;
  return false;
}

static bool has(lowering *l, const node *n) {
  return has_team(l, n, 0);
}

// Whether control can leave the statement other than at its end.
static bool leaves(const node *s, bool in_loop) {
  if (!s || s->kind < S_BLOCK) return false;
  switch (s->kind) {
  case S_RETURN:
  case S_GOTO:
  case S_LABEL:
  case S_STATES: return true;
  case S_BREAK:
  case S_CONTINUE: return !in_loop;
  case S_FOR:
  case S_WHILE:
  case S_DO:
  case S_SWITCH: in_loop = true; break;
  default: break;
  }
  for (uint32_t i = 0; i < s->count; i++)
    if (leaves(s->kid[i], in_loop)) return true;
  return false;
}

static bool can_stmt(lowering *l, const node *s, uint32_t depth);

static bool can_body(lowering *l, const node *body, uint32_t depth) {
  for (uint32_t i = 0; i < body->count; i++) {
    bool is_end = i + 1 == body->count && body->kid[i]->kind == S_RETURN;
    if (!is_end && !can_stmt(l, body->kid[i], depth + 1)) return false;
  }
  return true;
}

static bool can_call(lowering *l, const node *n, uint32_t depth) {
  function *f = n->callee;
  ast_function(l->u, f);
  if (f->can_be_guarded == UNKNOWN) {
    f->can_be_guarded = NO; // until it is known, for one that calls itself
    f->can_be_guarded = can_body(l, f->body, depth) ? YES : NO;
  }
  return f->can_be_guarded == YES;
}

// Can be computed by all: changes nothing but what calls of functions change, which is looked
// after.
static bool can_expr(lowering *l, const node *n, uint32_t depth) {
  switch (n->kind) {
  case N_BINARY:
    if (n->op >= CXBinaryOperator_Assign && n->op <= CXBinaryOperator_OrAssign) return false;
    break;
  case N_UNARY:
    if (n->op >= CXUnaryOperator_PostInc && n->op <= CXUnaryOperator_PreDec) return false;
    break;
  case N_STATEMENT: return false;
  case N_CALL:
    if (n->callee ? !can_call(l, n, depth) : !is_team_name(n->name) && !builtin_is_pure(n->name))
      return false;
    break;
  default: break;
  }
  for (uint32_t i = 0; i < n->count; i++)
    if (!can_expr(l, n->kid[i], depth + 1)) return false;
  return true;
}

static bool is_assignment(const node *n) {
  return n->kind == N_BINARY && n->op >= CXBinaryOperator_Assign &&
         n->op <= CXBinaryOperator_OrAssign;
}

// for (int k = a; ...; k changes), and nothing else changes k: all take the same turns.
static bool counts_by_itself(lowering *l, const node *s, uint32_t depth) {
  const node *init = s->kid[0], *step = s->kid[2];
  if (!init || init->kind != S_DECL || !s->kid[1] || !step) return false;
  const decl *d = init->decl;
  bool is_step =
      is_assignment(step) || (step->kind == N_UNARY && step->op >= CXUnaryOperator_PostInc &&
                              step->op <= CXUnaryOperator_PreDec);
  if (!is_step || step->kid[0]->kind != N_NAME || step->kid[0]->decl != d) return false;
  if (d->writes != 1 || d->address_taken || (d->init && !can_expr(l, d->init, depth))) return false;
  return can_expr(l, s->kid[1], depth) && (step->count < 2 || can_expr(l, step->kid[1], depth));
}

static bool can_stmt(lowering *l, const node *s, uint32_t depth) {
  if (!s) return true;
  if (depth > MOST_DEPTH) return false;
  if (s->kind == S_DECL && s->decl->space != SPACE_PRIVATE) return true;
  if (!has(l, s)) return !leaves(s, false);
  switch (s->kind) {
  case S_BLOCK:
    for (uint32_t i = 0; i < s->count; i++)
      if (!can_stmt(l, s->kid[i], depth + 1)) return false;
    return true;
  case S_DECL: return can_expr(l, s->decl->init, depth);
  case S_EXPR: {
    const node *n = s->kid[0];
    if (!is_assignment(n)) return can_expr(l, n, depth);
    return can_expr(l, n->kid[0], depth) && !has(l, n->kid[0]) && can_expr(l, n->kid[1], depth);
  }
  case S_IF:
    return can_expr(l, s->kid[0], depth) && can_stmt(l, s->kid[1], depth + 1) &&
           can_stmt(l, s->kid[2], depth + 1);
  case S_FOR:
    return counts_by_itself(l, s, depth) && !leaves(s->kid[3], false) &&
           can_stmt(l, s->kid[3], depth + 1);
  default: return false;
  }
}

// Whether the condition may be another one in another subgroup.
static bool is_uneven(lowering *l, ref r, uint32_t steps) {
  if (ref_is_const(r)) return false;
  const inst *in = builder_inst(l->b, r);
  switch (in->op) {
  case VYRE_OP_LOCAL_ID:
  case VYRE_OP_GLOBAL_ID:
  case VYRE_OP_LOAD:
  case VYRE_OP_GET: return true;
  default: break; // what it is made of says it
  }
  const char *operands = op_table[in->op].operands;
  for (int k = 0; operands[k]; k++)
    if (operands[k] == 'v' && (!steps || is_uneven(l, in->arg[k], steps - 1))) return true;
  return false;
}

// ---- lowering -----------------------------------------------------------------------------------

static void under(lowering *l, ref guard, node *s) {
  if (!s) return;
  ref outer = l->guard;
  l->guard = guard;
  lower_stmt(l, s);
  l->guard = outer;
}

static void both(lowering *l, ref c, ref outer, node *s) {
  ref other = e_not(l, c);
  under(l, outer ? e_and(l, outer, c) : c, s->kid[1]);
  under(l, outer ? e_and(l, outer, other) : other, s->kid[2]);
}

bool together_if(lowering *l, ref c, node *s) {
  if (!l->u->has_teams || l->guard || !has(l, s)) return false;
  if (!is_uneven(l, c, MOST_STEPS)) return false;
  if (!can_stmt(l, s->kid[1], 0) || !can_stmt(l, s->kid[2], 0)) return false;
  both(l, c, 0, s);
  return true;
}

// The statement as it is, for those who meet the condition.
static void apart(lowering *l, node *s) {
  ref guard = l->guard;
  l->guard = 0;
  vyre_build_if(l->b, guard);
  lower_stmt(l, s);
  vyre_build_end(l->b);
  l->guard = guard;
}

// What is declared is there for all; who does not meet the condition leaves it as it begins.
static void declare(lowering *l, node *s) {
  const node *init = s->decl->init;
  bool is_private = s->decl->space == SPACE_PRIVATE;
  if (!is_private || (init && !s->decl->is_late && can_expr(l, init, 0))) {
    lower_decl(l, s->decl);
    return;
  }
  lower_hoist(l, s);
  if (init) apart(l, s);
}

static bool declares_only(const node *s) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->kid[i]->kind != S_DECL) return false;
  return s->count > 0;
}

bool together_stmt(lowering *l, node *s) {
  if (s->kind == S_DECL) {
    declare(l, s);
    return true;
  }
  if (s->kind == S_BLOCK && (has(l, s) || declares_only(s))) return lower_list(l, s->kid, s->count);
  if (!has(l, s)) {
    apart(l, s);
    return true;
  }
  ref guard = l->guard;
  if (s->kind == S_IF) {
    both(l, condition(l, s->kid[0]), guard, s);
  } else if (s->kind == S_FOR) {
    return lower_for(l, s);
  } else if (is_assignment(s->kid[0])) {
    assign_under(l, s->kid[0], guard);
  } else {
    rvalue(l, s->kid[0]);
  }
  return true;
}
