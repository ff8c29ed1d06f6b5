// SPDX-License-Identifier: MIT
//
// What the OpenCL backend takes from the driver it gives back: events when a dispatch ends, all
// other handles when its executable is released, also after dispatches that failed. Calls are
// counted in front of the driver; skipped where there is none.
#include "backend/opencl/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../missing_device.h"

static const opencl_api *driver;
static atomic_int events, memory, queues, programs, kernels; // taken less given back
// Calls until one fails, of those that can; negative: none does.
static atomic_int calls_left = -1;

static bool must_fail(void) {
  return calls_left >= 0 && calls_left-- == 0;
}

static cl_command_queue create_queue(cl_context c, cl_device_id d, cl_command_queue_properties p,
                                     cl_int *code) {
  cl_command_queue q = driver->CreateCommandQueue(c, d, p, code);
  queues += q != NULL;
  return q;
}

static cl_int release_queue(cl_command_queue q) {
  queues--;
  return driver->ReleaseCommandQueue(q);
}

static cl_mem create_buffer(cl_context c, cl_mem_flags f, size_t size, void *host, cl_int *code) {
  if (must_fail()) {
    *code = CL_OUT_OF_RESOURCES;
    return NULL;
  }
  cl_mem m = driver->CreateBuffer(c, f, size, host, code);
  memory += m != NULL;
  return m;
}

static cl_int release_memory(cl_mem m) {
  memory--;
  return driver->ReleaseMemObject(m);
}

static cl_program create_program(cl_context c, cl_uint n, const char **texts, const size_t *sizes,
                                 cl_int *code) {
  cl_program p = driver->CreateProgramWithSource(c, n, texts, sizes, code);
  programs += p != NULL;
  return p;
}

static cl_int release_program(cl_program p) {
  programs--;
  return driver->ReleaseProgram(p);
}

static cl_kernel create_kernel(cl_program p, const char *name, cl_int *code) {
  cl_kernel k = driver->CreateKernel(p, name, code);
  kernels += k != NULL;
  return k;
}

static cl_int release_kernel(cl_kernel k) {
  kernels--;
  return driver->ReleaseKernel(k);
}

static cl_int enqueue(cl_command_queue q, cl_kernel k, cl_uint rank, const size_t *offset,
                      const size_t *grid, const size_t *workgroup, cl_uint n, const cl_event *list,
                      cl_event *done) {
  if (must_fail()) return CL_OUT_OF_RESOURCES;
  cl_int code = driver->EnqueueNDRangeKernel(q, k, rank, offset, grid, workgroup, n, list, done);
  events += code == CL_SUCCESS && done;
  return code;
}

static cl_int release_event(cl_event e) {
  events--;
  return driver->ReleaseEvent(e);
}

static cl_int set_arg(cl_kernel k, cl_uint index, size_t size, const void *value) {
  return must_fail() ? CL_OUT_OF_RESOURCES : driver->SetKernelArg(k, index, size, value);
}

static cl_int flush(cl_command_queue q) {
  return must_fail() ? CL_OUT_OF_RESOURCES : driver->Flush(q);
}

// What was enqueued is over in any case.
static cl_int finish(cl_command_queue q) {
  cl_int code = driver->Finish(q);
  return must_fail() ? CL_OUT_OF_RESOURCES : code;
}

static cl_int read_buffer(cl_command_queue q, cl_mem m, cl_bool waits, size_t at, size_t size,
                          void *to, cl_uint n, const cl_event *list, cl_event *done) {
  if (must_fail()) return CL_OUT_OF_RESOURCES;
  return driver->EnqueueReadBuffer(q, m, waits, at, size, to, n, list, done);
}

static cl_int write_buffer(cl_command_queue q, cl_mem m, cl_bool waits, size_t at, size_t size,
                           const void *from, cl_uint n, const cl_event *list, cl_event *done) {
  if (must_fail()) return CL_OUT_OF_RESOURCES;
  return driver->EnqueueWriteBuffer(q, m, waits, at, size, from, n, list, done);
}

static void *map_buffer(cl_command_queue q, cl_mem m, cl_bool waits, cl_map_flags f, size_t at,
                        size_t size, cl_uint n, const cl_event *list, cl_event *done,
                        cl_int *code) {
  if (!must_fail()) return driver->EnqueueMapBuffer(q, m, waits, f, at, size, n, list, done, code);
  *code = CL_OUT_OF_RESOURCES;
  return NULL;
}

static cl_int unmap(cl_command_queue q, cl_mem m, void *mapped, cl_uint n, const cl_event *list,
                    cl_event *done) {
  cl_int code = driver->EnqueueUnmapMemObject(q, m, mapped, n, list, done);
  return must_fail() ? CL_OUT_OF_RESOURCES : code;
}

