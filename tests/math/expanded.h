// SPDX-License-Identifier: MIT
//
// The expansions of the mathematical operations, translated to C by emit.c when the tests are
// built: what is tested is the expansion itself, at the speed of compiled code. Constant data, any
// thread.
#ifndef VYRE_TESTS_MATH_EXPANDED_H
#define VYRE_TESTS_MATH_EXPANDED_H

#include <vyre/vyre.h>

typedef struct expanded {
  const char *name; // "exp"
  vyre_op op;
  vyre_type type;
  unsigned arity;
  unsigned operation_count; // of the expansion
  // out[i] = f(x[i]) or f(x[i], y[i]), elements of `type`.
  void (*run)(size_t n, const void *x, const void *y, void *out);
} expanded;

extern const expanded expanded_functions[];
extern const size_t expanded_count;

const expanded *expanded_find(vyre_op op, vyre_type type);

#endif
