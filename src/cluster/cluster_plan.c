// SPDX-License-Identifier: MIT
//
// The rules by which N ranks give the bits of one, for a program without races:
// - A part has, before it runs, the newest version of all it may read and of all it may write. So
//   what it may write and does not is right there, too, and its part is the newest afterwards.
// - No two parts may write the same element, unless all they do to it is to combine it by integer
//   operations that commute; then rank 0 begins with what was there and the others with what
//   changes nothing, and the results are combined.
// - Where halos are deep, parts overlap: what two of them compute has the same bits, because each
//   has the newest version of all that it may read, and nothing is added up.
// - What is not split runs whole: on every rank where it gives the same bits each time and little
//   has to travel for it; otherwise on the rank that lacks least.
#include "cluster/cluster_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Missing bytes of a rank up to which a whole region runs on every rank. What a later region needs
// of the result is then there already.
static const uint64_t EVERYWHERE_BYTES = 1 << 20;

void cluster_messages_free(cluster_messages *m) {
  for (size_t i = 0; i < m->count; i++) vec_free(&m->at[i].pieces);
  vec_free(m);
}

void cluster_plan_free(layout_table *layouts, cluster_plan *p) {
  if (!p) return;
  for (uint32_t r = 0; p->regions && r < p->region_count; r++) {
    cluster_region *region = &p->regions[r];
    cluster_messages_free(&region->sends);
    cluster_messages_free(&region->receives);
    for (size_t i = 0; i < region->combines.count; i++)
      intervals_free(&region->combines.at[i].bytes);
    vec_free(&region->combines);
  }
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    if (p->before) layout_release(layouts, p->before[b]);
    if (p->after) layout_release(layouts, p->after[b]);
  }
  free(p->before);
  free(p->after);
  free(p->regions);
  free(p->staging);
  free(p->messages);
  free(p->key);
  free(p);
}

// ---- what travels -------------------------------------------------------------------------------

static bool add_pieces(cluster_messages *m, uint32_t rank, uint32_t buffer,
                       const intervals *pieces) {
  cluster_message *to = NULL;
  for (size_t i = 0; i < m->count && !to; i++)
    if (m->at[i].rank == rank) to = &m->at[i];
  if (!to) {
    if (!vec_push(m, (cluster_message){.rank = rank})) return false;
    to = &m->at[m->count - 1];
  }
  for (size_t i = 0; i < pieces->count; i++) {
    if (!vec_push(&to->pieces, (cluster_piece){buffer, pieces->at[i].lo, pieces->at[i].hi}))
      return false;
    to->bytes += pieces->at[i].hi - pieces->at[i].lo;
  }
  return true;
}

// From the nearest ranks that have it: parts that lie together are with neighbours.
static bool find_sources(uint32_t rank, uint32_t ranks, uint32_t buffer, uint32_t to,
                         intervals *missing, const intervals *has, cluster_messages *sends,
                         cluster_messages *receives) {
  bool ok = true;
  for (uint32_t step = 1; step < 2 * ranks && missing->count && ok; step++) {
    uint32_t distance = (step + 1) / 2;
    if (step % 2 ? distance > ranks - 1 - to : distance > to) continue;
    uint32_t from = step % 2 ? to + distance : to - distance;
    if (!intervals_meet(missing, &has[from])) continue;
    intervals pieces = {0};
    ok = intervals_common(missing, &has[from], &pieces) && intervals_subtract(missing, &pieces);
    if (ok && rank == to) ok = add_pieces(receives, from, buffer, &pieces);
    if (ok && rank == from) ok = add_pieces(sends, to, buffer, &pieces);
    intervals_free(&pieces);
  }
  return ok;
}

bool cluster_moves(uint32_t rank, uint32_t ranks, uint32_t buffer, const intervals *wants,
                   intervals *has, cluster_messages *sends, cluster_messages *receives) {
  bool ok = true;
  intervals *missing = calloc(ranks, sizeof *missing);
  if (!missing) return false;
  // All from what is there before anything travels.
  for (uint32_t n = 0; n < ranks && ok; n++)
    ok = intervals_copy(&wants[n], &missing[n]) && intervals_subtract(&missing[n], &has[n]);
  for (uint32_t n = 0; n < ranks && ok; n++) {
    intervals left = {0};
    if (!missing[n].count) continue;
    if (n != rank && !intervals_meet(&missing[n], &has[rank])) continue; // others see to it
    ok = intervals_copy(&missing[n], &left) &&
         find_sources(rank, ranks, buffer, n, &left, has, sends, receives);
    intervals_free(&left);
  }
  for (uint32_t n = 0; n < ranks && ok; n++) ok = intervals_unite(&has[n], &missing[n]);
  for (uint32_t n = 0; n < ranks; n++) intervals_free(&missing[n]);
  free(missing);
  return ok;
}

