// SPDX-License-Identifier: MIT
#include "conform/compare.h"
#include "conform/generate.h"
#include "conform/race.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

enum { GRID = 8, GROUP = 4 };

typedef enum body {
  WRITE_OWN,
  WRITE_SAME,
  READ_NEIGHBOUR,
  READ_AFTER_BARRIER,
  READ_OTHER_GROUP,
  ADD_SAME,
  ADD_AND_LOOK,
  ADD_AND_MIN,
  SHARED_OWN,
  SHARED_SAME,
  READ_UNNEEDED,
  READ_NEEDED,
} body;

static void build_body(vyre_builder *b, body what, vyre_mem x, vyre_mem s) {
  vyre_value id = vyre_build_id(b, VYRE_OP_GLOBAL_ID, 0);
  vyre_value local = vyre_build_id(b, VYRE_OP_LOCAL_ID, 0);
  vyre_value zero = vyre_build_u32(b, 0), one = vyre_build_u32(b, 1);
  vyre_value next = vyre_build_binary(b, VYRE_OP_XOR, id, one);
  vyre_value far = vyre_build_binary(b, VYRE_OP_XOR, id, vyre_build_u32(b, GROUP));
  switch (what) {
  case WRITE_OWN: vyre_build_store(b, x, id, id); break;
  case WRITE_SAME: vyre_build_store(b, x, zero, id); break;
  case READ_NEIGHBOUR:
    vyre_build_store(b, x, id, id);
    vyre_build_load(b, x, next);
    break;
  case READ_AFTER_BARRIER:
  case READ_OTHER_GROUP:
    vyre_build_store(b, x, id, id);
    vyre_build_barrier(b);
    vyre_build_load(b, x, what == READ_OTHER_GROUP ? far : next);
    break;
  case ADD_SAME: vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, x, zero, id); break;
  case ADD_AND_LOOK: {
    vyre_value old = vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, x, zero, id);
    vyre_build_unary(b, VYRE_OP_NEG, old);
    break;
  }
  case ADD_AND_MIN:
    vyre_build_atomic(b, VYRE_OP_ATOMIC_ADD, x, zero, id);
    vyre_build_atomic(b, VYRE_OP_ATOMIC_MIN, x, zero, id);
    break;
  case SHARED_OWN: vyre_build_store(b, s, local, id); break;
  case SHARED_SAME: vyre_build_store(b, s, zero, id); break;
  case READ_UNNEEDED: // the side of a select that is not taken: nobody reads the neighbour's
  case READ_NEEDED: {
    vyre_value is_read =
        vyre_build_binary(b, what == READ_NEEDED ? VYRE_OP_GE : VYRE_OP_LT, id, zero);
    vyre_value read = vyre_build_load(b, x, next);
    vyre_build_store(b, x, id, vyre_build_select(b, is_read, read, one));
    break;
  }
  }
}

static race_verdict check(body what) {
  vyre_builder *b = vyre_builder_new("race");
  vyre_mem x = vyre_build_buffer(b, "x", VYRE_U32, VYRE_READWRITE, 0);
  vyre_build_region_begin(b, "r");
  vyre_value extent = vyre_build_u32(b, GRID);
  vyre_build_grid(b, 1, &extent, (uint32_t[3]){GROUP, 1, 1});
  vyre_mem s = vyre_build_shared(b, "s", VYRE_U32, GROUP);
  build_body(b, what, x, s);
  vyre_build_region_end(b);
  uint32_t data[GRID] = {0};
  vyre_span span = {data, sizeof data};
  trial t = {.buffers = &span, .buffer_count = 1};
  assert_int_equal(vyre_builder_finish(b, &t.program, NULL), VYRE_OK);
  race_report report;
  assert_true(race_check(&t, COMPARE_FUEL, &report));
  assert_int_equal(data[0] + data[1], 0); // the trial is not changed
  vyre_program_release(t.program);
  vyre_builder_free(b);
  return report.verdict;
}

static void test_planted_races_are_found(void **state) {
  (void)state;
  assert_int_equal(check(WRITE_SAME), RACE_FOUND);
  assert_int_equal(check(READ_NEIGHBOUR), RACE_FOUND);
  assert_int_equal(check(READ_OTHER_GROUP), RACE_FOUND);
  assert_int_equal(check(ADD_AND_LOOK), RACE_FOUND);
  assert_int_equal(check(ADD_AND_MIN), RACE_FOUND);
  assert_int_equal(check(SHARED_SAME), RACE_FOUND);
  assert_int_equal(check(READ_NEEDED), RACE_FOUND);
}

static void test_orderly_programs_have_none(void **state) {
  (void)state;
  assert_int_equal(check(WRITE_OWN), RACE_FREE);
  assert_int_equal(check(READ_AFTER_BARRIER), RACE_FREE);
  assert_int_equal(check(ADD_SAME), RACE_FREE);
  assert_int_equal(check(SHARED_OWN), RACE_FREE);
  assert_int_equal(check(READ_UNNEEDED), RACE_FREE);
}

static void test_generated_programs_have_none(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    trial t;
    generate_options options = {.seed = seed, .size = seed % 3 ? 12 : 30};
    assert_int_equal(generate_trial(&options, &t, NULL), VYRE_OK);
    race_report report;
    assert_true(race_check(&t, COMPARE_FUEL, &report));
    if (report.verdict != RACE_FREE)
      fail_msg("seed %llu: %s", (unsigned long long)seed, report.text);
    trial_fini(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_planted_races_are_found),
      cmocka_unit_test(test_orderly_programs_have_none),
      cmocka_unit_test(test_generated_programs_have_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
