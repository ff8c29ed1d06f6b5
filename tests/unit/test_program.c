// SPDX-License-Identifier: MIT
//
// A program is hashed when its identity is first asked for, and only then; and it is optimized on
// its way to every backend but the oracle.
#include "backend/executable.h"

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

static uint64_t compiled_size(vyre_program *p, const char *backend, vyre_compile_options options) {
  vyre_executable *e;
  vyre_error error;
  if (vyre_compile(p, backend, &options, &e, &error) != VYRE_OK) fail_msg("%s", error.message);
  uint64_t size = executable_program(e)->stats.instruction_count;
  vyre_executable_release(e);
  return size;
}

static void every_compile_is_optimized(void **state) {
  (void)state;
  vyre_program *p = parse();
  uint64_t plain = p->stats.instruction_count;
  const char *usual = backend_usual()->id, *oracle = backend_oracle()->id;
  assert_true(compiled_size(p, usual, (vyre_compile_options){0}) < plain);
  assert_int_equal(compiled_size(p, usual, (vyre_compile_options){.tier = VYRE_TIER_QUICK}), plain);
  assert_int_equal(compiled_size(p, oracle, (vyre_compile_options){0}), plain);
  vyre_compile_options none = {.optimize = VYRE_OPTIMIZE_NONE};
  assert_int_equal(compiled_size(p, usual, none), plain);
  vyre_compile_options selected = {.tier = VYRE_TIER_QUICK, .optimize = VYRE_OPTIMIZE_SELECTED};
  assert_true(compiled_size(p, usual, selected) < plain);
  assert_true(compiled_size(p, oracle, selected) < plain);
  vyre_program_release(p);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_hash_nothing),
      cmocka_unit_test(threads_agree_on_an_identity),
      cmocka_unit_test(every_compile_is_optimized),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
