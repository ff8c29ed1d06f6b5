// SPDX-License-Identifier: MIT
//
// The Vulkan backend on whatever device there is; what needs one is skipped where there is none.
// What it computes is compared with the reference; the ways in which devices differ (memory of
// their own, few facts pushed, small grids, no 64-bit integers) are played by changing what the
// device says of itself.
#include "backend/backend.h"
#include "backend/vulkan/build.h"
#include "backend/vulkan/device.h"
#include "backend/vulkan/memory.h"
#include "backend/vulkan/probe.h"

#include "../device_backend.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "../missing_device.h"

static vulkan_device *device; // the first usable one

static vulkan_device *need_device(void) {
  if (!device) skip_without_vulkan();
  return device;
}

static void check_text(const char *text, uint32_t elements) {
  device_check_program("vulkan", parse(text), elements);
}

static void check_random(generate_options o, uint32_t count, trial_limits limits) {
  o.size = 6;
  device_check_random("vulkan", o, count, limits);
}

// ---- running ------------------------------------------------------------------------------------

static void test_devices_have_stable_names(void **state) {
  (void)state;
  need_device();
  device_names_are_stable("vulkan");
}

static void test_probe_says_what_is_exact(void **state) {
  (void)state;
  vulkan_device *d = need_device();
  strbuf lines = {0};
  probe_finding f;
  uint32_t count = 0;
  assert_int_equal(backend_find("vulkan")->describe(d->info.adapter, &lines, NULL), VYRE_OK);
  char *text = strbuf_take(&lines, NULL);
  for (; probe_finding_at(d, count, &f); count++) assert_non_null(strstr(text, f.name));
  assert_int_equal(count, d->target.lower.has_f64 ? 12 : 6);
  free(text);
}

static void test_buffers_change_between_dispatches(void **state) {
  (void)state;
  need_device();
  device_buffers_change("vulkan");
}

static void test_dispatches_at_once(void **state) {
  (void)state;
  need_device();
  device_dispatches_at_once("vulkan");
}

static void test_random_programs(void **state) {
  (void)state;
  need_device();
  check_random((generate_options){.seed = 9000}, 16, (trial_limits){0});
  check_random((generate_options){.seed = 9050}, 8, (trial_limits){.timeout_ns = 100000000000u});
}

// Regions that need what others wrote, and others that do not.
static const char handed_on[] =
    "program p(n: u32)\nbuffer x: u32[] read\nbuffer y: u32[len(x)] readwrite\n"
    "transient t: u32[len(x)]\ntransient u: u32[len(x)]\n"
    "region a grid(len(x)) { t[global_id.x] = x[global_id.x] + n }\n"
    "region b grid(len(x)) { u[global_id.x] = x[global_id.x] * 3 }\n"
    "region c grid(len(x)) { y[global_id.x] = t[len(x) - 1 - global_id.x] ^ u[global_id.x] }\n"
    "region d grid(len(x)) { t[global_id.x] = y[global_id.x] >> 1 }\n"
    "region e grid(len(x)) { y[global_id.x] = y[global_id.x] + t[len(x) - 1 - global_id.x] }\n";

static void test_regions_wait_for_each_other(void **state) {
  (void)state;
  need_device();
  check_text(handed_on, 5000);
}

// Floats are exchanged by their bits, in buffers and in shared arrays; nobody shares an element.
static void test_atomics_of_floats(void **state) {
  (void)state;
  need_device();
  check_text("program p()\nbuffer x: f32[] readwrite\nbuffer r: f32[len(x)] write\n"
             "region a grid(len(x)) {\n  let i = global_id.x\n  let v = x[i]\n"
             "  r[i] = atomic_add(x[i], 1.5) + atomic_max(x[i], v * 2.0)\n"
             "  atomic_cas(x[i], v, 7.0)\n  atomic_exchange(x[i], x[i] - v)\n}\n",
             300);
  check_text("program p()\nbuffer x: f32[64] readwrite\n"
             "region a grid(64) workgroup(64) {\n  shared s: f32[64]\n  let i = local_id.x\n"
             "  s[i] = x[i]\n  barrier\n  atomic_add(s[63 - i], x[i])\n  barrier\n"
             "  x[i] = s[i]\n}\n",
             64);
}

// ---- time limits --------------------------------------------------------------------------------

