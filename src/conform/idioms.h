// SPDX-License-Identifier: MIT
//
// Trials of the shapes that people write and optimizer passes look for: pipelines of regions over
// transient buffers, guarded and constant loops, conditions that do not change, elements loaded and
// stored twice, idle barriers, barriers passed in different iterations, loops that invocations begin at
// their own numbers, atomics that add nothing, checks of an id against the grid. Random in everything else, and free of races as generate.h's.
// The same seed gives the same trial. Any thread.
#ifndef VYRE_CONFORM_IDIOMS_H
#define VYRE_CONFORM_IDIOMS_H

#include "conform/trial.h"

// The caller ends a trial that was made with trial_fini.
vyre_status idioms_trial(uint64_t seed, trial *out, vyre_error *error);

#endif
