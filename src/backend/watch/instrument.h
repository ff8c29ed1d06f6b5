// SPDX-License-Identifier: MIT
//
// A program rewritten so that it counts, on whichever backend runs it, its accesses outside of
// memory and its divisions by zero. It has one buffer more, the last one: INSTRUMENT_WORDS u32 for
// each place that is counted, zeros when it is bound. The caller frees with instrument_fini. Any
// thread.
#ifndef VYRE_BACKEND_WATCH_INSTRUMENT_H
#define VYRE_BACKEND_WATCH_INSTRUMENT_H

#include "backend/watch/findings.h"

enum { INSTRUMENT_WORDS = 6 }; // how often; of the first time three global ids, the index low, high

typedef struct instrumented {
  vyre_program *program; // NULL: there is nothing to count
  uint32_t *places;      // operations of the original program
  uint32_t place_count;
} instrumented;

vyre_status instrument(vyre_program *program, instrumented *out, vyre_error *error);
void instrument_fini(instrumented *made);
// Adds what a dispatch counted; `f` is of the original program.
void instrument_findings(const instrumented *made, const uint32_t *counted, findings *f);

#endif
