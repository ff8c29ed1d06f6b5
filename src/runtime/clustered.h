// SPDX-License-Identifier: MIT
//
// What makes a runtime one of a cluster, for vyre_cluster_new, and for tests and tools that bring
// their own transport. As runtime.h.
#ifndef VYRE_RUNTIME_CLUSTERED_H
#define VYRE_RUNTIME_CLUSTERED_H

#include "cluster/cluster.h"

// `transport` NULL: that of MPI; `how` NULL: as usual (cluster.h); its backend is of `options`.
vyre_status clustered_runtime_new(const cluster_transport *transport, int32_t communicator,
                                  const vyre_runtime_options *options, const cluster_options *how,
                                  vyre_runtime **out, vyre_error *error);

#endif
