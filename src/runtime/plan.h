// SPDX-License-Identifier: MIT
//
// A plan is what a dispatch of one size class needs: the variant to run, its launch shape,
// counters, and, for explaining, how it came to be so. A kernel owns its plans and frees them last.
// Counters are for any thread; the rest says who writes it.
#ifndef VYRE_RUNTIME_PLAN_H
#define VYRE_RUNTIME_PLAN_H

#include "policy/route.h"
#include "runtime/variant.h"

enum {
  RING = 64,          // samples kept per plan
  MAX_CANDIDATES = 8, // variants tried when a plan is learned about
};

typedef enum plan_state {
  PLAN_COLD,     // too few dispatches
  PLAN_LEARNING, // a job is under way
  PLAN_LEARNED,
  PLAN_DECLINED, // `reason` says why
} plan_state;

// Why a candidate was not taken, or a plan not learned about.
typedef enum plan_reason {
  REASON_NONE,
  REASON_FASTER,    // the taken one: faster by more than the noise
  REASON_ROUTED,    // the taken one: decided before, proven again here
  REASON_OPTIMIZED, // the taken one: the full compile; nothing was clearly faster
  REASON_NOT_FASTER,
  REASON_WRONG_RESULT, // with the first differing element
  REASON_FAILED,       // with the backend's error
  REASON_UNSUPPORTED,
  REASON_INPUTS_TOO_LARGE,
  REASON_NO_MEMORY,
  REASON_ONLY_ONE, // nothing to choose from
  REASON_COUNT
} plan_reason;

const char *plan_reason_name(plan_reason reason);

typedef struct candidate_note { // what became of a candidate, for explain
  char backend[16];
  const char *origin;
  plan_reason reason;
  uint64_t median_ns, compile_ns;
  char detail[160];
} candidate_note;

// A variant that was proven for a plan, the fastest of its backend: what a dispatch takes when all
// its buffers are where it runs, and what copying costs.
typedef struct plan_route {
  variant *variant;
  uint64_t resident_ns;
  double copy_ns_per_byte; // 0: it uses the host's memory
} plan_route;

// What a plan had done when the resize policy last looked.
typedef struct plan_window {
  uint64_t at_ns, busy_ns, dispatches, invocations;
  uint32_t resizes; // suggestions that were followed up
} plan_window;

typedef struct plan {
  uint32_t size_class;
  _Atomic(variant *) current;
  variant *first; // compiled quickly; the fallback
  atomic_uint_fast64_t dispatches, total_ns, invocations, failures;
  atomic_uint_fast64_t ring[RING]; // evidence_sample
  uint64_t gathered;               // samples that the evidence has; under the kernel's lock
  atomic_uint state;               // plan_state
  _Atomic(uint64_t) tuned;         // see plan_shape
  atomic_uint wanted_x;            // a size that the resize policy suggests; 0: none

  // Written by the job that learns, under the kernel's lock; read by explain.
  plan_reason reason;
  route_state route; // what the routing table had for it
  char routed[16];   // the backend that it names, when it is usable
  const char *_Atomic tune_reason;
  candidate_note notes[MAX_CANDIDATES];
  uint32_t note_count;
  plan_route routes[MAX_CANDIDATES];
  uint32_t route_count;
  plan_window window; // of the background
} plan;

// The chosen launch shape, which may change while others dispatch; zeros: as compiled.
static inline void plan_shape(const plan *p, uint32_t out[3]) {
  uint64_t packed = atomic_load_explicit(&((plan *)p)->tuned, memory_order_relaxed);
  for (int i = 0; i < 3; i++) out[i] = (uint32_t)(packed >> 20 * i) & 0xfffff;
}
static inline void plan_set_shape(plan *p, const uint32_t axis[3]) {
  atomic_store_explicit(&p->tuned, axis[0] | (uint64_t)axis[1] << 20 | (uint64_t)axis[2] << 40,
                        memory_order_relaxed);
}

uint32_t plan_size_class(const vyre_dispatch_args *args);
// The plan of a size class that had none, on the kernel's first variant; another thread may be
// first.
vyre_status plan_make(vyre_kernel *k, uint32_t size_class, uint64_t timeout_ns, plan **out,
                      vyre_error *error);

#endif
