// SPDX-License-Identifier: MIT
//
// Answers that are compared again after their code was adopted: a code that is right on the inputs
// it was proven on may be wrong on others. A dispatch whose turn it is leaves copies of its inputs
// and of its answer; in the background the first code computes the same, and when the two differ
// the code is condemned. The share of dispatches is all of them at first and falls with every check
// that is passed; what it may cost is bounded. Any thread.
#ifndef VYRE_RUNTIME_CHECK_H
#define VYRE_RUNTIME_CHECK_H

#include "runtime/variant.h"

typedef struct check check;

static inline bool check_is_due(const variant *v) {
  variant *w = (variant *)v;
  return atomic_load_explicit(&w->count, memory_order_relaxed) >=
         atomic_load_explicit(&w->next_check, memory_order_relaxed);
}

// Before the dispatch: NULL when it is not compared after all.
check *check_begin(vyre_kernel *k, variant *v, const vyre_dispatch_args *args);
// After it; `has_answer` when the variant gave one.
void check_end(check *c, const vyre_dispatch_args *args, bool has_answer);

#endif
