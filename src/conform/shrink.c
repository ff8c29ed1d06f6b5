// SPDX-License-Identifier: MIT
//
// Rounds of edits, large ones first, until a round changes nothing: regions, parameters, runs of
// operations by halves, single blocks unwrapped, values replaced by their operands, buffers, and
// then the shape of the launch and the data.
#include "conform/shrink.h"

#include "backend/backend.h"
#include "base/clock.h"
#include "conform/edit.h"
#include "conform/race.h"
#include "ir/program.h"

#include <stdlib.h>
#include <string.h>

typedef struct shrinker {
  trial *t;
  shrink_check check;
  void *context;
  uint32_t checks, max_checks;
  uint64_t deadline_ns;
  bool changed;
} shrinker;

static bool has_budget(const shrinker *s) {
  return s->checks < s->max_checks && (!s->deadline_ns || clock_now_ns() < s->deadline_ns);
}

// Takes the candidate when it still fails; owns it in any case.
static bool take(shrinker *s, trial *candidate) {
  s->checks++;
  bool fails = s->check(s->context, candidate);
  if (fails) {
    trial_fini(s->t);
    *s->t = *candidate;
    s->changed = true;
  } else {
    trial_fini(candidate);
  }
  return fails;
}

static bool try_edit(shrinker *s, const edit *e) {
  trial candidate;
  if (!has_budget(s) || !edit_apply(e, s->t, &candidate)) return false;
  return take(s, &candidate);
}

// ---- regions, parameters, buffers ---------------------------------------------------------------

typedef enum item { ITEM_REGION, ITEM_PARAM, ITEM_BUFFER, ITEM_COUNT } item;

static uint32_t count_items(const vyre_program *p, item kind) {
  return kind == ITEM_REGION  ? p->region_count
         : kind == ITEM_PARAM ? p->param_count
                              : p->buffer_count;
}

static void drop_items(shrinker *s, item kind) {
  for (uint32_t i = count_items(s->t->program, kind); i-- > 0;) {
    edit e;
    if (!edit_init(&e, s->t)) return;
    e.has_shapes = kind != ITEM_PARAM;
    bool *flags[ITEM_COUNT] = {e.drops_region, e.drops_param, e.drops_buffer};
    flags[kind][i] = true;
    try_edit(s, &e);
    edit_fini(&e);
  }
}

// ---- code ---------------------------------------------------------------------------------------

// Drops runs of `size` operations, from the end. An acceptance renumbers what follows, so that the
// place is taken anew from the end of the smaller program.
static void drop_runs(shrinker *s, uint32_t size) {
  uint32_t at = s->t->program->code_count;
  while (at > 1 && has_budget(s)) {
    const vyre_program *p = s->t->program;
    if (at > p->code_count) at = p->code_count;
    uint32_t first = at > size + 1 ? at - size : 1;
    edit e;
    if (!edit_init(&e, s->t)) return;
    for (uint32_t i = first; i < at; i++) e.actions[i] = EDIT_DROP;
    if (first < p->regions[0].grid_code.first) e.has_shapes = true;
    try_edit(s, &e);
    edit_fini(&e);
    at = first;
  }
}

static void drop_code(shrinker *s) {
  for (uint32_t size = s->t->program->code_count / 2; size > 0; size /= 2) drop_runs(s, size);
}

static bool suits(const vyre_program *p, uint32_t i, edit_action action) {
  const inst *in = &p->code[i];
  bool is_value = in->op < VYRE_OP_VAR || in->op == VYRE_OP_GET;
  switch (action) {
  case EDIT_UNWRAP:
  case EDIT_UNWRAP_ELSE:
    return in->op == VYRE_OP_IF || in->op == VYRE_OP_FOR || in->op == VYRE_OP_WHILE;
  case EDIT_ONE: return is_value && in->type != VYRE_VOID;
  default: {
    uint32_t k = (uint32_t)(action - EDIT_OPERAND0);
    return is_value && k < op_table[in->op].operand_count && op_table[in->op].operands[k] == 'v' &&
           ref_type(p, in->arg[k]) == (vyre_type)in->type;
  }
  }
}

static void replace_one_by_one(shrinker *s, edit_action action) {
  for (uint32_t i = s->t->program->code_count; i-- > 1 && has_budget(s);) {
    if (i >= s->t->program->code_count || !suits(s->t->program, i, action)) continue;
    edit e;
    if (!edit_init(&e, s->t)) return;
    e.actions[i] = (uint8_t)action;
    try_edit(s, &e);
    edit_fini(&e);
  }
}

// ---- shapes and data ----------------------------------------------------------------------------

static void fix_shapes(shrinker *s) {
  const vyre_program *p = s->t->program;
  bool has_code = p->header.end > p->header.first;
  for (uint32_t i = 0; i < p->region_count; i++)
    has_code |= p->regions[i].grid_code.end > p->regions[i].grid_code.first;
  edit e;
  if (!has_code || !edit_init(&e, s->t)) return;
  e.has_shapes = true;
  try_edit(s, &e);
  edit_fini(&e);
}

