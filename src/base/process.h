// SPDX-License-Identifier: MIT
//
// Other programs: whether one is on the PATH, and running one quietly to its end. Any thread.
#ifndef VYRE_BASE_PROCESS_H
#define VYRE_BASE_PROCESS_H

#include <stdbool.h>

bool process_exists(const char *name);
// True when it ran and its exit status is 0. What it says is dropped. `argv` ends with NULL.
bool process_run(const char *const argv[]);

#endif
