// SPDX-License-Identifier: MIT
//
// Floats as decimal text: read correctly rounded, printed with the fewest digits that give the same
// bits back. Neither depends on the locale. Pure functions: any thread.
#ifndef VYRE_BASE_DECIMAL_H
#define VYRE_BASE_DECIMAL_H

#include "base/strbuf.h"

// As strtof and strtod: `end` may be NULL. An f32 is read as such: going through f64 would round
// twice.
float decimal_read_f32(const char *text, char **end);
double decimal_read_f64(const char *text, char **end);

// A finite value: 1.0, -0.25, 1e20, 1.5e-7. `is_f32` says that it came from an f32.
void decimal_print(strbuf *s, double value, bool is_f32);

#endif
