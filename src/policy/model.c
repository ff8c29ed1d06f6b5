// SPDX-License-Identifier: MIT
#include "policy/model.h"

#include <math.h>
#include <string.h>

enum { N = MODEL_FEATURES };

// How much it takes to believe in a slope: in units of weighted squared distance.
static const double RIDGE = 0.5;

static void find_origin(const model_point *points, uint32_t count, model *m) {
  double weight = 0;
  for (uint32_t i = 0; i < count; i++) {
    weight += points[i].weight;
    m->log_ns += points[i].weight * points[i].log_ns;
    for (int k = 0; k < N; k++) m->origin[k] += points[i].weight * points[i].features[k];
  }
  m->log_ns /= weight;
  for (int k = 0; k < N; k++) m->origin[k] /= weight;
}

// Solves the normal equations, which the ridge keeps regular, by elimination without pivoting: the
// matrix is symmetric and positive definite.
static void solve(double a[N][N + 1], double out[N]) {
  for (int i = 0; i < N; i++)
    for (int k = i + 1; k < N; k++) {
      double factor = a[k][i] / a[i][i];
      for (int c = i; c <= N; c++) a[k][c] -= factor * a[i][c];
    }
  for (int i = N - 1; i >= 0; i--) {
    double sum = a[i][N];
    for (int c = i + 1; c < N; c++) sum -= a[i][c] * out[c];
    out[i] = sum / a[i][i];
  }
}

model model_fit(const model_point *points, uint32_t count) {
  model m = {.point_count = count};
  double a[N][N + 1] = {{0}};
  if (!count) return m;
  find_origin(points, count, &m);
  for (uint32_t i = 0; i < count; i++)
    for (int r = 0; r < N; r++) {
      double x = points[i].weight * (points[i].features[r] - m.origin[r]);
      for (int c = 0; c < N; c++) a[r][c] += x * (points[i].features[c] - m.origin[c]);
      a[r][N] += x * (points[i].log_ns - m.log_ns);
    }
  for (int r = 0; r < N; r++) a[r][r] += RIDGE;
  solve(a, m.slope);
  double squares = 0;
  for (uint32_t i = 0; i < count; i++) {
    double off = points[i].log_ns - model_predict(&m, points[i].features);
    squares += off * off;
  }
  m.error = sqrt(squares / count);
  return m;
}

double model_predict(const model *m, const double features[MODEL_FEATURES]) {
  double log_ns = m->log_ns;
  for (int k = 0; k < N; k++) log_ns += m->slope[k] * (features[k] - m->origin[k]);
  return log_ns;
}
