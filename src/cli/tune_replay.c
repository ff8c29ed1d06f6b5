// SPDX-License-Identifier: MIT
#include "cli/tune_replay.h"

#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "cli/tuning_results.h"
#include "policy/recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_EVALUATIONS = 200, MOST_EVALUATIONS = 100000, MOST_SEEDS = 10000, MARKS = 4 };
enum { MOST_BYTES = 256 << 20 };
static const uint32_t marks[MARKS] = {25, 50, 100, 200};

// ---- options ------------------------------------------------------------------------------------

static bool read_strategy(tune_search *t, const args *a) {
  for (int i = 0; i < SEARCH_STRATEGIES; i++)
    if (!strcmp(search_strategy_name((search_strategy)i), a->value)) {
      t->strategy = (search_strategy)i;
      return true;
    }
  cli_usage(a->cli, "there is no strategy `%s`. Fix: model, random, exhaustive or annealing",
            a->value);
  return false;
}

bool tune_search_option(tune_search *t, const args *a, int letter, bool *ok) {
  switch (letter) {
  case 'P':
    t->replay = a->value;
    *ok = true;
    return true;
  case 'A': *ok = read_strategy(t, a); return true;
  case 'E': *ok = args_count(a, "--evaluations", MOST_EVALUATIONS, &t->evaluations); return true;
  case 'S': *ok = args_count(a, "--seeds", MOST_SEEDS, &t->seeds); return true;
  case 'J': *ok = args_u64(a, "--seed", &t->seed); return true;
  case 'U': *ok = args_seconds(a, "--seconds", &t->budget_ns); return true;
  case 'O':
    t->results = a->value;
    *ok = true;
    return true;
  case 'C':
    t->report = a->value;
    *ok = true;
    return true;
  case 'Z':
    t->no_prior = true;
    *ok = true;
    return true;
  case 'K':
    *ok = t->priors.count < SEARCH_PRIORS && vec_push(&t->priors, a->value);
    if (!*ok) cli_usage(a->cli, "there may be %d times --prior", SEARCH_PRIORS);
    return true;
  default: return false;
  }
}

void tune_search_fini(tune_search *t) {
  vec_free(&t->priors);
}

// ---- replay -------------------------------------------------------------------------------------

typedef struct replay {
  recorded recorded;
  search_options options;
  uint32_t evaluations, seeds;
  double *curve;     // of one search
  double *mean;      // over all seeds, after each evaluation
  uint32_t *asked;   // of the last search
  uint32_t count;    // evaluations that were made
  double worst_last; // fraction of the worst seed in the end
} replay;

static vyre_status read_recorded(const char *path, recorded *out, vyre_error *error) {
  char *text;
  size_t size;
  vyre_status status = file_read(path, MOST_BYTES, &text, &size, error);
  if (status != VYRE_OK) return status;
  status = recorded_parse(text, size, path, out, error);
  free(text);
  return status;
}

static vyre_status read_prior(replay *r, const char *path, vyre_error *error) {
  double *times;
  vyre_status status = tuning_prior_read(path, &r->recorded.space, &times, error);
  if (status == VYRE_OK) r->options.priors[r->options.prior_count++] = times;
  return status;
}

static vyre_status run_seeds(replay *r, uint64_t seed, vyre_error *error) {
  r->worst_last = 1;
  for (uint32_t k = 0; k < r->seeds; k++) {
    r->options.seed = seed + k;
    r->count = recorded_replay(&r->recorded, &r->options, r->evaluations, r->curve, r->asked);
    if (!r->count) return error_out_of_memory(error);
    for (uint32_t i = 0; i < r->count; i++) r->mean[i] += r->curve[i] / r->seeds;
    r->worst_last = fmin(r->worst_last, r->curve[r->count - 1]);
  }
  return VYRE_OK;
}

static vyre_status begin(replay *r, const tune_search *t, vyre_error *error) {
  vyre_status status = read_recorded(t->replay, &r->recorded, error);
  for (size_t i = 0; i < t->priors.count && status == VYRE_OK; i++)
    status = read_prior(r, t->priors.at[i], error);
  if (status != VYRE_OK) return status;
  r->evaluations = t->evaluations ? (uint32_t)t->evaluations : USUAL_EVALUATIONS;
  r->seeds = t->seeds ? (uint32_t)t->seeds : 1;
  r->curve = calloc(r->evaluations, sizeof *r->curve);
  r->mean = calloc(r->evaluations, sizeof *r->mean);
  r->asked = calloc(r->evaluations, sizeof *r->asked);
  return r->curve && r->mean && r->asked ? VYRE_OK : error_out_of_memory(error);
}

