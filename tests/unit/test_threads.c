// SPDX-License-Identifier: MIT
//
// One thread or all: a made-up machine says how long a dispatch takes alone and with all threads,
// and disturbs some of them; what is chosen in the end must be what is faster.
#include "backend/cpu/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ALL = 2, INVOCATIONS = 1 << 16 };

typedef struct machine {
  uint64_t alone_ns, together_ns;
  uint64_t woken_ns;                        // with threads that sleep; 0: they never do
  uint32_t pauses_at;                       // dispatches from here on come after a pause
  uint32_t disturbed_from, disturbed_until; // dispatches that take `factor` times as long
  uint32_t disturbs;                        // with that many threads only; 0: any
  uint64_t factor;
} machine;

// Runs `count` dispatches and says how many of the last `last` had all threads.
static uint32_t run(threads_state *s, threads_cost *c, const machine *m, uint32_t count,
                    uint32_t last) {
  uint32_t together = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool is_awake = !m->woken_ns || i < m->pauses_at;
    uint32_t threads = threads_choose(s, c, ALL, INVOCATIONS, is_awake);
    assert_true(threads == 1 || threads == ALL);
    uint64_t ns = threads == 1 ? m->alone_ns : is_awake ? m->together_ns : m->woken_ns;
    bool is_disturbed = i >= m->disturbed_from && i < m->disturbed_until;
    if (is_disturbed && (!m->disturbs || m->disturbs == threads)) ns *= m->factor;
    threads_learn(c, ns, threads, INVOCATIONS, is_awake);
    if (i >= count - last) together += threads == ALL;
  }
  return together;
}

static uint32_t run_new(const machine *m, uint32_t count, uint32_t last) {
  threads_state s = {0};
  return run(&s, &s.costs[0], m, count, last);
}

static void short_work_is_done_alone(void **state) {
  (void)state;
  assert_int_equal(run_new(&(machine){.alone_ns = 3000, .together_ns = 2000}, 1000, 900), 0);
}

// From what a thread that is awake can take over, it is measured; all threads have to be clearly
// faster, because they take other CPUs' time.
static void rather_short_work_is_measured(void **state) {
  (void)state;
  machine m = {0};
  for (m.alone_ns = 6000; m.alone_ns < 60000; m.alone_ns += 1000) {
    m.together_ns = m.alone_ns * 2 / 3;
    assert_in_range(run_new(&m, 4096, 2560), 2560 - 22, 2560 - 10);
    m.together_ns = m.alone_ns * 3 / 2;
    assert_in_range(run_new(&m, 4096, 2560), 10, 22);
  }
  m = (machine){.alone_ns = 20000, .together_ns = 19500};
  assert_in_range(run_new(&m, 4096, 2560), 10, 22);
}

// No length of work has a choice that hangs on which side of a border a measurement falls: one that
// is a third faster is taken, though times scatter from a tenth below to 15 % above.
static void scattered_times_find_the_faster_one(void **state) {
  (void)state;
  for (uint64_t alone = 7000; alone < 200000; alone = alone * 21 / 20) {
    threads_state s = {0};
    uint32_t seed = (uint32_t)alone, together = 0;
    for (uint32_t i = 0; i < 6000; i++) {
      uint32_t threads = threads_choose(&s, &s.costs[0], ALL, INVOCATIONS, true);
      uint64_t usual = threads == 1 ? alone : alone * 2 / 3;
      seed = seed * 1664525u + 1013904223u;
      uint64_t ns = usual - usual / 10 + (seed >> 16) * UINT64_C(977) % (usual / 4);
      threads_learn(&s.costs[0], ns, threads, INVOCATIONS, true);
      if (i >= 2000) together += threads == ALL;
    }
    assert_in_range(together, 3700, 4000);
  }
}

// Looking again at the one that lost takes about one part in a hundred of the time, whatever it is.
static void looking_again_is_cheap(void **state) {
  (void)state;
  for (uint64_t alone = 6000; alone < 50000; alone *= 2)
    for (uint64_t tenths = 10; tenths < 200; tenths = tenths * 5 / 4) {
      machine m = {.alone_ns = alone, .together_ns = alone * tenths / 10};
      threads_state s = {0};
      (void)run(&s, &s.costs[0], &m, 1024, 0);
      double looks = run(&s, &s.costs[0], &m, 8192, 8192);
      assert_true(looks > 0);
      assert_true(looks * ((double)tenths / 10 - 1) / 8192 < 0.013);
    }
}

