// SPDX-License-Identifier: MIT
//
// The strategy that learns: after a few configurations that lie far apart, the one of which most
// improvement is expected. Times count by their rank (as scores of the normal distribution): what
// is hopeless is not looked at closer for being a hundred times too slow, and failures are as slow
// as the slowest. Times from elsewhere are features beside the parameters, and their fastest come
// first.
#include "policy/search_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIRST = 6,         // before the model is asked
  FIRST_OF_FAST = 7, // beside the fastest of each source
  THROWS = 12,       // of which the farthest is taken
  POOL = 16384,      // configurations that the model looks at
  LATE_POOL = 4096,  // and after it was full once, when every look costs more
  KEPT = 96,         // of the best, and of the latest, when the process is full
};

void search_model_fini(search *s) {
  search_model *m = &s->model;
  gauss_free(m->gauss);
  free(m->pool);
  free(m->seen);
  free(m->place);
  *m = (search_model){0};
}

// ---- scores -------------------------------------------------------------------------------------

typedef struct ranked {
  double value;
  uint32_t index;
} ranked;

static int by_value(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

// The quantile of the normal distribution, to three digits (Hastings).
static double normal_quantile(double p) {
  double t = sqrt(-2 * log(p < 0.5 ? p : 1 - p));
  double x = t - (2.515517 + 0.802853 * t + 0.010328 * t * t) /
                     (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
  return p < 0.5 ? -x : x;
}

// Replaces values by their scores, equal ones by the same; NAN counts as the largest.
static bool score(double *values, uint32_t count) {
  ranked *order = malloc((count + 1u) * sizeof *order);
  if (!order) return false;
  for (uint32_t i = 0; i < count; i++)
    order[i] = (ranked){isnan(values[i]) ? HUGE_VAL : values[i], i};
  qsort(order, count, sizeof *order, by_value);
  for (uint32_t i = 0, end; i < count; i = end) {
    for (end = i; end < count && order[end].value == order[i].value; end++) {
    }
    double at = normal_quantile(((double)i + (double)end) / 2 / count);
    for (uint32_t k = i; k < end; k++) values[order[k].index] = at;
  }
  free(order);
  double mean = 0, squares = 0;
  for (uint32_t i = 0; i < count; i++) mean += values[i] / count;
  for (uint32_t i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
  double deviation = sqrt(squares / count);
  for (uint32_t i = 0; i < count; i++)
    values[i] = deviation > 0 ? (values[i] - mean) / deviation : 0;
  return true;
}

// ---- the pool -----------------------------------------------------------------------------------

static void add_to_pool(search_model *m, uint32_t config) {
  if (m->place[config]) return;
  m->pool[m->count++] = config;
  m->place[config] = m->count;
}

// All configurations, or those that were told about and others at random.
static bool make_pool(search *s, uint32_t most) {
  search_model *m = &s->model;
  uint32_t all = s->space->count, size = all < most ? all : most;
  size_t room = (size_t)size + 2 * KEPT;
  m->pool = malloc(room * sizeof *m->pool);
  m->seen = malloc(GAUSS_SEEN * sizeof *m->seen);
  m->place = calloc(all, sizeof *m->place);
  if (!m->pool || !m->seen || !m->place) return false;
  if (all <= most)
    for (uint32_t i = 0; i < all; i++) add_to_pool(m, i);
  while (m->count < size) add_to_pool(m, random_below(&s->random, all));
  return true;
}

// One feature per source: how a configuration ranks there.
static uint32_t add_priors(const search *s, float *rows, uint32_t made) {
  const search_model *m = &s->model;
  double *values = malloc((m->count + 1u) * sizeof *values);
  for (uint32_t k = 0; k < s->options.prior_count && made < GAUSS_FEATURES && values; k++) {
    for (uint32_t i = 0; i < m->count; i++) values[i] = s->options.priors[k][m->pool[i]];
    if (!score(values, m->count)) break;
    float *row = rows + (size_t)made++ * m->count;
    for (uint32_t i = 0; i < m->count; i++) row[i] = (float)(values[i] / 2);
  }
  free(values);
  return made;
}

static bool make_gauss(search *s) {
  search_model *m = &s->model;
  float *rows;
  uint32_t of[GAUSS_FEATURES];
  uint32_t own = GAUSS_FEATURES - s->options.prior_count;
  // Room for all features, also for those of the sources.
  uint32_t made = space_features(s->space, m->pool, m->count, own, &rows, of);
  float *grown = rows ? realloc(rows, (size_t)GAUSS_FEATURES * m->count * sizeof *rows + 1) : NULL;
  if (grown) made = add_priors(s, grown, made);
  m->gauss = grown ? gauss_new(grown, made, m->count) : NULL;
  free(grown ? grown : rows);
  return m->gauss != NULL;
}

static void see(search *s, uint32_t told) {
  search_model *m = &s->model;
  uint32_t place = m->place[s->told[told].config];
  if (!place) return; // a configuration from before that is not in the pool
  uint32_t at = gauss_seen(m->gauss);
  if (gauss_see(m->gauss, place - 1)) m->seen[at] = told;
}

// The process is full: it begins again with the best and the latest of what was told.
static bool begin_again(search *s) {
  search_model_fini(s);
  search_model *m = &s->model;
  ranked *order = malloc(s->told_count * sizeof *order);
  bool ok = order && make_pool(s, LATE_POOL);
  for (uint32_t i = 0; ok && i < s->told_count; i++) {
    double y = s->told[i].log_time;
    order[i] = (ranked){isnan(y) ? HUGE_VAL : y, i};
  }
  if (ok) qsort(order, s->told_count, sizeof *order, by_value);
  uint32_t latest = s->told_count - KEPT;
  for (uint32_t i = 0; ok && i < KEPT; i++) {
    add_to_pool(m, s->told[order[i].index].config);
    add_to_pool(m, s->told[latest + i].config);
  }
  ok = ok && make_gauss(s);
  for (uint32_t i = 0; ok && i < KEPT; i++)
    if (order[i].index < latest) see(s, order[i].index);
  for (uint32_t i = latest; ok && i < s->told_count; i++) see(s, i);
  m->told = s->told_count;
  free(order);
  return ok;
}

static bool catch_up(search *s) {
  search_model *m = &s->model;
  if (!m->gauss && (!make_pool(s, POOL) || !make_gauss(s))) return false;
  if (gauss_seen(m->gauss) + (s->told_count - m->told) > GAUSS_SEEN && s->told_count > 2 * KEPT)
    return begin_again(s);
  for (; m->told < s->told_count; m->told++) see(s, m->told);
  return true;
}

// ---- choosing -----------------------------------------------------------------------------------

static double apart(const search *s, uint32_t a, uint32_t b) {
  const uint16_t *x = space_row(s->space, a), *y = space_row(s->space, b);
  double sum = 0;
  for (uint32_t i = 0; i < s->space->param_count; i++) {
    double most = s->space->params[i].count - 1.0;
    double d = !most                            ? 0
               : s->space->params[i].is_numeric ? ((double)x[i] - (double)y[i]) / most
                                                : x[i] != y[i];
    sum += d * d;
  }
  return sum;
}

static double nearest_told(const search *s, uint32_t config) {
  double nearest = HUGE_VAL;
  for (uint32_t k = 0; k < s->told_count; k++)
    nearest = fmin(nearest, apart(s, config, s->told[k].config));
  return nearest;
}

// Of a few at random the one that is farthest from all that are known.
static bool ask_far(search *s, uint32_t *config) {
  double best = -1;
  for (int i = 0; i < (s->told_count ? THROWS : 1); i++) {
    uint32_t at;
    if (!search_any(s, &at)) return false;
    double nearest = nearest_told(s, at);
    if (nearest <= best) continue;
    best = nearest;
    *config = at;
  }
  return true;
}

// Times of a source in their order; NAN last.
static ranked *sorted_prior(const search *s, uint32_t source) {
  uint32_t count = s->space->count;
  ranked *order = malloc(count * sizeof *order);
  for (uint32_t i = 0; i < count && order; i++) {
    double time = s->options.priors[source][i];
    order[i] = (ranked){isnan(time) ? HUGE_VAL : time, i};
  }
  if (order) qsort(order, count, sizeof *order, by_value);
  return order;
}

// The fastest of each source, and then, of some fast ones of each in turn, the one that is farthest
// from all that are known: what is best elsewhere may be best for a reason that is not here.
static bool ask_priors(search *s, uint32_t *config) {
  enum { FAST = 20, FAST_THROWS = 8 }; // one in so many is fast
  uint32_t count = s->space->count;
  ranked *order = sorted_prior(s, s->asked_count % s->options.prior_count);
  double best = -1;
  bool is_first = s->asked_count < s->options.prior_count;
  for (uint32_t i = 0; order && i < (is_first ? count : FAST_THROWS); i++) {
    const ranked *at = &order[is_first ? i : random_below(&s->random, count / FAST + 1)];
    if (at->value == HUGE_VAL || s->is_asked[at->index]) continue;
    double nearest = nearest_told(s, at->index);
    if (nearest <= best) continue;
    best = nearest;
    *config = at->index;
    if (is_first) break;
  }
  free(order);
  return best >= 0 || search_any(s, config);
}

// What a value of that expectation and spread is expected to be below `best`.
static double improvement(double best, double mean, double spread) {
  double u = (best - mean) / spread;
  if (u < -6) return 0;
  return spread * (u * 0.5 * erfc(-u * M_SQRT1_2) + exp(-0.5 * u * u) * 0.3989422804014327);
}

static bool ask_improvement(search *s, uint32_t *config) {
  search_model *m = &s->model;
  double values[GAUSS_SEEN], best = HUGE_VAL, most = 0;
  uint32_t seen = gauss_seen(m->gauss);
  for (uint32_t i = 0; i < seen; i++) values[i] = s->told[m->seen[i]].log_time;
  if (!score(values, seen) || !gauss_update(m->gauss, values)) return false;
  for (uint32_t i = 0; i < seen; i++) best = fmin(best, values[i]);
  const float *mean = gauss_mean(m->gauss);
  for (uint32_t i = 0; i < m->count; i++) {
    if (s->is_asked[m->pool[i]]) continue;
    double more = improvement(best, mean[i], gauss_spread(m->gauss, i));
    if (more <= most) continue;
    most = more;
    *config = m->pool[i];
  }
  return most > 0;
}

bool search_ask_model(search *s, uint32_t *config) {
  uint32_t first = s->options.prior_count ? s->options.prior_count + FIRST_OF_FAST : FIRST;
  if (s->asked_count < first)
    return s->options.prior_count ? ask_priors(s, config) : ask_far(s, config);
  if (s->told_count > 1 && catch_up(s) && ask_improvement(s, config)) return true;
  return search_any(s, config);
}
