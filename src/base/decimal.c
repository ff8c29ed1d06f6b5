// SPDX-License-Identifier: MIT
#include "base/decimal.h"

#include "base/format.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- reading ------------------------------------------------------------------------------------

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

static bool gives_back(const char *text, double value, bool is_f32) {
  return is_f32 ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

// Writes |value| as d.ddde+XX with the fewest digits that give it back. A decimal of at most
// FLT_DIG or DBL_DIG digits survives the way to a normal float and back, so the shortest one is
// among the first candidates tried; only subnormals need the search from one digit on.
static void shortest(char *text, size_t size, double value, bool is_f32) {
  bool is_normal = value >= (is_f32 ? (double)FLT_MIN : DBL_MIN);
  int digits = !is_normal ? 1 : is_f32 ? FLT_DIG : DBL_DIG;
  locale_t kept = format_enter();
  do snprintf(text, size, "%.*e", digits - 1, value);
  while (digits++ < DBL_DECIMAL_DIG && !gives_back(text, value, is_f32));
  format_leave(kept);
}

void decimal_print(strbuf *s, double value, bool is_f32) {
  char text[40], digits[32];
  if (signbit(value)) strbuf_putc(s, '-');
  shortest(text, sizeof text, fabs(value), is_f32);
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