// ---- a region -----------------------------------------------------------------------------------

typedef struct making {
  const cluster_facts *f;
  intervals **has; // per buffer, per rank: bytes, as they are before the region that is planned
  split s;
  bool *runs; // per rank
} making;

static bool add_bytes(intervals *to, const intervals *elements, unsigned size) {
  for (size_t i = 0; i < elements->count; i++)
    if (!intervals_push(to, elements->at[i].lo * size, elements->at[i].hi * size)) return false;
  intervals_order(to);
  return true;
}

static uint32_t box_of(const making *m, uint32_t rank) {
  return m->s.is_split ? rank : 0;
}

// Bytes that a rank has to have before it runs.
static bool find_wants(const making *m, uint32_t b, uint32_t rank, intervals *out) {
  const footprint *use = split_use(&m->s, box_of(m, rank), b);
  unsigned size = type_bytes(m->f->program->buffers[b].type);
  if (!add_bytes(out, &use->reads, size) || !add_bytes(out, &use->writes, size)) return false;
  if (!m->s.combines[b]) return add_bytes(out, &use->atomics, size);
  for (uint32_t n = 0; n < m->s.ranks && !rank; n++) // rank 0 begins with what was there
    if (!add_bytes(out, &split_use(&m->s, n, b)->atomics, size)) return false;
  return true;
}

static bool find_written(const making *m, uint32_t b, uint32_t rank, intervals *out) {
  const footprint *use = split_use(&m->s, box_of(m, rank), b);
  unsigned size = type_bytes(m->f->program->buffers[b].type);
  return add_bytes(out, &use->writes, size) &&
         (m->s.combines[b] || add_bytes(out, &use->atomics, size));
}

static bool missing_bytes(const making *m, uint32_t rank, uint64_t *out) {
  bool ok = true;
  *out = 0;
  for (uint32_t b = 0; b < m->f->program->buffer_count && ok; b++) {
    intervals wants = {0};
    ok = find_wants(m, b, rank, &wants) && intervals_subtract(&wants, &m->has[b][rank]);
    *out += intervals_size(&wants);
    intervals_free(&wants);
  }
  return ok;
}

// Who runs what is whole.
static bool place_whole(making *m, cluster_region *out) {
  uint64_t least = UINT64_MAX, most = 0;
  for (uint32_t n = 0; n < m->f->ranks; n++) {
    uint64_t bytes;
    if (!missing_bytes(m, n, &bytes)) return false;
    if (bytes < least) least = bytes, out->runs_on = n;
    if (bytes > most) most = bytes;
  }
  out->is_everywhere = m->s.is_steady && most <= EVERYWHERE_BYTES;
  for (uint32_t n = 0; n < m->f->ranks; n++) m->runs[n] = out->is_everywhere || n == out->runs_on;
  return true;
}

// Afterwards: what a rank may have written is nobody else's, unless they all did the same.
static bool note_writes(making *m, uint32_t b, bool is_everywhere) {
  uint32_t ranks = m->f->ranks;
  intervals all = {0}, *own = calloc(ranks, sizeof *own);
  bool ok = own != NULL;
  for (uint32_t n = 0; n < ranks && ok; n++) {
    if (m->runs[n]) ok = find_written(m, b, n, &own[n]);
    if (ok && own[n].count) ok = vec_reserve(&all, own[n].count);
    for (size_t i = 0; ok && i < own[n].count; i++) all.at[all.count++] = own[n].at[i];
  }
  intervals_order(&all);
  for (uint32_t n = 0; n < ranks && ok && all.count && !is_everywhere; n++) {
    // What the rank wrote itself it had before, and it stays.
    ok = intervals_subtract(&m->has[b][n], &all) && intervals_unite(&m->has[b][n], &own[n]);
  }
  for (uint32_t n = 0; own && n < ranks; n++) intervals_free(&own[n]);
  free(own);
  intervals_free(&all);
  return ok;
}

