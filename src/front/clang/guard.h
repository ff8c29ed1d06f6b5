// SPDX-License-Identifier: MIT
//
// clang recurses as deep as a source is nested and dies where the stack ends. So the frontend works
// on a thread with a large stack, and sources that would need an even larger one are refused before
// clang sees them.
#ifndef VYRE_FRONT_CLANG_GUARD_H
#define VYRE_FRONT_CLANG_GUARD_H

#include "front/clang/unit.h"

// Runs `work` on a thread of its own and waits for it.
vyre_status guard_run(vyre_status (*work)(void *data), void *data, vyre_error *error);
// Ends the reading when the preprocessed text is nested too deep for that stack.
void guard_nesting(unit *u);

#endif
