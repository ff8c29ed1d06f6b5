// SPDX-License-Identifier: MIT
//
// When the next of a row of events will come, judged by those before: somebody who calls every
// three milliseconds will do so again. Events that follow each other closely are one. A plain value
// that its holder owns, zeros to begin with; one thread at a time. Times are those of clock_now_ns.
#ifndef VYRE_BASE_RHYTHM_H
#define VYRE_BASE_RHYTHM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rhythm {
  uint64_t first_ns, last_ns; // of the events that are one: when the first and the last came
  uint64_t gap_ns;            // from one to the next, in the mean
  uint64_t off_ns;            // by how much that is wrong, in the mean
  uint32_t regular;           // how many gaps were as expected, of late
} rhythm;

// Closer events than this are one.
enum { RHYTHM_CLOSE_NS = 50000 };

typedef struct rhythm_span {
  uint64_t from_ns, until_ns;
} rhythm_span;

void rhythm_event(rhythm *r, uint64_t now_ns);
// False where gaps differ too much: the span, in which somebody may be busy with waiting, is at
// most an eighth of the gap.
bool rhythm_next(const rhythm *r, rhythm_span *out);

#endif