// As on a device that lets loops run; so many invocations that lavapipe, which does not, is not
// done before the limit.
static void expect_timeout(const char *text) {
  vulkan_device *d = need_device();
  uint32_t most = d->target.most_turns;
  d->target.most_turns = 0;
  device_expect_timeout("vulkan", text, 1 << 14);
  d->target.most_turns = most;
}

static void test_time_limit_ends_endless_loops(void **state) {
  (void)state;
  need_device();
  expect_timeout(ENDLESS_LOOP);
  expect_timeout(ENDLESS("workgroup(8)", "  while x[0] == 0 { barrier }"));
}

static void test_caller_ends_endless_loops(void **state) {
  (void)state;
  vulkan_device *d = need_device();
  uint32_t most = d->target.most_turns;
  d->target.most_turns = 0;
  device_expect_stopped("vulkan", ENDLESS_LOOP, 1 << 14);
  d->target.most_turns = most;
}

// A grid that takes longer than the limit is left between its pieces.
static void test_time_limit_ends_large_grids(void **state) {
  (void)state;
  need_device();
  vyre_program *p = parse("program p()\nbuffer y: u32[] readwrite\n"
                          "region r grid(len(y), 30000, 30000) {\n"
                          "  atomic_add(y[global_id.x], 1)\n}\n");
  vyre_executable *e;
  vyre_error error = {0};
  uint32_t y[64] = {0};
  vyre_span span = {y, sizeof y};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1, .timeout_ns = 50000000};
  assert_int_equal(vyre_compile(p, "vulkan", NULL, &e, &error), VYRE_OK);
  device_dispatch_late(e, &args);
  vyre_executable_release(e);
  vyre_program_release(p);
}

// ---- drivers that end loops ---------------------------------------------------------------------

enum { TURNING = 40 };

// On a device that grants 100 turns. `extra` are iterations; whatever is refused is as it was.
static void check_turns(const char *text, uint32_t extra, bool is_granted) {
  uint32_t expected[TURNING], found[TURNING];
  vyre_program *p = parse(text);
  vyre_executable *ref, *vulkan;
  vyre_error error = {0};
  for (uint32_t i = 0; i < TURNING; i++) expected[i] = found[i] = i + 1;
  vyre_scalar n = vyre_scalar_u32(extra);
  vyre_span span = {expected, sizeof expected};
  vyre_dispatch_args args = {.params = &n, .param_count = 1, .buffers = &span, .buffer_count = 1};
  assert_int_equal(vyre_compile(p, "ref", NULL, &ref, &error), VYRE_OK);
  assert_int_equal(vyre_compile(p, "vulkan", NULL, &vulkan, &error), VYRE_OK);
  if (is_granted) assert_int_equal(vyre_dispatch(ref, &args, NULL, &error), VYRE_OK);
  span.data = found;
  vyre_status status = vyre_dispatch(vulkan, &args, NULL, &error);
  assert_int_equal(status, is_granted ? VYRE_OK : VYRE_ERROR_UNSUPPORTED);
  if (!is_granted) assert_non_null(strstr(error.message, "makes more than 100 iterations"));
  assert_memory_equal(expected, found, sizeof found);
  vyre_executable_release(ref);
  vyre_executable_release(vulkan);
  vyre_program_release(p);
}

#define TURNS(head, body)                                                                          \
  "program turns(n: u32)\nbuffer y: u32[] readwrite\nregion r grid(40) " head                      \
  "  let i = global_id.x\n  var s: u32 = y[i]\n" body "  y[i] = s\n}\n"
#define ALONE "{\n"
#define GROUP "workgroup(8) {\n  shared t: u32[8]\n"

