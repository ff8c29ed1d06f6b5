// SPDX-License-Identifier: MIT
//
// How tests steer the stand-in for libcuda.so.1 (standin.c): they open it by its path before the
// backend asks for it by its name, and find these by dlsym. Any thread.
#ifndef VYRE_TESTS_PTX_STANDIN_H
#define VYRE_TESTS_PTX_STANDIN_H

#include <stdint.h>

typedef struct standin_control {
  // The call after so many others fails with this code; negative: none does. A code that loses a
  // device loses the one that is current.
  void (*fail_after)(int calls, int code);
  // As before, of the calls of one function, by its symbol: those of the start and of the end, too,
  // which fail_after leaves alone. Before the first call of all, from one thread.
  void (*fail_named)(const char *function, int calls, int code);
  int (*is_named_over)(void); // it was called, and failed
  int (*calls)(void);         // that were made and could have failed, since the last fail_after
  int (*objects)(void);       // modules, links, streams, events and memory, made less ended
  // Kernels wait before they begin, as on a device that hangs, until they are let go.
  void (*stall)(int is_on);
  // What is copied from the device has a bit turned round.
  void (*corrupt)(int is_on);
  // Images are refused from now on until an assembler made them.
  void (*forget_images)(void);
  void (*revive)(void); // all devices are as new
  uint64_t (*launches)(void);
} standin_control;

#define STANDIN_SYMBOL "standin"

#endif
