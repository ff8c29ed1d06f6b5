// SPDX-License-Identifier: MIT
//
// Dispatches of the CPU backend: memory of transients that is used again, time limits of kernels
// without loops, and what keeps the compiled code of two machines apart.
#include "backend/cpu/compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../parsed_program.h"

static vyre_executable *compile(const char *text) {
  vyre_program *p = parse(text);
  vyre_executable *e;
  vyre_error error;
  if (vyre_compile(p, "cpu", NULL, &e, &error) != VYRE_OK) fail_msg("%s", error.message);
  vyre_program_release(p);
  return e;
}

static vyre_status dispatch(vyre_executable *e, uint32_t *data, size_t count, uint64_t timeout_ns) {
  vyre_span span = {data, count * sizeof *data};
  vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1, .timeout_ns = timeout_ns};
  vyre_error error;
  return vyre_dispatch(e, &args, NULL, &error);
}

// The block of a small dispatch is far too small for the next one, and large enough afterwards.
static void transients_of_any_size_follow_one_another(void **state) {
  (void)state;
  vyre_executable *e = compile("program twice()\n"
                               "buffer x: u32[] readwrite\n"
                               "transient t: u32[len(x)]\n"
                               "region a grid(len(x)) { t[global_id.x] = x[global_id.x] + 1 }\n"
                               "region b grid(len(x)) { x[global_id.x] = t[global_id.x] * 2 }\n");
  static const size_t counts[] = {1, 8u << 20, 16, 17, 8u << 20, 3, 33};
  uint32_t *data = malloc((8u << 20) * sizeof *data);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    for (size_t k = 0; k < counts[i]; k++) data[k] = (uint32_t)k;
    assert_int_equal(dispatch(e, data, counts[i], 0), VYRE_OK);
    for (size_t k = 0; k < counts[i]; k += counts[i] / 7 + 1) assert_int_equal(data[k], 2 * k + 2);
    assert_int_equal(data[counts[i] - 1], 2 * counts[i]);
  }
  free(data);
  vyre_executable_release(e);
}

// More than caches hold goes by them, in whole lines: from addresses that are lines and from
// others, forwards and backwards, and is there for whoever looks then.
static void what_is_large_is_written_past_the_caches(void **state) {
  (void)state;
  enum { COUNT = (72 << 20) + 77, OFFSETS = 3 };
  static const size_t offsets[OFFSETS] = {0, 1, 48};
  vyre_executable *e = compile("program copy()\n"
                               "buffer x: u8[] read\n"
                               "buffer y: u8[] write\n"
                               "buffer z: u8[] write\n"
                               "region a grid(len(y)) {\n"
                               "  let i = global_id.x\n"
                               "  y[i] = x[i] + 1\n"
                               "  z[len(z) - 1 - i] = x[i]\n"
                               "}\n");
  uint8_t *x = malloc(COUNT), *y = aligned_alloc(64, (COUNT + 191) / 64 * 64);
  uint8_t *z = aligned_alloc(64, (COUNT + 191) / 64 * 64);
  assert_non_null(x);
  assert_non_null(y);
  assert_non_null(z);
  for (size_t i = 0; i < COUNT; i++) x[i] = (uint8_t)(i * 7 + (i >> 11));
  for (int n = 0; n < OFFSETS; n++) {
    size_t at = offsets[n], wrong = 0;
    memset(y, 0, at + COUNT);
    memset(z, 0, at + COUNT);
    vyre_span spans[3] = {{x, COUNT}, {y + at, COUNT}, {z + at, COUNT}};
    vyre_dispatch_args args = {.buffers = spans, .buffer_count = 3, .threads = n == 2 ? 1 : 0};
    vyre_error error;
    assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_OK);
    for (size_t i = 0; i < COUNT; i++)
      wrong += y[at + i] != (uint8_t)(x[i] + 1) || z[at + COUNT - 1 - i] != x[i];
    assert_int_equal(wrong, 0);
    for (size_t i = 0; i < at; i++) assert_int_equal(y[i] | z[i], 0);
  }
  free(x);
  free(y);
  free(z);
  vyre_executable_release(e);
}

