// SPDX-License-Identifier: MIT
//
// The OpenCL backend on whatever device there is; skipped where there is none. What it computes is
// compared with the reference; the ways in which devices differ (memory of their own, no rounded
// division, few atomics) are played by changing what the device says of itself.
#include "backend/backend.h"
#include "backend/opencl/bugs.h"
#include "backend/opencl/build.h"
#include "backend/opencl/device.h"
#include "base/clock.h"
#include "../scratch_dir.h"
#include "../device_backend.h"

#include <dirent.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "../missing_device.h"

static opencl_device *device; // the first usable one

static opencl_device *need_device(void) {
  if (!device) skip_without_opencl();
  return device;
}

static void check_text(const char *text) {
  device_check_program("opencl", parse(text), 512);
}

static void check_random(uint64_t first, uint32_t count, trial_limits limits) {
  device_check_random("opencl", (generate_options){.seed = first, .size = 8}, count, limits);
}

// ---- the text -----------------------------------------------------------------------------------

static char *emit(const char *text, const lower_target *target, bool is_polled,
                  vyre_status *status) {
  vyre_program *p = parse(text);
  opencl_source source;
  vyre_error e = {0};
  *status = opencl_emit(p, target, is_polled, &source, &e);
  char *copy = *status == VYRE_OK ? strdup(source.text) : strdup(e.message);
  if (*status == VYRE_OK) opencl_source_fini(&source);
  vyre_program_release(p);
  return copy;
}

static void test_text_is_readable(void **state) {
  (void)state;
  vyre_status status;
  char *text = emit(device_saxpy, &opencl_full_target, false, &status);
  assert_int_equal(status, VYRE_OK);
  static const char expected[] = "// Made by vyre from program `saxpy`.\n"
                                 "#pragma OPENCL FP_CONTRACT OFF\n"
                                 "\n"
                                 "__kernel void v_main(\n"
                                 "    const float v_a,\n"
                                 "    __global const float *restrict v_x,\n"
                                 "    __global float *restrict v_y,\n"
                                 "    const uint grid_0) {\n"
                                 "  if (((uint)get_global_id(0)) >= grid_0) {\n"
                                 "    return;\n"
                                 "  }\n"
                                 "  const uint v_i = (uint)get_global_id(0);\n"
                                 "  v_y[v_i] = (v_a * v_x[v_i]) + v_y[v_i];\n"
                                 "}\n";
  assert_string_equal(text, expected);
  free(text);
}

static void expect_unsupported(const char *text, lower_target target, const char *what) {
  vyre_status status;
  char *message = emit(text, &target, false, &status);
  assert_int_equal(status, VYRE_ERROR_UNSUPPORTED);
  if (!strstr(message, what) || !strstr(message, "Fix:")) fail_msg("%s", message);
  free(message);
}

static void test_what_a_device_lacks(void **state) {
  (void)state;
  lower_target t = opencl_full_target;
  t.has_f64 = false;
  expect_unsupported("program p()\nbuffer x: f64[] readwrite\n"
                     "region r grid(len(x)) { x[global_id.x] = x[global_id.x] + 1.0 }\n",
                     t, "64-bit floats");
  t = opencl_full_target;
  t.has_i64 = false;
  expect_unsupported("program p()\nbuffer x: u64[] readwrite\n"
                     "region r grid(len(x)) { x[u64(global_id.x)] = 1 }\n",
                     t, "64-bit integers");
  expect_unsupported("program p(n: i64)\nbuffer x: u32[] readwrite\n"
                     "region r grid(len(x)) { x[n] = 1 }\n",
                     t, "64-bit integers");
  t = opencl_full_target;
  t.largest_workgroup = 32;
  expect_unsupported("program p()\nbuffer x: u32[] readwrite\n"
                     "region r grid(len(x)) workgroup(64) { x[local_id.x] = 1 }\n",
                     t, "64 x 1 x 1");
  t.largest_buffer_bytes = 100;
  expect_unsupported("program p()\nbuffer x: u32[26] readwrite\n"
                     "region r grid(len(x)) { x[global_id.x] = 1 }\n",
                     t, "104 bytes");
  t = opencl_full_target;
  t.has_i64_atomics = false;
  expect_unsupported("program p()\nbuffer x: u64[] readwrite\n"
                     "region r grid(len(x)) { atomic_add(x[0], 1) }\n",
                     t, "64-bit atomics");
}

