// SPDX-License-Identifier: MIT
//
// The reference backend: a plain interpreter, the oracle that every other backend is compared with.
#ifndef VYRE_BACKEND_REF_REF_H
#define VYRE_BACKEND_REF_REF_H

#include "backend/backend.h"

extern const backend ref_backend;

// One access to a buffer or shared array, inside its bounds.
typedef struct ref_access {
  uint32_t instruction; // the load, store or atomic in the program's code
  uint64_t index;
  uint64_t invocation, group; // counted along x, then y, then z
  uint64_t phase;             // grows from workgroup to workgroup and at each barrier
} ref_access;

typedef struct ref_observer {
  void (*access)(void *context, const ref_access *access); // NULL: nobody looks
  bool (*is_asked_to_stop)(void *context);                 // lowered programs; NULL: never
  void *context;
} ref_observer;

// Runs a launch as the backend does and tells the observer (may be NULL) of every access.
vyre_status ref_run(const vyre_program *program, const launch *l, const ref_observer *observer,
                    vyre_report *report, vyre_error *error);

#endif
