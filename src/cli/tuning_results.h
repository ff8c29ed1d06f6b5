// SPDX-License-Identifier: MIT
//
// What evaluating configurations gave, as a file in the T4 format of the autotuning community: for
// other tools, and to go on where an earlier run ended. One thread.
#ifndef VYRE_CLI_TUNING_RESULTS_H
#define VYRE_CLI_TUNING_RESULTS_H

#include "policy/space.h"

#include <jansson.h>

typedef struct tuning_result {
  uint32_t config;
  double time_ns; // the least of its samples; NAN: it failed
  uint64_t compile_ns, search_ns, check_ns, run_ns;
  uint64_t samples[32];
  uint32_t sample_count;
  const char *invalidity; // "correct", "compile", "runtime", "correctness", "timeout"
  int64_t date;
} tuning_result;

json_t *tuning_configuration_json(const space *s, uint32_t config);
// One entry of `results`.
json_t *tuning_result_json(const space *s, const tuning_result *r);
vyre_status tuning_results_write(const char *path, const json_t *results, const char *op,
                                 const char *device, vyre_error *error);
// Calls back for every result of the file whose configuration is of the space, and returns their
// entries; an empty list when there is no file. A file that cannot be read is an error.
vyre_status tuning_results_read(const char *path, const space *s,
                                void (*visit)(void *context, uint32_t config, double time_ns),
                                void *context, json_t **out, vyre_error *error);

// Times of configurations of the space, from a file of results or from comma-separated values: one
// number each, NAN where there is none. The caller frees.
vyre_status tuning_prior_read(const char *path, const space *s, double **out, vyre_error *error);

#endif
