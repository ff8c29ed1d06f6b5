// SPDX-License-Identifier: MIT
//
// What every backend of devices is tested for, by its id: results that are the reference's, devices
// with names, buffers that move, threads, time limits, buffers that stay on a device.
#ifndef VYRE_TESTS_DEVICE_BACKEND_H
#define VYRE_TESTS_DEVICE_BACKEND_H

#include "backend/resident.h"
#include "conform/batch.h"
#include "conform/generate.h"

#include "parsed_program.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static const char device_saxpy[] = "program saxpy(a: f32)\n"
                                   "buffer x: f32[] read\n"
                                   "buffer y: f32[len(x)] readwrite\n"
                                   "region main grid(len(x)) {\n"
                                   "  let i = global_id.x\n"
                                   "  y[i] = a * x[i] + y[i]\n"
                                   "}\n";

static inline vyre_executable *device_compiled(const char *backend, const char *text) {
  vyre_program *p = parse(text);
  vyre_executable *e;
  vyre_error error = {0};
  if (vyre_compile(p, backend, NULL, &e, &error) != VYRE_OK)
    fail_msg("%s\n%s", error.message, text);
  vyre_program_release(p);
  return e;
}

// ---- results ------------------------------------------------------------------------------------

// Takes the program.
static inline void device_check_program(const char *backend, vyre_program *p, uint32_t elements) {
  vyre_error e = {0};
  trial t;
  difference d;
  if (generate_inputs(p, 1, elements, &t, &e) != VYRE_OK) fail_msg("%s", e.message);
  assert_true(compare_run(&t, NULL, backend, NULL, &d));
  if (d.verdict != SAME) fail_msg("%s", d.text);
  trial_fini(&t);
  vyre_program_release(p);
}

// Programs of the seeds from the options' on.
static inline void device_check_random(const char *backend, generate_options o, uint32_t count,
                                       trial_limits limits) {
  trial trials[40];
  difference results[40];
  uint64_t first = o.seed;
  assert_true(count <= 40);
  o.only_provable = true;
  for (uint32_t i = 0; i < count; i++, o.seed++)
    assert_int_equal(generate_trial(&o, &trials[i], NULL), VYRE_OK);
  assert_true(batch_compare(trials, count, backend, NULL, limits, results));
  for (uint32_t i = 0; i < count; i++) {
    if (results[i].verdict != SAME)
      fail_msg("seed %llu: %s", (unsigned long long)first + i, results[i].text);
    trial_fini(&trials[i]);
  }
}

// ---- names --------------------------------------------------------------------------------------

static inline void device_names_are_stable(const char *backend) {
  vyre_device devices[16];
  uint32_t count = 0;
  vyre_executable *e;
  vyre_error error;
  vyre_program *p = parse(device_saxpy);
  assert_int_equal(vyre_backend_devices(backend, devices, 16, &count, NULL), VYRE_OK);
  assert_true(count >= 1);
  for (uint32_t i = 0; i < count && i < 16; i++) {
    assert_true(strlen(devices[i].adapter) > 7 && !strpbrk(devices[i].adapter, "/ \t\n"));
    for (uint32_t k = 0; k < i; k++)
      assert_string_not_equal(devices[i].adapter, devices[k].adapter);
    if (devices[i].unusable[0]) continue;
    vyre_compile_options options = {.device = devices[i].adapter};
    assert_int_equal(vyre_compile(p, backend, &options, &e, NULL), VYRE_OK);
    vyre_executable_release(e);
  }
  vyre_compile_options options = {.device = "device-none-such"};
  assert_int_equal(vyre_compile(p, backend, &options, &e, &error), VYRE_ERROR_ARGUMENT);
  assert_non_null(strstr(error.message, "none-such"));
  vyre_program_release(p);
}

// ---- dispatches ---------------------------------------------------------------------------------

