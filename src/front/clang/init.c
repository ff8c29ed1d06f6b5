// SPDX-License-Identifier: MIT
//
// Initialiser lists. libclang shows them as they were written, so that leaving out braces and
// naming fields is resolved here.
#include "front/clang/lower.h"

#include <string.h>

typedef struct filling {
  lowering *l;
  cell *cells; // of the whole object
} filling;

static void fill_list(filling *f, const ctype *type, uint32_t first, node *list);

// Number of parts of an aggregate, and where the leaves of one begin.
static uint32_t part_count(const ctype *type) {
  return type->kind == T_ARRAY ? type->count : type->kind == T_STRUCT ? type->field_count : 1;
}

static const ctype *part_type(const ctype *type, uint32_t i) {
  return type->kind == T_ARRAY ? type->element : type->fields[i].type;
}

static uint32_t part_first(filling *f, const ctype *type, uint32_t i, uint32_t offset) {
  if (type->kind == T_ARRAY) return i * type_leaf_count(f->l, type->element, offset);
  uint32_t first = 0;
  for (uint32_t k = 0; k < i; k++) first += type_leaf_count(f->l, type->fields[k].type, offset);
  return first;
}

static void put(filling *f, uint32_t first, value v) {
  for (uint32_t i = 0; i < v.type->leaf_count; i++) f->cells[first + i] = v.at[i];
}

// The first member of a union, as the words that the union has.
static void put_union(filling *f, const ctype *type, uint32_t first, value v, uint32_t offset) {
  put(f, first, bits_as(f->l, v, 0, type, offset));
}

static bool is_whole(const ctype *type, const node *n) {
  return n->type == type || !type_is_aggregate(type);
}

// An array that a literal gives its bytes; those behind it stay zero.
static bool is_text(const ctype *type, const node *n) {
  return n->kind == N_STRING && type->kind == T_ARRAY && type->element->kind == T_SCALAR &&
         type->element->size == 1;
}

static void fill_text(filling *f, const ctype *type, uint32_t first, const node *n) {
  uint32_t count = n->type->count < type->count ? n->type->count : type->count;
  for (uint32_t i = 0; i < count; i++)
    f->cells[first + i].v = e_int(f->l, type->element->scalar, n->name[i]);
}

// Takes what one part needs from the list, starting at *at.
static void fill_part(filling *f, const ctype *type, uint32_t first, node *list, uint32_t *at) {
  node *n = list->kid[*at];
  if (n->kind == N_INIT) {
    ++*at;
    fill_list(f, type, first, n);
  } else if (is_text(type, n)) {
    ++*at;
    fill_text(f, type, first, n);
  } else if (is_whole(type, n)) {
    ++*at;
    put(f, first, value_convert(f->l, rvalue(f->l, n), type, n->offset));
  } else if (type->kind == T_UNION) {
    value v = value_zero(f->l, type->fields[0].type, n->offset);
    filling inner = {f->l, v.at};
    fill_part(&inner, type->fields[0].type, 0, list, at);
    put_union(f, type, first, v, n->offset);
  } else { // braces left out
    for (uint32_t i = 0; i < part_count(type) && *at < list->count; i++) {
      if (list->kid[*at]->kind == N_DESIGNATOR) return;
      fill_part(f, part_type(type, i), first + part_first(f, type, i, n->offset), list, at);
    }
  }
}

// The part that has the field, itself or in a member without a name; part_count when none has.
static uint32_t find_part(const ctype *type, const char *name) {
  for (uint32_t i = 0; i < type->field_count; i++) {
    const field *f = &type->fields[i];
    if (!strcmp(f->name, name)) return i;
    if (!*f->name && type_is_aggregate(f->type) && find_part(f->type, name) < f->type->field_count)
      return i;
  }
  return type->field_count;
}

// A list and how much of it has been taken.
typedef struct taking {
  node *list;
  uint32_t at;
} taking;

static bool has_plain(const taking *t) {
  return t->at < t->list->count && t->list->kid[t->at]->kind != N_DESIGNATOR;
}

// What follows a designator goes on after the part that it named.
static void fill_rest(filling *f, const ctype *type, uint32_t first, uint32_t part, taking *t) {
  for (; part < part_count(type) && has_plain(t); part++)
    fill_part(f, part_type(type, part), first + part_first(f, type, part, t->list->offset), t->list,
              &t->at);
}

// .a[3] = value, from step `i` of the path on. Returns the number of the part.
static uint32_t fill_path(filling *f, const ctype *type, uint32_t first, node *n, uint32_t i,
                          taking *t) {
  const designator *step = &n->path[i];
  uint32_t part = step->is_index ? (uint32_t)step->at : find_part(type, step->field);
  if (part >= (type->kind == T_ARRAY ? type->count : type->field_count))
    lower_refuse(f->l, n->offset, "a designator that is not understood",
                 "assign the field after the declaration");
  const ctype *inner = part_type(type, part);
  if (step->is_index || *type->fields[part].name) i++; // else the field is one of a nameless part
  bool is_union = type->kind == T_UNION;
  value v = {0};
  filling own = *f, *to = f;
  uint32_t inner_first = 0;
  if (is_union) { // other parts of the member may have been given before
    v = bits_as(f->l, (value){type, f->cells + first}, 0, inner, n->offset);
    own.cells = v.at;
    to = &own;
  } else {
    inner_first = first + part_first(f, type, part, n->offset);
  }
  if (i < n->path_count) {
    uint32_t last = fill_path(to, inner, inner_first, n, i, t);
    if (inner->kind != T_UNION) fill_rest(to, inner, inner_first, last + 1, t);
  } else {
    uint32_t at = 0;
    fill_part(to, inner, inner_first, n, &at);
  }
  if (is_union) put_union(f, type, first, v, n->offset);
  return part;
}

static void fill_list(filling *f, const ctype *type, uint32_t first, node *list) {
  if (list->count == 0) return; // {} is all zero
  if (!type_is_aggregate(type)) {
    node *n = list->kid[0];
    value v = n->kind == N_INIT ? init_value(f->l, type, n) : rvalue(f->l, n);
    put(f, first, value_convert(f->l, v, type, n->offset));
    return;
  }
  if (type->kind == T_UNION && list->kid[0]->kind != N_DESIGNATOR) {
    node *n = list->kid[0];
    put_union(f, type, first, init_value(f->l, type->fields[0].type, n), n->offset);
    return;
  }
  if (is_text(type, list->kid[0])) { // {"text"}
    fill_text(f, type, first, list->kid[0]);
    return;
  }
  taking t = {list, 0};
  fill_rest(f, type, first, 0, &t);
  while (t.at < list->count && list->kid[t.at]->kind == N_DESIGNATOR) {
    node *n = list->kid[t.at++];
    uint32_t part = fill_path(f, type, first, n, 0, &t);
    if (type->kind != T_UNION) fill_rest(f, type, first, part + 1, &t);
  } // clang has warned about what is too much
}

value init_value(lowering *l, const ctype *type, node *init) {
  bool is_literal = is_text(type, init);
  if (init->kind != N_INIT && !is_literal)
    return value_convert(l, rvalue(l, init), type, init->offset);
  value v = value_zero(l, type, init->offset);
  filling f = {l, v.at};
  if (is_literal)
    fill_text(&f, type, 0, init);
  else
    fill_list(&f, type, 0, init);
  return v;
}
