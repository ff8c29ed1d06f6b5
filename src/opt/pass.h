// SPDX-License-Identifier: MIT
//
// An optimizer pass: a record of what is known of it without running it (what it needs, what it
// breaks and what it is for: the scheduler, selection and the documentation go by that), and the
// function itself. Constant data: any thread.
#ifndef VYRE_OPT_PASS_H
#define VYRE_OPT_PASS_H

#include "ir/program.h"
#include "opt/report.h"

// What a pass costs and pays for grows with: selection has one threshold per family, profiles go by
// it, and passes of an earlier family run first.
typedef enum pass_family {
  PASS_FAMILY_SCALAR, // cheap normalizers, always on
  PASS_FAMILY_SYNC,   // barriers and atomics, always on
  PASS_FAMILY_LOOP,
  PASS_FAMILY_MEMORY,
  PASS_FAMILY_FUSION,
  PASS_FAMILY_DATAFLOW,
  PASS_FAMILY_MEGAKERNEL,
  PASS_FAMILY_UNKNOWN, // always on
  PASS_FAMILY_COUNT
} pass_family;

// How far a change reaches. The scheduler holds a pass to it.
typedef enum pass_boundary {
  PASS_BOUNDARY_ABI_PRESERVING,  // parameters, buffers and regions stay
  PASS_BOUNDARY_REGION_CHANGING, // parameters and buffers stay; regions are joined or split, and
                                 // transient buffers may go
  PASS_BOUNDARY_ABI_CHANGING,    // what the caller binds changes
  PASS_BOUNDARY_COUNT
} pass_boundary;

// What a pass may only be run with. A set: the bits are joined.
enum {
  PASS_CAP_FAST_ARITHMETIC = 1 << 0, // the program allows contraction and native functions
  PASS_CAP_GRID_BARRIER = 1 << 1,    // the backend can synchronise all workgroups of a launch
};

typedef struct pass_info {
  const char *name;
  const char *const *requires;    // names of passes, ended by NULL; NULL is none
  const char *const *invalidates; // names of passes that must look again after a change; likewise
  const char *const *follows;     // names of passes after whose changes it must look again
  pass_boundary boundary;
  uint32_t required_caps; // PASS_CAP_*
  pass_family family;
} pass_info;

// Profiles are a set: the bits are joined, and a pass is accepted when one of them accepts it.
enum {
  PASS_PROFILE_RELEASE = 1 << 0,
  PASS_PROFILE_DATAFLOW = 1 << 1,
  PASS_PROFILE_MEGAKERNEL = 1 << 2,
};

static inline bool pass_profile_accepts(unsigned profiles, const pass_info *pass) {
  if (pass->boundary == PASS_BOUNDARY_ABI_CHANGING) return false;
  if (pass->family == PASS_FAMILY_DATAFLOW) return profiles & PASS_PROFILE_DATAFLOW;
  if (pass->family == PASS_FAMILY_MEGAKERNEL) return profiles & PASS_PROFILE_MEGAKERNEL;
  return (profiles & PASS_PROFILE_RELEASE) && pass->required_caps == 0;
}

// One run of a pass: what it reads. Everything is borrowed.
typedef struct vyre_pass_run {
  vyre_program *program;
  const bool *selected;    // per region: the pass may change this one
  arena *scratch;          // reset by the scheduler after the run; nothing in it outlives the run
  const struct pass *pass; // the one that runs
} pass_run;

// A pass is a function from program to program with its record. `run` sets *out to a new program,
// or leaves it NULL when there is nothing to change. `is_better` may be NULL; a pass that can make
// things worse has it, and the scheduler undoes a change that it does not like.
typedef struct pass {
  pass_info info;
  const char *summary; // what it does: one line for `vyre opt` and docs/PASSES.md
  const char *never;   // what it leaves alone, likewise
  vyre_status (*run)(const pass_run *run, vyre_program **out, vyre_error *error);
  bool (*is_better)(const pass_counts *before, const pass_counts *after);
} pass;

const char *pass_family_name(pass_family family);       // "loop"
const char *pass_boundary_name(pass_boundary boundary); // "region-changing"
const char *pass_outcome_name(pass_outcome outcome);    // "not-selected"

enum { PASS_LIMIT = 64 }; // passes that there may be

// All passes in the order in which they run. It only ever grows: what a caller saw stays as it is.
const pass *const *pass_table(size_t *count);
// Adds one at the end; it stays until the process ends. Any thread. Duplicate names, unknown names
// and cycles of requirements are errors that name the passes at fault.
vyre_status pass_table_add(const pass *added, vyre_error *error);
const pass *pass_find(const char *name); // NULL when unknown
vyre_status pass_table_check(const pass *const *passes, size_t count, vyre_error *error);

#endif