// A buffer counts as far as there are invocations, and no further than it goes; parameters and
// buffers that a region leaves alone do not count.
static void a_region_tells_the_bytes_that_it_touches(void **state) {
  (void)state;
  static const char text[] = "program bytes(n: u32)\n"
                             "buffer short: u32[] read\n"
                             "buffer even: u8[] readwrite\n"
                             "buffer long: f64[] write\n"
                             "region all grid(n) {\n"
                             "  let i = global_id.x\n"
                             "  even[i] = u8(short[i])\n"
                             "  long[i] = 1.0\n"
                             "}\n"
                             "region one grid(n) { even[global_id.x] = 3 }\n";
  static const char *const backends[] = {"cpu", "opencl"};
  uint32_t few[3] = {1, 2, 3};
  uint8_t bytes[10] = {0};
  double many[20] = {0};
  for (int i = 0; i < 2; i++) {
    vyre_program *p = parse(text);
    vyre_executable *e;
    vyre_error error;
    vyre_scalar n = vyre_scalar_u32(10);
    vyre_span spans[] = {{few, sizeof few}, {bytes, sizeof bytes}, {many, sizeof many}};
    vyre_dispatch_args args = {.params = &n, .param_count = 1, .buffers = spans, .buffer_count = 3};
    vyre_region_report regions[2];
    vyre_report report = {.region_capacity = 2, .regions = regions};
    vyre_compile_options apart = {.optimize = VYRE_OPTIMIZE_NONE}; // regions stay two
    vyre_status status = vyre_compile(p, backends[i], &apart, &e, &error);
    vyre_program_release(p);
    if (i && status == VYRE_ERROR_UNSUPPORTED) skip(); // no driver here
    if (status != VYRE_OK || vyre_dispatch(e, &args, &report, &error) != VYRE_OK)
      fail_msg("%s: %s", backends[i], error.message);
    assert_int_equal(report.region_count, 2);
    assert_int_equal(regions[0].bytes, 3 * 4 + 10 * 1 + 10 * 8);
    assert_int_equal(regions[1].bytes, 10);
    assert_int_equal(regions[1].invocations, 10);
    vyre_executable_release(e);
  }
}

// Transients are zero at the beginning of every dispatch, also in memory that was used before.
static void transients_begin_with_zeros(void **state) {
  (void)state;
  vyre_executable *e = compile("program sum()\n"
                               "buffer x: u32[] readwrite\n"
                               "transient t: u32[len(x)]\n"
                               "region a grid(len(x)) {\n"
                               "  if x[global_id.x] > 0 { t[global_id.x] = 5 }\n"
                               "}\n"
                               "region b grid(len(x)) { x[global_id.x] = t[global_id.x] }\n");
  for (uint32_t round = 0; round < 3; round++) {
    uint32_t data[40];
    for (uint32_t i = 0; i < 40; i++) data[i] = round == 0 || i % 2;
    assert_int_equal(dispatch(e, data, 40, 0), VYRE_OK);
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(data[i], round == 0 || i % 2 ? 5 : 0);
  }
  vyre_executable_release(e);
}

// No loop asks for the time here: the end of the time is seen between parts of the grid. The grids
// are so large that no machine gets through them first; the first one is a single row.
static void a_time_limit_ends_kernels_without_loops(void **state) {
  (void)state;
  static const char *const extents[] = {"2147483647", "3, 2147483647", "2, 3, 2147483647"};
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "program wide()\n"
             "buffer x: u32[] readwrite\n"
             "region a grid(%s) {\n"
             "  let a = sin(sin(sin(sin(f64(global_id.x) + f64(global_id.y * 7 + global_id.z)))))\n"
             "  if exp(exp(exp(cos(cos(cos(a)))))) == 0.125 { x[0] = 1 }\n"
             "}\n",
             extents[i]);
    vyre_executable *e = compile(text);
    uint32_t data[1] = {0};
    assert_int_equal(dispatch(e, data, 1, 20000000), VYRE_ERROR_TIMEOUT);
    vyre_executable_release(e);
  }
}

// ---- what compiled code is kept under -----------------------------------------------------------

static void code_is_kept_apart(void **state) {
  (void)state;
  vyre_program *p = parse("program a()\nbuffer x: u32[] write\nregion r grid(1) { x[0] = 1 }\n");
  vyre_program *q = parse("program a()\nbuffer x: u32[] write\nregion r grid(1) { x[0] = 2 }\n");
  const struct {
    const char *host;
    const vyre_program *program;
    cpu_options options;
  } rows[] = {
      {"this", p, {.cpu = "", .features = "", .width = 4}},
      {"that", p, {.cpu = "", .features = "", .width = 4}},
      {"this", q, {.cpu = "", .features = "", .width = 4}},
      {"this", p, {.cpu = "znver3", .features = "", .width = 4}},
      {"this", p, {.cpu = "", .features = "+avx2", .width = 4}},
      {"this", p, {.cpu = "", .features = "", .width = 8}},
      {"this", p, {.cpu = "", .features = "", .width = 4, .gathers = GATHERS_CHOSEN}},
      {"this", p, {.cpu = "", .features = "", .width = 4, .gathers = GATHERS_ALWAYS}},
      {"this", p, {.cpu = "", .features = "", .width = 4, .tier = VYRE_TIER_QUICK}},
      {"this", p, {.cpu = "", .features = "", .width = 4, .debug_lines = true}},
  };
  enum { ROWS = sizeof rows / sizeof *rows };
  uint8_t names[ROWS][HASH_BYTES];
  for (int i = 0; i < ROWS; i++) {
    cache_key key;
    cpu_cache_key(&key, rows[i].host, rows[i].program, &rows[i].options);
    hash_final(&key.hash, names[i]);
    for (int k = 0; k < i; k++)
      if (!memcmp(names[i], names[k], HASH_BYTES))
        fail_msg("rows %d and %d share their code", k, i);
  }
  vyre_program_release(p);
  vyre_program_release(q);
}

