// SPDX-License-Identifier: MIT
#include "opt/scheduler.h"

#include "base/clock.h"
#include "base/error.h"
#include "ir/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scheduler {
  const opt_plan *plan;
  opt_report *report;
  opt_summary summary;
  vyre_program *program; // the current one
  vyre_program *best;    // the cheapest so far
  arena scratch;
  bool *dirty;    // per pass
  bool *selected; // per pass and region of the current program
  vyre_error *error;
} scheduler;

pass_counts opt_count(const vyre_program *p) {
  return (pass_counts){.nodes = p->stats.node_count,
                       .static_storage_bytes = p->stats.static_storage_bytes,
                       .instructions = p->stats.instruction_count,
                       .memory_ops = p->stats.memory_op_count,
                       .atomic_ops = p->stats.atomic_op_count,
                       .control_flow = p->stats.control_flow_count,
                       .register_pressure = p->stats.register_pressure,
                       .ir_allocations = p->arena.allocations,
                       .ir_bytes = p->arena.total_bytes};
}

// A rough price for choosing the best program when the passes do not settle: an access to memory
// costs several operations, and so does a branch.
static uint64_t price(const vyre_program *p) {
  const vyre_stats *s = &p->stats;
  return s->instruction_count + 4 * s->memory_op_count + 16 * s->atomic_op_count +
         2 * s->control_flow_count;
}

static bool add_row(scheduler *s, const pass *p, pass_outcome outcome, const char *reason,
                    uint64_t time_ns, pass_counts before, pass_counts after) {
  if (!s->report) return true;
  return vec_push(&s->report->rows,
                  (pass_metric){.pass = p->info.name,
                                .iteration = s->summary.iterations,
                                .ran = outcome != PASS_NOT_SELECTED && outcome != PASS_REFUSED,
                                .changed = outcome == PASS_CHANGED,
                                .outcome = outcome,
                                .reason = reason,
                                .runtime_ns = time_ns,
                                .before = before,
                                .after = after});
}

static bool contains(const char *const *names, const char *name) {
  for (; names && *names; names++)
    if (!strcmp(*names, name)) return true;
  return false;
}

static void mark_dirty(scheduler *s, const pass *changed) {
  for (size_t i = 0; i < s->plan->pass_count; i++)
    if (contains(changed->info.invalidates, s->plan->passes[i]->info.name) ||
        contains(s->plan->passes[i]->info.follows, changed->info.name))
      s->dirty[i] = true;
}

// ---- regions ------------------------------------------------------------------------------------

static const bool *row_of(const scheduler *s, size_t pass_index) {
  return s->selected + pass_index * s->program->region_count;
}

static bool is_any_selected(const scheduler *s, size_t pass_index) {
  const bool *row = row_of(s, pass_index);
  for (uint32_t r = 0; r < s->program->region_count; r++)
    if (row[r]) return true;
  return false;
}

// After a pass joined or removed regions: one that kept its name keeps its selection, a new one may
// be changed by every pass that might have changed any of those it came from.
static bool follow_regions(scheduler *s, const vyre_program *next) {
  const vyre_program *old = s->program;
  bool *selected = calloc(s->plan->pass_count * next->region_count + 1, sizeof *selected);
  if (!selected) return false;
  for (uint32_t r = 0; r < next->region_count; r++) {
    uint32_t same = 0;
    while (same < old->region_count && strcmp(old->regions[same].name, next->regions[r].name))
      same++;
    for (size_t i = 0; i < s->plan->pass_count; i++)
      selected[i * next->region_count + r] =
          same < old->region_count ? row_of(s, i)[same] : is_any_selected(s, i);
  }
  free(s->selected);
  s->selected = selected;
  return true;
}

static bool has_same_regions(const vyre_program *a, const vyre_program *b) {
  if (a->region_count != b->region_count) return false;
  for (uint32_t i = 0; i < a->region_count; i++)
    if (strcmp(a->regions[i].name, b->regions[i].name)) return false;
  return true;
}

// ---- what a pass may change ---------------------------------------------------------------------

