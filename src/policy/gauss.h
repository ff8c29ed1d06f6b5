// SPDX-License-Identifier: MIT
//
// A Gaussian process over a finite set of points: from the values of a few it says of all others
// what to expect and how sure that is. Correlation falls with distance (Matern's 3/2 function),
// with a scale of its own along each feature; scales and noise are those under which what was seen
// is most likely, held towards the usual. One more value costs a row over all points, so that
// asking stays cheap. A value that its holder owns; one thread at a time. The same calls give the
// same bits.
#ifndef VYRE_POLICY_GAUSS_H
#define VYRE_POLICY_GAUSS_H

#include <stdbool.h>
#include <stdint.h>

enum { GAUSS_FEATURES = 48, GAUSS_SEEN = 256 };

typedef struct gauss gauss;

// `features` holds one row of `points` numbers, about 0 to 1, per feature; it is copied. NULL: out
// of memory.
gauss *gauss_new(const float *features, uint32_t feature_count, uint32_t points);
void gauss_free(gauss *g);

// One more point whose value is known; false when GAUSS_SEEN are.
bool gauss_see(gauss *g, uint32_t point);
uint32_t gauss_seen(const gauss *g);

// Values of the points that were seen, in their order, of mean 0 and variance 1. Finds scales anew
// when there are more points than before by a seventh. False when the points cannot be told apart.
bool gauss_update(gauss *g, const double *values);
// Of every point; valid until the next update.
const float *gauss_mean(const gauss *g);
double gauss_spread(const gauss *g, uint32_t point); // the standard deviation

#endif
