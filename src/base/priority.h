// SPDX-License-Identifier: MIT
//
// Threads that give way to the others of the process. Threads that such a one starts do, too.
#ifndef VYRE_BASE_PRIORITY_H
#define VYRE_BASE_PRIORITY_H

#include <stdbool.h>

enum { PRIORITY_STEP = 5 }; // of niceness, which ends at 19

void priority_lower(void); // of this thread, for good
// Whether this thread gives way. What it does is not to be done by other threads for it: those
// would take the CPU from whoever it gives way to.
bool priority_is_lowered(void);

#endif
