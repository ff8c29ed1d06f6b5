// SPDX-License-Identifier: MIT
//
// Time. Monotonic nanoseconds for durations, wall-clock seconds for dates in files. Any thread.
#ifndef VYRE_BASE_CLOCK_H
#define VYRE_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_now_ns(void);        // monotonic
uint64_t clock_thread_cpu_ns(void); // CPU time of this thread
int64_t clock_unix_seconds(void);

#endif
