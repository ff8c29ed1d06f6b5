// SPDX-License-Identifier: MIT
//
// What one dispatch at a time needs of a compiled program: a command queue, kernel objects with the
// arguments they were last given, and device memory, all kept for the next dispatch. Two dispatches
// at once use two instances.
//
// Where the device computes in the host's memory, a bound buffer is that memory itself. Where it
// shares it some other way, buffers are made on the host's memory for each dispatch and mapped
// afterwards. Otherwise they are copied to and from memory of the device.
#ifndef VYRE_BACKEND_OPENCL_INSTANCE_H
#define VYRE_BACKEND_OPENCL_INSTANCE_H

#include "backend/backend.h"
#include "backend/opencl/build.h"
#include "backend/ways.h"

typedef struct instance_buffer {
  cl_mem memory;
  size_t size;          // as it was made
  void *host;           // the memory it was made on; NULL: its own
  bool is_mapped_after; // the driver has to be told that the host looks at it
  bool is_handle;       // the memory is a handle's, and only borrowed
} instance_buffer;

typedef struct instance_kernel {
  cl_kernel kernel;
  uint64_t *last; // per argument: what it was set to
  bool *is_set;
  size_t max_workgroup;
  cl_event done;    // without a time limit
  uint64_t time_ns; // with one: of all its pieces
} instance_kernel;

typedef struct instance {
  ways_runner rest;
  opencl_device *device;
  const opencl_build *build;
  const vyre_program *program;
  cl_command_queue queue, stop_queue; // the second one reaches a busy device
  instance_kernel *kernels;           // per region
  instance_buffer *buffers;           // per buffer
  cl_mem stop, none;                  // the stop flag; what stands for an empty buffer
  volatile cl_uint *stop_flag;        // its host memory
} instance;

vyre_status instance_new(opencl_device *d, const opencl_build *build, const vyre_program *program,
                         instance **out, vyre_error *error);
void instance_free(instance *i);

// Enqueues everything a launch needs and starts it; does not wait. With a time limit kernels begin
// in instance_finish.
vyre_status instance_submit(instance *i, const launch *l, vyre_error *error);

// Waits until all is done and its effects are in the host's memory, and reports device times. On
// VYRE_ERROR_TIMEOUT *is_stuck says that the device is still busy with it: the instance must then
// not be used or freed.
vyre_status instance_finish(instance *i, const launch *l, vyre_report *report, bool *is_stuck,
                            vyre_error *error);

// Makes the driver finish its compilation for the declared workgroups, before anything is timed.
vyre_status instance_warm(instance *i, vyre_error *error);
// The same for the shapes of a launch: drivers compile once more for a workgroup, a large grid or
// an offset that they have not seen. Uses no memory of the caller; kernels do nothing, or a little
// where they neither poll nor have long loops.
vyre_status instance_warm_for(instance *i, const launch_region *regions, vyre_error *error);

#endif
