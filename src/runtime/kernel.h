// SPDX-License-Identifier: MIT
//
// A kernel is a program that was loaded into a runtime, with one plan per size class. Dispatching
// reads two pointers and adds to counters; everything else happens when a plan is made or learned
// about. Any thread; it is freed when nobody uses it any more.
#ifndef VYRE_RUNTIME_KERNEL_H
#define VYRE_RUNTIME_KERNEL_H

#include "runtime/plan.h"
#include "runtime/special.h"

#include <pthread.h>

enum {
  SIZE_CLASSES = 65, // see profile/size_class.h
  DEFAULT_LEARN_AFTER = 16,
  SEEN_SLOTS = 256,
};

struct vyre_kernel {
  vyre_runtime *runtime;
  vyre_program *program;
  vyre_kernel *next_in_runtime;
  _Atomic(plan *) plans[SIZE_CLASSES];

  pthread_mutex_t lock; // of everything below
  variant *variants;
  predictor *predictor;                   // NULL: nothing to specialise
  uint64_t special_cost_ns, miss_cost_ns; // as last measured
  uint32_t special_count, key_count;
  uint32_t speculated, speculated_used;
  speculate_decision last_decision;
  special_outcome outcomes[PREDICT_KIND_COUNT];
  uint64_t changes, last_hash;  // how often the arguments changed
  uint64_t changed_ns;          // when they last did
  uint64_t stalls;              // how often there was no variant for them then
  uint64_t seen[SEEN_SLOTS];    // hashes of arguments, to know those that come again
  uint64_t begun_ns, wasted_ns; // first dispatch; time spent on what nobody used
  uint32_t special_device;
  special *removed;
  _Atomic(special *) specials[SPECIAL_SLOTS]; // open addressing; read without the lock
  atomic_uint looking;                        // dispatches that may hold one
  atomic_uint pending;                        // background jobs that mention the kernel
  atomic_uint submitted;                      // dispatches that wait for their turn

  // Of the background alone.
  arena memory;
  opt_report earlier; // of the program's last compile, maybe in another process
  bool has_earlier;
};

// Whether there is something to dispatch at all.
vyre_status kernel_check_arguments(const vyre_kernel *k, const vyre_dispatch_args *args,
                                   vyre_error *error);

#endif
