// SPDX-License-Identifier: MIT
#include "policy/optimize.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/strbuf.h"
#include "ir/stats.h"
#include "opt/relax.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// ---- the table ----------------------------------------------------------------------------------

// What selection knows of the passes, made once for each size that the table had: it only grows,
// and who began with a smaller one goes on with it.
static struct {
  pthread_mutex_t lock;
  const pass_info *infos[PASS_LIMIT]; // borrowed by the indices
  select_index *indices[PASS_LIMIT + 1];
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void watch_forks(void) {
  fork_guard(&shared.lock, NULL);
}

static vyre_status get_index(size_t count, const select_index **out, vyre_error *error) {
  pthread_mutex_lock(&shared.lock);
  if (!shared.indices[count]) {
    size_t all;
    const pass *const *passes = pass_table(&all);
    for (size_t i = 0; i < count; i++) shared.infos[i] = &passes[i]->info;
    vyre_status status = pass_table_check(passes, count, error);
    if (status == VYRE_OK) shared.indices[count] = select_index_new(shared.infos, count);
    if (!shared.indices[count]) {
      pthread_mutex_unlock(&shared.lock);
      return status == VYRE_OK ? error_out_of_memory(error) : status;
    }
  }
  *out = shared.indices[count];
  pthread_mutex_unlock(&shared.lock);
  return VYRE_OK;
}

// ---- choosing -----------------------------------------------------------------------------------

// What fusion goes by is the program; what the others go by is the region.
static vyre_status region_stats(const vyre_program *p, uint32_t r, const optimize_options *o,
                                vyre_stats *out, vyre_error *error) {
  vyre_status status = stats_compute_region(p, r, out, error);
  out->top_level_regions = p->stats.top_level_regions;
  if (o->lengths) out->peak_memory_bytes = stats_peak_memory(p, o->lengths);
  return status;
}

static vyre_status select_region(const select_index *index, const vyre_program *p, uint32_t r,
                                 const optimize_options *o, unsigned profiles, select_decision *out,
                                 vyre_error *error) {
  vyre_stats stats;
  vyre_status status = region_stats(p, r, o, &stats, error);
  if (status != VYRE_OK) return status;
  char key[HINTS_KEY] = "";
  if (o->hints) hints_region_key(o->known_as, p->regions[r].name, key);
  select_input input = {.profiles = profiles,
                        .stats = &stats,
                        .region = p->regions[r].name,
                        .region_key = key,
                        .hints = o->hints,
                        .report = o->previous};
  return select_passes(index, &input, out) ? VYRE_OK : error_out_of_memory(error);
}

// Whether a list of names with commas between them has this one.
static bool list_has(const char *list, size_t size, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list, *end = list + size; at < end;) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    size_t item = (size_t)((comma ? comma : end) - at);
    if (item == length && !memcmp(at, name, length)) return true;
    at += item + 1;
  }
  return false;
}

// The list of a region: the last one stands for those that have none.
static void take_again(const char *selection, uint32_t r, size_t pass_count,
                       select_decision *decisions) {
  const char *list = selection, *next;
  while (r-- && (next = strchr(list, ';'))) list = next + 1;
  size_t size = strcspn(list, ";");
  for (size_t i = 0; i < pass_count; i++)
    decisions[i].selected = list_has(list, size, decisions[i].pass->name);
}

static bool is_wanted(const optimize_options *o, unsigned profiles, const select_decision *d) {
  if (o->mode == OPTIMIZE_EVERYTHING) return pass_profile_accepts(profiles, d->pass) || d->selected;
  return d->selected;
}

// The reason for a pass that runs nowhere is that of the first region.
static vyre_status choose(optimize_result *out, const vyre_program *p, const optimize_options *o,
                          bool *selected, const char **reasons, vyre_error *error) {
  unsigned profiles = o->profiles ? o->profiles : PASS_PROFILE_RELEASE;
  const select_index *index = NULL;
  vyre_status status = get_index(out->pass_count, &index, error);
  if (status != VYRE_OK) return status;
  for (uint32_t r = 0; r < p->region_count; r++) {
    select_decision *row = &out->decisions[r * out->pass_count];
    status = select_region(index, p, r, o, profiles, row, error);
    if (status != VYRE_OK) return status;
    if (o->mode == OPTIMIZE_AGAIN) take_again(o->selection, r, out->pass_count, row);
    for (size_t i = 0; i < out->pass_count; i++) {
      selected[i * p->region_count + r] = is_wanted(o, profiles, &row[i]);
      if (r == 0) reasons[i] = select_reason_name(row[i].reason);
    }
  }
  return VYRE_OK;
}

// ---- running ------------------------------------------------------------------------------------