#define BARRIER_PROGRAM(body)                                                                      \
  "program p(n: u32)\nbuffer x: u32[] read\nbuffer y: u32[] readwrite\n"                           \
  "region r grid(len(y)) workgroup(16) {\n  shared s: u32[16]\n" body "\n}\n"

static void test_barriers_that_may_part_are_declined(void **state) {
  (void)state;
  static const char *const parted[] = {
      BARRIER_PROGRAM("if x[global_id.x] > 3 { barrier }"),
      BARRIER_PROGRAM("if y[0] > 3 { barrier }"), // somebody may write it
      BARRIER_PROGRAM("y[global_id.x] = 1\n if x[local_id.x] > 3 { return }\n barrier"),
      BARRIER_PROGRAM("for k in 0..x[local_id.x] { barrier }"),
      BARRIER_PROGRAM("for k in 0..n { if x[local_id.x] > k { break }\n barrier }"),
      BARRIER_PROGRAM("for k in 0..n { if x[local_id.x] > k { continue }\n barrier }"),
      BARRIER_PROGRAM("var v: u32 = 0\n while v < n { barrier\n v = v + x[local_id.x] }"),
      BARRIER_PROGRAM("if s[0] > 3 { barrier }"),
      BARRIER_PROGRAM("var v: u32 = 0\n if x[local_id.x] > 3 { v = 1 }\n if v > 0 { barrier }"),
  };
  static const char *const together[] = {
      BARRIER_PROGRAM("if x[group_id.x] > 3 { barrier }"),
      BARRIER_PROGRAM("if n > 3 { return }\n barrier"),
      BARRIER_PROGRAM("for k in 0..x[n] { barrier\n if k > n { break } }"),
      BARRIER_PROGRAM("var v: u32 = 0\n while v < n { barrier\n v = v + 1 }"),
      BARRIER_PROGRAM("barrier\n if x[local_id.x] > 3 { return }\n y[global_id.x] = 1"),
  };
  for (size_t i = 0; i < sizeof parted / sizeof *parted; i++) {
    // y is written in each, so that a load of it is no proof.
    char text[1000];
    snprintf(text, sizeof text, "%.*s  y[global_id.x] = 2\n}\n", (int)strlen(parted[i]) - 2,
             parted[i]);
    expect_unsupported(text, opencl_full_target, "barrier");
  }
  for (size_t i = 0; i < sizeof together / sizeof *together; i++) {
    vyre_status status;
    char *text = emit(together[i], &opencl_full_target, i % 2, &status);
    if (status != VYRE_OK) fail_msg("%s\n%s", text, together[i]);
    free(text);
  }
}

