// SPDX-License-Identifier: MIT
//
// Programs that aim at one part of the CPU code generator each, run at several widths beside the
// reference. Random programs are in test_cpu_random.c.
#include "../cpu_samples.h"
#include "backend/cpu/compile.h"

#include <stdio.h>

// ---- barriers -----------------------------------------------------------------------------------

static void test_reduction(void **state) {
  (void)state;
  check(&(sample){.text = "program dot()\n"
                          "buffer x: f32[] read\n"
                          "buffer y: f32[] read\n"
                          "buffer partial: f32[] write\n"
                          "region sums grid(len(x)) workgroup(32) {\n"
                          "  shared s: f32[32]\n"
                          "  let l = local_id.x\n"
                          "  s[l] = x[global_id.x] * y[global_id.x]\n"
                          "  barrier\n"
                          "  var step: u32 = 16\n"
                          "  while step > 0 {\n"
                          "    if l < step { s[l] = s[l] + s[l + step] }\n"
                          "    barrier\n"
                          "    step = step >> 1\n"
                          "  }\n"
                          "  if l == 0 { partial[group_id.x] = s[0] }\n"
                          "}\n",
                  .lengths = {128, 100, 4},
                  .is_small = true});
}

// Values, variables, bools and arrays of every kind live over barriers, in two dimensions.
static void test_values_over_barriers(void **state) {
  (void)state;
  check(&(sample){.text = "program live(n: u32)\n"
                          "buffer x: i32[] read\n"
                          "buffer out: i32[] write\n"
                          "region r grid(20, 6) workgroup(10, 3) {\n"
                          "  shared s: i32[30]\n"
                          "  let at = global_id.y * 20 + global_id.x\n"
                          "  let l = local_id.y * 10 + local_id.x\n"
                          "  let v = x[at]\n"
                          "  let odd = v % 2 == 1\n"
                          "  let same = x[group_id.x]\n"
                          "  var sum: i32 = v\n"
                          "  var flag: bool = odd\n"
                          "  var common: u32 = n\n"
                          "  array mine: i32[3]\n"
                          "  array all: i32[2]\n"
                          "  all[1] = 7\n"
                          "  mine[l % 3] = v\n"
                          "  for k in 0..n {\n"
                          "    s[l] = sum\n"
                          "    common = common + 2\n"
                          "    barrier\n"
                          "    if common > 3 { sum = sum + s[(l + k) % 30] }\n"
                          "    if v > 20 { flag = !flag\n mine[k % 3] = mine[k % 3] + 1 }\n"
                          "    barrier\n"
                          "  }\n"
                          "  var out_value: i32 = sum + same + all[1] + i32(common)\n"
                          "  if flag { out_value = out_value * 3 }\n"
                          "  if odd { out_value = out_value + mine[0] + mine[1] * 5 }\n"
                          "  out[at] = out_value\n"
                          "}\n",
                  .lengths = {120, 120},
                  .params = {3},
                  .is_small = true});
}

// Invocations leave the inner loop at different times, and come back to it with the outer one: what
// only the inner loop reads has to be theirs still.
static void test_loops_run_again(void **state) {
  (void)state;
  check(&(sample){.text = "program again()\n"
                          "buffer y: u32[] readwrite\n"
                          "region main grid(len(y)) {\n"
                          "  let i = global_id.x\n"
                          "  var v: u32 = 0\n"
                          "  array a: u32[3]\n"
                          "  for again in 0u32..3 {\n"
                          "    for k in 0u32..i & 7 {\n"
                          "      v = v + 1\n"
                          "      a[k % 3] = a[k % 3] + v\n"
                          "      y[i] = v + a[0] * 100 + a[2] * 10000\n"
                          "    }\n"
                          "  }\n"
                          "}\n",
                  .lengths = {100}});
  check(&(sample){.text = "program phases()\n"
                          "buffer y: u32[] readwrite\n"
                          "region main grid(64) workgroup(32) {\n"
                          "  shared s: u32[32]\n"
                          "  let l = local_id.x\n"
                          "  var v: u32 = 0\n"
                          "  for again in 0u32..3 {\n"
                          "    s[l] = l & 7\n"
                          "    barrier\n"
                          "    var k: u32 = 0\n"
                          "    while k < s[31 - l] {\n"
                          "      v = v + 1\n"
                          "      y[global_id.x] = v\n"
                          "      k = k + 1\n"
                          "    }\n"
                          "    barrier\n"
                          "  }\n"
                          "}\n",
                  .lengths = {64}});
}

