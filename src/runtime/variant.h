// SPDX-License-Identifier: MIT
//
// A variant is one way to run the dispatches of a plan: a code, and the launch shape it is given.
// Dispatches add to its counters and leave their times in its ring; the background takes what is
// new from there, in one place, for the running figure that decides and for the store. Whoever made
// it owns it: a plan, or a special. Counters are for any thread; what is below the line belongs to
// the background and is read under the kernel's lock.
#ifndef VYRE_RUNTIME_VARIANT_H
#define VYRE_RUNTIME_VARIANT_H

#include "policy/figure.h"
#include "policy/trial.h"
#include "runtime/code.h"

enum {
  VARIANT_RING = 64,  // latest samples
  VARIANT_FRESH = 32, // of them, those that the store has not seen
};

// Why a variant is used, or not.
typedef enum variant_reason {
  REASON_NONE,
  REASON_FIRST,     // nothing is known yet
  REASON_FASTER,    // the taken one: faster by more than the noise
  REASON_ROUTED,    // the taken one: decided before
  REASON_PREDICTED, // the taken one: expected to be fastest, from other sizes
  REASON_OPTIMIZED, // the taken one: the full compile; nothing was clearly faster
  REASON_CHANGED,   // the taken one: the times of the one before have changed
  REASON_NOT_FASTER,
  REASON_WRONG_RESULT, // with the first differing element
  REASON_FAILED,       // with the backend's error
  REASON_UNSUPPORTED,
  REASON_INPUTS_TOO_LARGE,
  REASON_NO_MEMORY,
  REASON_ONLY_ONE, // nothing to choose from
  REASON_COUNT
} variant_reason;

const char *variant_reason_name(variant_reason reason); // "not-faster"

typedef struct variant {
  code *code;
  uint32_t shape[3]; // zeros: as declared
  atomic_uint_fast64_t count, total_ns;
  atomic_uint_fast64_t ring[VARIANT_RING];
  atomic_uint_fast64_t next_check;  // the dispatch, by `count`, whose answer is compared next
  atomic_uint_fast64_t check_ns;    // that the last check made at once took; 0: none was
  atomic_uint_fast64_t invocations; // of the last dispatch
  // ----
  uint64_t gathered; // samples of the ring that were taken
  figure figure;
  uint64_t last_ns;  // when it was last seen to run, of clock_now_ns
  uint64_t trial_ns; // median of a trial in the background; 0: it was not tried
  uint64_t trial_noise_ns, trial_best_ns;
  uint32_t trial_samples, trial_number; // 0: of a trial without the others
  double prior_ns;                      // what earlier processes measured; 0: nothing
  double prior_best_ns;                 // the fastest of it
  uint64_t predicted_ns;                // what other buckets say it takes here; 0: nothing
  uint64_t next_explore_ns;             // when it may be tried again, of clock_now_ns
  uint64_t fresh[VARIANT_FRESH];
  uint32_t fresh_count;
  uint64_t resident_ns;    // with its buffers where it runs; 0: it was not timed so
  double copy_ns_per_byte; // 0: it uses the host's memory
  variant_reason reason;   // of the last comparison
} variant;

#define VARIANT_DISTURBED ((uint64_t)1 << 63) // of a time in the ring: it is no figure's

// `is_disturbed`: its time says little of the variant.
static inline void variant_record(variant *v, uint64_t wall_ns, bool is_disturbed) {
  uint64_t n = atomic_fetch_add_explicit(&v->count, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&v->total_ns, wall_ns, memory_order_relaxed);
  uint64_t sample = wall_ns | (is_disturbed ? VARIANT_DISTURBED : 0);
  atomic_store_explicit(&v->ring[n % VARIANT_RING], sample, memory_order_relaxed);
}

// With the kernel's lock held: takes what is new. `visit` (may be NULL) sees each sample before it
// is added. True when the times have changed.
bool variant_gather(variant *v, void (*visit)(void *context, uint64_t ns), void *context);
// The samples of a trial: captured inputs in warm caches are faster than dispatches, so they are
// compared only with one another: those of a trial have its number.
void variant_tried(variant *v, const trial_candidate *trial, uint32_t number);
void variant_text(const variant *v, char out[VARIANT_TEXT]);

#endif
