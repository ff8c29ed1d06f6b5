// SPDX-License-Identifier: MIT
//
// The reference backend: a plain interpreter, the oracle that every other backend is compared with.
#ifndef VYRE_BACKEND_REF_REF_H
#define VYRE_BACKEND_REF_REF_H

#include "backend/backend.h"

extern const backend ref_backend;

// Something that an invocation does: an access to memory, inside or outside of it; a private array
// that is declared; an integer that is divided by zero.
typedef struct ref_event {
  uint32_t instruction;       // in the program's code
  uint64_t index, length;     // of an access, and of what is accessed
  uint64_t invocation, group; // counted along x, then y, then z
  uint32_t local;             // the invocation's number in its workgroup
  uint64_t phase;             // grows from workgroup to workgroup and at each barrier
} ref_event;

// Two invocations of a workgroup that do not meet: where they stand, 0 for one that has ended.
typedef struct ref_divergence {
  uint32_t barriers[2];
  uint64_t invocations[2];
} ref_divergence;

// What is NULL is not asked for.
typedef struct ref_observer {
  void (*access)(void *context, const ref_event *event);
  void (*declare)(void *context, const ref_event *event);
  void (*divide_by_zero)(void *context, const ref_event *event);
  void (*diverge)(void *context, const ref_divergence *divergence);
  bool (*is_asked_to_stop)(void *context); // lowered programs; NULL: never
  void *context;
} ref_observer;

// Runs a launch as the backend does and tells the observer (may be NULL) what happens.
vyre_status ref_run(const vyre_program *program, const launch *l, const ref_observer *observer,
                    vyre_report *report, vyre_error *error);

#endif
