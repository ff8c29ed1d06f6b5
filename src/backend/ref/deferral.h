// SPDX-License-Identifier: MIT
//
// What an observer is told late, or never: a load or a division whose value is computed in case it
// is needed (one side of a select, the second part of an `and`) happens for whoever reads the
// source only when something depends on it. Such an operation's event waits with the values that
// are made from its own, until one of them is stored, decides a branch, or is an index. One thread.
#ifndef VYRE_BACKEND_REF_DEFERRAL_H
#define VYRE_BACKEND_REF_DEFERRAL_H

#include "backend/ref/ref.h"

enum { DEFERRAL_MOST = 64 }; // operations of a region whose events may wait; others do not

typedef void deferral_tell(void *context, const ref_event *event);

// Of a region.
typedef struct deferral {
  uint8_t *numbers; // per operation of the body: plus 1 among those that may wait; 0: it does not
  uint32_t count;
} deferral;

// False when out of memory. Without such operations, `count` is 0.
bool deferral_init(deferral *d, const vyre_program *p, const region *r);
void deferral_fini(deferral *d);

// Of an invocation.
typedef struct deferral_state {
  uint64_t *marks; // per operation of the body: a bit for each operation that its value is made of
  ref_event events[DEFERRAL_MOST];
  deferral_tell *tell[DEFERRAL_MOST]; // NULL: nothing waits
} deferral_state;

struct machine;
struct frame;
// Before operation `i` runs: passes on what waits with its operands, or tells it.
void deferral_before(const struct machine *m, struct frame *f, uint32_t i);
// Tells of what operation `i` does, now or later.
void deferral_event(const struct machine *m, struct frame *f, uint32_t i, deferral_tell *tell,
                    const ref_event *event);

#endif