static void test_launches_with_too_many_turns_are_refused(void **state) {
  (void)state;
  vulkan_device *d = need_device();
  uint32_t most = d->target.most_turns;
  d->target.most_turns = 100;
  static const char *const bodies[] = {
      TURNS(ALONE, "  for k in 0..n { s = s * 5 + k }\n"),
      TURNS(ALONE, "  var k: u32 = 0\n  while k < n { k = k + 1\n    if s % 3 == 0 { continue }\n"
                   "    s = s * 5 + k }\n"),
      TURNS(ALONE, "  if i % 2 == 0 { for k in 0..n { s = s * 5 + k } }\n"),
      TURNS(GROUP, "  for k in 0..n {\n    t[local_id.x] = s\n"
                   "    barrier\n    s = s + t[7 - local_id.x]\n    barrier\n  }\n"),
      TURNS(GROUP, "  for k in 0..n * i / 39 { s = s * 5 + k }\n"
                   "  t[local_id.x] = s\n  barrier\n  s = t[7 - local_id.x]\n"),
  };
  for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
    check_turns(bodies[b], 90, true);
    check_turns(bodies[b], 120, false);
    check_turns(bodies[b], 3000, false);
  }
  // All loops count, and those around them; what is known to be short is not counted.
  check_turns(TURNS(ALONE, "  for k in 0..n { for j in 0..9u32 { s = s * 5 + j } }\n"), 9, true);
  check_turns(TURNS(ALONE, "  for k in 0..n { for j in 0..9u32 { s = s * 5 + j } }\n"), 11, false);
  check_turns(
      TURNS(ALONE, "  for k in 0..60u32 { s = s * n }\n  for k in 0..60u32 { s = s + k }\n"), 1,
      false);
  check_turns(
      TURNS(ALONE, "  for k in 0..48u32 { s = s * n }\n  for k in 0..50u32 { s = s + k }\n"), 3,
      true);
  d->target.most_turns = most;
}

// Whatever the driver of this machine does with long loops, the answer is right or there is none.
static void test_long_loops_are_right_or_refused(void **state) {
  (void)state;
  need_device();
  static const char text[] = "program p()\nbuffer y: u32[] readwrite\nregion r grid(len(y)) {\n"
                             "  let i = global_id.x\n  var s: u32 = 1\n"
                             "  for k in 0..y[i] { s = s * 1664525 + k }\n  y[i] = s\n}\n";
  for (uint32_t turns = 1000; turns < 300000; turns *= 3) {
    vyre_program *p = parse(text);
    vyre_executable *e;
    vyre_error error = {0};
    uint32_t y[48], s = 1;
    for (uint32_t i = 0; i < 48; i++) y[i] = i % 16 ? 0 : turns; // one of each vector
    for (uint32_t k = 0; k < turns; k++) s = s * 1664525 + k;
    vyre_span span = {y, sizeof y};
    vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
    assert_int_equal(vyre_compile(p, "vulkan", NULL, &e, &error), VYRE_OK);
    vyre_status status = vyre_dispatch(e, &args, NULL, &error);
    assert_true(status == VYRE_OK || status == VYRE_ERROR_UNSUPPORTED);
    for (uint32_t i = 0; i < 48; i++)
      assert_int_equal(y[i], status != VYRE_OK ? (i % 16 ? 0 : turns) : i % 16 ? 1 : s);
    vyre_executable_release(e);
    vyre_program_release(p);
  }
}

// ---- devices that differ ------------------------------------------------------------------------

static void test_device_with_memory_of_its_own(void **state) {
  (void)state;
  vulkan_device was = *need_device();
  for (int shares = 0; shares < 2; shares++) {
    device->is_in_place = false;
    device->shares_memory = shares;
    check_random((generate_options){.seed = 9100 + (uint64_t)shares}, 8, (trial_limits){0});
    check_text(handed_on, 5000);
    check_text("program p()\nbuffer x: u8[] readwrite\n"
               "region r grid(len(x)) { x[global_id.x] = x[global_id.x] + 1 }\n",
               1001);
    test_buffers_change_between_dispatches(state);
    expect_timeout(ENDLESS_LOOP);
  }
  device->is_in_place = was.is_in_place;
  device->shares_memory = was.shares_memory;
}

static void test_handles_stay_on_a_device(void **state) {
  (void)state;
  vulkan_device was = *need_device();
  for (int own = 0; own < 3; own++) {
    device->is_in_place = !own && was.is_in_place;
    device->shares_memory = own < 2 && was.shares_memory;
    bool is_kept = !device->is_in_place;
    assert_int_equal(backend_find("vulkan")->keeps_memory(backend_find("vulkan")), is_kept);
    device_keeps_handles("vulkan", is_kept);
  }
  device->is_in_place = was.is_in_place;
  device->shares_memory = was.shares_memory;
}

