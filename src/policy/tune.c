// SPDX-License-Identifier: MIT
#include "policy/tune.h"

#include "base/environment.h"
#include "base/error.h"
#include "base/hash.h"
#include "ir/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- mode --------------------------------------------------------------------------------------

// `text` is the value of the variable: NULL, empty and "off" are off, "on" is on. Anything else is
// off too, and an error that says so.
static vyre_status tune_mode_parse(const char *text, tune_mode *out, vyre_error *error) {
  *out = text && !strcmp(text, "on") ? TUNE_ON : TUNE_OFF_USE_DEFAULT;
  if (!text || !*text || !strcmp(text, "on") || !strcmp(text, "off")) return VYRE_OK;
  return error_set(error, VYRE_ERROR_ARGUMENT,
                   TUNE_ENV " is `%.60s`, which counts as off. Fix: set it to on or off", text);
}

vyre_status tune_mode_from_env(tune_mode *out, vyre_error *error) {
  return tune_mode_parse(environment_get(TUNE_ENV), out, error);
}

// ---- keys --------------------------------------------------------------------------------------

bool tune_shape_is_valid(tune_shape s) {
  uint64_t invocations = 1;
  for (int i = 0; i < 3; i++) {
    if (s.axis[i] == 0 || s.axis[i] > LIMIT_WORKGROUP) return false;
    invocations *= s.axis[i];
  }
  return invocations <= LIMIT_WORKGROUP;
}

static void add_text(hasher *h, const char *text, size_t size) {
  hash_update(h, text, size);
}
// With the NUL that stands at its end.
#define ADD(h, literal) add_text(h, literal, sizeof(literal))

static void add_number(hasher *h, uint64_t x, unsigned bytes) {
  uint8_t little[8];
  for (unsigned i = 0; i < bytes; i++) little[i] = (uint8_t)(x >> (8 * i));
  hash_update(h, little, bytes);
}

tune_key tune_key_make(const uint8_t fingerprint[32], const tune_static_shape *shape) {
  hasher h;
  hash_init(&h);
  ADD(&h, "vyre-driver-workgroup-tuner-v1\0program");
  hash_update(&h, fingerprint, 32);
  ADD(&h, "\0workgroup-size");
  for (int i = 0; i < 3; i++) add_number(&h, shape->workgroup.axis[i], 4);
  ADD(&h, "\0workgroup-count");
  add_number(&h, shape->has_count, 1);
  for (int i = 0; i < 3 && shape->has_count; i++) add_number(&h, shape->count[i], 4);
  ADD(&h, "\0output-bytes");
  add_number(&h, shape->output_bytes, 8);
  uint8_t digest[HASH_BYTES];
  char hex[HASH_HEX];
  hash_final(&h, digest);
  hash_hex(digest, hex);
  tune_key key;
  snprintf(key.text, sizeof key.text, "v1-%s", hex);
  return key;
}

// ---- candidates --------------------------------------------------------------------------------

uint32_t tune_sizes(uint32_t max_invocations, uint32_t out[TUNE_SIZES]) {
  uint32_t count = 0;
  for (uint32_t size = 32; size <= 1024 && size <= max_invocations; size *= 2) out[count++] = size;
  return count;
}

static bool fits(const tune_limits *limits, tune_shape s) {
  for (int i = 0; i < 3; i++)
    if (limits->max_axis[i] && s.axis[i] > limits->max_axis[i]) return false;
  return true;
}

// An axis larger than this only adds invocations that do nothing.
static uint32_t useful(uint32_t extent, uint32_t most) {
  uint32_t size = 1;
  while (size < most && (extent == 0 || size < extent)) size *= 2;
  return size;
}

uint32_t tune_shapes(uint32_t rank, const uint32_t grid[3], const tune_limits *limits,
                     tune_shape out[TUNE_MAX_CANDIDATES]) {
  // Rows narrower than 8 waste contiguous access. The second axis is folded before the third.
  enum { MIN_ROW = 8, MAX_Y = 16, MAX_Z = 4 };
  uint32_t sizes[TUNE_SIZES], size_count = tune_sizes(limits->max_invocations, sizes), count = 0;
  uint32_t most_y = rank > 1 ? useful(grid[1], MAX_Y) : 1;
  uint32_t most_z = rank > 2 ? useful(grid[2], MAX_Z) : 1;
  for (uint32_t i = 0; i < size_count; i++) {
    for (uint32_t z = 1; z <= most_z; z *= 2) {
      for (uint32_t y = 1; y <= most_y; y *= 2) {
        uint32_t x = sizes[i] / (y * z);
        tune_shape shape = {{x, y, z}};
        bool is_flat = y == 1 && z == 1;
        bool folds_third_first = z > y && y < most_y;
        if ((!is_flat && (x < MIN_ROW || folds_third_first)) || !fits(limits, shape)) continue;
        if (count < TUNE_MAX_CANDIDATES) out[count++] = shape;
      }
    }
  }
  return count;
}

