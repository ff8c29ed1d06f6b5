// SPDX-License-Identifier: MIT
//
// What the strategies of search.h share; of policy/search*.c alone.
#ifndef VYRE_POLICY_SEARCH_STATE_H
#define VYRE_POLICY_SEARCH_STATE_H

#include "base/random.h"
#include "policy/gauss.h"
#include "policy/search.h"

typedef struct search_told {
  uint32_t config;
  double log_time; // NAN: it failed
} search_told;

// Of the model: the configurations it looks at, and what it has seen of them.
typedef struct search_model {
  gauss *gauss;
  uint32_t *pool;  // configurations
  uint32_t count;  // of the pool
  uint32_t *seen;  // numbers of `told`, in the order in which the process saw them
  uint32_t told;   // that were looked at
  uint32_t *place; // of a configuration in the pool, plus 1; 0: it is not there
} search_model;

struct search {
  const space *space;
  search_options options;
  random_state random;
  bool *is_asked, *is_told;
  uint32_t asked_count;
  search_told *told;
  uint32_t told_count;
  bool has_best;
  uint32_t best;
  double best_time;
  uint32_t next;   // of the exhaustive strategy
  int64_t current; // of annealing; SPACE_NONE: nowhere yet
  double current_time;
  search_model model;
};

bool search_any(search *s, uint32_t *config); // one that was not asked for, at random
bool search_ask_model(search *s, uint32_t *config);
void search_model_fini(search *s);

#endif
