// SPDX-License-Identifier: MIT
//
// The runtime tunes by itself what programs declare to be tunable. The programs waste time by a
// tunable: a chain of multiplications whose result is an index far outside a buffer, where zero is
// read. So one value is far faster than the others, and nothing depends on how busy the machine is.
#include "runtime/kernel.h"
#include "runtime/runtime.h"
#include "runtime/tuning.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../child_process.h"

enum { COUNT = 64 };

static const char wasteful[] = "program tuned.%s(big: u32)\n"
                               "tunable ROUNDS: u32 in (30000, 1, 20000, 40000, 25000)\n"
                               "tunable OTHER: u32 in (1, 2)\n"
                               "%s" // more of them
                               "buffer x: u32[] read\nbuffer y: u32[len(x)] write\n"
                               "region main grid(len(x)) workgroup(%s) {\n%s"
                               "  let i = global_id.x\n  var t: u32 = x[i] + OTHER\n"
                               "  for k in 0..ROUNDS { t = t * 1664525 + 1013904223 }\n"
                               "  y[i] = x[i] * 3 + x[t | 0x80000000] + %s\n}\n";

typedef struct text_of {
  const char *name, *more, *workgroup, *before, *term;
} text_of;

static const text_of plain = {"plain", "", "64", "", "0"};
static const text_of adds = {"adds", "", "64", "", "ROUNDS"};
// Right below 1,000 whatever the value, and above it only as declared.
static const text_of sometimes = {"sometimes", "", "64", "",
                                  "select((x[i] >= 1000) & (ROUNDS != 30000), 1, 0)"};
// The workgroup is part of the meaning: 48 invocations are no multiple of 64.
static const text_of rigid = {
    "rigid", "tunable W: u32 in (16, 64) where (W == 16) == (ROUNDS > 1)\n", "W",
    "  shared s: u32[W]\n  s[local_id.x] = 0\n  barrier\n", "s[local_id.x]"};

static vyre_kernel *start(const text_of *of, vyre_runtime_options options, vyre_runtime **rt) {
  char text[1200];
  vyre_program *p = NULL;
  vyre_kernel *k = NULL;
  vyre_error error = {0};
  snprintf(text, sizeof text, wasteful, of->name, of->more, of->workgroup, of->before, of->term);
  notice_count = 0;
  notices[0] = 0;
  options.notice = take_notice;
  if (vyre_program_parse(text, strlen(text), of->name, &p, &error) != VYRE_OK) {
    fprintf(stderr, "%s\n%s", error.message, text);
    _exit(FAILED);
  }
  CHECK(vyre_runtime_new(&options, rt, NULL) == VYRE_OK);
  CHECK(vyre_runtime_load(*rt, p, &k, NULL) == VYRE_OK);
  vyre_program_release(p);
  return k;
}

static bool dispatch_of(vyre_kernel *k, uint32_t count, uint32_t first, uint32_t term) {
  uint32_t x[COUNT], y[COUNT];
  for (uint32_t i = 0; i < count; i++) x[i] = i + first, y[i] = 0;
  vyre_scalar param = vyre_scalar_u32(0);
  vyre_span spans[] = {{x, count * 4}, {y, count * 4}};
  vyre_dispatch_args args = {
      .params = &param, .param_count = 1, .buffers = spans, .buffer_count = 2};
  vyre_error error = {0};
  vyre_status status = vyre_kernel_dispatch(k, &args, NULL, &error);
  if (status != VYRE_OK) fprintf(stderr, "%s\n", error.message);
  CHECK(status == VYRE_OK);
  for (uint32_t i = 0; i < count; i++)
    if (y[i] != x[i] * 3 + term) return false;
  return true;
}

static const char *configuration(const vyre_kernel *k) {
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&((vyre_kernel *)k)->plans[i]);
    if (p) return atomic_load(&p->current)->code->configuration;
  }
  return "none";
}

static bool says(vyre_kernel *k, const char *what) {
  char *text;
  CHECK(vyre_kernel_explain(k, &text, NULL) == VYRE_OK);
  bool is_there = strstr(text, what) != NULL;
  if (!is_there) fprintf(stderr, "%s", text);
  vyre_free(text);
  return is_there;
}

static void learn_of(vyre_runtime *rt, vyre_kernel *k, uint32_t count, uint32_t term) {
  for (int i = 0; i < 6; i++) CHECK(dispatch_of(k, count, 5, term));
  vyre_runtime_settle(rt);
  CHECK(dispatch_of(k, count, 5, term));
}

static void learn(vyre_runtime *rt, vyre_kernel *k, uint32_t term) {
  learn_of(rt, k, COUNT, term);
}

static const vyre_runtime_options soon = {.learn_after = 4, .backend = "cpu"};

// ---- found, kept, told --------------------------------------------------------------------------

static const vyre_runtime_options anywhere = {.learn_after = 4};

