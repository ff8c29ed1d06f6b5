// SPDX-License-Identifier: MIT
//
// What shapes.h makes: valid programs without races that the reference runs to their end, the same
// for the same seed, of all kinds, with the operations and the numbers that they are made for.
#include "conform/race.h"
#include "conform/shapes.h"
#include "conform/sweep.h"
#include "ir/program.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "../trial_digest.h"

// Sanitizers make everything several times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SEEDS = 150 };
#else
enum { SEEDS = 1200 };
#endif
enum { MADE = 1200 }; // only made, not run; of fewer some shapes are missing by chance

static uint32_t make(uint64_t seed, uint32_t kinds, trial *t) {
  vyre_error error = {0};
  shapes_options options = {.seed = seed, .kinds = kinds};
  uint32_t kind = 0;
  if (shapes_trial(&options, t, &kind, &error) != VYRE_OK)
    fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
  return kind;
}

static void test_they_end_and_have_no_races(void **state) {
  (void)state;
  uint32_t unknown = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    trial t;
    race_report race;
    make(seed, 0, &t);
    assert_true(race_check(&t, SWEEP_FUEL, &race));
    if (race.verdict == RACE_FOUND) fail_msg("seed %llu: %s", (unsigned long long)seed, race.text);
    unknown += race.verdict == RACE_UNKNOWN;
    trial_fini(&t);
  }
  assert_int_equal(unknown, 0);
}

static void test_same_seed_same_trial(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 100; seed++) {
    trial x, y;
    make(seed, 0, &x);
    make(seed, 0, &y);
    assert_int_equal(x.program->code_count, y.program->code_count);
    assert_memory_equal(x.program->code, y.program->code, x.program->code_count * sizeof(inst));
    assert_int_equal(x.param_count, y.param_count);
    for (uint32_t i = 0; i < x.param_count; i++)
      assert_int_equal(x.params[i].bits, y.params[i].bits);
    for (uint32_t i = 0; i < x.buffer_count; i++) {
      assert_int_equal(x.buffers[i].size_bytes, y.buffers[i].size_bytes);
      assert_memory_equal(x.buffers[i].data, y.buffers[i].data, x.buffers[i].size_bytes);
    }
    assert_memory_equal(x.workgroup, y.workgroup, sizeof x.workgroup);
    trial_fini(&x);
    trial_fini(&y);
  }
}

// The same on every machine and with every compiler. A change of the generator changes this, too.
static void test_seeds_mean_the_same_everywhere(void **state) {
  (void)state;
  uint64_t digest = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    trial t;
    make(seed, 0, &t);
    digest = digest_trial(digest, &t);
    trial_fini(&t);
  }
  assert_int_equal(digest, 0x9039fe8f71a42e4bu);
}

static void test_one_kind_alone(void **state) {
  (void)state;
  assert_true(shapes_count() <= 32);
  assert_null(shapes_name(shapes_count()));
  for (uint32_t kind = 0; kind < shapes_count(); kind++)
    for (uint64_t seed = 0; seed < 10; seed++) {
      trial t;
      assert_int_equal(make(seed, 1u << kind, &t), kind);
      trial_fini(&t);
    }
}

static bool is_end_of_type(uint64_t bits) {
  int64_t n = (int64_t)bits;
  return n > INT64_MAX - 8 || n < INT64_MIN + 8;
}

static void test_everything_is_made(void **state) {
  (void)state;
  uint32_t ops[VYRE_OP_COUNT] = {0}, ranks[4] = {0}, ends = 0, odd = 0, many = 0, launched = 0;
  uint32_t empty = 0, kinds[32] = {0};
  for (uint64_t seed = 0; seed < MADE; seed++) {
    trial t;
    kinds[make(seed, 0, &t)]++;
    const vyre_program *p = t.program;
    for (uint32_t i = 1; i < p->code_count; i++) ops[p->code[i].op]++;
    for (uint32_t i = 0; i < p->region_count; i++) {
      ranks[p->regions[i].rank]++;
      odd += !p->regions[i].is_elastic && p->regions[i].workgroup[0] % 2;
    }
    for (uint32_t i = 0; i < t.param_count; i++) ends += is_end_of_type(t.params[i].bits);
    for (uint32_t i = 0; i < p->const_count; i++) ends += is_end_of_type(p->consts[i].bits);
    empty += t.buffers[0].size_bytes == 0 || t.buffers[3].size_bytes == 0;
    many += p->region_count > 1;
    launched += t.workgroup[0] > 0 && t.workgroup[0] < 8;
    trial_fini(&t);
  }
  static const vyre_op needed[] = {
      VYRE_OP_EQ,    VYRE_OP_NE,     VYRE_OP_LT,  VYRE_OP_LE,      VYRE_OP_GT,      VYRE_OP_GE,
      VYRE_OP_MIN,   VYRE_OP_MAX,    VYRE_OP_DIV, VYRE_OP_REM,     VYRE_OP_AND,     VYRE_OP_OR,
      VYRE_OP_SHL,   VYRE_OP_SHR,    VYRE_OP_NOT, VYRE_OP_SELECT,  VYRE_OP_FOR,     VYRE_OP_WHILE,
      VYRE_OP_BREAK, VYRE_OP_RETURN, VYRE_OP_NEG, VYRE_OP_BARRIER, VYRE_OP_LOCAL_ID};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (ops[needed[i]] < 1 + MADE / 600)
      fail_msg("hardly a program has `%s`", op_table[needed[i]].name);
  for (uint32_t i = 0; i < shapes_count(); i++) assert_true(kinds[i] > 0);
  assert_true(ranks[1] > MADE / 4 && ranks[2] > MADE / 10 && ranks[3] > MADE / 20);
  assert_true(ends > MADE / 20 && odd > MADE / 20 && many > MADE / 20);
  assert_true(launched > MADE / 30 && empty > MADE / 30);
}

// A case is a case of the sweep with the same seed, whatever else is asked for.
static void test_cases_of_a_sweep(void **state) {
  (void)state;
  uint32_t shapes = 0, specialised = 0, optimised = 0, quick = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    sweep_case x, y;
    assert_int_equal(sweep_make(&(sweep_options){.seed = seed}, &x, NULL), VYRE_OK);
    assert_int_equal(sweep_make(&(sweep_options){.seed = seed, .has_shapes = true}, &y, NULL), 0);
    assert_memory_equal(&x.how, &y.how, sizeof x.how);
    shapes += strcmp(x.kind, y.kind) != 0;
    specialised += x.how.is_specialised;
    optimised += x.how.is_optimised;
    quick += x.how.options.tier == VYRE_TIER_QUICK;
    trial_fini(&x.trial);
    trial_fini(&y.trial);
  }
  assert_in_range(shapes, 70, 130);
  assert_in_range(specialised, 20, 100);
  assert_in_range(optimised, 20, 120);
  assert_in_range(quick, 60, 140);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_they_end_and_have_no_races),
      cmocka_unit_test(test_same_seed_same_trial),
      cmocka_unit_test(test_seeds_mean_the_same_everywhere),
      cmocka_unit_test(test_one_kind_alone),
      cmocka_unit_test(test_everything_is_made),
      cmocka_unit_test(test_cases_of_a_sweep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
