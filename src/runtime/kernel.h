// SPDX-License-Identifier: MIT
//
// A kernel is a program that was loaded into a runtime, with one plan per bucket of dispatches.
// Dispatching finds the plan, runs its variant and adds to counters; everything else happens when a
// plan is made or learned about. Any thread; it is freed when nobody uses it any more.
#ifndef VYRE_RUNTIME_KERNEL_H
#define VYRE_RUNTIME_KERNEL_H

#include "analysis/work.h"
#include "backend/watch/watch.h"
#include "policy/space.h"
#include "runtime/plan.h"
#include "runtime/special.h"

#include <pthread.h>

enum {
  KERNEL_PLANS = 128, // places; when they are full, buckets are told apart by bytes alone
  DEFAULT_LEARN_AFTER = 16,
  SEEN_SLOTS = 256,
  SPECIAL_COSTS = 4, // of compilations, kept
};

// A parameter or length that the amount of work depends on.
typedef struct kernel_input {
  bool is_length;
  uint32_t index; // of the parameter, or of the bound buffer
  uint64_t mask;  // of the parameter's bits
  const char *name;
} kernel_input;

// What comparing answers again has cost, and how much of it is allowed: see check.c.
typedef struct kernel_checks {
  atomic_uint waiting;          // answers that are copied and not yet compared
  atomic_uint_fast64_t bytes;   // that they hold
  atomic_uint_fast64_t run_ns;  // CPU time of comparing
  atomic_uint_fast64_t copy_ns; // that dispatches spent on copies
  atomic_bool is_off;           // the program's own answers differ from run to run
} kernel_checks;

// Whether codes with values of tunables other than the program's own may be used.
enum { CONFIGURATIONS_UNKNOWN, CONFIGURATIONS_USED, CONFIGURATIONS_WRONG };

struct vyre_kernel {
  vyre_runtime *runtime;
  vyre_program *program;
  vyre_kernel *next_in_runtime;
  watcher *watcher; // that runs its dispatches when VYRE_CHECK asks for it; NULL: none
  struct cluster_kernel *clustered; // that runs them on the ranks of a cluster; NULL: none
  kernel_input inputs[WORK_INPUTS];
  uint32_t input_count;
  _Atomic(plan *) plans[KERNEL_PLANS]; // open addressing, by key
  atomic_uint plan_count;
  _Atomic(code *) first; // compiled quickly, what others are compared with
  kernel_checks checks;
  atomic_uint configurations; // CONFIGURATIONS_*
  uint64_t begun_ns;          // when it was loaded

  pthread_mutex_t lock; // of everything below
  code *codes;
  store_latency_row *priors; // what earlier processes measured; in `memory`
  uint32_t prior_count;
  predictor *predictor;                   // NULL: nothing to specialise
  uint64_t special_cost_ns, miss_cost_ns; // the least of the latest; as last measured
  uint64_t special_costs[SPECIAL_COSTS];
  uint32_t special_costs_seen;
  uint32_t special_count, key_count;
  uint32_t speculated, speculated_used;
  atomic_uint special_losers, special_winners; // sets of arguments that gain nothing, or do
  atomic_bool is_specialising;                 // a job is under way
  speculate_decision last_decision;
  special_outcome outcomes[PREDICT_KIND_COUNT];
  uint64_t changes, last_hash;          // how often the arguments changed
  uint64_t changed_ns;                  // when they last did
  uint64_t stalls;                      // how often there was no variant for them then
  uint64_t seen[SEEN_SLOTS];            // hashes of arguments, to know those that come again
  uint64_t special_begun_ns, wasted_ns; // first dispatch; time spent on what nobody used
  uint32_t special_device;
  special *removed;
  _Atomic(special *) specials[SPECIAL_SLOTS]; // open addressing; read without the lock
  atomic_uint looking;                        // dispatches that may hold one
  atomic_uint last_slot, repeats;             // where the last one was found, and how often since
  atomic_uint pending;                        // background jobs that mention the kernel
  atomic_uint learning;                       // of them, those that learn about a plan
  atomic_uint submitted;                      // dispatches that wait for their turn

  // Of the background alone.
  space *space; // of what the program declares to be tunable; NULL: not made yet
  arena memory;
  opt_report earlier; // of the program's last compile, maybe in another process
  bool has_earlier;
  bool has_looked;          // for other backends' code that was compiled before
  store_latency_row *fleet; // what machines of this kind measured; in `memory`
  uint32_t fleet_count;
  bool has_fleet;        // it was read
  uint64_t fleet_number; // of the question that was asked for it
};

// Whether there is something to dispatch at all.
vyre_status kernel_check_arguments(const vyre_kernel *k, const vyre_dispatch_args *args,
                                   vyre_error *error);
// The code that is compiled quickly, without passes: on this CPU, or on the interpreter where that
// cannot be. Made when it is first asked for.
vyre_status kernel_first(vyre_kernel *k, code **out, vyre_error *error);
// The same with a time limit for compiling; 0: none.
vyre_status kernel_first_within(vyre_kernel *k, uint64_t timeout_ns, code **out, vyre_error *error);
plan *kernel_find_plan(const vyre_kernel *k, uint64_t key); // NULL: there is none
// Puts a plan into the table and returns it, or the one that is there already.
plan *kernel_add_plan(vyre_kernel *k, plan *p);
// The backend of a kernel that has one plan; "" when it was never dispatched.
const char *kernel_backend(const vyre_kernel *k);
// Takes a code that was wrong out of every plan.
void kernel_forsake(vyre_kernel *k, code *c);

#endif
