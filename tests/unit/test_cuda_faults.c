// SPDX-License-Identifier: MIT
//
// A CUDA driver that fails, played by the stand-in: every call, one after the other, with memory
// that runs out, with an error that stays, with an image that is refused. Whatever fails is an
// error of ours, nothing is kept, a device that is gone is not asked again, a device that computes
// something else is never used, and the process goes on.
#include "backend/backend.h"
#include "backend/cache.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/device.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/trust.h"

#include "standin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../device_backend.h"
#include "../standin_cuda.h"

static cuda_device *device;
static const standin_control *driver;

static const char text[] =
    "program p(n: u32)\nbuffer x: u32[] read\nbuffer y: u32[len(x)] readwrite\n"
    "transient t: u32[len(x)]\n"
    "region a grid(len(x)) { t[global_id.x] = x[global_id.x] * n }\n"
    "region b grid(len(x)) workgroup(8) {\n  shared s: u32[8]\n"
    "  s[local_id.x] = t[global_id.x]\n  barrier\n"
    "  y[global_id.x] = s[7 - local_id.x] + 1\n}\n";

// As after a start of the process.
static void begin_anew(void) {
  driver->fail_after(-1, 0);
  driver->revive();
  driver->corrupt(0);
  driver->stall(0);
  atomic_store(&device->is_lost, false);
}

static vyre_status dispatch(vyre_executable *e, uint32_t *y, vyre_error *error) {
  uint32_t x[16];
  for (uint32_t i = 0; i < 16; i++) x[i] = i, y[i] = 99;
  vyre_span spans[] = {{x, sizeof x}, {y, 16 * sizeof *y}};
  vyre_scalar n = vyre_scalar_u32(5);
  vyre_dispatch_args args = {.params = &n, .param_count = 1, .buffers = spans, .buffer_count = 2};
  return vyre_dispatch(e, &args, NULL, error);
}

static void check_results(const uint32_t *y) {
  for (uint32_t i = 0; i < 16; i++) assert_int_equal(y[i], 5 * (i / 8 * 8 + 7 - i % 8) + 1);
}

static vyre_status compile_and_run(vyre_error *error) {
  vyre_program *p = parse(text);
  vyre_executable *e;
  uint32_t y[16];
  vyre_status status = vyre_compile(p, "cuda", NULL, &e, error);
  if (status == VYRE_OK) {
    status = dispatch(e, y, error);
    if (status == VYRE_OK) check_results(y);
    vyre_executable_release(e);
  }
  vyre_program_release(p);
  return status;
}

static int objects_at_rest(void) {
  assert_int_equal(cuda_enter(device), 0);
  cuda_memory_trim(device);
  cuda_leave(device);
  return driver->objects();
}

// Fails each call in turn, until none is left. Returns how many there were.
static int fail_each(int code, vyre_status expected, bool is_loss) {
  int at = 0;
  begin_anew();
  int before = objects_at_rest();
  for (bool is_over = false; !is_over; at++) {
    vyre_error error = {0};
    if (at % 5 == 0) cache_clear(); // now with the assembler, now from the cache
    driver->fail_after(at, code);
    vyre_status status = compile_and_run(&error);
    is_over = driver->calls() <= at;
    // A call that fails and has another way: memory after the pool was emptied, an image that is
    // made again, a device's question.
    if (status != VYRE_OK) {
      assert_int_equal(status, expected);
      assert_non_null(strstr(error.message, "Fix:"));
    }
    if (is_loss && !is_over && status != VYRE_OK) {
      assert_true(atomic_load(&device->is_lost));
      assert_int_equal(compile_and_run(&error), VYRE_ERROR_UNSUPPORTED); // no other device
    }
    begin_anew();
    assert_int_equal(objects_at_rest(), before);
  }
  assert_int_equal(compile_and_run(NULL), VYRE_OK);
  return at;
}

static void test_memory_runs_out_at_every_call(void **state) {
  (void)state;
  assert_true(fail_each(CU_ERROR_OUT_OF_MEMORY, VYRE_ERROR_MEMORY, false) > 30);
}

