// SPDX-License-Identifier: MIT
//
// The planted bug is a program transformation: the reference runs the program with one operation
// taken for another, as a miscompiling backend would.
#include "conform/edit.h"
#include "conform/generate.h"
#include "conform/race.h"
#include "conform/shrink.h"
#include "ir/builder.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

enum { FUEL = 50000 }; // a wrong or shrunk loop may not end

typedef struct bug {
  vyre_op right, wrong;
  uint32_t checks;
} bug;

static vyre_program *miscompile(const vyre_program *p, const bug *bug) {
  vyre_builder *b = vyre_builder_new(p->name);
  ref *map = calloc(p->code_count, sizeof *map);
  builder_copy_interface(b, p);
  for (uint32_t n = 0; n < p->region_count; n++) {
    const region *r = &p->regions[n];
    vyre_build_region_begin(b, r->name);
    for (uint32_t i = r->grid_code.first; i < r->grid_code.end; i++)
      builder_copy_inst(b, p, i, map, 0);
    ref grid[3];
    for (int k = 0; k < 3; k++) grid[k] = builder_map_ref(b, p, r->grid[k], map);
    vyre_build_grid(b, r->rank, grid, r->workgroup);
    for (uint32_t i = r->shared.first; i < r->shared.end; i++)
      vyre_build_shared(b, p->shared[i].name, p->shared[i].type, p->shared[i].length);
    for (uint32_t i = r->body.first; i < r->body.end; i++) {
      const inst *in = &p->code[i];
      if (in->op == bug->right) {
        ref x = builder_map_ref(b, p, in->arg[0], map), y = builder_map_ref(b, p, in->arg[1], map);
        map[i] = vyre_build_binary(b, bug->wrong, x, y);
      } else {
        builder_copy_inst(b, p, i, map, 0);
      }
    }
    vyre_build_region_end(b);
  }
  vyre_program *made = NULL;
  vyre_builder_finish(b, &made, NULL);
  vyre_builder_free(b);
  free(map);
  return made;
}

static bool is_miscompiled(void *context, const trial *t) {
  bug *b = context;
  race_report race;
  difference d;
  b->checks++;
  if (!race_check(t, FUEL, &race) || race.verdict != RACE_FREE) return false;
  vyre_program *wrong = miscompile(t->program, b);
  if (!wrong) return false;
  outcome expected, found;
  assert_true(trial_run(t, NULL, "ref", NULL, (trial_limits){.fuel = FUEL}, &expected));
  assert_true(trial_run(t, wrong, "ref", NULL, (trial_limits){.fuel = FUEL}, &found));
  compare_outcomes(t, &expected, &found, &d);
  outcome_fini(&expected);
  outcome_fini(&found);
  vyre_program_release(wrong);
  return d.verdict == DIFFERENT && !d.is_about_status;
}

static void shrink_planted(bug b, uint32_t most_operations) {
  uint32_t found = 0;
  for (uint64_t seed = 0; seed < 200 && found < 4; seed++) {
    trial t;
    generate_options options = {.seed = seed, .size = 25};
    assert_int_equal(generate_trial(&options, &t, NULL), VYRE_OK);
    if (is_miscompiled(&b, &t)) {
      uint32_t before = t.program->code_count;
      shrink_trial(&t, is_miscompiled, &b, (shrink_limits){0});
      assert_true(is_miscompiled(&b, &t));
      if (t.program->code_count - 1 > most_operations)
        fail_msg("seed %llu: %u of %u operations are left", (unsigned long long)seed,
                 t.program->code_count - 1, before);
      assert_int_equal(t.program->region_count, 1);
      assert_true(t.program->buffer_count <= 2);
      found++;
    }
    trial_fini(&t);
  }
  assert_int_equal(found, 4);
}

static void test_shrinks_wrong_arithmetic(void **state) {
  (void)state;
  shrink_planted((bug){VYRE_OP_SUB, VYRE_OP_ADD, 0}, 6);
  shrink_planted((bug){VYRE_OP_MIN, VYRE_OP_MAX, 0}, 7);
}

static void test_shrinks_wrong_bits(void **state) {
  (void)state;
  shrink_planted((bug){VYRE_OP_SHR, VYRE_OP_ROTR, 0}, 8); // one under a condition that leaves
}