static void long_work_has_all_threads(void **state) {
  (void)state;
  assert_int_equal(run_new(&(machine){.alone_ns = 4000000, .together_ns = 2000000}, 500, 400), 400);
  assert_int_equal(run_new(&(machine){.alone_ns = 2e9, .together_ns = 1e9}, 50, 50), 50);
}

// Who is faster has nearly all runs, and who lost is still looked at: two in 256.
static void the_faster_one_wins(void **state) {
  (void)state;
  uint32_t won = run_new(&(machine){.alone_ns = 200000, .together_ns = 110000}, 4096, 2560);
  assert_in_range(won, 2560 - 22, 2560 - 10);
  uint32_t lost = run_new(&(machine){.alone_ns = 200000, .together_ns = 240000}, 4096, 2560);
  assert_in_range(lost, 10, 22);
}

// Threads that fight for one element are far slower than one, and looking again has to be cheap.
static void a_far_slower_one_is_tried_rarely(void **state) {
  (void)state;
  threads_state s = {.has_atomics = true};
  machine m = {.alone_ns = 500000, .together_ns = 6000000};
  assert_in_range(run(&s, &s.costs[0], &m, 20000, 16384), 4, 10);
}

// Whoever times its first runs, by their median, sees what it will take.
static void a_far_slower_one_is_not_what_is_timed_at_first(void **state) {
  (void)state;
  machine m = {.alone_ns = 500000, .together_ns = 6000000};
  for (uint32_t runs = 6; runs < 16; runs++) {
    threads_state s = {.has_atomics = true};
    assert_in_range(run(&s, &s.costs[0], &m, runs, runs), 1, 2);
  }
}

static void a_first_run_that_was_disturbed_is_forgotten(void **state) {
  (void)state;
  machine m = {.alone_ns = 200000, .together_ns = 100000, .disturbed_until = 4, .factor = 100};
  for (m.disturbs = 0; m.disturbs <= ALL; m.disturbs++)
    assert_in_range(run_new(&m, 2000, 512), 505, 512);
  m.together_ns = 300000;
  for (m.disturbs = 0; m.disturbs <= ALL; m.disturbs++)
    assert_in_range(run_new(&m, 2000, 512), 0, 7);
}

// What was faster, and then slow for a while, is found again soon after.
static void a_disturbance_ends(void **state) {
  (void)state;
  machine m = {.alone_ns = 200000,
               .together_ns = 100000,
               .disturbed_from = 500,
               .disturbed_until = 900,
               .disturbs = ALL,
               .factor = 3};
  threads_state s = {0};
  assert_in_range(run(&s, &s.costs[0], &m, 900, 100), 0, 10);
  m.disturbed_until = 0;
  (void)run(&s, &s.costs[0], &m, 200, 0);
  assert_in_range(run(&s, &s.costs[0], &m, 256, 256), 250, 256);
}

// An earlier process knows how long it takes: the first run has as many threads as pay then.
static void what_is_expected_decides_the_first_run(void **state) {
  (void)state;
  threads_state s = {.expected_ns = 600000};
  assert_int_equal(threads_choose(&s, &s.costs[0], ALL, 64, true), ALL);
  threads_learn(&s.costs[0], 600000, ALL, 64, true);
  (void)run(&s, &s.costs[0], &(machine){.alone_ns = 1200000, .together_ns = 600000}, 100, 0);
  assert_int_equal(threads_choose(&s, &s.costs[1], 1, 64, true), 1);
  s.expected_ns = 10000;
  assert_int_equal(threads_choose(&s, &s.costs[1], ALL, 1 << 20, true), 1);
  s = (threads_state){.expected_ns = 600000, .has_atomics = true};
  assert_int_equal(threads_choose(&s, &s.costs[0], ALL, 1 << 20, true), 1);
  s = (threads_state){0};
  assert_int_equal(threads_choose(&s, &s.costs[0], ALL, 4096, true), 1);
  assert_int_equal(threads_choose(&s, &s.costs[0], ALL, 4097, true), ALL);
}

