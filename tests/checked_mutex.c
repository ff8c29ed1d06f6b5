// SPDX-License-Identifier: MIT
//
// Mutexes that are looked at, in every unit test: a test ends when a thread unlocks one that it
// does not hold, waits with one that it does not hold, or locks one for ever that it holds already.
// The thread sanitizer does that itself, and more: under sanitizers nothing is looked at.
#include "sanitized.h"

#include <pthread.h>

#if !SANITIZED && defined(__GLIBC__)
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int (*real_lock)(pthread_mutex_t *);
static int (*real_unlock)(pthread_mutex_t *);
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

static _Thread_local pid_t self;
static pid_t parent; // the thread that made this process by fork(): what it held, its child does

static pid_t own_id(void) {
  if (!self) self = gettid();
  return self;
}

static void before_fork(void) {
  own_id();
}

static void in_child(void) {
  parent = self;
  self = gettid();
}

static void *find(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

// Libraries lock before any constructor runs, with one thread.
static void find_all(void) {
  real_lock = (int (*)(pthread_mutex_t *))(size_t)find("pthread_mutex_lock");
  real_wait = (int (*)(pthread_cond_t *, pthread_mutex_t *))(size_t)find("pthread_cond_wait");
  real_timedwait = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))(
      size_t)find("pthread_cond_timedwait");
  real_unlock = (int (*)(pthread_mutex_t *))(size_t)find("pthread_mutex_unlock");
}

__attribute__((constructor)) static void begin(void) {
  if (!real_unlock) find_all();
  pthread_atfork(before_fork, NULL, in_child);
}

// A mutex of glibc knows its owner, of whatever kind it is.
static bool is_mine(const pthread_mutex_t *m) {
  pid_t owner = m->__data.__owner;
  return owner == own_id() || (parent && owner == parent);
}

static void stop(const char *what) {
  fprintf(stderr, "a mutex is %s\n", what);
  abort();
}

#pragma GCC visibility push(default)
int pthread_mutex_lock(pthread_mutex_t *m) {
  if (!real_unlock) find_all();
  bool is_plain = (m->__data.__kind & 3) == PTHREAD_MUTEX_NORMAL;
  if (is_plain && m->__data.__owner == own_id()) stop("locked by the thread that holds it");
  return real_lock(m);
}

int pthread_mutex_unlock(pthread_mutex_t *m) {
  if (!real_unlock) find_all();
  if (!is_mine(m)) stop("unlocked by a thread that does not hold it");
  return real_unlock(m);
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
  if (!real_unlock) find_all();
  if (!is_mine(m)) stop("not held by the thread that waits with it");
  return real_wait(c, m);
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until) {
  if (!real_unlock) find_all();
  if (!is_mine(m)) stop("not held by the thread that waits with it");
  return real_timedwait(c, m, until);
}
#pragma GCC visibility pop
#else
typedef int nothing_is_checked;
#endif
