// SPDX-License-Identifier: MIT
#include "backend/opencl/instance.h"

#include "backend/opencl/opencl.h"
#include "backend/pieces.h"
#include "backend/opencl/residency.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NONE_BYTES = 64, FILL_UNIT = 16, PAGE = 4096 };

// How long a device that was told to stop may go on, when it uses no memory of the caller.
#define GRACE_NS 2000000000u

// What is enqueued at once under a time limit. A device that was told to stop still goes through
// the invocations of what is enqueued, each of which takes about a nanosecond to leave.
#define PIECE_INVOCATIONS ((uint64_t)1 << 22)

// ---- life ---------------------------------------------------------------------------------------

static vyre_status make_kernels(instance *i, vyre_error *error) {
  const opencl_api *cl = i->device->cl;
  for (uint32_t r = 0; r < i->program->region_count; r++) {
    const opencl_kernel *from = &i->build->source.kernels[r];
    instance_kernel *k = &i->kernels[r];
    cl_int code = CL_SUCCESS;
    k->last = calloc(from->arg_count + 1u, sizeof *k->last);
    k->is_set = calloc(from->arg_count + 1u, sizeof *k->is_set);
    if (!k->last || !k->is_set) return error_out_of_memory(error);
    k->kernel = cl->CreateKernel(i->build->program, from->name, &code);
    if (!k->kernel) return opencl_device_error(i->device, error, code, "make a kernel", NULL);
    code = cl->GetKernelWorkGroupInfo(k->kernel, i->device->id, CL_KERNEL_WORK_GROUP_SIZE,
                                      sizeof k->max_workgroup, &k->max_workgroup, NULL);
    if (code != CL_SUCCESS || !k->max_workgroup) k->max_workgroup = i->device->info.max_workgroup;
  }
  return VYRE_OK;
}

static vyre_status make_memory(instance *i, vyre_error *error) {
  opencl_device *d = i->device;
  cl_int code = CL_SUCCESS;
  i->stop_flag = aligned_alloc(PAGE, PAGE);
  if (!i->stop_flag) return error_out_of_memory(error);
  memset((void *)i->stop_flag, 0, PAGE);
  cl_mem_flags shared = CL_MEM_USE_HOST_PTR | CL_MEM_READ_ONLY;
  i->stop = d->cl->CreateBuffer(d->context, d->shares_memory ? shared : CL_MEM_READ_ONLY, PAGE,
                                d->shares_memory ? (void *)i->stop_flag : NULL, &code);
  if (i->stop)
    i->none = d->cl->CreateBuffer(d->context, CL_MEM_READ_WRITE, NONE_BYTES, NULL, &code);
  if (i->none) return VYRE_OK;
  return opencl_device_error(d, error, code, "make a buffer", NULL);
}

vyre_status instance_new(opencl_device *d, const opencl_build *build, const vyre_program *program,
                         instance **out, vyre_error *error) {
  instance *i = calloc(1, sizeof *i);
  if (!i) return error_out_of_memory(error);
  i->device = d;
  i->build = build;
  i->program = program;
  i->kernels = calloc(program->region_count + 1u, sizeof *i->kernels);
  i->buffers = calloc(program->buffer_count + 1u, sizeof *i->buffers);
  cl_int code = CL_SUCCESS;
  vyre_status status = VYRE_OK;
  if (!i->kernels || !i->buffers) status = error_out_of_memory(error);
  if (status == VYRE_OK) {
    i->queue = d->cl->CreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (!i->queue) status = opencl_device_error(d, error, code, "make a command queue", NULL);
  }
  if (status == VYRE_OK) status = make_kernels(i, error);
  if (status == VYRE_OK) status = make_memory(i, error);
  if (status == VYRE_OK)
    *out = i;
  else
    instance_free(i);
  return status;
}

static void release_memory(const opencl_api *cl, instance_buffer *b) {
  if (b->memory && !b->is_handle) cl->ReleaseMemObject(b->memory);
  *b = (instance_buffer){0};
}

static void release_events(instance *i) {
  for (uint32_t r = 0; r < i->program->region_count; r++) {
    if (i->kernels[r].done) i->device->cl->ReleaseEvent(i->kernels[r].done);
    i->kernels[r].done = NULL;
  }
}

