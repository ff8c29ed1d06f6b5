// SPDX-License-Identifier: MIT
//
// Other programs: whether one is on the PATH, running one quietly to its end, and how one ended. A
// process that ignores SIGCHLD, or waits for every child itself, cannot be told how one ended. Any
// thread.
#ifndef VYRE_BASE_PROCESS_H
#define VYRE_BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

bool process_exists(const char *name);
// False when it did not run, or its exit status is not 0; true also when nobody can tell. What it
// says is dropped. `argv` ends with NULL.
bool process_run(const char *const argv[]);

enum { PROCESS_KILLED = -1, PROCESS_UNSEEN = -2 };
// Waits for its end: its exit status, PROCESS_KILLED by a signal, PROCESS_UNSEEN when nobody can
// tell.
int process_wait(pid_t child);

#endif