// Grids beyond what a device takes at once are cut, and shaders know where a piece begins.
static void test_large_grids_are_cut(void **state) {
  (void)state;
  VkPhysicalDeviceLimits was = need_device()->properties.limits;
  for (int k = 0; k < 3; k++) device->properties.limits.maxComputeWorkGroupCount[k] = 2;
  check_text("program p()\nbuffer y: u32[1000] readwrite\n"
             "region r grid(10, 10, 10) workgroup(2, 3, 1) {\n"
             "  let i = global_id.x + 10 * global_id.y + 100 * global_id.z\n"
             "  y[i] = y[i] + i + global_size.y\n}\n",
             1000);
  check_text("program p()\nbuffer y: u32[64] readwrite\n"
             "region r grid(64) workgroup(4) {\n"
             "  y[global_id.x] = group_id.x * 1000 + local_id.x * 100 + group_count.x\n}\n",
             64);
  device->properties.limits = was;
}

// More pieces than are listed at once, in several command buffers.
static void test_many_pieces(void **state) {
  (void)state;
  VkPhysicalDeviceLimits was = need_device()->properties.limits;
  for (int k = 0; k < 3; k++) device->properties.limits.maxComputeWorkGroupCount[k] = 1;
  check_text(
      "program p()\nbuffer y: u32[9000] readwrite\ntransient t: u32[9000]\n"
      "region r grid(9000) workgroup(1) { t[global_id.x] = t[global_id.x] + global_id.x }\n"
      "region s grid(3, 2) workgroup(1, 1) { y[global_id.x] = t[8999 - global_id.y] }\n"
      "region u grid(9000) workgroup(2) { y[global_id.x] = y[global_id.x] + t[global_id.x] }\n",
      9000);
  device->properties.limits = was;
}

// A chain of transient buffers, of which two at a time are needed, has the memory of two or three,
// and each begins with zeros although another was there before. One is not used at all, one only by
// a region without invocations, one is larger than what was in its place, and one is used again.
static void test_transients_share_memory(void **state) {
  (void)state;
  need_device();
  strbuf text = {0};
  enum { LENGTH = 1 << 16, CHAIN = 12 };
  strbuf_printf(&text, "program p(none: u32)\nbuffer y: u32[] readwrite\n");
  for (int k = 0; k < CHAIN; k++)
    strbuf_printf(&text, "transient t%d: u32[%d]\n", k, LENGTH + (k == 7 ? 4096 : -k));
  strbuf_printf(&text, "transient unused: u32[%d]\ntransient rare: u32[%d]\n", LENGTH, LENGTH);
  strbuf_printf(
      &text, "region first grid(%d) { t0[global_id.x] = t0[global_id.x] + global_id.x }\n", LENGTH);
  for (int k = 1; k < CHAIN; k++)
    strbuf_printf(&text,
                  "region r%d grid(%d) {\n  let i = global_id.x\n"
                  "  t%d[i] = t%d[i] + t%d[i] * 3 + %d\n}\n",
                  k, LENGTH - k, k, k, k - 1, k);
  strbuf_printf(&text, "region never grid(none) { rare[global_id.x] = 1 }\n");
  strbuf_printf(&text,
                "region last grid(len(y)) {\n  let i = global_id.x\n"
                "  y[i] = y[i] + t%d[i] + t%d[%d - i]\n}\n",
                CHAIN - 1, CHAIN - 1, LENGTH - 40);
  strbuf_putc(&text, 0);
  vyre_program *p = parse(text.at);
  vyre_executable *e;
  vyre_compile_options plain = {.optimize = VYRE_OPTIMIZE_NONE};
  uint32_t x[2][999];
  for (uint32_t i = 0; i < 999; i++) x[0][i] = x[1][i] = i * 7;
  vyre_scalar none = {.type = VYRE_U32};
  VkDeviceSize before = device->taken_bytes, taken = 0;
  for (int k = 0; k < 3; k++) { // ref, and twice the device: its memory is dirty by then
    vyre_span span = {x[k > 0], sizeof x[0]};
    vyre_dispatch_args args = {
        .params = &none, .param_count = 1, .buffers = &span, .buffer_count = 1};
    if (k < 2) assert_int_equal(vyre_compile(p, k ? "vulkan" : "ref", &plain, &e, NULL), VYRE_OK);
    if (k == 2)
      for (uint32_t i = 0; i < 999; i++) x[1][i] = i * 7;
    assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_OK);
    if (k) assert_memory_equal(x[1], x[0], sizeof x[0]);
    taken = device->taken_bytes;
    if (k != 1) vyre_executable_release(e);
  }
  assert_true(taken - before > 2 * 4 * (LENGTH - CHAIN));
  assert_true(taken - before < 4 * 4 * (VkDeviceSize)LENGTH);
  assert_int_equal(device->taken_bytes, before);
  vyre_program_release(p);
  strbuf_fini(&text);
}

