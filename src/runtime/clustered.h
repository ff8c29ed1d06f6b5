// SPDX-License-Identifier: MIT
//
// What makes a runtime one of a cluster, for vyre_cluster_new, and for tests and tools that bring
// their own transport. As runtime.h.
#ifndef VYRE_RUNTIME_CLUSTERED_H
#define VYRE_RUNTIME_CLUSTERED_H

#include "cluster/cluster.h"

// `transport` NULL: that of MPI; `split_least` 0: as usual (cluster.h).
vyre_status clustered_runtime_new(const cluster_transport *transport, int32_t communicator,
                                  const vyre_runtime_options *options, uint64_t split_least,
                                  vyre_runtime **out, vyre_error *error);

#endif
