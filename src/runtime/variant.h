// SPDX-License-Identifier: MIT
//
// A variant is a program compiled in one way, with what the optimizer did for it and the times of
// its regions since they were last gathered. A kernel owns its variants and frees them last
// (specialised ones excepted), so that a swap needs no waiting for those who still run the old one.
// The counters are for any thread; the rest is constant once the variant is in the kernel's list.
#ifndef VYRE_RUNTIME_VARIANT_H
#define VYRE_RUNTIME_VARIANT_H

#include "backend/backend.h"
#include "policy/optimize.h"
#include "runtime/evidence.h"

typedef struct variant {
  struct variant *next; // all of a kernel's, newest first
  vyre_executable *executable;
  const char *backend;
  const char *origin; // "first", "optimized", "route", "specialised": a name from a table
  uint64_t compile_ns;
  uint64_t median_ns; // when it was tried; 0: it was not
  opt_report report;  // what the optimizer did for it
  select_decision *decisions;
  size_t pass_count;
  uint32_t region_count;
  uint32_t device;       // number in the evidence
  uint32_t sums_count;   // regions of what was compiled
  evidence_region *sums; // one per such region
} variant;

typedef struct variant_request {
  vyre_program *program; // NULL: the kernel's
  const char *backend, *origin;
  vyre_tier tier;
  bool optimize;
  const uint64_t *lengths; // elements per buffer, where they are known; may be NULL
  uint64_t timeout_ns;     // for compiling; 0: none
} variant_request;

// Compiles the kernel's program (or the request's) for a backend and puts the variant into its
// list.
vyre_status variant_make(vyre_kernel *k, const variant_request *request, variant **out,
                         vyre_error *error);
// Takes it out of the list; the caller holds the kernel's lock.
void variant_unlink(vyre_kernel *k, variant *v);
void variant_free(variant *v);

#endif