// Many parameters do not fit what is pushed.
static void test_many_facts_go_through_a_uniform_buffer(void **state) {
  (void)state;
  vulkan_device *d = need_device();
  vulkan_target was = d->target;
  uint32_t most = d->properties.limits.maxComputeWorkGroupCount[0];
  d->target.push_bytes = 8;
  static const char text[] =
      "program p(a: u32, b: i64, c: f64, d: u8, e: bool)\nbuffer x: i64[] readwrite\n"
      "region r grid(len(x)) {\n  let i = global_id.x\n  var v: i64 = b\n"
      "  if e { v = v + i64(a) }\n  x[i] = x[i] + v + i64(c) + i64(d) + i64(i)\n}\n"
      "region s grid(len(x)) { x[global_id.x] = x[global_id.x] ^ i64(a) }\n";
  if (was.lower.has_f64) check_text(text, 500);
  d->properties.limits.maxComputeWorkGroupCount[0] = 1;
  if (was.lower.has_f64) check_text(text, 500);
  d->properties.limits.maxComputeWorkGroupCount[0] = most;
  check_random((generate_options){.seed = 9200}, 6, (trial_limits){0});
  d->target = was;
}

// A device of 32-bit words and f32: everything by recipes.
static void test_poor_device(void **state) {
  (void)state;
  vulkan_device *d = need_device();
  vulkan_target was = d->target;
  lower_target *t = &d->target.lower;
  t->has_f64 = t->has_i64 = t->has_i64_atomics = t->has_small_storage = false;
  t->rounds_f32_division = t->has_f32_fma = t->has_f32_rounding = t->has_rint = false;
  check_random((generate_options){.seed = 9300, .without_f64 = true, .without_i64_atomics = true},
               4, (trial_limits){0});
  check_text("program p(n: i64)\nbuffer x: i64[] readwrite\nbuffer y: u8[] readwrite\n"
             "region r grid(len(x)) {\n  let i = global_id.x\n  x[i] = x[i] * n + 3\n"
             "  y[i] = y[i] + 1\n}\n",
             77);
  *t = was.lower;
  t->rounds_f32_division = t->rounds_f64_division = t->has_f32_fma = t->has_f64_fma = false;
  check_text("program p()\nbuffer x: f32[] readwrite\nregion r grid(len(x)) {\n"
             "  let i = global_id.x\n  x[i] = fma(x[i], 1.5, 0.25) / sqrt(x[i])\n}\n",
             500);
  d->target = was;
}

// One that flushes subnormals, with everything else and with words and f32 alone. That it does
// flush them is played by the reference (test_lower.c); here it is what a driver makes of the code.
static void test_flushing_device(void **state) {
  (void)state;
  vulkan_device *d = need_device();
  vulkan_target was = d->target;
  lower_target *t = &d->target.lower;
  t->keeps_f32_subnormals = t->keeps_f64_subnormals = false;
  check_random((generate_options){.seed = 9400}, 6, (trial_limits){0});
  check_text(
      "program p()\nbuffer x: f32[] readwrite\nbuffer y: f64[] readwrite\n"
      "region r grid(len(x)) {\n  let i = global_id.x\n  let a = x[i] * 0x1p-100\n"
      "  y[i] = f64(a * 0x1p-40) + y[i] * 0x1p-1060\n"
      "  x[i] = max(a * 0x1p-30 + f32(y[i] * 0x1p900), ceil(-a * 0x1p-30)) - a * 0x1p-47\n}\n",
      500);
  t->has_f64 = t->has_i64 = t->has_i64_atomics = t->has_small_storage = false;
  t->rounds_f32_division = t->has_f32_fma = t->has_f32_rounding = t->has_rint = false;
  check_random((generate_options){.seed = 9500, .without_f64 = true, .without_i64_atomics = true},
               4, (trial_limits){0});
  d->target = was;
}

