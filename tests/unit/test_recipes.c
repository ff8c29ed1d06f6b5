// SPDX-License-Identifier: MIT
//
// What recipes leave alone, at the exact border, and how often a launch asks whether it is to end.
// That the bits are the same is for test_lower.
#include "backend/backend.h"
#include "backend/ref/ref.h"
#include "ir/program.h"
#include "lower/lower.h"
#include "../lower_targets.h"
#include "../stop_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static vyre_program *lowered(const char *text, const lower_target *target) {
  vyre_program *p, *out = NULL;
  vyre_error error;
  if (vyre_program_parse(text, strlen(text), "text", &p, &error) != VYRE_OK ||
      lower_program(p, target, &out, &error) != VYRE_OK)
    fail_msg("%s\n%s", error.message, text);
  vyre_program_release(p);
  return out;
}

static uint32_t count_of(const vyre_program *p, unsigned op) {
  uint32_t count = 0;
  for (uint32_t i = p->regions[0].body.first; i < p->regions[0].body.end; i++)
    count += p->code[i].op == op;
  return count;
}

// ---- loops --------------------------------------------------------------------------------------

// A step that cannot wrap behind the last value stays as it is.
static void only_loops_that_may_wrap_are_counted(void **state) {
  (void)state;
  static const struct {
    const char *loop;
    bool is_kept;
  } cases[] = {
      {"0u32..m by 1", true},
      {"0u32..m by 2", false},
      {"0u32..4294967295u32 by 1", true},
      {"0u32..4294967295u32 by 2", false},
      {"0u32..4294967290u32 by 6", true},
      {"0u32..4294967290u32 by 7", false},
      {"0i32..2147483642i32 by 6", true},
      {"0i32..2147483642i32 by 7", false},
      {"-9i32..-1i32 by 2147483647", true},
      {"-9i32..0i32 by 2147483647", true},
      {"-9i32..1i32 by 2147483647", true},
      {"-9i32..2i32 by 2147483647", false},
      {"0u64..18446744073709551610u64 by 6", true},
      {"0u64..18446744073709551610u64 by 7", false},
      {"0i64..9223372036854775802i64 by 6", true},
      {"0i64..9223372036854775802i64 by 7", false},
  };
  lower_target target = lower_lacking(RECIPE_loop);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "program p(m: u32)\nbuffer y: i64[] write\n"
             "region r grid(1) { for k in %s { y[0] = i64(k) } }\n",
             cases[i].loop);
    vyre_program *p = lowered(text, &target);
    assert_int_equal(count_of(p, VYRE_OP_FOR), 1);
    // One that is counted computes its value from the number of the iteration.
    if ((count_of(p, VYRE_OP_MUL) == 0) != cases[i].is_kept) fail_msg("for k in %s", cases[i].loop);
    vyre_program_release(p);
  }
}

// ---- division -----------------------------------------------------------------------------------

static void only_divisors_that_are_unknown_are_guarded(void **state) {
  (void)state;
  static const struct {
    const char *value;
    uint32_t divisions, choices;
  } cases[] = {
      {"a / 3", 1, 0},
      {"a % 3", 1, 0},
      {"a / 1", 1, 0},
      {"a / -2", 1, 0},
      {"a / 0", 0, 0},
      {"a % 0", 0, 0},
      {"a / -1", 0, 0},
      {"a % -1", 0, 0},
      {"a / b", 1, 3},
      {"a % b", 1, 2},
      {"i32(u32(a) / 4294967295u32)", 1, 0},
      {"i32(u32(a) / u32(b))", 1, 2},
      {"i32(u32(a) % u32(b))", 1, 2},
  };
  lower_target target = lower_lacking(RECIPE_division);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    snprintf(text, sizeof text,
             "program p()\nbuffer y: i32[] readwrite\n"
             "region r grid(1) { let a = y[0]\n let b = y[1]\n y[2] = %s }\n",
             cases[i].value);
    vyre_program *p = lowered(text, &target);
    uint32_t divisions = count_of(p, VYRE_OP_DIV) + count_of(p, VYRE_OP_REM);
    if (divisions != cases[i].divisions || count_of(p, VYRE_OP_SELECT) != cases[i].choices)
      fail_msg("%s: %u divisions, %u choices", cases[i].value, divisions,
               count_of(p, VYRE_OP_SELECT));
    vyre_program_release(p);
  }
}

// ---- stopping -----------------------------------------------------------------------------------

enum { CELLS = 8 };

