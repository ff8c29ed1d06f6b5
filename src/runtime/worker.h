// SPDX-License-Identifier: MIT
//
// One thread with a queue. Jobs run one after the other, in the order in which they were given;
// what has begun is finished, what has not is given up when the worker is freed. A long job asks
// worker_is_ending now and then, and ends early. Beside the jobs
// there is a tick, which runs a while after somebody poked: so those who have something to be
// collected say it for the price of a load, and nobody wakes up when there is nothing. Any thread.
#ifndef VYRE_RUNTIME_WORKER_H
#define VYRE_RUNTIME_WORKER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct worker worker;

// Runs the job; `given_up` means: only free what belongs to it.
typedef void (*worker_job)(void *context, bool given_up);

typedef struct worker_options {
  bool in_background; // gives way to the process's other threads, as base/priority.h says
  uint64_t tick_ns;   // from a poke to its tick
  void (*tick)(void *context);
  void *context;
} worker_options;

// NULL when no thread can be started.
worker *worker_new(const worker_options *options);
void worker_free(worker *w);
bool worker_add(worker *w, worker_job job, void *context); // false: out of memory
bool worker_is_ending(const worker *w);                    // it is being freed
void worker_wait_idle(worker *w);
// Asks for a tick. Poking again before it has begun does nothing.
void worker_poke(worker *w);
bool worker_is_poked(const worker *w);
uint64_t worker_cpu_ns(const worker *w); // that its thread has used

#endif
