// SPDX-License-Identifier: MIT
//
// A program from its text, for tests whose text is right: a mistake in it fails the test and is
// shown with its place.
#ifndef VYRE_TESTS_PARSED_PROGRAM_H
#define VYRE_TESTS_PARSED_PROGRAM_H

#include "vyre/vyre.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static inline vyre_program *parse(const char *text) {
  vyre_program *p = NULL;
  vyre_error e = {0};
  if (vyre_program_parse(text, strlen(text), "test", &p, &e) != VYRE_OK)
    fail_msg("%u:%u: %s %s\n%s\n%s", e.line, e.column, e.code, e.message, e.excerpt, text);
  return p;
}

#endif