static void test_every_call_is_refused(void **state) {
  (void)state;
  fail_each(CU_ERROR_INVALID_VALUE, VYRE_ERROR_BACKEND, false);
}

static void test_device_is_lost_at_every_call(void **state) {
  (void)state;
  fail_each(CU_ERROR_ILLEGAL_ADDRESS, VYRE_ERROR_BACKEND, true);
  fail_each(CU_ERROR_LAUNCH_FAILED, VYRE_ERROR_BACKEND, true);
}

// Buffers that stay on a device which is lost: what the host has not is gone, and said to be.
static void test_handles_of_a_lost_device(void **state) {
  (void)state;
  begin_anew();
  vyre_executable *e = device_compiled("cuda", "program p()\nbuffer x: u32[] readwrite\n"
                                               "region r grid(len(x)) { x[global_id.x] = 4 }\n");
  vyre_buffer b, *handle = &b;
  vyre_error error = {0};
  assert_true(resident_init(&b, 40));
  vyre_dispatch_args args = {.handles = &handle, .buffer_count = 1};
  assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_OK);
  driver->fail_after(1, CU_ERROR_ECC_UNCORRECTABLE);
  assert_int_equal(resident_to_host(&b, &error), VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "CUDA_ERROR_ECC_UNCORRECTABLE"));
  assert_true(atomic_load(&device->is_lost));
  assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "was lost"));
  resident_fini(&b);
  vyre_executable_release(e);
  begin_anew();
}

// An image in the cache that the driver does not take any more is made again.
static void test_images_of_another_driver(void **state) {
  (void)state;
  begin_anew();
  cache_clear();
  assert_int_equal(compile_and_run(NULL), VYRE_OK);
  size_t entries = cache_usage().entries;
  assert_true(entries >= 1);
  driver->forget_images();
  assert_int_equal(compile_and_run(NULL), VYRE_OK);
  assert_int_equal(cache_usage().entries, entries);
}

// From the cache, neither LLVM nor the assembler is asked.
static void test_cached_programs_are_loaded(void **state) {
  (void)state;
  begin_anew();
  cache_clear();
  driver->fail_after(-1, 0);
  assert_int_equal(compile_and_run(NULL), VYRE_OK);
  int with_assembler = driver->calls();
  driver->fail_after(-1, 0);
  assert_int_equal(compile_and_run(NULL), VYRE_OK);
  assert_int_equal(with_assembler - driver->calls(), 3); // create, add, complete
}

// One that hangs is given up after a while, and is not asked again.
static void test_a_device_that_hangs(void **state) {
  (void)state;
  begin_anew();
  vyre_executable *e = device_compiled("cuda", ENDLESS_LOOP);
  uint32_t x[4] = {0}, y[4] = {0};
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_scalar n = vyre_scalar_u32(1);
  vyre_dispatch_args args = {
      .params = &n, .param_count = 1, .buffers = spans, .buffer_count = 2, .timeout_ns = 10000000};
  driver->stall(1);
  // On a busy machine the limit may pass before the kernel is launched.
  for (int n = 0; n < 100 && !atomic_load(&device->is_lost); n++) device_dispatch_late(e, &args);
  assert_true(atomic_load(&device->is_lost));
  assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_ERROR_BACKEND);
  begin_anew();
  vyre_executable_release(e);
}

// A question that fails does not mean that the device is done: what it uses is not given to others
// before it is.
static void test_a_wait_that_fails(void **state) {
  (void)state;
  static const char *const waits[] = {"cuStreamQuery", "cuStreamSynchronize"};
  begin_anew();
  vyre_executable *e = device_compiled("cuda", "program p()\nbuffer x: u32[] readwrite\n"
                                               "region r grid(len(x)) { x[global_id.x] = 4 }\n");
  uint32_t x[4] = {0};
  vyre_span span = {x, sizeof x};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
  for (int n = 0; n < 2; n++) {
    vyre_error error = {0};
    args.timeout_ns = n ? 0 : 100000000000u;
    assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_OK);
    driver->fail_named(waits[n], 0, CU_ERROR_INVALID_VALUE);
    assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_ERROR_BACKEND);
    assert_non_null(strstr(error.message, "CUDA_ERROR_INVALID_VALUE"));
    assert_false(atomic_load(&device->is_lost)); // it was done soon
    assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_OK);
  }
  // One that is never done keeps its memory and its code.
  int before = driver->objects();
  args.timeout_ns = 100000000000u;
  driver->stall(1);
  driver->fail_named("cuStreamQuery", 1, CU_ERROR_INVALID_VALUE);
  assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_ERROR_BACKEND);
  assert_true(atomic_load(&device->is_lost));
  vyre_executable_release(e);
  assert_int_equal(driver->objects(), before);
  begin_anew();
}

