// SPDX-License-Identifier: MIT
//
// A runtime gives back all that it took, whatever it did: it learned, tuned launch shapes, prepared
// variants, was asked to explain itself, had dispatches submitted and memory of its own, stored
// what it measured and began with that. The same life is lived again and again; what is held must
// not grow.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../failing_malloc.h"
#include "../knowing_backend.h"
#include "../scratch_dir.h"

enum { COUNT = 64, BYTES = COUNT * sizeof(uint32_t) };

static void ok(vyre_status status, const vyre_error *error) {
  if (status != VYRE_OK) fail_msg("%s", error->message);
}

static void ignore(void *context, const char *message) {
  (void)context, (void)message;
}

typedef struct request {
  uint32_t x[COUNT], y[COUNT];
  vyre_scalar n;
  vyre_span spans[2];
  vyre_dispatch_args args;
} request;

static void fill(request *r, uint32_t n) {
  for (uint32_t i = 0; i < COUNT; i++) r->x[i] = i;
  r->n = vyre_scalar_u32(n);
  r->spans[0] = (vyre_span){r->x, sizeof r->x};
  r->spans[1] = (vyre_span){r->y, sizeof r->y};
  r->args = (vyre_dispatch_args){
      .params = &r->n, .param_count = 1, .buffers = r->spans, .buffer_count = 2};
}

static void dispatch(vyre_kernel *k, uint32_t n) {
  request r;
  vyre_error error;
  fill(&r, n);
  ok(vyre_kernel_dispatch(k, &r.args, NULL, &error), &error);
}

static void submit(vyre_kernel *k) {
  request r[3];
  vyre_completion *c[3];
  vyre_error error;
  for (uint32_t i = 0; i < 3; i++) {
    fill(&r[i], i);
    ok(vyre_kernel_submit(k, &r[i].args, &c[i], &error), &error);
  }
  for (int i = 0; i < 3; i++) ok(vyre_completion_wait(c[i], &error), &error);
}

static void own_memory(vyre_runtime *rt, vyre_kernel *k) {
  request r;
  vyre_buffer *handles[2];
  vyre_error error;
  fill(&r, 3);
  for (int i = 0; i < 2; i++) ok(vyre_buffer_new(rt, BYTES, &handles[i], &error), &error);
  ok(vyre_buffer_write(handles[0], 0, r.x, BYTES, &error), &error);
  r.args.handles = handles;
  memset(r.spans, 0, sizeof r.spans);
  ok(vyre_kernel_dispatch(k, &r.args, NULL, &error), &error);
  ok(vyre_buffer_read(handles[1], 0, r.y, BYTES, &error), &error);
  for (int i = 0; i < 2; i++) vyre_buffer_free(handles[i]);
}

static void explain(vyre_kernel *k) {
  char *text;
  vyre_error error;
  ok(vyre_kernel_explain(k, &text, &error), &error);
  vyre_free(text);
}

static void live(vyre_runtime_options options) {
  vyre_runtime *rt;
  vyre_kernel *k, *left;
  vyre_error error;
  vyre_program *p = knowing_program("memory");
  options.notice = ignore;
  ok(vyre_runtime_new(&options, &rt, &error), &error);
  ok(vyre_runtime_load(rt, p, &k, &error), &error);
  ok(vyre_runtime_load(rt, p, &left, &error), &error);
  for (uint32_t i = 0; i < 6; i++) dispatch(k, 500);
  vyre_runtime_settle(rt);
  for (uint32_t i = 0; i < 12; i++) {
    dispatch(k, 500 + 3 * i);
    vyre_runtime_settle(rt);
  }
  explain(k);
  submit(k);
  own_memory(rt, k);
  dispatch(left, 7); // freed with its runtime
  vyre_kernel_free(k);
  vyre_runtime_free(rt);
  vyre_program_release(p);
}

static void holds_no_more(vyre_runtime_options options) {
  enum { LIVES = 8 };
#if FAILING_MALLOC
  // What is made once per process, and what threads leave for the next ones.
  for (int i = 0; i < 3; i++) live(options);
  memory_arm(0, false);
  for (int i = 0; i < LIVES; i++) live(options);
  memory_disarm();
  if (memory.held >= LIVES) fail_msg("%ld blocks more in %d lives", (long)memory.held, LIVES);
#else
  for (int i = 0; i < 2; i++) live(options); // the sanitizer looks itself
#endif
}

static void one_that_stays_with_its_first_variant(void **state) {
  (void)state;
  holds_no_more((vyre_runtime_options){.backend = "ref", .no_learning = true, .no_store = true});
}

static void one_that_learns(void **state) {
  (void)state;
  setenv("VYRE_AUTOTUNER", "on", 1);
  holds_no_more((vyre_runtime_options){.backend = "fake", .learn_after = 2, .no_store = true});
}

static void one_that_prepares_variants(void **state) {
  (void)state;
  holds_no_more((vyre_runtime_options){
      .backend = "fake", .learn_after = 2, .specialise = true, .no_store = true});
}

static void one_that_remembers(void **state) {
  (void)state;
  holds_no_more((vyre_runtime_options){.backend = "fake", .learn_after = 2, .specialise = true});
}

static int make_home(void **state) {
  if (scratch_dir_make(state)) return -1;
  knowing_backend_set();
  return setenv("VYRE_HOME", scratch_dir, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_that_stays_with_its_first_variant),
      cmocka_unit_test(one_that_learns),
      cmocka_unit_test(one_that_prepares_variants),
      cmocka_unit_test(one_that_remembers),
  };
  return cmocka_run_group_tests(tests, make_home, scratch_dir_remove);
}