// Three parts of four, of which the one written last stands between the others: it is next to both,
// and belongs to one of them.
static void test_parts_between_others(void **state) {
  (void)state;
  const char *text = "program parts()\n"
                     "buffer x: u32[] read\n"
                     "buffer out: u32[] readwrite\n"
                     "region main grid(len(x)) {\n"
                     "  let i = global_id.x\n"
                     "  let r = %s * 4\n"
                     "  out[r] = x[i]\n"
                     "  out[r + 2] = x[i] + 2\n"
                     "  out[r + 1] = x[i] + 1\n"
                     "}\n";
  const char *first[] = {"i", "(i ^ 5)", "(96 - i)"};
  for (size_t k = 0; k < sizeof first / sizeof *first; k++) {
    char program[400];
    snprintf(program, sizeof program, text, first[k]);
    check(&(sample){.text = program, .lengths = {96, 400}});
  }
}

static void test_group_leaves_loops(void **state) {
  (void)state;
  check(&(sample){.text = "program leave(n: i32)\n"
                          "buffer out: i32[] write\n"
                          "region r grid(36) workgroup(12) {\n"
                          "  shared s: i32[12]\n"
                          "  let l = local_id.x\n"
                          "  var sum: i32 = 0\n"
                          "  for k in 0i32..100 {\n"
                          "    if k % 3 == 1 { continue }\n"
                          "    if k == n + i32(group_id.x) { break }\n"
                          "    s[l] = k + i32(l)\n"
                          "    barrier\n"
                          "    sum = sum + s[11 - l]\n"
                          "    barrier\n"
                          "  }\n"
                          "  if n == 7 { return }\n"
                          "  s[l] = sum\n"
                          "  barrier\n"
                          "  if l > 6 { return }\n"
                          "  out[global_id.x] = s[l + 5]\n"
                          "}\n",
                  .lengths = {36},
                  .params = {5}});
}

static const char all_return[] = "program gone(n: i32)\n"
                                 "buffer out: i32[] write\n"
                                 "region r grid(32) workgroup(16) {\n"
                                 "  let l = local_id.x\n"
                                 "  if i32(l) < n { return }\n"
                                 "  while n > 5 {\n"
                                 "    barrier\n"
                                 "  }\n"
                                 "  out[global_id.x] = 5\n"
                                 "}\n";

static void test_all_return_before_a_barrier(void **state) {
  (void)state;
  check(&(sample){.text = all_return, .lengths = {32}, .params = {16}});
  check(&(sample){.text = all_return, .lengths = {32}, .params = {4}});
}

static void test_some_return_before_a_barrier(void **state) {
  (void)state;
  check(&(sample){
      .text = all_return, .lengths = {32}, .params = {6}, .expected = VYRE_ERROR_DIVERGENCE});
}

static const char unproven[] = "program unproven(n: i32)\n"
                               "buffer x: i32[] read\n"
                               "buffer out: i32[] write\n"
                               "region r grid(24) workgroup(12) {\n"
                               "  shared s: i32[12]\n"
                               "  let l = local_id.x\n"
                               "  var sum: i32 = 0\n"
                               "  array a: i32[2]\n"
                               "  a[l % 2] = i32(l)\n"
                               "  for k in 0..x[l] {\n"
                               "    s[l] = k + i32(l) + a[0]\n"
                               "    if k == n { continue }\n"
                               "    barrier\n"
                               "    sum = sum + s[11 - l]\n"
                               "    if sum > 1000000 { return }\n"
                               "    barrier\n"
                               "  }\n"
                               "  out[global_id.x] = sum\n"
                               "}\n";

static void check_unproven(const int32_t *bounds, int32_t n, vyre_status expected) {
  trial t;
  make_trial(&(sample){.text = unproven, .lengths = {12, 24}, .params = {(uint64_t)n}}, &t);
  memcpy(t.buffers[0].data, bounds, 12 * sizeof *bounds);
  outcome o;
  assert_true(trial_run(&t, NULL, "cpu", NULL, (trial_limits){.timeout_ns = 20000000000u}, &o));
  if (o.status != expected) fail_msg("%s", o.error.message);
  outcome_fini(&o);
  difference d;
  assert_true(compare_run(&t, NULL, "cpu", NULL, &d));
  if (d.verdict != SAME) fail_msg("%s", d.text);
  trial_fini(&t);
}