static void find_fast(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, anywhere, &rt);
  learn(rt, k, 0);
  CHECK(says(k, "with ROUNDS=1 OTHER="));
  CHECK(says(k, "configurations evaluated"));
  CHECK(says(k, "what matters: ROUNDS "));
  CHECK(strstr(configuration(k), "ROUNDS=1 "));
  vyre_runtime_free(rt);
  CHECK(notice_count == 0);
}

static void begin_fast(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, (vyre_runtime_options){0}, &rt);
  CHECK(dispatch_of(k, COUNT, 5, 0));
  CHECK(strstr(configuration(k), "ROUNDS=1 "));
  CHECK(says(k, "because routed"));
  vyre_runtime_free(rt);
  CHECK(notice_count == 0);
}

static void the_fastest_is_found_kept_and_begun_with(void **state) {
  (void)state;
  in_child(find_fast, &plain);
  in_child(begin_fast, &plain);
}

// What one size of a launch taught is where another begins to look: in the same process, and in one
// that has it from the store.
static const text_of sized = {"sized", "", "64", "", "0"};

static void check_all_fast(const vyre_kernel *k, uint32_t wanted) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < KERNEL_PLANS; i++) {
    plan *p = atomic_load(&((vyre_kernel *)k)->plans[i]);
    if (p) CHECK(strstr(atomic_load(&p->current)->code->configuration, "ROUNDS=1 "));
    count += p != NULL;
  }
  CHECK(count == wanted);
}

static void find_for_two_sizes(const void *context) {
  vyre_runtime *rt;
  vyre_runtime_options alone = soon;
  alone.no_store = true;
  vyre_kernel *k = start(context, alone, &rt);
  learn(rt, k, 0);
  learn_of(rt, k, COUNT / 8, 0);
  check_all_fast(k, 2);
  vyre_runtime_free(rt);
  CHECK(notice_count == 0);
}

static void find_for_another_size(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, soon, &rt);
  learn_of(rt, k, COUNT / 8, 0);
  check_all_fast(k, 1);
  vyre_runtime_free(rt);
  CHECK(notice_count == 0);
}

static void find_first(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, soon, &rt);
  learn(rt, k, 0);
  check_all_fast(k, 1);
  vyre_runtime_free(rt);
}

static void other_sizes_are_looked_at(void **state) {
  (void)state;
  in_child(find_for_two_sizes, &sized);
  in_child(find_first, &sized);
  in_child(find_for_another_size, &sized);
}

// Without being told when to learn it does so when it is worth it.
static void find_by_itself(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, (vyre_runtime_options){.backend = "cpu"}, &rt);
  time_t begun = time(NULL);
  while (!strstr(configuration(k), "ROUNDS=1 ") && time(NULL) - begun < 120)
    CHECK(dispatch_of(k, COUNT, 5, 0));
  CHECK(strstr(configuration(k), "ROUNDS=1 "));
  vyre_runtime_free(rt);
}

static void it_is_looked_for_when_that_is_worth_it(void **state) {
  (void)state;
  in_child(find_by_itself, &plain);
}

static void begin_and_die(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, soon, &rt);
  learn(rt, k, 0);
  evidence_flush(rt);
  kill(getpid(), SIGKILL);
}

static bool goes_on(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, soon, &rt);
  learn(rt, k, 0);
  bool is_known = !says(k, " 0 known from before");
  vyre_runtime_free(rt);
  return is_known;
}

static int in_process(const void *context, bool dies) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (dies) begin_and_die(context);
    _exit(goes_on(context) ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  return status;
}

// What is known is known of configurations behind the same passes. Passes change little here, so
// that a process may search behind others than the one before it; one of several does not.
static void a_search_that_was_killed_goes_on(void **state) {
  (void)state;
  assert_true(WIFSIGNALED(in_process(&plain, true)));
  bool is_known = false;
  for (int i = 0; i < 6 && !is_known; i++) is_known = in_process(&plain, false) == 0;
  assert_true(is_known);
}

// ---- answers ------------------------------------------------------------------------------------

static void keep_declared(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, soon, &rt);
  learn(rt, k, 30000);
  CHECK(!configuration(k)[0] || strstr(configuration(k), "ROUNDS=30000 "));
  CHECK(says(k, "another answer than as declared"));
  vyre_runtime_free(rt);
  CHECK(notice_count == 0); // it is nobody's fault
}

static void another_answer_is_not_taken(void **state) {
  (void)state;
  in_child(keep_declared, &adds);
}

static void find_out(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, soon, &rt);
  learn(rt, k, 0);
  CHECK(strstr(configuration(k), "ROUNDS=") && !strstr(configuration(k), "ROUNDS=30000"));
  for (int i = 0; i < 40; i++) CHECK(dispatch_of(k, COUNT, 2000, 0));
  vyre_runtime_settle(rt);
  CHECK(!configuration(k)[0]); // not with other values either
  CHECK(says(k, "wrong-result"));
  CHECK(notice_count == 1 && strstr(notices, "with ROUNDS=1 "));
  CHECK(strstr(notices, "let answers not depend on tunables"));
  vyre_runtime_free(rt);
}

