// SPDX-License-Identifier: MIT
#include "backend/cuda/residency.h"

#include "backend/cuda/cuda.h"
#include "backend/numbered.h"
#include "base/error.h"

#include <stdlib.h>

typedef struct cuda_resident {
  cuda_device *device;
  cuda_memory memory;
} cuda_resident;

bool cuda_keeps_memory(const backend *self) {
  return cuda_device_find(numbered_adapter(self), NULL) != NULL;
}

// In a child of fork() the driver is the parent's: what it holds is left to it.
void cuda_drop(vyre_buffer *r) {
  cuda_resident *o = r->device;
  if (cuda_check_process(NULL) == VYRE_OK) cuda_memory_give(o->device, &o->memory);
  free(o);
  r->device = NULL;
  r->backend = NULL;
}

// ---- copies outside of dispatches ---------------------------------------------------------------

static cu_result fetch_on(cuda_device *d, vyre_buffer *r) {
  const cuda_resident *o = r->device;
  cu_stream stream;
  cu_result code = d->api.StreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  if (code != CU_SUCCESS) return code;
  code = d->api.MemcpyDtoHAsync(r->host, o->memory.address, r->size_bytes, stream);
  cu_result ended = d->api.StreamSynchronize(stream); // in any case: it writes the host's memory
  d->api.StreamDestroy(stream);
  return code != CU_SUCCESS ? code : ended;
}

static cu_result fetch(vyre_buffer *r) {
  cuda_device *d = ((cuda_resident *)r->device)->device;
  cu_result code = cuda_enter(d);
  if (code != CU_SUCCESS) return code;
  code = fetch_on(d, r);
  cuda_leave(d);
  return code;
}

vyre_status cuda_fetch(vyre_buffer *r, vyre_error *error) {
  vyre_status status = cuda_check_process(error);
  if (status != VYRE_OK) return status;
  cu_result code = fetch(r);
  cuda_device *d = ((cuda_resident *)r->device)->device;
  return code == CU_SUCCESS ? VYRE_OK : cuda_device_error(d, error, code, "read a buffer");
}

// ---- placing ------------------------------------------------------------------------------------

static cu_result make_resident(cuda_device *d, const backend *self, vyre_buffer *r) {
  cuda_resident *o = calloc(1, sizeof *o);
  if (!o) return CU_ERROR_OUT_OF_MEMORY;
  o->device = d;
  cu_result code = cuda_memory_take(d, CUDA_DEVICE_MEMORY, r->size_bytes, &o->memory);
  if (code != CU_SUCCESS) {
    free(o);
    return code;
  }
  r->device = o;
  r->backend = self;
  return CU_SUCCESS;
}

// With the resident's lock held, and the host current where no device of ours is.
static cu_result place(cuda_device *d, const backend *self, cu_stream stream, vyre_buffer *r) {
  cuda_resident *o = r->device;
  cu_result code = CU_SUCCESS;
  bool is_ours = r->backend == self;
  if (is_ours && o->device != d && !r->is_host_current) {
    code = fetch(r);
    if (code != CU_SUCCESS) return code;
    r->is_host_current = true;
    r->moved_bytes += r->size_bytes;
  }
  if (r->backend && (!is_ours || o->device != d)) {
    r->backend->drop(r);
    r->is_device_current = false;
  }
  if (!r->backend) code = make_resident(d, self, r);
  if (code != CU_SUCCESS || r->is_device_current) return code;
  o = r->device;
  code = d->api.MemcpyHtoDAsync(o->memory.address, r->host, r->size_bytes, stream);
  // The lock is about this copy: nobody may change the host's memory meanwhile.
  cu_result ended = d->api.StreamSynchronize(stream);
  if (code == CU_SUCCESS) code = ended;
  if (code != CU_SUCCESS) return code;
  r->is_device_current = true;
  r->moved_bytes += r->size_bytes;
  return CU_SUCCESS;
}

cu_result cuda_place(cuda_device *d, const backend *self, cu_stream stream, vyre_buffer *r,
                     bool is_written, cu_address *out) {
  pthread_mutex_lock(&r->lock);
  cu_result code = place(d, self, stream, r);
  if (code == CU_SUCCESS) {
    *out = ((cuda_resident *)r->device)->memory.address;
    if (is_written) r->is_host_current = false;
  }
  pthread_mutex_unlock(&r->lock);
  return code;
}
