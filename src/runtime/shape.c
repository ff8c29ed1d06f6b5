// SPDX-License-Identifier: MIT
#include "runtime/shape.h"

#include "runtime/kernel.h"
#include "runtime/runtime.h"

#include <string.h>

void shape_sweep(vyre_runtime *rt, plan *p, const sweep_request *r, tuner *t) {
  tune_sweep_result result;
  tune_shape chosen;
  vyre_error store_error;
  if (sweep_run(r, t, &result, &chosen, &store_error, NULL) != VYRE_OK) return;
  if (store_error.status != VYRE_OK) evidence_tell(rt, &store_error);
  p->tune_reason = trial_reason_name(result.decision.reason);
  uint32_t axis[3];
  sweep_launch_shape(r->program, chosen, axis);
  plan_set_shape(p, axis);
  tune_sweep_free(&result);
}

void shape_choose(vyre_kernel *k, plan *p, capture *inputs, const capture_output *expected,
                  variant *v) {
  vyre_runtime *rt = k->runtime;
  vyre_device device;
  vyre_error error;
  uint32_t devices = 0;
  tune_key key;
  if (rt->options.no_store || !sweep_key(k->program, inputs, &key)) return;
  if (vyre_backend_devices(v->backend, &device, 1, &devices, NULL) != VYRE_OK || !devices) return;
  note_sink notes = runtime_notes(rt);
  tuner *t = tuner_new(device.adapter, rt->tune_mode, &notes);
  sweep_request r = {.program = k->program,
                     .inputs = inputs,
                     .expected = expected,
                     .executable = v->executable,
                     .device = &device,
                     .store = rt->evidence.store};
  if (t && tuner_is_decided(t, key.text)) {
    tune_shape shape = tuner_resolve(t, key.text);
    p->tune_reason = "decided-before";
    uint32_t axis[3];
    sweep_launch_shape(k->program, shape, axis);
    if (sweep_proves(&r, shape, &error)) plan_set_shape(p, axis);
  } else if (t && rt->tune_mode == TUNE_ON) {
    shape_sweep(rt, p, &r, t);
    if (tuner_persist(t, &notes, &error) != VYRE_OK)
      runtime_notice(rt, NOTICE_STORE, "launch shapes are not kept: %s", error.message);
  }
  tuner_free(t);
}
