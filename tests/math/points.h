// SPDX-License-Identifier: MIT
//
// Arguments to test mathematical functions with: special values, every exponent, and random points
// where a function is interesting. A `points` is a plain generator state; one thread each.
#ifndef VYRE_TESTS_MATH_POINTS_H
#define VYRE_TESTS_MATH_POINTS_H

#include <vyre/vyre.h>

typedef struct points {
  uint64_t state;
} points;

uint64_t points_bits(points *p);                        // 64 random bits
double points_uniform(points *p, double lo, double hi); // lo <= v < hi
double points_any(points *p, vyre_type type);           // random bits of the type
double points_round(vyre_type type, double v);          // nearest value of the type
double points_of_bits(vyre_type type, uint64_t bits);

// A random argument or pair for the operation: random bits, or from where it is neither constant
// nor out of range, or close to where cancellation is worst.
void points_random(points *p, vyre_op op, vyre_type type, double *x, double *y);

// Zeros, infinities, NaN, limits of the format, small integers and halves, and thresholds.
enum { POINTS_SPECIAL_MAX = 160 };
size_t points_special(vyre_type type, double out[POINTS_SPECIAL_MAX]);

#endif
