// SPDX-License-Identifier: MIT
#include "base/size_limit.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

static sigset_t only_this(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

size_limit size_limit_hold(void) {
  size_limit held;
  sigset_t pending, only = only_this();
  sigemptyset(&pending);
  (void)sigpending(&pending);
  held.was_pending = sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &only, &held.before);
  return held;
}

// The signal of a write that failed meanwhile is taken away; one from before stays.
void size_limit_release(const size_limit *held) {
  sigset_t only = only_this();
  struct timespec at_once = {0};
  if (!held->was_pending) (void)sigtimedwait(&only, NULL, &at_once);
  pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}
