// SPDX-License-Identifier: MIT
//
// The layout of a text in the text form: indentation and blanks, nothing else. What a person wrote
// stays, comments, line breaks and short ways to write included. What vyre_program_print gives is
// laid out already. Pure function: any thread.
#ifndef VYRE_IR_TEXT_FORMAT_H
#define VYRE_IR_TEXT_FORMAT_H

#include "base/strbuf.h"

// Appends the text, laid out; a text that is wrong is laid out as far as it can be told.
void text_format(const char *text, size_t size, strbuf *out);

#endif
