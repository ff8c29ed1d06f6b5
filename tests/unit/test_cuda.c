// SPDX-License-Identifier: MIT
//
// The CUDA backend as it would run, on the stand-in for its driver (tests/tools/ptx): results are
// compared with the reference, buffers stay on devices, large grids are cut, time limits end
// kernels, several devices are several. Ways in which devices differ are played by changing what
// one says of itself.
#include "backend/backend.h"
#include "backend/cuda/codegen.h"
#include "backend/cuda/device.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/remarks.h"

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
static const standin_control *standin_cuda;

static void check_text(const char *text, uint32_t elements) {
  device_check_program("cuda", parse(text), elements);
}

static void check_random(uint64_t seed, uint32_t count, trial_limits limits) {
  device_check_random("cuda", (generate_options){.seed = seed, .size = 6}, count, limits);
}

// ---- running ------------------------------------------------------------------------------------

static void test_devices_have_stable_names(void **state) {
  (void)state;
  device_names_are_stable("cuda");
}

static void test_device_is_compared_before_it_is_used(void **state) {
  (void)state;
  strbuf lines = {0};
  assert_int_equal(backend_find("cuda")->describe(device->info.adapter, &lines, NULL), VYRE_OK);
  char *text = strbuf_take(&lines, NULL);
  assert_non_null(strstr(text, "compared with the reference on this machine"));
  assert_int_equal(device->verdict, VERDICT_RIGHT);
  free(text);
}

static void test_buffers_change_between_dispatches(void **state) {
  (void)state;
  device_buffers_change("cuda");
}

static void test_dispatches_at_once(void **state) {
  (void)state;
  device_dispatches_at_once("cuda");
}

static void test_random_programs(void **state) {
  (void)state;
  for (uint64_t n = 0; n < 5; n++) check_random(9000 + 40 * n, 40, (trial_limits){0});
  check_random(9900, 24, (trial_limits){.timeout_ns = 100000000000u});
}

// Every width of parameter, in kernels' arguments.
static void test_parameters(void **state) {
  (void)state;
  check_text("program p(a: u32, b: i64, c: f64, d: u8, e: bool, f: f16, g: i16, h: f32)\n"
             "buffer x: i64[] readwrite\nregion r grid(len(x)) {\n  let i = global_id.x\n"
             "  var v: i64 = b\n  if e { v = v + i64(a) }\n"
             "  x[i] = x[i] + v + i64(c) + i64(d) + i64(i) + i64(g) * i64(f32(f) + h)\n}\n",
             300);
}

// As many as a program may have, in an order that leaves room between them: a launch takes 4,096
// bytes.
static void test_most_parameters(void **state) {
  (void)state;
  strbuf text = {0};
  strbuf_puts(&text, "program p(");
  for (int i = 0; i < 256; i++) strbuf_printf(&text, "%sp%d: u64", i ? ", " : "", i);
  strbuf_puts(&text, ")\n");
  for (int i = 0; i < 128; i++) strbuf_printf(&text, "buffer b%d: u64[] readwrite\n", i);
  strbuf_puts(&text, "region r grid(3) {\n  let i = global_id.x\n");
  for (int i = 0; i < 128; i++)
    strbuf_printf(&text, "  b%d[i] = b%d[i] * p%d + u64(len(b%d)) + p%d\n", i, i, i, i, 255 - i);
  strbuf_puts(&text, "}\n");
  char *made = strbuf_take(&text, NULL);
  check_text(made, 3);
  free(made);
}

static void test_regions_hand_on(void **state) {
  (void)state;
  check_text("program p(n: u32)\nbuffer x: u32[] read\nbuffer y: u32[len(x)] readwrite\n"
             "transient t: u32[len(x)]\n"
             "region a grid(len(x)) { t[global_id.x] = x[global_id.x] + n + t[global_id.x] }\n"
             "region b grid(len(x)) { y[global_id.x] = t[len(x) - 1 - global_id.x] * 3 }\n"
             "region c grid(len(x)) { y[global_id.x] = y[global_id.x] + t[global_id.x] }\n",
             3000);
}

// What one thread wrote before a barrier another reads behind it, in buffers as well.
static void test_workgroups_hand_on(void **state) {
  (void)state;
  check_text("program p()\nbuffer x: u32[128] readwrite\nbuffer t: u32[128] readwrite\n"
             "region r grid(128) workgroup(64) {\n  let i = global_id.x\n  let l = local_id.x\n"
             "  var s: u32 = 0\n  for k in 0..5u32 {\n    t[i] = x[i] + s\n    barrier\n"
             "    s = s * 3 + t[group_id.x * 64 + (63 - l)]\n    barrier\n  }\n  x[i] = s\n}\n",
             128);
}

// More shared memory than a kernel may declare: the launch gives it.
static void test_large_shared_memory(void **state) {
  (void)state;
  check_text("program p()\nbuffer x: u32[512] readwrite\n"
             "region r grid(512) workgroup(256) {\n  shared a: u32[8000]\n  shared b: u64[7000]\n"
             "  shared c: u8[3]\n  let l = local_id.x\n  a[l * 31] = x[global_id.x]\n"
             "  b[6999 - l] = u64(l) << 33\n  c[l % 3] = 7\n  barrier\n"
             "  x[global_id.x] = a[(255 - l) * 31] + u32(b[6999 - (l ^ 1)] >> 32) + u32(c[2]) +\n"
             "      a[l * 31 + 1] + u32(b[l]) + a[9000] + x[600]\n}\n",
             512);
}

