// SPDX-License-Identifier: MIT
//
// What a device does exactly as the IR means it, what it has, and what it lacks. Lowering reads
// this and nothing else about a device. A field that is false makes a recipe of the table needed
// (lower/recipe.h) or, where no recipe can help, the program unsupported; so the empty record is a
// device that can do almost nothing, and still every recipe applies to it. Plain data: any thread.
#ifndef VYRE_LOWER_TARGET_H
#define VYRE_LOWER_TARGET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lower_target {
  const char *name; // for messages; lives as long as the program

  // Types. Without f64, programs with f64 are unsupported. Without i64, buffers of 64-bit integers
  // have less than 2^31 elements.
  bool has_f64;
  bool has_i64;
  bool has_small_storage; // elements of 8 and 16 bits
  bool converts_f16;      // between f16 and f32; nothing else of f16 is ever asked for

  // Floats.
  bool keeps_f32_subnormals, keeps_f64_subnormals; // as operands and as results
  bool rounds_f32_division, rounds_f64_division; // and square root: correctly rounded
  bool has_f32_fma, has_f64_fma;
  bool has_one_nan;          // a NaN whose bits are taken is the canonical one
  bool saturates_conversion; // float to integer, and NaN gives 0
  bool converts_any;         // where it does not: what is outside gives any integer, harmlessly
  bool has_float_minmax;     // x < y ? x : y, for NaN and zeros too
  // floor, ceil, trunc, round, and rint of both types, are right for every float.
  bool has_f32_rounding, has_f64_rounding, has_rint;

  // Integers.
  bool has_total_division; // x / 0 and MIN / -1 and the remainders are as in the IR
  bool wraps_counts;       // shift counts are taken modulo the width
  bool has_rotate;
  bool has_integer_minmax, has_integer_abs;
  bool has_bit_counts; // popcount and clz
  bool has_trailing_zeros;
  bool has_mulhi;
  bool counts_by_any_step; // a for whose last step would wrap ends all the same

  // Memory.
  bool checks_bounds;     // the backend does it itself, from total accesses
  bool has_small_buffers; // none has 2^31 elements or more
  bool zeroes_shared;
  bool has_i64_atomics;          // add, sub, exchange and compare-exchange
  bool has_i64_extended_atomics; // min, max, and, or, xor
  bool has_float_atomics;        // add, sub, min, max and exchange of f32, and of f64 with i64's
  bool has_only_cas;             // every atomic is compare-exchange

  // Launches.
  bool runs_lanes_along_x; // neighbours along x share vectors, so memory should be in order there
  bool merges_groups;      // lanes may be workgroups (groups.h), and the launch is divided by them
  // Whole workgroups are started, also where they stick out of the grid along an axis of its rank.
  bool pads_grid;
  bool parts_at_barriers;         // a barrier that only some reach is an error, not a hang
  bool polls_stop;                // a launch is ended by asking it to
  uint32_t largest_workgroup;     // invocations; 0: as many as the IR's
  uint64_t largest_buffer_bytes;  // 0: no limit
  uint32_t largest_private_bytes; // of private arrays in a region; 0: as many as the IR's
} lower_target;

#endif
