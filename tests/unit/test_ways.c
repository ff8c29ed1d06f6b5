// SPDX-License-Identifier: MIT
//
// What backends with a driver share: ways of a program, the runners of each, and whether it fits.
#include "backend/fit.h"
#include "backend/ways.h"
#include "base/error.h"
#include "../parsed_program.h"

#include <stdlib.h>

typedef struct fake_runner {
  ways_runner rest;
  int way;
} fake_runner;

typedef struct fake_state {
  ways ways;
  int builds[WAY_COUNT], unbuilds[WAY_COUNT];
  int fails; // so many builds
} fake_state;

static int runners; // that there are

static vyre_status fake_build(void *state, int way, const volatile uint32_t *stop,
                              vyre_error *error) {
  fake_state *s = state;
  assert_int_equal(*stop, 0);
  s->builds[way]++;
  return s->fails-- > 0 ? error_set(error, VYRE_ERROR_BACKEND, "no. Fix: again") : VYRE_OK;
}

static void fake_unbuild(void *state, int way) {
  ((fake_state *)state)->unbuilds[way]++;
}

static vyre_status fake_runner_new(void *state, int way, ways_runner **out, vyre_error *error) {
  fake_runner *r = calloc(1, sizeof *r);
  (void)state;
  if (!r) return error_out_of_memory(error);
  r->way = way;
  runners++;
  *out = &r->rest;
  return VYRE_OK;
}

static void fake_runner_free(ways_runner *r) {
  free(r);
  runners--;
}

static const ways_how fake = {.build = fake_build,
                              .unbuild = fake_unbuild,
                              .runner_new = fake_runner_new,
                              .runner_free = fake_runner_free};
static const volatile uint32_t never = 0;

static ways_runner *take(fake_state *s, int way) {
  ways_runner *r = NULL;
  assert_int_equal(ways_take(&s->ways, way, &never, &r, NULL), VYRE_OK);
  assert_int_equal(((fake_runner *)r)->way, way);
  return r;
}

static void a_runner_at_rest_is_taken_again_by_its_way(void **state) {
  (void)state;
  fake_state s = {0};
  ways_init(&s.ways, &fake);
  ways_runner *first = take(&s, WAY_PLAIN), *second = take(&s, WAY_PLAIN);
  assert_ptr_not_equal(first, second);
  ways_give(&s.ways, WAY_PLAIN, second);
  ways_runner *polled = take(&s, WAY_POLLED);
  assert_ptr_not_equal(polled, second);
  assert_ptr_equal(take(&s, WAY_PLAIN), second);
  assert_int_equal(s.builds[WAY_PLAIN], 1);
  assert_int_equal(s.builds[WAY_POLLED], 1);
  ways_give(&s.ways, WAY_PLAIN, first);
  ways_give(&s.ways, WAY_PLAIN, second);
  ways_give(&s.ways, WAY_POLLED, polled);
  assert_int_equal(runners, 3);
  assert_true(ways_drop(&s.ways));
  ways_clear(&s.ways);
  assert_int_equal(runners, 0);
  assert_int_equal(s.unbuilds[WAY_PLAIN], 1);
  assert_int_equal(s.unbuilds[WAY_POLLED], 1);
  ways_fini(&s.ways);
}

static void what_could_not_be_built_is_built_when_it_is_asked_for_again(void **state) {
  (void)state;
  fake_state s = {.fails = 1};
  vyre_error error;
  ways_runner *r;
  ways_init(&s.ways, &fake);
  assert_int_equal(ways_take(&s.ways, WAY_POLLED, &never, &r, &error), VYRE_ERROR_BACKEND);
  assert_int_equal(runners, 0);
  ways_clear(&s.ways);
  assert_int_equal(s.unbuilds[WAY_POLLED], 0);
  ways_give(&s.ways, WAY_POLLED, take(&s, WAY_POLLED));
  assert_int_equal(s.builds[WAY_POLLED], 2);
  assert_int_equal(ways_build(&s.ways, WAY_POLLED, &never, NULL), VYRE_OK);
  assert_int_equal(s.builds[WAY_POLLED], 2);
  ways_clear(&s.ways);
  assert_int_equal(s.unbuilds[WAY_POLLED], 1);
  assert_int_equal(s.unbuilds[WAY_PLAIN], 0);
  ways_fini(&s.ways);
}

static void only_the_last_one_frees_the_state(void **state) {
  (void)state;
  fake_state s = {0};
  ways_init(&s.ways, &fake);
  ways_hold(&s);
  assert_false(ways_drop(&s.ways));
  assert_true(ways_drop(&s.ways));
  ways_fini(&s.ways);
}

