// SPDX-License-Identifier: MIT
//
// Errors are values. A fallible function returns a vyre_status and fills the caller's vyre_error
// (which may be NULL) through these calls; each message says what is wrong and ends with a sentence
// that starts with "Fix:". Thread rule: none needed, the error belongs to its caller.
#ifndef VYRE_BASE_ERROR_H
#define VYRE_BASE_ERROR_H

#include <vyre/vyre.h>

#include <stdarg.h>

// Clears the error, fills it and returns `status`, so that `return error_set(...)` reads well.
vyre_status error_set(vyre_error *error, vyre_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
vyre_status error_setv(vyre_error *error, vyre_status status, const char *format, va_list args);

vyre_status error_out_of_memory(vyre_error *error);

// Adds the stable code, or the place in a text, to an error that was just set.
void error_code(vyre_error *error, const char *code);
// `text` is the whole source; the excerpt is cut from the line that holds `offset`.
void error_place(vyre_error *error, const char *file, const char *text, size_t size, size_t offset);

// A bug in vyre itself, in release builds too: names the module and aborts.
#define VYRE_BUG(module, ...) vyre_bug_(module, __FILE__, __LINE__, __VA_ARGS__)
_Noreturn void vyre_bug_(const char *module, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