static opencl_device *watched_device(opencl_api *watched) {
  setenv("VYRE_CACHE", "off", 1);
  opencl_device *d = opencl_device_find(NULL, NULL);
  if (!d) skip_without_opencl();
  driver = d->cl;
  *watched = *driver;
  watched->CreateCommandQueue = create_queue;
  watched->ReleaseCommandQueue = release_queue;
  watched->CreateBuffer = create_buffer;
  watched->ReleaseMemObject = release_memory;
  watched->CreateProgramWithSource = create_program;
  watched->ReleaseProgram = release_program;
  watched->CreateKernel = create_kernel;
  watched->ReleaseKernel = release_kernel;
  watched->EnqueueNDRangeKernel = enqueue;
  watched->ReleaseEvent = release_event;
  watched->SetKernelArg = set_arg;
  watched->Flush = flush;
  watched->Finish = finish;
  watched->EnqueueReadBuffer = read_buffer;
  watched->EnqueueWriteBuffer = write_buffer;
  watched->EnqueueMapBuffer = map_buffer;
  watched->EnqueueUnmapMemObject = unmap;
  d->cl = watched;
  return d;
}

static const char text[] = "program twice()\n"
                           "buffer x: u32[] readwrite\n"
                           "transient t: u32[len(x)]\n"
                           "region a grid(len(x)) { t[global_id.x] = x[global_id.x] + 1 }\n"
                           "region b grid(len(x)) { x[global_id.x] = t[global_id.x] * 2 }\n";

static vyre_executable *compile(void) {
  vyre_program *p = NULL;
  vyre_executable *e = NULL;
  vyre_error error;
  if (vyre_program_parse(text, strlen(text), "test", &p, &error) ||
      vyre_compile(p, "opencl", NULL, &e, &error))
    fail_msg("%s", error.message);
  vyre_program_release(p);
  return e;
}

static vyre_status dispatch(vyre_executable *e, uint32_t *data, size_t count, uint64_t timeout_ns) {
  vyre_span span = {data, count * sizeof *data};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1, .timeout_ns = timeout_ns};
  vyre_error error;
  return vyre_dispatch(e, &args, NULL, &error);
}

static void everything_is_given_back(void **state) {
  (void)state;
  opencl_api watched;
  opencl_device *d = watched_device(&watched);
  vyre_executable *e = compile();
  uint32_t data[2][64];
  for (int round = 0; round < 4; round++) {
    size_t count = round == 2 ? 32 : 64; // a new transient now and then
    for (size_t i = 0; i < count; i++) data[round & 1][i] = (uint32_t)i;
    assert_int_equal(dispatch(e, data[round & 1], count, round == 3 ? 60000000000u : 0), VYRE_OK);
    assert_int_equal(data[round & 1][count - 1], 2 * count);
    assert_int_equal(events, 0);
    assert_in_range(queues, 1, 3);
    assert_in_range(memory, 1, 12);
  }
  vyre_executable_release(e);
  assert_int_equal(events, 0);
  assert_int_equal(memory, 0);
  assert_int_equal(queues, 0);
  assert_int_equal(kernels, 0);
  assert_int_equal(programs, 0);
  d->cl = driver;
}

// Each call of a dispatch fails in turn: an error, nothing is kept, and the next one is right.
static void sweep(bool is_in_place, bool shares_memory, uint64_t timeout_ns) {
  opencl_api watched;
  opencl_device *d = watched_device(&watched);
  bool was_in_place = d->is_in_place, was_sharing = d->shares_memory;
  d->is_in_place = was_in_place && is_in_place;
  d->shares_memory = was_sharing && shares_memory;
  vyre_executable *e = compile();
  int failed = 0;
  for (bool is_over = false; !is_over; failed++) {
    uint32_t data[64] = {0};
    calls_left = failed;
    vyre_status status = dispatch(e, data, 64, timeout_ns);
    is_over = calls_left >= 0;
    calls_left = -1;
    if (!is_over && status == VYRE_OK) fail_msg("call %d failed unnoticed", failed);
    if (is_over) assert_int_equal(status, VYRE_OK);
    assert_int_equal(events, 0);
    memset(data, 0, sizeof data);
    assert_int_equal(dispatch(e, data, 64, timeout_ns), VYRE_OK);
    assert_int_equal(data[63], 2);
    assert_int_equal(events, 0);
  }
  assert_true(failed > 2); // two kernels at least
  vyre_executable_release(e);
  assert_int_equal(events, 0);
  assert_int_equal(memory, 0);
  assert_int_equal(queues, 0);
  assert_int_equal(kernels, 0);
  assert_int_equal(programs, 0);
  d->cl = driver;
  d->is_in_place = was_in_place;
  d->shares_memory = was_sharing;
}

static void also_after_failures(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    sweep(kind > 1, kind > 0, 0);
    sweep(kind > 1, kind > 0, 60000000000u);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_is_given_back),
      cmocka_unit_test(also_after_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
