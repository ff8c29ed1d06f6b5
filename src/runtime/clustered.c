// SPDX-License-Identifier: MIT
//
// A runtime whose kernels and buffers are those of a cluster. Nothing is learned there: each rank
// runs its parts on its own CPU.
#include "base/error.h"
#include "base/fpenv.h"
#include "cluster/cluster.h"
#include "runtime/clustered.h"
#include "runtime/runtime.h"

vyre_status clustered_runtime_new(const cluster_transport *transport, int32_t communicator,
                                  const vyre_runtime_options *options, const cluster_options *how,
                                  vyre_runtime **out, vyre_error *error) {
  cluster_options used = how ? *how : (cluster_options){0};
  used.backend = options->backend;
  vyre_runtime_options own = *options;
  own.no_learning = own.no_store = true;
  own.specialise = false;
  vyre_status status = vyre_runtime_new(&own, out, error);
  if (status != VYRE_OK) return status;
  status = cluster_new(transport, communicator, &used, &(*out)->cluster, error);
  if (status == VYRE_OK) return VYRE_OK;
  vyre_runtime_free(*out);
  *out = NULL;
  return status;
}

vyre_status vyre_cluster_new(int32_t communicator, const vyre_runtime_options *options,
                             vyre_runtime **out, vyre_error *error) {
  FPENV_SCOPE;
  if (!out)
    return error_set(error, VYRE_ERROR_ARGUMENT,
                     "vyre_cluster_new was called with NULL. Fix: pass where the runtime goes");
  *out = NULL;
  vyre_runtime_options defaults = {0};
  return clustered_runtime_new(NULL, communicator, options ? options : &defaults, NULL, out, error);
}

uint32_t vyre_cluster_rank(const vyre_runtime *rt) {
  return rt && rt->cluster ? cluster_rank(rt->cluster) : 0;
}

uint32_t vyre_cluster_size(const vyre_runtime *rt) {
  return rt && rt->cluster ? cluster_size(rt->cluster) : 1;
}
