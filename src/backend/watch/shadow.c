// SPDX-License-Identifier: MIT
#include "backend/watch/shadow.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_ELEMENTS = 1024 };

// The accesses of one element since a region began. Of a set of accesses, the first one and the
// first that does not commute with it are enough to say whether another conflicts with any of them.
typedef struct element {
  uint32_t region; // plus 1, of the last access
  uint32_t group, phase;
  bool is_told;                    // it conflicted in this region
  shadow_access before[2];         // of earlier workgroups
  shadow_access group_accesses[2]; // of this one, in earlier phases
  shadow_access phase_accesses[3]; // in this phase; the third is of another invocation
} element;

// A buffer or a shared array.
typedef struct object {
  uint64_t length;
  element **pages; // those that were touched
} object;

struct shadow {
  const vyre_program *p;
  const launch *l;
  const uint16_t *kinds;
  bool failed;
  object *buffers, *shared;
  // When an element was last written: of transient buffers 1, of shared arrays the workgroup plus
  // 1, of private arrays the declaration. NULL until it is needed.
  uint32_t **transient_stamps, **shared_stamps;
  uint32_t **private_stamps; // per ARRAY operation: LIMIT_WORKGROUP invocations
  uint32_t **declared;       // likewise: the declaration of each invocation
  uint32_t declarations;
};

shadow *shadow_new(const vyre_program *p, const launch *l, const uint16_t *kinds) {
  shadow *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  *s = (shadow){.p = p, .l = l, .kinds = kinds};
  s->buffers = calloc(p->buffer_count + 1u, sizeof *s->buffers);
  s->shared = calloc(p->shared_count + 1u, sizeof *s->shared);
  s->transient_stamps = calloc(p->buffer_count + 1u, sizeof *s->transient_stamps);
  s->shared_stamps = calloc(p->shared_count + 1u, sizeof *s->shared_stamps);
  s->private_stamps = calloc(p->code_count + 1u, sizeof *s->private_stamps);
  s->declared = calloc(p->code_count + 1u, sizeof *s->declared);
  if (s->buffers && s->shared && s->transient_stamps && s->shared_stamps && s->private_stamps &&
      s->declared) {
    for (uint32_t i = 0; i < p->buffer_count; i++) s->buffers[i].length = l->buffers[i].length;
    for (uint32_t i = 0; i < p->shared_count; i++) s->shared[i].length = p->shared[i].length;
    return s;
  }
  shadow_free(s);
  return NULL;
}

static void free_objects(object *objects, uint32_t count) {
  for (uint32_t i = 0; objects && i < count; i++) {
    for (uint64_t k = 0; objects[i].pages && k <= objects[i].length / PAGE_ELEMENTS; k++)
      free(objects[i].pages[k]);
    free(objects[i].pages);
  }
  free(objects);
}

static void free_stamps(uint32_t **stamps, uint32_t count) {
  for (uint32_t i = 0; stamps && i < count; i++) free(stamps[i]);
  free(stamps);
}

void shadow_free(shadow *s) {
  if (!s) return;
  free_objects(s->buffers, s->p->buffer_count);
  free_objects(s->shared, s->p->shared_count);
  free_stamps(s->transient_stamps, s->p->buffer_count);
  free_stamps(s->shared_stamps, s->p->shared_count);
  free_stamps(s->private_stamps, s->p->code_count);
  free_stamps(s->declared, s->p->code_count);
  free(s);
}

bool shadow_failed(const shadow *s) {
  return s->failed;
}

// ---- races --------------------------------------------------------------------------------------

static element *find_element(shadow *s, object *o, uint64_t index) {
  uint64_t page = index / PAGE_ELEMENTS;
  if (!o->pages) o->pages = calloc(o->length / PAGE_ELEMENTS + 1, sizeof *o->pages);
  if (o->pages && !o->pages[page]) o->pages[page] = calloc(PAGE_ELEMENTS, sizeof(element));
  s->failed |= !o->pages || !o->pages[page];
  return s->failed ? NULL : &o->pages[page][index % PAGE_ELEMENTS];
}

static bool commute(const shadow *s, shadow_access x, shadow_access y) {
  uint16_t kind = s->kinds[x.instruction];
  return kind && kind == s->kinds[y.instruction];
}

static void add(const shadow *s, shadow_access set[2], shadow_access x) {
  if (!set[0].instruction)
    set[0] = x;
  else if (!set[1].instruction && !commute(s, set[0], x))
    set[1] = x;
}

