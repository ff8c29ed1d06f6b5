// SPDX-License-Identifier: MIT
//
// Work that nothing can interrupt, such as a compiler's, under a time limit: it is done by a thread
// of its own, and a caller whose limit passes goes on without it. Work that was given up owns what
// it uses and frees it when it ends. One such work at a time goes on to its end, for what it leaves
// in caches; the others, and all at the end of the process, are asked to end soon. That end waits
// for them, because a compiler must not run while its library is torn down. Any thread.
#ifndef VYRE_BASE_LIMITED_H
#define VYRE_BASE_LIMITED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct limited_work {
  void (*run)(void *job, const volatile uint32_t *stop); // *stop is not 0: end soon
  void (*discard)(void *job);                            // frees a job that was given up
} limited_work;

typedef enum limited_end {
  LIMITED_DONE, // the job is the caller's again
  LIMITED_LATE, // given up: the job is not the caller's any more
  LIMITED_NONE, // no thread could be started, nothing was done
} limited_end;

// Runs a job until it is done or `deadline_ns` (of clock_now_ns) has passed.
limited_end limited_run(const limited_work *work, void *job, uint64_t deadline_ns);

// Says that a library was loaded which such work uses. What ends a process is done in the reverse
// order: only what is registered after a library was loaded comes before it is torn down.
void limited_guard_exit(void);

#endif
