// SPDX-License-Identifier: MIT
#include "policy/search_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- asking -------------------------------------------------------------------------------------

// The n-th of those that were not asked for would cost a walk; a few throws find one nearly always.
bool search_any(search *s, uint32_t *config) {
  enum { THROWS = 32 };
  uint32_t count = s->space->count;
  if (s->asked_count == count) return false;
  for (int i = 0; i < THROWS; i++) {
    *config = random_below(&s->random, count);
    if (!s->is_asked[*config]) return true;
  }
  uint32_t skip = random_below(&s->random, count - s->asked_count);
  for (*config = 0;; ++*config)
    if (!s->is_asked[*config] && !skip--) return true;
}

static bool ask_in_order(search *s, uint32_t *config) {
  while (s->next < s->space->count && s->is_asked[s->next]) s->next++;
  *config = s->next;
  return s->next < s->space->count;
}

static bool ask_annealing(search *s, uint32_t *config) {
  enum { TRIES = 64 };
  const space *sp = s->space;
  uint16_t row[SPACE_PARAMS];
  if (s->current == SPACE_NONE) return search_any(s, config);
  for (int i = 0; i < TRIES; i++) {
    memcpy(row, space_row(sp, (uint32_t)s->current), sp->param_count * sizeof *row);
    uint32_t steps = 1 + (i >= TRIES / 2);
    for (uint32_t k = 0; k < steps; k++) {
      uint32_t param = random_below(&s->random, sp->param_count);
      row[param] = (uint16_t)random_below(&s->random, sp->params[param].count);
    }
    int64_t found = space_find(sp, row);
    if (found == SPACE_NONE || s->is_asked[found]) continue;
    *config = (uint32_t)found;
    return true;
  }
  return search_any(s, config);
}

typedef struct strategy {
  const char *name;
  bool (*ask)(search *s, uint32_t *config);
} strategy;

static const strategy strategies[SEARCH_STRATEGIES] = {
    [SEARCH_MODEL] = {"model", search_ask_model},
    [SEARCH_RANDOM] = {"random", search_any},
    [SEARCH_EXHAUSTIVE] = {"exhaustive", ask_in_order},
    [SEARCH_ANNEALING] = {"annealing", ask_annealing},
};

const char *search_strategy_name(search_strategy which) {
  return (unsigned)which < SEARCH_STRATEGIES ? strategies[which].name : NULL;
}

bool search_ask(search *s, uint32_t *config) {
  if (s->asked_count == s->space->count) return false;
  if (!strategies[s->options.strategy].ask(s, config)) return false;
  s->is_asked[*config] = true;
  s->asked_count++;
  return true;
}

// ---- telling ------------------------------------------------------------------------------------

// A worse one is accepted the more seldom the worse it is, and the later.
static bool is_accepted(search *s, double time) {
  const double HOT = 0.5, COOLING = 0.97, COLD = 0.01;
  if (s->current == SPACE_NONE || time < s->current_time) return true;
  double heat = fmax(COLD, HOT * pow(COOLING, s->told_count));
  return random_unit(&s->random) < exp(-log(time / s->current_time) / heat);
}

bool search_tell(search *s, uint32_t config, double time) {
  if (s->is_told[config]) return false;
  s->is_told[config] = true;
  bool has_failed = !(time > 0) || !isfinite(time);
  s->told[s->told_count++] = (search_told){config, has_failed ? (double)NAN : log(time)};
  if (!s->is_asked[config]) { // known from before
    s->is_asked[config] = true;
    s->asked_count++;
  }
  if (has_failed) return true;
  if (is_accepted(s, time)) {
    s->current = config;
    s->current_time = time;
  }
  if (s->has_best && time >= s->best_time) return true;
  s->has_best = true;
  s->best = config;
  s->best_time = time;
  return true;
}

bool search_best(const search *s, uint32_t *config, double *time) {
  *config = s->best;
  *time = s->best_time;
  return s->has_best;
}

void search_importance(const search *s, double *out) {
  const space *sp = s->space;
  double mean = 0, total = 0, count = 0;
  for (uint32_t i = 0; i < s->told_count; i++) {
    double y = s->told[i].log_time, before = mean;
    if (isnan(y)) continue;
    mean += (y - mean) / ++count;
    total += (y - before) * (y - mean);
  }
  for (uint32_t p = 0; p < sp->param_count; p++) {
    out[p] = 0;
    for (uint32_t v = 0; v < sp->params[p].count && total > 0; v++) {
      double sum = 0, n = 0;
      for (uint32_t i = 0; i < s->told_count; i++) {
        bool is_there = space_row(sp, s->told[i].config)[p] == v && !isnan(s->told[i].log_time);
        sum += is_there ? s->told[i].log_time - mean : 0;
        n += is_there;
      }
      if (n > 0) out[p] += sum * sum / n / total;
    }
  }
}

// ---- making one ---------------------------------------------------------------------------------

void search_free(search *s) {
  if (!s) return;
  search_model_fini(s);
  free(s->is_asked);
  free(s->is_told);
  free(s->told);
  free(s);
}

search *search_new(const space *sp, const search_options *options) {
  search *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->space = sp;
  s->options = *options;
  s->random.at = options->seed;
  s->current = SPACE_NONE;
  s->is_asked = calloc(sp->count + 1u, sizeof *s->is_asked);
  s->is_told = calloc(sp->count + 1u, sizeof *s->is_told);
  s->told = calloc(sp->count + 1u, sizeof *s->told);
  if (s->is_asked && s->is_told && s->told) return s;
  search_free(s);
  return NULL;
}
