// SPDX-License-Identifier: MIT
//
// Workgroups as lanes: which regions become such, and that they give the bits that they gave.
#include "../cpu_samples.h"
#include "lower/groups.h"

#include <stdio.h>

// A table that is filled diagonal by diagonal, with all ids and sizes that there are.
static const char table[] = "program table(penalty: i32, n: u32)\n"
                            "buffer score: i32[] read\n"
                            "buffer out: i32[] readwrite\n"
                            "region r grid(n * 8, 3) workgroup(8) {\n"
                            "  shared t: i32[81]\n"
                            "  let l = local_id.x\n"
                            "  let row = global_size.x\n"
                            "  t[l + 1] = score[global_id.x]\n"
                            "  t[(l + 1) * 9] = score[group_id.x * 8 + global_id.y]\n"
                            "  barrier\n"
                            "  for m in 0u32..15 {\n"
                            "    if l <= m && m < l + local_size.x {\n"
                            "      let y = m - l + 1\n"
                            "      let at = y * 9 + l + 1\n"
                            "      let up = t[at - 9] - penalty\n"
                            "      let left = t[at - 1] - penalty\n"
                            "      t[at] = max(max(up, left), t[at - 10] + score[m * row + l])\n"
                            "    }\n"
                            "    barrier\n"
                            "  }\n"
                            "  for y in 0u32..8 {\n"
                            "    let to = (global_id.y * 8 + y) * row + global_id.x\n"
                            "    out[to] = t[(y + 1) * 9 + l + 1] + i32(group_count.x)\n"
                            "  }\n"
                            "}\n";

// A loop of the whole workgroup that a variable counts, and a block that all of it takes or not;
// elements out of bounds; two regions.
static const char halves[] = "program halves(n: u32, c: u32)\n"
                             "buffer x: f32[] read\n"
                             "buffer y: f32[] readwrite\n"
                             "region first grid(n * 16) workgroup(16) {\n"
                             "  shared s: f32[64]\n"
                             "  let l = local_id.x\n"
                             "  s[l * 4] = x[global_id.x]\n"
                             "  var step: u32 = 8\n"
                             "  while step > 0 {\n"
                             "    barrier\n"
                             "    if l < step { s[l * 4] = s[l * 4] + s[(l + step) * 4 + c] }\n"
                             "    barrier\n"
                             "    if step < c { s[l * 5] = f32(l) }\n"
                             "    step = step >> 1\n"
                             "  }\n"
                             "  if c > 2 {\n"
                             "    barrier\n"
                             "    s[l * 3] = s[l * 3] * 2.0\n"
                             "  }\n"
                             "  barrier\n"
                             "  y[global_id.x] = s[l * 4]\n"
                             "}\n"
                             "region second grid(n * 4) workgroup(4) {\n"
                             "  shared s: f32[32]\n"
                             "  let l = local_id.x\n"
                             "  for k in 0u32..8 { s[l * 8 + k] = x[global_id.x + k] }\n"
                             "  barrier\n"
                             "  for k in 0u32..8 {\n"
                             "    if l <= k { s[l * 8 + k] = s[l * 8 + (k + 1) % 8] + s[l * 8] }\n"
                             "    barrier\n"
                             "  }\n"
                             "  y[global_id.x] = y[global_id.x] + s[l * 8 + 5] + s[l * 7]\n"
                             "}\n";

// What one phase uses of another inside of a block, and again behind it.
static const char twice[] = "program twice(n: u32)\n"
                            "buffer y: u32[] readwrite\n"
                            "region r grid(n * 8) workgroup(8) {\n"
                            "  shared s: u32[72]\n"
                            "  let l = local_id.x\n"
                            "  let own = l * 9\n"
                            "  for k in 0u32..5 {\n"
                            "    s[own + k] = l + k\n"
                            "    barrier\n"
                            "  }\n"
                            "  if l <= n { s[own] = s[own + 1] * 3 }\n"
                            "  y[global_id.x] = own + s[own]\n"
                            "}\n";

static uint32_t merged_regions(const char *text) {
  vyre_error error;
  vyre_program *p, *merged;
  if (vyre_program_parse(text, strlen(text), "groups", &p, &error) != VYRE_OK)
    fail_msg("%s\n%s", error.message, text);
  assert_int_equal(groups_to_lanes(p, &merged, &error), VYRE_OK);
  uint32_t count = 0;
  for (uint32_t i = 0; i < merged->region_count; i++) {
    count += merged->regions[i].is_merged;
    assert_int_equal(merged->regions[i].is_elastic, merged->regions[i].is_merged);
  }
  vyre_program_release(merged);
  vyre_program_release(p);
  return count;
}

static void tables_become_lanes(void **state) {
  (void)state;
  assert_int_equal(merged_regions(table), 1);
  assert_int_equal(merged_regions(halves), 2);
  assert_int_equal(merged_regions(twice), 1);
}

static void lanes_give_the_same_bits(void **state) {
  (void)state;
  static const uint64_t ns[] = {0, 1, 2, 17, 40};
  for (size_t k = 0; k < sizeof ns / sizeof *ns; k++) {
    uint64_t n = ns[k];
    check(&(sample){.text = table, .lengths = {500, n * 8 * 24}, .params = {3, n}});
    check(&(sample){.text = table, .lengths = {n * 5 + 1, n * 100 + 1}, .params = {3, n}});
    check(&(sample){.text = twice, .lengths = {n * 8}, .params = {n}});
    for (uint64_t c = 0; c < 5; c++)
      check(&(sample){.text = halves, .lengths = {n * 16, n * 15 + 1}, .params = {n, c}});
  }
}

// Each of these has something that keeps invocations of a workgroup together.
static void others_stay(void **state) {
  (void)state;
  static const struct {
    const char *workgroup, *before, *behind;
  } rows[] = {
      {"16", "atomic_add(s[l * 3], 1)", ""},               // an order that can be seen
      {"16", "if x[l] > 3 { return }", ""},                // invocations that are gone
      {"16", "let kept = x[l * 7]", "y[l] = kept"},        // something to keep
      {"16", "var v: u32 = l", "v = v + s[l]\n y[l] = v"}, // and a variable
      {"8, 2", "", ""},                                    // more than a row
      {"128", "", ""},                                     // too many
      {"16", "if s[l] > l { barrier }", ""},               // nobody knows who comes
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "program p()\nbuffer x: u32[] read\nbuffer y: u32[] readwrite\n"
             "region r grid(1024, 2) workgroup(%s) {\n  shared s: u32[512]\n"
             "  let l = local_id.x\n  %s\n  for k in 0u32..9 {\n    s[l * 3 + k] = l\n"
             "    barrier\n    s[l * 5] = s[l * 7 + k]\n    barrier\n  }\n  %s\n"
             "  y[global_id.x] = s[l * 9]\n}\n",
             rows[k].workgroup, rows[k].before, rows[k].behind);
    if (merged_regions(text)) fail_msg("%s", text);
  }
}

// Lines of memory are for lanes in a workgroup.
static void lines_stay(void **state) {
  (void)state;
  assert_int_equal(merged_regions("program p()\nbuffer x: f32[] read\nbuffer y: f32[] readwrite\n"
                                  "region r grid(len(x)) workgroup(32) {\n  shared s: f32[64]\n"
                                  "  let l = local_id.x\n  s[l] = x[global_id.x]\n  barrier\n"
                                  "  y[global_id.x] = s[l] + s[l + 1]\n}\n"),
                   0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_become_lanes),
      cmocka_unit_test(lanes_give_the_same_bits),
      cmocka_unit_test(others_stay),
      cmocka_unit_test(lines_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
