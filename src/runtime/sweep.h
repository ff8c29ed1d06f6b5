// SPDX-License-Identifier: MIT
//
// A sweep of launch shapes over one executable and captured inputs: every shape's output is
// compared first, samples of earlier sweeps are taken from the store instead of being measured
// again, new ones go there, and a winner is recorded with the tuner. Only programs with an elastic
// region have something to choose. One thread at a time.
#ifndef VYRE_RUNTIME_SWEEP_H
#define VYRE_RUNTIME_SWEEP_H

#include "ir/program.h"
#include "policy/tune_cache.h"
#include "profile/store.h"
#include "runtime/capture.h"

typedef struct sweep_request {
  const vyre_program *program;
  capture *inputs;
  const capture_output *expected;
  vyre_executable *executable;
  const vyre_device *device;
  store *store;            // NULL: samples are neither read nor kept
  uint32_t rounds;         // samples of each; 0: TRIAL_ROUNDS
  const tune_shape *usual; // NULL: the declared shape stays unless another is clearly faster
  const tune_shape *only;  // NULL: all candidates; otherwise this one
  uint64_t budget_ns;      // of timing; 0: as long as it takes
  bool again;              // measure everything, whatever the store has
  bool (*keep_going)(void *context, uint32_t done, uint32_t expected); // or NULL
  void *context;
} sweep_request;

// The region whose workgroup is chosen: the first elastic one; NULL when there is none.
const region *sweep_region(const vyre_program *program);
// What decisions for this launch are filed under; false when no region is elastic.
bool sweep_key(const vyre_program *program, const capture *inputs, tune_key *out);
// A shape as a dispatch takes it: the declared one leaves the choice to the backend, as a dispatch
// without a shape does.
void sweep_launch_shape(const vyre_program *program, tune_shape shape, uint32_t out[3]);
// Whether the shape gives the expected output; `error` says where it does not.
bool sweep_proves(const sweep_request *r, tune_shape shape, vyre_error *error);
// *chosen becomes the shape to use. End with tune_sweep_free(out). Fails only without memory; what
// the store said goes to `store_error`, whose status is VYRE_OK when it had nothing to say.
vyre_status sweep_run(const sweep_request *r, tuner *t, tune_sweep_result *out, tune_shape *chosen,
                      vyre_error *store_error, vyre_error *error);

#endif