// What means something to OpenCL C, to a driver, to the emitter itself, or to C. No list of them is
// complete, which is why every emitted name has a prefix.
static const char *const taken_words[] = {
    "step",
    "dot",
    "UCHAR_MAX",
    "image2d_array_t",
    "main",
    "kernel",
    "global",
    "min",
    "float4",
    "local",
    "half",
    "get_global_id",
    "fabs",
    "vyre_x",
    "main_",
    "vyre_local",
    "vyre_stop_seen",
    "k",
    "stop",
    "left",
    "grid_x",
    "x_len",
    "v_x",
    "v_",
    "length",
    "distance",
    "normalize",
    "cross",
    "clamp",
    "mix",
    "sign",
    "smoothstep",
    "degrees",
    "radians",
    "mad",
    "mad24",
    "mul24",
    "hypot",
    "native_sin",
    "half_exp",
    "sin",
    "exp",
    "pow",
    "isnan",
    "select",
    "bitselect",
    "any",
    "all",
    "shuffle",
    "vload4",
    "vstore4",
    "prefetch",
    "barrier",
    "mem_fence",
    "work_group_barrier",
    "printf",
    "sampler_t",
    "event_t",
    "queue_t",
    "ndrange_t",
    "clk_event_t",
    "reserve_id_t",
    "image1d_buffer_t",
    "image3d_t",
    "image2d_depth_t",
    "atomic_int",
    "memory_order_relaxed",
    "CLK_LOCAL_MEM_FENCE",
    "CLK_NORMALIZED_COORDS_TRUE",
    "CHAR_BIT",
    "SCHAR_MIN",
    "USHRT_MAX",
    "INT_MAX",
    "ULONG_MAX",
    "FLT_MAX",
    "DBL_EPSILON",
    "MAXFLOAT",
    "HUGE_VALF",
    "INFINITY",
    "NAN",
    "M_PI",
    "M_PI_F",
    "FP_ILOGB0",
    "NULL",
    "linux",
    "unix",
    "i386",
    "__OPENCL_VERSION__",
    "__global",
    "_Bool",
    "_cl_step",
    "cl_khr_fp64",
    "CL_VERSION_1_2",
    "convert_int_sat",
    "as_float",
    "signed",
    "unsigned",
    "auto",
    "goto",
    "typedef",
    "switch",
    "pipe",
    "uniform",
    "generic",
    "asm",
    "typeof",
    "bool",
    "double16",
    "ulong2",
    "char3",
    "size_t",
    "ptrdiff_t",
    "uintptr_t",
    "void",
};
enum { TAKEN_WORDS = sizeof taken_words / sizeof *taken_words };

static void test_taken_words_as_names(void **state) {
  (void)state;
  need_device();
  enum { PARAMS = 30, BUFFERS = 30, REGIONS = 4 };
  vyre_builder *b = vyre_builder_new("kernel");
  uint32_t params[PARAMS];
  vyre_mem buffers[BUFFERS];
  for (int i = 0; i < PARAMS; i++) params[i] = vyre_build_param(b, taken_words[i], VYRE_U32);
  for (int i = 0; i < BUFFERS; i++)
    buffers[i] = vyre_build_buffer(b, taken_words[PARAMS + i], VYRE_U32, VYRE_READWRITE, 0);
  for (int r = 0; r < REGIONS; r++) {
    vyre_build_region_begin(b, taken_words[r]);
    vyre_value size = vyre_build_len(b, buffers[r]);
    vyre_build_grid(b, 1, &size, (const uint32_t[3]){64, 1, 1});
    vyre_value i = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0), sum = i;
    for (int w = 0; w < TAKEN_WORDS; w++) {
      vyre_value part = w % 2 ? vyre_build_param_value(b, params[w % PARAMS])
                              : vyre_build_load(b, buffers[w % BUFFERS], i);
      sum = vyre_build_binary(b, VYRE_OP_XOR, sum, vyre_build_binary(b, VYRE_OP_ADD, sum, part));
      vyre_build_name(b, sum, taken_words[w]);
    }
    for (int k = 0; k < BUFFERS; k++) vyre_build_store(b, buffers[k], i, sum);
    vyre_build_region_end(b);
  }
  vyre_program *p = NULL;
  vyre_error e = {0};
  if (vyre_builder_finish(b, &p, &e) != VYRE_OK) fail_msg("%s", e.message);
  vyre_builder_free(b);
  device_check_program("opencl", p, 512);
}

// ---- running ------------------------------------------------------------------------------------

static void test_devices_have_stable_names(void **state) {
  (void)state;
  need_device();
  device_names_are_stable("opencl");
  assert_string_equal(getenv("POCL_SIGFPE_HANDLER"), "0");
}

static void test_buffers_change_between_dispatches(void **state) {
  (void)state;
  need_device();
  device_buffers_change("opencl");
}

static void test_dispatches_at_once(void **state) {
  (void)state;
  need_device();
  device_dispatches_at_once("opencl");
}

