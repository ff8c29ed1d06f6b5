// SPDX-License-Identifier: MIT
//
// Looks for data races: runs a trial on the reference with an observer, and reports the first
// element that two invocations use in ways whose order matters, with no barrier between them. Exact
// for the inputs at hand. Any thread.
#ifndef VYRE_CONFORM_RACE_H
#define VYRE_CONFORM_RACE_H

#include "conform/trial.h"

typedef enum race_verdict {
  RACE_FREE,
  RACE_FOUND,
  RACE_UNKNOWN, // the program does not run to its end
} race_verdict;

typedef struct race_report {
  race_verdict verdict;
  uint32_t instructions[2]; // that conflict, where mathematical functions are expanded
  char text[300];
} race_report;

// False when out of memory.
bool race_check(const trial *t, uint64_t fuel, race_report *out);

#endif