static void run(const char *body, const char *head, uint64_t n, request *r, uint32_t x[CELLS]) {
  char text[500];
  snprintf(
      text, sizeof text,
      "program p(n: u32)\nbuffer x: u32[] readwrite\nregion r %s\n let i = global_id.x\n%s }\n",
      head, body);
  lower_target target = lower_asking();
  vyre_program *p = lowered(text, &target);
  vyre_scalar count = vyre_scalar_u32((uint32_t)n);
  vyre_span span = {x, CELLS * sizeof *x};
  vyre_dispatch_args args = {
      .params = &count, .param_count = 1, .buffers = &span, .buffer_count = 1};
  launch l;
  vyre_error error = {0};
  vyre_report report = {0};
  memset(x, 0, CELLS * sizeof *x);
  ref_observer o = {.is_asked_to_stop = is_stopped, .context = r};
  if (launch_init(&l, p, &args, &error) != VYRE_OK ||
      ref_run(p, &l, &o, &report, &error) != VYRE_OK)
    fail_msg("%s\n%s", error.message, text);
  launch_fini(&l);
  vyre_program_release(p);
}

#define PLAIN  "grid(4) {"
#define GROUPS "grid(4) workgroup(2) {\n shared s: u32[2]\n"
#define STEP   "x[i] = x[i] + 1"

// An invocation asks when it begins, a loop with a barrier in every iteration, any other in every
// 256th, also when several loops come to that together.
static void a_launch_asks_as_often_as_it_says(void **state) {
  (void)state;
  static const struct {
    const char *head, *body;
    uint64_t n, asked; // by each of the four
  } cases[] = {
      {PLAIN, STEP, 0, 1},
      {PLAIN, "for k in 0..n { " STEP " }", 255, 1},
      {PLAIN, "for k in 0..n { " STEP " }", 256, 2},
      {PLAIN, "for k in 0..n { " STEP " }", 511, 2},
      {PLAIN, "for k in 0..n { " STEP " }", 512, 3},
      {PLAIN, "while x[i] < n { " STEP " }", 512, 3},
      {PLAIN, "for k in 0..n { " STEP " }\nfor k in 0..n { " STEP " }", 200, 2},
      {GROUPS, "barrier\n" STEP, 0, 1},
      {GROUPS, "barrier\nfor k in 0..n { " STEP " }", 255, 1},
      {GROUPS, "barrier\nfor k in 0..n { " STEP " }", 512, 3},
      {GROUPS, "for k in 0..n { " STEP "\nbarrier }", 5, 6},
      {GROUPS, "for k in 0..n { barrier\nfor j in 0..n { " STEP " } }", 16, 18},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    request never = {.after = UINT64_MAX};
    uint32_t x[CELLS];
    run(cases[i].body, cases[i].head, cases[i].n, &never, x);
    if (never.asked != 4 * cases[i].asked)
      fail_msg("%s, %u: asked %u times", cases[i].body, (unsigned)cases[i].n,
               (unsigned)never.asked);
  }
}

// Once it is told to end, nothing more happens: what x[i] shows of each, from the question on.
static void a_launch_ends_where_it_was_told_to(void **state) {
  (void)state;
  static const struct {
    const char *head, *body;
    uint64_t n, after;
    uint32_t x[4];
  } cases[] = {
      {PLAIN, STEP, 0, 0, {0, 0, 0, 0}},
      {PLAIN, STEP, 0, 3, {1, 1, 1, 0}},
      {PLAIN, "for k in 0..n { " STEP " }", 600, 1, {255, 0, 0, 0}},
      {PLAIN, "for k in 0..n { " STEP " }", 600, 2, {511, 0, 0, 0}},
      {PLAIN, "for k in 0..n { " STEP " }\n" STEP, 600, 2, {511, 0, 0, 0}},
      {GROUPS, "barrier\n" STEP, 0, 0, {0, 0, 0, 0}},
      // Together: the second of a group is told, the first leaves as well.
      {GROUPS, "barrier\n" STEP, 0, 1, {0, 0, 0, 0}},
      {GROUPS, "barrier\n" STEP, 0, 2, {1, 1, 0, 0}},
      {GROUPS, "barrier\n" STEP, 0, 3, {1, 1, 0, 0}},
      {GROUPS, "for k in 0..n { " STEP "\nbarrier }", 5, 5, {1, 1, 0, 0}},
      // Who is told leaves its loop, and behind it everybody leaves.
      {GROUPS, "barrier\nfor k in 0..n { " STEP " }\n" STEP, 600, 2, {255, 255, 0, 0}},
      {GROUPS, "barrier\nfor k in 0..n { " STEP " }\nbarrier\n" STEP, 600, 2, {255, 255, 0, 0}},
      {GROUPS, "barrier\nif i == 1 { for k in 0..n { " STEP " } }\n" STEP, 600, 2, {0, 255, 0, 0}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    request r = {.after = cases[i].after};
    uint32_t x[CELLS];
    run(cases[i].body, cases[i].head, cases[i].n, &r, x);
    if (memcmp(x, cases[i].x, sizeof cases[i].x))
      fail_msg("%s, %u, %u: %u %u %u %u", cases[i].body, (unsigned)cases[i].n,
               (unsigned)cases[i].after, x[0], x[1], x[2], x[3]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_loops_that_may_wrap_are_counted),
      cmocka_unit_test(only_divisors_that_are_unknown_are_guarded),
      cmocka_unit_test(a_launch_asks_as_often_as_it_says),
      cmocka_unit_test(a_launch_ends_where_it_was_told_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