// Rows of a product of matrices are jammed and run in vectors whatever the launch shape: those that
// end inside of a vector or of a jam, or are larger than the grid.
static void any_launch_shape_gives_the_same_product(void **state) {
  (void)state;
  enum { N = 37 };
  vyre_executable *e = compile("program matmul(n: u32)\n"
                               "buffer a: u32[] read\n"
                               "buffer b: u32[] read\n"
                               "buffer c: u32[] write\n"
                               "region main grid(n, n) {\n"
                               "  let x = global_id.x\n"
                               "  let y = global_id.y\n"
                               "  var sum: u32 = 0\n"
                               "  for k in 0..n { sum = sum + a[y * n + k] * b[k * n + x] }\n"
                               "  c[y * n + x] = sum\n"
                               "}\n");
  static const uint32_t shapes[][3] = {{1, 1, 1}, {4, 4, 1},  {3, 5, 1},    {16, 2, 1},
                                       {8, 9, 1}, {1, 37, 1}, {1024, 1, 1}, {1, 1024, 1}};
  uint32_t a[N * N], b[N * N], c[N * N];
  for (uint32_t i = 0; i < N * N; i++) a[i] = i * 7 + 1, b[i] = i ^ 0x55;
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    memset(c, 0, sizeof c);
    vyre_scalar n = vyre_scalar_u32(N);
    vyre_span spans[] = {{a, sizeof a}, {b, sizeof b}, {c, sizeof c}};
    vyre_dispatch_args args = {.params = &n, .param_count = 1, .buffers = spans, .buffer_count = 3};
    memcpy(args.workgroup, shapes[s], sizeof args.workgroup);
    vyre_error error;
    if (vyre_dispatch(e, &args, NULL, &error) != VYRE_OK) fail_msg("%s", error.message);
    for (uint32_t y = 0; y < N; y++)
      for (uint32_t x = 0; x < N; x++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < N; k++) sum += a[y * N + k] * b[k * N + x];
        assert_int_equal(c[y * N + x], sum);
      }
  }
  vyre_executable_release(e);
}

// Threads count into copies of their own where the buffer is small beside a box, each operation
// with what it begins with. One thread runs first, then all of them are tried.
enum { COUNTED = 300000 };

typedef struct counters {
  uint32_t *up, *all, *odd;
  int32_t *down, *low;
  int64_t *high;
  uint64_t *any;
} counters;

static void *some(size_t count, size_t size, uint64_t value) {
  char *data = malloc(count * size);
  for (size_t i = 0; i < count; i++) memcpy(data + i * size, &value, size);
  return data;
}

static counters counters_new(uint32_t bins) {
  return (counters){.up = some(bins, 4, 5),
                    .all = some(bins, 4, 0xfffffff7),
                    .odd = some(bins, 4, 0x1234),
                    .down = some(bins, 4, 1),
                    .low = some(bins, 4, 70000),
                    .high = some(bins, 8, (uint64_t)-70000),
                    .any = some(bins, 8, (uint64_t)1 << 40)};
}

