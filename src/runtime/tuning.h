// SPDX-License-Identifier: MIT
//
// The search of a plan over what its program declares to be tunable (docs/TUNING.md): a few
// configurations at a time are compiled, compared with the first code's answer and timed beside the
// variant that ran when the search began. What was measured goes to the store, where the next
// process finds it. Contenders become variants, and are adopted as any other: that is learn.c's. A
// plan owns its search. In the background, one thread at a time; the summary is read under the
// kernel's lock.
#ifndef VYRE_RUNTIME_TUNING_H
#define VYRE_RUNTIME_TUNING_H

#include "runtime/capture.h"
#include "runtime/plan.h"

typedef struct tuning tuning;

void tuning_free(tuning *t);

// Whether the program declares something; and whether the search of the plan has more to do.
bool tuning_has_space(const vyre_kernel *k);
bool tuning_is_over(const vyre_kernel *k, const plan *p);
// Whether going on is worth its cost, when the plan has been used for `total_ns`, a dispatch takes
// `usual_ns` and learning may take one part in `share`. With the kernel's lock.
bool tuning_is_worth(const vyre_kernel *k, const plan *p, double usual_ns, double total_ns,
                     uint32_t share);

typedef struct tuning_request {
  capture *inputs;
  const capture_output *expected;
  uint64_t budget_ns; // of CPU time; UINT64_MAX: until the search is over
} tuning_request;

// Evaluates configurations until the budget is spent, and one at least.
void tuning_run(vyre_kernel *k, plan *p, const tuning_request *r);
// The next that may be faster than the current variant: its code, an attempt (code.h). NULL: there
// is none. At the end of a search come those, too, that lie close behind.
code *tuning_contender(vyre_kernel *k, plan *p);
// It won, and runs now: what was decided goes to the tuner's file. `detail` says it in words.
void tuning_adopted(vyre_kernel *k, plan *p, const variant *v, char *detail, size_t size);

// For people: how far it is and what it found; "" when there is no search. With the kernel's lock.
const char *tuning_story(const plan *p);

#endif
