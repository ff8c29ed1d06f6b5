// SPDX-License-Identifier: MIT
//
// Lvalues: an address and a type.
#include "front/clang/lower.h"

bool is_lvalue(const node *n) {
  switch (n->kind) {
  case N_NAME:
  case N_STRING:
  case N_COMPOUND: return true;
  case N_UNARY: return n->op == CXUnaryOperator_Deref;
  case N_INDEX: return n->kid[0]->type->kind != T_VECTOR || is_lvalue(n->kid[0]);
  case N_MEMBER:
  case N_SWIZZLE: return n->arrow || is_lvalue(n->kid[0]);
  default: return false;
  }
}

place temporary(lowering *l, node *n, const ctype *type, const value *init) {
  base *b = base_new(l, n, FACT_TEMP);
  value none = {type, NULL};
  base_declare(l, b, "t", type, BASE_MUTABLE, init ? init : &none, builder_code_count(l->b),
               n->offset);
  return (place){.type = type, .at = pointer_to(l, b)};
}

static place name(lowering *l, node *n) {
  base *b = base_of_decl(l, n->decl);
  if (b->kind == B_NONE && b->is_declaring) { // int i = i + 1
    value none = {n->decl->type, NULL};
    base_declare(l, b, n->decl->name, n->decl->type, BASE_MUTABLE, &none, 0, n->offset);
  }
  if (b->kind == B_NONE) lower_decl(l, n->decl); // at file scope, or not yet given its value
  return (place){.type = n->decl->type, .at = pointer_to(l, b)};
}

// A table of its bytes.
static place string(lowering *l, node *n) {
  base *b = base_new(l, n, FACT_TEMP);
  if (b->kind == B_NONE) {
    value init = init_value(l, n->type, n);
    base_declare_table(l, b, "text", n->type, &init, n->offset);
  }
  return (place){.type = n->type, .at = pointer_to(l, b)};
}

// The address that a pointer expression gives; an array gives that of its first element.
static pointer address(lowering *l, node *n) {
  if (n->type->kind == T_ARRAY) return lvalue(l, n).at;
  value v = rvalue(l, n);
  if (!v.at[0].p)
    lower_refuse(l, n->offset, "a number used as a pointer", "use a pointer argument");
  return *v.at[0].p;
}

static place element(lowering *l, node *n) {
  node *of = n->kid[0], *at = n->kid[1];
  if (at->type->kind == T_POINTER || at->type->kind == T_ARRAY) { // 2[p]
    of = n->kid[1];
    at = n->kid[0];
  }
  if (of->type->kind != T_VECTOR) {
    pointer p = address(l, of);
    return (place){.type = n->type, .at = pointer_add(l, p, rvalue_scalar(l, at), n->type->size)};
  }
  place whole;
  if (is_lvalue(of)) {
    whole = lvalue(l, of);
  } else {
    value v = rvalue(l, of);
    whole = temporary(l, n, of->type, &v);
  }
  ref i = rvalue_scalar(l, at);
  if (whole.lane_count) {
    uint64_t lane;
    if (!e_is_const(l, i, &lane) || lane >= whole.lane_count)
      lower_refuse(l, n->offset, "a computed index into picked components",
                   "copy them into a vector first");
    whole.lanes[0] = whole.lanes[lane];
    whole.lane_count = 1;
    whole.type = n->type;
    return whole;
  }
  return (place){.type = n->type, .at = pointer_add(l, whole.at, i, n->type->size)};
}

static place member(lowering *l, node *n) {
  pointer p = n->arrow ? address(l, n->kid[0]) : lvalue(l, n->kid[0]).at;
  p.disp += (int64_t)n->field_offset;
  return (place){.type = n->type, .at = p};
}

static place swizzle(lowering *l, node *n) {
  place of = n->arrow ? (place){.type = n->kid[0]->type->element, .at = address(l, n->kid[0])}
                      : lvalue(l, n->kid[0]);
  place made = {.type = n->type, .at = of.at, .lane_count = n->lane_count};
  made.whole = of.lane_count ? of.whole : of.type;
  for (uint32_t i = 0; i < n->lane_count; i++)
    made.lanes[i] = !of.lane_count                ? n->lanes[i]
                    : n->lanes[i] < of.lane_count ? of.lanes[n->lanes[i]]
                                                  : 15;
  return made;
}

place lvalue(lowering *l, node *n) {
  switch (n->kind) {
  case N_NAME: return name(l, n);
  case N_INDEX: return element(l, n);
  case N_MEMBER:
    if (is_lvalue(n)) return member(l, n);
    break;
  case N_SWIZZLE:
    if (is_lvalue(n)) return swizzle(l, n);
    break;
  case N_UNARY:
    if (n->op == CXUnaryOperator_Deref)
      return (place){.type = n->type, .at = address(l, n->kid[0])};
    break;
  case N_COMPOUND: {
    value v = init_value(l, n->type, n->kid[0]);
    return temporary(l, n, n->type, &v);
  }
  case N_STRING: return string(l, n);
  default: break;
  }
  value v = rvalue(l, n); // a value that something points into, such as f().array[i]
  return temporary(l, n, n->type, &v);
}
