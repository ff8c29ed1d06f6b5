// SPDX-License-Identifier: MIT
//
// With K the correlations of the points that were seen and L its Cholesky factor (K = L L'), row i
// of V is the i-th of L^-1 k(., all): the mean is V' (L^-1 y) and the variance 1 - the sum of V's
// squares. Both grow by a row per point, and are made anew when the scales change.
#include "policy/gauss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double USUAL_SCALE = 0.7, LEAST_SCALE = 0.02, MOST_SCALE = 12;
static const double USUAL_NOISE = 0.01, LEAST_NOISE = 1e-4, MOST_NOISE = 0.3;
static const double SQRT3 = 1.7320508075688772;

struct gauss {
  float *features; // one row per feature
  uint32_t feature_count, points;
  uint32_t seen[GAUSS_SEEN];
  uint32_t seen_count;
  double scale[GAUSS_FEATURES], noise;
  double factor[GAUSS_SEEN][GAUSS_SEEN]; // L
  uint32_t factored;                     // its rows that are made
  uint32_t fitted;                       // points when scales were last found
  double values[GAUSS_SEEN], solved[GAUSS_SEEN];
  double deviation; // of the process
  float *rows;      // V
  float *mean, *variance, *row;
};

void gauss_free(gauss *g) {
  if (!g) return;
  free(g->features);
  free(g->rows);
  free(g->mean);
  free(g->variance);
  free(g->row);
  free(g);
}

gauss *gauss_new(const float *features, uint32_t feature_count, uint32_t points) {
  gauss *g = calloc(1, sizeof *g);
  if (!g) return NULL;
  if (feature_count > GAUSS_FEATURES) feature_count = GAUSS_FEATURES;
  size_t bytes = (size_t)points * sizeof(float);
  *g = (gauss){.feature_count = feature_count, .points = points, .noise = USUAL_NOISE};
  g->features = malloc(feature_count * bytes + 1);
  g->rows = malloc(GAUSS_SEEN * bytes + 1);
  g->mean = calloc(points + 1, sizeof(float));
  g->variance = calloc(points + 1, sizeof(float));
  g->row = calloc(points + 1, sizeof(float));
  if (!g->features || !g->rows || !g->mean || !g->variance || !g->row) {
    gauss_free(g);
    return NULL;
  }
  memcpy(g->features, features, feature_count * bytes);
  for (uint32_t i = 0; i < feature_count; i++) g->scale[i] = USUAL_SCALE;
  return g;
}

bool gauss_see(gauss *g, uint32_t point) {
  if (g->seen_count == GAUSS_SEEN) return false;
  g->seen[g->seen_count++] = point;
  return true;
}

uint32_t gauss_seen(const gauss *g) {
  return g->seen_count;
}

const float *gauss_mean(const gauss *g) {
  return g->mean;
}

double gauss_spread(const gauss *g, uint32_t point) {
  double v = g->variance[point];
  return g->deviation * sqrt(v > 1e-8 ? v : 1e-8);
}

// ---- correlation --------------------------------------------------------------------------------

static double correlation(const gauss *g, uint32_t a, uint32_t b) {
  double squares = 0;
  for (uint32_t d = 0; d < g->feature_count; d++) {
    const float *f = g->features + (size_t)d * g->points;
    double apart = (double)(f[a] - f[b]) * g->scale[d];
    squares += apart * apart;
  }
  double r = SQRT3 * sqrt(squares);
  return (1 + r) * exp(-r);
}

// The same of one point with all.
static void correlate(gauss *g, uint32_t point) {
  memset(g->row, 0, g->points * sizeof *g->row);
  for (uint32_t d = 0; d < g->feature_count; d++) {
    const float *f = g->features + (size_t)d * g->points;
    float scale = (float)g->scale[d], at = f[point];
    for (uint32_t i = 0; i < g->points; i++) {
      float apart = (f[i] - at) * scale;
      g->row[i] += apart * apart;
    }
  }
  for (uint32_t i = 0; i < g->points; i++) {
    float r = (float)SQRT3 * sqrtf(g->row[i]);
    g->row[i] = (1 + r) * expf(-r);
  }
}

// ---- the factor ---------------------------------------------------------------------------------

static bool factor_row(gauss *g, uint32_t i) {
  for (uint32_t j = 0; j <= i; j++) {
    double sum = correlation(g, g->seen[i], g->seen[j]) + (i == j ? g->noise : 0);
    for (uint32_t k = 0; k < j; k++) sum -= g->factor[i][k] * g->factor[j][k];
    if (i == j && sum <= 1e-12) return false;
    g->factor[i][j] = i == j ? sqrt(sum) : sum / g->factor[j][j];
  }
  return true;
}

static bool factor_all(gauss *g) {
  for (uint32_t i = 0; i < g->seen_count; i++)
    if (!factor_row(g, i)) return false;
  return true;
}