void instance_free(instance *i) {
  const opencl_api *cl = i->device->cl;
  if (i->kernels) release_events(i);
  for (uint32_t r = 0; r < i->program->region_count && i->kernels; r++) {
    if (i->kernels[r].kernel) cl->ReleaseKernel(i->kernels[r].kernel);
    free(i->kernels[r].last);
    free(i->kernels[r].is_set);
  }
  for (uint32_t b = 0; b < i->program->buffer_count && i->buffers; b++)
    release_memory(cl, &i->buffers[b]);
  if (i->stop) cl->ReleaseMemObject(i->stop);
  if (i->none) cl->ReleaseMemObject(i->none);
  if (i->queue) cl->ReleaseCommandQueue(i->queue);
  if (i->stop_queue) cl->ReleaseCommandQueue(i->stop_queue);
  free((void *)i->stop_flag);
  free(i->kernels);
  free(i->buffers);
  free(i);
}

// ---- memory -------------------------------------------------------------------------------------

static cl_int make_buffer(const instance *i, instance_buffer *b, cl_mem_flags flags, size_t size,
                          void *host) {
  cl_int code = CL_SUCCESS;
  release_memory(i->device->cl, b);
  if (host) flags |= CL_MEM_USE_HOST_PTR;
  b->memory = i->device->cl->CreateBuffer(i->device->context, flags, size, host, &code);
  b->size = b->memory ? size : 0;
  b->host = host;
  return b->memory ? CL_SUCCESS : code;
}

static cl_int place_transient(instance *i, instance_buffer *b, size_t size) {
  static const unsigned char zeros[FILL_UNIT] = {0};
  size_t padded = (size + FILL_UNIT - 1) / FILL_UNIT * FILL_UNIT;
  cl_int code = CL_SUCCESS;
  if (b->size < padded) code = make_buffer(i, b, CL_MEM_READ_WRITE, padded, NULL);
  if (code != CL_SUCCESS) return code;
  return i->device->cl->EnqueueFillBuffer(i->queue, b->memory, zeros, FILL_UNIT, 0, padded, 0, NULL,
                                          NULL);
}

static cl_int place_bound(instance *i, instance_buffer *b, vyre_access access, size_t size,
                          void *data) {
  const opencl_device *d = i->device;
  cl_mem_flags flags = access == VYRE_READ ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
  if (d->shares_memory) {
    if (d->is_in_place && b->memory && b->host == data && b->size == size) return CL_SUCCESS;
    b->is_mapped_after = false;
    cl_int code = make_buffer(i, b, flags, size, data);
    b->is_mapped_after = !d->is_in_place && access != VYRE_READ;
    return code;
  }
  cl_int code = CL_SUCCESS;
  if (b->size < size) code = make_buffer(i, b, flags, size, NULL);
  if (code != CL_SUCCESS) return code;
  return d->cl->EnqueueWriteBuffer(i->queue, b->memory, CL_FALSE, 0, size, data, 0, NULL, NULL);
}

// A buffer with a handle stays on a device with memory of its own.
static cl_int place_handle(instance *i, instance_buffer *b, const backend *owner,
                           vyre_access access, vyre_buffer *handle) {
  cl_mem memory;
  cl_int code = opencl_place(i->device, owner, handle, access != VYRE_READ, &memory);
  if (code != CL_SUCCESS) return code;
  release_memory(i->device->cl, b);
  *b = (instance_buffer){.memory = memory, .is_handle = true};
  return CL_SUCCESS;
}

static cl_int place(instance *i, const launch *l, uint32_t b, size_t size) {
  const buffer *declared = &i->program->buffers[b];
  vyre_buffer *handle = launch_handle(l, b);
  if (declared->is_transient) return place_transient(i, &i->buffers[b], size);
  if (handle && !i->device->shares_memory)
    return place_handle(i, &i->buffers[b], l->owner, declared->access, handle);
  if (i->buffers[b].is_handle) release_memory(i->device->cl, &i->buffers[b]);
  return place_bound(i, &i->buffers[b], declared->access, size, l->buffers[b].data);
}

static size_t bytes_of(const instance *i, const launch *l, uint32_t b) {
  return l->buffers[b].length * type_bytes(i->program->buffers[b].type);
}