// Nothing proves that the group agrees; whether it does is seen when it runs.
static void test_barriers_that_nothing_proves(void **state) {
  (void)state;
  int32_t same[12], differ[12];
  for (int i = 0; i < 12; i++) {
    same[i] = 4;
    differ[i] = i == 7 ? 3 : 4;
  }
  check_unproven(same, 2, VYRE_OK);
  check_unproven(same, 100, VYRE_OK);
  check_unproven(differ, 2, VYRE_ERROR_DIVERGENCE);
}

// ---- control flow -------------------------------------------------------------------------------

static void test_divergent_loops(void **state) {
  (void)state;
  check(&(sample){.text = "program loops(n: i32)\n"
                          "buffer x: i32[] read\n"
                          "buffer out: i32[] write\n"
                          "region r grid(len(out)) workgroup(64) {\n"
                          "  let i = global_id.x\n"
                          "  let v = x[i]\n"
                          "  var sum: i32 = 0\n"
                          "  var turns: i32 = 0\n"
                          "  while turns < v {\n"
                          "    turns = turns + 1\n"
                          "    if turns == 3 { continue }\n"
                          "    for k in turns..v by 2 {\n"
                          "      if k == 11 { break }\n"
                          "      if k > 55 { return }\n"
                          "      sum = sum + k * x[u32(k)]\n"
                          "    }\n"
                          "    if sum > 4000 { break }\n"
                          "    for k in 0..n { if k == v { continue }\n sum = sum ^ k }\n"
                          "  }\n"
                          "  out[i] = sum\n"
                          "  if v < 10 { if v > 4 { return } else { sum = 1 } }\n"
                          "  while n > 100 { sum = sum + 1 }\n"
                          "  out[i] = sum + turns\n"
                          "}\n",
                  .lengths = {70, 70},
                  .params = {9},
                  .is_small = true});
}

static void test_counters_at_the_ends_of_types(void **state) {
  (void)state;
  check(&(sample){.text = "program ends(lo: u8, hi: u8)\n"
                          "buffer out: u32[] write\n"
                          "region r grid(len(out)) workgroup(64) {\n"
                          "  var sum: u32 = 0\n"
                          "  for k in lo..hi by 7 { sum = sum * 31 + u32(k) }\n"
                          "  for k in lo - u8(global_id.x)..hi by 100 { sum = sum * 31 + u32(k) }\n"
                          "  for k in u8(global_id.x)..255 by 9 { sum = sum * 31 + u32(k) }\n"
                          "  for k in 9223372036854775800i64..9223372036854775807 by 5 {\n"
                          "    sum = sum * 31 + u32(k)\n"
                          "  }\n"
                          "  out[global_id.x] = sum\n"
                          "}\n",
                  .lengths = {45},
                  .params = {250, 255}});
}

// ---- memory -------------------------------------------------------------------------------------

// Indices of every type that start below 0, pass the end, wrap, run backwards or in steps.
static void test_indices(void **state) {
  (void)state;
  check(&(sample){.text = "program indices(n: i32, far: u64)\n"
                          "buffer x: i32[] read\n"
                          "buffer b: u8[] read\n"
                          "buffer out: i32[] readwrite\n"
                          "region r grid(80) workgroup(64) {\n"
                          "  let i = global_id.x\n"
                          "  let j = i32(u64(i))\n"
                          "  var s: i32 = x[i - 2] + x[j - 3] + x[i64(i) - 4] + x[u64(i) - 5]\n"
                          "  s = s + x[j * n + 1] + x[i * 3] + x[70 - i] + x[i << 30] + x[n]\n"
                          "  s = s + i32(b[i + 60]) + i32(b[i32(i) - 60]) + x[u64(i) + far]\n"
                          "  s = s + x[(i << 1) + 1] + x[i * 4 + 2] + x[2147483640 + j]\n"
                          "  out[i * 2] = s\n"
                          "  out[u32(j) * 2 + 1] = s ^ 5\n"
                          "}\n"
                          "region w grid(100) workgroup(64) {\n"
                          "  let i = global_id.x\n"
                          "  out[i - 4] = out[i - 4] + x[99 - i]\n"
                          "}\n"
                          "region e grid(10) workgroup(64) {\n"
                          "  out[5000000 + i32(global_id.x)] = 1\n"
                          "  out[u64(global_id.x) + far] = 2\n"
                          "}\n",
                  .lengths = {66, 70, 90},
                  .params = {(uint64_t)-2, (uint64_t)-7}});
}

