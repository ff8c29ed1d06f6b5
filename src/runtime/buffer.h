// SPDX-License-Identifier: MIT
//
// Handles in a dispatch: as the spans that the rest of the runtime knows, and the variant that is
// nearest to where they are. Any thread, under the rule of vyre_buffer_new.
#ifndef VYRE_RUNTIME_BUFFER_H
#define VYRE_RUNTIME_BUFFER_H

#include "ir/limits.h"
#include "runtime/plan.h"

// Arguments whose spans are the host's memory of the handles, which stay in it as well.
vyre_status buffers_as_spans(const vyre_kernel *k, const vyre_dispatch_args *args,
                             vyre_span spans[LIMIT_BUFFERS], vyre_dispatch_args *out,
                             vyre_error *error);
// Before the spans are copied; false: something could not be fetched.
bool buffers_to_host(const vyre_dispatch_args *args);
// The variant that is done first, counting what would have to be copied for it.
variant *buffers_nearest(vyre_kernel *k, const plan *p, variant *usual,
                         const vyre_dispatch_args *args);

#endif