static bool note_combined(making *m, uint32_t b, uint8_t op, cluster_region *out) {
  const buffer *buf = &m->f->program->buffers[b];
  cluster_combine c = {.buffer = b, .type = buf->type, .op = (vyre_op)op};
  bool ok = true;
  for (uint32_t n = 0; n < m->s.ranks && ok; n++)
    ok = add_bytes(&c.bytes, &split_use(&m->s, n, b)->atomics, type_bytes(buf->type));
  for (uint32_t n = 0; n < m->f->ranks && ok; n++) ok = intervals_unite(&m->has[b][n], &c.bytes);
  if (ok && vec_push(&out->combines, c)) return true;
  intervals_free(&c.bytes);
  return false;
}

static bool plan_buffer(making *m, uint32_t b, const footprint_region *r, cluster_region *out) {
  uint32_t ranks = m->f->ranks;
  intervals *wants = calloc(ranks, sizeof *wants);
  bool ok = wants != NULL;
  for (uint32_t n = 0; n < ranks && ok; n++)
    if (m->runs[n]) ok = find_wants(m, b, n, &wants[n]);
  ok = ok && cluster_moves(m->f->rank, ranks, b, wants, m->has[b], &out->sends, &out->receives);
  layout_sets_free(wants, ranks);
  if (!ok || !note_writes(m, b, out->is_everywhere)) return false;
  return !m->s.combines[b] || note_combined(m, b, footprint_kind_of(r, b).op, out);
}

// ---- deep halos ---------------------------------------------------------------------------------

// Something has to travel before these parts run.
static bool find_lack(making *m, const split *s, bool *is_lacking) {
  split kept = m->s;
  bool ok = true;
  m->s = *s;
  *is_lacking = false;
  for (uint32_t n = 0; n < m->f->ranks && ok && !*is_lacking; n++) {
    uint64_t bytes;
    ok = missing_bytes(m, n, &bytes);
    *is_lacking = ok && bytes;
  }
  m->s = kept;
  return ok;
}

static bool has_atomics(const footprint_region *r, uint32_t buffer_count) {
  for (uint32_t b = 0; b < buffer_count; b++)
    if (footprint_kind_of(r, b).is_atomic) return true;
  return false;
}

static uint64_t most_overlap(const making *m) {
  uint64_t most = m->f->depth - 1;
  for (uint32_t n = 0; n < m->s.ranks; n++) {
    uint64_t size = m->s.boxes[n].end[m->s.axis] - m->s.boxes[n].first[m->s.axis];
    if (size && size / 2 < most) most = size / 2;
  }
  return most;
}

// Whether the rest of the grid may write none of what a part that goes on into others may write: a
// part has the newest of all that it may write only if nobody else makes it newer meanwhile.
static bool writes_alone(const making *m, const footprint_region *r, const footprint_launch *l,
                         const split *s, uint32_t rank, bool *ok) {
  uint32_t count = m->f->program->buffer_count;
  footprint *rest = calloc(count + 1u, sizeof *rest);
  footprint_box low = {0}, high = {0}, own = s->boxes[rank];
  footprint_extents(r, l->grid, low.end);
  high = low;
  low.end[s->axis] = own.first[s->axis];
  high.first[s->axis] = own.end[s->axis];
  *ok = rest != NULL && (!low.end[s->axis] || footprint_find(r, l, &low, rest)) &&
        (high.first[s->axis] == high.end[s->axis] || footprint_find(r, l, &high, rest));
  bool is_alone = true;
  for (uint32_t b = 0; b < count && is_alone && *ok; b++)
    is_alone = !intervals_meet(&split_use(s, rank, b)->writes, &rest[b].writes);
  if (rest) footprints_fini(rest, count);
  free(rest);
  return is_alone;
}

// Where something travels, as much of it travels as lets the next regions do without; where nothing
// does, parts go as far as what is there allows.
static bool deepen(making *m, const footprint_region *r, const footprint_launch *l,
                   uint64_t *overlap) {
  if (!m->s.is_split || m->f->depth < 2 || has_atomics(r, m->f->program->buffer_count)) return true;
  bool is_lacking = false;
  uint64_t least = 0, most = most_overlap(m); // the most that is known to do
  if (!find_lack(m, &m->s, &is_lacking)) return false;
  if (is_lacking) least = most;
  while (least < most) {
    split s;
    uint64_t middle = most - (most - least) / 2;
    if (!split_extend(r, l, &m->s, middle, &s)) return false;
    bool ok = find_lack(m, &s, &is_lacking);
    split_fini(&s);
    if (!ok) return false;
    if (is_lacking)
      most = middle - 1;
    else
      least = middle;
  }
  if (!least) return true;
  split deep;
  if (!split_extend(r, l, &m->s, least, &deep)) return false;
  bool ok = true, is_alone = true;
  for (uint32_t n = 0; n < deep.ranks && ok && is_alone; n++)
    is_alone = writes_alone(m, r, l, &deep, n, &ok);
  split_fini(is_alone && ok ? &m->s : &deep);
  if (is_alone && ok) m->s = deep, *overlap = least;
  return ok;
}

