// SPDX-License-Identifier: MIT
//
// What a part of the library has to tell that is no error to its caller, and whose caller has no
// ear for it: the cache was refused, an entry was damaged. A warning is kept, in one list for the
// process, until somebody who can show it takes it; the same text is kept once, so that nobody is
// told twice. Any thread.
#ifndef VYRE_BASE_WARNING_H
#define VYRE_BASE_WARNING_H

#include "base/note.h"

void warning_add(const vyre_error *warning);
// Tells those that nobody was told.
void warning_take(const note_sink *sink);

#endif
