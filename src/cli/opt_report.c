// SPDX-License-Identifier: MIT
#include "cli/opt_report.h"

#include "cli/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// What is compared, in the order of the columns.
static const struct {
  const char *name, *column, *text;
  size_t offset;
} count_rows[] = {
#define COUNT(field, column, text)                                                                 \
  { #field, column, text, offsetof(pass_counts, field) }
    COUNT(nodes, "nodes", "statements and regions"),
    COUNT(instructions, "instr", "operations"),
    COUNT(memory_ops, "memory", "loads and stores"),
    COUNT(atomic_ops, "atomic", "atomics"),
    COUNT(control_flow, "control", "control flow"),
    COUNT(register_pressure, "regs", "most values live at once"),
    COUNT(static_storage_bytes, "storage", "fixed storage, bytes"),
    COUNT(ir_bytes, "bytes", "the program itself, bytes"),
    COUNT(ir_allocations, NULL, "the program itself, allocations"),
#undef COUNT
};
enum { COUNT_ROWS = sizeof count_rows / sizeof *count_rows, CELL = 24 };

static uint64_t count_at(const pass_counts *counts, size_t row) {
  return *(const uint64_t *)((const char *)counts + count_rows[row].offset);
}

static const char *or_dash(const char *text) {
  return text ? text : "-";
}

// ---- tables -------------------------------------------------------------------------------------

static void show_totals(const vyre_program *before, const optimize_result *r) {
  pass_counts x = opt_count(before), y = opt_count(r->program);
  printf("program %s: %" PRIu32 " runs of passes in %" PRIu32 " rounds, %s\n",
         vyre_program_name(before), r->summary.runs, r->summary.iterations,
         r->summary.converged ? "settled" : "stopped before they settled");
  printf("\n%-34s %10s %10s\n", "", "before", "after");
  for (size_t i = 0; i < COUNT_ROWS; i++)
    printf("%-34s %10" PRIu64 " %10" PRIu64 "\n", count_rows[i].text, count_at(&x, i),
           count_at(&y, i));
}

static bool same_decision(const select_decision *a, const select_decision *b) {
  return a->selected == b->selected && a->reason == b->reason &&
         a->outside_profile == b->outside_profile;
}

static void show_decision(const select_decision *d, const char *region) {
  printf("%-24s %-16s %-8s %-20s %8u%s\n", d->pass->name, region, d->selected ? "yes" : "no",
         select_reason_name(d->reason), d->priority,
         d->selected && d->outside_profile ? "  outside the profile" : "");
}

// One row per pass, or one per pass and region where they are decided differently.
static void show_decisions(const vyre_program *before, const optimize_result *r) {
  printf("\n%-24s %-16s %-8s %-20s %8s\n", "pass", "region", "selected", "reason", "priority");
  for (size_t i = 0; i < r->pass_count; i++) {
    const select_decision *first = &r->decisions[i];
    bool is_same = true;
    for (uint32_t k = 1; k < r->region_count; k++)
      is_same &= same_decision(first, &r->decisions[k * r->pass_count + i]);
    for (uint32_t k = 0; k < (is_same ? 1 : r->region_count); k++)
      show_decision(&r->decisions[k * r->pass_count + i],
                    is_same && r->region_count > 1 ? "(all)" : vyre_program_region(before, k).name);
  }
}

// The outcome alone says it when nothing changed.
static void show_change(const pass_metric *row, size_t i, int width) {
  char cell[CELL];
  uint64_t x = count_at(&row->before, i), y = count_at(&row->after, i);
  if (x == y)
    snprintf(cell, sizeof cell, ".");
  else
    snprintf(cell, sizeof cell, "%+" PRId64, (int64_t)(y - x));
  printf(" %*s", width, cell);
}

// Passes that were not selected stand in the table above already, when there is one.
static void show_runs(const opt_report *report, bool has_decisions) {
  char time[SHOW_TEXT];
  printf("\n%5s %-24s %-13s %-20s %9s", "round", "pass", "outcome", "reason", "time");
  for (size_t i = 0; i < COUNT_ROWS; i++)
    if (count_rows[i].column) printf(" %7s", count_rows[i].column);
  putchar('\n');
  for (size_t k = 0; k < report->rows.count; k++) {
    const pass_metric *row = &report->rows.at[k];
    if (has_decisions && row->outcome == PASS_NOT_SELECTED) continue;
    printf("%5" PRIu32 " %-24s %-13s %-20s %9s", row->iteration, row->pass,
           pass_outcome_name(row->outcome), or_dash(row->reason),
           row->ran ? show_time(row->runtime_ns, time) : "-");
    for (size_t i = 0; i < COUNT_ROWS; i++)
      if (count_rows[i].column) show_change(row, i, 7);
    putchar('\n');
  }
}

void opt_report_show(const vyre_program *before, const optimize_result *result, bool everything) {
  show_totals(before, result);
  if (result->decisions) show_decisions(before, result);
  if (everything) printf("\n--everything ran what was not selected, too\n");
  show_runs(&result->report, result->decisions != NULL);
}

// ---- JSON ---------------------------------------------------------------------------------------

static json_t *counts_json(const pass_counts *counts) {
  json_t *o = json_object();
  for (size_t i = 0; i < COUNT_ROWS; i++)
    json_object_set_new(o, count_rows[i].name, json_integer((json_int_t)count_at(counts, i)));
  return o;
}

static json_t *decisions_json(const vyre_program *before, const optimize_result *r) {
  json_t *list = json_array();
  for (uint32_t k = 0; r->decisions && k < r->region_count; k++)
    for (size_t i = 0; i < r->pass_count; i++) {
      const select_decision *d = &r->decisions[k * r->pass_count + i];
      json_array_append_new(
          list, json_pack("{s:s, s:s, s:b, s:b, s:s, s:i}", "region",
                          vyre_program_region(before, k).name, "pass", d->pass->name, "selected",
                          d->selected, "outside_profile", d->outside_profile, "reason",
                          select_reason_name(d->reason), "priority", (int)d->priority));
    }
  return list;
}

static json_t *runs_json(const opt_report *report) {
  json_t *list = json_array();
  for (size_t k = 0; k < report->rows.count; k++) {
    const pass_metric *row = &report->rows.at[k];
    json_array_append_new(
        list,
        json_pack("{s:s, s:s?, s:I, s:b, s:b, s:s, s:s?, s:I, s:o, s:o}", "pass", row->pass,
                  "region", row->region, "iteration", (json_int_t)row->iteration, "ran", row->ran,
                  "changed", row->changed, "outcome", pass_outcome_name(row->outcome), "reason",
                  row->reason, "runtime_ns", (json_int_t)row->runtime_ns, "before",
                  counts_json(&row->before), "after", counts_json(&row->after)));
  }
  return list;
}

json_t *opt_report_json(const vyre_program *before, const optimize_result *r) {
  pass_counts x = opt_count(before), y = opt_count(r->program);
  return json_pack("{s:s, s:I, s:I, s:b, s:o, s:o, s:o, s:o}", "program", vyre_program_name(before),
                   "runs", (json_int_t)r->summary.runs, "iterations",
                   (json_int_t)r->summary.iterations, "converged", r->summary.converged, "before",
                   counts_json(&x), "after", counts_json(&y), "decisions",
                   decisions_json(before, r), "passes", runs_json(&r->report));
}

// ---- the pass table -----------------------------------------------------------------------------

void opt_list_show(void) {
  size_t count;
  const pass *const *passes = pass_table(&count);
  printf("%-24s %-11s %s\n", "pass", "family", "what it does");
  for (size_t i = 0; i < count; i++)
    printf("%-24s %-11s %s\n", passes[i]->info.name, pass_family_name(passes[i]->info.family),
           passes[i]->summary);
}

static json_t *names_json(const char *const *names) {
  json_t *list = json_array();
  for (; names && *names; names++) json_array_append_new(list, json_string(*names));
  return list;
}

json_t *opt_list_json(void) {
  size_t count;
  const pass *const *passes = pass_table(&count);
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    const pass_info *info = &passes[i]->info;
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:s, s:o, s:o, s:s}", "name", info->name, "family",
                                    pass_family_name(info->family), "boundary",
                                    pass_boundary_name(info->boundary), "requires",
                                    names_json(info->requires), "invalidates",
                                    names_json(info->invalidates), "summary", passes[i]->summary));
  }
  return json_pack("{s:o}", "passes", list);
}
