// SPDX-License-Identifier: MIT
//
// Which bytes of a buffer each rank has in their newest version. Every byte is with at least one.
// Layouts are immutable and interned: two that say the same are the same object, so that plans are
// found by comparing pointers. Counted references; a table belongs to a cluster. One thread.
#ifndef VYRE_CLUSTER_LAYOUT_H
#define VYRE_CLUSTER_LAYOUT_H

#include "base/intervals.h"

typedef struct layout {
  intervals *has; // per rank
  uint32_t ranks, references;
  uint64_t size, hash; // bytes of the buffer
  struct layout *next;
  const struct layout_table *table; // that it is in
} layout;

enum { LAYOUT_SLOTS = 1024 };
typedef struct layout_table {
  layout *slots[LAYOUT_SLOTS];
} layout_table;

// The layout that has these sets, with one more reference; takes the sets, also when it fails. NULL
// when out of memory.
layout *layout_intern(layout_table *t, uint32_t ranks, uint64_t size, intervals *has);
layout *layout_everywhere(layout_table *t, uint32_t ranks, uint64_t size); // all have all
layout *layout_retain(layout *l);
void layout_release(layout_table *t, layout *l);

// Sets of all ranks, for the one who changes them; NULL when out of memory.
intervals *layout_copy(const layout *l);
void layout_sets_free(intervals *has, uint32_t ranks);

#endif