static void know_it(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, soon, &rt);
  CHECK(dispatch_of(k, COUNT, 2000, 0));
  learn(rt, k, 0);
  CHECK(!configuration(k)[0]);
  vyre_runtime_free(rt);
}

static void an_answer_that_is_wrong_later_is_found_undone_and_remembered(void **state) {
  (void)state;
  in_child(find_out, &sometimes);
  in_child(know_it, &sometimes);
}

static void fit_others(const void *context) {
  vyre_runtime *rt;
  vyre_kernel *k = start(context, soon, &rt);
  learn(rt, k, 0);
  CHECK(strstr(configuration(k), "W=64"));
  for (int i = 0; i < 5; i++) CHECK(dispatch_of(k, 48, 5, 0));
  CHECK(strstr(configuration(k), "W=64")); // it still fits the others
  CHECK(dispatch_of(k, COUNT, 5, 0));
  vyre_runtime_free(rt);
  CHECK(notice_count == 0);
}

static void a_launch_that_it_does_not_fit_runs_as_declared(void **state) {
  (void)state;
  in_child(fit_others, &rigid);
}

// ---- macros of OpenCL C -------------------------------------------------------------------------

static const char macros[] =
    "// vyre tunable ROUNDS in 30000, 1, 20000\n"
    "#ifndef ROUNDS\n#define ROUNDS 30000\n#endif\n"
    "__kernel void waste(__global const uint *x, __global uint *y, uint n) {\n"
    "  uint i = get_global_id(0), t = x[i];\n"
    "  for (uint k = 0; k < ROUNDS; k++) t = t * 1664525u + 1013904223u;\n"
    "  y[i] = x[i] * 3 + (t == 0x87654321u && x[i] == 77 ? 1 : 0);\n}\n";

static vyre_kernel *start_macros(vyre_runtime **rt) {
  vyre_program *p = NULL;
  vyre_kernel *k = NULL;
  vyre_error error = {0};
  notice_count = 0;
  notices[0] = 0;
  vyre_runtime_options options = anywhere;
  options.notice = take_notice;
  vyre_source_options how = {.rank = 1};
  vyre_status status =
      vyre_program_from("opencl", macros, sizeof macros - 1, "waste.cl", &how, &p, &error);
  if (status == VYRE_ERROR_BACKEND) _exit(CANNOT); // no frontend
  if (status != VYRE_OK) fprintf(stderr, "%s\n", error.message);
  CHECK(status == VYRE_OK);
  CHECK(vyre_runtime_new(&options, rt, NULL) == VYRE_OK);
  CHECK(vyre_runtime_load(*rt, p, &k, NULL) == VYRE_OK);
  vyre_program_release(p);
  return k;
}

static void dispatch_macros(vyre_kernel *k) {
  uint32_t x[COUNT], y[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) x[i] = i, y[i] = 0;
  vyre_scalar params[] = {vyre_scalar_u32(0), vyre_scalar_u32(COUNT)};
  vyre_span spans[] = {{x, sizeof x}, {y, sizeof y}};
  vyre_dispatch_args args = {
      .params = params, .param_count = 2, .buffers = spans, .buffer_count = 2};
  vyre_error error = {0};
  vyre_status status = vyre_kernel_dispatch(k, &args, NULL, &error);
  if (status != VYRE_OK) fprintf(stderr, "%s\n", error.message);
  CHECK(status == VYRE_OK);
  for (uint32_t i = 0; i < COUNT; i++) CHECK(y[i] == x[i] * 3);
}

static void tune_macros(const void *context) {
  (void)context;
  vyre_runtime *rt;
  vyre_kernel *k = start_macros(&rt);
  for (int i = 0; i < 6; i++) dispatch_macros(k);
  vyre_runtime_settle(rt);
  dispatch_macros(k);
  CHECK(says(k, "with ROUNDS=1"));
  CHECK(!strcmp(configuration(k), "ROUNDS=1"));
  vyre_runtime_free(rt);
  CHECK(notice_count == 0);
}

static void macros_of_a_source_are_tuned(void **state) {
  (void)state;
  in_child(tune_macros, NULL);
  in_child(tune_macros, NULL); // and what was found is found again
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh_home, scratch_dir_remove)
  const struct CMUnitTest tests[] = {
      CASE(the_fastest_is_found_kept_and_begun_with),
      CASE(other_sizes_are_looked_at),
      CASE(it_is_looked_for_when_that_is_worth_it),
      CASE(a_search_that_was_killed_goes_on),
      CASE(another_answer_is_not_taken),
      CASE(an_answer_that_is_wrong_later_is_found_undone_and_remembered),
      CASE(a_launch_that_it_does_not_fit_runs_as_declared),
      CASE(macros_of_a_source_are_tuned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
