// SPDX-License-Identifier: MIT
//
// Floats taken apart into integers and put together again, correctly rounded, so that an operation
// which a device does not do exactly is computed by integers alone: words of 32 bits for f32, of 64
// bits for f64. Private to src/lower.
#ifndef VYRE_LOWER_SOFT_H
#define VYRE_LOWER_SOFT_H

#include "lower/recipe.h"

typedef struct soft_format {
  vyre_type type, word;
  unsigned width;    // of the word
  unsigned digits;   // of the significand
  int32_t bias, top; // of the exponent; top: that of infinities
  uint64_t sign, infinity;
} soft_format;

const soft_format *soft_format_of(vyre_type type);

// The value of a finite number that is not zero is
// significand * 2^(exponent - bias - (digits - 1)), with `digits` digits, also of subnormal ones.
typedef struct soft {
  ref bits, sign; // words; of the sign only its bit
  ref exponent;   // i32
  ref significand;
  ref is_zero, is_infinite, is_nan; // where it is NaN, nothing else is known
} soft;

soft soft_take(lowering *l, const soft_format *f, ref x);

// The bits of the nearest float, ties to even, of the number whose first digit has the (biased)
// exponent, i32. `word` begins with that digit in its highest bit, and its lowest bit is set where
// anything was lost. Overflow gives infinity, underflow a subnormal or zero.
ref soft_round(lowering *l, const soft_format *f, ref sign, ref exponent, ref word);

ref soft_float(lowering *l, const soft_format *f, ref is_nan, ref bits);

ref soft_word(lowering *l, const soft_format *f, uint64_t bits); // a constant
ref soft_number(lowering *l, int32_t value);                     // i32
// `for` of that many iterations; lower_end ends it.
void soft_repeat(lowering *l, uint32_t count);

#endif
