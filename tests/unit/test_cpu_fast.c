// SPDX-License-Identifier: MIT
//
// Programs whose fast version rests on assumptions that hold for part of a row only: bounds,
// conditions on ids, conversions, clamps, records, jammed rows. Sizes are chosen so that stretches
// begin and end anywhere.
#include "../cpu_samples.h"

#include <stdio.h>

static void test_streams(void **state) {
  (void)state;
  for (uint32_t n = 0; n < 140; n += 23)
    check(&(sample){.text = "program saxpy(a: f32)\n"
                            "buffer x: f32[] read\n"
                            "buffer y: f32[] readwrite\n"
                            "region r grid(100) workgroup(64) {\n"
                            "  let i = global_id.x\n"
                            "  y[i] = a * x[i] + y[i]\n"
                            "}\n",
                    .lengths = {n, 117},
                    .params = {0x40000000},
                    .is_small = true});
}

static void test_stencil(void **state) {
  (void)state;
  static const uint64_t ns[] = {0, 1, 2, 17, 90, 100, 4000};
  for (size_t k = 0; k < sizeof ns / sizeof *ns; k++)
    check(&(sample){.text = "program stencil(n: i32)\n"
                            "buffer x: f32[] read\n"
                            "buffer y: f32[] write\n"
                            "region r grid(100) workgroup(64) {\n"
                            "  let i = i32(u64(global_id.x))\n"
                            "  if i >= n { return }\n"
                            "  if i > 0 && i < n - 1 {\n"
                            "    y[i] = x[i - 1] * 0.25 + (x[i] * 0.5 + x[i + 1] * 0.25)\n"
                            "  } else { y[i] = x[i] }\n"
                            "}\n"
                            "region q grid(100) workgroup(64) {\n"
                            "  let i = global_id.x\n"
                            "  if i == 40 { y[i] = 7.0 }\n"
                            "  if i != 77 && u32(n) != i { y[99 - i] = x[i] } else { y[i] = 1.0 }\n"
                            "}\n",
                    .lengths = {95, 100},
                    .params = {ns[k]},
                    .is_small = true});
}

static void test_convolution(void **state) {
  (void)state;
  static const uint64_t sizes[][2] = {{1, 1}, {19, 7}, {40, 3}, {33, 20}};
  for (size_t k = 0; k < 4; k++)
    check(&(sample){.text = "program conv(w: i32, h: i32)\n"
                            "buffer x: f32[] read\n"
                            "buffer y: f32[] write\n"
                            "buffer k: f32[9] read\n"
                            "region r grid(w, h) workgroup(64) {\n"
                            "  let i = i32(global_id.x)\n"
                            "  let j = i32(global_id.y)\n"
                            "  var s: f32 = 0.0\n"
                            "  var c: f32 = 0.0\n"
                            "  for dy in -1i32..2 { for dx in -1i32..2 {\n"
                            "    let xx = i + dx\n"
                            "    let yy = j + dy\n"
                            "    if xx >= 0 && xx < w && yy >= 0 && yy < h {\n"
                            "      s = s + x[yy * w + xx] * k[(dy + 1) * 3 + dx + 1]\n"
                            "    }\n"
                            "    c = c + x[min(max(yy, 0), h - 1) * w + max(min(xx, w - 1), 0)]\n"
                            "  } }\n"
                            "  y[j * w + i] = s + c\n"
                            "}\n",
                    .lengths = {600, 650, 9},
                    .params = {sizes[k][0], sizes[k][1]},
                    .is_small = true});
}

static void test_records(void **state) {
  (void)state;
  for (uint32_t n = 120; n < 136; n += 5)
    check(&(sample){.text =
                        "program records(base: u32)\n"
                        "buffer x: i32[] read\n"
                        "buffer b: u8[] read\n"
                        "buffer y: i32[] write\n"
                        "region r grid(44) workgroup(64) {\n"
                        "  let i = global_id.x\n"
                        "  let at = base + i * 3\n"
                        "  y[i * 2] = x[at] + x[at + 1] * 5 + x[at + 2] * 7 + x[at + 3]\n"
                        "  y[i * 2 + 1] = x[(i << 1) - 1] + x[4 * i + 2] * 3 + i32(b[i * 4 + 3])\n"
                        "}\n",
                    .lengths = {n, n, n},
                    .params = {n % 3},
                    .is_small = true});
}

