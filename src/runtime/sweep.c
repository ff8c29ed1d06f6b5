// SPDX-License-Identifier: MIT
#include "runtime/sweep.h"

#include "base/error.h"
#include "ir/program.h"

#include <string.h>

typedef struct sweep {
  const sweep_request *request;
  uint64_t spent_ns;         // on timing
  store_tuning_row *earlier; // of the same key
  uint32_t earlier_count;
} sweep;

const region *sweep_region(const vyre_program *p) {
  for (uint32_t i = 0; i < p->region_count; i++)
    if (p->regions[i].is_elastic) return &p->regions[i];
  return NULL;
}

void sweep_launch_shape(const vyre_program *p, tune_shape shape, uint32_t out[3]) {
  const region *r = sweep_region(p);
  bool is_declared = r && !memcmp(r->workgroup, shape.axis, sizeof shape.axis);
  for (int i = 0; i < 3; i++) out[i] = is_declared ? 0 : shape.axis[i];
}

static vyre_status run_shape(void *context, tune_shape shape, uint64_t *elapsed_ns,
                             vyre_error *error) {
  sweep *s = context;
  const sweep_request *r = s->request;
  uint32_t axis[3];
  sweep_launch_shape(r->program, shape, axis);
  return capture_time(r->inputs, r->executable, axis, elapsed_ns, &s->spent_ns, error);
}

bool sweep_proves(const sweep_request *r, tune_shape shape, vyre_error *error) {
  char text[160];
  uint32_t axis[3];
  sweep_launch_shape(r->program, shape, axis);
  if (capture_answer(r->inputs, r->executable, axis, error) != VYRE_OK) return false;
  if (capture_matches(r->inputs, r->expected, text, sizeof text)) return true;
  error_set(error, VYRE_ERROR_VERIFY, "%s", text);
  return false;
}

static vyre_status check_shape(void *context, tune_shape shape, vyre_error *error) {
  return sweep_proves(((sweep *)context)->request, shape, error) ? VYRE_OK : error->status;
}

static bool keep_going(void *context, uint32_t done, uint32_t expected) {
  const sweep *s = context;
  const sweep_request *r = s->request;
  if (r->budget_ns && s->spent_ns > r->budget_ns) return false;
  return !r->keep_going || r->keep_going(r->context, done, expected);
}

// As many as settle a comparison: a candidate with fewer is measured again.
enum { ENOUGH_EARLIER = 3 * TRIAL_ROUNDS };

static uint32_t earlier_samples(void *context, tune_shape shape, uint64_t *samples,
                                uint32_t capacity) {
  const sweep *s = context;
  if (capacity > ENOUGH_EARLIER) capacity = ENOUGH_EARLIER;
  for (uint32_t i = 0; i < s->earlier_count; i++) {
    const store_samples *known = &s->earlier[i].samples;
    if (memcmp(s->earlier[i].shape, shape.axis, sizeof shape.axis)) continue;
    uint32_t count = known->recent_count < capacity ? known->recent_count : capacity;
    memcpy(samples, known->recent_ns + known->recent_count - count, count * sizeof *samples);
    return count;
  }
  return 0;
}

static vyre_status keep_samples(const sweep_request *r, const char *key,
                                const tune_sweep_result *result, vyre_error *error) {
  store_tuning rows[TUNE_MAX_CANDIDATES + 1];
  uint32_t count = 0;
  for (uint32_t i = 0; i < result->count && count <= TUNE_MAX_CANDIDATES; i++) {
    const trial_candidate *t = &result->trials[i];
    uint32_t old = result->rows[i].earlier_samples;
    if (t->rejected || t->sample_count <= old) continue;
    store_tuning row = {.device = r->device->adapter,
                        .key = key,
                        .op = r->program->name,
                        .ns = t->samples + old,
                        .count = t->sample_count - old};
    memcpy(row.shape, result->rows[i].shape.axis, sizeof row.shape);
    rows[count++] = row;
  }
  if (!count || store_is_read_only(r->store)) return VYRE_OK;
  return store_append(r->store, &(store_batch){.tunings = rows, .tuning_count = count}, error);
}

bool sweep_key(const vyre_program *p, const capture *inputs, tune_key *out) {
  const region *r = sweep_region(p);
  if (!r) return false;
  tune_static_shape shape = {.workgroup = {{r->workgroup[0], r->workgroup[1], r->workgroup[2]}}};
  for (uint32_t i = 0, next = 0; i < p->buffer_count; i++) {
    if (p->buffers[i].is_transient) continue;
    size_t bytes = inputs->inputs[next++].size_bytes;
    if (p->buffers[i].access & VYRE_WRITE) shape.output_bytes += bytes;
  }
  *out = tune_key_make(program_fingerprint(p), &shape);
  return true;
}

vyre_status sweep_run(const sweep_request *r, tuner *t, tune_sweep_result *out, tune_shape *chosen,
                      vyre_error *store_error, vyre_error *error) {
  const region *g = sweep_region(r->program);
  tune_shape shapes[TUNE_MAX_CANDIDATES];
  tune_limits limits = {.max_invocations = r->device->max_workgroup};
  uint32_t grid[3] = {0, 0, 0};
  (void)capture_grid(r->inputs, (uint32_t)(g - r->program->regions), grid);
  uint32_t count = tune_shapes(g->rank, grid, &limits, shapes);
  sweep s = {.request = r};
  tune_key key;
  arena memory = ARENA_INIT;
  vyre_error unused;
  (void)sweep_key(r->program, r->inputs, &key);
  *store_error = (vyre_error){0};
  if (r->store && !r->again)
    (void)store_load_tunings(r->store, r->device->adapter, key.text, &memory, &s.earlier,
                             &s.earlier_count, store_error);
  tune_shape declared = {{g->workgroup[0], g->workgroup[1], g->workgroup[2]}};
  if (r->only) shapes[0] = *r->only;
  if (r->only) count = 1;
  tune_sweep_options options = {.usual = r->usual ? *r->usual : declared,
                                .rounds = r->rounds,
                                .run = run_shape,
                                .check = check_shape,
                                .earlier = earlier_samples,
                                .keep_going = keep_going,
                                .context = &s};
  *chosen = options.usual;
  vyre_status status = tune_sweep(shapes, count, &options, out, error);
  arena_free(&memory);
  if (status != VYRE_OK) return status;
  if (r->store) (void)keep_samples(r, key.text, out, store_error);
  int winner = out->decision.winner;
  // One that was measured in an earlier process was proven there; it is proven here as well.
  if (winner == TRIAL_NONE || !sweep_proves(r, out->rows[winner].shape, &unused)) return VYRE_OK;
  *chosen = out->rows[winner].shape;
  status = tuner_record_decision(t, key.text, *chosen, error);
  if (status != VYRE_OK) tune_sweep_free(out);
  return status;
}