static void counters_free(counters *c) {
  void *all[] = {c->up, c->all, c->odd, c->down, c->low, c->high, c->any};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void count(counters *c, const uint32_t *keys, uint32_t bins) {
  for (uint32_t i = 0; i < COUNTED; i++) {
    uint32_t b = keys[i], v = i * 2654435761u;
    if (b >= bins) continue;
    c->up[b] += v, c->down[b] -= (int32_t)(i & 7);
    c->all[b] &= ~(1u << (i % 32)), c->odd[b] ^= v;
    if ((int32_t)(i % 1000) + 5 < c->low[b]) c->low[b] = (int32_t)(i % 1000) + 5;
    if (-(int64_t)i - 1 > c->high[b]) c->high[b] = -(int64_t)i - 1;
    c->any[b] |= (uint64_t)1 << (i % 37);
  }
}

static void check_counts(vyre_executable *e, uint32_t bins) {
  uint32_t *keys = malloc(COUNTED * sizeof *keys);
  for (uint32_t i = 0; i < COUNTED; i++) keys[i] = (i * 40503u >> 3) % (bins + bins / 5 + 1);
  counters expected = counters_new(bins);
  count(&expected, keys, bins);
  for (int run = 0; run < 6; run++) {
    counters c = counters_new(bins);
    vyre_span spans[] = {{keys, COUNTED * 4}, {c.up, bins * 4},   {c.down, bins * 4},
                         {c.low, bins * 4},   {c.high, bins * 8}, {c.all, bins * 4},
                         {c.any, bins * 8},   {c.odd, bins * 4}};
    vyre_dispatch_args args = {.buffers = spans, .buffer_count = 8};
    vyre_error error;
    if (vyre_dispatch(e, &args, NULL, &error) != VYRE_OK) fail_msg("%s", error.message);
    assert_memory_equal(c.up, expected.up, bins * 4);
    assert_memory_equal(c.down, expected.down, bins * 4);
    assert_memory_equal(c.low, expected.low, bins * 4);
    assert_memory_equal(c.high, expected.high, bins * 8);
    assert_memory_equal(c.all, expected.all, bins * 4);
    assert_memory_equal(c.any, expected.any, bins * 8);
    assert_memory_equal(c.odd, expected.odd, bins * 4);
    counters_free(&c);
  }
  counters_free(&expected);
  free(keys);
}

static void threads_count_as_one_does(void **state) {
  (void)state;
  vyre_executable *e = compile("program counts()\n"
                               "buffer key: u32[] read\n"
                               "buffer up: u32[] readwrite\n"
                               "buffer down: i32[] readwrite\n"
                               "buffer low: i32[] readwrite\n"
                               "buffer high: i64[] readwrite\n"
                               "buffer all: u32[] readwrite\n"
                               "buffer any: u64[] readwrite\n"
                               "buffer odd: u32[] readwrite\n"
                               "region main grid(len(key)) {\n"
                               "  let i = global_id.x\n"
                               "  let b = key[i]\n"
                               "  atomic_add(up[b], i * 2654435761)\n"
                               "  atomic_sub(down[b], i32(i & 7))\n"
                               "  atomic_min(low[b], i32(i % 1000) + 5)\n"
                               "  atomic_max(high[b], -i64(i) - 1)\n"
                               "  atomic_and(all[b], ~(1u32 << (i % 32)))\n"
                               "  atomic_or(any[b], 1u64 << (u64(i) % 37))\n"
                               "  atomic_xor(odd[b], i * 2654435761)\n"
                               "}\n");
  static const uint32_t bins[] = {1, 7, 1000, 3000, 32768, 32769};
  for (size_t i = 0; i < sizeof bins / sizeof *bins; i++) check_counts(e, bins[i]);
  vyre_executable_release(e);
}

// Lanes that do something one after the other, where all indices of a vector fill one register:
// LLVM took an index with the one of its neighbour for a number of 64 bits.
static void lanes_of_narrow_vectors_are_apart(void **state) {
  (void)state;
  vyre_program *p = parse("program p()\nbuffer b: f32[] write\n"
                          "region main grid(12, 8) workgroup(4, 4) {\n"
                          "  shared s: f32[16]\n"
                          "  let i = global_id.y * global_size.x + global_id.x\n"
                          "  atomic_max(s[(i ^ 0x597b029c) % 16], 3.0)\n"
                          "  barrier\n"
                          "  b[i] = s[local_id.y * 4 + local_id.x]\n"
                          "}\n");
  for (uint32_t width = 1; width <= 16; width *= 2) {
    vyre_executable *e, *wanted;
    vyre_error error;
    vyre_compile_options options = {.vector_width = width};
    float found[96], expected[96];
    vyre_span span = {found, sizeof found}, other = {expected, sizeof expected};
    vyre_dispatch_args args = {.buffers = &span, .buffer_count = 1};
    assert_int_equal(vyre_compile(p, "cpu", &options, &e, &error), VYRE_OK);
    assert_int_equal(vyre_compile(p, "ref", NULL, &wanted, &error), VYRE_OK);
    assert_int_equal(vyre_dispatch(e, &args, NULL, &error), VYRE_OK);
    args.buffers = &other;
    assert_int_equal(vyre_dispatch(wanted, &args, NULL, &error), VYRE_OK);
    assert_memory_equal(found, expected, sizeof found);
    vyre_executable_release(e);
    vyre_executable_release(wanted);
  }
  vyre_program_release(p);
}

// x[i] becomes that of a known sequence by as many regions as wanted.
static vyre_program *chain_of(uint32_t regions) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  assert_non_null(f);
  fputs("program chain()\nbuffer x: u32[] readwrite\n", f);
  for (uint32_t i = 0; i < regions; i++)
    fprintf(f, "region r%u grid(len(x)) { x[global_id.x] = x[global_id.x] * 3 + %u }\n", i, i);
  fclose(f);
  vyre_program *p = parse(text);
  free(text);
  return p;
}

