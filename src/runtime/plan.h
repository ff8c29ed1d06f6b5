// SPDX-License-Identifier: MIT
//
// A plan is what the dispatches of one bucket need: those whose bytes, and whatever else their work
// depends on, are of the same size class. It has the variant to run, the others that may become it,
// and the record of what was decided. A kernel owns its plans and frees them last. `current`,
// `explore` and `attention` are for any thread; the rest is written under the kernel's lock.
#ifndef VYRE_RUNTIME_PLAN_H
#define VYRE_RUNTIME_PLAN_H

#include "policy/model.h"
#include "policy/route.h"
#include "runtime/variant.h"

enum {
  PLAN_VARIANTS = 16,
  PLAN_NOTES = 16,    // candidates that did not become variants
  PLAN_DECISIONS = 8, // latest ones
  PLAN_WORK_TEXT = 96,
  PLAN_FIGURES = 4,
  PLAN_TURNS = FIGURE_ENOUGH + 1, // of each known variant, to begin with; the first to warm up
};

typedef enum plan_state {
  PLAN_COLD,     // too few dispatches
  PLAN_OPENING,  // known variants take turns, to begin with
  PLAN_LEARNING, // a job is under way
  PLAN_LEARNED,
  PLAN_DECLINED, // the last decision's reason says why
} plan_state;

// What the next dispatch is asked to do besides its work. A set.
enum {
  ATTEND_COLD = 1 << 0,    // look whether it is time to learn
  ATTEND_OPENING = 1 << 1, // take the next variant in turn
  ATTEND_EXPLORE = 1 << 2, // run `explore` once
  ATTEND_LEARN = 1 << 3,   // leave the inputs: candidates wait to be tried
  ATTEND_RESIZE = 1 << 4,  // leave the inputs: a shape waits to be tried
};

// Which candidates were tried. A set.
enum {
  STAGE_PASSES = 1 << 0,   // this CPU, with each profile of passes
  STAGE_SHAPES = 1 << 1,   // launch shapes of the best
  STAGE_BACKENDS = 1 << 2, // the other backends
  STAGE_TUNABLES = 1 << 3, // values of what the program declares to be tunable
  STAGE_COUNT = 4,
  STAGE_ALL = (1 << STAGE_COUNT) - 1,
};

typedef struct plan_figure { // what a backend took, says the routing table
  char backend[32];
  double ns;
} plan_figure;

typedef struct plan_note { // what became of a candidate that is no variant
  char name[VARIANT_TEXT];
  variant_reason reason;
  char detail[160];
} plan_note;

typedef struct plan_decision {
  char name[VARIANT_TEXT];
  variant_reason reason;
  int64_t date;
  uint64_t samples, mean_ns, spread_ns; // as measured when it was decided; 0: not measured
  char detail[160];
} plan_decision;

// What a plan had done when the resize policy last looked.
typedef struct plan_window {
  uint64_t at_ns, busy_ns, dispatches;
  uint32_t resizes; // suggestions that were followed up
} plan_window;

typedef struct plan {
  uint64_t key;
  uint32_t size_class;
  char work[PLAN_WORK_TEXT]; // "n:9,m:3"; "" when it depends on the bytes alone
  double features[MODEL_FEATURES];
  _Atomic(variant *) current;
  _Atomic(variant *) explore;
  atomic_uint_fast64_t explore_ns; // what it is expected to take
  atomic_uint_fast64_t usual_ns;   // what the current one takes
  atomic_uint_fast64_t before_ns;  // what the one before it took; 0: not known
  _Atomic(variant *) explored;     // that a dispatch is running instead of the current one
  atomic_uint tries;               // runs of it in a row
  atomic_uint attention;
  atomic_uint state; // plan_state
  atomic_uint opening;
  atomic_uint specials; // dispatches that ran a specialised variant instead
  atomic_uint wanted_x; // a size that the resize policy suggests; 0: none
  variant *variants[PLAN_VARIANTS];
  atomic_uint variant_count; // they are added, never taken away

  unsigned stages;           // STAGE_*: done
  unsigned wanted;           // STAGE_*: of the job that comes next
  uint64_t allowed_ns;       // CPU time that it may take
  route_state route;         // what the routing table had for it
  char routed[VARIANT_TEXT]; // the variant, or just the backend, that it names
  plan_figure
      figures[PLAN_FIGURES]; // that it has of backends, by `vyre certify` or another process
  uint32_t figure_count;
  uint64_t begun_ns, changed_ns, explored_ns;
  uint64_t learned_ns; // CPU time of the jobs that learned about it
  uint32_t trials;     // in which several variants were timed in turn
  plan_note notes[PLAN_NOTES];
  uint32_t note_count;
  plan_decision decisions[PLAN_DECISIONS]; // the latest is number decision_count - 1, modulo
  uint32_t decision_count, decisions_kept;
  bool is_revived;         // what earlier processes saw be faster is among the variants
  bool is_led;             // what others found fastest won here: the rest is put off
  bool was_led;            // what others found fastest was tried
  bool is_known;           // it began with what other buckets know: their codes are there
  const char *tune_reason; // of the launch shape; NULL: none was looked for
  struct tuning *tuning;   // over what the program declares to be tunable; NULL: not begun
  plan_window window;      // of the background
} plan;

// The bucket of a dispatch.
uint64_t plan_key(const vyre_kernel *k, const vyre_dispatch_args *args);
// The plan of a bucket that had none; another thread may be first. It begins with what was decided
// before, with what other sizes say, or with the first code.
vyre_status plan_make(vyre_kernel *k, uint64_t key, const vyre_dispatch_args *args, plan **out,
                      vyre_error *error);
void plan_free(plan *p);

// The plan's variant for a code and a shape (NULL: as declared); NULL when there is no room.
variant *plan_variant(vyre_kernel *k, plan *p, code *c, const uint32_t shape[3]);
uint64_t plan_dispatches(const plan *p);
uint64_t plan_total_ns(const plan *p);
// What a run of the variant takes in this plan, as far as is known; 0: nothing is.
double plan_estimate_ns(const plan *p, const variant *v);

// Runs that are over sooner than this are slower after something else has run: what is tried for
// the first time, or after a while, is run once before it is measured.
#define PLAN_WARM_UP_NS UINT64_C(50000)

// Makes it the current one, and writes down why; with the kernel's lock held. The caller keeps the
// decision (decision_keep) when it has let the lock go.
void plan_adopt(plan *p, variant *v, variant_reason reason, const char *detail);
const plan_decision *plan_last_decision(const plan *p);
void plan_note_candidate(vyre_kernel *k, plan *p, const char *name, variant_reason reason,
                         const char *detail);

#endif