static void check_remark(const char *text, uint32_t width, const char *wanted) {
  const cpu_codegen *g;
  vyre_error error = {0};
  vyre_program *p = parse(text);
  cpu_code code;
  assert_int_equal(cpu_codegen_get(&g, &error), VYRE_OK);
  assert_int_equal(g->compile(p, &(cpu_options){.width = width}, &code, &error), VYRE_OK);
  if (!strstr(code.remarks, wanted)) fail_msg("no `%s` in:\n%s", wanted, code.remarks);
  cpu_code_free(&code);
  vyre_program_release(p);
}

// What subtracts may be written as a sum that wraps.
static void test_terms_that_wrap(void **state) {
  (void)state;
  check(&(sample){.text = "program wrap()\n"
                          "buffer x: i32[] read\n"
                          "buffer out: i32[] readwrite\n"
                          "region r grid(len(out)) {\n"
                          "  let i = global_id.x\n"
                          "  var s: i32 = x[i + 4294967295] + x[i - 4294967295]\n"
                          "  s = s ^ (x[u64(i) + 18446744073709551614] + x[4294967294 + i])\n"
                          "  s = s ^ (x[i * 3 + 4294967295] * 5 + x[i * 3 - 4294967295] * 3)\n"
                          "  s = s ^ (x[i * 3 - 4294967294] * 7 + x[u64(i) * 3 + 1] * 9)\n"
                          "  if i > 0 && i < len(out) + 4294967295 { s = s + 1 }\n"
                          "  out[i] = s\n"
                          "}\n",
                  .lengths = {700, 200}});
  check_remark("program wrap()\n"
               "buffer x: i32[] read\n"
               "buffer out: i32[] write\n"
               "region r grid(len(out)) {\n"
               "  out[global_id.x] = x[global_id.x + 4294967295]\n"
               "}\n",
               8, "r: accesses: 2 contiguous\n");
}

// Rows of a matrix, one for each lane: loads run ahead of the loop, for every size of an element,
// with more than one load, conditions and other effects beside them; not where something writes
// what is read, or leaves early.
static void test_loads_ahead_of_their_loop(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "u32", "i64", "f64", "u8", "i16"};
  static const char *const bodies[] = {
      "s = s + x[i * n + k]",
      "s = s * x[k] + x[i * n + k]",
      "s = s + x[i * n + k] * x[i * n + k + 1] - x[(i + 3) * n + k]",
      "let v = x[i * n + k]\n if v > x[k] { s = s + v * z[i * n + k]\n }",
      "if k % 3 == 1 { s = s + x[i * n + k] }",
      "s = s + x[i * n + k]\n z[i * n + k] = s",
      "s = s + z[i * n + k]\n z[i * n + k + 1] = s",
      "s = s + x[i * n + k]\n if k == 5 { break }",
      "s = s + x[i * n - k]",
      "s = s + x[(i * n + k) * 2]",
  };
  static const uint64_t params[][3] = {{37, 0, 36}, {8, 0, 7}, {24, 3, 20}, {19, 0, 17}};
  for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
    char text[500];
    const char *type = types[b % 6];
    snprintf(text, sizeof text,
             "program rows(n: u32, from: u32, to: u32)\n"
             "buffer x: %s[] read\nbuffer z: %s[] readwrite\nbuffer y: %s[] write\n"
             "region r grid(len(y)) {\n"
             "  let i = global_id.x\n var s: %s = x[i]\n"
             "  for k in from..to { %s }\n"
             "  y[i] = s\n}\n",
             type, type, type, type, bodies[b]);
    const uint64_t *p = params[b / 2 % 4];
    check_next(&(sample){.text = text, .lengths = {2000, 1900, 53}, .params = {p[0], p[1], p[2]}},
               b);
  }
  check_remark("program sgemv(n: u32)\n"
               "buffer a: f32[] read\n"
               "buffer x: f32[] read\n"
               "buffer y: f32[] write\n"
               "region r grid(n) {\n"
               "  var s: f32 = 0.0\n"
               "  for k in 0..n { s = fma(a[global_id.x * n + k], x[k], s) }\n"
               "  y[global_id.x] = s\n"
               "}\n",
               8, "r: 1 of them read for several iterations of a loop at once\n");
}

