// SPDX-License-Identifier: MIT
//
// A code is a program compiled in one way: for one backend, at one tier, after some passes, with
// some arguments as constants. It carries what the optimizer did for it, the times of its regions
// since they were last gathered, and whether its answers are trusted. A kernel owns its codes and
// frees them last (those of removed specials excepted), so that a swap needs no waiting for those
// who still run the old one. Counters and the verdict are for any thread; the rest is constant once
// the code is in the kernel's list.
#ifndef VYRE_RUNTIME_CODE_H
#define VYRE_RUNTIME_CODE_H

#include "analysis/effort.h"
#include "backend/executable.h"
#include "policy/optimize.h"
#include "policy/variant_name.h"
#include "runtime/evidence.h"

typedef enum code_verdict {
  CODE_UNPROVEN, // it was never compared with the first code's answers
  CODE_PROVEN,
  CODE_FAILED, // the backend could not run it where the first code could: not used in this process
  CODE_WRONG,  // it gave a wrong answer, here or anywhere: it is not used any more
} code_verdict;

typedef struct code {
  struct code *next; // all of a kernel's, newest first
  vyre_executable *executable;
  const char *backend;
  uint32_t device; // number in the evidence
  vyre_tier tier;
  variant_passes passes;
  uint32_t digest, constants;                // as in variant_name
  char configuration[VARIANT_CONFIGURATION]; // likewise
  vyre_program *program;                     // that it was made from
  bool is_listed;                            // the kernel has it; otherwise its maker frees it
  uint32_t specials;                         // that use it, under the kernel's lock
  char *selection;                           // the passes: see optimize_selection
  uint8_t hash[HASH_BYTES];                  // of all that it is made from
  uint64_t compile_ns;                       // that it took to compile
  opt_report report;                         // what the optimizer did for it
  select_decision *decisions;
  size_t pass_count;
  uint32_t region_count;

  atomic_uint verdict;           // code_verdict
  atomic_uint_fast64_t checks;   // passed, on this machine, ever
  uint64_t checks_kept;          // of them, those that the store has; under the kernel's lock
  atomic_uint_fast64_t check_ns; // that dispatches spent on checks made at once
  atomic_uint_fast64_t checked_from_ns; // when the first of this process began; 0: none has
  char detail[160];                     // of a wrong answer; written before the verdict

  atomic_uint_fast64_t runs;
  uint64_t runs_kept;    // under the kernel's lock
  uint32_t sums_count;   // regions of what was compiled
  evidence_region *sums; // one per such region
  effort *effort;        // of what was compiled; NULL where nothing is kept
} code;

typedef struct code_request {
  vyre_program *program;     // NULL: the kernel's, with `configuration`
  const char *configuration; // values of tunables; NULL or "": the program's own
  const char *backend;
  vyre_tier tier;
  variant_passes passes;
  const char *selection;   // which of them, as selected before; NULL: selected now
  const uint64_t *lengths; // elements per buffer, where they are known; may be NULL
  uint32_t constants;      // digest of the arguments that are constants; 0: none
  uint64_t timeout_ns;     // for compiling; 0: none
  bool only_cached;        // not when it would have to be compiled
  bool is_waited_for;      // by a dispatch: a device that was not compared yet is not used
  bool is_attempt;         // a new code is not put into the list: the caller frees or lists it
} code_request;

// Compiles, and puts the code into the kernel's list; gives the one that is there already when it
// would be the same. VYRE_ERROR_VERIFY when it is known to be wrong.
vyre_status code_make(vyre_kernel *k, const code_request *request, code **out, vyre_error *error);
// Puts the code of an attempt into the list; gives the one that is there already when it is the
// same.
code *code_list(vyre_kernel *k, code *c);
// Takes it out of the list; the caller holds the kernel's lock.
void code_unlink(vyre_kernel *k, code *c);
void code_free(code *c);

static inline bool code_is_trusted(const code *c) {
  return atomic_load_explicit(&((code *)c)->verdict, memory_order_acquire) == CODE_PROVEN;
}
static inline bool code_is_wrong(const code *c) {
  return atomic_load_explicit(&((code *)c)->verdict, memory_order_acquire) == CODE_WRONG;
}
// One more of its answers was compared and found right.
void code_passed(code *c);
// The backend failed to run it: it is not used any more in this process. The user is told when it
// was in use.
void code_fail(vyre_kernel *k, code *c, const char *detail, bool was_in_use);
// One was wrong: the code is not used any more, the user is told once, and it is remembered here,
// in the store and in pgo.toml. Not with the kernel's lock held.
void code_condemn(vyre_kernel *k, code *c, const char *detail);

// Its name, launched in a shape (zeros: as declared).
void code_name(const code *c, const uint32_t shape[3], char out[VARIANT_TEXT]);

#endif
