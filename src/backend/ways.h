// SPDX-License-Identifier: MIT
//
// What backends with a driver share: a program is compiled in up to two ways, plain, and with code
// that polls a stop flag, which is used only where a dispatch may be ended early and could run for
// long, because running code cannot be killed. What runs a dispatch (a runner: queue, arguments,
// device memory) rests afterwards until the next one of its way; two dispatches at once use two.
// The backend's state is counted: it belongs to the executable and to preparations under way. Any
// thread.
#ifndef VYRE_BACKEND_WAYS_H
#define VYRE_BACKEND_WAYS_H

#include "backend/warm.h"

#include <stdatomic.h>

enum { WAY_PLAIN, WAY_POLLED, WAY_COUNT };

// The first member of a backend's runner.
typedef struct ways_runner {
  struct ways_runner *next; // in the list of those at rest
} ways_runner;

// What a backend does with its state.
typedef struct ways_how {
  // Compiles one way. Called by one thread at a time, and once for a way when it succeeds.
  vyre_status (*build)(void *state, int way, const volatile uint32_t *stop, vyre_error *error);
  void (*unbuild)(void *state, int way);
  // A runner of a way that is built.
  vyre_status (*runner_new)(void *state, int way, ways_runner **out, vyre_error *error);
  void (*runner_free)(ways_runner *runner);
  warm_how warm;
} ways_how;

// The first member of a backend's state.
typedef struct ways {
  struct ways *next; // of those that are left to devices
  const ways_how *how;
  atomic_uint references;
  warm_set warm;            // launches that the driver has compiled for
  pthread_mutex_t building; // held by whoever builds
  pthread_mutex_t lock;     // guards what follows
  bool is_built[WAY_COUNT];
  ways_runner *at_rest[WAY_COUNT];
  ways_runner *stuck; // the device may still run these
} ways;

void ways_init(ways *w, const ways_how *how); // with one reference
void ways_hold(void *state);                  // as in warm_how
// Whether the state is to be freed: that was the last one, and nothing of it is left to a device.
bool ways_drop(ways *w);
// The runners at rest, and what was built.
void ways_clear(ways *w);
void ways_fini(ways *w);

// Builds it where that was not done. Nobody who needs another way waits for the driver's compiler.
vyre_status ways_build(ways *w, int way, const volatile uint32_t *stop, vyre_error *error);
// One at rest, or a new one; the way is built first.
vyre_status ways_take(ways *w, int way, const volatile uint32_t *stop, ways_runner **out,
                      vyre_error *error);
void ways_give(ways *w, int way, ways_runner *runner);
// A device that did not end what it was given may use the runner and the code for ever.
void ways_leave(ways *w, ways_runner *runner);

// Polling costs: only where somebody may end the dispatch and would wait for it otherwise, by a loop
// that is not short (`is_long`) or for the number of invocations.
int ways_choose(const launch *l, bool is_long);
// warm_launch for this state.
vyre_status ways_warm(ways *w, int way, uint64_t key, const launch *l, vyre_error *error);

#endif
