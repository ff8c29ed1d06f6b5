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

// Takes what one part needs from the list, starting at *at.
static void fill_part(filling *f, const ctype *type, uint32_t first, node *list, uint32_t *at) {
  node *n = list->kid[*at];
  if (n->kind == N_INIT) {
    ++*at;
    fill_list(f, type, first, n);
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

// .a[3] = value
static void fill_designated(filling *f, const ctype *type, uint32_t first, node *n,
                            uint32_t *next) {
  for (uint32_t i = 0; i < n->path_count; i++) {
    uint32_t part = 0;
    if (n->path[i].is_index) {
      part = (uint32_t)n->path[i].at;
    } else {
      while (part < type->field_count && strcmp(type->fields[part].name, n->path[i].field)) part++;
    }
    if (part >= part_count(type) || type->kind == T_UNION)
      lower_refuse(f->l, n->offset, "a designator that is not understood",
                   "assign the field after the declaration");
    if (i == 0) *next = part + 1;
    first += part_first(f, type, part, n->offset);
    type = part_type(type, part);
  }
  uint32_t at = 0;
  fill_part(f, type, first, n, &at);
}

static void fill_list(filling *f, const ctype *type, uint32_t first, node *list) {
  if (list->count == 0) return; // {} is all zero
  if (!type_is_aggregate(type)) {
    node *n = list->kid[0];
    value v = n->kind == N_INIT ? init_value(f->l, type, n) : rvalue(f->l, n);
    put(f, first, value_convert(f->l, v, type, n->offset));
    return;
  }
  if (type->kind == T_UNION) {
    node *n = list->kid[0];
    const field *member = &type->fields[0];
    if (n->kind == N_DESIGNATOR)
      for (uint32_t i = 0; i < type->field_count; i++)
        if (n->path[0].field && !strcmp(type->fields[i].name, n->path[0].field))
          member = &type->fields[i];
    value v = n->kind == N_DESIGNATOR ? init_value(f->l, member->type, n->kid[0])
                                      : init_value(f->l, member->type, n);
    put_union(f, type, first, v, n->offset);
    return;
  }
  uint32_t at = 0, part = 0;
  while (at < list->count) {
    node *n = list->kid[at];
    if (n->kind == N_DESIGNATOR) {
      fill_designated(f, type, first, n, &part);
      at++;
    } else if (part < part_count(type)) {
      fill_part(f, part_type(type, part), first + part_first(f, type, part, n->offset), list, &at);
      part++;
    } else {
      return; // clang has warned about what is too much
    }
  }
}

value init_value(lowering *l, const ctype *type, node *init) {
  if (init->kind != N_INIT) return value_convert(l, rvalue(l, init), type, init->offset);
  value v = value_zero(l, type, init->offset);
  filling f = {l, v.at};
  fill_list(&f, type, 0, init);
  return v;
}
