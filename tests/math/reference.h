// SPDX-License-Identifier: MIT
//
// How far a result is from the exact one, in units in the last place of the exact result. MPFR
// decides; the C library's double (for f32) or long double (for f64) function is asked first, whose
// own error is below a 500th of such a unit. Its word is taken when the result is within the limit
// with that much to spare. Any thread that has its own MPFR cache.
#ifndef VYRE_TESTS_MATH_REFERENCE_H
#define VYRE_TESTS_MATH_REFERENCE_H

#include <vyre/vyre.h>

// Stands for any difference in kind: NaN against a number, the sign of a zero, an infinity where
// the exact result is not beyond the largest number.
#define REFERENCE_WRONG 1e30

// The largest error that docs/MATH.md allows, in ulp.
double reference_limit(vyre_op op, vyre_type type);

// `x`, `y` and `got` are exact values of `type`, widened.
double reference_error_exact(vyre_op op, vyre_type type, double x, double y, double got);
double reference_error_fast(vyre_op op, vyre_type type, double x, double y, double got);
// The fast one where it is below the limit by the margin, else the exact one.
double reference_error(vyre_op op, vyre_type type, double x, double y, double got);
enum { REFERENCE_MARGIN_PARTS = 500 };

// The double function, for loops that ask for one operation only.
double reference_double(vyre_op op, double x, double y);
// |got - exact| in ulp of the f32 nearest below |exact|, both finite or infinite.
double reference_ulp_f32(double got, double exact);

#endif
