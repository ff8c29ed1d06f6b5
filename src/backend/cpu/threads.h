// SPDX-License-Identifier: MIT
//
// How many threads are worth their wake-up, learned per region: for each bucket of dispatches (by
// invocations and by what the integer parameters are of the order of, because loops depend on them)
// the time that an invocation took alone, and with all threads. The latter is kept twice: where the
// threads were awake, as in a burst of dispatches, and where they had to be woken, as after a
// pause. One says nothing about the other, and who calls now and then is not judged by who calls in
// a row. A plain value that its holder owns, zeros to begin with. Any thread; a race costs a
// sample.
#ifndef VYRE_BACKEND_CPU_THREADS_H
#define VYRE_BACKEND_CPU_THREADS_H

#include "backend/launch.h"

#include <stdatomic.h>

enum { THREADS_BUCKETS = 16 };

typedef struct threads_cost {
  atomic_uint_fast64_t bucket; // 0: not used yet
  // Picoseconds per invocation with one thread, and with all; 0: not known yet.
  atomic_uint_fast64_t alone, together[2];           // the second: threads that were awake
  atomic_uint_fast64_t best_alone, best_together[2]; // ever seen
  atomic_uint runs[2], alone_runs;
} threads_cost;

typedef struct threads_state {
  threads_cost costs[THREADS_BUCKETS];
  bool has_atomics; // on buffers: threads may be slower than one
  // What a dispatch took in an earlier process, on as many threads as were best; 0: not known.
  atomic_uint_fast64_t expected_ns;
} threads_state;

// The bucket of a region's dispatch.
threads_cost *threads_find(threads_state *s, const launch *l, uint64_t invocations);
// One, or all; whether these are awake now.
uint32_t threads_choose(const threads_state *s, threads_cost *c, uint32_t all, uint64_t invocations,
                        bool is_awake);
// What all of it takes one thread; 0: not known yet.
uint64_t threads_work_ns(const threads_cost *c, uint32_t all, uint64_t invocations);
// How long it took with as many, which were awake or not when they were chosen.
void threads_learn(threads_cost *c, uint64_t time_ns, uint32_t threads, uint64_t invocations,
                   bool is_awake);

#endif
