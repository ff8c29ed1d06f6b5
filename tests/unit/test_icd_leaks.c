// SPDX-License-Identifier: MIT
//
// What the OpenCL driver gives back: objects of every kind are made, used and released, while
// memory runs out at each of their allocations, and nothing is lost. What is refused is an error
// and no crash.
#include "../icd.h"

#include "../memory_sweep.h"

static icd fixed; // made once; the driver's threads stay

static void CL_CALLBACK nothing(void *data) {
  (void)data;
}

static void CL_CALLBACK ended(cl_mem memory, void *data) {
  (void)memory, (void)data;
}

static void CL_CALLBACK context_ended(cl_context context, void *data) {
  (void)context, (void)data;
}

static void CL_CALLBACK reached(cl_event event, cl_int status, void *data) {
  (void)event, (void)status;
  __atomic_fetch_add((int *)data, 1, __ATOMIC_SEQ_CST);
}

static void use_contexts(void) {
  const cl_context_properties list[] = {CL_CONTEXT_PLATFORM, (intptr_t)fixed.platform, 0};
  cl_int code = 1;
  cl_context c = clCreateContext(list, 1, &fixed.device, NULL, NULL, &code);
  assert_true((c != NULL) == (code == CL_SUCCESS));
  if (!c) return;
  code = clSetContextDestructorCallback(c, context_ended, NULL);
  assert_true(code == CL_SUCCESS || code == CL_OUT_OF_HOST_MEMORY);
  cl_command_queue q = clCreateCommandQueue(c, fixed.device, 0, &code);
  assert_true((q != NULL) == (code == CL_SUCCESS));
  cl_sampler s = clCreateSampler(c, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, &code);
  assert_true((s != NULL) == (code == CL_SUCCESS));
  if (s) OK(clReleaseSampler(s));
  if (q) OK(clReleaseCommandQueue(q));
  OK(clReleaseContext(c));
}

static void use_memory(void) {
  static const cl_image_format rgba = {CL_RGBA, CL_UNSIGNED_INT8};
  static char host[5 * 40];
  cl_int code = 1;
  cl_mem a = clCreateBuffer(fixed.context, 0, 256, NULL, &code), b = NULL, c = NULL;
  assert_true((a != NULL) == (code == CL_SUCCESS));
  if (a) {
    const cl_buffer_region region = {128, 64};
    b = clCreateSubBuffer(a, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    assert_true((b != NULL) == (code == CL_SUCCESS));
    code = clSetMemObjectDestructorCallback(a, ended, NULL);
    assert_true(code == CL_SUCCESS || code == CL_OUT_OF_HOST_MEMORY);
    void *at =
        clEnqueueMapBuffer(fixed.queue, a, CL_TRUE, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, &code);
    assert_true((at != NULL) == (code == CL_SUCCESS));
    if (at) (void)clEnqueueUnmapMemObject(fixed.queue, a, at, 0, NULL, NULL);
    (void)clEnqueueFillBuffer(fixed.queue, a, host, 4, 0, 64, 0, NULL, NULL);
    (void)clEnqueueReadBuffer(fixed.queue, a, CL_TRUE, 0, 64, host, 0, NULL, NULL);
  }
  // With gaps between its rows, it has memory of its own.
  cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                        .image_width = 4,
                        .image_height = 3,
                        .image_row_pitch = 20};
  c = clCreateImage(fixed.context, CL_MEM_USE_HOST_PTR, &rgba, &desc, host, &code);
  assert_true((c != NULL) == (code == CL_SUCCESS));
  if (c) {
    const size_t zero[3] = {0}, all[3] = {4, 3, 1};
    const cl_uint color[4] = {1, 2, 3, 4};
    size_t row, slice;
    (void)clEnqueueFillImage(fixed.queue, c, color, zero, all, 0, NULL, NULL);
    void *at = clEnqueueMapImage(fixed.queue, c, CL_TRUE, CL_MAP_READ, zero, all, &row, &slice, 0,
                                 NULL, NULL, &code);
    assert_true((at != NULL) == (code == CL_SUCCESS));
    if (at) (void)clEnqueueUnmapMemObject(fixed.queue, c, at, 0, NULL, NULL);
  }
  OK(clFinish(fixed.queue));
  if (b) OK(clReleaseMemObject(b));
  if (a) OK(clReleaseMemObject(a));
  if (c) OK(clReleaseMemObject(c));
  // What is refused after it was begun.
  desc.image_row_pitch = 18;
  assert_null(clCreateImage(fixed.context, CL_MEM_USE_HOST_PTR, &rgba, &desc, host, &code));
  assert_true(code == CL_INVALID_IMAGE_DESCRIPTOR || code == CL_OUT_OF_HOST_MEMORY);
}

