// SPDX-License-Identifier: MIT
#include "base/intervals.h"

#include <string.h>

void intervals_free(intervals *s) {
  vec_free(s);
}

bool intervals_push(intervals *s, uint64_t lo, uint64_t hi) {
  if (lo >= hi) return true;
  interval *last = s->count ? &s->at[s->count - 1] : NULL;
  if (last && lo <= last->hi && hi >= last->lo) { // the usual case: one after the other, or again
    if (lo < last->lo) last->lo = lo;
    if (hi > last->hi) last->hi = hi;
    return true;
  }
  return vec_push(s, (interval){lo, hi});
}

static int by_start(const void *a, const void *b) {
  const interval *x = a, *y = b;
  return x->lo < y->lo ? -1 : x->lo > y->lo;
}

enum { FEW = 16 };

static void order_few(intervals *s) {
  for (size_t i = 1; i < s->count; i++) {
    interval moved = s->at[i];
    size_t k = i;
    for (; k && s->at[k - 1].lo > moved.lo; k--) s->at[k] = s->at[k - 1];
    s->at[k] = moved;
  }
}

void intervals_order(intervals *s) {
  bool is_ordered = true;
  for (size_t i = 1; i < s->count && is_ordered; i++) is_ordered = s->at[i - 1].hi < s->at[i].lo;
  if (is_ordered) return;
  if (s->count > FEW)
    qsort(s->at, s->count, sizeof *s->at, by_start);
  else
    order_few(s);
  size_t kept = 0;
  for (size_t i = 1; i < s->count; i++) {
    if (s->at[i].lo > s->at[kept].hi)
      s->at[++kept] = s->at[i];
    else if (s->at[i].hi > s->at[kept].hi)
      s->at[kept].hi = s->at[i].hi;
  }
  s->count = kept + 1;
}

bool intervals_add(intervals *s, uint64_t lo, uint64_t hi) {
  bool ok = intervals_push(s, lo, hi);
  intervals_order(s);
  return ok;
}

bool intervals_copy(const intervals *from, intervals *to) {
  *to = (intervals){0};
  if (!vec_reserve(to, from->count)) return false;
  if (from->count) memcpy(to->at, from->at, from->count * sizeof *from->at);
  to->count = from->count;
  return true;
}

bool intervals_unite(intervals *s, const intervals *other) {
  if (!vec_reserve(s, other->count)) return false;
  if (other->count) memcpy(s->at + s->count, other->at, other->count * sizeof *other->at);
  s->count += other->count;
  intervals_order(s);
  return true;
}

// What is left of one stands in its place: most sets are one, and most differences one or two.
static bool subtract_from_one(intervals *s, const intervals *other) {
  uint64_t lo = s->at[0].lo, hi = s->at[0].hi;
  bool ok = true;
  s->count = 0;
  for (size_t k = 0; k < other->count && lo < hi && ok; k++) {
    const interval *o = &other->at[k];
    if (o->hi <= lo) continue;
    if (o->lo >= hi) break;
    if (o->lo > lo) ok = vec_push(s, (interval){lo, o->lo});
    lo = o->hi;
  }
  return ok && (lo >= hi || vec_push(s, (interval){lo, hi}));
}

bool intervals_subtract(intervals *s, const intervals *other) {
  if (!s->count || !other->count) return true;
  if (s->count == 1) return subtract_from_one(s, other);
  intervals out = {0};
  bool ok = true;
  size_t k = 0;
  for (size_t i = 0; i < s->count && ok; i++) {
    uint64_t lo = s->at[i].lo, hi = s->at[i].hi;
    while (k < other->count && other->at[k].hi <= lo) k++;
    for (size_t j = k; j < other->count && other->at[j].lo < hi && ok; j++) {
      if (other->at[j].lo > lo) ok = vec_push(&out, (interval){lo, other->at[j].lo});
      lo = other->at[j].hi;
    }
    if (lo < hi && ok) ok = vec_push(&out, (interval){lo, hi});
  }
  vec_free(s);
  *s = out;
  return ok;
}

bool intervals_common(const intervals *a, const intervals *b, intervals *out) {
  bool ok = true;
  for (size_t i = 0, k = 0; i < a->count && k < b->count && ok;) {
    uint64_t lo = a->at[i].lo > b->at[k].lo ? a->at[i].lo : b->at[k].lo;
    uint64_t hi = a->at[i].hi < b->at[k].hi ? a->at[i].hi : b->at[k].hi;
    if (lo < hi) ok = vec_push(out, (interval){lo, hi});
    if (a->at[i].hi < b->at[k].hi)
      i++;
    else
      k++;
  }
  intervals_order(out);
  return ok;
}

bool intervals_meet(const intervals *a, const intervals *b) {
  for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
    if (a->at[i].hi <= b->at[k].lo)
      i++;
    else if (b->at[k].hi <= a->at[i].lo)
      k++;
    else
      return true;
  }
  return false;
}

bool intervals_have(const intervals *s, uint64_t x) {
  size_t first = 0, end = s->count; // of those that may hold it
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    if (x < s->at[middle].lo)
      end = middle;
    else if (x >= s->at[middle].hi)
      first = middle + 1;
    else
      return true;
  }
  return false;
}

bool intervals_are_same(const intervals *a, const intervals *b) {
  return a->count == b->count && (!a->count || !memcmp(a->at, b->at, a->count * sizeof *a->at));
}

uint64_t intervals_size(const intervals *s) {
  uint64_t sum = 0;
  for (size_t i = 0; i < s->count; i++) sum += s->at[i].hi - s->at[i].lo;
  return sum;
}
