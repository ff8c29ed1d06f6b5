// SPDX-License-Identifier: MIT
//
// One background thread with a queue. Jobs run one after the other, in the order in which they were
// given; what has begun is finished, what has not is given up when the worker is freed. Any thread.
#ifndef VYRE_RUNTIME_WORKER_H
#define VYRE_RUNTIME_WORKER_H

#include <stdbool.h>

typedef struct worker worker;

// Runs the job; `given_up` means: only free what belongs to it.
typedef void (*worker_job)(void *context, bool given_up);

worker *worker_new(void); // NULL when no thread can be started
void worker_free(worker *w);
bool worker_add(worker *w, worker_job job, void *context); // false: out of memory
void worker_wait_idle(worker *w);

#endif