static vyre_status place_buffers(instance *i, const launch *l, vyre_error *error) {
  const opencl_device *d = i->device;
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    const buffer *declared = &i->program->buffers[b];
    size_t size = bytes_of(i, l, b);
    if (l->buffers[b].length > INT32_MAX || size > d->max_alloc_bytes)
      return error_set(error, VYRE_ERROR_UNSUPPORTED,
                       "buffer `%s` has %llu elements, %zu bytes; this device takes 2147483647 "
                       "elements and %llu bytes. Fix: split it, or use another backend",
                       declared->name, (unsigned long long)l->buffers[b].length, size,
                       (unsigned long long)d->max_alloc_bytes);
    if (!size) continue;
    cl_int code = place(i, l, b, size);
    if (code != CL_SUCCESS)
      return opencl_device_error(i->device, error, code, "place a buffer", NULL);
  }
  return VYRE_OK;
}

// ---- kernels ------------------------------------------------------------------------------------

// What an argument is set to, as bits, and its size.
static uint64_t arg_bits(const instance *i, const launch *l, uint32_t r, opencl_arg a,
                         size_t *size) {
  cl_mem memory;
  uint64_t bits = 0;
  *size = sizeof(cl_uint);
  switch (a.kind) {
  case ARG_PARAM:
    *size = type_bytes(i->program->params[a.index].type);
    return l ? l->params[a.index] : 0;
  case ARG_LENGTH: return l ? l->buffers[a.index].length : 0;
  case ARG_GRID: return l ? l->regions[r].grid[a.index] : 0;
  case ARG_STOP: memory = i->stop; break;
  default: memory = l && l->buffers[a.index].length ? i->buffers[a.index].memory : i->none; break;
  }
  *size = sizeof memory;
  memcpy(&bits, &memory, sizeof memory);
  return bits;
}

static cl_int set_args(instance *i, const launch *l, uint32_t r) {
  const opencl_kernel *from = &i->build->source.kernels[r];
  instance_kernel *k = &i->kernels[r];
  for (uint32_t n = 0; n < from->arg_count; n++) {
    size_t size;
    uint64_t bits = arg_bits(i, l, r, from->args[n], &size);
    if (k->is_set[n] && k->last[n] == bits) continue;
    cl_int code = i->device->cl->SetKernelArg(k->kernel, n, size, &bits);
    if (code != CL_SUCCESS) return code;
    k->last[n] = bits;
    k->is_set[n] = true;
  }
  return CL_SUCCESS;
}

// The launch shape: as asked, made smaller for an elastic region until the device takes it.
static void choose_workgroup(const instance *i, uint32_t r, const uint32_t wanted[3],
                             size_t out[3]) {
  const opencl_device *d = i->device;
  for (int k = 0; k < 3; k++) out[k] = wanted[k];
  if (!i->program->regions[r].is_elastic) return;
  for (int k = 0; k < 3; k++)
    while (out[k] > d->max_workgroup[k] && out[k] > 1) out[k] = (out[k] + 1) / 2;
  while (out[0] * out[1] * out[2] > i->kernels[r].max_workgroup) {
    int largest = out[0] >= out[1] && out[0] >= out[2] ? 0 : out[1] >= out[2] ? 1 : 2;
    out[largest] = (out[largest] + 1) / 2;
  }
}

// How a region is cut: in one piece, unless its kernels look at the stop flag.
static void cut(const instance *i, uint32_t r, const launch_region *shape, pieces *p,
                size_t local[3]) {
  size_t global[3];
  choose_workgroup(i, r, shape->workgroup, local);
  for (int k = 0; k < 3; k++) global[k] = (shape->grid[k] + local[k] - 1) / local[k] * local[k];
  uint64_t most = PIECE_INVOCATIONS / pieces_weight(i->program, &i->program->regions[r]);
  pieces_begin(p, global, local, i->build->is_polled ? most : UINT64_MAX);
}

static cl_int enqueue(instance *i, uint32_t r, const size_t *offset, const size_t size[3],
                      const size_t local[3], cl_event *done) {
  return i->device->cl->EnqueueNDRangeKernel(i->queue, i->kernels[r].kernel,
                                             i->program->regions[r].rank, offset, size, local, 0,
                                             NULL, done);
}

// ---- submit -------------------------------------------------------------------------------------