// Each invocation writes its own element only, in some branches.
static void test_own_elements(void **state) {
  (void)state;
  check(&(sample){
      .text = "program own()\n"
              "buffer x: i32[] read\n"
              "buffer y: i32[] readwrite\n"
              "buffer z: u8[] write\n"
              "region r grid(100) workgroup(64) {\n"
              "  let i = global_id.x\n"
              "  let v = x[i]\n"
              "  if v > 20 { y[i] = v\n z[i32(i)] = u8(v) } else { if v > 10 { y[i] = -v } }\n"
              "  for k in 0..v { if k == 5 { y[i] = y[i] + 1 } }\n"
              "}\n",
      .lengths = {95, 97, 90},
      .is_small = true});
}

static const char product[] = "program product(n: i32, m: i32)\n"
                              "buffer a: f32[] read\n"
                              "buffer b: f32[] read\n"
                              "buffer c: f32[] readwrite\n"
                              "region r grid(n, m) workgroup(64) {\n"
                              "  let x = i32(global_id.x)\n"
                              "  let y = i32(global_id.y)\n"
                              "  var s: f32 = 0.0\n"
                              "  for k in 0i32..n { s = s + a[y * n + k] * b[k * n + x] }\n"
                              "  c[y * n + x] = s + c[y * n + x]\n"
                              "}\n";

static void test_products(void **state) {
  (void)state;
  static const uint64_t sizes[][2] = {{1, 1}, {16, 6}, {37, 13}, {70, 9}};
  for (size_t k = 0; k < 4; k++) {
    check(&(sample){.text = product,
                    .lengths = {5000, 5000, 5000},
                    .params = {sizes[k][0], sizes[k][1]},
                    .is_small = true});
    // The last rows and columns are not there.
    check(&(sample){.text = product,
                    .lengths = {300, 1200, 400},
                    .params = {sizes[k][0], sizes[k][1]},
                    .is_small = true});
  }
}

// Rows that read copies of what they share, where loops are long enough and boxes high enough: two
// loads, counters that do not begin at 0, 64 bits, what is out of bounds, a loop that is left.
static const char packed[] = "program packed(n: i32, from: i32, to: i64)\n"
                             "buffer a: f32[] read\n"
                             "buffer b: f32[] read\n"
                             "buffer d: i64[] read\n"
                             "buffer c: f32[] write\n"
                             "buffer e: i64[] write\n"
                             "region r grid(n, 49) workgroup(64) {\n"
                             "  let x = i32(global_id.x)\n"
                             "  let y = i32(global_id.y)\n"
                             "  var s: f32 = 0.0\n"
                             "  var t: f32 = 1.0\n"
                             "  for k in from..i32(to) {\n"
                             "    s = fma(a[y * 9 + k], b[k * n + x], s)\n"
                             "    t = t + b[x + 2 * k] * a[k]\n"
                             "  }\n"
                             "  c[y * n + x] = s + t\n"
                             "}\n"
                             "region q grid(n, 49) workgroup(64) {\n"
                             "  let x = i64(global_id.x)\n"
                             "  let y = i64(global_id.y)\n"
                             "  var s: i64 = 0\n"
                             "  for k in i64(from)..to {\n"
                             "    if k == 150 { break }\n"
                             "    s = s + d[k * 3 + x] * (y + k)\n"
                             "  }\n"
                             "  e[y * i64(n) + x] = s\n"
                             "}\n";

static void test_copies(void **state) {
  (void)state;
  static const int64_t cases[][3] = {{16, 0, 127},  {16, 0, 128},  {37, 5, 140}, {64, -3, 130},
                                     {65, -90, 90}, {81, 0, 4097}, {100, 9, 8},  {1, 0, 200}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    uint64_t n = (uint64_t)cases[k][0];
    for (int is_short = cases[k][2] > 4000; is_short < 2; is_short++)
      check_at(&(sample){.text = packed,
                         .lengths = {is_short ? 300 : 5000, is_short ? 1200 : 30000,
                                     is_short ? 250 : 13000, n * 49, n * 49},
                         .params = {n, (uint32_t)cases[k][1], (uint64_t)cases[k][2]},
                         .is_small = true,
                         .fuel = 1000000000},
               (const uint32_t[]){0, 2, 16}, 3, 1);
  }
}