// The same where several rows are jammed, which share what is loaded.
static void test_loads_ahead_of_jammed_loops(void **state) {
  (void)state;
  static const char *const types[] = {"i8", "u16", "f32", "i64", "u8", "f64"};
  static const uint64_t params[][2] = {{37, 36}, {16, 16}, {41, 19}, {19, 33}, {64, 64}, {8, 8}};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    char text[500];
    snprintf(text, sizeof text,
             "program products(n: u32, m: u32)\n"
             "buffer a: %s[] read\nbuffer b: %s[] read\nbuffer y: %s[] write\n"
             "region r grid(45, 19) {\n"
             "  let i = global_id.x\n let j = global_id.y\n var s: %s = a[j]\n"
             "  for k in 0..m { s = s + a[j * n + k] * b[i * n + k] }\n"
             "  y[j * 45 + i] = s\n}\n",
             types[t], types[t], types[t], types[t]);
    for (size_t p = 0; p < sizeof params / sizeof *params; p++)
      check_next(&(sample){.text = text,
                           .lengths = {19 * params[p][0], 45 * params[p][0] - p % 3, 855},
                           .params = {params[p][0], params[p][1]}},
                 t + p);
  }
}

// Lanes whose indices turn out to be neighbours, or all but one, or only those that are active; at
// the ends of buffers of every width and of the index's type, in loops that lanes leave one by one.
static void test_lines_by_chance(void **state) {
  (void)state;
  static const char *const types[] = {"u8", "i16", "u32", "f64"};
  static const uint64_t distances[] = {1, 4, 32, 64, 5, 0};
  for (size_t n = 0; n < 6 * 4; n++) {
    char text[1200];
    const char *type = types[n % 4];
    snprintf(text, sizeof text,
             "program chance(d: u32, n: u32, base: u32)\n"
             "buffer x: %s[] read\nbuffer z: %s[] readwrite\nbuffer y: %s[] readwrite\n"
             "region halves grid(70) {\n"
             "  let i = global_id.x\n"
             "  let low = 2 * i - (i & (d - 1))\n"
             "  let a = x[low]\n let b = x[low + d]\n"
             "  z[low] = a + b\n if a < b { z[low + d] = b }\n"
             "}\n"
             "region strides grid(37) {\n"
             "  var at: u32 = global_id.x + base\n var s: %s = y[global_id.x]\n"
             "  while at - base < n { s = s + x[at]\n at = at + 37 }\n"
             "  y[global_id.x] = s\n"
             "}\n"
             "region written grid(37) {\n"
             "  var at: u32 = global_id.x\n"
             "  while at < n { y[at + base] = y[at + base] + x[at]\n at = at + 37 }\n"
             "}\n",
             type, type, type, type);
    for (size_t k = 0; k < 2; k++)
      check_next(&(sample){.text = text,
                           .lengths = {150, 140, 131},
                           .params = {distances[n / 4], 133, k ? (uint32_t)-9 : 3}},
                 n + k);
  }
}

// Rows whose ends are different: lanes before and behind the stretch where assumptions hold run in
// part, whole vectors overlap where nothing is read that is written. Indices of 32 bits start over,
// and elements are small and large.
static void test_ends_of_rows(void **state) {
  (void)state;
  static const char *const types[] = {"f32", "u8", "i64", "u16", "u32"};
  static const char *const bodies[] = {
      "y[at] = x[at - 1] + x[at] + x[at + 1]",
      "y[at] = x[j * w + max(i, 1) - 1] + x[j * w + min(i + 1, w - 1)]",
      ("if i > 0 && i < w - 1 && j > 0 && j < h - 1 { y[at] = x[at - w] + x[at + w] }"
       " else { y[at] = x[at] }"),
      "y[at] = x[w - 1 - i] + x[i + 4294967290]",
      "var s: %s = x[at]\n for k in 0u32..3 { s = s + x[at + k - 1] }\n y[at] = s",
      "y[at] = y[at] + x[at + 1]",
      "y[at] = x[at + 2]\n let v = y[at]\n y[at] = v + v * x[at - 2]",
  };
  static const uint32_t sizes[][2] = {{1, 3}, {2, 2}, {17, 5}, {66, 3}, {131, 4}};
  for (size_t b = 0; b < 5 * sizeof bodies / sizeof *bodies; b++) {
    char text[600], body[200];
    const char *type = types[b % 5];
    const uint32_t *size = sizes[b / 7];
    snprintf(body, sizeof body, bodies[b % 7], type);
    snprintf(text, sizeof text,
             "program ends(w: u32, h: u32)\n"
             "buffer x: %s[] read\nbuffer y: %s[] readwrite\n"
             "region r grid(w, h) {\n"
             "  let i = global_id.x\n let j = global_id.y\n let at = j * w + i\n"
             "  %s\n}\n",
             type, type, body);
    check_next(&(sample){.text = text,
                         .lengths = {size[0] * size[1], size[0] * size[1]},
                         .params = {size[0], size[1]}},
               b);
  }
}

