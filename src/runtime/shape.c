// SPDX-License-Identifier: MIT
//
// The launch shape of a plan: the one that was chosen before, or, when VYRE_AUTOTUNER is on, the
// fastest of a sweep. Only elastic regions have one, and each candidate's output is compared first.
#include "runtime/kernel.h"

#include <stdlib.h>
#include <string.h>

typedef struct shape_job {
  capture *inputs;
  const capture_output *expected;
  variant *variant;
  const store_tuning_row *earlier; // of the same key, from earlier sweeps
  uint32_t earlier_count;
} shape_job;

static vyre_status run_shape(void *context, tune_shape shape, uint64_t *elapsed_ns,
                             vyre_error *error) {
  shape_job *j = context;
  vyre_report report = {0};
  vyre_status status = capture_run(j->inputs, j->variant->executable, shape.axis, &report, error);
  *elapsed_ns = report.wall_ns;
  return status;
}

static vyre_status check_shape(void *context, tune_shape shape, vyre_error *error) {
  shape_job *j = context;
  uint64_t unused;
  vyre_status status = run_shape(context, shape, &unused, error);
  if (status != VYRE_OK) return status;
  return capture_matches(j->inputs, j->expected, error->message, sizeof error->message)
             ? VYRE_OK
             : VYRE_ERROR_VERIFY;
}

// As many as settle a comparison: a candidate with fewer is measured again.
enum { ENOUGH_EARLIER = 3 * TRIAL_ROUNDS };

static uint32_t earlier_samples(void *context, tune_shape shape, uint64_t *samples,
                                uint32_t capacity) {
  const shape_job *j = context;
  for (uint32_t i = 0; i < j->earlier_count; i++) {
    const store_samples *s = &j->earlier[i].samples;
    if (memcmp(j->earlier[i].shape, shape.axis, sizeof shape.axis)) continue;
    if (capacity > ENOUGH_EARLIER) capacity = ENOUGH_EARLIER;
    uint32_t count = s->recent_count < capacity ? s->recent_count : capacity;
    memcpy(samples, s->recent_ns + s->recent_count - count, count * sizeof *samples);
    return count;
  }
  return 0;
}

static void keep_samples(vyre_runtime *rt, const char *device, const char *key,
                         const tune_sweep_result *result) {
  store_tuning rows[TUNE_MAX_CANDIDATES + 1];
  uint32_t count = 0;
  for (uint32_t i = 0; i < result->count && count <= TUNE_MAX_CANDIDATES; i++) {
    const trial_candidate *t = &result->trials[i];
    uint32_t old = result->rows[i].earlier_samples;
    if (t->rejected || t->sample_count <= old) continue;
    store_tuning row = {
        .device = device, .key = key, .ns = t->samples + old, .count = t->sample_count - old};
    memcpy(row.shape, result->rows[i].shape.axis, sizeof row.shape);
    rows[count++] = row;
  }
  evidence_keep_tunings(rt, rows, count);
}

static const region *first_elastic(const vyre_program *p) {
  for (uint32_t i = 0; i < p->region_count; i++)
    if (p->regions[i].is_elastic) return &p->regions[i];
  return NULL;
}

static tune_key key_of(const vyre_program *p, const region *r, const capture *inputs) {
  tune_static_shape shape = {.workgroup = {{r->workgroup[0], r->workgroup[1], r->workgroup[2]}}};
  for (uint32_t i = 0, next = 0; i < p->buffer_count; i++) {
    if (p->buffers[i].is_transient) continue;
    size_t bytes = inputs->inputs[next++].size_bytes;
    if (p->buffers[i].access & VYRE_WRITE) shape.output_bytes += bytes;
  }
  return tune_key_make(p->fingerprint, &shape);
}

static void sweep(vyre_runtime *rt, plan *p, shape_job *j, const region *r, tuner *t,
                  const char *key, const vyre_device *device) {
  tune_shape shapes[TUNE_MAX_CANDIDATES];
  tune_limits limits = {.max_invocations = device->max_workgroup};
  uint32_t count = tune_shapes(r->rank, (uint32_t[3]){0, 0, 0}, &limits, shapes);
  tune_sweep_options options = {
      .usual = {{r->workgroup[0], r->workgroup[1], r->workgroup[2]}},
      .run = run_shape,
      .check = check_shape,
      .earlier = earlier_samples,
      .context = j,
  };
  tune_sweep_result result;
  arena memory = ARENA_INIT;
  j->earlier = evidence_load_tunings(rt, device->adapter, key, &memory, &j->earlier_count);
  vyre_status status = tune_sweep(shapes, count, &options, &result, NULL);
  arena_free(&memory);
  if (status != VYRE_OK) return;
  keep_samples(rt, device->adapter, key, &result);
  p->tune_reason = trial_reason_name(result.decision.reason);
  int winner = result.decision.winner;
  vyre_error error;
  // One that was measured in an earlier process was proven there; it is proven here as well.
  if (winner != TRIAL_NONE && check_shape(j, result.rows[winner].shape, &error) == VYRE_OK) {
    tune_shape won = result.rows[winner].shape;
    memcpy(p->tuned, won.axis, sizeof p->tuned);
    (void)tuner_record_decision(t, key, won, NULL);
  }
  tune_sweep_free(&result);
}

void tune_begin(vyre_kernel *k, plan *p, capture *inputs, const capture_output *expected,
                variant *v) {
  vyre_runtime *rt = k->runtime;
  const region *r = first_elastic(k->program);
  vyre_device device;
  uint32_t devices = 0;
  if (!r || rt->options.no_store) return;
  if (vyre_backend_devices(v->backend, &device, 1, &devices, NULL) != VYRE_OK || !devices) return;
  note_sink notes = runtime_notes(rt);
  tuner *t = tuner_new(device.adapter, rt->tune_mode, &notes);
  tune_key key = key_of(k->program, r, inputs);
  shape_job j = {.inputs = inputs, .expected = expected, .variant = v};
  vyre_error error;
  if (t && tuner_is_decided(t, key.text)) {
    tune_shape shape = tuner_resolve(t, key.text);
    p->tune_reason = "decided-before";
    if (check_shape(&j, shape, &error) == VYRE_OK) memcpy(p->tuned, shape.axis, sizeof p->tuned);
  } else if (t && rt->tune_mode == TUNE_ON) {
    sweep(rt, p, &j, r, t, key.text, &device);
    if (tuner_persist(t, &notes, &error) != VYRE_OK)
      runtime_notice(rt, NOTICE_STORE, "launch shapes are not kept: %s", error.message);
  }
  tuner_free(t);
}
