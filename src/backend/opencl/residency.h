// SPDX-License-Identifier: MIT
//
// Buffers that stay on an OpenCL device with memory of its own; see backend/resident.h. Any thread.
#ifndef VYRE_BACKEND_OPENCL_RESIDENCY_H
#define VYRE_BACKEND_OPENCL_RESIDENCY_H

#include "backend/backend.h"
#include "backend/opencl/device.h"

// The device's memory of the buffer, current; made and filled where it is not there. The buffer
// keeps it. `is_written`: the host's memory is not current from now on.
cl_int opencl_place(opencl_device *d, const backend *self, vyre_buffer *r, bool is_written,
                    cl_mem *out);

// The backend's fetch, drop and keeps_memory.
vyre_status opencl_fetch(vyre_buffer *r, vyre_error *error);
void opencl_drop(vyre_buffer *r);
bool opencl_keeps_memory(const backend *self);

#endif
