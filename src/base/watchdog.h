// SPDX-License-Identifier: MIT
//
// Sets a flag when a moment has passed, for work that polls the flag. One sleeping thread serves
// the whole process; it is started by the first watch, in a child of fork() by the first there. Any
// thread.
#ifndef VYRE_BASE_WATCHDOG_H
#define VYRE_BASE_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct watch { // in the caller's storage; linked while armed
  struct watch *next;
  uint64_t deadline_ns; // of clock_now_ns
  volatile uint32_t *flag;
} watch;

// Sets *flag to 1 at the deadline unless disarmed before. false when no thread can be started.
bool watchdog_arm(watch *w, uint64_t deadline_ns, volatile uint32_t *flag);
// After this call the flag is not touched any more.
void watchdog_disarm(watch *w);

#endif
