// SPDX-License-Identifier: MIT
//
// A program is hashed when its identity is first asked for, and only then.
#include "ir/program.h"
#include "policy/optimize.h"

#include <pthread.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char text[] =
    "program add(a: i32)\nbuffer x: i32[] readwrite\n"
    "region main grid(len(x)) {\n  let i = global_id.x\n  x[i] = x[i] + a * 1 + 0 * 7\n}\n";

static vyre_program *parse(void) {
  vyre_program *p;
  assert_int_equal(vyre_program_parse(text, strlen(text), "add", &p, NULL), VYRE_OK);
  return p;
}

static void refuse_hashed(void *context, const pass *pass, uint32_t run, const vyre_program *p) {
  (void)pass, (void)run;
  ++*(uint32_t *)context;
  assert_false(atomic_load(&((vyre_program *)p)->has_fingerprint));
}

static void passes_hash_nothing(void **state) {
  (void)state;
  vyre_program *p = parse();
  uint32_t changes = 0;
  optimize_options options = {.watch = refuse_hashed, .watch_context = &changes};
  optimize_result r;
  assert_int_equal(optimize_program(p, &options, &r, NULL), VYRE_OK);
  assert_true(changes > 0);
  assert_false(atomic_load(&p->has_fingerprint));
  assert_false(atomic_load(&r.program->has_fingerprint));
  assert_memory_not_equal(program_fingerprint(p), program_fingerprint(r.program), HASH_BYTES);
  assert_true(atomic_load(&p->has_fingerprint));
  optimize_result_fini(&r);
  vyre_program_release(p);
}

static void *ask(void *program) {
  return (void *)program_fingerprint(program);
}

static void threads_agree_on_an_identity(void **state) {
  (void)state;
  enum { THREADS = 8 };
  vyre_program *p = parse(), *again = parse();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_false(pthread_create(&threads[i], NULL, ask, p));
  for (int i = 0; i < THREADS; i++) {
    void *found;
    assert_false(pthread_join(threads[i], &found));
    assert_memory_equal(found, program_fingerprint(again), HASH_BYTES);
  }
  vyre_program_release(p);
  vyre_program_release(again);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_hash_nothing),
      cmocka_unit_test(threads_agree_on_an_identity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
