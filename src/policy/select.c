// SPDX-License-Identifier: MIT
#include "policy/select.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

// Passes are known by name: two records of one name stand or fall together. So requirements lead
// from names to names, each name represented by the first record that has it.
struct select_index {
  const pass_info *const *passes;
  uint32_t count;
  uint32_t mask;   // of the table
  uint32_t *table; // by hash of the name: index plus 1, or 0
  uint32_t *same;  // per pass: the first pass of this name
  uint32_t *begin; // per first pass: its requirements in `needs`, up to the begin of the next
  uint32_t *needs; // first passes
};

static const struct {
  const char *name;
  uint16_t priority;
} reasons[SELECT_REASON_COUNT] = {
    [SELECT_HOT_PATH_TELEMETRY] = {"hot-path-telemetry", 500},
    [SELECT_PASS_COST_REPORT] = {"pass-cost-report", 400},
    [SELECT_PROGRAM_SHAPE] = {"program-shape", 300},
    [SELECT_ALWAYS_ON] = {"always-on", 200},
    [SELECT_REQUIRED_DEPENDENCY] = {"required-dependency", 100},
    [SELECT_BELOW_THRESHOLD] = {"below-threshold", 0},
    [SELECT_PROFILE_REJECTED] = {"profile-rejected", 0},
};

const char *select_reason_name(select_reason reason) {
  return (unsigned)reason < SELECT_REASON_COUNT ? reasons[reason].name : "unknown";
}

uint16_t select_reason_priority(select_reason reason) {
  return (unsigned)reason < SELECT_REASON_COUNT ? reasons[reason].priority : 0;
}

// ---- the index ---------------------------------------------------------------------------------

// Where the name is in the table, or the empty place where it would be.
static uint32_t *find_place(const select_index *x, const char *name) {
  uint64_t at = hash_fast(name, strlen(name));
  for (;; at++) {
    uint32_t *place = &x->table[at & x->mask];
    if (!*place || !strcmp(x->passes[*place - 1]->name, name)) return place;
  }
}

static size_t count_requirements(const pass_info *pass) {
  size_t count = 0;
  while (pass->requires && pass->requires[count]) count++;
  return count;
}

static void enter_names(select_index *x) {
  for (uint32_t i = 0; i < x->count; i++) {
    uint32_t *place = find_place(x, x->passes[i]->name);
    if (!*place) *place = i + 1;
    x->same[i] = *place - 1;
  }
}

// Counts per first pass, sums up to places, then fills them: a counting sort.
static void enter_requirements(select_index *x) {
  for (uint32_t i = 0; i < x->count; i++)
    x->begin[x->same[i] + 1] += (uint32_t)count_requirements(x->passes[i]);
  for (uint32_t i = 0; i < x->count; i++) x->begin[i + 1] += x->begin[i];
  uint32_t *filled = x->table + x->mask + 1; // scratch at the end of the block
  for (uint32_t i = 0; i < x->count; i++) {
    uint32_t first = x->same[i];
    for (size_t k = 0; k < count_requirements(x->passes[i]); k++) {
      uint32_t place = *find_place(x, x->passes[i]->requires[k]);
      // An unknown requirement leads nowhere: a pass that requires itself changes nothing.
      x->needs[x->begin[first] + filled[first]++] = place ? place - 1 : first;
    }
  }
}

select_index *select_index_new(const pass_info *const *passes, size_t count) {
  size_t size = 16, requirements = 0;
  if (count >= UINT32_MAX / 4) return NULL;
  while (size < count * 2) size *= 2;
  for (size_t i = 0; i < count; i++) requirements += count_requirements(passes[i]);
  size_t words = count + (count + 1) + requirements + size + count;
  select_index *x = calloc(1, sizeof *x + words * sizeof(uint32_t));
  if (!x) return NULL;
  uint32_t *at = (uint32_t *)(x + 1);
  *x = (select_index){.passes = passes, .count = (uint32_t)count, .mask = (uint32_t)size - 1};
  x->same = at;
  x->begin = x->same + count;
  x->needs = x->begin + count + 1;
  x->table = x->needs + requirements;
  enter_names(x);
  enter_requirements(x);
  return x;
}

void select_index_free(select_index *index) {
  free(index);
}

// ---- selection ---------------------------------------------------------------------------------

static bool is_hot(const select_input *in) {
  const char *region = in->region_key ? in->region_key : in->region;
  return in->hints && ((in->op_id && hints_is_hot(in->hints, in->op_id)) ||
                       (region && hints_is_hot(in->hints, region)));
}

