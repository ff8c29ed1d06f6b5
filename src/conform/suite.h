// SPDX-License-Identifier: MIT
//
// The conformance suites: lists of named trials, each with what a program must have to need it. The
// rows of the semantics table (rows.def), mathematical functions at special values and random
// points, programs from files, and random programs. A suite owns its cases. One thread at a time.
#ifndef VYRE_CONFORM_SUITE_H
#define VYRE_CONFORM_SUITE_H

#include "backend/features.h"
#include "base/vec.h"
#include "conform/compare.h"
#include "conform/generate.h"

typedef struct suite_case {
  char name[96]; // "integer-wraps/i32", "sin/f64", "random/77"
  trial trial;
  features needs;
  bool needs_all; // of them to be hit by a failure; otherwise one is enough
  bool is_alone;  // not to be merged with others: it may not end well
  bool is_racy;   // values may differ; nothing outside of the buffers may
  difference result;
} suite_case;

typedef struct suite {
  const char *name;
  vec(suite_case) cases;
} suite;

void suite_fini(suite *s);

vyre_status suite_add_rows(suite *s, vyre_error *error);
// `points`: random values per function, besides the special ones.
vyre_status suite_add_math(suite *s, uint64_t seed, uint32_t points, vyre_error *error);
vyre_status suite_add_program(suite *s, const char *name, vyre_program *program, uint64_t seed,
                              vyre_error *error);
// Seeds first to first + count - 1.
vyre_status suite_add_random(suite *s, const generate_options *options, uint32_t count,
                             vyre_error *error);

// Runs all cases on a backend and on ref, and fills their results. False: out of memory.
bool suite_run(suite *s, const char *backend, const vyre_compile_options *options,
               trial_limits limits);

typedef struct suite_counts {
  uint32_t passed, failed, declined;
} suite_counts;

suite_counts suite_count(const suite *s);

// What programs must have for the failure of a case to concern them. A random program concerns
// those that have everything that is left of it when it is shrunk.
void suite_needs(const suite_case *c, features *out);

#endif