// The next buffer that callers bind, from *i on; NULL when there is none.
static const buffer *next_bound(const vyre_program *p, uint32_t *i) {
  while (*i < p->buffer_count && p->buffers[*i].is_transient) ++*i;
  return *i < p->buffer_count ? &p->buffers[(*i)++] : NULL;
}

static bool has_same_interface(const vyre_program *a, const vyre_program *b) {
  if (a->param_count != b->param_count || strcmp(a->name, b->name)) return false;
  for (uint32_t i = 0; i < a->param_count; i++)
    if (a->params[i].type != b->params[i].type || strcmp(a->params[i].name, b->params[i].name))
      return false;
  uint32_t i = 0, k = 0;
  const buffer *x, *y;
  do {
    x = next_bound(a, &i);
    y = next_bound(b, &k);
    if (x && y &&
        (x->type != y->type || x->access != y->access || !x->length != !y->length ||
         strcmp(x->name, y->name)))
      return false;
  } while (x && y);
  return !x && !y;
}

// Callers bind the result as they bound the original, and regions are where telemetry looks for
// them, unless the pass says otherwise in its record.
static vyre_status check_boundary(const scheduler *s, const pass *p, const vyre_program *next,
                                  vyre_error *error) {
  pass_boundary boundary = p->info.boundary;
  if (boundary == PASS_BOUNDARY_ABI_CHANGING) return VYRE_OK;
  bool is_kept = has_same_interface(s->program, next);
  if (is_kept && (boundary == PASS_BOUNDARY_REGION_CHANGING || has_same_regions(s->program, next)))
    return VYRE_OK;
  return error_set(error, VYRE_ERROR_VERIFY, "%s",
                   is_kept ? "it has other regions" : "it has other parameters or buffers");
}

// ---- running ------------------------------------------------------------------------------------

// Takes over the reference to `next`.
static bool adopt(scheduler *s, vyre_program *next) {
  if (!has_same_regions(s->program, next) && !follow_regions(s, next)) {
    vyre_program_release(next);
    return false;
  }
  vyre_program_release(s->program);
  s->program = next;
  if (price(next) < price(s->best)) {
    vyre_program_release(s->best);
    s->best = vyre_program_retain(next);
  }
  return true;
}

// Copies of what is in a block have arrays and blocks of their own, and a program that had room for
// them once may have none for all of them: then the pass changes nothing.
static bool is_too_large(vyre_status status, const vyre_error *error) {
  static const verify_code limits[] = {VERIFY_V005, VERIFY_V045, VERIFY_V046, VERIFY_V082};
  for (size_t i = 0; status == VYRE_ERROR_VERIFY && i < sizeof limits / sizeof *limits; i++)
    if (!strcmp(error->code, verify_rules[limits[i]].code)) return true;
  return status == VYRE_ERROR_LIMIT;
}

// Any other complaint of the verifier about a pass's result is a bug in that pass; it is reported
// as an error that names it, with the program unharmed.
static vyre_status blame(scheduler *s, const pass *p, vyre_status status, const vyre_error *found) {
  if (!s->error) return status;
  *s->error = *found;
  if (status == VYRE_ERROR_VERIFY)
    snprintf(s->error->message, sizeof s->error->message,
             "pass `%s` made an invalid program: %.400s. Fix: leave the pass out (--passes) and "
             "report this with the program",
             p->info.name, found->message);
  return status;
}

static vyre_status run_pass(scheduler *s, size_t index, bool *changed) {
  const pass *p = s->plan->passes[index];
  pass_counts before = opt_count(s->program), after = before;
  pass_run run = {s->program, row_of(s, index), &s->scratch, p};
  vyre_program *next = NULL;
  uint64_t start = clock_now_ns();
  vyre_error error = {0};
  vyre_status status = p->run(&run, &next, &error);
  uint64_t time_ns = clock_now_ns() - start;
  bool is_large = is_too_large(status, &error);
  arena_reset(&s->scratch);
  if (status == VYRE_OK && next) status = check_boundary(s, p, next, &error);
  if (status != VYRE_OK && !is_large) {
    vyre_program_release(next);
    return blame(s, p, status, &error);
  }
  s->summary.runs++;
  pass_outcome outcome = next ? PASS_CHANGED : is_large ? PASS_REVERTED : PASS_UNCHANGED;
  const char *reason = is_large ? "limit" : NULL;
  if (next) {
    after = opt_count(next);
    if (p->is_better && !p->is_better(&before, &after)) {
      outcome = PASS_REVERTED;
      reason = "cost-gate";
      vyre_program_release(next);
    } else if (!adopt(s, next)) {
      return error_out_of_memory(s->error);
    }
  }
  *changed = outcome == PASS_CHANGED;
  if (*changed && s->plan->watch)
    s->plan->watch(s->plan->watch_context, p, s->summary.runs, s->program);
  if (add_row(s, p, outcome, reason, time_ns, before, after)) return VYRE_OK;
  return error_out_of_memory(s->error);
}

