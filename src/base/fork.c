// SPDX-License-Identifier: MIT
#include "base/fork.h"

#include "base/clock.h"
#include "base/error.h"

#include <pthread.h>
#include <time.h>

// Most compilations are over by then; and a fork that an exec follows does not care.
enum { PATIENCE_NS = 250000000 };

unsigned fork_generation_;

static pthread_rwlock_t busy = PTHREAD_RWLOCK_INITIALIZER;
static _Thread_local bool is_quiet; // between the handlers of one fork
static bool was_busy;               // when this process was forked

static struct {
  pthread_mutex_t *lock;
  void (*begin_anew)(void);
} guards[16];
static unsigned guard_count;

void fork_guard(pthread_mutex_t *lock, void (*begin_anew)(void)) {
  if (guard_count == sizeof guards / sizeof *guards)
    VYRE_BUG("base/fork", "more than %u guards", guard_count);
  guards[guard_count].lock = lock;
  guards[guard_count++].begin_anew = begin_anew;
}

// Compilers first: they may need the locks to come to an end.
static void before(void) {
  uint64_t end = clock_now_ns() + PATIENCE_NS;
  struct timespec until = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
  is_quiet = !pthread_rwlock_clockwrlock(&busy, CLOCK_MONOTONIC, &until);
  for (unsigned i = 0; i < guard_count; i++) pthread_mutex_lock(guards[i].lock);
}

static void in_parent(void) {
  for (unsigned i = 0; i < guard_count; i++) pthread_mutex_unlock(guards[i].lock);
  if (is_quiet) pthread_rwlock_unlock(&busy);
}

static void in_child(void) {
  static const pthread_rwlock_t fresh = PTHREAD_RWLOCK_INITIALIZER;
  fork_generation_++;
  if (is_quiet)
    pthread_rwlock_unlock(&busy);
  else
    was_busy = true;
  busy = fresh;
  // Unlocked also where the lock is made anew: whoever watches locks has seen them locked.
  for (unsigned i = 0; i < guard_count; i++) {
    pthread_mutex_unlock(guards[i].lock);
    if (guards[i].begin_anew) guards[i].begin_anew();
  }
}

__attribute__((constructor)) static void watch_forks(void) {
  (void)pthread_atfork(before, in_parent, in_child);
}

vyre_status fork_check(unsigned generation, const char *what, vyre_error *error) {
  if (generation == fork_generation_) return VYRE_OK;
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   "%s was made before this process was forked, and its threads are not in this "
                   "one. Fix: make a new one after the fork",
                   what);
}

vyre_status fork_hold(vyre_error *error) {
  if (was_busy)
    return error_set(error, VYRE_ERROR_BACKEND,
                     "this process was forked while another thread compiled, and cannot compile. "
                     "Fix: fork when nothing compiles, or before the first program is compiled");
  pthread_rwlock_rdlock(&busy);
  return VYRE_OK;
}

void fork_let_go(void) {
  pthread_rwlock_unlock(&busy);
}
