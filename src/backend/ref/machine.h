// SPDX-License-Identifier: MIT
//
// One invocation of a region, interpreted. A frame has a program counter and one 64-bit slot per
// operation of the body; running is a loop over one switch, until the invocation ends, reaches a
// barrier, or passes a limit. The caller owns all memory. One thread.
#ifndef VYRE_BACKEND_REF_MACHINE_H
#define VYRE_BACKEND_REF_MACHINE_H

#include "backend/ref/deferral.h"

typedef enum stop { RUNNING, AT_BARRIER, DONE, OUT_OF_TIME, OUT_OF_FUEL, BROKEN_PROMISE } stop;

typedef struct memory {
  unsigned char *data;
  uint64_t length; // elements
  vyre_type type;
} memory;

// What all invocations of a region share.
typedef struct machine {
  const vyre_program *p;
  const launch *l;
  const region *region;
  const launch_region *shape;
  memory *buffers;      // per buffer
  memory *shared;       // per shared array of the program; the region's are in use
  uint32_t *private_at; // per operation of the body: where an ARRAY's memory is in the frame
  uint64_t group[3];
  uint64_t operations, bytes, ticks;
  const ref_observer *observer; // may be NULL
  deferral deferral;            // of the region, when there is an observer
  uint64_t phase;
  uint32_t broken; // the operation whose precondition did not hold
} machine;

typedef struct frame {
  uint32_t pc;
  stop stop;
  uint64_t local[3], global[3];
  uint64_t *values; // per operation of the body
  uint64_t *trips;  // per FOR: iterations left
  unsigned char *private_memory;
  deferral_state *deferred; // NULL: no event waits
} frame;

uint64_t machine_value(const machine *m, const frame *f, ref r);

void machine_run(machine *m, frame *f);

#endif