static void use_events(void) {
  cl_int code = 1;
  static int calls;
  cl_event gate = clCreateUserEvent(fixed.context, &code), done = NULL, marker = NULL;
  assert_true((gate != NULL) == (code == CL_SUCCESS));
  if (!gate) return;
  char args[8] = {0};
  __atomic_store_n(&calls, 0, __ATOMIC_SEQ_CST);
  bool has_call = clSetEventCallback(gate, CL_COMPLETE, reached, &calls) == CL_SUCCESS;
  (void)clEnqueueNativeKernel(fixed.queue, nothing, args, sizeof args, 0, NULL, NULL, 1, &gate,
                              &done);
  (void)clEnqueueMarkerWithWaitList(fixed.queue, 0, NULL, &marker);
  OK(clSetUserEventStatus(gate, CL_COMPLETE));
  OK(clFinish(fixed.queue));
  if (done) OK(clReleaseEvent(done));
  if (marker) OK(clReleaseEvent(marker));
  OK(clReleaseEvent(gate));
  while (has_call && !__atomic_load_n(&calls, __ATOMIC_SEQ_CST)) usleep(200);
}

// Every kind of command that moves memory, each with an event.
static void use_transfers(void) {
  static char host[256], pattern[2] = "xy";
  const size_t zero[3] = {0}, box[3] = {4, 4, 1};
  cl_int code = 1;
  cl_mem m[2] = {clCreateBuffer(fixed.context, 0, 256, NULL, &code),
                 clCreateBuffer(fixed.context, 0, 256, NULL, &code)};
  cl_event done[9] = {0};
  if (m[0] && m[1]) {
    cl_command_queue q = fixed.queue;
    (void)clEnqueueWriteBuffer(q, m[0], CL_FALSE, 0, 256, host, 0, NULL, &done[0]);
    (void)clEnqueueReadBuffer(q, m[0], CL_FALSE, 8, 64, host, 0, NULL, &done[1]);
    (void)clEnqueueCopyBuffer(q, m[0], m[1], 0, 16, 32, 0, NULL, &done[2]);
    (void)clEnqueueFillBuffer(q, m[1], pattern, 2, 0, 64, 0, NULL, &done[3]);
    (void)clEnqueueWriteBufferRect(q, m[0], CL_FALSE, zero, zero, box, 16, 0, 16, 0, host, 0, NULL,
                                   &done[4]);
    (void)clEnqueueReadBufferRect(q, m[0], CL_FALSE, zero, zero, box, 16, 0, 16, 0, host, 0, NULL,
                                  &done[5]);
    (void)clEnqueueCopyBufferRect(q, m[0], m[1], zero, zero, box, 16, 0, 16, 0, 0, NULL, &done[6]);
    (void)clEnqueueMigrateMemObjects(q, 2, m, 0, 0, NULL, &done[7]);
    (void)clEnqueueBarrierWithWaitList(q, 0, NULL, &done[8]);
    OK(clFinish(q));
  }
  for (int i = 0; i < 9; i++)
    if (done[i]) OK(clReleaseEvent(done[i]));
  for (int i = 0; i < 2; i++)
    if (m[i]) OK(clReleaseMemObject(m[i]));
}

#if FAILING_MALLOC
// Workers give back what they used a little after it was waited for.
static void nothing_is_lost(void (*work)(void)) {
  work();
  for (int round = 0; round < 3; round++) {
    memory_arm(0, false);
    work();
    for (int wait = 0; memory.held && wait < 300000; wait++) usleep(200);
    memory_disarm();
    if (memory.held) fail_msg("%ld blocks are lost", (long)memory.held);
  }
  long at = 0;
  do {
    memory_arm(++at, false);
    work();
    for (int wait = 0; memory.held && wait < 300000; wait++) usleep(200);
    memory_disarm();
    if (memory.held) fail_msg("%ld blocks are lost when allocation %ld fails", memory.held, at);
  } while (memory.calls >= at);
  assert_true(at > 2);
}
#else
static void nothing_is_lost(void (*work)(void)) {
  work();
}
#endif