// ---- time limits --------------------------------------------------------------------------------

// So few that PoCL has a thread left for the copy by which a device with memory of its own is told.
static void expect_timeout(const char *text) {
  device_expect_timeout("opencl", text, 64);
}

static void test_time_limit_ends_endless_loops(void **state) {
  (void)state;
  need_device();
  expect_timeout(ENDLESS_LOOP);
  // A barrier behind the loop, a loop around the barrier, a loop under a condition.
  expect_timeout(ENDLESS("workgroup(8)", "  var v: u32 = 0\n"
                                         "  while x[local_id.x] == 0 { v = v + 1 }\n  barrier"));
  expect_timeout(ENDLESS("workgroup(8)", "  while x[0] == 0 { barrier }"));
  expect_timeout(ENDLESS("workgroup(8)", "  barrier\n"
                                         "  if local_id.x < 3 {\n    var v: u32 = 0\n"
                                         "    while x[local_id.x] == 0 { v = v + 1 }\n  }\n"
                                         "  for k in 0..n { barrier }"));
}

static void test_caller_ends_endless_loops(void **state) {
  (void)state;
  need_device();
  device_expect_stopped("opencl", ENDLESS_LOOP, 64);
  device_expect_stopped("opencl", ENDLESS("workgroup(8)", "  while x[0] == 0 { barrier }"), 64);
}

static void test_polled_kernels_compute_the_same(void **state) {
  (void)state;
  need_device();
  check_random(9000, 20, (trial_limits){.timeout_ns = 100000000000u});
}

// ---- devices that differ ------------------------------------------------------------------------

static void test_device_with_memory_of_its_own(void **state) {
  (void)state;
  bool shares = need_device()->shares_memory, in_place = device->is_in_place;
  device->shares_memory = device->is_in_place = false;
  check_random(9100, 20, (trial_limits){0});
  check_random(9120, 10, (trial_limits){.timeout_ns = 100000000000u});
  test_buffers_change_between_dispatches(state);
  expect_timeout(ENDLESS_LOOP);
  device->shares_memory = shares;
  device->is_in_place = in_place;
}

static void test_handles_stay_on_a_device(void **state) {
  (void)state;
  bool shares = need_device()->shares_memory, in_place = device->is_in_place;
  for (int own = 0; own < 2; own++) {
    device->shares_memory = !own && shares;
    device->is_in_place = !own && in_place;
    device_keeps_handles("opencl", own);
  }
  device->shares_memory = shares;
  device->is_in_place = in_place;
}

static char *kept_variable(const char *name) {
  return getenv(name) ? strdup(getenv(name)) : NULL;
}

static void give_back(const char *name, char *value) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
  free(value);
}

// PoCL ends the process when it cannot write its files; it is not asked to where it could not.
static void test_no_room_is_declined(void **state) {
  (void)state;
  vyre_program *p;
  vyre_executable *e = NULL;
  vyre_error error;
  static const char text[] = "program p()\nbuffer y: i32[] write\n"
                             "region r grid(len(y)) { y[global_id.x] = 41 }\n";
  if (strncmp(need_device()->platform_name, "Portable", 8)) skip();
  char *folder = kept_variable("POCL_CACHE_DIR");
  assert_int_equal(vyre_program_parse(text, strlen(text), "p", &p, &error), VYRE_OK);
  setenv("POCL_CACHE_DIR", "/proc/nothing/at/all", 1); // a file system without a free block
  assert_int_equal(vyre_compile(p, "opencl", NULL, &e, &error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "POCL_CACHE_DIR"));
  give_back("POCL_CACHE_DIR", folder);
  assert_int_equal(vyre_compile(p, "opencl", NULL, &e, &error), VYRE_OK);
  vyre_executable_release(e);
  vyre_program_release(p);
}

