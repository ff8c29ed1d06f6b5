// SPDX-License-Identifier: MIT
//
// What a part of a launch touches, said exactly for kernels that people write; and how regions are
// shared out. Random programs on ranks are in tests/tools/random_cluster.c.
#include "../parsed_program.h"

#include "cluster/split.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct given {
  vyre_program *p;
  uint64_t params[8], lengths[8], grid[3];
} given;

// u32 parameters, then lengths.
static given take(const char *text, const uint32_t *params, const uint64_t *bound) {
  given g = {.p = parse(text)};
  vyre_scalar scalars[8];
  vyre_error e;
  uint64_t grids[8][3];
  for (uint32_t i = 0; i < g.p->param_count; i++) {
    g.params[i] = params[i];
    scalars[i] = (vyre_scalar){g.p->params[i].type, params[i]};
  }
  for (uint32_t i = 0; i < g.p->buffer_count; i++) g.lengths[i] = bound ? bound[i] : 0;
  assert_int_equal(vyre_program_extents(g.p, scalars, g.lengths, grids, &e), VYRE_OK);
  memcpy(g.grid, grids[0], sizeof g.grid);
  return g;
}

static split share(const given *g, uint32_t ranks) {
  split s;
  footprint_region *r = footprint_new(g->p, 0);
  footprint_launch l = {.params = g->params, .lengths = g->lengths};
  memcpy(l.grid, g->grid, sizeof l.grid);
  assert_non_null(r);
  assert_true(split_make(r, g->p, &l, &(split_options){.ranks = ranks, .least = 1}, &s));
  footprint_free(r);
  return s;
}

static void expect(const intervals *found, size_t count, const interval *wanted) {
  assert_int_equal(found->count, count);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(found->at[i].lo, wanted[i].lo);
    assert_int_equal(found->at[i].hi, wanted[i].hi);
  }
}

#define EXPECT(found, ...)                                                                         \
  expect(found, sizeof((interval[]){__VA_ARGS__}) / sizeof(interval), (interval[]){__VA_ARGS__})

static void stencil_has_halos(void **state) {
  (void)state;
  given g =
      take("program s(w: u32, h: u32)\nbuffer a: f32[w * h] read\nbuffer b: f32[w * h] write\n"
           "region r grid(w, h) workgroup(8, 8) {\n"
           "  let i = global_id.y * w + global_id.x\n"
           "  b[i] = a[i - w] + a[i - 1] + a[i] + a[i + 1] + a[i + w]\n}\n",
           (uint32_t[]){10, 12}, NULL);
  split s = share(&g, 3);
  assert_true(s.is_split);
  assert_int_equal(s.axis, 1);
  EXPECT(&split_use(&s, 0, 0)->reads, {0, 50});
  EXPECT(&split_use(&s, 1, 0)->reads, {30, 90});
  EXPECT(&split_use(&s, 2, 0)->reads, {70, 120});
  EXPECT(&split_use(&s, 1, 1)->writes, {40, 80});
  split_fini(&s);
  vyre_program_release(g.p);
}

// Loops go as far as they go; a clamp stays inside; a guard against a padded grid is believed.
static void loops_clamps_and_guards(void **state) {
  (void)state;
  given g = take("program m(n: u32, pad: u32)\nbuffer a: f32[n * n] read\nbuffer v: f32[n] read\n"
                 "buffer o: f32[n * n] readwrite\n"
                 "region r grid(pad, pad) workgroup(4, 4) {\n"
                 "  let x = global_id.x\n  let y = global_id.y\n  let g = group_id.x\n"
                 "  if (x >= n) | (y >= n) { return }\n"
                 "  var sum: f32 = v[min(y + 1, n - 1)]\n"
                 "  for k in 0..n { sum = sum + a[y * n + k] }\n"
                 "  o[y * n + x] = sum + f32(g)\n}\n",
                 (uint32_t[]){6, 8}, NULL);
  split s = share(&g, 2);
  assert_true(s.is_split);
  assert_int_equal(s.axis, 1);
  EXPECT(&split_use(&s, 0, 0)->reads, {0, 24});
  EXPECT(&split_use(&s, 0, 1)->reads, {1, 5});
  EXPECT(&split_use(&s, 1, 1)->reads, {5, 6});
  EXPECT(&split_use(&s, 0, 2)->writes, {0, 24});
  EXPECT(&split_use(&s, 1, 2)->writes, {24, 36});
  split_fini(&s);
  vyre_program_release(g.p);
}

static void transposed_columns_are_apart(void **state) {
  (void)state;
  given g =
      take("program t(w: u32, h: u32)\nbuffer a: f32[w * h] read\nbuffer b: f32[w * h] write\n"
           "region r grid(w, h) workgroup(8, 8) {\n"
           "  b[global_id.x * h + global_id.y] = a[global_id.y * w + global_id.x]\n}\n",
           (uint32_t[]){3, 4}, NULL);
  split s = share(&g, 2);
  assert_true(s.is_split);
  EXPECT(&split_use(&s, 0, 0)->reads, {0, 6});
  EXPECT(&split_use(&s, 0, 1)->writes, {0, 2}, {4, 6}, {8, 10});
  EXPECT(&split_use(&s, 1, 1)->writes, {2, 4}, {6, 8}, {10, 12});
  split_fini(&s);
  vyre_program_release(g.p);
}

