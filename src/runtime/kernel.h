// SPDX-License-Identifier: MIT
//
// Inside the runtime: a kernel is a loaded program with one plan per size class, and a plan is what
// a dispatch needs and nothing more. Dispatching reads two pointers and adds to counters;
// everything else happens when a plan is made or learned about. Variants are never freed before
// their kernel, so that a swap needs no waiting for those who still run the old one.
#ifndef VYRE_RUNTIME_KERNEL_H
#define VYRE_RUNTIME_KERNEL_H

#include "backend/backend.h"
#include "policy/optimize.h"
#include "policy/predict.h"
#include "policy/route.h"
#include "policy/speculate.h"
#include "policy/tune_cache.h"
#include "runtime/capture.h"
#include "runtime/evidence.h"
#include "runtime/worker.h"

#include <pthread.h>

enum {
  SIZE_CLASSES = 65,  // see profile/size_class.h
  RING = 64,          // samples kept per plan
  MAX_CANDIDATES = 8, // variants tried when a plan is learned about
  DEFAULT_LEARN_AFTER = 16,
  SPECIAL_MAX = 64,    // specialised variants of a kernel; the least recently used go first
  SPECIAL_SLOTS = 256, // places for them
  SEEN_SLOTS = 256,
};

// A program compiled in one way.
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

typedef enum plan_state {
  PLAN_COLD,     // too few dispatches
  PLAN_LEARNING, // a job is under way
  PLAN_LEARNED,
  PLAN_DECLINED, // `reason` says why
} plan_state;

// Why a candidate was not taken, or a plan not learned about.
typedef enum plan_reason {
  REASON_NONE,
  REASON_FASTER, // the taken one: faster by more than the noise
  REASON_ROUTED, // the taken one: decided before, proven again here
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

typedef struct plan {
  uint32_t size_class;
  _Atomic(variant *) current;
  variant *first; // compiled quickly; the fallback
  atomic_uint_fast64_t dispatches, total_ns, failures;
  atomic_uint_fast64_t ring[RING]; // evidence_sample
  uint64_t gathered;               // samples that the evidence has; under the kernel's lock
  atomic_uint state;               // plan_state

  // Written by the job that learns, under the kernel's lock; read by explain.
  plan_reason reason;
  route_state route; // what the routing table had for it
  char routed[16];   // the backend that it names, when it is usable
  uint32_t tuned[3]; // the launch shape that was chosen; zeros: as compiled
  const char *tune_reason;
  candidate_note notes[MAX_CANDIDATES];
  uint32_t note_count;
  plan_route routes[MAX_CANDIDATES];
  uint32_t route_count;
} plan;

// A specialised variant, published when it was proven. One that is removed is freed when no
// dispatch can see it any more.
typedef struct special {
  struct special *next; // of those that were removed
  uint64_t hash;
  uint64_t *key; // parameters in canonical bits, then lengths
  variant *variant;
  bool was_predicted;
  bool is_judged; // its outcome is known
  predict_kind kind;
  uint64_t cost_ns, born, used; // the last two: when, counted in changes of the arguments
  atomic_bool was_used;
} special;

// What became of variants that were prepared ahead, since it was last gathered.
typedef struct special_outcome {
  uint64_t used, unused, compile_ns, saved_ns;
} special_outcome;

struct vyre_kernel {
  vyre_runtime *runtime;
  vyre_program *program;
  vyre_kernel *next_in_runtime;
  _Atomic(plan *) plans[SIZE_CLASSES];

  pthread_mutex_t lock; // of everything below
  variant *variants;
  predictor *predictor;                   // NULL: nothing to specialise
  uint64_t special_cost_ns, miss_cost_ns; // as last measured
  uint32_t special_count, key_count;
  uint32_t speculated, speculated_used;
  speculate_decision last_decision;
  special_outcome outcomes[PREDICT_KIND_COUNT];
  uint64_t changes, last_hash;  // how often the arguments changed
  uint64_t changed_ns;          // when they last did
  uint64_t stalls;              // how often there was no variant for them then
  uint64_t seen[SEEN_SLOTS];    // hashes of arguments, to know those that come again
  uint64_t begun_ns, wasted_ns; // first dispatch; time spent on what nobody used
  uint32_t special_device;
  special *removed;
  _Atomic(special *) specials[SPECIAL_SLOTS]; // open addressing; read without the lock
  atomic_uint looking;                        // dispatches that may hold one
  atomic_uint pending;                        // background jobs that mention the kernel
  atomic_uint submitted;                      // dispatches that wait for their turn

  // Of the background alone.
  arena memory;
  opt_report earlier; // of the program's last compile, maybe in another process
  bool has_earlier;
};

struct vyre_runtime {
  vyre_runtime_options options;
  char backend[32]; // forced one, or empty
  hints *hints;
  worker *worker;
  pthread_mutex_t submit_lock; // of the submitter, and of waiting for it
  pthread_cond_t submit_done;
  worker *submitter; // made by the first submit
  evidence evidence;
  pthread_mutex_t files; // of the two tables and their files
  route_table *routes;
  tune_mode tune_mode;
  pthread_mutex_t lock; // of the lists and the notices
  vyre_kernel *kernels;
  vyre_buffer *buffers;
  uint32_t notices; // bits of what the user was told already
};

// What the user is told once.
enum {
  NOTICE_BACKEND_FAILED = 1,
  NOTICE_WRONG_RESULT = 2,
  NOTICE_NO_THREAD = 4,
  NOTICE_STORE = 8,
  NOTICE_EVIDENCE = 16
};
void runtime_notice(vyre_runtime *rt, uint32_t kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Sinks notes of the file formats into notices.
note_sink runtime_notes(vyre_runtime *rt);
// Saves the routing table; failures are told, never fatal.
void runtime_save_routes(vyre_runtime *rt);
// The adapter name of a backend's first device; "" when it has none.
void runtime_adapter(const char *backend, char out[128]);

// Compiles the kernel's program (or `program`) for a backend and puts the variant into its list.
typedef struct variant_request {
  vyre_program *program; // NULL: the kernel's
  const char *backend, *origin;
  vyre_tier tier;
  bool optimize;
} variant_request;
// Takes it out of the list; the caller holds the kernel's lock.
void variant_unlink(vyre_kernel *k, variant *v);
void variant_free(variant *v);
vyre_status variant_make(vyre_kernel *k, const variant_request *request, variant **out,
                         vyre_error *error);

// Whether there is something to dispatch at all.
vyre_status kernel_check_arguments(const vyre_kernel *k, const vyre_dispatch_args *args,
                                   vyre_error *error);
// Waits until no submitted dispatch of the kernel is left.
void submit_wait(vyre_kernel *k);

uint32_t plan_size_class(const vyre_dispatch_args *args);
// Starts to learn about the plan when it is time to; takes copies of the inputs.
void learn_begin(vyre_kernel *k, plan *p, const vyre_dispatch_args *args);

// Chooses the launch shape of a variant that is about to be adopted.
void tune_begin(vyre_kernel *k, plan *p, capture *inputs, const capture_output *expected,
                variant *v);

// The specialised variant for these arguments, or NULL. A miss, and what is likely to come next,
// are compiled in the background. The variant stays until special_leave.
variant *special_enter(vyre_kernel *k, const vyre_dispatch_args *args);
void special_leave(vyre_kernel *k);
void special_free_all(vyre_kernel *k);
// Counts what was prepared and never used, before the kernel is freed.
void special_judge_all(vyre_kernel *k);

#endif
