// SPDX-License-Identifier: MIT
//
// What a run is going to cost, from what runs of other sizes did: history where there is some,
// regression elsewhere. A point is one bucket's mean time with its features (bytes, invocations,
// the numbers that loops depend on), all of them by their logarithm; the model is a plane through
// them, held towards "nothing matters" where the points do not say otherwise. A plain value that
// its holder owns; pure functions, any thread.
#ifndef VYRE_POLICY_MODEL_H
#define VYRE_POLICY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_FEATURES = 8, MODEL_POINTS = 64 };

typedef struct model_point {
  double features[MODEL_FEATURES]; // logarithms; unused ones are 0
  double log_ns;
  double weight; // samples behind it
} model_point;

typedef struct model {
  uint32_t point_count;
  double origin[MODEL_FEATURES]; // the mean of the points
  double log_ns;                 // there
  double slope[MODEL_FEATURES];
  double error; // root of the mean squared distance of the points from the plane
} model;

model model_fit(const model_point *points, uint32_t count);
// The binary logarithm of the time; meaningless without a point.
double model_predict(const model *m, const double features[MODEL_FEATURES]);

#endif
