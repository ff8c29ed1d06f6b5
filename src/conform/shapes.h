// SPDX-License-Identifier: MIT
//
// Trials of the shapes that a backend's guards decide about: conditions on ids as the only effect
// of grids of hundreds to thousands of invocations, indices that move along a row and leave the
// buffer somewhere on it, with limits, strides and bases from the ends of the types. Each kind is
// random in all its parts, and free of races as generate.h's trials. The same options give the same
// trial on every machine. Any thread.
#ifndef VYRE_CONFORM_SHAPES_H
#define VYRE_CONFORM_SHAPES_H

#include "conform/trial.h"

typedef struct shapes_options {
  uint64_t seed;
  uint32_t kinds; // one bit for each that may be made; 0: all
} shapes_options;

uint32_t shapes_count(void);
const char *shapes_name(uint32_t kind); // NULL past the end

// `kind`, when it is not NULL, is set to the kind of the first region. The caller ends a trial that
// was made with trial_fini.
vyre_status shapes_trial(const shapes_options *options, trial *out, uint32_t *kind,
                         vyre_error *error);

#endif
