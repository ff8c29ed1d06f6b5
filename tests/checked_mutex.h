// SPDX-License-Identifier: MIT
//
// Mutexes that are looked at: a test that includes this header ends when a thread unlocks one that
// it does not hold. The thread sanitizer does that itself, and more: under sanitizers nothing is
// looked at. For one file of a test.
#ifndef VYRE_TESTS_CHECKED_MUTEX_H
#define VYRE_TESTS_CHECKED_MUTEX_H

#include "sanitized.h"

#include <pthread.h>

#if !SANITIZED && defined(__GLIBC__)
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// A mutex of glibc knows its owner, of whatever kind it is.
#pragma GCC visibility push(default)
int pthread_mutex_unlock(pthread_mutex_t *m) {
  static int (*_Atomic unlock)(pthread_mutex_t *);
  if (!unlock)
    unlock = (int (*)(pthread_mutex_t *))(size_t)dlsym(RTLD_NEXT, "pthread_mutex_unlock");
  if (m->__data.__owner != gettid()) {
    fputs("a mutex is unlocked by a thread that does not hold it\n", stderr);
    abort();
  }
  return unlock(m);
}
#pragma GCC visibility pop
#endif

#endif
