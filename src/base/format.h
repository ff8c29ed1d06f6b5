// SPDX-License-Identifier: MIT
//
// Text that is the same whatever the locale of the process or of the thread: formatting, and the
// system's words for an error number, as the C locale has them. What prints a fraction or reads one
// goes through here or through decimal.h. Any thread.
#ifndef VYRE_BASE_FORMAT_H
#define VYRE_BASE_FORMAT_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

// As snprintf and vsnprintf.
int format_text(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int format_textv(char *out, size_t size, const char *format, va_list args);

// As strerror, in English. Valid until the thread's next call.
const char *format_errno(int reason);

// The calling thread has the C locale between the two; format_leave takes what format_enter gave.
locale_t format_enter(void);
void format_leave(locale_t kept);

#endif
