// SPDX-License-Identifier: MIT
//
// Every function of the CUDA driver that the backend has fails once, those that start it and those
// that end things, too: with no memory, with an error that stays, with a device that is gone, with
// an image that is refused. Whatever fails, the answer is an error of ours, no device, or the right
// result; nothing is kept and other backends work. Drivers are asked once per process: each fault
// has a process of its own, which finds what an earlier one learned of the device.
#include "backend/cuda/codegen.h"
#include "backend/cuda/device.h"
#include "backend/cuda/memory.h"

#include "standin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../parsed_program.h"
#include "../standin_cuda.h"

#include <sys/wait.h>

static const standin_control *driver;

// A child cannot fail a test of cmocka: it says what is wrong and ends.
static void expect(bool holds, const char *what, const char *more) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", what, more);
  _exit(1);
}

// More shared memory than is declared, something transient, a time limit: every function is used.
// No two numbers give one program, so that none is found in the cache.
static vyre_program *make_program(uint32_t number) {
  char text[600];
  snprintf(text, sizeof text,
           "program p()\nbuffer x: u32[] read\nbuffer y: u32[len(x)] readwrite\n"
           "transient t: u32[len(x)]\n"
           "region a grid(len(x)) { t[global_id.x] = x[global_id.x] + %u }\n"
           "region b grid(len(x)) workgroup(4) {\n  shared s: u64[6200]\n"
           "  s[local_id.x + 6196] = u64(t[global_id.x])\n  barrier\n"
           "  y[global_id.x] = u32(s[6199 - local_id.x])\n}\n",
           number);
  return parse(text);
}

static vyre_status compile_and_run(const char *backend, uint32_t number, vyre_error *error) {
  vyre_program *p = make_program(number);
  vyre_executable *e;
  uint32_t x[4] = {0, 10, 20, 30}, y[4] = {0};
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 2, .timeout_ns = 100000000000u};
  vyre_compile_options quick = {.tier = VYRE_TIER_QUICK};
  vyre_status status = vyre_compile(p, backend, &quick, &e, error);
  if (status == VYRE_OK) {
    status = vyre_dispatch(e, &args, NULL, error);
    for (uint32_t i = 0; i < 4 && status == VYRE_OK; i++)
      expect(y[i] == 30 - 10 * i + number, backend, "a wrong answer");
    vyre_executable_release(e);
  }
  vyre_program_release(p);
  return status;
}

static void check_error(vyre_status status, const vyre_error *error, int code) {
  bool is_known = status == VYRE_OK || status == VYRE_ERROR_UNSUPPORTED ||
                  status == VYRE_ERROR_BACKEND ||
                  (status == VYRE_ERROR_MEMORY && code == CU_ERROR_OUT_OF_MEMORY);
  expect(is_known, "not the status of a driver's fault", error->message);
  expect(status == VYRE_OK || strstr(error->message, "Fix:"), "no fix", error->message);
}

static void empty_pools(void) {
  uint32_t count;
  driver->revive();
  cuda_device *all = cuda_devices(&count, NULL);
  for (uint32_t i = 0; i < count && all; i++) {
    if (all[i].info.unusable[0] || cuda_enter(&all[i]) != CU_SUCCESS) continue;
    cuda_memory_trim(&all[i]);
    cuda_leave(&all[i]);
  }
}

// The process of one fault. Ends with 0 when the call was made, with 2 when it never was.
static void meet_fault(const char *function, int calls, int code, uint32_t number) {
  vyre_error error = {0};
  driver->fail_named(function, calls, code);
  vyre_status first = compile_and_run("cuda", number, &error);
  check_error(first, &error, code);
  vyre_status second = compile_and_run("cuda", number, &error);
  check_error(second, &error, code);
  // A fault that is over is over; a device that was lost, or not found, is not asked again.
  vyre_status third = compile_and_run("cuda", number, &error);
  bool is_loss = cuda_is_loss(code);
  expect(third == VYRE_OK || third == VYRE_ERROR_UNSUPPORTED, "later", error.message);
  expect(is_loss || third == VYRE_OK || first != VYRE_OK, "lost by a small fault", error.message);
  expect(is_loss || second == third, "still failing", error.message);
  expect(compile_and_run("ref", number, &error) == VYRE_OK, "another backend", error.message);
  empty_pools();
  expect(driver->objects() == 0, function, "something is kept");
  exit(driver->is_named_over() ? 0 : 2);
}

// Returns whether the call was made.
static bool fault(const char *function, int calls, int code) {
  static uint32_t number = 100;
  int status;
  number++;
  fflush(NULL);
  pid_t child = fork();
  if (!child) meet_fault(function, calls, code, number);
  assert_int_equal(waitpid(child, &status, 0), child);
  bool is_good = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
  if (!is_good) fail_msg("%s, call %d, with %d: status %x", function, calls, code, status);
  return WEXITSTATUS(status) == 0;
}

static void test_every_function_fails(void **state) {
  (void)state;
  static const char *const functions[] = {
#define SYMBOL(name, symbol, parameters) symbol,
      CUDA_FUNCTIONS(SYMBOL)
#undef SYMBOL
  };
  static const int codes[] = {CU_ERROR_OUT_OF_MEMORY, CU_ERROR_LAUNCH_FAILED,
                              CU_ERROR_DEVICE_UNAVAILABLE, CU_ERROR_INVALID_IMAGE};
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++)
      if (!fault(functions[f], 0, codes[c])) fail_msg("%s is never called", functions[f]);
}

// Each question about the device.
static void test_every_question_fails(void **state) {
  (void)state;
  int calls = 0;
  while (fault("cuDeviceGetAttribute", calls, CU_ERROR_INVALID_VALUE)) calls++;
  assert_true(calls >= 14);
}

// What the driver has no part in is there before the processes part.
static void load_generator(void) {
  vyre_program *p = make_program(0);
  cuda_code code;
  if (cuda_generate(p, &(cuda_options){.is_quick = true}, &code, NULL) != VYRE_OK) abort();
  cuda_code_free(&code);
  vyre_program_release(p);
}

int main(void) {
  driver = standin_open();
  load_generator();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_function_fails),
      cmocka_unit_test(test_every_question_fails),
  };
  return cmocka_run_group_tests(tests, NULL, scratch_dir_remove);
}
