// SPDX-License-Identifier: MIT
//
// Runs passes to a fixpoint. All selected passes start dirty; a pass that changes the program makes
// those dirty that it says it invalidates. The scheduler alone times, counts, undoes what a pass's
// own gate rejects, and writes the report. Every program that a pass makes is verified when it is
// frozen; a pass that breaks a rule is named in the error. The caller owns plan, report and result.
// Thread rule: a run belongs to one thread; runs do not share anything.
#ifndef VYRE_OPT_SCHEDULER_H
#define VYRE_OPT_SCHEDULER_H

#include "opt/pass.h"

enum { OPT_MAX_ITERATIONS = 8 };

typedef struct opt_plan {
  const pass *const *passes;
  size_t pass_count;
  // selected[pass * region_count + region]: what may run on what. NULL: everything on everything.
  const bool *selected;
  const char *const *reasons; // per pass, for rows of passes that do not run; may be NULL
  uint32_t caps;              // PASS_CAP_* that are there
  uint32_t max_iterations;    // 0: OPT_MAX_ITERATIONS
  uint32_t stop_after;        // runs of passes, for bisection; 0: no limit
  // Called after each run that changed the program; may be NULL.
  void (*watch)(void *context, const pass *pass, uint32_t run, const vyre_program *program);
  void *watch_context;
} opt_plan;

typedef struct opt_summary {
  uint32_t runs; // of passes
  uint32_t iterations;
  bool converged; // false: the cap or stop_after ended it, and the best program is returned
} opt_summary;

// *out is the optimized program, at least a new reference to `program`. `report` and `summary` may
// be NULL.
vyre_status opt_run(vyre_program *program, const opt_plan *plan, opt_report *report,
                    opt_summary *summary, vyre_program **out, vyre_error *error);

pass_counts opt_count(const vyre_program *program);

#endif