// A choice between floats is none of the device's min and max, which tell zeros apart.
static void test_choices_between_zeros(void **state) {
  (void)state;
  check_text("program p()\nbuffer x: u32[] read\nbuffer r: u32[4 * len(x)] write\n"
             "region a grid(len(x)) {\n  let i = 4 * global_id.x\n"
             "  let v = f32(as_i32(x[global_id.x]) % 2) * as_f32(x[global_id.x] & 0x80000000)\n"
             "  r[i] = as_u32(min(v, 0.0))\n  r[i + 1] = as_u32(max(v, -0.0))\n"
             "  r[i + 2] = as_u32(v < 0.0 ? v : 0.0)\n"
             "  r[i + 3] = as_u32(max(f32(x[global_id.x] % 2), -0.0))\n}\n",
             64);
}

static void test_atomics_of_floats(void **state) {
  (void)state;
  check_text("program p()\nbuffer x: f32[] readwrite\nbuffer r: f32[len(x)] write\n"
             "region a grid(len(x)) {\n  let i = global_id.x\n  let v = x[i]\n"
             "  r[i] = atomic_add(x[i], 1.5) + atomic_max(x[i], v * 2.0)\n"
             "  atomic_cas(x[i], v, 7.0)\n  atomic_exchange(x[i], x[i] - v)\n}\n",
             300);
}

// ---- time limits --------------------------------------------------------------------------------

static void test_time_limit_ends_endless_loops(void **state) {
  (void)state;
  device_expect_timeout("cuda", ENDLESS_LOOP, 64);
  device_expect_timeout("cuda", ENDLESS("workgroup(8)", "  while x[0] == 0 { barrier }"), 64);
}

static void test_caller_ends_a_dispatch(void **state) {
  (void)state;
  device_expect_stopped("cuda", ENDLESS_LOOP, 64);
}

// Of a grid with more pieces than memory could list, nothing is made before it is due.
static void test_huge_grids_are_not_listed(void **state) {
  (void)state;
  vyre_executable *e =
      device_compiled("cuda", "program p()\nbuffer y: u32[] readwrite\n"
                              "region r grid(2147483647, 2147483647, 1) { y[0] = 1 }\n");
  uint32_t y = 5;
  volatile uint32_t stop = 1;
  vyre_span span = {&y, sizeof y};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1, .stop = &stop};
  assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_ERROR_STOPPED);
  assert_int_equal(y, 5);
  vyre_executable_release(e);
}

// ---- memory -------------------------------------------------------------------------------------

static void test_handles_stay_on_the_device(void **state) {
  (void)state;
  assert_true(backend_find("cuda")->keeps_memory(backend_find("cuda")));
  device_keeps_handles("cuda", true);
}

static void test_memory_is_kept_and_given_back(void **state) {
  (void)state;
  cuda_memory m;
  assert_int_equal(cuda_enter(device), 0);
  cuda_memory_trim(device);
  int before = standin_cuda->objects();
  assert_int_equal(cuda_memory_take(device, CUDA_DEVICE_MEMORY, 5000, &m), 0);
  assert_true(m.size >= 5000 && !m.host && m.address);
  cu_address at = m.address;
  cuda_memory_give(device, &m);
  assert_int_equal(standin_cuda->objects(), before + 1);
  assert_int_equal(cuda_memory_take(device, CUDA_DEVICE_MEMORY, 4500, &m), 0);
  assert_true(m.address == at);
  cuda_memory_give(device, &m);
  assert_int_equal(cuda_memory_take(device, CUDA_HOST_MEMORY, 4, &m), 0);
  assert_non_null(m.host);
  cuda_memory_give(device, &m);
  cuda_memory_trim(device);
  assert_int_equal(standin_cuda->objects(), before);
  assert_int_equal(cuda_memory_take(device, CUDA_DEVICE_MEMORY, SIZE_MAX - 5, &m),
                   CU_ERROR_OUT_OF_MEMORY);
  cuda_leave(device);
}

// As NVIDIA's tables have it for compute capability 9.0.
static void test_occupancy(void **state) {
  (void)state;
  assert_int_equal(cuda_occupancy(32, 256, 0), 100);
  assert_int_equal(cuda_occupancy(64, 256, 0), 50);
  assert_int_equal(cuda_occupancy(33, 1024, 0), 50);
  assert_int_equal(cuda_occupancy(255, 1024, 0), 0); // does not fit at all
  assert_int_equal(cuda_occupancy(255, 128, 0), 12);
  assert_int_equal(cuda_occupancy(16, 32, 0), 50); // 32 workgroups at most
  assert_int_equal(cuda_occupancy(16, 128, 100 << 10), 12);
}

// ---- devices that differ ------------------------------------------------------------------------

