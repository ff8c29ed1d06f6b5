// SPDX-License-Identifier: MIT
//
// The pool does every item once whatever the number of threads, from several callers at once; the
// watchdog raises flags in time and leaves disarmed ones alone.
#include "base/clock.h"
#include "base/pool.h"
#include "base/watchdog.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 1000 };

typedef struct tally {
  atomic_int done[ITEMS];
  atomic_int calls;
  uint64_t stop_at; // item at which the work ends early
} tally;

static bool count_items(void *context, uint64_t first, uint64_t end) {
  tally *t = context;
  atomic_fetch_add(&t->calls, 1);
  for (uint64_t i = first; i < end; i++) {
    if (i == t->stop_at) return false;
    atomic_fetch_add(&t->done[i], 1);
  }
  return true;
}

static void run_and_check(uint32_t threads, uint64_t count, uint64_t batch) {
  tally t = {.stop_at = UINT64_MAX};
  assert_true(pool_run(threads, count, batch, count_items, &t));
  for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(t.done[i], i < count);
}

static void every_item_runs_once(void **state) {
  (void)state;
  static const uint32_t threads[] = {1, 2, 7, 64, 1000};
  static const uint64_t counts[] = {0, 1, 2, 63, ITEMS}, batches[] = {0, 1, 3, 5000};
  for (size_t a = 0; a < 5; a++)
    for (size_t b = 0; b < 5; b++)
      for (size_t c = 0; c < 4; c++) run_and_check(threads[a], counts[b], batches[c]);
}

static void a_single_item_runs_in_place(void **state) {
  (void)state;
  tally t = {.stop_at = UINT64_MAX};
  assert_true(pool_run(64, 5, 5, count_items, &t));
  assert_int_equal(t.calls, 1);
}

// Nobody gets on before both are there: one of them is a worker.
static bool meet(void *context, uint64_t first, uint64_t end) {
  atomic_int *here = context;
  (void)first, (void)end;
  atomic_fetch_add(here, 1);
  while (atomic_load(here) < 2) sched_yield();
  return true;
}

static void help_is_noted(void **state) {
  (void)state;
  atomic_int here = 0;
  uint64_t before = clock_thread_use().helps;
  assert_true(pool_run(2, 2, 1, meet, &here));
  assert_int_equal(clock_thread_use().helps, before + 1);
  run_and_check(1, ITEMS, 1);
  assert_int_equal(clock_thread_use().helps, before + 1); // alone
}

static void work_can_end_early(void **state) {
  (void)state;
  tally t = {.stop_at = 10};
  assert_false(pool_run(2, ITEMS, 1, count_items, &t));
  assert_int_equal(t.done[10], 0);
  assert_int_equal(t.done[ITEMS - 1], 0);
}

static void *run_many(void *argument) {
  (void)argument;
  for (int i = 0; i < 200; i++) {
    tally t = {.stop_at = UINT64_MAX};
    if (!pool_run(3, 100, 1, count_items, &t)) return (void *)1;
    for (int k = 0; k < 100; k++)
      if (atomic_load(&t.done[k]) != 1) return (void *)1;
  }
  return NULL;
}

static void several_callers_share_the_pool(void **state) {
  (void)state;
  pthread_t callers[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&callers[i], NULL, run_many, NULL), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(callers[i], &failed);
    assert_null(failed);
  }
}

static void scratch_is_kept_and_grows(void **state) {
  (void)state;
  char *small = pool_scratch(100);
  assert_non_null(small);
  assert_int_equal((uintptr_t)small % 64, 0);
  assert_ptr_equal(pool_scratch(50), small);
  char *large = pool_scratch(1 << 20);
  assert_non_null(large);
  memset(large, 1, 1 << 20);
  assert_null(pool_scratch(SIZE_MAX));
  assert_ptr_equal(pool_scratch(1 << 20), large);
}

static void watchdog_raises_the_flag(void **state) {
  (void)state;
  volatile uint32_t due = 0, later = 0;
  watch a, b;
  uint64_t start = clock_now_ns();
  assert_true(watchdog_arm(&a, start + 3600000000000u, &later));
  assert_true(watchdog_arm(&b, start + 5000000, &due));
  while (!__atomic_load_n(&due, __ATOMIC_RELAXED) && clock_now_ns() < start + 10000000000u) {
  }
  watchdog_disarm(&a);
  watchdog_disarm(&b);
  watchdog_disarm(&b); // a second time changes nothing
  assert_int_equal(due, 1);
  assert_int_equal(later, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_item_runs_once),
      cmocka_unit_test(a_single_item_runs_in_place),
      cmocka_unit_test(work_can_end_early),
      cmocka_unit_test(several_callers_share_the_pool),
      cmocka_unit_test(scratch_is_kept_and_grows),
      cmocka_unit_test(watchdog_raises_the_flag),
      cmocka_unit_test(help_is_noted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