static void end(replay *r) {
  for (uint32_t i = 0; i < r->options.prior_count; i++) free((double *)r->options.priors[i]);
  recorded_fini(&r->recorded);
  free(r->curve);
  free(r->mean);
  free(r->asked);
}

// ---- showing ------------------------------------------------------------------------------------

static uint32_t best_asked(const replay *r) {
  uint32_t best = r->asked[0];
  for (uint32_t i = 1; i < r->count; i++) {
    double time = r->recorded.times[r->asked[i]], least = r->recorded.times[best];
    if (isnan(least) || time < least) best = r->asked[i];
  }
  return best;
}

static int show_json(const replay *r, const tune_search *t) {
  json_t *fractions = json_object(), *curve = json_array(), *asked = json_array();
  for (int i = 0; i < MARKS; i++) {
    char name[16];
    snprintf(name, sizeof name, "%u", marks[i]);
    if (marks[i] <= r->count)
      json_object_set_new(fractions, name, json_real(r->mean[marks[i] - 1]));
  }
  for (uint32_t i = 0; i < r->count; i++) json_array_append_new(curve, json_real(r->mean[i]));
  for (uint32_t i = 0; i < r->count && r->seeds == 1; i++) {
    double time = r->recorded.times[r->asked[i]];
    json_array_append_new(asked,
                          json_pack("{s:o, s:o}", "configuration",
                                    tuning_configuration_json(&r->recorded.space, r->asked[i]),
                                    "time", isnan(time) ? json_null() : json_real(time)));
  }
  uint32_t best = best_asked(r);
  json_t *o = json_pack(
      "{s:s, s:s, s:i, s:I, s:i, s:i, s:i, s:f, s:o, s:f, s:o, s:o, s:f}", "replay", t->replay,
      "strategy", search_strategy_name(t->strategy), "seeds", (int)r->seeds, "seed",
      (json_int_t)t->seed, "priors", (int)r->options.prior_count, "configurations",
      (int)r->recorded.space.count, "evaluations", (int)r->count, "optimum", r->recorded.optimum,
      "fractions", fractions, "worst_seed", r->worst_last, "curve", curve, "best",
      tuning_configuration_json(&r->recorded.space, best), "best_time", r->recorded.times[best]);
  if (r->seeds == 1) json_object_set(o, "asked", asked);
  json_decref(asked);
  return cli_json(o);
}

static void show_mark(const replay *r, uint32_t count) {
  char fraction[16];
  format_text(fraction, sizeof fraction, "%.3f", r->mean[count - 1]);
  printf("  %11u   %s\n", count, fraction);
}

static int show_text(const replay *r, const tune_search *t) {
  const space *s = &r->recorded.space;
  char time[32];
  format_text(time, sizeof time, "%g", r->recorded.optimum);
  printf("%s: %u parameters, %u configurations; the best takes %s\n", t->replay, s->param_count,
         s->count, time);
  printf("%s search, %u seed%s", search_strategy_name(t->strategy), r->seeds,
         r->seeds == 1 ? "" : "s");
  if (r->options.prior_count) printf(", times of %u others known", r->options.prior_count);
  printf("\n  evaluations   fraction of the optimum\n");
  for (int i = 0; i < MARKS; i++)
    if (marks[i] <= r->count) show_mark(r, marks[i]);
  bool is_mark = false;
  for (int i = 0; i < MARKS; i++) is_mark |= marks[i] == r->count;
  if (!is_mark) show_mark(r, r->count);
  uint32_t best = best_asked(r);
  printf("best found%s:", r->seeds == 1 ? "" : " with the last seed");
  for (uint32_t i = 0; i < s->param_count; i++)
    if (s->params[i].count > 1)
      printf(" %s=%s", s->params[i].name, s->params[i].values[space_row(s, best)[i]]);
  format_text(time, sizeof time, "%g", r->recorded.times[best]);
  printf(" takes %s\n", time);
  return EXIT_FINE;
}

int tune_replay(const cli *c, const tune_search *t) {
  replay r = {.options = {.strategy = t->strategy}};
  vyre_error error;
  vyre_status status = begin(&r, t, &error);
  if (status == VYRE_OK) status = run_seeds(&r, t->seed, &error);
  int code = status != VYRE_OK ? cli_error(c, &error)
             : c->json         ? show_json(&r, t)
                               : show_text(&r, t);
  end(&r);
  return code;
}
