// SPDX-License-Identifier: MIT
//
// Conditions and indices of which rows are cut into stretches without checks: at the ends of types,
// with runtime strides, through clamps and ranges. Each is the only effect of its region, on rows
// of hundreds of invocations, beside the reference at every width and tier.
#include "../cpu_samples.h"

#include <stdio.h>

#define LENGTHS                                                                                    \
  { 200, 64 }

// The text's body, for each set of parameters.
static void check_all(const char *text, const uint64_t (*params)[4], size_t count) {
  for (size_t i = 0; i < count; i++) {
    sample s = {.text = text, .lengths = LENGTHS};
    memcpy(s.params, params[i], sizeof s.params);
    check(&s);
  }
}
#define CHECK_ALL(text, ...)                                                                       \
  do {                                                                                             \
    static const uint64_t params[][4] = {__VA_ARGS__};                                             \
    check_all(text, params, sizeof params / sizeof params[0]);                                     \
  } while (0)

#define TOP    (UINT64_MAX >> 1)   // of i64
#define BOTTOM ((uint64_t)1 << 63) // of i64
#define I32(x) ((uint64_t)(uint32_t)(x))

#define REGION(params, condition)                                                                  \
  "program p(" params ")\n"                                                                        \
  "buffer y: u32[] readwrite\n"                                                                    \
  "buffer x: u32[] read\n"                                                                         \
  "region main grid(200) {\n"                                                                      \
  "  let i = global_id.x\n"                                                                        \
  "  if " condition " { y[i] = 1 }\n"                                                              \
  "}\n"

static void test_unequal(void **state) {
  (void)state;
  CHECK_ALL(REGION("n: u32", "i != n"), {0}, {1}, {100}, {198}, {199}, {200}, {UINT32_MAX});
  CHECK_ALL(REGION("n: u32", "i == n"), {0}, {1}, {100}, {199}, {200}, {UINT32_MAX});
  CHECK_ALL(REGION("n: u32", "!(i != n || i < 5)"), {0}, {100}, {199}, {200});
  CHECK_ALL("program p(w: u32)\n"
            "buffer a: u32[] readwrite\n"
            "region main grid(40, 5) {\n"
            "  let x = global_id.x\n"
            "  let y = global_id.y\n"
            "  if x != y { a[y * w + x] = 0 }\n"
            "}\n",
            {40}, {39}, {0}, {UINT32_MAX});
}

static void test_runtime_strides(void **state) {
  (void)state;
  CHECK_ALL(REGION("n: u32, m: u32", "i * n != i * m"), {1, 1}, {0, 0}, {2, 1}, {1, 0},
            {UINT32_MAX, 1}, {1u << 31, 0}, {1u << 31, 1u << 31});
  CHECK_ALL(REGION("n: i64, m: i64", "i64(i) * n != i64(i) + m"), {1, 0}, {1, 1}, {0, 7},
            {BOTTOM, 0}, {UINT64_MAX, 5}, {TOP, TOP});
  CHECK_ALL(REGION("n: i64, s: i64", "i64(i) * s <= n"), {TOP, 1}, {BOTTOM, 1}, {100, 1}, {100, 0},
            {TOP, TOP}, {BOTTOM, BOTTOM}, {5, UINT64_MAX});
  CHECK_ALL(REGION("n: u64, s: u64", "u64(i) * s < n"), {UINT64_MAX, 1}, {0, 1}, {1, 0},
            {UINT64_MAX, UINT64_MAX}, {100, 3});
}

