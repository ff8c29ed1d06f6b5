// SPDX-License-Identifier: MIT
//
// What the optimizer did: one row per run of a pass. Rows are plain values; the report owns the
// array, and names are borrowed from the pass table and the program. A report may be kept and
// handed to the next compile, where selection reads it. One thread at a time.
#ifndef VYRE_OPT_REPORT_H
#define VYRE_OPT_REPORT_H

#include "base/vec.h"

#include <stdint.h>

typedef enum pass_outcome {
  PASS_CHANGED,
  PASS_UNCHANGED,    // ran and found nothing to do
  PASS_NOT_SELECTED, // selection left it out; `reason` says why
  PASS_REFUSED,      // its inputs are not there, such as a capability; `reason` says what
  PASS_REVERTED,     // worse by its own cost gate, or above a limit: the program is as it was
  PASS_OUTCOME_COUNT
} pass_outcome;

// The cost proxies of a program or a region. Less is better in each.
typedef struct pass_counts {
  uint64_t nodes;
  uint64_t static_storage_bytes;
  uint64_t instructions;
  uint64_t memory_ops;
  uint64_t atomic_ops;
  uint64_t control_flow;
  uint64_t register_pressure;
  uint64_t ir_allocations;
  uint64_t ir_bytes;
} pass_counts;

typedef struct pass_metric {
  const char *pass;
  const char *region; // NULL: the whole program
  uint32_t iteration; // of the scheduler, from 0
  bool ran;
  bool changed;
  pass_outcome outcome;
  const char *reason; // a name from a table; NULL when there is nothing to say
  uint64_t runtime_ns;
  pass_counts before, after;
} pass_metric;

typedef struct opt_report {
  vec(pass_metric) rows;
} opt_report;

static inline void opt_report_free(opt_report *report) {
  vec_free(&report->rows);
}

#endif
