// SPDX-License-Identifier: MIT
//
// Buffers that stay on an OpenCL device with memory of its own. Where a device shares the host's
// memory there is nothing to keep: the host's memory is used in place.
#include "backend/opencl/residency.h"

#include "backend/numbered.h"
#include "base/error.h"

#include <stdlib.h>

typedef struct opencl_resident {
  opencl_device *device;
  cl_command_queue queue; // for copies outside of dispatches
  cl_mem memory;
} opencl_resident;

static void free_resident(opencl_resident *o) {
  if (o->memory) o->device->cl->ReleaseMemObject(o->memory);
  if (o->queue) o->device->cl->ReleaseCommandQueue(o->queue);
  free(o);
}

void opencl_drop(vyre_buffer *r) {
  free_resident(r->device);
  r->device = NULL;
  r->backend = NULL;
}

vyre_status opencl_fetch(vyre_buffer *r, vyre_error *error) {
  opencl_resident *o = r->device;
  cl_int code = o->device->cl->EnqueueReadBuffer(o->queue, o->memory, CL_TRUE, 0, r->size_bytes,
                                                 r->host, 0, NULL, NULL);
  if (code == CL_SUCCESS) return VYRE_OK;
  return opencl_device_error(o->device, error, code, "read a buffer", NULL);
}

bool opencl_keeps_memory(const backend *self) {
  const opencl_device *d = opencl_device_find(numbered_adapter(self), NULL);
  return d && !d->shares_memory;
}

static cl_int make_resident(opencl_device *d, size_t size, opencl_resident **out) {
  cl_int code = CL_SUCCESS;
  opencl_resident *o = calloc(1, sizeof *o);
  if (!o) return CL_OUT_OF_HOST_MEMORY;
  o->device = d;
  o->queue = d->cl->CreateCommandQueue(d->context, d->id, 0, &code);
  if (o->queue) o->memory = d->cl->CreateBuffer(d->context, CL_MEM_READ_WRITE, size, NULL, &code);
  if (o->memory) {
    *out = o;
    return CL_SUCCESS;
  }
  free_resident(o);
  return code;
}

// With the resident's lock held, and the host current where the device is not.
static cl_int place(opencl_device *d, const backend *self, vyre_buffer *r) {
  opencl_resident *o = r->device;
  if (r->backend == self && o->device != d) { // another device of this backend
    cl_int code = CL_SUCCESS;
    if (!r->is_host_current)
      code = d->cl->EnqueueReadBuffer(o->queue, o->memory, CL_TRUE, 0, r->size_bytes, r->host, 0,
                                      NULL, NULL);
    if (code != CL_SUCCESS) return code;
    r->is_host_current = true;
  }
  if (r->backend && (r->backend != self || o->device != d)) {
    r->backend->drop(r);
    r->is_device_current = false;
  }
  if (!r->backend) {
    cl_int code = make_resident(d, r->size_bytes, &o);
    if (code != CL_SUCCESS) return code;
    r->device = o;
    r->backend = self;
  }
  if (r->is_device_current) return CL_SUCCESS;
  cl_int code = d->cl->EnqueueWriteBuffer(o->queue, o->memory, CL_TRUE, 0, r->size_bytes, r->host,
                                          0, NULL, NULL);
  if (code != CL_SUCCESS) return code;
  r->is_device_current = true;
  r->moved_bytes += r->size_bytes;
  return CL_SUCCESS;
}

cl_int opencl_place(opencl_device *d, const backend *self, vyre_buffer *r, bool is_written,
                    cl_mem *out) {
  pthread_mutex_lock(&r->lock);
  cl_int code = place(d, self, r);
  if (code == CL_SUCCESS) {
    *out = ((opencl_resident *)r->device)->memory;
    if (is_written) r->is_host_current = false;
  }
  pthread_mutex_unlock(&r->lock);
  return code;
}
