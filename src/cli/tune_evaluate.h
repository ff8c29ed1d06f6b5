// SPDX-License-Identifier: MIT
//
// One configuration of a space, evaluated: read with its values, compiled, its answer compared with
// that of a plain compile of the same configuration, and timed; and the best few of a search timed
// again, in turn, so that no lucky sample wins. One thread.
#ifndef VYRE_CLI_TUNE_EVALUATE_H
#define VYRE_CLI_TUNE_EVALUATE_H

#include "cli/tune_space.h"
#include "cli/tuning_results.h"
#include "policy/trial.h"

typedef struct evaluator {
  const tune_space_request *request;
  const space *space;
  const char *backend;
  char op[128]; // of the last program that was read
} evaluator;

// Whether -D gives the parameter to the source: as a macro, or as the value of the program's
// tunable. Others stand in braces only.
bool evaluator_gives(const evaluator *e, const space_param *p);

// `best_ns` is the time to beat; 0: there is none yet. What fails is in the result, too.
vyre_status evaluator_run(evaluator *e, uint32_t config, double best_ns, tuning_result *r,
                          vyre_error *error);

enum { RACE_MOST = 4, RACE_ROUNDS = 5, RACE_MOST_ROUNDS = 15 };
// Times up to RACE_MOST configurations that were evaluated before; `candidates` is filled, one
// each, with a name that the caller gave.
trial_decision evaluator_race(evaluator *e, const uint32_t *configs, uint32_t count,
                              trial_candidate *candidates);

#endif
