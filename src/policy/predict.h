// SPDX-License-Identifier: MIT
//
// What comes next. A predictor sees the specialisation keys of one program (its bound parameter
// values and buffer lengths, as one vector of numbers) in the order of their dispatches and names
// the next one, with a confidence that it has earned: each way of predicting is scored on what it
// would have said before, and only its lower confidence bound counts. So a short lucky streak is
// not trusted, and a way that was wrong lately falls silent until it is right again.
//
// The answer depends on what was observed and on nothing else: no clock, no chance. Memory is
// bounded by the window. One thread at a time per predictor.
#ifndef VYRE_POLICY_PREDICT_H
#define VYRE_POLICY_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

enum { PREDICT_WINDOW = 64, PREDICT_MAX_WINDOW = 1024, PREDICT_MAX_VALUES = 512 };

// In the order in which equal confidence is resolved.
typedef enum predict_kind {
  PREDICT_REPEAT,     // the same key again
  PREDICT_ARITHMETIC, // every number goes on by its last difference
  PREDICT_GEOMETRIC,  // some number goes on by its last ratio, others by their difference
  PREDICT_CYCLE,      // as one period before
  PREDICT_SUCCESSOR,  // what most often followed this key
  PREDICT_KIND_COUNT
} predict_kind;

const char *predict_kind_name(predict_kind kind); // "arithmetic"

typedef struct prediction {
  predict_kind kind;
  uint32_t confidence_bps; // 0 to 10,000
} prediction;

typedef struct predictor predictor;

// `window` 0: PREDICT_WINDOW; rounded up to a power of two. NULL when out of memory or above the
// limits.
predictor *predictor_new(uint32_t value_count, uint32_t window);
void predictor_free(predictor *p);

// A dispatch with this key; `missed` when there was no variant for it.
void predictor_observe(predictor *p, const uint64_t *values, bool missed);
// Dispatches in the window, and how many of them missed.
uint32_t predictor_seen(const predictor *p);
uint32_t predictor_missed(const predictor *p);

// The key of the dispatch `ahead` steps from now (1: the next one). False when nothing can be said
// at all; otherwise `values` (value_count numbers) and *out are filled, whatever the confidence.
bool predictor_next(const predictor *p, uint32_t ahead, uint64_t *values, prediction *out);
// The same for the `ahead`-th change from here: dispatches that repeat the key before them are left
// out, so this is the next key that has to be prepared.
bool predictor_next_change(const predictor *p, uint32_t ahead, uint64_t *values, prediction *out);

// What became of a variant that was compiled because of a prediction: used, or given up unused.
// Two in a row that were not used silence the predictor; it comes back by being right.
void predictor_outcome(predictor *p, bool used);

#endif
