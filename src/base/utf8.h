// SPDX-License-Identifier: MIT
//
// UTF-8, as far as files need it. Pure functions: any thread.
#ifndef VYRE_BASE_UTF8_H
#define VYRE_BASE_UTF8_H

#include "base/strbuf.h"

#include <stdint.h>

// The bytes of the character at `p`, 1 to 4; 0 when they are no well-formed UTF-8 (overlong forms
// and surrogates are not). `size` is at least 1.
size_t utf8_length(const char *p, size_t size);
// Appends a Unicode scalar value.
void utf8_put(strbuf *out, uint32_t c);

#endif
