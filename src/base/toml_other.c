// SPDX-License-Identifier: MIT
#include "base/toml_other.h"

#include "base/ascii.h"

#include <string.h>

// Each of these takes what it reads from the text; false when it is not there.
typedef struct cursor {
  const char *p, *end;
} cursor;

static bool take_any(cursor *c, const char *set) {
  if (c->p >= c->end || !*c->p || !strchr(set, *c->p)) return false;
  c->p++;
  return true;
}

static bool take_word(cursor *c, const char *word) {
  size_t size = strlen(word);
  if ((size_t)(c->end - c->p) < size || memcmp(c->p, word, size)) return false;
  c->p += size;
  return true;
}

// Digits of a set, single underscores between them.
static bool take_digits(cursor *c, const char *set) {
  if (!take_any(c, set)) return false;
  for (;;) {
    cursor before = *c;
    take_any(c, "_");
    if (take_any(c, set)) continue;
    *c = before;
    return true;
  }
}

static const char decimal[] = "0123456789";

// ---- numbers ------------------------------------------------------------------------------------

static bool take_other_base(cursor *c) {
  if (take_word(c, "0x")) return take_digits(c, "0123456789abcdefABCDEF");
  if (take_word(c, "0o")) return take_digits(c, "01234567");
  return take_word(c, "0b") && take_digits(c, "01");
}

static bool take_float(cursor *c) {
  take_any(c, "+-");
  if (take_word(c, "inf") || take_word(c, "nan")) return true;
  if (!take_any(c, "0") && !take_digits(c, decimal)) return false;
  bool has_fraction = take_any(c, ".");
  if (has_fraction && !take_digits(c, decimal)) return false;
  if (!take_any(c, "eE")) return has_fraction;
  take_any(c, "+-");
  return take_digits(c, decimal);
}

// ---- dates --------------------------------------------------------------------------------------

// Exactly so many digits.
static bool take_count(cursor *c, int digits, int *out) {
  *out = 0;
  for (int i = 0; i < digits; i++, c->p++) {
    if (c->p >= c->end || !ascii_is_digit(*c->p)) return false;
    *out = *out * 10 + (*c->p - '0');
  }
  return true;
}

static bool take_hour_and_minute(cursor *c) {
  int hour, minute;
  return take_count(c, 2, &hour) && take_any(c, ":") && take_count(c, 2, &minute) && hour < 24 &&
         minute < 60;
}

static bool take_time(cursor *c) {
  int second;
  if (!take_hour_and_minute(c) || !take_any(c, ":") || !take_count(c, 2, &second) || second > 60)
    return false;
  if (!take_any(c, ".")) return true;
  if (!take_any(c, decimal)) return false;
  while (take_any(c, decimal)) {
  }
  return true;
}

static bool take_day(cursor *c) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int year, month, day;
  if (!take_count(c, 4, &year) || !take_any(c, "-") || !take_count(c, 2, &month) ||
      !take_any(c, "-") || !take_count(c, 2, &day) || month < 1 || month > 12 || day < 1)
    return false;
  bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= days[month - 1] + (month == 2 && is_leap);
}

static bool take_date(cursor *c) {
  if (!take_day(c)) return false;
  cursor day = *c;
  if (!take_any(c, "Tt ")) return true;
  if (day.p[0] == ' ' && (c->p >= c->end || !ascii_is_digit(*c->p))) { // a blank behind the value
    *c = day;
    return true;
  }
  if (!take_time(c)) return false;
  if (take_any(c, "Zz") || !take_any(c, "+-")) return true;
  return take_hour_and_minute(c);
}

size_t toml_other_length(const char *at, const char *end) {
  static bool (*const kinds[])(cursor *) = {take_date, take_time, take_other_base, take_float};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    cursor c = {at, end};
    if (kinds[i](&c)) return (size_t)(c.p - at);
  }
  return 0;
}