static void what_a_device_may_still_use_is_not_freed(void **state) {
  (void)state;
  static fake_state s[2]; // it stays in a list
  for (int i = 0; i < 2; i++) {
    ways_init(&s[i].ways, &fake);
    ways_runner *r = take(&s[i], WAY_POLLED);
    ways_leave(&s[i].ways, r);
    assert_false(ways_drop(&s[i].ways));
    assert_ptr_equal(s[i].ways.stuck, r);
  }
  assert_int_equal(runners, 2);
}

static void code_polls_where_a_dispatch_may_be_ended_and_could_be_long(void **state) {
  (void)state;
  static const struct {
    bool may_end, is_long;
    uint64_t invocations[2];
    int way;
  } cases[] = {
      {false, true, {UINT64_MAX, 0}, WAY_PLAIN}, {true, true, {0, 0}, WAY_POLLED},
      {true, false, {1 << 24, 0}, WAY_PLAIN},    {true, false, {1 << 24, 1}, WAY_POLLED},
      {true, false, {0, 1 << 25}, WAY_POLLED},   {true, false, {0, 0}, WAY_PLAIN},
  };
  vyre_program *p =
      parse("program p()\nbuffer y: u32[] write\n"
            "region a grid(len(y)) { y[0] = 1 }\nregion b grid(len(y)) { y[0] = 2 }\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    launch_region regions[2] = {{.invocations = cases[i].invocations[0]},
                                {.invocations = cases[i].invocations[1]}};
    volatile uint32_t stop = 0;
    launch l = {.program = p, .regions = regions};
    if (cases[i].may_end) l.timeout_ns = 1;
    assert_int_equal(ways_choose(&l, cases[i].is_long), cases[i].way);
    l.timeout_ns = 0; // a flag of the caller is as good
    if (cases[i].may_end) l.stop = &stop;
    assert_int_equal(ways_choose(&l, cases[i].is_long), cases[i].way);
  }
  vyre_program_release(p);
}

static void programs_fit_up_to_the_last_invocation_and_byte(void **state) {
  (void)state;
  static const char *const texts[] = {
      "program p()\nbuffer y: u32[] write\n"
      "region rigid grid(64, 12, 4) workgroup(4, 3, 2) { y[0] = local_id.x }\n",
      "program p()\nbuffer y: u32[] write\n"
      "region sharing grid(64) workgroup(2) {\n"
      "  shared a: u8[3]\n  shared b: u32[2]\n  a[0] = 1u8\n  b[0] = 1\n  barrier\n"
      "  y[0] = b[local_id.x]\n}\n",
      "program p()\nbuffer y: u32[] write\n"
      "region elastic grid(64, 12, 4) workgroup(4, 3, 2) { y[0] = global_id.x }\n",
  };
  static const struct {
    int text;
    device_room room;
    const char *says; // NULL: it fits
  } cases[] = {
      {0, {{4, 3, 2}, 24, 0, 1}, NULL},
      {0, {{3, 3, 2}, 24, 0, 1}, "4 x 3 x 2, the device takes 3 x 3 x 2 and 24 in all"},
      {0, {{4, 2, 2}, 24, 0, 1}, "takes 4 x 2 x 2"},
      {0, {{4, 3, 1}, 24, 0, 1}, "takes 4 x 3 x 1"},
      {0, {{4, 3, 2}, 23, 0, 1}, "and 23 in all"},
      {1, {{2, 1, 1}, 2, 11, 1}, NULL},
      {1, {{2, 1, 1}, 2, 10, 1}, "needs 11 bytes of shared memory, the device has 10"},
      {1, {{2, 1, 1}, 2, 16, 8}, NULL},
      {1, {{2, 1, 1}, 2, 15, 8}, "needs 16 bytes of shared memory, the device has 15"},
      {2, {{1, 1, 1}, 1, 0, 1}, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vyre_program *p = parse(texts[cases[i].text]);
    vyre_error error = {0};
    vyre_status status = fit_check(p, &cases[i].room, &error);
    assert_int_equal(status, cases[i].says ? VYRE_ERROR_UNSUPPORTED : VYRE_OK);
    if (cases[i].says && !strstr(error.message, cases[i].says))
      fail_msg("%zu: %s", i, error.message);
    vyre_program_release(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_runner_at_rest_is_taken_again_by_its_way),
      cmocka_unit_test(what_could_not_be_built_is_built_when_it_is_asked_for_again),
      cmocka_unit_test(only_the_last_one_frees_the_state),
      cmocka_unit_test(what_a_device_may_still_use_is_not_freed),
      cmocka_unit_test(code_polls_where_a_dispatch_may_be_ended_and_could_be_long),
      cmocka_unit_test(programs_fit_up_to_the_last_invocation_and_byte),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
