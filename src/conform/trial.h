// SPDX-License-Identifier: MIT
//
// A trial is a program with everything one dispatch needs: scalars, the first content of every
// bound buffer, a launch shape. Running it never changes it: a run works on copies between pages
// that cannot be touched (fence.h) and gives an outcome, and two outcomes can be compared. A trial
// owns its program reference and its memory; an outcome owns its buffers. One thread at a time for
// each object.
#ifndef VYRE_CONFORM_TRIAL_H
#define VYRE_CONFORM_TRIAL_H

#include "conform/fence.h"

typedef struct trial {
  vyre_program *program;
  vyre_scalar *params; // one per parameter
  vyre_span *buffers;  // one per bound buffer; data is never NULL
  uint32_t param_count, buffer_count;
  uint32_t workgroup[3]; // launch shape for elastic regions; zeros: as declared
  // From this byte on nobody has a reason to write this bound buffer, not even what is there; 0:
  // there is no such byte. The reference does not look at it.
  uint32_t frozen_buffer;
  int64_t frozen_byte;
} trial;

void trial_fini(trial *t);
// A copy with its own memory that shares the program; false when out of memory.
bool trial_copy(const trial *from, trial *to);
// Evaluates the lengths of all buffers, transient ones too, and, where `grids` is not NULL, the
// grids of all regions; false when there are none.
bool trial_extents(const trial *t, uint64_t *lengths, uint64_t (*grids)[3]);

typedef struct trial_limits {
  uint64_t fuel;       // for ref; 0: unlimited
  uint64_t timeout_ns; // for the others; 0: none
} trial_limits;

typedef struct outcome {
  vyre_status status; // of the compilation, or else of the dispatch
  vyre_error error;
  bool was_compiled;
  uint64_t operations;
  uint32_t buffer_count;
  vyre_span *buffers; // as the trial's; what the dispatch left there
  int32_t overrun;    // the buffer around which guard bytes were written; -1: none
} outcome;

// Compiles `program` (NULL: the trial's; another one must have the same interface) for a backend
// and dispatches it once. Failures of the backend are in the outcome; the result is false only
// when this call itself is out of memory. `options` may be NULL. End with outcome_fini.
bool trial_run(const trial *t, vyre_program *program, const char *backend,
               const vyre_compile_options *options, trial_limits limits, outcome *out);
// Dispatches an executable of the program, or of one with the same interface, with buffers that
// touch the fence on `side`. Results as above.
bool trial_dispatch(const trial *t, vyre_executable *executable, fence_side side,
                    trial_limits limits, outcome *out);
void outcome_fini(outcome *o);

#endif
