// SPDX-License-Identifier: MIT
//
// Which launch shape an elastic region gets: modes, keys, candidates, the choice among measured
// ones and the resize policy. Pure functions except where they call back to measure; any thread.
// What was chosen is kept by tune_cache.h.
#ifndef VYRE_POLICY_TUNE_H
#define VYRE_POLICY_TUNE_H

#include <vyre/vyre.h>

#include "policy/trial.h"

// ---- mode --------------------------------------------------------------------------------------

#define TUNE_ENV "VYRE_AUTOTUNER"

typedef enum tune_mode {
  TUNE_OFF_USE_DEFAULT, // cached decisions where there are any, otherwise the default shape
  TUNE_ON,              // measure candidates on the first dispatch
} tune_mode;

vyre_status tune_mode_from_env(tune_mode *out, vyre_error *error);

// ---- keys --------------------------------------------------------------------------------------

typedef struct tune_shape {
  uint32_t axis[3];
} tune_shape;

#define TUNE_DEFAULT_SHAPE ((tune_shape){{64, 1, 1}})

static inline bool tune_shape_equal(tune_shape a, tune_shape b) {
  return a.axis[0] == b.axis[0] && a.axis[1] == b.axis[1] && a.axis[2] == b.axis[2];
}
// Every axis at least 1, and not more invocations than any workgroup may have.
bool tune_shape_is_valid(tune_shape shape);

// What is known of a launch before it, to tell decisions apart.
typedef struct tune_static_shape {
  tune_shape workgroup; // declared or overridden
  bool has_count;
  uint32_t count[3]; // workgroups, when known
  uint64_t output_bytes;
} tune_static_shape;

typedef struct tune_key {
  char text[68]; // "v1-" and 64 hexadecimal digits
} tune_key;

tune_key tune_key_make(const uint8_t fingerprint[32], const tune_static_shape *shape);

// ---- candidates --------------------------------------------------------------------------------

enum { TUNE_MAX_CANDIDATES = 64, TUNE_SIZES = 6 };

// 32, 64, 128, 256, 512, 1024, as far as they are at most `max_invocations`. Returns how many.
uint32_t tune_sizes(uint32_t max_invocations, uint32_t out[TUNE_SIZES]);

typedef struct tune_limits {
  uint32_t max_invocations;
  uint32_t max_axis[3]; // 0: only bounded by max_invocations
} tune_limits;

// The shapes to try for a grid of that rank, in a fixed order: of each size, the flat one first,
// then those folded over two or three axes. `grid` holds the extents, or 0 where not known: shapes
// that are larger than the grid along a further axis are left out.
uint32_t tune_shapes(uint32_t rank, const uint32_t grid[3], const tune_limits *limits,
                     tune_shape out[TUNE_MAX_CANDIDATES]);

// ---- choosing ----------------------------------------------------------------------------------

typedef struct tune_timer {
  // Measures one shape once.
  vyre_status (*measure)(void *context, tune_shape shape, uint64_t *elapsed_ns, vyre_error *error);
  void *context;
} tune_timer;

typedef struct tune_measurement {
  tune_shape shape;
  uint64_t elapsed_ns;
} tune_measurement;

// Measures each once and takes the fastest, the first of equals. The first failure ends it.
// *found is false when there was no candidate.
vyre_status tune_best_of(const tune_shape *shapes, uint32_t count, const tune_timer *timer,
                         tune_measurement *best, bool *found, vyre_error *error);

// The same with proof and care: outputs compared first, samples repeated and interleaved, a margin
// over noise, and samples of earlier sweeps used instead of being taken again.
typedef struct tune_sweep_options {
  tune_shape usual; // what stays unless another clearly wins; tried even if not a candidate
  uint32_t rounds, max_rounds; // 0: TRIAL_ROUNDS, and three times as many
  uint32_t margin_bps;         // 0: TRIAL_MARGIN_BPS
  vyre_status (*run)(void *context, tune_shape shape, uint64_t *elapsed_ns, vyre_error *error);
  vyre_status (*check)(void *context, tune_shape shape, vyre_error *error); // or NULL
  uint32_t (*earlier)(void *context, tune_shape shape, uint64_t *samples,
                      uint32_t capacity);                              // or NULL
  bool (*keep_going)(void *context, uint32_t done, uint32_t expected); // or NULL
  void *context;
} tune_sweep_options;

typedef struct tune_sweep_row {
  tune_shape shape;
  uint32_t earlier_samples; // the first ones of trial.samples were not taken by this sweep
  char name[36];            // "8x8x1"
} tune_sweep_row;

typedef struct tune_sweep_result {
  trial_decision decision; // indices into rows and trials
  uint32_t count;
  tune_sweep_row *rows;
  trial_candidate *trials;
} tune_sweep_result;

// The result is one block: release it with tune_sweep_free. Fails only when out of memory.
vyre_status tune_sweep(const tune_shape *shapes, uint32_t count, const tune_sweep_options *options,
                       tune_sweep_result *out, vyre_error *error);
void tune_sweep_free(tune_sweep_result *result);

// ---- resizing ----------------------------------------------------------------------------------

typedef struct tune_feedback {
  uint64_t wall_time_us;
  uint64_t idle_us; // inside that time
  uint32_t observed_workgroup_size_x;
  double observed_throughput_per_us;
} tune_feedback;

typedef struct tune_resize_policy {
  uint32_t adapter_max_workgroup_size_x;
  uint32_t minimum_workgroup_size_x;
  double saturation_threshold_per_us; // below it, grow
  uint64_t idle_shrink_us;            // above it, shrink
} tune_resize_policy;

#define TUNE_RESIZE_DEFAULT ((tune_resize_policy){1024, 32, 1.0, 100000})

// True when another size is suggested for the next window.
bool tune_suggest_resize(const tune_resize_policy *policy, const tune_feedback *feedback,
                         uint32_t *size_x);

#endif
