// SPDX-License-Identifier: MIT
//
// Devices that do not exist: one that does everything as the IR means it, one that does nothing it
// can be spared, and for each recipe one that needs that recipe alone.
#ifndef VYRE_TESTS_LOWER_TARGETS_H
#define VYRE_TESTS_LOWER_TARGETS_H

#include "lower/recipe.h"

static const lower_target lower_everything = {
    .name = "everything",
    .has_f64 = true,
    .has_i64 = true,
    .has_small_storage = true,
    .keeps_f32_subnormals = true,
    .keeps_f64_subnormals = true,
    .rounds_f32_division = true,
    .rounds_f64_division = true,
    .has_f32_fma = true,
    .has_f64_fma = true,
    .has_one_nan = true,
    .saturates_conversion = true,
    .has_float_minmax = true,
    .has_f32_rounding = true,
    .has_f64_rounding = true,
    .has_rint = true,
    .has_total_division = true,
    .wraps_counts = true,
    .has_rotate = true,
    .has_integer_minmax = true,
    .has_integer_abs = true,
    .has_bit_counts = true,
    .has_trailing_zeros = true,
    .has_mulhi = true,
    .counts_by_any_step = true,
    .checks_bounds = true,
    .zeroes_shared = true,
    .has_i64_atomics = true,
    .has_i64_extended_atomics = true,
    .has_float_atomics = true,
    .parts_at_barriers = true,
};

// What no recipe makes up for is there.
static const lower_target lower_nothing = {
    .name = "nothing",
    .has_f64 = true,
    .has_i64 = true,
    .keeps_f32_subnormals = true,
    .keeps_f64_subnormals = true,
    .has_i64_atomics = true,
    .has_only_cas = true,
    .runs_lanes_along_x = true,
    .pads_grid = true,
    .polls_stop = true,
    .parts_at_barriers = true,
};

// The same with conversions that give anything where they are not defined.
static inline lower_target lower_converting_any(void) {
  lower_target t = lower_nothing;
  t.name = "any";
  t.converts_any = true;
  return t;
}

// Words of 32 bits and f32 are all there is: every recipe applies, and programs with f64 or 64-bit
// atomics are declined.
static inline lower_target lower_words(void) {
  lower_target t = lower_nothing;
  t.name = "words";
  t.has_f64 = t.has_i64 = t.has_i64_atomics = t.has_small_storage = false;
  return t;
}

// The one that does nothing, and with words only, where subnormal numbers are flushed, too.
static inline lower_target lower_flushing(lower_target t) {
  t.name = t.has_f64 ? "flushing" : "flushing words";
  t.keeps_f32_subnormals = t.keeps_f64_subnormals = false;
  return t;
}

// lower_everything without what makes the recipe needed.
static inline lower_target lower_lacking(unsigned recipe) {
  lower_target t = lower_everything;
  t.name = recipe_table[recipe]->name;
  switch (recipe) {
  case RECIPE_turn: t.runs_lanes_along_x = true; break;
  case RECIPE_half: break; // always
  case RECIPE_bounds: t.checks_bounds = false; break;
  case RECIPE_atomics: t.has_only_cas = true; break;
  case RECIPE_storage: t.has_small_storage = false; break;
  case RECIPE_wide: t.has_i64 = t.has_i64_atomics = false; break;
  case RECIPE_division: t.has_total_division = false; break;
  case RECIPE_mulhi: t.has_mulhi = false; break;
  case RECIPE_counts: t.has_bit_counts = t.has_trailing_zeros = false; break;
  case RECIPE_rotation: t.has_rotate = false; break;
  case RECIPE_shift: t.wraps_counts = false; break;
  case RECIPE_magnitude: t.has_integer_abs = false; break;
  case RECIPE_subnormal: t.keeps_f32_subnormals = t.keeps_f64_subnormals = false; break;
  case RECIPE_minmax: t.has_float_minmax = t.has_integer_minmax = false; break;
  case RECIPE_conversion: t.saturates_conversion = false; break;
  case RECIPE_rounding: t.has_f32_rounding = t.has_f64_rounding = t.has_rint = false; break;
  case RECIPE_fused: t.has_f32_fma = false; break;
  case RECIPE_fused_exact: t.has_f64_fma = false; break;
  case RECIPE_quotient: t.rounds_f32_division = false; break;
  case RECIPE_quotient_exact: t.rounds_f32_division = t.rounds_f64_division = false; break;
  case RECIPE_nan_bits: t.has_one_nan = false; break;
  case RECIPE_loop: t.counts_by_any_step = false; break;
  case RECIPE_shared_zero: t.zeroes_shared = false; break;
  case RECIPE_grid_guard: t.pads_grid = true; break;
  case RECIPE_stop: t.polls_stop = true; break;
  }
  return t;
}

// Asks, and has nobody who would see that some are missing at a barrier.
static inline lower_target lower_asking(void) {
  lower_target t = lower_lacking(RECIPE_stop);
  t.parts_at_barriers = false;
  return t;
}

#endif