static void test_ends_of_types(void **state) {
  (void)state;
  CHECK_ALL(REGION("n: i64", "i64(i) <= n"), {TOP}, {TOP - 1}, {BOTTOM}, {0}, {150}, {UINT64_MAX});
  CHECK_ALL(REGION("n: i64, m: i64", "i64(i) + n < m"), {TOP - 10, TOP - 1}, {TOP, BOTTOM},
            {BOTTOM, BOTTOM + 5}, {UINT64_MAX, 7});
  CHECK_ALL(REGION("n: i64, m: i64", "i64(i) + n >= m"), {TOP - 10, TOP - 3}, {TOP, BOTTOM},
            {BOTTOM, TOP}, {0, 100});
  CHECK_ALL(REGION("n: i32, m: i32", "i32(i) + n < m"), {INT32_MAX - 10, INT32_MAX},
            {I32(INT32_MIN), 5}, {I32(-5), 5}, {INT32_MAX, I32(INT32_MIN)});
  CHECK_ALL(REGION("n: u32, m: u32", "i - n < m"), {5, 10}, {100, UINT32_MAX}, {300, 40}, {199, 1},
            {0, 0});
  CHECK_ALL("program p(n: i64)\n"
            "buffer y: u32[] readwrite\n"
            "region main grid(len(y)) {\n"
            "  let i = global_id.x\n"
            "  if i64(i) + n < 0 { return }\n"
            "  y[i] = 1\n"
            "}\n",
            {TOP - 10}, {UINT64_MAX - 9}, {BOTTOM}, {0});
}

static void test_clamps(void **state) {
  (void)state;
  CHECK_ALL("program p(n: i32)\n"
            "buffer y: u32[] readwrite\n"
            "buffer x: u32[] read\n"
            "region main grid(200) {\n"
            "  let i = i32(global_id.x)\n"
            "  let lo = max(i - 100, 0)\n"
            "  if lo < n { y[i] = x[lo] + 1 }\n"
            "}\n",
            {50}, {200}, {0}, {I32(-1)}, {INT32_MAX});
  CHECK_ALL(REGION("n: i32", "max(i32(i), n) > 20"), {50}, {10}, {I32(INT32_MIN)}, {INT32_MAX});
  CHECK_ALL(REGION("n: i32", "min(i32(i), n) > 20"), {50}, {10}, {I32(INT32_MIN)}, {INT32_MAX});
  CHECK_ALL(REGION("n: u32", "min(i, 70) - 3 < n"), {5}, {67}, {68}, {UINT32_MAX}, {0});
}

static void test_ranges(void **state) {
  (void)state;
  CHECK_ALL("program p()\n"
            "buffer y: u32[] readwrite\n"
            "buffer x: u8[] read\n"
            "region main grid(200) {\n"
            "  let i = global_id.x\n"
            "  if u32(x[i]) < i { y[i] = 1 }\n"
            "}\n",
            {0});
  CHECK_ALL(REGION("n: u32", "i / 3 < n"), {0}, {20}, {66}, {67});
  CHECK_ALL(REGION("n: u32", "(i & 63) < i - n"), {0}, {100}, {199});
  CHECK_ALL(REGION("n: u32", "u32(u16(i + 65500)) < n"), {0}, {20}, {65535}, {70000});
}

// Indices near the ends of 64 bits: of loads, stores and atomics, from parameters and from memory.
static void test_wide_indices(void **state) {
  (void)state;
  CHECK_ALL("program p(b: i64)\n"
            "buffer y: u32[] readwrite\n"
            "buffer x: u32[] read\n"
            "region main grid(200) {\n"
            "  let at = b + i64(global_id.x)\n"
            "  y[at] = x[at] + 1\n"
            "}\n",
            {BOTTOM - 4}, {BOTTOM + 3}, {TOP}, {0}, {UINT64_MAX}, {UINT64_MAX - 198}, {100});
  CHECK_ALL("program p(b: u64)\n"
            "buffer y: u32[] readwrite\n"
            "buffer x: u32[] read\n"
            "region main grid(200) {\n"
            "  let at = b - u64(global_id.x)\n"
            "  y[at] = x[at] + 1\n"
            "}\n",
            {0}, {199}, {BOTTOM}, {UINT64_MAX}, {100});
  CHECK_ALL("program p(b: u32)\n"
            "buffer y: u32[] readwrite\n"
            "buffer x: u32[] read\n"
            "region main grid(200) {\n"
            "  let base = u64(x[b]) << 59\n"
            "  atomic_add(y[base + u64(global_id.x)], 1)\n"
            "  y[u64(global_id.x) - base] = x[base + u64(global_id.x) * 2 + 1]\n"
            "}\n",
            {0}, {1}, {7}, {100});
}

