// SPDX-License-Identifier: MIT
//
// `vyre run --check`: the run is watched, and what is found is shown with its place in the source.
// One thread.
#ifndef VYRE_CLI_RUN_CHECK_H
#define VYRE_CLI_RUN_CHECK_H

#include "cli/load.h"

typedef struct run_check {
  const cli *cli;
  const loaded *source;
  uint64_t counts[VYRE_FINDING_KINDS];
  json_t *list; // of what was found; NULL: it is shown at once
} run_check;

// Runs once, and shows findings as they come.
vyre_status run_checked(run_check *k, const char *backend, const vyre_dispatch_args *args,
                        vyre_report *report, vyre_error *error);
uint64_t run_check_total(const run_check *k);
// One line on what was looked for and found, or the same added to `json`.
void run_check_summary(run_check *k, const char *backend, json_t *json);

#endif