// One executable, buffers that move, grow and shrink between dispatches.
static inline void device_buffers_change(const char *backend) {
  vyre_executable *e = device_compiled(backend, device_saxpy);
  vyre_scalar a = vyre_scalar_f32(2);
  uint32_t lengths[] = {5, 5, 1000, 0, 3, 64, 5, 1 << 16};
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
    uint32_t length = lengths[n];
    float *memory = malloc(2 * length * 4 + 64), *x = memory + 1, *y = x + length + 1;
    for (uint32_t i = 0; i < length; i++) x[i] = (float)i;
    for (uint32_t i = 0; i <= length; i++) y[i] = 1;
    for (int repeat = 1; repeat <= 3; repeat++) {
      vyre_span spans[] = {{x, length * 4}, {y, length * 4}};
      vyre_region_report row;
      vyre_report report = {.regions = &row, .region_capacity = 1};
      vyre_dispatch_args args = {
          .params = &a, .param_count = 1, .buffers = spans, .buffer_count = 2};
      assert_int_equal(vyre_dispatch(e, &args, &report, NULL), VYRE_OK);
      assert_int_equal(report.region_count, 1);
      assert_int_equal(row.invocations, length);
      for (uint32_t i = 0; i < length; i++)
        assert_true(y[i] == 2.0f * (float)i * (float)repeat + 1);
      assert_true(y[length] == 1);
    }
    free(memory);
  }
  vyre_executable_release(e);
}

typedef struct device_job {
  vyre_executable *executable;
  float base;
  bool ok;
} device_job;

static inline void *device_run_job(void *context) {
  device_job *j = context;
  enum { N = 1000, REPEATS = 30 };
  float x[N], y[N];
  j->ok = true;
  for (uint32_t r = 0; r < REPEATS; r++) {
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = j->base;
    vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_scalar a = vyre_scalar_f32(j->base);
    vyre_dispatch_args args = {.params = &a, .param_count = 1, .buffers = spans, .buffer_count = 2};
    j->ok &= vyre_dispatch(j->executable, &args, NULL, NULL) == VYRE_OK;
    for (int i = 0; i < N; i++) j->ok &= y[i] == j->base * (float)i + j->base;
  }
  return NULL;
}

static inline void device_dispatches_at_once(const char *backend) {
  vyre_executable *e = device_compiled(backend, device_saxpy);
  pthread_t threads[4];
  device_job jobs[4];
  for (int i = 0; i < 4; i++) {
    jobs[i] = (device_job){e, (float)(i + 1), false};
    assert_int_equal(pthread_create(&threads[i], NULL, device_run_job, &jobs[i]), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    assert_true(jobs[i].ok);
  }
  vyre_executable_release(e);
}

// ---- time limits --------------------------------------------------------------------------------

// A region `r` that does not end while x is 0, and then has 7 in y.
#define ENDLESS(shape, body)                                                                       \
  "program p(n: u32)\nbuffer x: u32[] read\nbuffer y: u32[] readwrite\n"                           \
  "region r grid(len(y)) " shape " {\n" body "\n  y[global_id.x] = 7\n}\n"
#define ENDLESS_LOOP                                                                               \
  ENDLESS("", "  while x[global_id.x] == 0 { y[global_id.x] = y[global_id.x] + 1 }")

static inline void device_dispatch_late(vyre_executable *e, const vyre_dispatch_args *args) {
  vyre_error error = {0};
  do // at first the driver may be compiling
    assert_int_equal(vyre_dispatch(e, args, NULL, &error), VYRE_ERROR_TIMEOUT);
  while (!strncmp(error.message, "compiling", 9));
  assert_non_null(strstr(error.message, "`r`"));
}

// With `count` invocations.
static inline void device_expect_timeout(const char *backend, const char *text, uint32_t count) {
  vyre_executable *e = device_compiled(backend, text);
  vyre_error error = {0};
  uint32_t *x = calloc(count, sizeof *x), *y = calloc(count, sizeof *y);
  assert_true(x && y);
  vyre_span spans[] = {{x, count * sizeof *x}, {y, count * sizeof *y}};
  vyre_scalar n = vyre_scalar_u32(1);
  vyre_dispatch_args args = {
      .params = &n, .param_count = 1, .buffers = spans, .buffer_count = 2, .timeout_ns = 100000000};
  device_dispatch_late(e, &args);
  // The same executable goes on working: with other data the loop ends.
  for (uint32_t i = 0; i < count; i++) x[i] = 1;
  args.timeout_ns = 60000000000u;
  if (vyre_dispatch(e, &args, NULL, &error) != VYRE_OK) fail_msg("%s", error.message);
  for (uint32_t i = 0; i < count; i++) assert_int_equal(y[i], 7);
  vyre_executable_release(e);
  free(x);
  free(y);
}

static inline void *device_raise(void *context) {
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  __atomic_store_n((volatile uint32_t *)context, 1, __ATOMIC_RELEASE);
  return NULL;
}

// The caller's flag ends what runs without a time limit, too. The second time all is compiled.
static inline void device_expect_stopped(const char *backend, const char *text, uint32_t count) {
  vyre_executable *e = device_compiled(backend, text);
  uint32_t *x = calloc(count, sizeof *x), *y = calloc(count, sizeof *y);
  assert_true(x && y);
  vyre_span spans[] = {{x, count * sizeof *x}, {y, count * sizeof *y}};
  vyre_scalar n = vyre_scalar_u32(1);
  for (int k = 0; k < 2; k++) {
    volatile uint32_t stop = 0;
    pthread_t thread;
    vyre_error error = {0};
    vyre_dispatch_args args = {
        .params = &n, .param_count = 1, .buffers = spans, .buffer_count = 2, .stop = &stop};
    assert_int_equal(pthread_create(&thread, NULL, device_raise, (void *)&stop), 0);
    assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_ERROR_STOPPED);
    assert_non_null(strstr(error.message, "`r`"));
    pthread_join(thread, NULL);
  }
  // A flag that nobody raises changes nothing.
  volatile uint32_t never = 0;
  vyre_dispatch_args args = {
      .params = &n, .param_count = 1, .buffers = spans, .buffer_count = 2, .stop = &never};
  for (uint32_t i = 0; i < count; i++) x[i] = 1;
  assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_OK);
  for (uint32_t i = 0; i < count; i++) assert_int_equal(y[i], 7);
  vyre_executable_release(e);
  free(x);
  free(y);
}

