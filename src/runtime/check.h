// SPDX-License-Identifier: MIT
//
// Answers that are compared again after their code was adopted: a code that is right on the inputs
// it was proven on may be wrong on others. Every answer of a code is compared at first, and a
// falling share of them later. As long as it is cheap, or costs the caller no more than the code
// before took, the dispatch itself lets the first code compute the same, and gives that answer when
// the two differ; otherwise it leaves copies, and the background compares them. A code that differs
// is condemned. What all this may cost is bounded. Any thread.
#ifndef VYRE_RUNTIME_CHECK_H
#define VYRE_RUNTIME_CHECK_H

#include "runtime/plan.h"

enum { CHECK_ALL_UP_TO = 320 };               // answers of a code; later fewer and fewer
#define CHECK_AT_ONCE_NS UINT64_C(1000000000) // that dispatches spend on those of one code, at most

typedef struct check check;

static inline bool check_is_due(const variant *v) {
  variant *w = (variant *)v;
  return atomic_load_explicit(&w->count, memory_order_relaxed) >=
         atomic_load_explicit(&w->next_check, memory_order_relaxed);
}

// Before the dispatch: NULL when it is not compared after all.
check *check_begin(vyre_kernel *k, const plan *p, variant *v, const vyre_dispatch_args *args);
// After it; `has_answer` when the variant gave one.
void check_end(check *c, const vyre_dispatch_args *args, bool has_answer);
// Whether it disturbs the time of its own dispatch: caches are full of other things then.
bool check_is_disturbing(const check *c);

#endif
