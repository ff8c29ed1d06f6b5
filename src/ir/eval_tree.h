// SPDX-License-Identifier: MIT
//
// The value of pure operations over leaves that the caller knows: ids of an invocation, a variable.
// Pure functions as far as the leaves are: any thread.
#ifndef VYRE_IR_EVAL_TREE_H
#define VYRE_IR_EVAL_TREE_H

#include "ir/program.h"

typedef struct eval_tree {
  const vyre_program *p;
  bool (*leaf)(void *context, ref r, uint64_t *out); // false: it is none that is known
  void *context;
  uint64_t budget; // in operations; counted down
} eval_tree;

// False when it depends on something else, or needs more operations than are left.
bool eval_tree_value(eval_tree *t, ref r, uint64_t *out);

#endif
