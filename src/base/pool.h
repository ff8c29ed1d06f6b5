// SPDX-License-Identifier: MIT
//
// Persistent worker threads. The caller of pool_run works too, so a job of one item, or with one
// thread, runs in place: no lock, no system call, no allocation. Several threads may run jobs at
// the same time. The pool is process-wide: workers are started when a job first asks for them and
// sleep when there is nothing to do. A child of fork() has a pool without workers, which starts its
// own.
#ifndef VYRE_BASE_POOL_H
#define VYRE_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { POOL_MAX_THREADS = 64 };

// Items first <= i < end. Returns false to end the job early: items not yet taken are dropped.
typedef _Bool (*pool_work)(void *context, uint64_t first, uint64_t end);

// Runs all items of a job on up to `threads` threads, `batch` items at a time, and returns when all
// are done. The result is false when the work ended early.
_Bool pool_run(uint32_t threads, uint64_t count, uint64_t batch, pool_work work, void *context);

// Whether most workers look for a job at this moment, or are at one: the next job does not have to
// wake them. Of use to who asks whether threads are worth their wake-up; it may change meanwhile.
_Bool pool_is_awake(void);

// This thread's scratch memory of at least `bytes`, 64-byte aligned, with any content; kept for the
// next call. NULL when out of memory.
void *pool_scratch(size_t bytes);

uint32_t pool_cpu_count(void); // that this process may use

#endif
