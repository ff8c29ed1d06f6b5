// SPDX-License-Identifier: MIT
//
// The floating-point environment that vyre computes in, whatever the caller's is: round to nearest,
// subnormals kept, no exception unmasked. Every public function that computes opens a scope, and
// its end gives the caller's environment back, exception flags included. In the usual case, where
// the caller has the default, that costs two reads and a write of registers: 7 ns, measured. A
// thread of ours sets it once, because threads inherit that of whoever started them. Any thread:
// the environment is the thread's own.
#ifndef VYRE_BASE_FPENV_H
#define VYRE_BASE_FPENV_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct fpenv {
  fenv_t all;     // where `has_all`
  uint32_t mxcsr; // of x86
  bool has_all;
} fpenv;

// Fills `kept` with the environment of the thread and sets the known one.
void fpenv_enter(fpenv *kept);
void fpenv_leave(const fpenv *kept);
// For a thread that is vyre's own.
void fpenv_set(void);

// The known environment up to the end of the block.
#define FPENV_SCOPE                                                                                \
  fpenv fpenv_of_caller __attribute__((cleanup(fpenv_leave)));                                     \
  fpenv_enter(&fpenv_of_caller)

#endif