// ---- handles ------------------------------------------------------------------------------------

// A buffer with a handle is copied to a device that keeps memory once, and back when it is read.
static inline void device_keeps_handles(const char *backend, bool is_kept) {
  enum { COUNT = 500 };
  vyre_executable *e =
      device_compiled(backend, "program add(a: i32)\nbuffer x: i32[] read\n"
                               "buffer y: i32[len(x)] readwrite\nregion main grid(len(x)) {\n"
                               "  let i = global_id.x\n  y[i] = y[i] + a * x[i]\n}\n");
  vyre_error error;
  vyre_buffer buffers[2], *handles[2] = {&buffers[0], &buffers[1]};
  vyre_scalar a = vyre_scalar_i32(3);
  vyre_dispatch_args args = {.params = &a, .param_count = 1, .handles = handles, .buffer_count = 2};
  for (int i = 0; i < 2; i++) assert_true(resident_init(&buffers[i], COUNT * 4));
  for (int i = 0; i < COUNT; i++) ((int32_t *)buffers[0].host)[i] = i;
  for (int i = 0; i < 5; i++) assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_OK);
  assert_int_equal(buffers[0].moved_bytes, is_kept ? COUNT * 4 : 0);
  assert_int_equal(buffers[1].moved_bytes, is_kept ? COUNT * 4 : 0);
  assert_int_equal(resident_to_host(&buffers[1], &error), VYRE_OK);
  for (int i = 0; i < COUNT; i++) assert_int_equal(((int32_t *)buffers[1].host)[i], 15 * i);
  // The same executable with borrowed memory, in between.
  int32_t x[COUNT], y[COUNT] = {0};
  for (int i = 0; i < COUNT; i++) x[i] = i;
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args borrowed = args;
  borrowed.handles = NULL;
  borrowed.buffers = spans;
  assert_int_equal(vyre_dispatch(e, &borrowed, NULL, &error), VYRE_OK);
  for (int i = 0; i < COUNT; i++) assert_int_equal(y[i], 3 * i);
  assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_OK);
  assert_int_equal(resident_to_host(&buffers[1], &error), VYRE_OK);
  for (int i = 0; i < COUNT; i++) assert_int_equal(((int32_t *)buffers[1].host)[i], 18 * i);
  for (int i = 0; i < 2; i++) resident_fini(&buffers[i]);
  vyre_executable_release(e);
}

#endif