static void counts_are_combined(void **state) {
  (void)state;
  uint64_t bound[] = {1000, 256};
  given g = take("program h()\nbuffer d: u8[] read\nbuffer c: u32[256] readwrite\n"
                 "region r grid(len(d)) workgroup(64) {\n"
                 "  atomic_add(c[u32(d[global_id.x])], 1)\n}\n",
                 NULL, bound);
  split s = share(&g, 4);
  assert_true(s.is_split);
  assert_true(s.combines[1]);
  assert_false(s.combines[0]);
  split_fini(&s);
  vyre_program_release(g.p);
}

static void expect_whole(const char *text, const char *reason, bool is_steady) {
  uint64_t bound[] = {1000, 1000};
  given g = take(text, NULL, bound);
  split s = share(&g, 4);
  assert_false(s.is_split);
  assert_int_equal(s.is_steady, is_steady);
  assert_string_equal(s.reason, reason);
  split_fini(&s);
  vyre_program_release(g.p);
}

static void what_cannot_be_split_says_why(void **state) {
  (void)state;
  expect_whole("program s()\nbuffer i: u32[] read\nbuffer o: f32[] write\n"
               "region r grid(len(i)) workgroup(64) {\n  o[i[global_id.x]] = 1.0\n}\n",
               "parts along x may write the same elements of `o`", true);
  expect_whole("program q()\nbuffer i: u32[] read\nbuffer o: u32[] readwrite\n"
               "region r grid(len(i)) workgroup(64) {\n"
               "  let at = atomic_add(o[0], 1)\n  o[at + 1] = i[global_id.x]\n}\n",
               "parts along x may meet in atomics whose order matters, on `o`", false);
  expect_whole("program f()\nbuffer i: f32[] read\nbuffer o: f32[] readwrite\n"
               "region r grid(len(i)) workgroup(64) {\n  atomic_add(o[0], i[global_id.x])\n}\n",
               "parts along x may meet in atomics whose order matters, on `o`", false);
}

// However an index is written, the part of the middle rank, of 40 to 79, reads what it reads.
static void indices_may_be_written_in_many_ways(void **state) {
  (void)state;
  static const struct {
    const char *statements, *index;
    interval reads;
  } rows[] = {
      {"", "global_id.x", {40, 80}},
      {"", "u64(global_id.x)", {40, 80}},
      {"", "u64(global_id.x) + 1", {41, 81}},
      {"", "i64(i32(global_id.x)) - 1", {39, 79}},
      {"", "u64(global_id.x + 7) - 7", {40, 80}},
      {"", "u32(u8(global_id.x))", {40, 80}},
      {"", "u64(u8(global_id.x)) + 9", {49, 89}},
      {"", "i32(i8(global_id.x)) + 2", {42, 82}},
      {"", "u32(global_id.x > 50)", {0, 2}},
      {"", "u64(global_id.x > 50) + 5", {5, 7}},
      {"let k = global_id.x - 40", "k + 40", {40, 80}},
      {"", "group_id.x * 8 + local_id.x", {40, 80}},
      {"", "min(global_id.x, 60u32)", {40, 61}},
      {"", "max(u64(global_id.x), 50u64)", {50, 80}},
  };
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    char text[400];
    snprintf(text, sizeof text,
             "program s()\nbuffer a: f32[240] read\nbuffer b: f32[120] write\n"
             "region r grid(120) workgroup(8) {\n%s\nb[global_id.x] = a[%s]\n}\n",
             rows[row].statements, rows[row].index);
    given g = take(text, NULL, NULL);
    split s = share(&g, 3);
    assert_true(s.is_split);
    const intervals *found = &split_use(&s, 1, 0)->reads;
    if (found->count != 1 || found->at[0].lo != rows[row].reads.lo ||
        found->at[0].hi != rows[row].reads.hi)
      fail_msg("%s: %zu, from %llu to %llu", rows[row].index, found->count,
               (unsigned long long)(found->count ? found->at[0].lo : 0),
               (unsigned long long)(found->count ? found->at[0].hi : 0));
    EXPECT(&split_use(&s, 1, 1)->writes, {40, 80});
    split_fini(&s);
    vyre_program_release(g.p);
  }
}

// A loop of 64-bit turns that nobody can count reads whatever it could.
static void loops_without_known_ends_read_all(void **state) {
  (void)state;
  static const char *const ends[] = {"n[0]", "u64(global_id.x) + n[0]", "n[0] - 1"};
  for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
    char text[400];
    snprintf(text, sizeof text,
             "program s()\nbuffer a: f32[240] read\nbuffer n: u64[1] read\n"
             "buffer b: f32[120] write\nregion r grid(120) workgroup(8) {\nvar s: f32 = 0.0\n"
             "for k in 0u64..%s { s = s + a[k] }\nb[global_id.x] = s\n}\n",
             ends[k]);
    given g = take(text, NULL, NULL);
    split s = share(&g, 3);
    assert_true(s.is_split);
    EXPECT(&split_use(&s, 1, 0)->reads, {0, 240});
    EXPECT(&split_use(&s, 1, 2)->writes, {40, 80});
    split_fini(&s);
    vyre_program_release(g.p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stencil_has_halos),
      cmocka_unit_test(indices_may_be_written_in_many_ways),
      cmocka_unit_test(loops_without_known_ends_read_all),
      cmocka_unit_test(loops_clamps_and_guards),
      cmocka_unit_test(transposed_columns_are_apart),
      cmocka_unit_test(counts_are_combined),
      cmocka_unit_test(what_cannot_be_split_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