static void test_empty_buffers(void **state) {
  (void)state;
  check(&(sample){.text = "program empty()\n"
                          "buffer x: f32[] read\n"
                          "buffer y: f32[] readwrite\n"
                          "buffer out: f32[] write\n"
                          "region r grid(19) workgroup(64) {\n"
                          "  let i = global_id.x\n"
                          "  y[i] = 3.0\n"
                          "  y[0] = 3.0\n"
                          "  out[i] = x[i] + x[0] + y[i * 3] + 1.0\n"
                          "}\n",
                  .lengths = {0, 0, 19}});
}

static void test_private_arrays(void **state) {
  (void)state;
  check(&(sample){
      .text = "program arrays()\n"
              "buffer x: i32[] read\n"
              "buffer out: i32[] write\n"
              "region r grid(len(out)) workgroup(64) {\n"
              "  let i = global_id.x\n"
              "  array a: i32[5]\n"
              "  array big: i32[3000]\n"
              "  array flags: bool[4]\n"
              "  for k in 0i32..7 { a[x[i + u32(k)]] = k\n big[x[i] * 60] = x[i] }\n"
              "  if x[i] > 10 { a[1] = x[i]\n flags[x[i] % 4] = true } else { a[-1i32] = 9 }\n"
              "  var s: i32 = 0\n"
              "  for k in -1i32..6 { s = s * 10 + a[k] }\n"
              "  for k in 0i32..3 { array b: i32[2]\n b[k] = b[1] + k\n s = s + b[k] }\n"
              "  if flags[i % 5] { s = s + big[x[i] * 60] }\n"
              "  out[i] = s\n"
              "}\n",
      .lengths = {64, 50},
      .is_small = true});
}

static void test_atomics(void **state) {
  (void)state;
  check(&(sample){.text = "program atomics()\n"
                          "buffer x: i32[] read\n"
                          "buffer bins: i32[] readwrite\n"
                          "buffer wide: u64[] readwrite\n"
                          "buffer out: i32[] write\n"
                          "region r grid(64) workgroup(16) {\n"
                          "  shared s: i32[4]\n"
                          "  let i = global_id.x\n"
                          "  let v = x[i]\n"
                          "  atomic_add(bins[v], v)\n"
                          "  if v > 20 { atomic_max(bins[70], v)\n atomic_min(wide[0], u64(v)) }\n"
                          "  atomic_xor(wide[v % 2 + 1], u64(v) << 33)\n"
                          "  atomic_add(s[v % 5], 1)\n"
                          "  barrier\n"
                          "  let old = atomic_cas(s[3], -1, 4)\n"
                          "  out[i] = s[local_id.x % 4] + old + atomic_add(bins[i + 1000], 3)\n"
                          "}\n",
                  .lengths = {64, 80, 3, 64},
                  .is_small = true});
}

static void test_float_atomics(void **state) {
  (void)state;
  check(&(sample){
      .text = "program atomics()\n"
              "buffer x: f32[] read\n"
              "buffer sums: f32[] readwrite\n"
              "buffer wide: f64[] readwrite\n"
              "buffer out: f32[] readwrite\n"
              "region r grid(64) workgroup(16) {\n"
              "  shared s: f32[4]\n"
              "  let i = global_id.x\n"
              "  let v = x[i]\n"
              "  atomic_add(sums[i], v)\n"
              "  if v > 2.0 { atomic_sub(sums[i + 64], v) }\n"
              "  atomic_min(wide[0], f64(v))\n"
              "  atomic_max(wide[1], f64(v))\n"
              "  atomic_max(s[i % 4], v)\n"
              "  barrier\n"
              "  let old = atomic_cas(out[i], out[i], s[i % 4])\n"
              "  sums[i + 128] = old + atomic_exchange(out[i], v) + atomic_add(out[i], old)\n"
              "}\n",
      .lengths = {64, 192, 3, 64},
      .is_small = true});
}

// ---- targets ------------------------------------------------------------------------------------

