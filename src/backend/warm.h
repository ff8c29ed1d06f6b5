// SPDX-License-Identifier: MIT
//
// Launches that a driver has compiled for. Drivers compile when they first see a launch; under a
// time limit that is waited for apart, so that a compiler that is slow is told from a kernel that
// is. What comes late is finished for the next dispatch, which waits for it instead of asking for
// the same again: otherwise limits that are shorter than the compile would never let a launch run.
// Any thread.
#ifndef VYRE_BACKEND_WARM_H
#define VYRE_BACKEND_WARM_H

#include "backend/launch.h"
#include "base/vec.h"

#include <pthread.h>

typedef struct warm_set {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  vec(uint64_t) keys, under_way;
} warm_set;

// What a backend does with its state; the set is part of it.
typedef struct warm_how {
  // Has everything compiled for a launch of these regions. *stop is for what it calls: it stays 0.
  vyre_status (*run)(void *state, int way, const launch_region *regions,
                     const volatile uint32_t *stop, vyre_error *error);
  void (*hold)(void *state); // one more user of it, who calls `release` in the end
  void (*release)(void *state);
} warm_how;

void warm_init(warm_set *s);
void warm_fini(warm_set *s);

// `key` stands for what drivers compile for, `way` included. Without a time limit nothing is done.
vyre_status warm_launch(warm_set *s, const warm_how *how, void *state, int way, uint64_t key,
                        const launch *l, vyre_error *error);
// A key from another and a number.
uint64_t warm_key(uint64_t key, uint64_t number);

#endif
