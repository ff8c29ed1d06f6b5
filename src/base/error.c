// SPDX-License-Identifier: MIT
#include "base/error.h"

#include "base/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const status_names[VYRE_STATUS_COUNT] = {
    [VYRE_OK] = "ok",
    [VYRE_ERROR_ARGUMENT] = "argument",
    [VYRE_ERROR_SYNTAX] = "syntax",
    [VYRE_ERROR_VERIFY] = "verify",
    [VYRE_ERROR_WIRE] = "wire",
    [VYRE_ERROR_LIMIT] = "limit",
    [VYRE_ERROR_BINDING] = "binding",
    [VYRE_ERROR_UNSUPPORTED] = "unsupported",
    [VYRE_ERROR_BACKEND] = "backend",
    [VYRE_ERROR_DIVERGENCE] = "divergence",
    [VYRE_ERROR_TIMEOUT] = "timeout",
    [VYRE_ERROR_FUEL] = "fuel",
    [VYRE_ERROR_MEMORY] = "memory",
    [VYRE_ERROR_IO] = "io",
    [VYRE_ERROR_STOPPED] = "stopped",
};

const char *vyre_status_name(vyre_status status) {
  return (unsigned)status < VYRE_STATUS_COUNT ? status_names[status] : "unknown";
}

vyre_status error_setv(vyre_error *error, vyre_status status, const char *format, va_list args) {
  if (!error) return status;
  error->status = status;
  error->line = error->column = 0;
  error->code[0] = error->file[0] = error->excerpt[0] = 0;
  format_textv(error->message, sizeof error->message, format, args);
  return status;
}

vyre_status error_set(vyre_error *error, vyre_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  error_setv(error, status, format, args);
  va_end(args);
  return status;
}

vyre_status error_out_of_memory(vyre_error *error) {
  return error_set(error, VYRE_ERROR_MEMORY,
                   "out of memory. Fix: use a smaller program or smaller buffers, or free memory");
}

void error_code(vyre_error *error, const char *code) {
  if (error) snprintf(error->code, sizeof error->code, "%s", code);
}

void error_place(vyre_error *error, const char *file, const char *text, size_t size,
                 size_t offset) {
  if (!error) return;
  snprintf(error->file, sizeof error->file, "%s", file ? file : "<text>");
  if (offset > size) offset = size;
  size_t begin = offset;
  while (begin > 0 && text[begin - 1] != '\n') begin--;
  size_t end = offset;
  while (end < size && text[end] != '\n') end++;
  if (end > offset && text[end - 1] == '\r') end--;
  error->line = 1;
  for (const char *p = text; (p = memchr(p, '\n', (size_t)(text + begin - p))); p++) error->line++;
  error->column = (uint32_t)(offset - begin + 1);

  // A long line is shown as a window around the caret. Bytes that a terminal would act on are
  // shown as '?', so that a hostile file cannot write to the user's screen.
  enum { WINDOW = 120 };
  size_t from = offset - begin > WINDOW - 20 ? offset - (WINDOW - 20) : begin;
  size_t length = end - from < WINDOW ? end - from : WINDOW;
  char *out = error->excerpt;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[from + i];
    *out++ = c == '\t' ? ' ' : c < 32 || c >= 127 ? '?' : (char)c;
  }
  *out++ = '\n';
  for (size_t i = from; i < offset; i++) *out++ = ' ';
  *out++ = '^';
  *out = 0;
}

_Noreturn void vyre_bug_(const char *module, const char *file, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "vyre: bug in %s (%s:%d): ", module, file, line);
  vfprintf(stderr, format, args);
  fputs("\nFix: report this with the program that caused it.\n", stderr);
  va_end(args);
  abort();
}
