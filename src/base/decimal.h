// SPDX-License-Identifier: MIT
//
// Floats as decimal text: read correctly rounded, printed with the fewest digits that give the same
// bits back. Neither depends on the locale. Pure functions: any thread.
#ifndef VYRE_BASE_DECIMAL_H
#define VYRE_BASE_DECIMAL_H

#include "base/strbuf.h"

#include <stdint.h>

// As strtof and strtod: `end` may be NULL. Each is rounded once: an f32 is not read by way of f64.
uint16_t decimal_read_f16(const char *text, char **end); // its bits
float decimal_read_f32(const char *text, char **end);
double decimal_read_f64(const char *text, char **end);

// A finite value: 1.0, -0.25, 1e20, 1.5e-7, of a float of 16, 32 or 64 bits.
void decimal_print(strbuf *s, double value, unsigned width);

#endif
