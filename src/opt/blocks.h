// SPDX-License-Identifier: MIT
//
// The blocks that are open at a place of the walk over a region, and how much a pass knew when each
// began: what was learned inside a block is forgotten behind it. One pass, one thread.
#ifndef VYRE_OPT_BLOCKS_H
#define VYRE_OPT_BLOCKS_H

#include "ir/limits.h"

#include <stddef.h>
#include <stdint.h>

typedef struct open_block {
  uint32_t opening; // operation of the old program
  size_t mark;      // how much was known
} open_block;

typedef struct block_stack {
  open_block at[LIMIT_DEPTH];
  size_t depth;
} block_stack;

static inline void blocks_open(block_stack *s, uint32_t opening, size_t mark) {
  s->at[s->depth++] = (open_block){opening, mark};
}

static inline open_block blocks_innermost(const block_stack *s) {
  return s->at[s->depth - 1];
}

static inline void blocks_close(block_stack *s) {
  s->depth--;
}

#endif