// PoCL loads code from its cache, which must not be where others can write.
static void test_pocl_is_not_fed_code(void **state) {
  (void)state;
  vyre_program *p = parse(device_saxpy);
  vyre_executable *e = NULL;
  vyre_error error;
  if (strncmp(need_device()->platform_name, "Portable", 8)) skip();
  char *pocl = kept_variable("POCL_CACHE_DIR"), *xdg = kept_variable("XDG_CACHE_HOME"),
       *home = kept_variable("HOME");
  unsetenv("POCL_CACHE_DIR"), unsetenv("XDG_CACHE_HOME"), unsetenv("HOME");
  assert_int_equal(vyre_compile(p, "opencl", NULL, &e, &error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "/tmp"));
  setenv("XDG_CACHE_HOME", ".cache", 1);
  assert_int_equal(vyre_compile(p, "opencl", NULL, &e, &error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "current folder"));
  setenv("POCL_CACHE_DIR", scratch_path("open"), 1);
  assert_int_equal(mkdir(scratch_path("open"), 0700), 0);
  assert_int_equal(chmod(scratch_path("open"), 0777), 0);
  assert_int_equal(vyre_compile(p, "opencl", NULL, &e, &error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "other users can write"));
  give_back("POCL_CACHE_DIR", pocl);
  give_back("XDG_CACHE_HOME", xdg);
  give_back("HOME", home);
  vyre_program_release(p);
}

static void test_device_that_must_be_mapped(void **state) {
  (void)state;
  bool in_place = need_device()->is_in_place;
  if (!device->shares_memory) skip();
  device->is_in_place = false;
  check_random(9200, 20, (trial_limits){0});
  test_buffers_change_between_dispatches(state);
  device->is_in_place = in_place;
}

// Literals that are written by their bits: NaN, infinities, subnormals; and the ends of types.
static void test_literals(void **state) {
  (void)state;
  if (!need_device()->target.has_f64) skip();
  check_text("program p()\nbuffer x: f64[] readwrite\nbuffer y: f32[] readwrite\n"
             "buffer z: i64[] readwrite\n"
             "region r grid(len(x)) {\n  let i = global_id.x\n"
             "  x[i] = select(x[i] < 5e-324, -1.5e-320, select(x[i] > 1.0, inf_f64, nan_f64))\n"
             "  y[i] = select(y[i] < 1e-45, -1e-40, select(y[i] > 1.0, -inf_f32, nan_f32))\n"
             "  z[i] = z[i] + select(z[i] < 0, -9223372036854775808, 9223372036854775807)\n}\n");
}

static void test_device_with_less(void **state) {
  (void)state;
  lower_target target = need_device()->target;
  device->target.has_i64_extended_atomics = false;
  device->target.has_f32_rounding = device->target.has_f64_rounding = false;
  device->target.has_rint = false;
  if (target.has_f64) device->target.rounds_f32_division = false;
  check_random(9300, 20, (trial_limits){0});
  check_text("program p()\nbuffer a: i64[] readwrite\nbuffer b: u64[] readwrite\n"
             "region r grid(64) workgroup(16) {\n"
             "  shared s: i64[2]\n"
             "  let i = i64(global_id.x) * 99 - 3000\n"
             "  atomic_min(a[0], i)\n  atomic_max(a[1], i)\n  atomic_and(b[2], u64(i))\n"
             "  atomic_or(b[3], u64(i))\n  atomic_xor(b[4], u64(i))\n"
             "  atomic_min(s[0], i)\n  atomic_max(s[1], i)\n  barrier\n"
             "  if local_id.x == 0 { a[i64(group_id.x) + 8] = s[0] + s[1] }\n"
             "}\n");
  check_text("program p()\nbuffer x: f32[] readwrite\nbuffer y: f32[] readwrite\n"
             "region r grid(len(x)) {\n  let i = global_id.x\n"
             "  let d = x[i] / y[i]\n  x[i] = d\n  y[i] = sqrt(y[i])\n}\n");
  // By integers alone, and without those of 64 bits.
  device->target.rounds_f32_division = device->target.has_f32_fma = false;
  device->target.has_f64 = device->target.has_i64 = false;
  check_text("program p()\nbuffer x: f32[] readwrite\nbuffer y: f32[] readwrite\n"
             "buffer z: u32[] readwrite\n"
             "region r grid(len(x)) {\n  let i = global_id.x\n"
             "  let d = x[i] / y[i]\n  let q = fma(x[i], y[i], d)\n"
             "  let w = u64(z[i]) * 6364136223846793005 + u64(i)\n"
             "  z[i] = u32(w >> 33) ^ u32(w % 1000003)\n"
             "  x[i] = d\n  y[i] = sqrt(y[i]) + q * f32(w)\n}\n");
  device->target = target;
}

