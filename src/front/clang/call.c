// SPDX-License-Identifier: MIT
//
// Calls of the source's own functions are inlined: OpenCL C has no recursion, and pointers to local
// and private memory can only be passed this way.
#include "front/clang/lower.h"

enum { MOST_CALLS = 64 }; // one inside the other

static context *enter(lowering *l, node *n) {
  for (context *at = l->ctx; at; at = at->outer)
    if (at->f == n->callee)
      unit_fail(l->u, VYRE_ERROR_UNSUPPORTED, n->offset,
                "`%s` calls itself. Fix: write the recursion as a loop", n->name);
  if (l->depth >= MOST_CALLS)
    unit_fail(l->u, VYRE_ERROR_LIMIT, n->offset,
              "calls are nested more than %d deep. Fix: call fewer functions from functions",
              MOST_CALLS);
  ast_function(l->u, n->callee);
  context *made = fact(l, n, FACT_CONTEXT, sizeof(context));
  *made = (context){l->ctx, n, n->callee, made->number ? made->number : ++l->contexts};
  return made;
}

static void bind_params(lowering *l, function *f, const value *args, const uint32_t *since) {
  for (uint32_t i = 0; i < f->param_count; i++) {
    decl *d = f->params[i];
    base *b = base_of_decl(l, d);
    base_declare(l, b, d->name, d->type, d->writes > 0 ? BASE_MUTABLE : BASE_PARAMETER, &args[i],
                 since[i], d->offset);
  }
}

static bool has_return(const node *s) {
  if (!s || s->kind < S_BLOCK) return false;
  if (s->kind == S_RETURN) return true;
  for (uint32_t i = 0; i < s->count; i++)
    if (has_return(s->kid[i])) return true;
  return false;
}

// The last statement, when it is the only return.
static node *only_return(function *f) {
  node *body = f->body;
  if (!body->count || body->kid[body->count - 1]->kind != S_RETURN) return NULL;
  for (uint32_t i = 0; i + 1 < body->count; i++)
    if (has_return(body->kid[i])) return NULL;
  return body->kid[body->count - 1];
}

static value inline_body(lowering *l, node *n) {
  function *f = n->callee;
  node *last = only_return(f);
  if (last || !has_return(f->body)) {
    uint32_t count = f->body->count - (last ? 1 : 0);
    bool falls = lower_list(l, f->body->kid, count);
    if (!last || !last->kid[0] || !falls) return value_zero(l, f->result, n->offset);
    return value_convert(l, rvalue(l, last->kid[0]), f->result, n->offset);
  }
  base *result = NULL;
  value none = {f->result, NULL};
  if (f->result->kind != T_VOID) {
    result = base_new(l, f, FACT_RESULT);
    base_declare(l, result, f->name, f->result, BASE_MUTABLE, &none, 0, n->offset);
  }
  label out = label_begin(l, LABEL_RETURN, f);
  out.result = result;
  l->labels = l->tail = &out;
  lower_list(l, f->body->kid, f->body->count);
  label_end(l, &out);
  if (!result) return value_new(l, f->result, n->offset);
  place from = {.type = f->result, .at = pointer_to(l, result)};
  return load(l, &from, n->offset);
}

value call(lowering *l, node *n) {
  value *args = UNIT_ARRAY(l->u, n->count, value);
  uint32_t *since = UNIT_ARRAY(l->u, n->count, uint32_t);
  context *inner = enter(l, n);
  function *f = n->callee;
  if (n->count != f->param_count)
    lower_refuse(l, n->offset, "a call with a wrong number of arguments", "pass them all");
  for (uint32_t i = 0; i < n->count; i++) {
    since[i] = builder_code_count(l->b);
    args[i] = value_convert(l, rvalue(l, n->kid[i]), f->params[i]->type, n->kid[i]->offset);
  }
  label *break_to = l->break_to, *continue_to = l->continue_to, *tail = l->tail;
  l->tail = NULL;
  l->ctx = inner;
  l->break_to = l->continue_to = NULL;
  l->depth++;
  bind_params(l, f, args, since);
  value v = inline_body(l, n);
  l->depth--;
  l->ctx = inner->outer;
  l->break_to = break_to;
  l->continue_to = continue_to;
  l->tail = tail;
  return v;
}