// What code made for other machines does can be seen where this one can run it; that it can be made
// at all, everywhere.
static void test_other_targets(void **state) {
  (void)state;
#if defined(__aarch64__)
  static const char *const names[] = {"generic", "cortex-a57", "neoverse-n1", "neoverse-v1"};
#else
  static const char *const names[] = {"x86-64", "x86-64-v2", "haswell", "skylake-avx512"};
#endif
  const cpu_codegen *g;
  vyre_error error = {0};
  assert_int_equal(cpu_codegen_get(&g, &error), VYRE_OK);
  for (uint64_t seed = 0; seed < 12; seed++) {
    trial t;
    assert_int_equal(generate_trial(&(generate_options){.seed = seed}, &t, &error), VYRE_OK);
    cpu_options options = {.cpu = names[seed % 4], .want_asm = true, .want_llvm = true};
    cpu_code code;
    if (g->compile(t.program, &options, &code, &error) != VYRE_OK)
      fail_msg("seed %d for %s: %s", (int)seed, options.cpu, error.message);
    assert_non_null(strstr(code.assembly, code.regions[0].symbol));
    assert_non_null(strstr(code.llvm, code.regions[0].symbol));
    if (seed % 4 == 0) assert_null(strstr(code.assembly, "%ymm"));
    cpu_code_free(&code);
    trial_fini(&t);
  }
}

// A scan's steps are constants: what is read at an offset is made of two vectors of the step
// before, and the array is in memory only before and behind.
static void test_shared_arrays_in_registers(void **state) {
  (void)state;
  static const char scan[] = "program scan()\n"
                             "buffer in: f32[] read\n"
                             "buffer out: f32[] write\n"
                             "region r grid(len(in)) workgroup(64) {\n"
                             "  shared s: f32[128]\n"
                             "  let l = local_id.x\n"
                             "  s[l] = in[global_id.x]\n"
                             "  barrier\n"
                             "  s[l + 64] = s[l] + s[l - 1]\n"
                             "  barrier\n"
                             "  s[l] = s[l + 64] + s[l + 61]\n"
                             "  barrier\n"
                             "  out[global_id.x] = s[l]\n"
                             "}\n";
  static const char remark[] = "r: 1 shared array is in registers over phases whose rows are known";
  check_remark(scan, 16, remark);
  check_remark(scan, 8, remark);
  const cpu_codegen *g;
  vyre_error error = {0};
  vyre_program *p = parse(scan);
  cpu_code code;
  cpu_options options = {.width = 16, .want_llvm = true};
  assert_int_equal(cpu_codegen_get(&g, &error), VYRE_OK);
  assert_int_equal(g->compile(p, &options, &code, &error), VYRE_OK);
  assert_null(strstr(code.llvm, "alloca"));
  assert_non_null(strstr(code.llvm, "shufflevector <16 x float>"));
  cpu_code_free(&code);
  options.tier = VYRE_TIER_QUICK;
  assert_int_equal(g->compile(p, &options, &code, &error), VYRE_OK);
  assert_null(strstr(code.remarks, "in registers"));
  cpu_code_free(&code);
  vyre_program_release(p);
}

static unsigned count_of(const char *text, const char *word) {
  unsigned count = 0;
  for (const char *at = text; (at = strstr(at, word)); at++) count++;
  return count;
}

// How many turns there are is known only when the loop begins, and is counted there: LLVM would not
// work it out from ends that were loaded.
static void test_loops_of_one_lane_are_unrolled(void **state) {
  (void)state;
  static const char text[] = "program product()\n"
                             "buffer value: f32[] read\n"
                             "buffer first: u32[] read\n"
                             "buffer y: f32[] write\n"
                             "region main grid(len(y)) {\n"
                             "  let row = global_id.x\n"
                             "  var sum: f32 = 0.0\n"
                             "  for i in first[row]..first[row + 1] { sum = sum + value[i] }\n"
                             "  y[row] = sum\n"
                             "}\n";
  const cpu_codegen *g;
  vyre_error error = {0};
  vyre_program *p = parse(text);
  cpu_code code;
  cpu_options options = {.width = 1, .want_llvm = true, .tier = VYRE_TIER_FULL};
  assert_int_equal(cpu_codegen_get(&g, &error), VYRE_OK);
  assert_int_equal(g->compile(p, &options, &code, &error), VYRE_OK);
  unsigned unrolled = count_of(code.llvm, "fadd");
  cpu_code_free(&code);
  options.tier = VYRE_TIER_QUICK;
  assert_int_equal(g->compile(p, &options, &code, &error), VYRE_OK);
  if (unrolled < count_of(code.llvm, "fadd") + 3) fail_msg("%u additions", unrolled);
  cpu_code_free(&code);
  vyre_program_release(p);
}

