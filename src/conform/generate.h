// SPDX-License-Identifier: MIT
//
// Random trials: from a seed, a valid program that every backend must run with the same bits, and
// inputs for it. Programs are free of data races by construction (an invocation writes its own
// elements, or uses atomics whose final result does not depend on the order), their loops end,
// their barriers are reached by whole workgroups, and their indices are in and out of bounds.
// The same options give the same trial on every machine. Any thread.
#ifndef VYRE_CONFORM_GENERATE_H
#define VYRE_CONFORM_GENERATE_H

#include "base/random.h"
#include "conform/trial.h"

typedef struct generate_options {
  uint64_t seed;
  uint32_t size;  // statements in a region, about; 0: 12
  bool with_math; // the operations that src/ir/math expands, too
  bool without_f64, without_i64, without_i64_atomics;
  bool without_barriers; // no shared arrays either
  bool without_rigid;    // elastic regions only
  uint32_t fast_ulp;     // the budget of its arithmetic
  bool only_provable;    // what is uniform is so without looking at shared memory
} generate_options;

// The caller ends a trial that was made with trial_fini.
vyre_status generate_trial(const generate_options *options, trial *out, vyre_error *error);

// Inputs for a program that somebody wrote: integer parameters are small and even, buffers that are
// sized as bound have `length` elements (512 is whole for most workgroups). The trial retains the
// program. An error when the program takes none of the parameters that were tried.
vyre_status generate_inputs(vyre_program *program, uint64_t seed, uint64_t length, trial *out,
                            vyre_error *error);

// A value of the type for an input: a special one (zeros, extremes, infinities, NaN, subnormals), a
// small one, or any bits. Canonical except for bool, which has any byte.
uint64_t generate_bits(random_state *r, vyre_type type);
// The number as bits of a type, converted as the IR does.
uint64_t generate_float(vyre_type type, double value);
// Fills `out` with special values of the type; returns how many, at most `capacity`.
uint32_t generate_specials(vyre_type type, uint64_t *out, uint32_t capacity);
void generate_fill(random_state *r, vyre_type type, const vyre_span *span);

#endif