// L^-1 y; returns the sum of its squares.
static double solve(gauss *g) {
  double squares = 0;
  for (uint32_t i = 0; i < g->seen_count; i++) {
    double sum = g->values[i];
    for (uint32_t k = 0; k < i; k++) sum -= g->factor[i][k] * g->solved[k];
    g->solved[i] = sum / g->factor[i][i];
    squares += g->solved[i] * g->solved[i];
  }
  return squares;
}

// ---- the scales ---------------------------------------------------------------------------------

static double held(double value, double usual, double width) {
  double off = log(value / usual) / width;
  return -0.5 * off * off;
}

// The logarithm of how likely the values are, the process's variance being what fits best.
static double likelihood(gauss *g) {
  if (!factor_all(g)) return -HUGE_VAL;
  double likely = held(g->noise, USUAL_NOISE, 2), n = g->seen_count;
  likely -= 0.5 * n * log(solve(g) / n + 1e-300);
  for (uint32_t i = 0; i < g->seen_count; i++) likely -= log(g->factor[i][i]);
  for (uint32_t d = 0; d < g->feature_count; d++) likely += held(g->scale[d], USUAL_SCALE, 1.5);
  return likely;
}

// Doubles or halves one number after the other where that helps.
static void climb(gauss *g, int rounds) {
  double best = likelihood(g);
  for (int round = 0; round < rounds; round++)
    for (uint32_t d = 0; d <= g->feature_count; d++) {
      bool is_noise = d == g->feature_count;
      double *at = is_noise ? &g->noise : &g->scale[d], before = *at, kept = before;
      for (int k = 0; k < 2; k++) {
        double next = k ? before * (is_noise ? 4 : 2) : before / (is_noise ? 4 : 2);
        if (next < (is_noise ? LEAST_NOISE : LEAST_SCALE)) continue;
        if (next > (is_noise ? MOST_NOISE : MOST_SCALE)) continue;
        *at = next;
        double likely = likelihood(g);
        if (likely > best) {
          best = likely;
          kept = next;
        }
      }
      *at = kept;
    }
}

// Scales need fewer points than expectations: every other one will do, or every third.
static void fit(gauss *g, int rounds) {
  enum { ENOUGH = 112 };
  uint32_t seen[GAUSS_SEEN], count = g->seen_count, stride = (count + ENOUGH - 1) / ENOUGH;
  double values[GAUSS_SEEN];
  memcpy(seen, g->seen, sizeof seen);
  memcpy(values, g->values, sizeof values);
  for (g->seen_count = 0; g->seen_count * stride < count; g->seen_count++) {
    g->seen[g->seen_count] = seen[g->seen_count * stride];
    g->values[g->seen_count] = values[g->seen_count * stride];
  }
  climb(g, rounds);
  memcpy(g->seen, seen, sizeof seen);
  memcpy(g->values, values, sizeof values);
  g->seen_count = g->fitted = count;
}

// ---- expectation --------------------------------------------------------------------------------

static void add_row(gauss *g, uint32_t i) {
  float *row = g->rows + (size_t)i * g->points;
  correlate(g, g->seen[i]);
  for (uint32_t j = 0; j < i; j++) {
    float l = (float)g->factor[i][j];
    const float *of = g->rows + (size_t)j * g->points;
    for (uint32_t c = 0; c < g->points; c++) g->row[c] -= l * of[c];
  }
  float by = 1 / (float)g->factor[i][i];
  for (uint32_t c = 0; c < g->points; c++) {
    row[c] = g->row[c] * by;
    g->variance[c] -= row[c] * row[c];
  }
}

static bool make_anew(gauss *g) {
  enum { FIRST_ROUNDS = 3, ROUNDS = 2 };
  fit(g, g->fitted ? ROUNDS : FIRST_ROUNDS);
  if (!factor_all(g)) return false;
  for (uint32_t c = 0; c < g->points; c++) g->variance[c] = 1;
  for (uint32_t i = 0; i < g->seen_count; i++) add_row(g, i);
  g->factored = g->seen_count;
  return true;
}

bool gauss_update(gauss *g, const double *values) {
  if (!g->seen_count) return false;
  memcpy(g->values, values, g->seen_count * sizeof *values);
  bool is_due = !g->fitted || g->seen_count > g->fitted + g->fitted / 7;
  if (is_due && !make_anew(g)) return false;
  for (; g->factored < g->seen_count; g->factored++) {
    if (!factor_row(g, g->factored)) return false;
    add_row(g, g->factored);
  }
  g->deviation = sqrt(solve(g) / g->seen_count);
  memset(g->mean, 0, g->points * sizeof *g->mean);
  for (uint32_t i = 0; i < g->seen_count; i++) {
    const float *row = g->rows + (size_t)i * g->points;
    float by = (float)g->solved[i];
    for (uint32_t c = 0; c < g->points; c++) g->mean[c] += by * row[c];
  }
  return true;
}
