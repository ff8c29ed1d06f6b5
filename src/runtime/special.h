// SPDX-License-Identifier: MIT
//
// Specialised variants of a kernel: the program with its parameters and lengths as constants, one
// per set of arguments, published when it was proven. One that is removed is freed when no dispatch
// can see it any more. Any thread.
#ifndef VYRE_RUNTIME_SPECIAL_H
#define VYRE_RUNTIME_SPECIAL_H

#include "policy/predict.h"
#include "policy/speculate.h"
#include "runtime/plan.h"

enum {
  SPECIAL_MAX = 64,    // of a kernel; the least recently used go first
  SPECIAL_SLOTS = 256, // places for them
};

typedef struct special {
  struct special *next; // of those that were removed
  uint64_t hash;
  uint64_t *key;   // parameters in canonical bits, then lengths
  uint64_t *given; // the arguments as they were passed: parameters, then sizes of spans
  variant variant; // its code is NULL when the general one is faster: nothing to compile again
  atomic_uint_fast64_t gain_ns;     // per dispatch, as the trial measured it; 0: none
  _Atomic(const variant *) against; // over this general variant: another has to be beaten anew
  bool was_predicted;
  bool is_judged; // its outcome is known
  predict_kind kind;
  uint64_t cost_ns, born, used; // the last two: when, counted in changes of the arguments
  uint64_t counted;             // of the variant's dispatches, those whose gain was added up
  atomic_bool was_used;
} special;

// What became of variants that were prepared ahead, since it was last gathered; saved_ns is the
// time of execution that was gained.
typedef struct special_outcome {
  uint64_t used, unused, compile_ns, saved_ns;
} special_outcome;

// The specialised variant for these arguments, or NULL. A miss, and what is likely to come next,
// are compiled in the background. The variant stays until special_leave.
variant *special_enter(vyre_kernel *k, plan *p, const vyre_dispatch_args *args);
void special_leave(vyre_kernel *k);
void special_free_all(vyre_kernel *k);
// Dispatches that ran the variants there are now; with the kernel's lock.
uint64_t special_runs(const vyre_kernel *k);
// Counts what was prepared and never used, before the kernel is freed.
void special_judge_all(vyre_kernel *k);

#endif