// Nobody looks at the stop flag: one piece each.
static vyre_status run_kernels(instance *i, const launch *l, vyre_error *error) {
  for (uint32_t r = 0; r < i->program->region_count; r++) {
    if (!l->regions[r].invocations) continue;
    pieces p;
    size_t local[3];
    cut(i, r, &l->regions[r], &p, local);
    cl_int code = set_args(i, l, r);
    if (code == CL_SUCCESS) code = enqueue(i, r, NULL, p.global, local, &i->kernels[r].done);
    if (code != CL_SUCCESS)
      return opencl_device_error(i->device, error, code, "run a kernel", NULL);
  }
  return VYRE_OK;
}

// Copies back what was written, where the device has memory of its own.
static cl_int read_back(instance *i, const launch *l) {
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    const buffer *declared = &i->program->buffers[b];
    size_t size = bytes_of(i, l, b);
    if (i->device->shares_memory || declared->is_transient || !size ||
        declared->access == VYRE_READ || i->buffers[b].is_handle)
      continue;
    cl_int code = i->device->cl->EnqueueReadBuffer(i->queue, i->buffers[b].memory, CL_FALSE, 0,
                                                   size, l->buffers[b].data, 0, NULL, NULL);
    if (code != CL_SUCCESS) return code;
  }
  return CL_SUCCESS;
}

// Queued in front of what is enqueued next.
static cl_int write_stop(instance *i, cl_command_queue queue, cl_uint value) {
  *i->stop_flag = value;
  if (i->device->shares_memory) return CL_SUCCESS;
  return i->device->cl->EnqueueWriteBuffer(queue, i->stop, CL_FALSE, 0, sizeof value,
                                           (const void *)i->stop_flag, 0, NULL, NULL);
}

// Whether a launch is looked after: its time is limited, or the caller may end what can be ended.
static bool is_limited(const instance *i, const launch *l) {
  return l->timeout_ns || (l->stop && i->build->is_polled);
}

vyre_status instance_submit(instance *i, const launch *l, vyre_error *error) {
  const opencl_api *cl = i->device->cl;
  cl_int code = write_stop(i, i->queue, 0);
  vyre_status status = code == CL_SUCCESS
                           ? place_buffers(i, l, error)
                           : opencl_device_error(i->device, error, code, "reset a flag", NULL);
  // Under a limit kernels are run while they are waited for, piece by piece, and nothing is copied
  // to the caller before they are known to be over.
  bool limited = is_limited(i, l);
  if (status == VYRE_OK && !limited) status = run_kernels(i, l, error);
  if (status == VYRE_OK && !limited && (code = read_back(i, l)) != CL_SUCCESS)
    status = opencl_device_error(i->device, error, code, "read a buffer", NULL);
  if (status == VYRE_OK && (code = cl->Flush(i->queue)) != CL_SUCCESS)
    status = opencl_device_error(i->device, error, code, "start a kernel", NULL);
  if (status == VYRE_OK) return VYRE_OK;
  cl->Finish(i->queue); // what was enqueued uses the caller's memory
  release_events(i);
  return status;
}

// ---- events -------------------------------------------------------------------------------------

// CL_COMPLETE, a state before it, or a negative code of an error.
static cl_int state_of(const instance *i, cl_event event) {
  cl_int state = CL_COMPLETE;
  cl_int asked = i->device->cl->GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                             &state, NULL);
  return asked != CL_SUCCESS ? asked : state;
}

static cl_int first_error(const instance *i) {
  for (uint32_t r = 0; r < i->program->region_count; r++) {
    cl_int state = i->kernels[r].done ? state_of(i, i->kernels[r].done) : CL_COMPLETE;
    if (state < 0) return state;
  }
  return CL_SUCCESS;
}

static void send_stop(instance *i) {
  opencl_device *d = i->device;
  cl_int code = CL_SUCCESS;
  if (!d->shares_memory && !i->stop_queue)
    i->stop_queue = d->cl->CreateCommandQueue(d->context, d->id, 0, &code);
  if (!d->shares_memory && !i->stop_queue) return;
  write_stop(i, i->stop_queue, 1);
  if (i->stop_queue) d->cl->Flush(i->stop_queue);
}

static uint64_t time_of(const instance *i, cl_event done) {
  const opencl_api *cl = i->device->cl;
  cl_ulong start = 0, end = 0;
  cl->GetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
  cl->GetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  return end > start ? end - start : 0;
}

// ---- under a limit ------------------------------------------------------------------------------

enum { FLIGHT = 8 }; // pieces that are enqueued at a time: the device does not wait for the host

