// SPDX-License-Identifier: MIT
//
// Memory that nobody leaves unseen: a copy of some bytes whose first or last one touches a page
// that cannot be accessed, so that a stray access on that side stops the process; what is left of
// the pages on the other side has guard bytes. The fences that exist are known, so that a signal
// handler can tell whose fence was hit. Any thread; fence_find also in signal handlers.
#ifndef VYRE_CONFORM_FENCE_H
#define VYRE_CONFORM_FENCE_H

#include <vyre/vyre.h>

typedef enum fence_side { FENCE_END, FENCE_START, FENCE_SIDES } fence_side;

enum { FENCE_WRITABLE = -1 };

// Copies `from` between fences, touching the one on `side`; its address has the alignment of its
// size at FENCE_END, of a page at FENCE_START. Pages that have nothing before the byte `frozen` are
// frozen, unless it is FENCE_WRITABLE. False when out of memory.
bool fence_copy(const vyre_span *from, fence_side side, int64_t frozen, uint32_t number,
                vyre_span *out);
void fence_free(const vyre_span *span); // data may be NULL
// Whether the guard bytes on the other side are as they were.
bool fence_is_intact(const vyre_span *span);

typedef struct fence_hit {
  uint32_t number; // that fence_copy was given
  uint64_t size_bytes;
  int64_t offset; // of the access from the first byte: below 0, or the size and above; or frozen
} fence_hit;

// Whose fence has this address; false when nobody's.
bool fence_find(const void *address, fence_hit *out);

#endif
