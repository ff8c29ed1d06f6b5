// SPDX-License-Identifier: MIT
//
// `vyre tune --replay`: how a search would have done on a space that was measured whole. One
// thread.
#ifndef VYRE_CLI_TUNE_REPLAY_H
#define VYRE_CLI_TUNE_REPLAY_H

#include "base/vec.h"
#include "cli/args.h"
#include "policy/search.h"

typedef struct tune_search {
  const char *replay; // a file of comma-separated values; NULL: none
  vec(const char *) priors;
  bool no_prior; // also none of the cache
  search_strategy strategy;
  uint64_t evaluations, seeds, seed; // 0 evaluations: as many as usual
  // Of searches that measure.
  uint64_t budget_ns;  // 0: none
  const char *results; // where they are kept; NULL: in the cache
  const char *report;  // where the course of the search is written; NULL: nowhere
} tune_search;

// The letters A, C, E, J, K, O, P, S, U and Z are taken.
#define TUNE_SEARCH_OPTIONS                                                                        \
  {'P', "replay", "FILE.csv"}, {'K', "prior", "FILE.csv"}, {'Z', "no-prior", NULL},                \
      {'A', "strategy", "model, random, exhaustive or annealing"},                                 \
      {'E', "evaluations", "a number of configurations"}, {'S', "seeds", "a number of repeats"},   \
      {'J', "seed", "a number"}, {'U', "seconds", "a number of seconds"},                          \
      {'O', "results", "FILE.json"}, {                                                             \
    'C', "report", "FILE.csv"                                                                      \
  }

// Takes one option; *ok is false when its value is wrong, and that was said.
bool tune_search_option(tune_search *t, const args *a, int letter, bool *ok);
void tune_search_fini(tune_search *t);

int tune_replay(const cli *c, const tune_search *t); // the exit status

#endif
