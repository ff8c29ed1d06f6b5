// SPDX-License-Identifier: MIT
//
// A runtime gives back all that it took, whatever it did: it learned, tuned launch shapes, prepared
// variants, was asked to explain itself, had dispatches submitted and memory of its own, stored
// what it measured and began with that. The same life is lived again and again; what is held must
// not grow.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../failing_malloc.h"
#include "../knowing_backend.h"
#include "../scratch_dir.h"
#include "runtime/kernel.h"

enum { COUNT = 64, BYTES = COUNT * sizeof(uint32_t) };

static bool is_poor; // memory may run out, or threads
static atomic_bool has_no_threads;

#if FAILING_MALLOC
#pragma GCC visibility push(default)
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *context) {
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(size_t)dlsym(
          RTLD_NEXT, "pthread_create");
  return has_no_threads ? EAGAIN : create(thread, attributes, start, context);
}
#pragma GCC visibility pop
#endif

static bool ok(vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK) return true;
  if (!is_poor) fail_msg("%s", error->message);
  return false;
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

// When it says that it went well, the answer is right.
static void check_answer(const request *r) {
  steps s = steps_of((uint32_t)r->n.bits);
  for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(r->y[i], r->x[i] * s.factor + s.term);
}

static void dispatch(vyre_kernel *k, uint32_t n) {
  request r;
  vyre_error error;
  fill(&r, n);
  if (ok(vyre_kernel_dispatch(k, &r.args, NULL, &error), &error)) check_answer(&r);
}

static void submit(vyre_kernel *k) {
  request r[3];
  vyre_completion *c[3];
  vyre_error error;
  bool is_submitted[3];
  for (uint32_t i = 0; i < 3; i++) {
    fill(&r[i], i);
    is_submitted[i] = ok(vyre_kernel_submit(k, &r[i].args, &c[i], &error), &error);
  }
  for (int i = 0; i < 3; i++)
    if (is_submitted[i] && ok(vyre_completion_wait(c[i], &error), &error)) check_answer(&r[i]);
}

static void own_memory(vyre_runtime *rt, vyre_kernel *k) {
  request r;
  vyre_buffer *handles[2] = {NULL, NULL};
  vyre_error error;
  fill(&r, 3);
  r.args.handles = handles;
  memset(r.spans, 0, sizeof r.spans);
  if (ok(vyre_buffer_new(rt, BYTES, &handles[0], &error), &error) &&
      ok(vyre_buffer_new(rt, BYTES, &handles[1], &error), &error) &&
      ok(vyre_buffer_write(handles[0], 0, r.x, BYTES, &error), &error) &&
      ok(vyre_kernel_dispatch(k, &r.args, NULL, &error), &error) &&
      ok(vyre_buffer_read(handles[1], 0, r.y, BYTES, &error), &error))
    check_answer(&r);
  for (int i = 0; i < 2; i++) vyre_buffer_free(handles[i]);
}

static void explain(vyre_kernel *k) {
  char *text;
  vyre_error error;
  if (ok(vyre_kernel_explain(k, &text, &error), &error)) vyre_free(text);
}

static vyre_program *program;

static void live(vyre_runtime_options options) {
  vyre_runtime *rt;
  vyre_kernel *k, *left;
  vyre_error error;
  options.notice = ignore;
  if (!ok(vyre_runtime_new(&options, &rt, &error), &error)) return;
  if (ok(vyre_runtime_load(rt, program, &k, &error), &error)) {
    for (uint32_t i = 0; i < 6; i++) dispatch(k, 500);
    vyre_runtime_settle(rt);
    for (uint32_t i = 0; i < 12; i++) {
      dispatch(k, 500 + 3 * i);
      vyre_runtime_settle(rt);
    }
    // What was begun for it is over: it may be freed without waiting.
    for (int i = 0; i < 60000 && atomic_load(&k->pending); i++)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(atomic_load(&k->pending), 0);
    explain(k);
    submit(k);
    own_memory(rt, k);
    vyre_kernel_free(k);
  }
  if (ok(vyre_runtime_load(rt, program, &left, &error), &error)) dispatch(left, 7);
  vyre_runtime_free(rt); // with the kernel that is left
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

// At each of many moments of a life, once, and from there on.
static void runs_out(vyre_runtime_options options, long moments) {
#if FAILING_MALLOC
  for (int i = 0; i < 3; i++) live(options);
  memory_arm(0, false);
  live(options);
  memory_disarm();
  long calls = memory.calls;
  assert_true(calls > moments);
  is_poor = true;
  for (long i = 0; i < 2 * moments; i++) {
    long at = 1 + i / 2 * calls / moments;
    // A thread more than ever before leaves a block for the next ones, once.
    for (int attempt = 0; attempt < 4; attempt++) {
      memory_arm(at, i % 2);
      live(options);
      memory_disarm();
      if (!memory.held) break;
      if (attempt == 3) fail_msg("%ld blocks are lost: allocation %ld", (long)memory.held, at);
    }
  }
  is_poor = false;
#else
  (void)options, (void)moments;
  skip();
#endif
}

static void memory_may_run_out(void **state) {
  (void)state;
  runs_out(
      (vyre_runtime_options){
          .backend = "fake", .learn_after = 2, .specialise = true, .no_store = true},
      250);
}

static void memory_may_run_out_beside_the_store(void **state) {
  (void)state;
  runs_out((vyre_runtime_options){.backend = "fake", .learn_after = 2, .specialise = true}, 60);
}

// Nothing is learned then, and nothing can be submitted; dispatches go on.
static void threads_may_run_out(void **state) {
  (void)state;
  is_poor = has_no_threads = true;
  holds_no_more((vyre_runtime_options){.learn_after = 2, .backend = "fake", .specialise = true});
  is_poor = has_no_threads = false;
}

static int make_home(void **state) {
  if (scratch_dir_make(state)) return -1;
  knowing_backend_set();
  program = knowing_program("memory");
  return setenv("VYRE_HOME", scratch_dir, 1);
}

static int remove_home(void **state) {
  vyre_program_release(program);
  backend_set_extra(NULL);
  return scratch_dir_remove(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_that_stays_with_its_first_variant),
      cmocka_unit_test(one_that_learns),
      cmocka_unit_test(one_that_prepares_variants),
      cmocka_unit_test(one_that_remembers),
      cmocka_unit_test(threads_may_run_out),
      cmocka_unit_test(memory_may_run_out),
      cmocka_unit_test(memory_may_run_out_beside_the_store),
  };
  return cmocka_run_group_tests(tests, make_home, remove_home);
}
