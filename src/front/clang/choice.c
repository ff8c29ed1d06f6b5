// SPDX-License-Identifier: MIT
//
// switch. Its statements are cut at the labels into segments. Segments that fall into one another
// form a group; the values that enter different groups are different, so the groups are separate
// ifs. In a group, a segment runs for its own values and for those of the segments before it.
#include "front/clang/lower.h"

enum { MOST_NESTED = 8 }; // groups that are nested as else-if; more of them stand side by side

typedef struct segment {
  uint64_t *values;
  uint32_t value_count, value_capacity;
  bool is_default;
  node **list;
  uint32_t count, capacity;
  bool falls; // into the next one
} segment;

typedef struct choice {
  segment *at;
  uint32_t count, capacity;
  ref v;
} choice;

// Takes a case label off its statement; labels can be stacked.
static node *take_labels(lowering *l, choice *c, node *s) {
  bool is_new = true;
  while (s->kind == S_CASE || s->kind == S_DEFAULT) {
    if (is_new) UNIT_PUSH(l->u, c->at, c->count, c->capacity, (segment){0});
    is_new = false;
    segment *g = &c->at[c->count - 1];
    if (s->kind == S_DEFAULT)
      g->is_default = true;
    else
      UNIT_PUSH(l->u, g->values, g->value_count, g->value_capacity, s->bits);
    s = s->kid[0];
  }
  return s;
}

void lower_hoist(lowering *l, node *s) {
  if (s->kind == S_BLOCK && s->count && s->kid[0]->kind == S_DECL) {
    for (uint32_t i = 0; i < s->count; i++)
      if (s->kid[i]->kind == S_DECL) lower_hoist(l, s->kid[i]);
  } else if (s->kind == S_DECL && s->decl->space == SPACE_PRIVATE) {
    decl *d = s->decl;
    base *b = base_of_decl(l, d);
    value none = {d->type, NULL};
    d->is_late = false;
    base_declare(l, b, d->name, d->type, BASE_MUTABLE, &none, 0, d->offset);
    b->is_hoisted = true;
  }
}

static void cut(lowering *l, choice *c, node *body) {
  for (uint32_t i = 0; i < body->count; i++) {
    node *s = take_labels(l, c, body->kid[i]);
    // Other segments can see a declaration of this one.
    if (s->kind == S_DECL || (s->kind == S_BLOCK && s->count && s->kid[0]->kind == S_DECL &&
                              s->offset == s->kid[0]->offset))
      lower_hoist(l, s);
    if (!c->count) continue; // before the first label: never runs
    segment *g = &c->at[c->count - 1];
    UNIT_PUSH(l->u, g->list, g->count, g->capacity, s);
  }
}

static void finish_segment(segment *g, bool is_last) {
  g->falls = true;
  for (uint32_t i = 0; i < g->count && g->falls; i++) {
    g->falls = completes(g->list[i]);
    if (!g->falls) g->count = i + 1;
  }
  if (is_last) g->falls = false;
}

static ref equals(lowering *l, const choice *c, const segment *g, ref so_far) {
  for (uint32_t i = 0; i < g->value_count; i++) {
    ref is_it = e_binary(l, VYRE_OP_EQ, c->v, e_const(l, e_type(l, c->v), g->values[i]));
    so_far = so_far ? e_or(l, so_far, is_it) : is_it;
  }
  return so_far;
}

// Whether the value enters one of the segments from `first` to `last`.
static ref enters(lowering *l, const choice *c, uint32_t first, uint32_t last) {
  bool has_default = false;
  ref any = 0;
  for (uint32_t i = first; i <= last; i++) has_default |= c->at[i].is_default;
  if (has_default) { // none of the others
    for (uint32_t i = 0; i < c->count; i++)
      if (i < first || i > last) any = equals(l, c, &c->at[i], any);
    return any ? e_not(l, any) : vyre_build_bool(l->b, true);
  }
  for (uint32_t i = first; i <= last; i++) any = equals(l, c, &c->at[i], any);
  return any ? any : vyre_build_bool(l->b, false);
}

// The segments of a group from `at` on. Returns whether control can come out at the end.
static bool lower_segments(lowering *l, const choice *c, uint32_t first, uint32_t at,
                           uint32_t last) {
  const segment *g = &c->at[at];
  if (at == last) return lower_list(l, g->list, g->count);
  pending p = pending_begin(l);
  label *tail = l->tail;
  l->tail = NULL;
  vyre_build_if(l->b, enters(l, c, first, at));
  lower_list(l, g->list, g->count);
  l->tail = tail;
  vyre_build_end(l->b);
  ref flag = pending_flag(l, &p);
  if (!flag) return lower_segments(l, c, first, at + 1, last);
  vyre_build_if(l->b, e_not(l, flag));
  bool falls = lower_segments(l, c, first, at + 1, last);
  vyre_build_end(l->b);
  return falls;
}

typedef struct group {
  uint32_t first, last;
  bool has_default;
} group;

// The default's group comes last: then it needs no condition of its own.
static uint32_t find_groups(lowering *l, const choice *c, group **out) {
  uint32_t count = 0;
  group *groups = UNIT_ARRAY(l->u, c->count, group), other = {0};
  for (uint32_t i = 0; i < c->count; i++) {
    group g = {.first = i};
    while (c->at[i].falls && i + 1 < c->count) i++;
    g.last = i;
    for (uint32_t k = g.first; k <= g.last; k++) g.has_default |= c->at[k].is_default;
    if (g.has_default)
      other = g;
    else
      groups[count++] = g;
  }
  if (other.has_default) groups[count++] = other;
  *out = groups;
  return count;
}

static bool lower_groups(lowering *l, const choice *c) {
  group *groups;
  uint32_t count = find_groups(l, c, &groups), open = 0;
  bool falls = false, is_nested = count <= MOST_NESTED, is_exhausted = false;
  for (uint32_t i = 0; i < count && !is_exhausted; i++) {
    const group *g = &groups[i];
    ref is_it =
        is_nested && g->has_default ? vyre_build_bool(l->b, true) : enters(l, c, g->first, g->last);
    uint64_t known;
    if (e_is_const(l, is_it, &known)) {
      is_exhausted = known != 0;
      if (known) falls |= lower_segments(l, c, g->first, g->first, g->last);
      continue;
    }
    vyre_build_if(l->b, is_it);
    falls |= lower_segments(l, c, g->first, g->first, g->last);
    if (is_nested && i + 1 < count) {
      vyre_build_else(l->b);
      open++;
    } else {
      vyre_build_end(l->b);
    }
  }
  for (; open > 0; open--) vyre_build_end(l->b);
  return falls || !is_exhausted;
}

bool lower_switch(lowering *l, node *s) {
  choice c = {0};
  c.v = rvalue_scalar(l, s->kid[0]);
  label *break_to = l->break_to, *tail = l->tail;
  label out = label_begin(l, LABEL_BREAK, s);
  l->labels = l->break_to = l->tail = &out;
  node *body = s->kid[1];
  if (body->kind == S_BLOCK) {
    cut(l, &c, body);
  } else {
    node *one = take_labels(l, &c, body);
    if (c.count) UNIT_PUSH(l->u, c.at[0].list, c.at[0].count, c.at[0].capacity, one);
  }
  for (uint32_t i = 0; i < c.count; i++) finish_segment(&c.at[i], i + 1 == c.count);
  bool falls = lower_groups(l, &c);
  label_end(l, &out);
  l->break_to = break_to;
  l->tail = tail;
  return falls || out.jumps > 0;
}
