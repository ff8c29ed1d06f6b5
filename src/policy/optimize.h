// SPDX-License-Identifier: MIT
//
// Selection and optimizer together, as every compile uses them: for each region it is decided which
// passes pay, and the scheduler runs those. The decisions stay with their reasons, so that they can
// be explained. The result belongs to the caller. Thread rule: none shared.
#ifndef VYRE_POLICY_OPTIMIZE_H
#define VYRE_POLICY_OPTIMIZE_H

#include "opt/scheduler.h"
#include "policy/select.h"

typedef enum optimize_mode {
  OPTIMIZE_SELECTED,   // by profile, telemetry, earlier costs and shape
  OPTIMIZE_EVERYTHING, // every pass that the profiles accept
  OPTIMIZE_NAMED,      // exactly `names`, with what they require left out
  OPTIMIZE_AGAIN,      // what `selection` says, as an earlier compile selected it
  OPTIMIZE_NOTHING,
} optimize_mode;

typedef struct optimize_options {
  optimize_mode mode;
  unsigned profiles;          // PASS_PROFILE_*; 0: release
  const char *const *names;   // ended by NULL; for OPTIMIZE_NAMED, in the order given
  const char *selection;      // from optimize_selection; for OPTIMIZE_AGAIN
  const hints *hints;         // telemetry; may be NULL
  const uint8_t *known_as;    // fingerprint under which the hints know it; NULL: the program's
  const opt_report *previous; // of an earlier compile; may be NULL
  const uint64_t *lengths;    // elements per buffer when known, for the memory threshold
  uint32_t caps, stop_after, max_iterations;
  void (*watch)(void *context, const pass *pass, uint32_t run, const vyre_program *program);
  void *watch_context;
} optimize_options;

typedef struct optimize_result {
  vyre_program *program;
  opt_report report;
  opt_summary summary;
  const pass *const *passes; // the table
  size_t pass_count;
  uint32_t region_count;      // of the program that came in
  unsigned everything_of;     // PASS_PROFILE_* whose passes ran whether selected or not; 0: none
  select_decision *decisions; // [region * pass_count + pass]; NULL when none were asked for
} optimize_result;

// Takes NULL for default options. End with optimize_result_fini, also after an error.
vyre_status optimize_program(vyre_program *program, const optimize_options *options,
                             optimize_result *out, vyre_error *error);
void optimize_result_fini(optimize_result *result);

// What was selected, as a line of text that OPTIMIZE_AGAIN takes: names of passes with commas
// between them, one list per region with semicolons between those, one list for all when they are
// the same. NULL when out of memory; freed with free().
char *optimize_selection(const optimize_result *result);

#endif