static bool is_stopped(const scheduler *s) {
  return s->plan->stop_after && s->summary.runs >= s->plan->stop_after;
}

static vyre_status run_iteration(scheduler *s, bool *ran) {
  *ran = false;
  for (size_t i = 0; i < s->plan->pass_count && !is_stopped(s); i++) {
    if (!s->dirty[i]) continue;
    s->dirty[i] = false;
    *ran = true;
    bool changed = false;
    vyre_status status = run_pass(s, i, &changed);
    if (status != VYRE_OK) return status;
    if (changed) mark_dirty(s, s->plan->passes[i]);
  }
  return VYRE_OK;
}

static vyre_status run_to_fixpoint(scheduler *s) {
  uint32_t cap = s->plan->max_iterations ? s->plan->max_iterations : OPT_MAX_ITERATIONS;
  for (; s->summary.iterations < cap; s->summary.iterations++) {
    bool ran;
    vyre_status status = run_iteration(s, &ran);
    if (status != VYRE_OK) return status;
    if (is_stopped(s)) return VYRE_OK;
    if (!ran) {
      s->summary.converged = true;
      return VYRE_OK;
    }
  }
  return VYRE_OK;
}

// ---- setting up ---------------------------------------------------------------------------------

// Passes that do not run get their row at once, with the reason.
static bool choose_dirty(scheduler *s) {
  pass_counts counts = opt_count(s->program);
  for (size_t i = 0; i < s->plan->pass_count; i++) {
    const pass *p = s->plan->passes[i];
    bool lacks = (p->info.required_caps & ~s->plan->caps) != 0;
    s->dirty[i] = is_any_selected(s, i) && !lacks;
    if (s->dirty[i]) continue;
    const char *reason = lacks              ? "missing-capability"
                         : s->plan->reasons ? s->plan->reasons[i]
                                            : "not-selected";
    if (!add_row(s, p, lacks ? PASS_REFUSED : PASS_NOT_SELECTED, reason, 0, counts, counts))
      return false;
  }
  return true;
}

static bool prepare(scheduler *s) {
  size_t cells = s->plan->pass_count * s->program->region_count;
  s->dirty = calloc(s->plan->pass_count + 1, sizeof *s->dirty);
  s->selected = calloc(cells + 1, sizeof *s->selected);
  if (!s->dirty || !s->selected) return false;
  if (s->plan->selected)
    memcpy(s->selected, s->plan->selected, cells * sizeof *s->selected);
  else
    memset(s->selected, 1, cells * sizeof *s->selected);
  return choose_dirty(s);
}

vyre_status opt_run(vyre_program *program, const opt_plan *plan, opt_report *report,
                    opt_summary *summary, vyre_program **out, vyre_error *error) {
  scheduler s = {.plan = plan, .report = report, .error = error};
  s.program = vyre_program_retain(program);
  s.best = vyre_program_retain(program);
  *out = NULL;
  vyre_status status = prepare(&s) ? run_to_fixpoint(&s) : error_out_of_memory(error);
  if (summary) *summary = s.summary;
  // What stop_after asks for is the program as it is then; the cap asks for the best there was.
  bool takes_best = !s.summary.converged && !is_stopped(&s);
  if (status == VYRE_OK) *out = vyre_program_retain(takes_best ? s.best : s.program);
  vyre_program_release(s.program);
  vyre_program_release(s.best);
  arena_free(&s.scratch);
  free(s.dirty);
  free(s.selected);
  return status;
}