static opt_plan plan_of(const optimize_options *o) {
  return (opt_plan){.caps = o->caps,
                    .max_iterations = o->max_iterations,
                    .stop_after = o->stop_after,
                    .watch = o->watch,
                    .watch_context = o->watch_context};
}

static vyre_status run_named(vyre_program *p, const optimize_options *o, optimize_result *out,
                             vyre_error *error) {
  const pass *passes[PASS_LIMIT];
  size_t count = 0;
  for (const char *const *name = o->names; name && *name; name++) {
    const pass *found = pass_find(*name);
    if (!found || count == PASS_LIMIT)
      return error_set(error, VYRE_ERROR_ARGUMENT,
                       "there is no pass `%s`, or there are too many. Fix: use names that "
                       "`vyre opt --list` shows",
                       *name);
    passes[count++] = found;
  }
  opt_plan plan = plan_of(o);
  plan.passes = passes;
  plan.pass_count = count;
  return opt_run(p, &plan, &out->report, &out->summary, &out->program, error);
}

static vyre_status optimize_exact(vyre_program *p, const optimize_options *o, optimize_result *out,
                                  vyre_error *error) {
  if (o->mode == OPTIMIZE_EVERYTHING)
    out->everything_of = o->profiles ? o->profiles : PASS_PROFILE_RELEASE;
  if (o->mode == OPTIMIZE_NAMED) return run_named(p, o, out, error);
  if (o->mode == OPTIMIZE_NOTHING) {
    out->program = vyre_program_retain(p);
    out->summary.converged = true;
    return VYRE_OK;
  }
  size_t cells = out->pass_count * p->region_count;
  bool *selected = calloc(cells + 1, sizeof *selected);
  const char **reasons = calloc(out->pass_count + 1, sizeof *reasons);
  out->decisions = calloc(cells + 1, sizeof *out->decisions);
  vyre_status status = selected && reasons && out->decisions
                           ? choose(out, p, o, selected, reasons, error)
                           : error_out_of_memory(error);
  if (status == VYRE_OK) {
    opt_plan plan = plan_of(o);
    plan.passes = out->passes;
    plan.pass_count = out->pass_count;
    plan.selected = selected;
    plan.reasons = reasons;
    status = opt_run(p, &plan, &out->report, &out->summary, &out->program, error);
  }
  free(selected);
  free(reasons);
  return status;
}

vyre_status optimize_program(vyre_program *p, const optimize_options *options, optimize_result *out,
                             vyre_error *error) {
  optimize_options o = options ? *options : (optimize_options){0};
  *out = (optimize_result){.region_count = p->region_count};
  out->passes = pass_table(&out->pass_count);
  vyre_program *exact;
  vyre_status status = relax_program(p, &exact, error);
  if (status != VYRE_OK) return status;
  if (o.hints && !o.known_as) o.known_as = program_fingerprint(p); // only they ask
  if (p->fast_ulp) o.caps |= PASS_CAP_FAST_ARITHMETIC;
  status = optimize_exact(exact, &o, out, error);
  vyre_program_release(exact);
  return status;
}

void optimize_result_fini(optimize_result *r) {
  vyre_program_release(r->program);
  opt_report_free(&r->report);
  free(r->decisions);
  *r = (optimize_result){0};
}

// ---- what was selected --------------------------------------------------------------------------

static bool has_run(const optimize_result *r, const select_decision *d) {
  return d->selected || (r->everything_of && pass_profile_accepts(r->everything_of, d->pass));
}

static void write_list(strbuf *out, const optimize_result *r, uint32_t region) {
  bool is_first = true;
  for (size_t i = 0; i < r->pass_count; i++) {
    const select_decision *d = &r->decisions[region * r->pass_count + i];
    if (!has_run(r, d)) continue;
    strbuf_printf(out, "%s%s", is_first ? "" : ",", d->pass->name);
    is_first = false;
  }
}

static bool is_same_for_all(const optimize_result *r) {
  for (uint32_t k = 1; k < r->region_count; k++)
    for (size_t i = 0; i < r->pass_count; i++)
      if (has_run(r, &r->decisions[k * r->pass_count + i]) != has_run(r, &r->decisions[i]))
        return false;
  return true;
}

char *optimize_selection(const optimize_result *r) {
  strbuf out = {0};
  uint32_t lists = !r->decisions ? 0 : is_same_for_all(r) ? 1 : r->region_count;
  for (uint32_t i = 0; i < lists; i++) {
    if (i) strbuf_putc(&out, ';');
    write_list(&out, r, i);
  }
  strbuf_puts(&out, "");
  return strbuf_take(&out, NULL);
}
