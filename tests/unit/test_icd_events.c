// SPDX-License-Identifier: MIT
//
// Queues and events of the OpenCL driver: order, wait lists across queues, user events, failures,
// callbacks, times, many threads at once.
#include "../icd.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

static const char source[] = "kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }\n"
                             "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }\n";

enum { COUNT = 256 };

typedef struct fixture {
  icd i;
  cl_mem x;
  cl_kernel add, twice;
} fixture;

static fixture begin(cl_command_queue_properties properties) {
  fixture f = {.i = icd_begin(source, properties)};
  int zeros[COUNT] = {0}, one = 1;
  f.x = icd_buffer(&f.i, sizeof zeros, zeros);
  f.add = icd_kernel(&f.i, "add");
  f.twice = icd_kernel(&f.i, "twice");
  OK(clSetKernelArg(f.add, 0, sizeof f.x, &f.x));
  OK(clSetKernelArg(f.add, 1, sizeof one, &one));
  OK(clSetKernelArg(f.twice, 0, sizeof f.x, &f.x));
  return f;
}

static void end(fixture *f) {
  OK(clReleaseMemObject(f->x));
  OK(clReleaseKernel(f->add));
  OK(clReleaseKernel(f->twice));
  icd_end(&f->i);
}

static void enqueue(fixture *f, cl_kernel kernel, cl_uint count, const cl_event *list,
                    cl_event *out) {
  size_t size = COUNT;
  OK(clEnqueueNDRangeKernel(f->i.queue, kernel, 1, NULL, &size, NULL, count, list, out));
}

static int value(fixture *f) {
  int out[COUNT];
  icd_read(&f->i, f->x, sizeof out, out);
  for (int k = 1; k < COUNT; k++) assert_int_equal(out[k], out[0]);
  return out[0];
}

static cl_int status(cl_event event) {
  cl_int made = 99;
  OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof made, &made, NULL));
  return made;
}

static void queues_keep_their_order(void **state) {
  (void)state;
  fixture f = begin(0);
  int wanted = 0;
  for (int k = 0; k < 20; k++) {
    enqueue(&f, f.add, 0, NULL, NULL);
    enqueue(&f, f.twice, 0, NULL, NULL);
    wanted = (wanted + 1) * 2;
  }
  assert_int_equal(value(&f), wanted);
  end(&f);
}

// Nothing waits, and nothing is flushed: it is done all the same.
static void commands_run_without_being_waited_for(void **state) {
  (void)state;
  fixture f = begin(0);
  cl_event e;
  enqueue(&f, f.add, 0, NULL, &e);
  for (int k = 0; k < 5000 && status(e) != CL_COMPLETE; k++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_int_equal(status(e), CL_COMPLETE);
  OK(clReleaseEvent(e));
  end(&f);
}

static void user_events_hold_commands_back(void **state) {
  (void)state;
  fixture f = begin(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_int code;
  cl_event gate = clCreateUserEvent(f.i.context, &code), added, doubled, free_one;
  OK(code);
  enqueue(&f, f.add, 1, &gate, &added);
  enqueue(&f, f.twice, 1, &added, &doubled);
  OK(clEnqueueMarkerWithWaitList(f.i.queue, 0, NULL, &free_one));
  int other[COUNT] = {0};
  cl_mem y = icd_buffer(&f.i, sizeof other, other);
  icd_read(&f.i, y, sizeof other, other); // goes past what waits
  assert_true(status(added) > CL_COMPLETE);
  assert_true(status(free_one) > CL_COMPLETE); // a marker of all waits for all
  OK(clSetUserEventStatus(gate, CL_COMPLETE));
  FAILS(CL_INVALID_OPERATION, clSetUserEventStatus(gate, CL_COMPLETE));
  OK(clWaitForEvents(1, &doubled));
  OK(clFinish(f.i.queue));
  assert_int_equal(status(free_one), CL_COMPLETE);
  assert_int_equal(value(&f), 2);
  FAILS(CL_INVALID_EVENT, clSetUserEventStatus(added, CL_COMPLETE));
  OK(clReleaseMemObject(y));
  OK(clReleaseEvent(gate));
  OK(clReleaseEvent(added));
  OK(clReleaseEvent(doubled));
  OK(clReleaseEvent(free_one));
  end(&f);
}

static void failures_are_passed_on(void **state) {
  (void)state;
  fixture f = begin(0);
  cl_int code;
  cl_event gate = clCreateUserEvent(f.i.context, &code), first, second;
  OK(code);
  enqueue(&f, f.add, 1, &gate, &first);
  enqueue(&f, f.add, 1, &first, &second);
  enqueue(&f, f.add, 0, NULL, NULL); // comes after them, but did not ask for them
  OK(clSetUserEventStatus(gate, -7));
  FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &second));
  assert_true(status(first) < 0 && status(second) < 0);
  FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &gate));
  int out[COUNT];
  FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        clEnqueueReadBuffer(f.i.queue, f.x, CL_TRUE, 0, sizeof out, out, 1, &gate, NULL));
  assert_int_equal(value(&f), 1);
  OK(clReleaseEvent(gate));
  OK(clReleaseEvent(first));
  OK(clReleaseEvent(second));
  end(&f);
}

