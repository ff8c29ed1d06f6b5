// SPDX-License-Identifier: MIT
//
// Inside the runtime: a kernel is a loaded program with one plan per size class, and a plan is what
// a dispatch needs and nothing more. Dispatching reads two pointers and adds to counters;
// everything else happens when a plan is made or learned about. Variants are never freed before
// their kernel, so that a swap needs no waiting for those who still run the old one.
#ifndef VYRE_RUNTIME_KERNEL_H
#define VYRE_RUNTIME_KERNEL_H

#include "policy/predict.h"
#include "policy/speculate.h"
#include "policy/tune_cache.h"
#include "runtime/capture.h"
#include "runtime/plan.h"
#include "runtime/worker.h"

#include <pthread.h>

enum {
  SIZE_CLASSES = 65, // see profile/size_class.h
  DEFAULT_LEARN_AFTER = 16,
  SPECIAL_MAX = 64,    // specialised variants of a kernel; the least recently used go first
  SPECIAL_SLOTS = 256, // places for them
  SEEN_SLOTS = 256,
};

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
  const uint64_t *lengths; // elements per buffer, where they are known; may be NULL
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

// Sweeps shapes and gives the plan the one that was chosen.
struct sweep_request;
void sweep_plan(vyre_runtime *rt, plan *p, const struct sweep_request *r, tuner *t);

// Asks the resize policy about a plan, in the background with the kernel's lock; and follows a
// suggestion up with a dispatch's inputs.
void resize_consider(vyre_kernel *k, plan *p);
void resize_begin(vyre_kernel *k, plan *p, const vyre_dispatch_args *args);

// The specialised variant for these arguments, or NULL. A miss, and what is likely to come next,
// are compiled in the background. The variant stays until special_leave.
variant *special_enter(vyre_kernel *k, const vyre_dispatch_args *args);
void special_leave(vyre_kernel *k);
void special_free_all(vyre_kernel *k);
// Counts what was prepared and never used, before the kernel is freed.
void special_judge_all(vyre_kernel *k);

#endif
