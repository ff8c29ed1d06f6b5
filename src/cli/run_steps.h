// SPDX-License-Identifier: MIT
//
// `vyre run --steps`: dispatches that go on from one another, with buffers that change places
// between them, and checkpoints. For any runtime, of one process or of ranks. One thread.
#ifndef VYRE_CLI_RUN_STEPS_H
#define VYRE_CLI_RUN_STEPS_H

#include "base/vec.h"
#include "cli/bind.h"

typedef struct run_swap { // two buffers, by name
  char *a, *b;
} run_swap;

typedef struct run_steps {
  uint64_t count; // 0: runs do not go on from one another
  vec(run_swap) swaps;
  const char *folder; // of checkpoints; NULL: there are none
  uint64_t every;     // steps between two of them; 0: at the end
  bool resumes;
  uint64_t first; // filled: the step that it went on from
} run_steps;

// Whether the swaps are of buffers that can change places.
vyre_status run_steps_check(const run_steps *s, bindings *b, vyre_error *error);
// Changes the places of handles, which are those of the buffers that are not transient.
void run_steps_swap(const run_steps *s, const bindings *b, vyre_buffer **handles);
// Sets `first`; of buffers that it holds, what they held is lost.
vyre_status run_steps_resume(run_steps *s, vyre_runtime *rt, const bindings *b,
                             vyre_buffer **handles, vyre_error *error);
// After so many steps.
vyre_status run_steps_save(const run_steps *s, vyre_runtime *rt, const bindings *b,
                           vyre_buffer **handles, uint64_t done, vyre_error *error);

#endif