static void test_workgroups_are_fitted(void **state) {
  (void)state;
  uint32_t most[3];
  memcpy(most, need_device()->max_workgroup, sizeof most);
  device->max_workgroup[0] = 10; // an elastic region is launched in smaller groups
  check_text("program p()\nbuffer x: u32[] readwrite\n"
             "region r grid(len(x)) workgroup(256) { x[global_id.x] = global_id.x * 3 }\n");
  memcpy(device->max_workgroup, most, sizeof most);
  uint32_t total = device->target.largest_workgroup;
  device->target.largest_workgroup = 8;
  vyre_program *p = parse(BARRIER_PROGRAM("barrier\n y[global_id.x] = x[0]"));
  vyre_executable *e;
  vyre_error error;
  assert_int_equal(vyre_compile(p, "opencl", NULL, &e, &error), VYRE_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "workgroup"));
  device->target.largest_workgroup = total;
  vyre_program_release(p);
}

static void test_lost_devices_are_not_used(void **state) {
  (void)state;
  vyre_error error;
  assert_int_equal(
      opencl_device_error(need_device(), &error, CL_DEVICE_NOT_AVAILABLE, "run a kernel", "gone"),
      VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "CL_DEVICE_NOT_AVAILABLE"));
  assert_non_null(strstr(error.message, "gone"));
  assert_null(opencl_device_find(device->info.adapter, &error));
  vyre_device devices[16];
  uint32_t count;
  assert_int_equal(vyre_backend_devices("opencl", devices, 16, &count, NULL), VYRE_OK);
  bool is_told = false;
  for (uint32_t i = 0; i < count && i < 16; i++)
    is_told |= strstr(devices[i].unusable, "lost") != NULL;
  assert_true(is_told);
  atomic_store(&device->is_lost, false);
}

// ---- binaries and bugs --------------------------------------------------------------------------

static void damage_cache(void) {
  char *folder = scratch_path("cache/code");
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  uint32_t damaged = 0;
  for (struct dirent *d; (d = readdir(dir));) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
    FILE *f = strstr(d->d_name, ".code") ? fopen(path, "r+b") : NULL;
    if (!f) continue;
    fseek(f, 200, SEEK_SET);
    assert_int_equal(fwrite("garbage", 1, 7, f), 7);
    fclose(f);
    damaged++;
  }
  closedir(dir);
  assert_true(damaged > 0);
}

static void test_binaries_are_kept_and_checked(void **state) {
  (void)state;
  need_device();
  setenv("VYRE_HOME", scratch_dir, 1);
  unsetenv("VYRE_CACHE");
  vyre_program *p = parse(device_saxpy);
  static const bool expected[] = {false, true, true, false, true};
  const opencl_build_how cached = {.tier = VYRE_TIER_FULL, .only_cached = true};
  for (int i = 0; i < 5; i++) {
    opencl_build b;
    vyre_error error;
    if (i == 3) damage_cache();
    vyre_status looked_up = opencl_build_init(&b, device, p, &cached, &error);
    assert_int_equal(looked_up, expected[i] ? VYRE_OK : VYRE_ERROR_UNSUPPORTED);
    if (looked_up == VYRE_OK) opencl_build_fini(&b, device);
    if (opencl_build_init(&b, device, p, &(opencl_build_how){.tier = VYRE_TIER_FULL}, &error) !=
        VYRE_OK)
      fail_msg("%s", error.message);
    assert_int_equal(b.was_cached, expected[i]);
    opencl_build_fini(&b, device);
  }
  check_text(device_saxpy); // from the cache
  setenv("VYRE_CACHE", "off", 1);
  vyre_program_release(p);
}

