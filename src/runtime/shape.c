// SPDX-License-Identifier: MIT
#include "runtime/shape.h"

#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <string.h>

#define SWEEP_BUDGET_NS UINT64_C(3000000000)

typedef struct choosing {
  vyre_kernel *kernel;
  plan *plan;
  sweep_request sweep;
  tuner *tuner;
} choosing;

static void set_reason(choosing *c, const char *reason) {
  pthread_mutex_lock(&c->kernel->lock);
  c->plan->tune_reason = reason;
  pthread_mutex_unlock(&c->kernel->lock);
}

// What was decided before is proven here, and then measured like any other.
static bool take_decided(choosing *c, const char *key, uint32_t shape[3]) {
  vyre_error error;
  tune_shape decided = tuner_resolve(c->tuner, key);
  set_reason(c, "decided-before");
  sweep_launch_shape(c->sweep.program, decided, shape);
  return shape[0] && sweep_proves(&c->sweep, decided, &error);
}

static bool sweep(choosing *c, uint32_t shape[3], trial_candidate *tried) {
  vyre_runtime *rt = c->kernel->runtime;
  tune_sweep_result result;
  tune_shape chosen;
  vyre_error store_error, error;
  if (sweep_run(&c->sweep, c->tuner, &result, &chosen, &store_error, NULL) != VYRE_OK) return false;
  if (store_error.status != VYRE_OK) evidence_tell(rt, &store_error);
  set_reason(c, trial_reason_name(result.decision.reason));
  sweep_launch_shape(c->sweep.program, chosen, shape);
  for (uint32_t i = 0; i < result.count; i++)
    if (tune_shape_equal(result.rows[i].shape, chosen)) *tried = result.trials[i];
  tune_sweep_free(&result);
  note_sink notes = runtime_notes(rt);
  if (!rt->options.no_store && tuner_persist(c->tuner, &notes, &error) != VYRE_OK)
    runtime_notice(rt, NOTICE_STORE, "launch shapes are not kept: %s", error.message);
  return shape[0] != 0;
}

static bool goes_on(void *worker, uint32_t done, uint32_t expected) {
  (void)done, (void)expected;
  return !worker_is_ending(worker);
}

bool shape_choose(vyre_kernel *k, plan *p, const shape_request *r, uint32_t shape[3],
                  trial_candidate *tried) {
  vyre_runtime *rt = k->runtime;
  vyre_device device;
  tune_key key;
  bool is_found = false;
  *tried = (trial_candidate){0};
  if (!sweep_key(r->code->program, r->inputs, &key)) return false;
  if (!backend_device(r->code->backend, &device)) return false;
  note_sink notes = runtime_notes(rt);
  choosing c = {.kernel = k,
                .plan = p,
                .sweep = {.program = r->code->program,
                          .inputs = r->inputs,
                          .expected = r->expected,
                          .executable = r->code->executable,
                          .device = &device,
                          .store = rt->evidence.store,
                          .usual = r->usual,
                          .only = r->only,
                          .keep_going = goes_on,
                          .context = rt->worker,
                          .budget_ns = SWEEP_BUDGET_NS},
                .tuner = rt->options.no_store ? tuner_new_empty(device.adapter, rt->tune_mode)
                                              : tuner_new(device.adapter, rt->tune_mode, &notes)};
  if (c.tuner && !r->only && tuner_is_decided(c.tuner, key.text))
    is_found = take_decided(&c, key.text, shape);
  else if (c.tuner && r->may_sweep)
    is_found = sweep(&c, shape, tried);
  tuner_free(c.tuner);
  return is_found;
}
