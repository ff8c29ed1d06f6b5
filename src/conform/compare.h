// SPDX-License-Identifier: MIT
//
// Whether two outcomes of a trial agree: the same status and, where both ran, the same bits in
// every buffer, except that any NaN equals any NaN. Pure functions: any thread.
#ifndef VYRE_CONFORM_COMPARE_H
#define VYRE_CONFORM_COMPARE_H

#include "conform/trial.h"

typedef enum verdict {
  SAME,
  DECLINED, // the candidate says UNSUPPORTED: no statement about its results
  UNUSABLE, // the reference did not finish: the trial says nothing
  DIFFERENT,
} verdict;

typedef struct difference {
  verdict verdict;
  bool is_about_status; // the statuses differ, not the data
  bool is_overrun;      // memory outside of a buffer was written
  uint32_t buffer;      // number in the program, transient ones counted
  uint64_t element;
  uint64_t expected, found; // bits
  char text[400];           // for people; empty for SAME
} difference;

void compare_outcomes(const trial *t, const outcome *expected, const outcome *found,
                      difference *out);

// Runs the trial on ref and on the candidate and compares. `program` replaces the trial's on the
// candidate's side only, as a pass's result does; NULL: the same. False: out of memory.
bool compare_run(const trial *t, vyre_program *program, const char *backend,
                 const vyre_compile_options *options, difference *out);

// What compare_run allows: executed operations on ref, time elsewhere.
enum { COMPARE_FUEL = 2000000 };
#define COMPARE_TIMEOUT_NS 20000000000u

#endif
