// SPDX-License-Identifier: MIT
#include "cluster/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMBINED = 64 }; // intervals of a buffer that are combined, each by a call

// ---- one way to share it out --------------------------------------------------------------------

static bool make_room(uint32_t count, split *s) {
  s->boxes = calloc(count, sizeof *s->boxes);
  s->uses = calloc((size_t)count * s->buffer_count + 1, sizeof *s->uses);
  s->combines = calloc(s->buffer_count + 1u, sizeof *s->combines);
  s->ranks = count;
  return s->boxes && s->uses && s->combines;
}

static bool make_boxes(const footprint_region *r, const footprint_launch *l, uint32_t count,
                       const uint32_t *weights, split *s) {
  uint64_t extents[3], total = 0, before = 0; // extents and totals are below 2^32
  footprint_extents(r, l->grid, extents);
  if (!make_room(count, s)) return false;
  for (uint32_t n = 0; n < count; n++) total += weights ? weights[n] : 1;
  for (uint32_t n = 0; n < count; n++) {
    uint64_t after = before + (weights ? weights[n] : 1);
    for (int k = 0; k < 3; k++) s->boxes[n].end[k] = extents[k];
    s->boxes[n].first[s->axis] = extents[s->axis] * before / total;
    s->boxes[n].end[s->axis] = extents[s->axis] * after / total;
    before = after;
  }
  return footprint_find_each(r, l, s->boxes, count, s->uses);
}

bool split_extend(const footprint_region *r, const footprint_launch *l, const split *from,
                  uint64_t by, split *out) {
  uint64_t extents[3];
  footprint_extents(r, l->grid, extents);
  *out = *from;
  bool ok = make_room(from->ranks, out);
  for (uint32_t n = 0; n < from->ranks && ok; n++) {
    footprint_box *b = &out->boxes[n];
    *b = from->boxes[n];
    uint64_t *first = &b->first[from->axis], *end = &b->end[from->axis];
    if (*first < *end) {
      *first -= *first < by ? *first : by;
      *end += extents[from->axis] - *end < by ? extents[from->axis] - *end : by;
    }
  }
  ok = ok && footprint_find_each(r, l, out->boxes, out->ranks, out->uses);
  if (ok) memcpy(out->combines, from->combines, from->buffer_count * sizeof *from->combines);
  if (!ok) split_fini(out);
  return ok;
}

void split_fini(split *s) {
  if (s->uses) footprints_fini(s->uses, s->ranks * s->buffer_count);
  free(s->boxes);
  free(s->uses);
  free(s->combines);
  *s = (split){0};
}

typedef enum meeting { APART, MEET, NO_MEMORY } meeting;

