// SPDX-License-Identifier: MIT
//
// A growable text. Failure is sticky: after an allocation failed, appending does nothing and
// strbuf_take returns NULL, so that a printer checks once, at its end. The caller owns the buffer
// and frees it with strbuf_fini, or takes the text. One thread at a time.
#ifndef VYRE_BASE_STRBUF_H
#define VYRE_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct strbuf {
  char *at;
  size_t size, capacity;
  bool failed;
} strbuf;

void strbuf_add(strbuf *s, const char *text, size_t size);
void strbuf_puts(strbuf *s, const char *text);
void strbuf_putc(strbuf *s, char c);
void strbuf_printf(strbuf *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(strbuf *s, const char *format, va_list args);
// Makes room for `size` more bytes and returns where they go, or NULL; the caller then adds to
// s->size what it wrote.
char *strbuf_reserve(strbuf *s, size_t size);
// The NUL-terminated text, now the caller's to free; NULL when out of memory.
char *strbuf_take(strbuf *s, size_t *size);
void strbuf_fini(strbuf *s);

#endif