static void expect_declined(const char *text, const char *what) {
  vyre_program *p = parse(text);
  vyre_executable *e = NULL;
  vyre_error error = {0};
  assert_int_equal(vyre_compile(p, "vulkan", NULL, &e, &error), VYRE_ERROR_UNSUPPORTED);
  if (!strstr(error.message, what) || !strstr(error.message, "Fix:")) fail_msg("%s", error.message);
  vyre_program_release(p);
}

static void test_what_is_declined(void **state) {
  (void)state;
  vulkan_device *d = need_device();
  vulkan_target was = d->target;
  VkPhysicalDeviceLimits limits = d->properties.limits;
  d->target.lower.has_f64 = false;
  expect_declined("program p()\nbuffer x: f64[] readwrite\n"
                  "region r grid(len(x)) { x[global_id.x] = x[global_id.x] + 1.0 }\n",
                  "64-bit floats");
  d->target = was;
  d->target.lower.largest_buffer_bytes = 100;
  expect_declined("program p()\nbuffer x: u32[26] readwrite\n"
                  "region r grid(len(x)) { x[global_id.x] = 1 }\n",
                  "104 bytes");
  d->target = was;
  d->properties.limits.maxPerStageDescriptorStorageBuffers = 1;
  expect_declined(device_saxpy, "2 buffers");
  d->properties.limits = limits;
  d->properties.limits.maxComputeSharedMemorySize = 100;
  expect_declined("program p()\nbuffer x: u32[] readwrite\nregion r grid(len(x)) workgroup(64) {\n"
                  "  shared s: u32[64]\n  s[local_id.x] = 1\n  barrier\n"
                  "  x[global_id.x] = s[63 - local_id.x]\n}\n",
                  "shared memory");
  d->properties.limits = limits;
  expect_declined("program p()\nbuffer x: u32[] readwrite\nregion r grid(len(x)) workgroup(16) {\n"
                  "  if x[global_id.x] > 3 { barrier }\n  x[global_id.x] = 2\n}\n",
                  "barrier");
}

// ---- memory -------------------------------------------------------------------------------------

// Blocks are taken from the driver rarely, and pieces that were given back are handed out again.
static void test_memory_is_pooled(void **state) {
  (void)state;
  enum { PIECES = 100 };
  vulkan_device *d = need_device();
  vulkan_memory pieces[PIECES], large;
  unsigned long long before = atomic_load(&d->allocations);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < PIECES; i++) {
      assert_int_equal(vulkan_memory_take(d, i % 2 ? MEMORY_HOST : MEMORY_DEVICE,
                                          (VkDeviceSize)(i * 1000), &pieces[i]),
                       VK_SUCCESS);
      if (pieces[i].mapped) memset(pieces[i].mapped, i, (size_t)pieces[i].size);
    }
    for (int i = 0; i < PIECES; i++)
      for (int k = 0; k < i; k++)
        assert_true(pieces[i].buffer != pieces[k].buffer ||
                    pieces[i].offset >= pieces[k].offset + pieces[k].size ||
                    pieces[k].offset >= pieces[i].offset + pieces[i].size);
    for (int i = 0; i < PIECES; i++) vulkan_memory_give(d, &pieces[i * 37 % PIECES]);
  }
  assert_true(atomic_load(&d->allocations) - before <= 2);
  assert_int_equal(vulkan_memory_take(d, MEMORY_DEVICE, 50 << 20, &large), VK_SUCCESS);
  vulkan_memory_give(d, &large);
  vulkan_memory_give(d, &large); // nothing
}

// A repeated dispatch takes no memory from the driver.
static void test_dispatches_allocate_nothing(void **state) {
  (void)state;
  vulkan_device *d = need_device();
  bool was = d->is_in_place;
  d->is_in_place = false;
  vyre_program *p = parse(handed_on);
  vyre_executable *e;
  assert_int_equal(vyre_compile(p, "vulkan", NULL, &e, NULL), VYRE_OK);
  uint32_t x[500] = {0}, y[500] = {0};
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_scalar n = vyre_scalar_u32(1);
  vyre_dispatch_args args = {.params = &n, .param_count = 1, .buffers = spans, .buffer_count = 2};
  assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_OK);
  unsigned long long before = atomic_load(&d->allocations);
  for (int i = 0; i < 5; i++) assert_int_equal(vyre_dispatch(e, &args, NULL, NULL), VYRE_OK);
  assert_int_equal(atomic_load(&d->allocations), before);
  vyre_executable_release(e);
  vyre_program_release(p);
  d->is_in_place = was;
}

