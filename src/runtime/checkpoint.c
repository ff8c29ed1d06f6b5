// SPDX-License-Identifier: MIT
//
// Checkpoints of a runtime's buffers: of a cluster all ranks together, otherwise one part.
#include "cluster/checkpoint.h"

#include "backend/resident.h"
#include "base/error.h"
#include "base/fpenv.h"
#include "cluster/cluster.h"
#include "runtime/runtime.h"

static vyre_status check_runtime(vyre_runtime *rt, const checkpoint *k, vyre_error *error) {
  vyre_status status = runtime_check(rt, error);
  if (status != VYRE_OK || rt->cluster) return status; // which looks at the rest, as all ranks do
  status = checkpoint_check(k, error);
  for (uint32_t i = 0; i < k->buffer_count && status == VYRE_OK; i++)
    if (k->buffers[i].buffer->runtime != rt)
      status = error_set(error, VYRE_ERROR_ARGUMENT,
                         "buffer `%.100s` belongs to another runtime. Fix: use buffers of this one",
                         k->buffers[i].name);
  return status;
}

static vyre_status save_alone(checkpoint *k, vyre_error *error) {
  vyre_status status = VYRE_OK;
  bool is_new = false;
  for (uint32_t i = 0; i < k->buffer_count && status == VYRE_OK; i++)
    status = resident_to_host(k->buffers[i].buffer, error);
  if (status == VYRE_OK && !checkpoint_share(k, 1)) status = error_out_of_memory(error);
  if (status == VYRE_OK) status = checkpoint_write_part(k, 0, &is_new, error);
  if (status == VYRE_OK) status = checkpoint_write_manifest(k, error);
  if (status != VYRE_OK && is_new) checkpoint_remove_part(k, 0);
  return status;
}

static vyre_status load_alone(checkpoint *k, vyre_error *error) {
  uint64_t hash;
  vyre_status status = checkpoint_read_manifest(k, &hash, error);
  for (int turn = 0; turn < 2; turn++)
    for (uint32_t n = 0; n < k->parts.count && status == VYRE_OK; n++)
      status = checkpoint_read_part(k, n, turn, error);
  for (uint32_t i = 0; i < k->buffer_count && status == VYRE_OK; i++)
    resident_host_written(k->buffers[i].buffer);
  return status;
}

vyre_status vyre_checkpoint_save(vyre_runtime *rt, const char *folder, const char *label,
                                 uint64_t step, const vyre_checkpoint_buffer *buffers,
                                 uint32_t count, vyre_error *error) {
  FPENV_SCOPE;
  if (!rt)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_checkpoint_save was called with NULL. Fix: pass a runtime");
  checkpoint k = {.folder = folder,
                  .label = label ? label : "",
                  .buffers = buffers,
                  .buffer_count = count,
                  .step = step};
  vyre_status status = check_runtime(rt, &k, error);
  if (status == VYRE_OK)
    status = rt->cluster ? cluster_save(rt->cluster, &k, error) : save_alone(&k, error);
  checkpoint_fini(&k);
  return status;
}

vyre_status vyre_checkpoint_load(vyre_runtime *rt, const char *folder, const char *label,
                                 uint64_t *step, const vyre_checkpoint_buffer *buffers,
                                 uint32_t count, vyre_error *error) {
  FPENV_SCOPE;
  if (!rt)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_checkpoint_load was called with NULL. Fix: pass a runtime");
  checkpoint k = {
      .folder = folder, .label = label ? label : "", .buffers = buffers, .buffer_count = count};
  vyre_status status = check_runtime(rt, &k, error);
  if (status == VYRE_OK)
    status = rt->cluster ? cluster_load(rt->cluster, &k, error) : load_alone(&k, error);
  if (status == VYRE_OK && step) *step = k.step;
  checkpoint_fini(&k);
  return status;
}
