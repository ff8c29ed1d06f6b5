// SPDX-License-Identifier: MIT
#include "base/decimal.h"

#include "base/format.h"
#include "base/half.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- reading ------------------------------------------------------------------------------------

// A number between two f64 is taken for the one of them whose last bit is set: that is on the right
// side of whatever decides between two f16 (rounding to odd).
static double read_to_odd(const char *text, char **end) {
  int kept = fegetround();
  fesetround(FE_DOWNWARD);
  double below = strtod(text, end);
  fesetround(FE_UPWARD);
  double above = strtod(text, NULL);
  fesetround(kept);
  uint64_t bits;
  memcpy(&bits, &below, sizeof bits);
  return bits & 1 ? below : above;
}

uint16_t decimal_read_f16(const char *text, char **end) {
  locale_t kept = format_enter();
  double value = read_to_odd(text, end);
  format_leave(kept);
  return half_round(value);
}

float decimal_read_f32(const char *text, char **end) {
  locale_t kept = format_enter();
  float value = strtof(text, end);
  format_leave(kept);
  return value;
}

double decimal_read_f64(const char *text, char **end) {
  locale_t kept = format_enter();
  double value = strtod(text, end);
  format_leave(kept);
  return value;
}

// ---- printing -----------------------------------------------------------------------------------

static bool gives_back(const char *text, double value, unsigned width) {
  // Not rounded to odd: a half is far enough from what decides, with the digits that it is printed.
  if (width == 16) return half_read(half_round(strtod(text, NULL))) == value;
  return width == 32 ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

// Writes |value| as d.ddde+XX with the fewest digits that give it back. A decimal of at most
// FLT_DIG or DBL_DIG digits survives the way to a normal float and back, so the shortest one is
// among the first candidates tried; only subnormals need the search from one digit on.
static void shortest(char *text, size_t size, double value, unsigned width) {
  bool is_normal = value >= (width == 32 ? (double)FLT_MIN : DBL_MIN);
  int digits = !is_normal || width == 16 ? 1 : width == 32 ? FLT_DIG : DBL_DIG;
  locale_t kept = format_enter();
  do snprintf(text, size, "%.*e", digits - 1, value);
  while (digits++ < DBL_DECIMAL_DIG && !gives_back(text, value, width));
  format_leave(kept);
}

void decimal_print(strbuf *s, double value, unsigned width) {
  char text[40], digits[32];
  if (signbit(value)) strbuf_putc(s, '-');
  shortest(text, sizeof text, fabs(value), width);
  int count = 0;
  const char *p = text;
  for (; *p != 'e'; p++)
    if (*p != '.') digits[count++] = *p;
  long exponent = strtol(p + 1, NULL, 10); // of the first digit
  while (count > 1 && digits[count - 1] == '0') count--;
  if (exponent >= -5 && exponent < 16) {
    for (long place = exponent < 0 ? 0 : exponent; place >= 0 || exponent - place < count;
         place--) {
      if (place == -1) strbuf_putc(s, '.');
      long i = exponent - place;
      strbuf_putc(s, i < 0 || i >= count ? '0' : digits[i]);
    }
    if (count <= exponent + 1) strbuf_puts(s, ".0");
    return;
  }
  strbuf_putc(s, digits[0]);
  if (count > 1) strbuf_putc(s, '.');
  strbuf_add(s, digits + 1, (size_t)count - 1);
  strbuf_printf(s, "e%ld", exponent);
}