// Whatever the device is: a made-up one of 1024 x 1024 x 64 invocations, of which 1024 in a
// workgroup.
static void test_workgroups_fit_the_device(void **state) {
  (void)state;
  static const struct {
    uint32_t rank, wanted[3], made[3];
  } rows[] = {
      {1, {64, 1, 1}, {64, 1, 1}},     {1, {64, 8, 8}, {64, 1, 1}},
      {1, {1024, 1, 1}, {1024, 1, 1}}, {1, {1025, 1, 1}, {513, 1, 1}},
      {2, {64, 64, 9}, {32, 32, 1}},   {3, {4, 4, 128}, {4, 4, 64}},
      {3, {1, 3, 1000}, {1, 3, 63}},   {3, {8, 8, 32}, {8, 8, 16}},
      {3, {8, 32, 8}, {8, 16, 8}},     {3, {16, 16, 16}, {8, 8, 16}},
      {2, {32, 32, 1}, {32, 32, 1}},   {2, {33, 32, 1}, {17, 32, 1}},
      {3, {3, 32, 32}, {3, 16, 16}},   {2, {1, 4096, 1}, {1, 1024, 1}},
  };
  vulkan_device *d = calloc(1, sizeof *d);
  assert_non_null(d);
  VkPhysicalDeviceLimits *l = &d->properties.limits;
  l->maxComputeWorkGroupSize[0] = l->maxComputeWorkGroupSize[1] = 1024;
  l->maxComputeWorkGroupSize[2] = 64;
  l->maxComputeWorkGroupInvocations = 1024;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    region r = {.rank = (uint8_t)rows[k].rank, .is_elastic = true};
    uint32_t made[3];
    vulkan_choose_workgroup(d, &r, rows[k].wanted, made);
    if (memcmp(made, rows[k].made, sizeof made))
      fail_msg("row %zu: %u, %u, %u", k, made[0], made[1], made[2]);
    r.is_elastic = false; // what is part of the meaning stays, and is refused elsewhere
    vulkan_choose_workgroup(d, &r, rows[k].wanted, made);
    for (uint32_t axis = 0; axis < 3; axis++)
      assert_int_equal(made[axis], axis < rows[k].rank ? rows[k].wanted[axis] : 1);
  }
  free(d);
}

int main(void) {
  device = vulkan_device_find(NULL, NULL);
  if (device && probe_device(device, NULL) != VYRE_OK) device = NULL;
  const struct CMUnitTest tests[] = {
      // Before a time limit gives up a compile: that goes on, and takes memory too.
      cmocka_unit_test(test_memory_is_pooled),
      cmocka_unit_test(test_dispatches_allocate_nothing),
      cmocka_unit_test(test_devices_have_stable_names),
      cmocka_unit_test(test_probe_says_what_is_exact),
      cmocka_unit_test(test_buffers_change_between_dispatches),
      cmocka_unit_test(test_dispatches_at_once),
      cmocka_unit_test(test_random_programs),
      cmocka_unit_test(test_regions_wait_for_each_other),
      cmocka_unit_test(test_atomics_of_floats),
      cmocka_unit_test(test_time_limit_ends_endless_loops),
      cmocka_unit_test(test_caller_ends_endless_loops),
      cmocka_unit_test(test_time_limit_ends_large_grids),
      cmocka_unit_test(test_launches_with_too_many_turns_are_refused),
      cmocka_unit_test(test_long_loops_are_right_or_refused),
      cmocka_unit_test(test_device_with_memory_of_its_own),
      cmocka_unit_test(test_handles_stay_on_a_device),
      cmocka_unit_test(test_large_grids_are_cut),
      cmocka_unit_test(test_many_pieces),
      cmocka_unit_test(test_transients_share_memory),
      cmocka_unit_test(test_many_facts_go_through_a_uniform_buffer),
      cmocka_unit_test(test_poor_device),
      cmocka_unit_test(test_flushing_device),
      cmocka_unit_test(test_what_is_declined),
      cmocka_unit_test(test_workgroups_fit_the_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