static void test_large_grids_are_cut(void **state) {
  (void)state;
  uint32_t was[3];
  memcpy(was, device->most_grid, sizeof was);
  for (int k = 0; k < 3; k++) device->most_grid[k] = 2;
  check_text("program p()\nbuffer y: u32[1000] readwrite\n"
             "region r grid(10, 10, 10) workgroup(2, 3, 1) {\n"
             "  let i = global_id.x + 10 * global_id.y + 100 * global_id.z\n"
             "  y[i] = y[i] + i + global_size.y\n}\n",
             1000);
  check_text("program p()\nbuffer y: u32[64] readwrite\n"
             "region r grid(64) workgroup(4) {\n"
             "  y[global_id.x] = group_id.x * 1000 + local_id.x * 100 + group_count.x\n}\n",
             64);
  memcpy(device->most_grid, was, sizeof was);
}

// A kernel that takes fewer threads than were asked for is launched with fewer; one workgroup that
// is part of a program's meaning is refused where it does not fit.
static void test_workgroups_fit_the_device(void **state) {
  (void)state;
  static const char rigid[] = "program p()\nbuffer y: u32[512] readwrite\n"
                              "region r grid(512) workgroup(512) { y[511 - local_id.x] = 3 }\n";
  vyre_executable *e = device_compiled("cuda", device_saxpy);
  float x[2000], y[2000];
  for (int i = 0; i < 2000; i++) x[i] = (float)i, y[i] = 1;
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_scalar a = vyre_scalar_f32(2);
  vyre_dispatch_args args = {.params = &a,
                             .param_count = 1,
                             .buffers = spans,
                             .buffer_count = 2,
                             .workgroup = {1024, 1, 1}};
  assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_OK);
  for (int i = 0; i < 2000; i++) assert_true(y[i] == 2 * (float)i + 1);
  vyre_executable_release(e);
  check_text(rigid, 512);
  vyre_program *p = parse(rigid);
  vyre_error error;
  uint32_t was = device->most_threads;
  device->most_threads = 256;
  assert_int_equal(vyre_compile(p, "cuda", NULL, &e, &error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "workgroup of 512 x 1 x 1"));
  device->most_threads = was;
  vyre_program_release(p);
}

// A buffer moves from one device to another without a copy of the caller's.
static void test_several_devices(void **state) {
  (void)state;
  uint32_t count;
  cuda_device *all = cuda_devices(&count, NULL);
  vyre_program *p = parse("program p()\nbuffer x: u32[] readwrite\n"
                          "region r grid(len(x)) { x[global_id.x] = x[global_id.x] * 3 + 1 }\n");
  vyre_executable *e[3];
  vyre_buffer b, *handle = &b;
  assert_int_equal(count, 3);
  assert_string_equal(all[1].info.adapter + strlen(all[0].info.adapter), "-n2");
  assert_string_equal(all[2].info.adapter + strlen(all[0].info.adapter), "-n3");
  assert_true(resident_init(&b, 40));
  vyre_dispatch_args args = {.handles = &handle, .buffer_count = 1};
  for (uint32_t i = 0; i < count; i++) {
    vyre_compile_options options = {.device = all[i].info.adapter};
    assert_int_equal(vyre_compile(p, "cuda", &options, &e[i], NULL), VYRE_OK);
    assert_int_equal(vyre_dispatch(e[i], &args, NULL, NULL), VYRE_OK);
  }
  assert_int_equal(resident_to_host(&b, NULL), VYRE_OK);
  for (int i = 0; i < 10; i++) assert_int_equal(((uint32_t *)b.host)[i], 13);
  for (uint32_t i = 0; i < count; i++) vyre_executable_release(e[i]);
  resident_fini(&b);
  vyre_program_release(p);
}

int main(void) {
  standin_cuda = standin_open();
  setenv("STANDIN_DEVICES", "3", 1);
  device = cuda_device_find(NULL, NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_devices_have_stable_names),
      cmocka_unit_test(test_device_is_compared_before_it_is_used),
      cmocka_unit_test(test_buffers_change_between_dispatches),
      cmocka_unit_test(test_dispatches_at_once),
      cmocka_unit_test(test_random_programs),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_most_parameters),
      cmocka_unit_test(test_regions_hand_on),
      cmocka_unit_test(test_workgroups_hand_on),
      cmocka_unit_test(test_large_shared_memory),
      cmocka_unit_test(test_choices_between_zeros),
      cmocka_unit_test(test_atomics_of_floats),
      cmocka_unit_test(test_time_limit_ends_endless_loops),
      cmocka_unit_test(test_caller_ends_a_dispatch),
      cmocka_unit_test(test_huge_grids_are_not_listed),
      cmocka_unit_test(test_handles_stay_on_the_device),
      cmocka_unit_test(test_memory_is_kept_and_given_back),
      cmocka_unit_test(test_occupancy),
      cmocka_unit_test(test_large_grids_are_cut),
      cmocka_unit_test(test_workgroups_fit_the_device),
      cmocka_unit_test(test_several_devices),
  };
  return cmocka_run_group_tests(tests, NULL, scratch_dir_remove);
}