// A burst, where threads win, and then calls with pauses, where waking them takes too long: each
// gets its own within a few calls, and the other way round.
static void bursts_and_pauses_are_judged_apart(void **state) {
  (void)state;
  machine m = {.alone_ns = 100000, .together_ns = 55000, .woken_ns = 120000, .pauses_at = 1000};
  threads_state s = {0};
  assert_in_range(run(&s, &s.costs[0], &m, 1000, 200), 196, 200);
  m.pauses_at = 0;
  assert_in_range(run(&s, &s.costs[0], &m, 40, 30), 0, 2);
  m.pauses_at = 40;
  assert_in_range(run(&s, &s.costs[0], &m, 40, 40), 38, 40);
  machine slow = {.alone_ns = 200000, .together_ns = 110000, .woken_ns = 150000};
  threads_state other = {0};
  assert_in_range(run(&other, &other.costs[0], &slow, 60, 40), 38, 40);
}

static void one_core_is_one_thread(void **state) {
  (void)state;
  threads_state s = {0};
  for (int i = 0; i < 20; i++) {
    assert_int_equal(threads_choose(&s, &s.costs[0], 1, INVOCATIONS, true), 1);
    threads_learn(&s.costs[0], 5000000, 1, INVOCATIONS, true);
  }
}

// ---- buckets ------------------------------------------------------------------------------------

static void work_of_another_order_is_another_bucket(void **state) {
  (void)state;
  threads_state s = {0};
  param params[2] = {{.type = VYRE_U32}, {.type = VYRE_F32}};
  vyre_program p = {.params = params, .param_count = 2};
  uint64_t values[2] = {100, 1};
  launch l = {.program = &p, .params = values};
  threads_cost *c = threads_find(&s, &l, 1000);
  assert_ptr_equal(threads_find(&s, &l, 1023), c); // of the same order
  values[0] = 127, values[1] = 1 << 20;            // the same; no loop depends on a float
  assert_ptr_equal(threads_find(&s, &l, 1000), c);
  assert_ptr_not_equal(threads_find(&s, &l, 1024), c);
  values[0] = 128;
  assert_ptr_not_equal(threads_find(&s, &l, 1000), c);
  values[0] = 0;
  assert_ptr_not_equal(threads_find(&s, &l, 1000), c);
}

static void a_bucket_that_is_taken_over_knows_nothing(void **state) {
  (void)state;
  threads_state s = {0};
  vyre_program p = {0};
  launch l = {.program = &p};
  for (uint64_t size = 1; size < (uint64_t)1 << 40; size *= 2) {
    threads_cost *c = threads_find(&s, &l, size);
    assert_true(c >= s.costs && c < s.costs + THREADS_BUCKETS);
    assert_true(!c->alone && !c->best_alone && !c->alone_runs);
    for (int i = 0; i < 2; i++) assert_true(!c->together[i] && !c->best_together[i] && !c->runs[i]);
    assert_ptr_equal(threads_find(&s, &l, size), c);
    (void)run(&s, c, &(machine){.alone_ns = 200000, .together_ns = 100000}, 20, 0);
    assert_true(c->alone && c->together[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_work_is_done_alone),
      cmocka_unit_test(rather_short_work_is_measured),
      cmocka_unit_test(scattered_times_find_the_faster_one),
      cmocka_unit_test(looking_again_is_cheap),
      cmocka_unit_test(long_work_has_all_threads),
      cmocka_unit_test(the_faster_one_wins),
      cmocka_unit_test(a_far_slower_one_is_tried_rarely),
      cmocka_unit_test(a_far_slower_one_is_not_what_is_timed_at_first),
      cmocka_unit_test(a_first_run_that_was_disturbed_is_forgotten),
      cmocka_unit_test(a_disturbance_ends),
      cmocka_unit_test(what_is_expected_decides_the_first_run),
      cmocka_unit_test(bursts_and_pauses_are_judged_apart),
      cmocka_unit_test(one_core_is_one_thread),
      cmocka_unit_test(work_of_another_order_is_another_bucket),
      cmocka_unit_test(a_bucket_that_is_taken_over_knows_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
