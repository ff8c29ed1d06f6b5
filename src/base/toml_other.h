// SPDX-License-Identifier: MIT
//
// Values that TOML has and vyre's files do not: floats, dates and times, integers in other bases.
// They are told from mistakes, so that one of them costs its table and not the file. Private to the
// TOML parser. Pure functions: any thread.
#ifndef VYRE_BASE_TOML_OTHER_H
#define VYRE_BASE_TOML_OTHER_H

#include <stddef.h>

// The length of the value that begins at `at`; 0 when none of these does.
size_t toml_other_length(const char *at, const char *end);

#endif