static bool reduced_some_cost(const pass_metric *row) {
  const pass_counts *b = &row->before, *a = &row->after;
  return row->changed &&
         (b->nodes > a->nodes || b->static_storage_bytes > a->static_storage_bytes ||
          b->instructions > a->instructions || b->memory_ops > a->memory_ops ||
          b->atomic_ops > a->atomic_ops || b->control_flow > a->control_flow ||
          b->register_pressure > a->register_pressure || b->ir_allocations > a->ir_allocations ||
          b->ir_bytes > a->ir_bytes);
}

static select_reason reason_by_shape(const pass_info *pass, const vyre_stats *stats) {
  bool above;
  switch (pass->family) {
  case PASS_FAMILY_LOOP: above = stats->node_count >= SELECT_MIN_LOOP_NODES; break;
  case PASS_FAMILY_MEMORY: above = stats->peak_memory_bytes >= SELECT_MIN_MEMORY_BYTES; break;
  case PASS_FAMILY_FUSION: above = stats->top_level_regions >= SELECT_MIN_FUSION_REGIONS; break;
  case PASS_FAMILY_DATAFLOW: above = stats->node_count >= SELECT_MIN_DATAFLOW_NODES; break;
  case PASS_FAMILY_MEGAKERNEL: above = stats->node_count >= SELECT_MIN_MEGAKERNEL_NODES; break;
  default: return SELECT_ALWAYS_ON;
  }
  return above ? SELECT_PROGRAM_SHAPE : SELECT_BELOW_THRESHOLD;
}

typedef struct marks { // per first pass of a name
  bool paid;           // an earlier run reduced some cost
  bool selected;
} marks;

static void read_report(const select_index *x, const select_input *in, marks *marked) {
  if (!in->report) return;
  for (size_t i = 0; i < in->report->rows.count; i++) {
    const pass_metric *row = &in->report->rows.at[i];
    if (row->region && in->region && strcmp(row->region, in->region)) continue;
    if (!reduced_some_cost(row)) continue;
    uint32_t place = *find_place(x, row->pass);
    if (place) marked[place - 1].paid = true;
  }
}

static select_reason first_reason(const select_input *in, const pass_info *pass, bool hot,
                                  bool paid) {
  if (!pass_profile_accepts(in->profiles, pass)) return SELECT_PROFILE_REJECTED;
  if (hot) return SELECT_HOT_PATH_TELEMETRY;
  if (paid) return SELECT_PASS_COST_REPORT;
  return reason_by_shape(pass, in->stats);
}

// Each name is entered into `work` once, when it is selected, and its requirements followed once.
static void close_over_requirements(const select_index *x, marks *marked, uint32_t *work,
                                    uint32_t count) {
  while (count) {
    uint32_t pass = work[--count];
    for (uint32_t i = x->begin[pass]; i < x->begin[pass + 1]; i++) {
      uint32_t need = x->needs[i];
      if (marked[need].selected) continue;
      marked[need].selected = true;
      work[count++] = need;
    }
  }
}

static void conclude(select_decision *d, bool selected) {
  d->selected = selected;
  d->outside_profile = d->reason == SELECT_PROFILE_REJECTED;
  if (selected && (d->reason == SELECT_BELOW_THRESHOLD || d->outside_profile))
    d->reason = SELECT_REQUIRED_DEPENDENCY;
  d->priority = select_reason_priority(d->reason);
}

static void select_with(const select_index *x, const select_input *in, select_decision *out,
                        marks *marked, uint32_t *work) {
  memset(marked, 0, x->count * sizeof *marked);
  read_report(x, in, marked);
  bool hot = is_hot(in);
  uint32_t count = 0;
  for (uint32_t i = 0; i < x->count; i++) {
    uint32_t first = x->same[i];
    out[i].pass = x->passes[i];
    out[i].reason = first_reason(in, x->passes[i], hot, marked[first].paid);
    if (select_reason_priority(out[i].reason) == 0 || marked[first].selected) continue;
    marked[first].selected = true;
    work[count++] = first;
  }
  close_over_requirements(x, marked, work, count);
  for (uint32_t i = 0; i < x->count; i++) conclude(&out[i], marked[x->same[i]].selected);
}

bool select_passes(const select_index *x, const select_input *input, select_decision *out) {
  enum { FEW = 256 };
  if (x->count <= FEW) {
    marks marked[FEW];
    uint32_t work[FEW];
    select_with(x, input, out, marked, work);
    return true;
  }
  uint32_t *work = malloc(x->count * (sizeof *work + sizeof(marks)));
  if (!work) return false;
  select_with(x, input, out, (marks *)(work + x->count), work);
  free(work);
  return true;
}