static void test_failed_builds_show_the_log(void **state) {
  (void)state;
  vyre_error error;
  assert_int_equal(
      opencl_error(&error, CL_BUILD_PROGRAM_FAILURE, "compile a program", "line 3: no"),
      VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "line 3: no"));
  assert_non_null(strstr(error.message, "Fix:"));
  assert_int_equal(opencl_error(&error, CL_MEM_OBJECT_ALLOCATION_FAILURE, "place a buffer", NULL),
                   VYRE_ERROR_MEMORY);
}

static void expect_bug(const char *text) {
  lower_target target = device->target;
  vyre_program *p = parse(text);
  trial t;
  difference d;
  setenv("VYRE_OPENCL_WORKAROUNDS", "off", 1);
  device->target.has_f64_rounding = device->target.has_rint = true;
  assert_int_equal(generate_inputs(p, 1, 512, &t, NULL), VYRE_OK);
  assert_true(compare_run(&t, NULL, "opencl", NULL, &d));
  assert_int_equal(d.verdict, DIFFERENT);
  device->target = target;
  unsetenv("VYRE_OPENCL_WORKAROUNDS");
  trial_fini(&t);
  vyre_program_release(p);
}

static void test_known_bugs_have_reproducers(void **state) {
  (void)state;
  for (int bug = 0; bug < BUG_COUNT; bug++) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", VYRE_SOURCE_DIR, opencl_bugs[bug].reproducer);
    char *text = scratch_read(path);
    if (!text) fail_msg("%s is missing", path);
    vyre_program_release(parse(text));
    if (device) check_text(text);
    if (device && !strncmp(device->driver, "3.1", 3)) expect_bug(text); // PoCL 3.1 has them all
    free(text);
  }
}

static void test_random_programs(void **state) {
  (void)state;
  need_device();
#ifdef __SANITIZE_ADDRESS__
  check_random(9400, 40, (trial_limits){0});
#else
  check_random(0, 40, (trial_limits){0});
#endif
}

static int set_up(void **state) {
  setenv("VYRE_CACHE", "off", 1); // no binaries but where they are the subject
  device = opencl_device_find(NULL, NULL);
  return scratch_dir_make(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text_is_readable),
      cmocka_unit_test(test_what_a_device_lacks),
      cmocka_unit_test(test_barriers_that_may_part_are_declined),
      cmocka_unit_test(test_taken_words_as_names),
      cmocka_unit_test(test_devices_have_stable_names),
      cmocka_unit_test(test_buffers_change_between_dispatches),
      cmocka_unit_test(test_dispatches_at_once),
      cmocka_unit_test(test_time_limit_ends_endless_loops),
      cmocka_unit_test(test_caller_ends_endless_loops),
      cmocka_unit_test(test_polled_kernels_compute_the_same),
      cmocka_unit_test(test_device_with_memory_of_its_own),
      cmocka_unit_test(test_handles_stay_on_a_device),
      cmocka_unit_test(test_no_room_is_declined),
      cmocka_unit_test(test_pocl_is_not_fed_code),
      cmocka_unit_test(test_device_that_must_be_mapped),
      cmocka_unit_test(test_literals),
      cmocka_unit_test(test_device_with_less),
      cmocka_unit_test(test_workgroups_are_fitted),
      cmocka_unit_test(test_lost_devices_are_not_used),
      cmocka_unit_test(test_binaries_are_kept_and_checked),
      cmocka_unit_test(test_failed_builds_show_the_log),
      cmocka_unit_test(test_known_bugs_have_reproducers),
      cmocka_unit_test(test_random_programs),
  };
  return cmocka_run_group_tests(tests, set_up, scratch_dir_remove);
}