static void test_debug_lines(void **state) {
  (void)state;
  static const char text[] = "program lines()\n"
                             "buffer x: f32[] readwrite\n"
                             "region halves grid(len(x)) workgroup(64) {\n"
                             "  let i = global_id.x\n"
                             "  let v = x[i]\n"
                             "  x[i] = v * 0.5\n"
                             "}\n";
  const cpu_codegen *g;
  vyre_error error = {0};
  vyre_program *p = parse(text);
  cpu_code code;
  cpu_options options = {
      .debug_lines = true, .source_name = "halves.vyre", .want_llvm = true, .want_asm = true};
  assert_int_equal(cpu_codegen_get(&g, &error), VYRE_OK);
  assert_int_equal(g->compile(p, &options, &code, &error), VYRE_OK);
  assert_non_null(strstr(code.llvm, "DIFile(filename: \"halves.vyre\""));
  assert_non_null(
      strstr(code.llvm, "DISubprogram(name: \"halves\", linkageName: \"vyre_0_halves\""));
  assert_non_null(strstr(code.llvm, "!DILocation(line: 6, column: "));
  assert_non_null(strstr(code.assembly, ".loc"));
  cpu_code_free(&code);
  options.debug_lines = false;
  assert_int_equal(g->compile(p, &options, &code, &error), VYRE_OK);
  assert_null(strstr(code.llvm, "DILocation"));
  cpu_code_free(&code);
  vyre_program_release(p);
}

static void test_remarks(void **state) {
  (void)state;
  static const char stream[] = "program p()\n"
                               "buffer x: f32[] read\n"
                               "buffer y: f32[] write\n"
                               "region r grid(len(x)) workgroup(64) {\n"
                               "  let i = global_id.x\n"
                               "  y[i] = x[i] + x[0] + x[99 - i] + x[i * 3] + x[u32(x[i])]\n"
                               "}\n";
  check_remark(stream, 8, "r: 8 lanes along x\n");
  check_remark(stream, 8,
               "r: accesses: 1 uniform, 3 contiguous, 1 reversed, 1 of records, by shuffles, 1 "
               "lane by lane; 1 compared with the bounds in each lane\n");
  check_remark(stream, 8, "r: checked before each row: 6 accesses, 0 conditions\n");
  check_remark(stream, 1, "r: 1 lane along x\n");
  static const char runs[] = "program p()\n"
                             "buffer at: u32[] read\n"
                             "buffer x: f32[] read\n"
                             "buffer y: f32[] write\n"
                             "region r grid(len(at)) {\n"
                             "  let i = global_id.x\n"
                             "  let k = at[i] * 2\n"
                             "  let a = x[k + 1]\n"
                             "  let j = i * 2\n"
                             "  y[j] = a\n"
                             "  y[j + 1] = x[k]\n"
                             "}\n";
  check_remark(runs, 8,
               "r: accesses: 1 contiguous, 4 of records, by shuffles; 2 compared with the bounds "
               "in each lane\n");
  check_remark(unproven, 0, "r: invocations run one by one from barrier to barrier");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reduction),
      cmocka_unit_test(test_values_over_barriers),
      cmocka_unit_test(test_loops_run_again),
      cmocka_unit_test(test_parts_between_others),
      cmocka_unit_test(test_group_leaves_loops),
      cmocka_unit_test(test_all_return_before_a_barrier),
      cmocka_unit_test(test_some_return_before_a_barrier),
      cmocka_unit_test(test_barriers_that_nothing_proves),
      cmocka_unit_test(test_divergent_loops),
      cmocka_unit_test(test_counters_at_the_ends_of_types),
      cmocka_unit_test(test_indices),
      cmocka_unit_test(test_terms_that_wrap),
      cmocka_unit_test(test_loads_ahead_of_their_loop),
      cmocka_unit_test(test_loads_ahead_of_jammed_loops),
      cmocka_unit_test(test_lines_by_chance),
      cmocka_unit_test(test_ends_of_rows),
      cmocka_unit_test(test_empty_buffers),
      cmocka_unit_test(test_private_arrays),
      cmocka_unit_test(test_atomics),
      cmocka_unit_test(test_float_atomics),
      cmocka_unit_test(test_other_targets),
      cmocka_unit_test(test_shared_arrays_in_registers),
      cmocka_unit_test(test_loops_of_one_lane_are_unrolled),
      cmocka_unit_test(test_debug_lines),
      cmocka_unit_test(test_remarks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