static void barriers_divide_a_queue(void **state) {
  (void)state;
  fixture f = begin(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  for (int k = 0; k < 8; k++) {
    enqueue(&f, f.add, 0, NULL, NULL);
    OK(clEnqueueBarrier(f.i.queue));
    enqueue(&f, f.twice, 0, NULL, NULL);
    OK(clEnqueueBarrierWithWaitList(f.i.queue, 0, NULL, NULL));
  }
  OK(clFinish(f.i.queue));
  assert_int_equal(value(&f), 510);
  end(&f);
}

// ---- callbacks and times ------------------------------------------------------------------------

static atomic_int calls[4];

static void CL_CALLBACK count_call(cl_event event, cl_int reached, void *data) {
  (void)event;
  assert_int_equal(reached, *(int *)data);
  atomic_fetch_add(&calls[reached], 1);
}

static void callbacks_come_once(void **state) {
  (void)state;
  fixture f = begin(0);
  static int whens[] = {CL_COMPLETE, CL_RUNNING, CL_SUBMITTED};
  cl_int code;
  cl_event gate = clCreateUserEvent(f.i.context, &code), e;
  enqueue(&f, f.add, 1, &gate, &e);
  for (int k = 0; k < 3; k++) OK(clSetEventCallback(e, whens[k], count_call, &whens[k]));
  FAILS(CL_INVALID_VALUE, clSetEventCallback(e, CL_QUEUED, count_call, &whens[0]));
  FAILS(CL_INVALID_VALUE, clSetEventCallback(e, CL_COMPLETE, NULL, NULL));
  OK(clSetUserEventStatus(gate, CL_COMPLETE));
  OK(clFinish(f.i.queue));
  OK(clSetEventCallback(e, CL_COMPLETE, count_call, &whens[0])); // done already
  for (int k = 0; k < 5000 && atomic_load(&calls[CL_COMPLETE]) < 2; k++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_int_equal(atomic_load(&calls[CL_COMPLETE]), 2);
  assert_int_equal(atomic_load(&calls[CL_RUNNING]), 1);
  assert_int_equal(atomic_load(&calls[CL_SUBMITTED]), 1);
  OK(clReleaseEvent(gate));
  OK(clReleaseEvent(e));
  end(&f);
}

static void times_are_in_order(void **state) {
  (void)state;
  fixture f = begin(CL_QUEUE_PROFILING_ENABLE);
  const cl_profiling_info whats[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                     CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
  cl_event e;
  enqueue(&f, f.add, 0, NULL, &e);
  OK(clWaitForEvents(1, &e));
  cl_ulong last = 0;
  for (int k = 0; k < 4; k++) {
    cl_ulong time;
    OK(clGetEventProfilingInfo(e, whats[k], sizeof time, &time, NULL));
    assert_true(time >= last);
    last = time;
  }
  OK(clReleaseEvent(e));
  cl_command_queue plain = clCreateCommandQueue(f.i.context, f.i.device, 0, NULL);
  OK(clEnqueueMarkerWithWaitList(plain, 0, NULL, &e));
  OK(clFinish(plain));
  FAILS(CL_PROFILING_INFO_NOT_AVAILABLE,
        clGetEventProfilingInfo(e, whats[0], sizeof last, &last, NULL));
  OK(clReleaseEvent(e));
  OK(clReleaseCommandQueue(plain));
  end(&f);
}

// ---- threads and processes ----------------------------------------------------------------------

enum { THREADS = 4, ROUNDS = 200 };

static void *use(void *data) {
  fixture *f = data;
  cl_int code;
  cl_command_queue queue = clCreateCommandQueue(f->i.context, f->i.device, 0, &code);
  int mine[COUNT] = {0}, n = 3;
  size_t size = COUNT;
  cl_mem x = clCreateBuffer(f->i.context, CL_MEM_COPY_HOST_PTR, sizeof mine, mine, &code);
  cl_kernel add = clCreateKernel(f->i.program, "add", &code);
  bool is_right = clSetKernelArg(add, 0, sizeof x, &x) == CL_SUCCESS &&
                  clSetKernelArg(add, 1, sizeof n, &n) == CL_SUCCESS;
  for (int k = 0; k < ROUNDS; k++) {
    cl_event e;
    is_right &= clEnqueueNDRangeKernel(queue, add, 1, NULL, &size, NULL, 0, NULL, &e) == CL_SUCCESS;
    if (k % 3 == 0) is_right &= clFlush(queue) == CL_SUCCESS;
    if (k % 5 == 0) is_right &= clWaitForEvents(1, &e) == CL_SUCCESS;
    is_right &= clReleaseEvent(e) == CL_SUCCESS;
  }
  is_right &= clEnqueueReadBuffer(queue, x, CL_TRUE, 0, sizeof mine, mine, 0, NULL, NULL) == 0;
  for (int k = 0; k < COUNT; k++) is_right &= mine[k] == 3 * ROUNDS;
  clReleaseKernel(add);
  clReleaseMemObject(x);
  clReleaseCommandQueue(queue);
  return (void *)(intptr_t)is_right;
}

static void threads_share_a_context(void **state) {
  (void)state;
  fixture f = begin(0);
  pthread_t threads[THREADS];
  for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&threads[k], NULL, use, &f), 0);
  for (int k = 0; k < THREADS; k++) {
    void *is_right = NULL;
    pthread_join(threads[k], &is_right);
    assert_non_null(is_right);
  }
  end(&f);
}

// A child has none of the threads: its parent's queues are refused, and new ones work.
static void a_child_begins_anew(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  print_message("ThreadSanitizer ends a child of several threads that starts one\n");
  skip();
#endif
  fixture f = begin(0);
  enqueue(&f, f.add, 0, NULL, NULL);
  assert_int_equal(value(&f), 1);
  pid_t child = fork();
  if (child == 0) {
    bool is_right = clFinish(f.i.queue) == CL_INVALID_COMMAND_QUEUE;
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(f.i.context, f.i.device, 0, &code);
    size_t size = COUNT;
    int out[COUNT];
    is_right &= code == CL_SUCCESS;
    is_right &= clEnqueueNDRangeKernel(queue, f.add, 1, NULL, &size, NULL, 0, NULL, NULL) == 0;
    is_right &= clEnqueueReadBuffer(queue, f.x, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL) == 0;
    is_right &= out[0] == 2;
    _exit(is_right ? 0 : 1);
  }
  int how;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
  assert_int_equal(value(&f), 1);
  end(&f);
}

// Whatever is under way or was never released: the process ends.
static void leaving_early_is_no_crash(void **state) {
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    fixture f = begin(0);
    for (int k = 0; k < 100; k++) enqueue(&f, f.add, 0, NULL, NULL);
    clFlush(f.i.queue);
    exit(0);
  }
  int how;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_true(WIFEXITED(how));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leaving_early_is_no_crash),
      cmocka_unit_test(queues_keep_their_order),
      cmocka_unit_test(commands_run_without_being_waited_for),
      cmocka_unit_test(user_events_hold_commands_back),
      cmocka_unit_test(failures_are_passed_on),
      cmocka_unit_test(barriers_divide_a_queue),
      cmocka_unit_test(callbacks_come_once),
      cmocka_unit_test(times_are_in_order),
      cmocka_unit_test(threads_share_a_context),
      cmocka_unit_test(a_child_begins_anew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