static void test_contexts(void **state) {
  (void)state;
  nothing_is_lost(use_contexts);
}

static void test_memory(void **state) {
  (void)state;
  nothing_is_lost(use_memory);
}

static void test_events(void **state) {
  (void)state;
  nothing_is_lost(use_events);
}

static void test_shared_memory(void **state) {
  (void)state;
}

static void test_transfers(void **state) {
  (void)state;
  nothing_is_lost(use_transfers);
}

// ---- launches -----------------------------------------------------------------------------------

#if FAILING_MALLOC
static char said[600];
static int times_said;

static void CL_CALLBACK hear(const char *text, const void *more, size_t size, void *data) {
  (void)more, (void)size, (void)data;
  snprintf(said, sizeof said, "%s", text);
  times_said++;
}

static bool is_well(cl_int code) {
  return code == CL_SUCCESS || code == CL_OUT_OF_HOST_MEMORY || code == CL_OUT_OF_RESOURCES;
}

// A kernel whose arguments do not fit into the command, launched again: what has no memory then is
// refused, and the context is told why.
static void launch_without_memory(void) {
  enum { BUFFERS = 20, SIZE = 8 };
  cl_int code;
  icd own = {.platform = fixed.platform, .device = fixed.device};
  cl_mem buffers[BUFFERS];
  char text[2000];
  int used = snprintf(text, sizeof text, "kernel void many(");
  for (int i = 0; i < BUFFERS; i++)
    used +=
        snprintf(text + used, sizeof text - (size_t)used, "%sglobal int *b%d", i ? ", " : "", i);
  snprintf(text + used, sizeof text - (size_t)used, ") { b0[get_global_id(0)] += b%d[0] + 1; }\n",
           BUFFERS - 1);
  own.context = clCreateContext(NULL, 1, &own.device, hear, NULL, &code);
  OK(code);
  own.queue = clCreateCommandQueue(own.context, own.device, 0, &code);
  OK(code);
  own.program = icd_build(&own, text, NULL);
  cl_kernel k = icd_kernel(&own, "many");
  const int zeros[SIZE] = {0};
  for (cl_uint i = 0; i < BUFFERS; i++) {
    buffers[i] = icd_buffer(&own, sizeof zeros, zeros);
    OK(clSetKernelArg(k, i, sizeof buffers[i], &buffers[i]));
  }
  icd_run(&own, k, SIZE);
  OK(clFinish(own.queue));
  int wanted = 1, found[SIZE];
  for (long at = 1;; at++) {
    const size_t size = SIZE;
    cl_event done = NULL;
    memory_arm(at, false);
    code = clEnqueueNDRangeKernel(own.queue, k, 1, NULL, &size, NULL, 0, NULL, &done);
    OK(clFinish(own.queue));
    memory_disarm();
    assert_true(is_well(code));
    if (code == CL_SUCCESS) {
      OK(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof code, &code, NULL));
      OK(clReleaseEvent(done));
    }
    wanted += code == CL_COMPLETE;
    if (memory.calls < at) break;
    if (times_said && (strncmp(said, "vyre: ", 6) || !strstr(said, "Fix:"))) fail_msg("%s", said);
  }
  assert_true(times_said > 0);
  icd_read(&own, buffers[0], sizeof found, found);
  assert_int_equal(found[SIZE - 1], wanted);
  for (cl_uint i = 0; i < BUFFERS; i++) OK(clReleaseMemObject(buffers[i]));
  OK(clReleaseKernel(k));
  icd_end(&own);
}
#else
static void launch_without_memory(void) {
  skip();
}
#endif

static void test_launches(void **state) {
  (void)state;
  launch_without_memory();
}

static int begin(void **state) {
  (void)state;
  fixed = icd_begin(NULL, 0);
  return 0;
}

static int end(void **state) {
  (void)state;
  icd_end(&fixed);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_contexts),  cmocka_unit_test(test_memory),
      cmocka_unit_test(test_events),    cmocka_unit_test(test_shared_memory),
      cmocka_unit_test(test_transfers), cmocka_unit_test(test_launches),
  };
  return cmocka_run_group_tests_name("icd_leaks", tests, begin, end);
}