// A device whose answers differ is refused, in this process and the next, until driver or device
// change.
static void test_a_device_that_computes_something_else(void **state) {
  (void)state;
  vyre_error error = {0};
  begin_anew();
  cache_clear();
  device->verdict = VERDICT_OPEN;
  driver->corrupt(1);
  assert_int_equal(compile_and_run(&error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "its answers differ from the reference's (first-use/"));
  driver->corrupt(0);
  assert_int_equal(compile_and_run(&error), VYRE_ERROR_UNSUPPORTED);
  device->verdict = VERDICT_OPEN; // the next process
  assert_int_equal(compile_and_run(&error), VYRE_ERROR_UNSUPPORTED);
  device->verdict = VERDICT_OPEN;
  device->api.version += 10;
  assert_int_equal(compile_and_run(&error), VYRE_OK);
  device->api.version -= 10;
}

// While it is examined, too: a device that could not be asked is not known to be right.
static void test_faults_while_a_device_is_examined(void **state) {
  (void)state;
  for (int at = 0; at < 2000; at += 211) {
    begin_anew();
    cache_clear();
    device->verdict = VERDICT_OPEN;
    driver->fail_after(at, CU_ERROR_LAUNCH_FAILED);
    vyre_status status = compile_and_run(NULL);
    bool is_right = device->verdict == VERDICT_RIGHT;
    if (driver->calls() > at && status != VYRE_OK && atomic_load(&device->is_lost))
      assert_false(is_right && status == VYRE_ERROR_UNSUPPORTED);
    if (status == VYRE_OK) assert_true(is_right);
  }
  begin_anew();
  cache_clear();
  device->verdict = VERDICT_OPEN;
  assert_int_equal(compile_and_run(NULL), VYRE_OK);
}

// A driver without its assembler has not got anything wrong: it says what it lacks, and is asked
// again. One that declines is not known to be right, either.
static void test_errors_are_no_answers(void **state) {
  (void)state;
  vyre_error error = {0};
  begin_anew();
  cache_clear();
  device->verdict = VERDICT_OPEN;
  driver->fail_named("cuLinkComplete", 3, CU_ERROR_JIT_COMPILER_NOT_FOUND);
  assert_int_equal(compile_and_run(&error), VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"));
  assert_int_equal(device->verdict, VERDICT_OPEN);
  uint32_t threads = device->most_threads;
  device->most_threads = 32;
  assert_int_equal(compile_and_run(&error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "workgroup"));
  assert_int_equal(device->verdict, VERDICT_OPEN);
  device->most_threads = threads;
  assert_int_equal(compile_and_run(&error), VYRE_OK);
  assert_int_equal(device->verdict, VERDICT_RIGHT);
}

int main(void) {
  driver = standin_open();
  device = cuda_device_find(NULL, NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_device_that_computes_something_else),
      cmocka_unit_test(test_cached_programs_are_loaded),
      cmocka_unit_test(test_images_of_another_driver),
      cmocka_unit_test(test_memory_runs_out_at_every_call),
      cmocka_unit_test(test_every_call_is_refused),
      cmocka_unit_test(test_device_is_lost_at_every_call),
      cmocka_unit_test(test_handles_of_a_lost_device),
      cmocka_unit_test(test_faults_while_a_device_is_examined),
      cmocka_unit_test(test_a_device_that_hangs),
      cmocka_unit_test(test_a_wait_that_fails),
      cmocka_unit_test(test_errors_are_no_answers),
  };
  return cmocka_run_group_tests(tests, NULL, scratch_dir_remove);
}