static void add_all(const shadow *s, shadow_access to[2], shadow_access *from, int count) {
  for (int k = 0; k < count; k++)
    if (from[k].instruction) add(s, to, from[k]);
  memset(from, 0, (size_t)count * sizeof *from);
}

// Moves on to the region, workgroup and phase of an access.
static void move_on(const shadow *s, element *at, uint32_t region, const ref_event *e,
                    bool is_shared) {
  bool is_same_group = at->region == region + 1 && at->group == (uint32_t)e->group;
  if (at->region != region + 1 || (is_shared && !is_same_group)) {
    // Each workgroup has shared arrays of its own; regions wait for one another.
    *at = (element){.region = region + 1};
  } else if (!is_same_group) {
    add_all(s, at->before, at->group_accesses, 2);
    add_all(s, at->before, at->phase_accesses, 3);
  } else if (at->phase != (uint32_t)e->phase) {
    add_all(s, at->group_accesses, at->phase_accesses, 3);
  }
  at->group = (uint32_t)e->group;
  at->phase = (uint32_t)e->phase;
}

static bool find_conflict(const shadow *s, const element *at, shadow_access x,
                          shadow_access *other) {
  for (int k = 0; k < 2; k++) {
    *other = at->before[k];
    if (other->instruction && !commute(s, x, *other)) return true;
  }
  for (int k = 0; k < 3; k++) {
    *other = at->phase_accesses[k];
    if (other->instruction && other->invocation != x.invocation && !commute(s, x, *other))
      return true;
  }
  return false;
}

bool shadow_conflicts(shadow *s, uint32_t region, const ref_event *e, shadow_access *other) {
  uint32_t memory = s->p->code[e->instruction].arg[0], index = mem_index(memory);
  bool is_shared = mem_space(memory) == MEM_SHARED;
  if (e->invocation > UINT32_MAX) s->failed = true;
  element *at = s->failed
                    ? NULL
                    : find_element(s, is_shared ? &s->shared[index] : &s->buffers[index], e->index);
  if (!at) return false;
  move_on(s, at, region, e, is_shared);
  shadow_access x = {(uint32_t)e->invocation, e->instruction};
  if (at->is_told) return false;
  at->is_told = find_conflict(s, at, x, other);
  shadow_access *now = at->phase_accesses;
  add(s, now, x);
  if (!now[2].instruction && now[0].invocation != x.invocation) now[2] = x;
  return at->is_told;
}

// ---- what nobody wrote --------------------------------------------------------------------------

static uint32_t *stamps(shadow *s, uint32_t **at, uint64_t count) {
  if (!*at) *at = calloc(count + 1, sizeof **at);
  s->failed |= !*at;
  return *at;
}

static uint32_t group_size(const shadow *s, uint32_t instruction) {
  uint32_t region = 0;
  while (instruction >= s->p->regions[region].body.end) region++;
  const uint32_t *w = s->l->regions[region].workgroup;
  return w[0] * w[1] * w[2];
}

void shadow_declare(shadow *s, const ref_event *e) {
  uint32_t *declared = stamps(s, &s->declared[e->instruction], group_size(s, e->instruction));
  if (declared) declared[e->local] = ++s->declarations;
}

bool shadow_is_unset(shadow *s, const ref_event *e) {
  const inst *in = &s->p->code[e->instruction];
  uint32_t object = mem_index(in->arg[0]), wanted = 1;
  uint64_t index = e->index;
  uint32_t *at = NULL;
  if (mem_space(in->arg[0]) == MEM_SHARED) {
    at = stamps(s, &s->shared_stamps[object], e->length);
    wanted = (uint32_t)e->group + 1;
  } else if (mem_space(in->arg[0]) == MEM_BUFFER) {
    if (!s->p->buffers[object].is_transient) return false;
    at = stamps(s, &s->transient_stamps[object], e->length);
  } else {
    uint64_t size = group_size(s, object);
    uint32_t *declared = stamps(s, &s->declared[object], size);
    at = stamps(s, &s->private_stamps[object], size * e->length);
    wanted = declared ? declared[e->local] : 0;
    index += e->local * e->length;
  }
  if (s->failed) return false;
  bool is_unset = in->op != VYRE_OP_STORE && at[index] != wanted;
  if (in->op != VYRE_OP_LOAD) at[index] = wanted;
  return is_unset;
}
