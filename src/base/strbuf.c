// SPDX-License-Identifier: MIT
#include "base/strbuf.h"

#include "base/format.h"
#include "base/vec.h"

#include <string.h>

char *strbuf_reserve(strbuf *s, size_t size) {
  // One byte more than asked for, so that the NUL always fits.
  if (s->failed) return NULL;
  if (s->capacity - s->size <= size &&
      !vec_grow_((void **)&s->at, &s->capacity, s->size, size + 1, 1)) {
    s->failed = true;
    return NULL;
  }
  return s->at + s->size;
}

void strbuf_add(strbuf *s, const char *text, size_t size) {
  char *to = strbuf_reserve(s, size);
  if (!to) return;
  memcpy(to, text, size);
  s->size += size;
}

void strbuf_puts(strbuf *s, const char *text) {
  strbuf_add(s, text, strlen(text));
}

void strbuf_putc(strbuf *s, char c) {
  char *to = strbuf_reserve(s, 1);
  if (!to) return;
  *to = c;
  s->size++;
}

void strbuf_vprintf(strbuf *s, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int need = format_textv(NULL, 0, format, again);
  va_end(again);
  char *to = need < 0 ? NULL : strbuf_reserve(s, (size_t)need);
  if (!to) return;
  format_textv(to, (size_t)need + 1, format, args);
  s->size += (size_t)need;
}

void strbuf_printf(strbuf *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  strbuf_vprintf(s, format, args);
  va_end(args);
}

char *strbuf_take(strbuf *s, size_t *size) {
  char *text = strbuf_reserve(s, 0);
  if (!text) {
    strbuf_fini(s);
    return NULL;
  }
  *text = 0;
  if (size) *size = s->size;
  char *taken = s->at;
  *s = (strbuf){0};
  return taken;
}

void strbuf_fini(strbuf *s) {
  free(s->at);
  *s = (strbuf){0};
}
