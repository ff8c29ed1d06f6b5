// SPDX-License-Identifier: MIT
#include "conform/compare.h"
#include "conform/generate.h"
#include "conform/idioms.h"
#include "ir/program.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "../trial_digest.h"

enum { SEEDS = 1500 };

static void make(uint64_t seed, bool math, trial *t) {
  vyre_error error = {0};
  generate_options options = {.seed = seed, .with_math = math};
  if (generate_trial(&options, t, &error) != VYRE_OK)
    fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
}

static void test_programs_run_on_ref(void **state) {
  (void)state;
  uint64_t most = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    trial t;
    make(seed, seed % 2, &t);
    outcome o;
    assert_true(trial_run(&t, NULL, "ref", NULL, (trial_limits){.fuel = COMPARE_FUEL}, &o));
    if (o.status != VYRE_OK) fail_msg("seed %llu: %s", (unsigned long long)seed, o.error.message);
    assert_int_equal(o.overrun, -1);
    if (o.operations > most) most = o.operations;
    outcome_fini(&o);
    trial_fini(&t);
  }
  assert_true(most > 1000);
}

// A second run from the same seed is the same in everything that a backend sees.
static void test_same_seed_same_trial(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 100; seed++) {
    trial x, y;
    make(seed, true, &x);
    make(seed, true, &y);
    assert_int_equal(x.program->code_count, y.program->code_count);
    assert_memory_equal(x.program->code, y.program->code, x.program->code_count * sizeof(inst));
    assert_int_equal(x.param_count, y.param_count);
    assert_int_equal(x.buffer_count, y.buffer_count);
    for (uint32_t i = 0; i < x.buffer_count; i++) {
      assert_int_equal(x.buffers[i].size_bytes, y.buffers[i].size_bytes);
      assert_memory_equal(x.buffers[i].data, y.buffers[i].data, x.buffers[i].size_bytes);
    }
    trial_fini(&x);
    trial_fini(&y);
  }
}

// The same on every machine and with every compiler. A change of the generator changes this, too.
static void test_seeds_mean_the_same_everywhere(void **state) {
  (void)state;
  static const struct {
    generate_options options;
    uint64_t digest;
  } rows[] = {
      {{0}, 0x719f5864e934b8a8u},
      {{.with_math = true}, 0x1a7e5101e18c5000u},
      {{.size = 40}, 0x928df3c2a856e28u},
      {{.without_f64 = true, .without_i64_atomics = true}, 0xe410634ac180558du},
      {{.without_i64 = true}, 0x1816047ade111649u},
      {{.without_barriers = true}, 0x89c5455c31e9fe6u},
      {{.without_rigid = true}, 0x9d12e12e436c3eb3u},
      {{.fast_ulp = 4}, 0x68a515b2b700dc7au},
      {{.only_provable = true}, 0x580e269a97494e79u},
  };
  unsigned wrong = 0;
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    uint64_t digest = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
      trial t;
      generate_options options = rows[row].options;
      options.seed = seed;
      assert_int_equal(generate_trial(&options, &t, NULL), VYRE_OK);
      digest = digest_trial(digest, &t);
      trial_fini(&t);
    }
    if (digest != rows[row].digest)
      print_error("row %zu is %#llx\n", row, (unsigned long long)digest), wrong++;
  }
  uint64_t digest = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    trial t;
    assert_int_equal(idioms_trial(seed, &t, NULL), VYRE_OK);
    digest = digest_trial(digest, &t);
    trial_fini(&t);
  }
  assert_int_equal(digest, 0x36ae5657d7c1c0c2u);
  assert_int_equal(wrong, 0);
}

// Every row of the operation table, every type, and the shapes that backends treat differently.
static void test_everything_is_generated(void **state) {
  (void)state;
  uint32_t ops[VYRE_OP_COUNT] = {0}, types[VYRE_TYPE_COUNT] = {0};
  uint32_t elastic = 0, rigid = 0, with_barrier = 0, transient = 0, empty = 0, several = 0;
  uint32_t ranks[4] = {0};
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    trial t;
    make(seed, true, &t);
    const vyre_program *p = t.program;
    for (uint32_t i = 1; i < p->code_count; i++) {
      ops[p->code[i].op]++;
      types[p->code[i].type]++;
    }
    for (uint32_t i = 0; i < p->region_count; i++) {
      elastic += p->regions[i].is_elastic;
      rigid += !p->regions[i].is_elastic;
      with_barrier += p->regions[i].has_barrier;
      ranks[p->regions[i].rank]++;
    }
    several += p->region_count > 1;
    for (uint32_t i = 0; i < p->buffer_count; i++) transient += p->buffers[i].is_transient;
    for (uint32_t i = 0; i < t.buffer_count; i++) empty += t.buffers[i].size_bytes == 0;
    trial_fini(&t);
  }
  for (int op = 1; op < VYRE_OP_COUNT; op++)
    if (!ops[op]) fail_msg("no program has `%s`", op_table[op].name);
  for (int type = VYRE_BOOL; type < VYRE_TYPE_COUNT; type++) assert_true(types[type] > 100);
  assert_true(elastic > SEEDS / 3 && rigid > SEEDS / 3 && with_barrier > SEEDS / 8);
  assert_true(ranks[1] > 100 && ranks[2] > 100 && ranks[3] > 100);
  assert_true(transient > 100 && empty > 10 && several > 100);
}

static void test_options_leave_things_out(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 200; seed++) {
    vyre_error error;
    generate_options options = {.seed = seed,
                                .without_f64 = true,
                                .without_i64 = true,
                                .without_barriers = true,
                                .without_rigid = seed % 2};
    trial t;
    assert_int_equal(generate_trial(&options, &t, &error), VYRE_OK);
    const vyre_program *p = t.program;
    for (uint32_t i = 1; i < p->code_count; i++) {
      assert_int_not_equal(p->code[i].type, VYRE_F64);
      assert_int_not_equal(p->code[i].type, VYRE_I64);
      assert_int_not_equal(p->code[i].type, VYRE_U64);
      assert_int_not_equal(p->code[i].op, VYRE_OP_BARRIER);
      assert_false(op_is((vyre_op)p->code[i].op, OPF_MATH));
    }
    for (uint32_t i = 0; i < p->region_count; i++)
      if (seed % 2) assert_true(p->regions[i].is_elastic);
    trial_fini(&t);
  }
}

static void test_copies_are_equal_and_apart(void **state) {
  (void)state;
  trial t, copy;
  make(7, false, &t);
  assert_true(trial_copy(&t, &copy));
  assert_ptr_equal(t.program, copy.program);
  for (uint32_t i = 0; i < t.buffer_count; i++) {
    assert_ptr_not_equal(t.buffers[i].data, copy.buffers[i].data);
    assert_memory_equal(t.buffers[i].data, copy.buffers[i].data, t.buffers[i].size_bytes);
  }
  trial_fini(&t);
  difference d;
  assert_true(compare_run(&copy, NULL, "ref", NULL, &d));
  assert_int_equal(d.verdict, SAME);
  trial_fini(&copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_programs_run_on_ref),
      cmocka_unit_test(test_same_seed_same_trial),
      cmocka_unit_test(test_seeds_mean_the_same_everywhere),
      cmocka_unit_test(test_everything_is_generated),
      cmocka_unit_test(test_options_leave_things_out),
      cmocka_unit_test(test_copies_are_equal_and_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
