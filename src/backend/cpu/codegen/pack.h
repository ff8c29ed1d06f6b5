// SPDX-License-Identifier: MIT
//
// Copies of what all rows of a box load; pack.c says why. Private to the code generator.
#ifndef VYRE_BACKEND_CPU_CODEGEN_PACK_H
#define VYRE_BACKEND_CPU_CODEGEN_PACK_H

#include "backend/cpu/codegen/guard.h"

enum { MOST_PACKED = 2 };

typedef struct packing {
  uint32_t loop; // the FOR that the loads are in
  uint32_t load[MOST_PACKED];
  uint64_t at[MOST_PACKED]; // where their copies are in the scratch memory
  unsigned count;           // 0: nothing is packed
  // Of the box that is being emitted.
  llval x0, from; // i64: the first column, and the counter's first value
  llval trips;    // i64: iterations
} packing;

// What can be packed of a body whose rows are jammed, in boxes of up to `vectors` vectors along x.
void pack_plan(kernel *k, const guards *g, const shapes *s, unsigned width, unsigned vectors,
               packing *out);
// Copies it for a box, where that pays: x and y from the first to behind the last. Returns an i1:
// whether it was done. `e` has no assumptions, `scalar` computes what is the same for the box.
typedef struct pack_box {
  llval x0, x1, y0, y1, z;
  unsigned vectors; // that there is room for
} pack_box;
llval pack_emit(packing *p, guards *g, emitter *e, emitter *scalar, const pack_box *box);
// What a load gives, from its copy. NULL: it is a load like any other.
llval packed_value(const emitter *e, uint32_t op);

#endif
