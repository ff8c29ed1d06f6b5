// SPDX-License-Identifier: MIT
//
// Buffers of the runtime that stay on a CUDA device between dispatches (backend.h: keeps_memory,
// fetch, drop). Any thread; the caller holds the handle's lock for fetch and drop.
#ifndef VYRE_BACKEND_CUDA_RESIDENCY_H
#define VYRE_BACKEND_CUDA_RESIDENCY_H

#include "backend/backend.h"
#include "backend/cuda/memory.h"

bool cuda_keeps_memory(const backend *self);
vyre_status cuda_fetch(vyre_buffer *handle, vyre_error *error);
void cuda_drop(vyre_buffer *handle);

// Where the buffer is on the device, current; copied there on the stream when it was not. Between
// cuda_enter and cuda_leave.
cu_result cuda_place(cuda_device *d, const backend *self, cu_stream stream, vyre_buffer *handle,
                     bool is_written, cu_address *out);

#endif