// ---- what runs while something travels ----------------------------------------------------------

typedef struct travelling { // bytes, per buffer
  intervals *in, *out;
} travelling;

static bool collect_pieces(const cluster_messages *from, intervals *to) {
  for (size_t i = 0; i < from->count; i++)
    for (size_t k = 0; k < from->at[i].pieces.count; k++) {
      const cluster_piece *p = &from->at[i].pieces.at[k];
      if (!intervals_push(&to[p->buffer], p->lo, p->hi)) return false;
    }
  return true;
}

static bool meets(const intervals *elements, unsigned size, const intervals *bytes, bool *ok) {
  intervals own = {0};
  *ok = *ok && add_bytes(&own, elements, size);
  bool found = *ok && intervals_meet(&own, bytes);
  intervals_free(&own);
  return found;
}

// Whether a part of the box has nothing to do with what travels.
static bool is_apart(const making *m, const footprint_region *r, const footprint_launch *l,
                     const footprint_box *box, const travelling *t, bool *ok) {
  const vyre_program *p = m->f->program;
  footprint *use = calloc(p->buffer_count + 1u, sizeof *use);
  *ok = *ok && use && footprint_find(r, l, box, use);
  bool apart = true;
  for (uint32_t b = 0; b < p->buffer_count && apart && *ok; b++) {
    unsigned size = type_bytes(p->buffers[b].type);
    apart = !meets(&use[b].reads, size, &t->in[b], ok) &&
            !meets(&use[b].writes, size, &t->in[b], ok) &&
            !meets(&use[b].atomics, size, &t->in[b], ok) &&
            !meets(&use[b].writes, size, &t->out[b], ok) &&
            !meets(&use[b].atomics, size, &t->out[b], ok);
  }
  if (use) footprints_fini(use, p->buffer_count);
  free(use);
  return apart && *ok;
}

// From the middle on, how much of one side has to be left out: 0, 1, 2, 4, ...; all of it when
// nothing helps.
static uint64_t left_out(const making *m, const footprint_region *r, const footprint_launch *l,
                         const footprint_box *half, bool is_low, const travelling *t, bool *ok) {
  uint32_t axis = m->s.axis;
  uint64_t size = half->end[axis] - half->first[axis];
  for (uint64_t out = 0; out < size && *ok; out = out ? 2 * out : 1) {
    footprint_box box = *half;
    if (is_low)
      box.first[axis] += out;
    else
      box.end[axis] -= out;
    if (is_apart(m, r, l, &box, t, ok)) return out;
  }
  return size;
}

static bool find_interior(const making *m, const footprint_region *r, const footprint_launch *l,
                          cluster_region *out) {
  uint32_t count = m->f->program->buffer_count, axis = m->s.axis;
  travelling t = {calloc(count + 1u, sizeof *t.in), calloc(count + 1u, sizeof *t.out)};
  bool ok =
      t.in && t.out && collect_pieces(&out->receives, t.in) && collect_pieces(&out->sends, t.out);
  for (uint32_t b = 0; b < count && ok; b++) {
    intervals_order(&t.in[b]);
    intervals_order(&t.out[b]);
  }
  footprint_box low = out->box, high = out->box;
  uint64_t middle = out->box.first[axis] + (out->box.end[axis] - out->box.first[axis]) / 2;
  low.end[axis] = high.first[axis] = middle;
  footprint_box inner = out->box;
  if (ok) inner.first[axis] += left_out(m, r, l, &low, true, &t, &ok);
  if (ok) inner.end[axis] -= left_out(m, r, l, &high, false, &t, &ok);
  if (ok && inner.first[axis] < inner.end[axis] && is_apart(m, r, l, &inner, &t, &ok)) {
    out->has_interior = true;
    out->interior_first = inner.first[axis];
    out->interior_end = inner.end[axis];
  }
  if (t.in) layout_sets_free(t.in, count);
  if (t.out) layout_sets_free(t.out, count);
  return ok;
}

