// SPDX-License-Identifier: MIT
//
// Memory of a device and pinned memory of the host, pooled: asking the driver for either stops the
// device. What is given back is kept for the next who asks for about as much; when the driver has
// no more, all that is kept goes back to it first. Between cuda_enter and cuda_leave. Any thread.
#ifndef VYRE_BACKEND_CUDA_MEMORY_H
#define VYRE_BACKEND_CUDA_MEMORY_H

#include "backend/cuda/device.h"

typedef enum cuda_memory_kind {
  CUDA_DEVICE_MEMORY,
  CUDA_HOST_MEMORY, // pinned, and seen by the device
} cuda_memory_kind;

typedef struct cuda_memory {
  cuda_piece *piece;  // NULL: none
  cu_address address; // for the device
  void *host;         // NULL where the host does not see it
  size_t size;        // at least what was asked for
} cuda_memory;

cu_result cuda_memory_take(cuda_device *d, cuda_memory_kind kind, size_t size, cuda_memory *out);
void cuda_memory_give(cuda_device *d, cuda_memory *m); // also one that holds nothing

// Gives all that is kept back to the driver.
void cuda_memory_trim(cuda_device *d);

#endif