static void check_chain(vyre_program *p, uint32_t regions, const vyre_compile_options *options) {
  vyre_executable *e;
  vyre_error error;
  uint32_t x[100];
  for (uint32_t k = 0; k < 100; k++) x[k] = k;
  if (vyre_compile(p, "cpu", options, &e, &error) != VYRE_OK) fail_msg("%s", error.message);
  assert_int_equal(dispatch(e, x, 100, 0), VYRE_OK);
  for (uint32_t k = 0; k < 100; k++) {
    uint32_t wanted = k;
    for (uint32_t i = 0; i < regions; i++) wanted = wanted * 3 + i;
    assert_int_equal(x[k], wanted);
  }
  vyre_executable_release(e);
}

// However many parts and threads there are, each region is found again, in the cache as well.
static void regions_are_compiled_side_by_side(void **state) {
  (void)state;
  static const uint32_t counts[] = {1, 2, 3, 9, 64, 67};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    vyre_program *p = chain_of(counts[i]);
    for (int tier = VYRE_TIER_FULL; tier <= VYRE_TIER_QUICK; tier++)
      for (uint32_t threads = 0; threads < 6; threads += 2) {
        vyre_compile_options o = {
            .tier = (vyre_tier)tier, .threads = threads, .optimize = VYRE_OPTIMIZE_NONE};
        check_chain(p, counts[i], &o);
      }
    vyre_program_release(p);
  }
}

// The bytes do not depend on who made them.
static void parts_are_the_same_on_any_threads(void **state) {
  (void)state;
  vyre_program *p = chain_of(21);
  vyre_error error;
  cpu_code alone = {0}, together = {0};
  cpu_options options = {.tier = VYRE_TIER_FULL};
  assert_int_equal(cpu_generate(p, &options, &alone, &error), VYRE_OK);
  options.run = pool_run;
  options.threads = 4;
  assert_int_equal(cpu_generate(p, &options, &together, &error), VYRE_OK);
  assert_in_range(alone.part_count, 2, 21);
  assert_int_equal(alone.part_count, together.part_count);
  assert_int_equal(alone.object_size, together.object_size);
  assert_memory_equal(alone.object, together.object, alone.object_size);
  assert_string_equal(alone.remarks, together.remarks);
  cpu_code_free(&alone);
  cpu_code_free(&together);
  vyre_program_release(p);
}

static void odd_widths_are_refused(void **state) {
  (void)state;
  static const uint32_t widths[] = {3, 5, 6, 7, 12, 24, 48, 63, 65, 128, 4294967295u};
  vyre_program *p = parse(
      "program p()\nbuffer y: u32[] write\nregion main grid(len(y)) { y[global_id.x] = 1 }\n");
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    vyre_executable *e;
    vyre_error error;
    vyre_compile_options options = {.vector_width = widths[i]};
    assert_int_equal(vyre_compile(p, "cpu", &options, &e, &error), VYRE_ERROR_ARGUMENT);
    assert_null(e);
    assert_non_null(strstr(error.message, "Fix: pass a power of two"));
  }
  vyre_program_release(p);
}

int main(void) {
  setenv("VYRE_CACHE", "off", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transients_of_any_size_follow_one_another),
      cmocka_unit_test(transients_begin_with_zeros),
      cmocka_unit_test(what_is_large_is_written_past_the_caches),
      cmocka_unit_test(a_region_tells_the_bytes_that_it_touches),
      cmocka_unit_test(a_time_limit_ends_kernels_without_loops),
      cmocka_unit_test(code_is_kept_apart),
      cmocka_unit_test(any_launch_shape_gives_the_same_product),
      cmocka_unit_test(threads_count_as_one_does),
      cmocka_unit_test(lanes_of_narrow_vectors_are_apart),
      cmocka_unit_test(regions_are_compiled_side_by_side),
      cmocka_unit_test(parts_are_the_same_on_any_threads),
      cmocka_unit_test(odd_widths_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
