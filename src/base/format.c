// SPDX-License-Identifier: MIT
#include "base/format.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static locale_t c_locale;

static void make_c_locale(void) {
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t format_enter(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_c_locale);
  // Where there was no memory for it (glibc needs none), the thread keeps what it has.
  return uselocale(c_locale);
}

void format_leave(locale_t kept) {
  uselocale(kept);
}

int format_textv(char *out, size_t size, const char *format, va_list args) {
  locale_t kept = format_enter();
  int length = vsnprintf(out, size, format, args);
  format_leave(kept);
  return length;
}

int format_text(char *out, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = format_textv(out, size, format, args);
  va_end(args);
  return length;
}

const char *format_errno(int reason) {
  locale_t kept = format_enter();
  const char *text = strerror(reason);
  format_leave(kept);
  return text;
}