static void test_counters(void **state) {
  (void)state;
  static const char *const starts[] = {"i % 4", "i & 3", "i / 50", "min(i, 3)"};
  for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
    char text[512];
    snprintf(text, sizeof text,
             "program p(n: u32)\n"
             "buffer y: u32[] readwrite\n"
             "buffer x: u32[] read\n"
             "region main grid(200) {\n"
             "  let i = global_id.x\n"
             "  var s: u32 = 0\n"
             "  for k in %s..n by 4 { s = s + x[k] }\n"
             "  y[i] = s\n"
             "}\n",
             starts[k]);
    CHECK_ALL(text, {64}, {0}, {70}, {3}, {1});
  }
}

// A narrowing conversion makes an element everybody's: what inactive lanes have there may not be
// written back, because another thread may be at it.
static void test_narrow_own_index(void **state) {
  (void)state;
  sample s = {.text = "program p(n: u32)\n"
                      "buffer y: u32[] readwrite\n"
                      "region main grid(140000) {\n"
                      "  let i = global_id.x\n"
                      "  if i >= n { y[u32(u16(i))] = i }\n"
                      "}\n",
              .lengths = {65536},
              .params = {131072}};
  trial t;
  make_trial(&s, &t);
  vyre_compile_options options = {.threads = 2};
  for (int run = 0; run < 100; run++) {
    difference d;
    assert_true(compare_run(&t, NULL, "cpu", &options, &d));
    if (d.verdict != SAME) fail_msg("run %d: %s", run, d.text);
  }
  trial_fini(&t);
}

// Every step uses the one before twice: what is followed step by step would never end.
static void test_doubled_index(void **state) {
  (void)state;
  char text[4096];
  int size = snprintf(text, sizeof text,
                      "program p()\n"
                      "buffer y: u32[] readwrite\n"
                      "region main grid(200) {\n"
                      "  let a0 = global_id.x\n");
  for (int i = 1; i <= 60; i++)
    size += snprintf(text + size, sizeof text - (size_t)size, "  let a%d = a%d + a%d\n", i, i - 1,
                     i - 1);
  snprintf(text + size, sizeof text - (size_t)size, "  if a60 < 7 { y[a60 + a3] = a59 }\n}\n");
  check(&(sample){.text = text, .lengths = {200}});
}

// Strides that no range knows before the code is made, and that are 0 then: as optimisation is off,
// operations on constants are there.
static void test_strides_known_late(void **state) {
  (void)state;
  CHECK_ALL("program p(n: u32)\n"
            "buffer y: u32[] readwrite\n"
            "buffer x: u32[] read\n"
            "region main grid(200) {\n"
            "  let i = global_id.x\n"
            "  let none = popcount(1u32) - 1u32\n"
            "  if max(n, i * not(4294967295u32)) < 50 { y[i] = x[min(i * none, n)] }\n"
            "}\n",
            {0}, {5}, {63}, {200}, {UINT32_MAX});
}

static void test_gate_behind_barrier(void **state) {
  (void)state;
  CHECK_ALL("program p(n: u32)\n"
            "buffer y: u32[] readwrite\n"
            "region main grid(64) workgroup(16) {\n"
            "  shared s: u32[16]\n"
            "  let i = global_id.x\n"
            "  s[local_id.x] = i\n"
            "  barrier\n"
            "  if i != n { y[i] = s[15 - local_id.x] + 1 }\n"
            "}\n",
            {40}, {0}, {63}, {100});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unequal),
      cmocka_unit_test(test_runtime_strides),
      cmocka_unit_test(test_ends_of_types),
      cmocka_unit_test(test_clamps),
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_wide_indices),
      cmocka_unit_test(test_counters),
      cmocka_unit_test(test_narrow_own_index),
      cmocka_unit_test(test_doubled_index),
      cmocka_unit_test(test_gate_behind_barrier),
      cmocka_unit_test(test_strides_known_late),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
