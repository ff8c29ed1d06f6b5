// SPDX-License-Identifier: MIT
//
// Which configuration of a space to evaluate next: ask, evaluate, tell. A configuration is asked
// for once. Strategies differ in how they choose; all of them are pure functions of the space, the
// seed and what was told, so that a search repeats. A value that its holder owns; one thread at a
// time.
#ifndef VYRE_POLICY_SEARCH_H
#define VYRE_POLICY_SEARCH_H

#include "policy/space.h"

typedef enum search_strategy {
  SEARCH_MODEL, // a Gaussian process and expected improvement, with what is known from elsewhere
  SEARCH_RANDOM,
  SEARCH_EXHAUSTIVE, // in order
  SEARCH_ANNEALING,
  SEARCH_STRATEGIES
} search_strategy;

const char *search_strategy_name(search_strategy strategy); // NULL past the end

enum { SEARCH_PRIORS = 8 };

typedef struct search_options {
  search_strategy strategy;
  uint64_t seed;
  // Times of the same configurations elsewhere, on another device or for another size: one array
  // per source, one number per configuration, NAN where it failed or is not known. Borrowed. They
  // say where to begin, no more: what is told is believed over them.
  const double *priors[SEARCH_PRIORS];
  uint32_t prior_count;
} search_options;

typedef struct search search;

search *search_new(const space *s, const search_options *options); // NULL: out of memory
void search_free(search *s);

bool search_ask(search *s, uint32_t *config); // false: all were asked for
// The time of a configuration, in any unit; NAN: it failed. False when it was told before: the
// first counts.
bool search_tell(search *s, uint32_t config, double time);
// The best so far; false when nothing has succeeded.
bool search_best(const search *s, uint32_t *config, double *time);

// How much each parameter matters, from what was told: the share of the variation of the logarithm
// of time that goes with its value alone. One number per parameter.
void search_importance(const search *s, double *out);

#endif