// ---- choosing ----------------------------------------------------------------------------------

vyre_status tune_best_of(const tune_shape *shapes, uint32_t count, const tune_timer *timer,
                         tune_measurement *best, bool *found, vyre_error *error) {
  *found = false;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t ns = 0;
    vyre_status status = timer->measure(timer->context, shapes[i], &ns, error);
    if (status != VYRE_OK) return status;
    if (*found && ns >= best->elapsed_ns) continue;
    *best = (tune_measurement){shapes[i], ns};
    *found = true;
  }
  return VYRE_OK;
}

typedef struct sweep {
  const tune_sweep_options *options;
  const tune_sweep_row *rows;
} sweep;

static vyre_status sweep_run(void *context, uint32_t index, uint64_t *elapsed_ns,
                             vyre_error *error) {
  sweep *s = context;
  return s->options->run(s->options->context, s->rows[index].shape, elapsed_ns, error);
}

static vyre_status sweep_check(void *context, uint32_t index, vyre_error *error) {
  sweep *s = context;
  return s->options->check(s->options->context, s->rows[index].shape, error);
}

static bool sweep_keep_going(void *context, uint32_t done, uint32_t expected) {
  sweep *s = context;
  return s->options->keep_going(s->options->context, done, expected);
}

static void add_row(tune_sweep_result *r, tune_shape shape, const tune_sweep_options *o) {
  for (uint32_t i = 0; i < r->count; i++)
    if (tune_shape_equal(r->rows[i].shape, shape)) return;
  tune_sweep_row *row = &r->rows[r->count];
  trial_candidate *trial = &r->trials[r->count++];
  row->shape = shape;
  snprintf(row->name, sizeof row->name, "%ux%ux%u", shape.axis[0], shape.axis[1], shape.axis[2]);
  trial->name = row->name;
  if (o->earlier)
    trial->sample_count = o->earlier(o->context, shape, trial->samples, TRIAL_MAX_SAMPLES);
  if (trial->sample_count > TRIAL_MAX_SAMPLES) trial->sample_count = TRIAL_MAX_SAMPLES;
  row->earlier_samples = trial->sample_count;
}

vyre_status tune_sweep(const tune_shape *shapes, uint32_t count, const tune_sweep_options *o,
                       tune_sweep_result *out, vyre_error *error) {
  *out = (tune_sweep_result){0};
  out->trials = calloc(count + 1, sizeof *out->trials + sizeof *out->rows);
  if (!out->trials) return error_out_of_memory(error);
  out->rows = (tune_sweep_row *)(out->trials + count + 1);
  add_row(out, o->usual, o); // the default is the first
  for (uint32_t i = 0; i < count; i++) add_row(out, shapes[i], o);
  sweep s = {o, out->rows};
  uint32_t rounds = o->rounds ? o->rounds : TRIAL_ROUNDS;
  trial_options t = {.warmups = TRIAL_WARMUPS,
                     .rounds = rounds,
                     .max_rounds = o->max_rounds ? o->max_rounds : 3 * rounds,
                     .margin_bps = o->margin_bps ? o->margin_bps : TRIAL_MARGIN_BPS,
                     .default_index = 0,
                     .run = sweep_run,
                     .check = o->check ? sweep_check : NULL,
                     .keep_going = o->keep_going ? sweep_keep_going : NULL,
                     .context = &s};
  out->decision = trial_measure(out->trials, out->count, &t);
  return VYRE_OK;
}

void tune_sweep_free(tune_sweep_result *result) {
  free(result->trials);
  *result = (tune_sweep_result){0};
}

// ---- resizing ----------------------------------------------------------------------------------

bool tune_suggest_resize(const tune_resize_policy *policy, const tune_feedback *feedback,
                         uint32_t *size_x) {
  uint32_t current = feedback->observed_workgroup_size_x;
  if (current == 0) current = 1;
  if (feedback->idle_us > policy->idle_shrink_us) {
    *size_x = current / 2;
    return *size_x >= policy->minimum_workgroup_size_x && *size_x != current;
  }
  if (!(feedback->observed_throughput_per_us < policy->saturation_threshold_per_us)) return false;
  *size_x = current > UINT32_MAX / 2 ? UINT32_MAX : current * 2;
  return *size_x <= policy->adapter_max_workgroup_size_x && *size_x != current;
}
