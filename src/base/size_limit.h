// SPDX-License-Identifier: MIT
//
// A process may have a limit on the size of its files (RLIMIT_FSIZE). Who writes past it gets a
// signal first, SIGXFSZ, which ends the process unless somebody takes care of it. What a library
// writes beside its work must not do that to its host: between hold and release the calling thread
// gets the error alone, EFBIG. Holding may be nested. Any thread.
#ifndef VYRE_BASE_SIZE_LIMIT_H
#define VYRE_BASE_SIZE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

typedef struct size_limit {
  sigset_t before; // the thread's mask
  bool was_pending;
} size_limit;

size_limit size_limit_hold(void);
void size_limit_release(const size_limit *held);

#endif
