// SPDX-License-Identifier: MIT
//
// A space that was measured whole, so that a search can be replayed: an evaluation is a look-up.
// Text of comma-separated values: a line of names, of which the last is the time's, then one line
// per configuration; an empty time means that it failed. Values that their holders own; reading the
// same text gives the same space. Any thread.
#ifndef VYRE_POLICY_RECORDED_H
#define VYRE_POLICY_RECORDED_H

#include "policy/search.h"

typedef struct recorded {
  space space;
  double *times;  // one per configuration; NAN: it failed
  double optimum; // the least
} recorded;

vyre_status recorded_parse(const char *text, size_t size, const char *name, recorded *out,
                           vyre_error *error);
void recorded_fini(recorded *r);

// The times of `from`, of the same parameters, for the configurations of `to`: NAN where there is
// none. The caller frees. Fails when the parameters are others.
vyre_status recorded_times(const recorded *from, const space *to, const char *name, double **out,
                           vyre_error *error);

// Runs a search. `curve` gets the fraction of the optimum, best of all over best so far, after each
// evaluation (0 as long as all have failed); `asked`, unless it is NULL, what was asked for.
// Returns how many there were, or 0 when out of memory.
uint32_t recorded_replay(const recorded *r, const search_options *options, uint32_t evaluations,
                         double *curve, uint32_t *asked);

#endif
