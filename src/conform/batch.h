// SPDX-License-Identifier: MIT
//
// Compares a backend with the reference on many trials at the price of few compilations: trials are
// merged into large programs, and a merged program that the backend does not run is halved until
// the trial is found that it declines or fails. One thread at a time.
#ifndef VYRE_CONFORM_BATCH_H
#define VYRE_CONFORM_BATCH_H

#include "conform/compare.h"

// Fills one difference per trial, as compare_run does. A failure inside a merged program is run
// again alone; what fails only together is reported as it was found, with the text saying so. False
// when out of memory.
// `limits` are the candidate's: with a time limit some backends compile in another way.
bool batch_compare(const trial *trials, uint32_t count, const char *backend,
                   const vyre_compile_options *options, trial_limits limits, difference *out);

#endif
