// SPDX-License-Identifier: MIT
//
// Programs whose answer depends on the order of invocations: they are told from others, no variant
// of theirs is called wrong, and one that one thread makes the same with is proven by that.
#include "analysis/order.h"

#include <vyre/vyre.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static vyre_program *parse(const char *body) {
  char text[2600];
  vyre_program *p;
  vyre_error error;
  snprintf(text, sizeof text,
           "program p()\nbuffer n: u32[] readwrite\nbuffer out: u32[] readwrite\n"
           "buffer f: f32[] readwrite\n"
           "region main grid(len(out)) {\n  let i = global_id.x\n%s\n}\n",
           body);
  if (vyre_program_parse(text, strlen(text), "test", &p, &error)) fail_msg("%s", error.message);
  return p;
}

static void expect(bool wanted, const char *body) {
  vyre_program *p = parse(body);
  if (order_matters(p) != wanted) fail_msg("%s", body);
  vyre_program_release(p);
}

static void who_looks_at_what_was_there(void **state) {
  (void)state;
  expect(false, "out[i] = n[0]");
  expect(false, "atomic_add(n[0], 1)");
  expect(false, "atomic_max(n[0], i)\n out[i] = i");
  expect(true, "let k = atomic_add(n[0], 1)\n out[k] = i");
  expect(true, "out[i] = atomic_add(n[0], 1)");
  expect(true, "if atomic_add(n[0], 1) == 3 { out[0] = i }");
  expect(true, "atomic_exchange(n[0], i)");
  expect(true, "atomic_cas(n[0], 0, i)");
  expect(true, "atomic_add(f[0], f32(i))");
  expect(true, "atomic_sub(f[0], 1.0)");
  expect(false, "atomic_min(f[0], f32(i))\n atomic_max(f[1], -0.0)");
}

// (x + 1) | 2 is not (x | 2) + 1.
static void kinds_that_do_not_commute(void **state) {
  (void)state;
  expect(true, "atomic_add(n[0], 1)\n atomic_or(n[0], 2)");
  expect(true, "if i < 3 { atomic_min(n[i], 1) } else { atomic_max(n[i], 2) }");
  expect(true, "atomic_xor(n[0], 1)\n atomic_xor(out[0], 1)\n atomic_and(out[i], 2)");
  expect(true, "atomic_min(n[3], i)\n atomic_min(n[4], i)\n atomic_max(n[4u64], i)");
  expect(false, "atomic_xor(n[0], 1)\n atomic_xor(out[0], 1)\n atomic_and(out[1], 2)");
  expect(false, "atomic_add(n[0], 1)\n atomic_sub(n[0], 2)\n atomic_add(n[1], i)");
  expect(false, "atomic_add(n[0], 1)\n atomic_or(out[0], 2)");
  expect(false, "atomic_add(n[0], 1)\n}\nregion next grid(9) {\n atomic_or(n[0], 2)");
}

// So many elements that it is not looked whether they meet.
static void very_many_elements(void **state) {
  (void)state;
  for (uint32_t count = 64; count <= 65; count++) {
    char body[65 * 32] = "";
    for (uint32_t i = 0; i < count; i++)
      snprintf(body + strlen(body), sizeof body - strlen(body), "  atomic_or(n[%u], i)\n", i);
    strcat(body, "  atomic_or(n[7], 1)\n");
    expect(count > 64, body);
  }
}

static void kinds_at_shared_arrays(void **state) {
  (void)state;
  static const char head[] = "program p()\nbuffer y: u32[] write\nregion main grid(64) {\n"
                             "  shared s: u32[4]\n  shared t: u32[4]\n";
  static const struct {
    const char *body;
    bool wanted;
  } rows[] = {{"atomic_add(s[0], 1)\n atomic_max(s[0], 2)", true},
              {"atomic_add(s[0], 1)\n atomic_max(t[0], 2)", false}};
  for (int i = 0; i < 2; i++) {
    char text[400];
    vyre_program *p;
    vyre_error error;
    snprintf(text, sizeof text, "%s%s\n  barrier\n  y[0] = s[0]\n}\n", head, rows[i].body);
    if (vyre_program_parse(text, strlen(text), "test", &p, &error)) fail_msg("%s", error.message);
    assert_int_equal(order_matters(p), rows[i].wanted);
    vyre_program_release(p);
  }
}

static atomic_int told;

static void count_notice(void *context, const char *message) {
  (void)context, (void)message;
  atomic_fetch_add(&told, 1);
}

// The line of a variant says how often it gave the first code's answer.
static void expect_proven(vyre_kernel *k, const char *variant) {
  char *text;
  vyre_error error;
  assert_int_equal(vyre_kernel_explain(k, &text, &error), VYRE_OK);
  const char *line = strstr(text, variant);
  const char *end = line ? strchr(line, '\n') : NULL;
  const char *proven = line ? strstr(line, "proven, ") : NULL;
  if (!end || !proven || proven > end) fail_msg("%s", text);
  vyre_free(text);
}

// Every invocation appends its number: whatever order they come in, all are there.
static void appending_is_no_wrong_answer(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  static uint32_t out[COUNT];
  static bool is_there[COUNT];
  uint32_t n;
  vyre_program *p = parse("  let k = atomic_add(n[0], 1)\n  out[k] = i");
  vyre_runtime *rt;
  vyre_kernel *k;
  vyre_error error;
  vyre_runtime_options options = {
      .no_store = true, .learn_after = 4, .specialise = true, .notice = count_notice};
  float unused = 0;
  vyre_span spans[3] = {{&n, sizeof n}, {out, sizeof out}, {&unused, sizeof unused}};
  vyre_dispatch_args args = {.buffers = spans, .buffer_count = 3};
  assert_int_equal(vyre_runtime_new(&options, &rt, &error), VYRE_OK);
  assert_int_equal(vyre_runtime_load(rt, p, &k, &error), VYRE_OK);
  for (int i = 0; i < 300; i++) {
    n = 0;
    memset(is_there, 0, sizeof is_there);
    assert_int_equal(vyre_kernel_dispatch(k, &args, NULL, &error), VYRE_OK);
    assert_int_equal(n, COUNT);
    for (int j = 0; j < COUNT; j++) is_there[out[j] % COUNT] = true;
    for (int j = 0; j < COUNT; j++) assert_true(is_there[j]);
    if (i % 50 == 0) vyre_runtime_settle(rt);
  }
  vyre_runtime_settle(rt);
  expect_proven(k, "    cpu full none as-declared ");
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
  vyre_program_release(p);
  assert_int_equal(told, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_looks_at_what_was_there),  cmocka_unit_test(kinds_that_do_not_commute),
      cmocka_unit_test(very_many_elements),           cmocka_unit_test(kinds_at_shared_arrays),
      cmocka_unit_test(appending_is_no_wrong_answer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