static int by_start(const void *a, const void *b) {
  const interval *x = a, *y = b;
  return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static bool collect(const intervals *from, intervals *to) {
  for (size_t i = 0; i < from->count; i++)
    if (!vec_push(to, from->at[i])) return false;
  return true;
}

// Whether sets of two parts have an element in common. Within a part intervals are apart already,
// except a write and an atomic of it, which are united first.
static meeting parts_meet(const split *s, uint32_t b) {
  intervals all = {0};
  bool ok = true;
  for (uint32_t n = 0; n < s->ranks && ok; n++) {
    const footprint *use = split_use(s, n, b);
    if (!use->atomics.count) {
      ok = collect(&use->writes, &all);
      continue;
    }
    intervals own = {0};
    ok = intervals_copy(&use->atomics, &own);
    ok = ok && intervals_unite(&own, &use->writes);
    ok = ok && collect(&own, &all);
    intervals_free(&own);
  }
  meeting found = ok ? APART : NO_MEMORY;
  bool is_ordered = true; // the usual case: part after part
  for (size_t i = 1; i < all.count && is_ordered; i++)
    is_ordered = all.at[i - 1].lo <= all.at[i].lo;
  if (ok && !is_ordered) qsort(all.at, all.count, sizeof *all.at, by_start);
  for (size_t i = 1; i < all.count && found == APART; i++)
    if (all.at[i].lo < all.at[i - 1].hi) found = MEET;
  intervals_free(&all);
  return found;
}

static uint64_t combined_intervals(const split *s, uint32_t b, bool *ok) {
  intervals all = {0};
  for (uint32_t n = 0; n < s->ranks && *ok; n++)
    *ok = intervals_unite(&all, &split_use(s, n, b)->atomics);
  uint64_t count = all.count;
  intervals_free(&all);
  return count;
}

// What stands in the way of this split; VYRE_OK's text is empty.
static bool judge(const footprint_region *r, const vyre_program *p, split *s) {
  s->reason[0] = 0;
  for (uint32_t b = 0; b < s->buffer_count; b++) {
    footprint_kind kind = footprint_kind_of(r, b);
    if (!kind.is_written && !kind.is_atomic) continue;
    meeting m = parts_meet(s, b);
    if (m == NO_MEMORY) return false;
    if (m == APART) continue;
    bool ok = true;
    if (kind.commutes && !kind.is_written && !kind.is_read &&
        combined_intervals(s, b, &ok) <= MOST_COMBINED && ok) {
      s->combines[b] = true;
      continue;
    }
    if (!ok) return false;
    const char *how = !kind.is_atomic  ? "may write the same elements of"
                      : !kind.commutes ? "may meet in atomics whose order matters, on"
                                       : "may meet in atomics and other accesses of";
    snprintf(s->reason, sizeof s->reason, "parts along %c %s `%.60s`", "xyz"[s->axis], how,
             p -> buffers[b].name);
    return true;
  }
  return true;
}

// Bytes that all parts read together, and those of what is read.
static uint64_t bytes_read(const split *s, const vyre_program *p, const footprint_launch *l,
                           uint64_t *once) {
  uint64_t sum = 0;
  *once = 0;
  for (uint32_t b = 0; b < s->buffer_count; b++) {
    uint64_t of_this = 0;
    for (uint32_t n = 0; n < s->ranks; n++) of_this += intervals_size(&split_use(s, n, b)->reads);
    sum += of_this * type_bytes(p->buffers[b].type);
    if (of_this) *once += l->lengths[b] * type_bytes(p->buffers[b].type);
  }
  return sum;
}

// ---- the best -----------------------------------------------------------------------------------

static bool is_steady(const footprint_region *r, uint32_t buffer_count) {
  for (uint32_t b = 0; b < buffer_count; b++) {
    footprint_kind k = footprint_kind_of(r, b);
    if (k.is_atomic && (!k.commutes || k.is_read || k.is_written)) return false;
  }
  return true;
}

static bool make_whole(const footprint_region *r, const footprint_launch *l, split *s) {
  uint32_t buffer_count = s->buffer_count;
  split_fini(s);
  s->buffer_count = buffer_count;
  return make_boxes(r, l, 1, NULL, s);
}

typedef struct search {
  uint64_t extents[3], best_bytes;
  bool has_best, best_is_full;
  char reason[SPLIT_REASON]; // why the first axis that was tried is not split
} search;

// Tries an axis; *is_enough when no other can be better.
static bool try_axis(const footprint_region *r, const vyre_program *p, const footprint_launch *l,
                     uint32_t axis, const split_options *o, search *f, split *best,
                     bool *is_enough) {
  split s = {.axis = axis, .buffer_count = p->buffer_count};
  bool is_full = f->extents[axis] >= o->ranks; // there is work for all
  bool ok = make_boxes(r, l, o->ranks, o->weights, &s) && judge(r, p, &s);
  if (!ok || *s.reason) {
    if (ok && !*f->reason) memcpy(f->reason, s.reason, sizeof f->reason);
    split_fini(&s);
    return ok;
  }
  uint64_t once, bytes = bytes_read(&s, p, l, &once);
  bool is_better = !f->has_best || (is_full && !f->best_is_full) ||
                   (is_full == f->best_is_full && bytes < f->best_bytes);
  if (is_better) {
    split_fini(best);
    *best = s;
    f->has_best = true;
    f->best_is_full = is_full;
    f->best_bytes = bytes;
    *is_enough = is_full && bytes <= once + once / 4;
  } else {
    split_fini(&s);
  }
  return true;
}

bool split_make(const footprint_region *r, const vyre_program *p, const footprint_launch *l,
                const split_options *options, split *out) {
  search f = {0};
  *out = (split){.buffer_count = p->buffer_count};
  bool ok = true, is_enough = false;
  bool steady = is_steady(r, p->buffer_count);
  footprint_extents(r, l->grid, f.extents);
  uint64_t invocations = l->grid[0] * l->grid[1] * l->grid[2]; // below 2^62: launches are checked
  bool is_small = steady && invocations < options->least;
  for (uint32_t axis = 3; axis-- > 0 && ok && !is_enough && !is_small && options->ranks > 1;)
    if (f.extents[axis] > 1) ok = try_axis(r, p, l, axis, options, &f, out, &is_enough);
  if (!ok) {
    split_fini(out);
    return false;
  }
  if (f.has_best) {
    out->is_split = true;
    out->is_steady = steady;
    snprintf(out->reason, sizeof out->reason, "split along %c", "xyz"[out->axis]);
    return true;
  }
  if (!make_whole(r, l, out)) return false;
  out->is_steady = steady;
  if (options->ranks == 1)
    snprintf(out->reason, sizeof out->reason, "there is one rank");
  else if (is_small)
    snprintf(out->reason, sizeof out->reason, "%" PRIu64 " invocations are not worth splitting",
             invocations);
  else if (*f.reason)
    memcpy(out->reason, f.reason, sizeof out->reason);
  else
    snprintf(out->reason, sizeof out->reason, "there is one %s",
             p->regions && invocations > 1 ? "workgroup" : "invocation");
  return true;
}
