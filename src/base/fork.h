// SPDX-License-Identifier: MIT
//
// What fork() does to a library with threads. The child has one thread, the one that forked: pools,
// watchdogs and workers are gone, and a lock that another thread held stays locked for ever. So:
//
// - Objects that live by their threads keep the generation in which they were made, and refuse to
//   work in a later one. Comparing is one load.
// - Locks of process-wide parts are held while the process forks, so that what they guard is whole
//   in the child, and parts that live by threads begin anew there: fork_guard.
// - Code of others that takes locks of its own, such as a compiler, runs between fork_hold and
//   fork_let_go: fork() waits a moment for it to end. Where it does not, the child cannot use such
//   code, and is told so.
//
// Any thread.
#ifndef VYRE_BASE_FORK_H
#define VYRE_BASE_FORK_H

#include <vyre/vyre.h>

#include <pthread.h>

extern unsigned fork_generation_; // how many forks led to this process; changed in a child only

static inline unsigned fork_generation(void) {
  return fork_generation_;
}

// OK when `generation` is this process's; otherwise the error that says what to do. `what` was made
// before: "this runtime".
vyre_status fork_check(unsigned generation, const char *what, vyre_error *error);

// For constructors. `begin_anew` makes the part ready in a child, its lock too; NULL: the lock is
// only given free.
void fork_guard(pthread_mutex_t *lock, void (*begin_anew)(void));

// The error when the child cannot know in which state that code is. Without one, fork_let_go has to
// follow. May be nested.
vyre_status fork_hold(vyre_error *error);
void fork_let_go(void);

#endif