typedef struct flight {
  const launch *l;
  cl_event events[FLIGHT]; // a ring
  uint32_t regions[FLIGHT];
  uint64_t landed, begun; // numbers of pieces
  uint32_t late;          // the region that was told to stop, or UINT32_MAX
  uint64_t told_ns;       // when
  bool is_stuck;
} flight;

// When the limit has passed, or the caller asks, the device is told to stop.
static void check_limit(instance *i, flight *f, uint32_t r) {
  if (f->late != UINT32_MAX || !launch_must_end(f->l)) return;
  f->late = r;
  f->told_ns = clock_now_ns();
  send_stop(i);
}

// Waits for the oldest piece.
static cl_int land(instance *i, flight *f) {
  uint32_t at = f->landed % FLIGHT;
  struct timespec pause = {0, 20000};
  cl_int state;
  while ((state = state_of(i, f->events[at])) > CL_COMPLETE) {
    check_limit(i, f, f->regions[at]);
    f->is_stuck = f->late != UINT32_MAX && !i->device->shares_memory &&
                  clock_now_ns() - f->told_ns > GRACE_NS;
    if (f->is_stuck) return CL_SUCCESS;
    nanosleep(&pause, NULL);
    if (pause.tv_nsec < 1000000) pause.tv_nsec *= 2;
  }
  i->kernels[f->regions[at]].time_ns += time_of(i, f->events[at]);
  i->device->cl->ReleaseEvent(f->events[at]);
  f->landed++;
  return state;
}

static cl_int begin_piece(instance *i, flight *f, uint32_t r, const size_t offset[3],
                          const size_t size[3], const size_t local[3]) {
  uint32_t at = f->begun % FLIGHT;
  cl_int code = enqueue(i, r, offset, size, local, &f->events[at]);
  if (code != CL_SUCCESS) return code;
  f->regions[at] = r;
  f->begun++;
  return i->device->cl->Flush(i->queue);
}

static cl_int run_region(instance *i, flight *f, uint32_t r) {
  pieces p;
  size_t local[3], offset[3], size[3];
  cut(i, r, &f->l->regions[r], &p, local);
  cl_int code = set_args(i, f->l, r);
  while (code == CL_SUCCESS && f->late == UINT32_MAX && pieces_next(&p, offset, size)) {
    code = begin_piece(i, f, r, offset, size, local);
    check_limit(i, f, r); // here too: a piece may be over before anybody waits for it
    if (code == CL_SUCCESS && f->begun - f->landed == FLIGHT) code = land(i, f);
  }
  return code;
}

static vyre_status run_limited(instance *i, const launch *l, bool *is_stuck, vyre_error *error) {
  flight f = {.l = l, .late = UINT32_MAX};
  cl_int code = CL_SUCCESS;
  for (uint32_t r = 0; r < i->program->region_count; r++) i->kernels[r].time_ns = 0;
  for (uint32_t r = 0; r < i->program->region_count && code == CL_SUCCESS; r++)
    if (l->regions[r].invocations && f.late == UINT32_MAX) code = run_region(i, &f, r);
  while (f.landed < f.begun && !f.is_stuck) {
    cl_int end = land(i, &f);
    if (code == CL_SUCCESS) code = end;
  }
  *is_stuck = f.is_stuck;
  if (code != CL_SUCCESS)
    return opencl_device_error(i->device, error, code, "finish a kernel", NULL);
  if (f.late == UINT32_MAX) return VYRE_OK;
  return launch_stopped_error(l, i->program->regions[f.late].name, error);
}

// ---- finish -------------------------------------------------------------------------------------

static cl_int map_written(instance *i, const launch *l) {
  const opencl_api *cl = i->device->cl;
  for (uint32_t b = 0; b < i->program->buffer_count; b++) {
    instance_buffer *at = &i->buffers[b];
    if (!at->is_mapped_after || !l->buffers[b].length) continue;
    cl_int code = CL_SUCCESS;
    void *mapped = cl->EnqueueMapBuffer(i->queue, at->memory, CL_TRUE, CL_MAP_READ, 0, at->size, 0,
                                        NULL, NULL, &code);
    if (mapped) code = cl->EnqueueUnmapMemObject(i->queue, at->memory, mapped, 0, NULL, NULL);
    if (code != CL_SUCCESS) return code;
  }
  return cl->Finish(i->queue);
}