// Sums that wrap, products that do not fit 64 bits, loops that do not run.
static void test_extreme_indices(void **state) {
  (void)state;
  static const uint64_t values[][2] = {{0x7fffffff, 0x7fffffffffffffff},
                                       {0x80000000, 0x8000000000000000},
                                       {0xffffffff, ~0ull},
                                       {3, 5}};
  for (size_t k = 0; k < 4; k++)
    check(&(sample){.text = "program extreme(n: i32, m: i64)\n"
                            "buffer x: i32[] read\n"
                            "buffer y: i32[] write\n"
                            "region r grid(40, 5) workgroup(64) {\n"
                            "  let i = i32(global_id.x)\n"
                            "  let j = i32(global_id.y)\n"
                            "  var s: i32 = x[i + n] + x[i * 3 + n * j] + x[i64(i) + m]\n"
                            "  s = s + x[u64(global_id.x) + u64(m) * u64(m)] + x[i64(i + n)]\n"
                            "  s = s + x[(i64(i) + m * i64(j)) * 2] + x[m * m * m + i64(i)]\n"
                            "  for k in n..i32(m) { s = s + x[i + k]\n if k > n + 3 { break } }\n"
                            "  for k in u32(n)..u32(n) + 3 { s = s + x[k + global_id.x] }\n"
                            "  if i + n < 30 && i64(i) - m > -20 { s = s * 3 }\n"
                            "  y[j * 40 + i] = s\n"
                            "}\n",
                    .lengths = {60, 200},
                    .params = {values[k][0], values[k][1]},
                    .is_small = true});
}

// Sums of rows, sixteen side by side with vectors along the row: what the rows are made of, turns
// that are left over, rows that are cut off, few and many rows. That such loops are met here is
// what tests/golden/run/sums-along-rows.vyre says.
static void test_sums_along_rows(void **state) {
  (void)state;
  static const char *const terms[] = {
      "s = fma(a[row * n + k], x[k], s)",
      "s = s + (a[row * n + k] - b) * x[k]",
      "s = s + min(abs(a[row * n + k]), max(-x[k], b))",
      "s = s + a[row * n + k]",
      "s = s + a[row * n + k] * a[row * n + k]",
      "s = fma(x[k], a[row * n + k], s)",
  };
  static const uint32_t shapes[][3] = {// columns, rows, elements that are missing
                                       {16, 5, 0},  {64, 40, 0},   {67, 33, 0}, {100, 19, 5},
                                       {15, 17, 0}, {130, 64, 70}, {33, 1, 0},  {0, 9, 0}};
  static const char *const types[] = {"f32", "f64"};
  size_t number = 0;
  for (size_t type = 0; type < 2; type++)
    for (size_t term = 0; term < sizeof terms / sizeof *terms; term++)
      for (size_t k = (term + type) % 4; k < sizeof shapes / sizeof *shapes; k += 4, number++) {
        char text[600];
        const char *t = types[type];
        snprintf(text, sizeof text,
                 "program rows(n: u32, b: %s) fast(4)\nbuffer a: %s[] read\nbuffer x: %s[] read\n"
                 "buffer y: %s[] readwrite\nregion r grid(len(y)) {\n  let row = global_id.x\n"
                 "  var s: %s = y[row]\n  for k in 0u32..n { %s }\n  y[row] = s\n}\n",
                 t, t, t, t, t, terms[term]);
        uint32_t n = shapes[k][0], rows = shapes[k][1];
        check_next(&(sample){.text = text,
                             .lengths = {n * rows - shapes[k][2], n, rows},
                             .params = {n, type ? 0x3fe8000000000000u : 0x3f400000u},
                             .is_small = type == 0},
                   number);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_streams),         cmocka_unit_test(test_stencil),
      cmocka_unit_test(test_convolution),     cmocka_unit_test(test_records),
      cmocka_unit_test(test_own_elements),    cmocka_unit_test(test_products),
      cmocka_unit_test(test_copies),          cmocka_unit_test(test_extreme_indices),
      cmocka_unit_test(test_sums_along_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
