// SPDX-License-Identifier: MIT
//
// Cases by number: a seed gives a trial and a way to run it on the CPU backend, with its vector
// width, threads and tier, the passes or not, parameters and lengths as constants or not. The same
// seed and kinds give the same case on every machine. Any thread.
#ifndef VYRE_CONFORM_SWEEP_H
#define VYRE_CONFORM_SWEEP_H

#include "conform/compare.h"

typedef struct sweep_options {
  uint64_t seed;
  uint32_t kinds;  // of shapes.h; 0: all
  bool is_only;    // nothing but shapes
  bool has_shapes; // every other case is one of them
} sweep_options;

typedef struct sweep_run {
  vyre_compile_options options;
  bool is_optimised, is_specialised, has_time_limit;
} sweep_run;

typedef struct sweep_case {
  trial trial;
  sweep_run how;
  const char *kind; // of the program
} sweep_case;

enum { SWEEP_FUEL = 20000000 }; // executed operations on ref

// The caller ends the case's trial with trial_fini.
vyre_status sweep_make(const sweep_options *options, sweep_case *out, vyre_error *error);
// "width 8, 2 threads, quick, specialised"
void sweep_describe(const sweep_run *how, char *text, size_t size);

// Compiles once and dispatches with the buffers at either side of their pages, several times where
// threads share the work; `out` is the first
// difference from the reference. False when out of memory.
bool sweep_compare(const trial *t, const sweep_run *how, difference *out);

#endif
