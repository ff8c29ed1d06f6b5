// SPDX-License-Identifier: MIT
//
// What was found while a launch ran: one vyre_finding for each place of the program and kind, with
// the first time that it happened there, and how often it did. One thread.
#ifndef VYRE_BACKEND_WATCH_FINDINGS_H
#define VYRE_BACKEND_WATCH_FINDINGS_H

#include "backend/launch.h"
#include "base/vec.h"

typedef struct findings {
  const vyre_program *p; // whose operations are meant; borrowed, as its strings are in findings
  const launch *l;
  vec(vyre_finding) list;
  uint32_t *numbers; // per kind and operation: in the list, plus 1
  uint64_t counts[VYRE_FINDING_KINDS];
  bool failed; // out of memory
} findings;

bool findings_init(findings *f, const vyre_program *p, const launch *l);
void findings_fini(findings *f);

// The finding of this kind at an operation, counted once more, when this is the first time; NULL
// otherwise. The caller fills in what the operation does not say.
vyre_finding *findings_add(findings *f, vyre_finding_kind kind, uint32_t instruction,
                           uint64_t invocation);
uint32_t findings_region(const vyre_program *p, uint32_t instruction);
// The global id of an invocation that is counted along x, then y, then z.
void findings_place(const findings *f, uint32_t region, uint64_t invocation, uint64_t out[3]);

// Writes the texts, and visits up to `most` (0: 10) findings of each kind, in the order of kinds.
void findings_tell(findings *f, uint32_t most, void (*found)(void *, const vyre_finding *),
                   void *data);

#endif