static uint64_t invocations_of(const footprint_box *b) {
  uint64_t product = 1;
  for (int k = 0; k < 3; k++) product *= b->end[k] - b->first[k];
  return product;
}

static bool make_region(making *m, uint32_t index, cluster_region *out) {
  const cluster_facts *f = m->f;
  const footprint_region *r = f->footprints[index];
  footprint_launch launch = {.params = f->params, .lengths = f->lengths};
  memcpy(launch.grid, f->grids[index], sizeof launch.grid);
  split_options options = {f->ranks, f->split_least, f->weights};
  if (!split_make(r, f->program, &launch, &options, &m->s)) return false;
  bool ok = deepen(m, r, &launch, &out->overlap);
  memcpy(out->reason, m->s.reason, sizeof out->reason);
  out->is_split = m->s.is_split;
  out->axis = m->s.axis;
  for (uint32_t n = 0; n < f->ranks; n++) m->runs[n] = true;
  if (ok && !m->s.is_split) ok = place_whole(m, out);
  for (uint32_t b = 0; b < f->program->buffer_count && ok; b++) {
    footprint_kind kind = footprint_kind_of(r, b);
    if (kind.is_read || kind.is_written || kind.is_atomic) ok = plan_buffer(m, b, r, out);
  }
  out->box = m->s.boxes[box_of(m, f->rank)];
  out->here = invocations_of(&out->box);
  footprint_box grid = {0};
  footprint_extents(r, launch.grid, grid.end);
  out->invocations = invocations_of(&grid);
  out->runs_here = m->runs[f->rank] && out->here;
  if (ok && out->is_split && out->runs_here && out->receives.count && !out->combines.count)
    ok = find_interior(m, r, &launch, out);
  split_fini(&m->s);
  return ok;
}

// ---- a dispatch ---------------------------------------------------------------------------------

static uint64_t staging_of(const cluster_messages *m) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < m->count; i++)
    if (m->at[i].pieces.count > 1) bytes += (m->at[i].bytes + 63) / 64 * 64;
  return bytes;
}

static bool make_regions(making *m, cluster_plan *p) {
  for (uint32_t r = 0; r < p->region_count; r++) {
    if (!make_region(m, r, &p->regions[r])) return false;
    uint64_t bytes = staging_of(&p->regions[r].sends) + staging_of(&p->regions[r].receives);
    if (bytes > p->staging_bytes) p->staging_bytes = bytes;
  }
  size_t most = 0;
  for (uint32_t r = 0; r < p->region_count; r++) {
    size_t count = p->regions[r].sends.count + p->regions[r].receives.count;
    if (count > most) most = count;
  }
  p->messages = calloc(most + 1, sizeof *p->messages);
  p->staging = malloc(p->staging_bytes + 1);
  return p->staging && p->messages;
}

static bool make_layouts(layout_table *layouts, making *m, cluster_plan *p) {
  for (uint32_t b = 0; b < p->buffer_count; b++) {
    const layout *before = m->f->before[b];
    p->after[b] = layout_intern(layouts, before->ranks, before->size, m->has[b]);
    m->has[b] = NULL;
    if (!p->after[b]) return false;
    p->before[b] = layout_retain(m->f->before[b]);
  }
  return true;
}

cluster_plan *cluster_plan_make(layout_table *layouts, const cluster_facts *f) {
  const vyre_program *p = f->program;
  cluster_plan *out = calloc(1, sizeof *out);
  if (!out) return NULL;
  out->region_count = p->region_count;
  out->buffer_count = p->buffer_count;
  out->regions = calloc(p->region_count, sizeof *out->regions);
  out->before = calloc(p->buffer_count + 1u, sizeof(layout *));
  out->after = calloc(p->buffer_count + 1u, sizeof(layout *));
  making m = {.f = f};
  m.has = calloc(p->buffer_count + 1u, sizeof *m.has);
  m.runs = calloc(f->ranks, sizeof *m.runs);
  bool ok = out->regions && out->before && out->after && m.has && m.runs;
  for (uint32_t b = 0; b < p->buffer_count && ok; b++)
    ok = (m.has[b] = layout_copy(f->before[b])) != NULL;
  ok = ok && make_regions(&m, out) && make_layouts(layouts, &m, out);
  for (uint32_t b = 0; m.has && b < p->buffer_count; b++) layout_sets_free(m.has[b], f->ranks);
  free(m.has);
  free(m.runs);
  if (ok) return out;
  cluster_plan_free(layouts, out);
  return NULL;
}