// Bytes of buffers that a region touches, estimated: at most each buffer once.
static uint64_t traffic(const instance *i, const launch *l, uint32_t r) {
  const opencl_kernel *k = &i->build->source.kernels[r];
  uint64_t bytes = 0, invocations = l->regions[r].invocations;
  for (uint32_t n = 0; n < k->arg_count; n++) {
    if (k->args[n].kind != ARG_BUFFER) continue;
    uint32_t b = k->args[n].index;
    uint64_t length = l->buffers[b].length;
    bytes +=
        (length < invocations ? length : invocations) * type_bytes(i->program->buffers[b].type);
  }
  return bytes;
}

static void report_times(const instance *i, const launch *l, vyre_report *report) {
  for (uint32_t r = 0; r < i->program->region_count; r++) {
    cl_event done = i->kernels[r].done;
    uint64_t time_ns = is_limited(i, l) ? i->kernels[r].time_ns : done ? time_of(i, done) : 0;
    report_region(report, i->program->regions[r].name, time_ns, traffic(i, l, r),
                  l->regions[r].invocations);
  }
}

vyre_status instance_finish(instance *i, const launch *l, vyre_report *report, bool *is_stuck,
                            vyre_error *error) {
  const opencl_api *cl = i->device->cl;
  cl_int code = CL_SUCCESS;
  vyre_status status = VYRE_OK;
  *is_stuck = false;
  if (is_limited(i, l)) status = run_limited(i, l, is_stuck, error);
  if (*is_stuck) return status;
  if (status == VYRE_OK && is_limited(i, l)) code = read_back(i, l);
  cl_int finished = cl->Finish(i->queue);
  if (code == CL_SUCCESS) code = finished;
  if (code == CL_SUCCESS && status == VYRE_OK) code = first_error(i);
  if (code == CL_SUCCESS && status == VYRE_OK && i->device->shares_memory &&
      !i->device->is_in_place)
    code = map_written(i, l);
  if (code != CL_SUCCESS && status == VYRE_OK)
    status = opencl_device_error(i->device, error, code, "finish a kernel", NULL);
  if (status == VYRE_OK) report_times(i, l, report);
  release_events(i);
  return status;
}

// ---- warming ------------------------------------------------------------------------------------

static vyre_status finish_warming(instance *i, cl_int code, vyre_error *error) {
  cl_int finished = i->device->cl->Finish(i->queue);
  if (code == CL_SUCCESS) code = finished;
  if (code == CL_SUCCESS) return VYRE_OK;
  return opencl_device_error(i->device, error, code, "run a kernel", NULL);
}

vyre_status instance_warm(instance *i, vyre_error *error) {
  cl_int code = CL_SUCCESS;
  for (uint32_t r = 0; r < i->program->region_count && code == CL_SUCCESS; r++) {
    if (!i->program->regions[r].is_elastic) continue;
    size_t local[3];
    choose_workgroup(i, r, i->program->regions[r].workgroup, local);
    // With a grid of 0 every invocation leaves at once.
    code = set_args(i, NULL, r);
    if (code == CL_SUCCESS) code = enqueue(i, r, NULL, local, local, NULL);
  }
  return finish_warming(i, code, error);
}

// One row of the largest extent has the driver's idea of the size.
static cl_int warm_region(instance *i, uint32_t r, const launch_region *shape) {
  pieces p;
  size_t local[3], size[3];
  cut(i, r, shape, &p, local);
  int longest = 0;
  for (int k = 1; k < 3; k++)
    if (p.piece[k] > p.piece[longest]) longest = k;
  for (int k = 0; k < 3; k++) size[k] = k == longest ? p.piece[k] : local[k];
  cl_int code = set_args(i, NULL, r);
  if (code == CL_SUCCESS) code = enqueue(i, r, NULL, size, local, NULL);
  if (code == CL_SUCCESS && pieces_are_many(&p)) code = enqueue(i, r, local, size, local, NULL);
  return code;
}

vyre_status instance_warm_for(instance *i, const launch_region *regions, vyre_error *error) {
  cl_int code = write_stop(i, i->queue, 1);
  for (uint32_t r = 0; r < i->program->region_count && code == CL_SUCCESS; r++)
    if (regions[r].invocations) code = warm_region(i, r, &regions[r]);
  return finish_warming(i, code, error);
}
