// SPDX-License-Identifier: MIT
//
// Barriers under conditions that rest on ids and arguments: workgroups that agree run in phases,
// one that does not is an error, and one in which nobody comes to the barrier is none.
#include "../cpu_samples.h"

static const char one[] = "program one(n: u32)\n"
                          "buffer x: f32[] read\n"
                          "buffer y: f32[] readwrite\n"
                          "region r grid(96) workgroup(32) {\n"
                          "  shared s: f32[32]\n"
                          "  let i = global_id.x\n"
                          "  let l = local_id.x\n"
                          "  if i / 8 < n {\n"
                          "    s[l] = x[i] * 2.0\n"
                          "    barrier\n"
                          "    y[i] = s[31 - l] + y[i]\n"
                          "  } else { y[i] = y[i] - 1.0 }\n"
                          "}\n";

static void workgroups_that_agree_run(void **state) {
  (void)state;
  static const uint64_t ns[] = {0, 4, 8, 12, 1000};
  for (size_t k = 0; k < sizeof ns / sizeof *ns; k++)
    check(&(sample){.text = one, .lengths = {90, 96}, .params = {ns[k]}, .is_small = true});
}

static void a_workgroup_that_does_not_is_an_error(void **state) {
  (void)state;
  static const uint64_t ns[] = {1, 3, 5, 11};
  for (size_t k = 0; k < sizeof ns / sizeof *ns; k++)
    check(&(sample){.text = one,
                    .lengths = {90, 96},
                    .params = {ns[k]},
                    .is_small = true,
                    .expected = VYRE_ERROR_DIVERGENCE});
}

// Conditions inside of one another, along y too, in workgroups that no vector fills, with a tree
// and a loop of the workgroup inside.
static const char several[] = "program several(w: u32, h: u32, steps: u32)\n"
                              "buffer x: i32[] read\n"
                              "buffer y: i32[] readwrite\n"
                              "region r grid(21, 8, 2) workgroup(7, 4, 1) {\n"
                              "  shared s: i32[28]\n"
                              "  let gx = global_id.x\n"
                              "  let gy = global_id.y\n"
                              "  let l = local_id.y * 7 + local_id.x\n"
                              "  let at = (global_id.z * 8 + gy) * 21 + gx\n"
                              "  var sum: i32 = i32(l)\n"
                              "  if gx < w && gy < 100 {\n"
                              "    s[l] = x[at]\n"
                              "    if gy ^ 1 < h {\n"
                              "      for k in 0..steps {\n"
                              "        barrier\n"
                              "        sum = sum * 3 + s[(l + k) % 28]\n"
                              "        barrier\n"
                              "        s[l] = sum\n"
                              "      }\n"
                              "    }\n"
                              "    if l < 5 { y[at] = sum } else { y[at] = -sum }\n"
                              "  }\n"
                              "}\n";

static void conditions_may_stand_in_one_another(void **state) {
  (void)state;
  static const uint64_t cases[][3] = {{21, 8, 3}, {14, 4, 2}, {7, 8, 0}, {0, 0, 5}, {400, 5, 0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    check(&(sample){.text = several,
                    .lengths = {336, 336},
                    .params = {cases[k][0], cases[k][1], cases[k][2]},
                    .is_small = true});
  check(&(sample){.text = several,
                  .lengths = {336, 336},
                  .params = {21, 6, 2},
                  .is_small = true,
                  .expected = VYRE_ERROR_DIVERGENCE});
}

// A condition that is read from memory is no vote: somebody may write there.
static void conditions_from_memory_are_asked_where_they_stand(void **state) {
  (void)state;
  static const char text[] = "program memory()\n"
                             "buffer x: i32[] readwrite\n"
                             "region r grid(64) workgroup(16) {\n"
                             "  shared s: i32[16]\n"
                             "  let l = local_id.x\n"
                             "  x[global_id.x] = 7\n"
                             "  if x[global_id.x] == 7 {\n"
                             "    s[l] = i32(l)\n"
                             "    barrier\n"
                             "    x[global_id.x] = s[15 - l]\n"
                             "  }\n"
                             "}\n";
  check(&(sample){.text = text, .lengths = {64}, .is_small = true});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(workgroups_that_agree_run),
      cmocka_unit_test(a_workgroup_that_does_not_is_an_error),
      cmocka_unit_test(conditions_may_stand_in_one_another),
      cmocka_unit_test(conditions_from_memory_are_asked_where_they_stand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