static void test_limit_of_checks_is_kept(void **state) {
  (void)state;
  bug b = {VYRE_OP_SUB, VYRE_OP_ADD, 0};
  for (uint64_t seed = 0;; seed++) {
    trial t;
    assert_int_equal(generate_trial(&(generate_options){.seed = seed}, &t, NULL), VYRE_OK);
    bool fails = is_miscompiled(&b, &t);
    if (fails) {
      b.checks = 0;
      assert_int_equal(shrink_trial(&t, is_miscompiled, &b, (shrink_limits){.checks = 3}), 3);
      assert_int_equal(b.checks, 3);
      assert_true(is_miscompiled(&b, &t));
    }
    trial_fini(&t);
    if (fails) break;
  }
}

// Dropping everything in every way gives valid programs or a refusal, never anything else.
static void test_edits_of_every_kind(void **state) {
  (void)state;
  random_state r = {11};
  uint32_t applied = 0;
  for (uint64_t seed = 0; seed < 600; seed++) {
    trial t, smaller;
    edit e;
    assert_int_equal(generate_trial(&(generate_options){.seed = seed}, &t, NULL), VYRE_OK);
    assert_true(edit_init(&e, &t));
    uint32_t often = random_range(&r, 2, 30);
    for (uint32_t i = t.program->regions[0].grid_code.first; i < t.program->code_count; i++)
      if (random_below(&r, often) == 0) e.actions[i] = (uint8_t)random_below(&r, EDIT_ACTION_COUNT);
    e.has_shapes = random_chance(&r, 50);
    for (uint32_t i = 0; i < t.program->param_count; i++) e.drops_param[i] = random_chance(&r, 30);
    for (uint32_t i = 0; i < t.program->buffer_count; i++)
      e.drops_buffer[i] = random_chance(&r, 10) && e.has_shapes;
    if (edit_apply(&e, &t, &smaller)) {
      outcome o;
      applied++;
      assert_true(trial_run(&smaller, NULL, "ref", NULL, (trial_limits){.fuel = 100000}, &o));
      assert_int_equal(o.overrun, -1);
      outcome_fini(&o);
      trial_fini(&smaller);
    }
    edit_fini(&e);
    trial_fini(&t);
  }
  assert_true(applied > 100);
}

// An edit that keeps everything gives a program that does the same.
static void test_empty_edit_changes_nothing(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 200; seed++) {
    trial t, same;
    edit e;
    assert_int_equal(generate_trial(&(generate_options){.seed = seed}, &t, NULL), VYRE_OK);
    assert_true(edit_init(&e, &t));
    assert_true(edit_apply(&e, &t, &same));
    difference d;
    assert_true(compare_run(&t, same.program, "ref", NULL, &d));
    if (d.verdict != SAME) fail_msg("seed %llu: %s", (unsigned long long)seed, d.text);
    assert_true(same.program->code_count <= t.program->code_count);
    trial_fini(&same);
    edit_fini(&e);
    trial_fini(&t);
  }
}

// What a merged trial leaves in its buffers is what its parts leave in theirs.
static void test_merged_trials_do_the_same(void **state) {
  (void)state;
  enum { COUNT = 60 };
  trial trials[COUNT], merged;
  uint32_t done = 0, n;
  for (uint64_t seed = 0; seed < COUNT; seed++)
    assert_int_equal(generate_trial(&(generate_options){.seed = seed}, &trials[seed], NULL), 0);
  for (; done < COUNT; done += n) {
    assert_true(edit_merge(trials + done, COUNT - done, &merged, &n));
    assert_true(n > 10 || n == COUNT - done);
    outcome whole;
    assert_true(trial_run(&merged, NULL, "ref", NULL, (trial_limits){0}, &whole));
    assert_int_equal(whole.status, VYRE_OK);
    uint32_t at = 0;
    for (uint32_t k = done; k < done + n; k++) {
      outcome part;
      assert_true(trial_run(&trials[k], NULL, "ref", NULL, (trial_limits){0}, &part));
      for (uint32_t i = 0; i < part.buffer_count; i++, at++) {
        assert_int_equal(part.buffers[i].size_bytes, whole.buffers[at].size_bytes);
        assert_memory_equal(part.buffers[i].data, whole.buffers[at].data,
                            part.buffers[i].size_bytes);
      }
      outcome_fini(&part);
    }
    assert_int_equal(at, whole.buffer_count);
    outcome_fini(&whole);
    trial_fini(&merged);
  }
  for (uint32_t k = 0; k < COUNT; k++) trial_fini(&trials[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shrinks_wrong_arithmetic),
      cmocka_unit_test(test_shrinks_wrong_bits),
      cmocka_unit_test(test_limit_of_checks_is_kept),
      cmocka_unit_test(test_edits_of_every_kind),
      cmocka_unit_test(test_empty_edit_changes_nothing),
      cmocka_unit_test(test_merged_trials_do_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