// One axis: fewer invocations, in smaller workgroups or in fewer of them.
static bool shrink_axis(shrinker *s, uint32_t r, int axis, int way) {
  edit e;
  if (!edit_init(&e, s->t)) return false;
  uint64_t *grid = &e.grids[r][axis];
  uint32_t *size = &e.workgroups[r][axis];
  uint64_t old_grid = *grid;
  uint32_t old_size = *size;
  e.has_shapes = true;
  if (way == 0) {
    *grid = *size < *grid && *grid % *size == 0 ? *grid / *size / 2 * *size : *grid / 2;
    if (!*grid) *grid = 1;
  } else if (way == 1) {
    *size = *size > 2 ? *size / 2 : 1;
    if (*grid % old_size == 0) *grid = *grid / old_size * *size;
  } else {
    *grid -= *grid > 1 ? (*grid % *size ? 1 : *size < *grid ? *size : 0) : 0;
  }
  bool ok = (*grid != old_grid || *size != old_size) && *grid && try_edit(s, &e);
  edit_fini(&e);
  return ok;
}

static void shrink_grids(shrinker *s) {
  for (uint32_t r = 0; r < s->t->program->region_count; r++)
    for (int axis = 0; axis < 3; axis++)
      for (int way = 0; way < 3; way++)
        while (has_budget(s) && shrink_axis(s, r, axis, way)) continue;
}

static bool is_zero(const vyre_span *span) {
  const unsigned char *data = span->data;
  for (size_t i = 0; i < span->size_bytes; i++)
    if (data[i]) return false;
  return true;
}

static void simplify_launch(shrinker *s) {
  trial candidate;
  if (!s->t->workgroup[0] || !has_budget(s) || !trial_copy(s->t, &candidate)) return;
  memset(candidate.workgroup, 0, sizeof candidate.workgroup);
  take(s, &candidate);
}

static void clear_parts(shrinker *s, uint32_t buffer) {
  for (size_t parts = 1; parts <= 8; parts *= 2)
    for (size_t i = 0; i < parts && has_budget(s); i++) {
      const vyre_span *span = &s->t->buffers[buffer];
      size_t piece = span->size_bytes / parts, first = i * piece / 8 * 8;
      size_t end = i + 1 == parts ? span->size_bytes : (i + 1) * piece / 8 * 8;
      trial candidate;
      if (is_zero(&(vyre_span){(char *)span->data + first, end - first})) continue;
      if (!trial_copy(s->t, &candidate)) return;
      memset((char *)candidate.buffers[buffer].data + first, 0, end - first);
      take(s, &candidate);
    }
}

static void shorten(shrinker *s, uint32_t buffer) {
  while (has_budget(s)) {
    trial candidate;
    size_t size = s->t->buffers[buffer].size_bytes / 2 / 8 * 8;
    if (!size || !trial_copy(s->t, &candidate)) return;
    candidate.buffers[buffer].size_bytes = size;
    if (!take(s, &candidate)) return;
  }
}

static void shrink_data(shrinker *s) {
  simplify_launch(s);
  for (uint32_t i = 0; i < s->t->buffer_count; i++) {
    shorten(s, i);
    clear_parts(s, i);
  }
}

// ---- the whole ----------------------------------------------------------------------------------

uint32_t shrink_trial(trial *t, shrink_check check, void *context, shrink_limits limits) {
  if (t->frozen_byte) return 0; // what is left might have a reason to write there
  shrinker s = {.t = t,
                .check = check,
                .context = context,
                .max_checks = limits.checks ? limits.checks : 4000,
                .deadline_ns = limits.deadline_ns};
  do {
    s.changed = false;
    drop_items(&s, ITEM_REGION);
    fix_shapes(&s);
    drop_code(&s);
    for (int action = EDIT_ONE; action < EDIT_ACTION_COUNT; action++)
      replace_one_by_one(&s, (edit_action)action);
    drop_items(&s, ITEM_PARAM);
    drop_items(&s, ITEM_BUFFER);
    shrink_grids(&s);
    shrink_data(&s);
  } while (s.changed && has_budget(&s));
  return s.checks;
}

typedef struct comparison {
  shrink_compare compare;
  void *context;
  bool is_about_status;
  uint64_t fuel; // a shrunk loop may not end
  difference last;
} comparison;

static bool still_differs(void *context, const trial *t) {
  comparison *c = context;
  difference d;
  race_report race;
  if (!race_check(t, c->fuel, &race) || race.verdict == RACE_FOUND) return false;
  if (!c->compare(c->context, t, &d) || d.verdict != DIFFERENT) return false;
  if (d.is_about_status != c->is_about_status) return false;
  if (race.verdict == RACE_UNKNOWN && !d.is_about_status) return false;
  c->last = d;
  return true;
}

bool shrink_compared(trial *t, shrink_compare compare, void *context, shrink_limits limits,
                     difference *out) {
  comparison c = {.compare = compare, .context = context};
  outcome first;
  if (!trial_run(t, NULL, backend_oracle()->id, NULL, (trial_limits){.fuel = COMPARE_FUEL}, &first))
    return false;
  c.fuel = first.operations * 2 + 10000;
  outcome_fini(&first);
  if (!compare(context, t, &c.last) || c.last.verdict != DIFFERENT) return false;
  c.is_about_status = c.last.is_about_status;
  shrink_trial(t, still_differs, &c, limits);
  *out = c.last;
  return true;
}

typedef struct backend_run {
  const char *backend;
  const vyre_compile_options *options;
} backend_run;

static bool compare_backend(void *context, const trial *t, difference *out) {
  const backend_run *r = context;
  return compare_run(t, NULL, r->backend, r->options, out);
}

bool shrink_difference(trial *t, const char *backend, const vyre_compile_options *options,
                       shrink_limits limits, difference *out) {
  backend_run r = {backend, options};
  return shrink_compared(t, compare_backend, &r, limits, out);
}
