// SPDX-License-Identifier: MIT
//
// Hot-path hints: the behaviour of the original, by the names of its tests, then what is promised
// beyond it: exact recency, sums that do not spoil the mean, and threads.
#include "profile/hints.h"

#include <pthread.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static hints *with_capacity(size_t capacity) {
  hints_options options = HINTS_PLAIN;
  options.capacity = capacity;
  hints *h = hints_new(&options);
  assert_non_null(h);
  return h;
}

static bool has(const hints *h, const char *region) {
  region_record record;
  return hints_record_for(h, region, &record);
}

static void empty_hints_returns_defaults(void **state) {
  (void)state;
  hints *h = hints_new(NULL);
  region_record record;
  assert_true(hints_is_empty(h));
  assert_false(hints_is_hot(h, "any-region"));
  assert_int_equal(hints_dispatch_count(h, "any-region"), 0);
  assert_int_equal(hints_mean_kernel_ns(h, "any-region"), 0);
  assert_false(hints_record_for(h, "any-region", &record));
  assert_int_equal(record.dispatch_count, 0);
  hints_free(h);
}

static void record_accumulates_into_running_mean_and_max(void **state) {
  (void)state;
  hints *h = hints_new(NULL);
  hints_record(h, "matmul", 1000, 100);
  hints_record(h, "matmul", 3000, 300);
  hints_record(h, "matmul", 2000, 200);
  region_record record;
  assert_true(hints_record_for(h, "matmul", &record));
  assert_int_equal(record.dispatch_count, 3);
  assert_int_equal(record.kernel_ns_total, 6000);
  assert_int_equal(record.kernel_ns_max, 3000);
  assert_int_equal(record.bytes_total, 600);
  assert_int_equal(record.mean_kernel_ns, 2000);
  assert_int_equal(record.mean_bytes, 200);
  hints_free(h);
}

static void is_hot_uses_recorded_mean(void **state) {
  (void)state;
  hints *h = hints_new(NULL);
  hints_set_hot_mean_ns(h, 1000);
  hints_record(h, "region", 500, 0);
  assert_false(hints_is_hot(h, "region"));
  hints_record(h, "region", 2000, 0);
  assert_true(hints_is_hot(h, "region"));
  hints_free(h);
}

static void lru_evicts_oldest_when_capacity_reached(void **state) {
  (void)state;
  hints *h = with_capacity(2);
  hints_record(h, "a", 100, 10);
  hints_record(h, "b", 200, 20);
  hints_record(h, "c", 300, 30);
  assert_int_equal(hints_len(h), 2);
  assert_false(has(h, "a"));
  assert_true(has(h, "b"));
  assert_true(has(h, "c"));
  hints_free(h);
}

static void lru_recency_promotes_on_repeat_record(void **state) {
  (void)state;
  hints *h = with_capacity(2);
  hints_record(h, "a", 100, 10);
  hints_record(h, "b", 200, 20);
  hints_record(h, "a", 100, 10);
  hints_record(h, "c", 300, 30);
  assert_true(has(h, "a"));
  assert_false(has(h, "b"));
  assert_true(has(h, "c"));
  hints_free(h);
}

static void capacity_zero_disables_recording(void **state) {
  (void)state;
  hints *h = with_capacity(0);
  hints_record(h, "a", 100, 10);
  assert_true(hints_is_empty(h));
  assert_false(hints_is_hot(h, "a"));
  hints *clone = hints_clone(h);
  size_t count = 1;
  hints_entry *entries = hints_snapshot(clone, &count);
  assert_non_null(entries);
  assert_int_equal(count, 0);
  free(entries);
  hints_free(clone);
  hints_free(h);
}

static void *record_from_thread(void *h) {
  hints_record(h, "from-a-thread", 200000, 1);
  return NULL;
}

static void hints_are_send_sync(void **state) {
  (void)state;
  hints *h = hints_new(NULL);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, record_from_thread, h), 0);
  while (!hints_is_hot(h, "from-a-thread")) sched_yield();
  pthread_join(thread, NULL);
  assert_int_equal(hints_dispatch_count(h, "from-a-thread"), 1);
  hints_free(h);
}

static void defaults_are_pinned(void **state) {
  (void)state;
  assert_int_equal(HINTS_PLAIN.capacity, 256);
  assert_int_equal(HINTS_PLAIN.hot_mean_ns, 100000);
  assert_int_equal(HINTS_PLAIN.hot_total_ns, 0);
  hints *h = hints_new(NULL);
  hints_record(h, "at", 100000, 0);
  hints_record(h, "below", 99999, 0);
  assert_true(hints_is_hot(h, "at"));
  assert_false(hints_is_hot(h, "below"));
  char name[16];
  for (int i = 0; i < 300; i++) {
    snprintf(name, sizeof name, "r%d", i);
    hints_record(h, name, 1, 1);
  }
  assert_int_equal(hints_len(h), 256);
  hints_free(h);
}

static void total_time_makes_hot_when_asked_for(void **state) {
  (void)state;
  hints *plain = hints_new(NULL), *runtime = hints_new(&HINTS_RUNTIME);
  region_record million = {
      .dispatch_count = 1000000, .kernel_ns_total = UINT64_C(90000000000), .kernel_ns_max = 90000};
  hints_merge(plain, "often", &million);
  hints_merge(runtime, "often", &million);
  assert_int_equal(hints_mean_kernel_ns(plain, "often"), 90000);
  assert_false(hints_is_hot(plain, "often"));
  assert_true(hints_is_hot(runtime, "often"));
  hints_record(runtime, "seldom", 90000, 0);
  assert_false(hints_is_hot(runtime, "seldom"));
  hints_set_hot_total_ns(runtime, 0);
  assert_false(hints_is_hot(runtime, "often"));
  hints_free(plain);
  hints_free(runtime);
}

static void sums_saturate_and_means_stay_right(void **state) {
  (void)state;
  hints *h = hints_new(NULL);
  for (int i = 0; i < 5; i++) hints_record(h, "long", UINT64_MAX, UINT64_MAX - 1);
  hints_record(h, "long", UINT64_MAX - 6, UINT64_MAX - 1);
  region_record record;
  assert_true(hints_record_for(h, "long", &record));
  assert_int_equal(record.dispatch_count, 6);
  assert_true(record.kernel_ns_total == UINT64_MAX);
  assert_true(record.kernel_ns_max == UINT64_MAX);
  assert_true(record.bytes_total == UINT64_MAX);
  assert_true(record.mean_kernel_ns == UINT64_MAX - 1);
  assert_true(record.mean_bytes == UINT64_MAX - 1);
  assert_true(hints_is_hot(h, "long"));
  // Counts and sums that no longer fit are halved together.
  region_record huge = {.dispatch_count = UINT64_MAX,
                        .kernel_ns_total = UINT64_MAX,
                        .kernel_ns_max = 9000,
                        .bytes_total = UINT64_MAX,
                        .mean_kernel_ns = 5000,
                        .mean_bytes = UINT64_MAX};
  for (int i = 0; i < 40; i++) hints_merge(h, "huge", &huge);
  assert_true(hints_record_for(h, "huge", &record));
  assert_int_equal(record.mean_kernel_ns, 5000);
  assert_true(record.mean_bytes >= UINT64_MAX - (UINT64_MAX >> 20));
  assert_int_equal(record.kernel_ns_max, 9000);
  hints_free(h);
}

static void long_names_are_kept_apart(void **state) {
  (void)state;
  hints *h = with_capacity(3);
  char name[1000];
  for (int round = 0; round < 3; round++) {
    for (size_t size = 1; size < sizeof name; size++) {
      memset(name, 'x', size);
      name[size] = 0;
      hints_record(h, name, size, 0);
      assert_int_equal(hints_mean_kernel_ns(h, name), size);
      name[size - 1] = 'y';
      assert_int_equal(hints_dispatch_count(h, name), 0);
    }
  }
  assert_int_equal(hints_len(h), 3);
  hints_record(h, "", 5, 0);
  assert_int_equal(hints_dispatch_count(h, ""), 1);
  hints_free(h);
}

// A model that is obviously right: an array of names by age.
static void recency_is_exactly_that_of_a_model(void **state) {
  (void)state;
  enum { CAPACITY = 13, NAMES = 20, STEPS = 100000 };
  hints *h = with_capacity(CAPACITY);
  int by_age[NAMES], count = 0;
  uint64_t counts[NAMES] = {0}, random = 1, evicted = 0, evicted_samples = 0;
  char name[16];
  for (int step = 0; step < STEPS; step++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    int pick = (int)((random >> 33) % NAMES), at = 0;
    snprintf(name, sizeof name, "region-%d", pick);
    hints_record(h, name, 10, 1);
    while (at < count && by_age[at] != pick) at++;
    if (at == count && count == CAPACITY) {
      evicted++;
      evicted_samples += counts[by_age[0]];
      counts[by_age[0]] = 0;
      at = 0;
      count--;
    } else if (at == count) {
      count++;
      at = count - 1;
      by_age[at] = pick;
      counts[pick]++;
      continue;
    } else {
      count--;
    }
    memmove(by_age + at, by_age + at + 1, sizeof *by_age * (size_t)(count - at));
    by_age[count++] = pick;
    counts[pick]++;
    if (step % 64) continue;
    for (int i = 0; i < NAMES; i++) {
      snprintf(name, sizeof name, "region-%d", i);
      assert_int_equal(hints_dispatch_count(h, name), counts[i]);
    }
    size_t listed;
    hints_entry *entries = hints_snapshot(h, &listed);
    assert_int_equal(listed, count);
    for (int i = 0; i < count; i++) assert_int_equal(atoi(entries[i].region + 7), by_age[i]);
    free(entries);
  }
  assert_int_equal(hints_lost(h).evicted_regions, evicted);
  assert_int_equal(hints_lost(h).evicted_samples, evicted_samples);
  hints_free(h);
}

static void clone_is_independent_and_keeps_recency(void **state) {
  (void)state;
  hints *h = with_capacity(3);
  hints_set_hot_mean_ns(h, 150);
  hints_record(h, "a", 100, 1);
  hints_record(h, "b", 200, 2);
  hints_record(h, "a-name-that-is-longer-than-the-forty-bytes-of-a-slot", 300, 3);
  hints_record(h, "a", 100, 1);
  hints *clone = hints_clone(h);
  assert_non_null(clone);
  hints_record(h, "a", 100, 1);
  assert_int_equal(hints_dispatch_count(h, "a"), 3);
  assert_int_equal(hints_dispatch_count(clone, "a"), 2);
  assert_true(hints_is_hot(clone, "b"));
  assert_false(hints_is_hot(clone, "a"));
  hints_record(clone, "d", 1, 1);
  assert_false(has(clone, "b"));
  assert_true(has(clone, "a"));
  assert_true(has(h, "b"));
  hints_free(h);
  hints_free(clone);
}

// ---- threads -----------------------------------------------------------------------------------

enum { THREADS = 6, ROUNDS = 20000 };

typedef struct shared {
  hints *h;
  unsigned names;
  atomic_bool stop;
  atomic_uint failures;
} shared;

typedef struct worker {
  pthread_t thread;
  shared *with;
  unsigned number;
  uint64_t *counts; // by name, when wanted
} worker;

static void name_of(unsigned i, char out[64]) {
  // Every fifth name is a long one.
  snprintf(out, 64, "%s-%u", i % 5 ? "region" : "a-region-with-a-name-of-more-than-forty-bytes", i);
}

static void *recorder(void *argument) {
  worker *w = argument;
  uint64_t random = w->number + 1;
  char name[64];
  for (int i = 0; i < ROUNDS; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    unsigned pick = (unsigned)(random >> 40) % w->with->names;
    name_of(pick, name);
    hints_record(w->with->h, name, 7, 3);
    if (w->counts) w->counts[pick]++;
  }
  return NULL;
}

// A reader never sees half a sample, nor a record under another's name.
static void *reader(void *argument) {
  worker *w = argument;
  uint64_t seen[64] = {0};
  char name[64];
  for (unsigned i = 0; !atomic_load(&w->with->stop); i++) {
    region_record record;
    unsigned pick = i % w->with->names;
    name_of(pick, name);
    hints_record_for(w->with->h, name, &record);
    bool ok = record.kernel_ns_total == 7 * record.dispatch_count &&
              record.bytes_total == 3 * record.dispatch_count;
    if (w->counts && record.dispatch_count < seen[pick]) ok = false;
    seen[pick] = record.dispatch_count;
    if (i % 1000 == 0) {
      size_t count;
      hints_entry *entries = hints_snapshot(w->with->h, &count);
      for (size_t k = 0; k < count; k++)
        if (entries[k].record.kernel_ns_total != 7 * entries[k].record.dispatch_count) ok = false;
      free(entries);
    }
    if (!ok) atomic_fetch_add(&w->with->failures, 1);
  }
  return NULL;
}

static void run_threads(shared *with, uint64_t *counts) {
  worker workers[THREADS], watcher = {.with = with, .counts = counts};
  for (unsigned i = 0; i < THREADS; i++) {
    workers[i] = (worker){.with = with, .number = i};
    if (counts) workers[i].counts = counts + (size_t)i * with->names;
    assert_int_equal(pthread_create(&workers[i].thread, NULL, recorder, &workers[i]), 0);
  }
  assert_int_equal(pthread_create(&watcher.thread, NULL, reader, &watcher), 0);
  for (unsigned i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
  atomic_store(&with->stop, true);
  pthread_join(watcher.thread, NULL);
  assert_int_equal(atomic_load(&with->failures), 0);
}

static void threads_lose_no_sample(void **state) {
  (void)state;
  enum { NAMES = 40 };
  shared with = {.h = with_capacity(NAMES), .names = NAMES};
  uint64_t counts[THREADS][NAMES] = {{0}};
  run_threads(&with, &counts[0][0]);
  char name[64];
  for (unsigned i = 0; i < NAMES; i++) {
    uint64_t expected = 0;
    for (int t = 0; t < THREADS; t++) expected += counts[t][i];
    region_record record;
    name_of(i, name);
    assert_true(hints_record_for(with.h, name, &record));
    assert_int_equal(record.dispatch_count, expected);
    assert_int_equal(record.kernel_ns_total, 7 * expected);
    assert_int_equal(record.bytes_total, 3 * expected);
  }
  hints_free(with.h);
}

static void threads_account_for_evicted_samples(void **state) {
  (void)state;
  shared with = {.h = with_capacity(16), .names = 48};
  run_threads(&with, NULL);
  assert_int_equal(hints_len(with.h), 16);
  size_t count;
  hints_entry *entries = hints_snapshot(with.h, &count);
  assert_int_equal(count, 16);
  hints_losses lost = hints_lost(with.h);
  uint64_t total = lost.evicted_samples + lost.dropped_samples;
  for (size_t i = 0; i < count; i++) total += entries[i].record.dispatch_count;
  assert_int_equal(total, (uint64_t)THREADS * ROUNDS);
  assert_true(lost.evicted_regions > 0);
  free(entries);
  hints_free(with.h);
}

// In each round every thread uses its own region, then all of them together add fewer new regions
// than the table has room for: what was just used must still be there.
typedef struct pinning {
  hints *h;
  pthread_barrier_t barrier;
  atomic_uint evicted;
} pinning;

typedef struct pinner {
  pthread_t thread;
  pinning *with;
  unsigned number;
} pinner;

enum { PINNERS = 4, PIN_ROUNDS = 500, FRESH = 7, PIN_CAPACITY = PINNERS * (FRESH + 1) };

static void *pin(void *argument) {
  pinner *p = argument;
  char mine[32], fresh[64];
  snprintf(mine, sizeof mine, "pinned-%u", p->number);
  for (int round = 0; round < PIN_ROUNDS; round++) {
    hints_record(p->with->h, mine, 1, 1);
    pthread_barrier_wait(&p->with->barrier);
    for (int i = 0; i < FRESH; i++) {
      snprintf(fresh, sizeof fresh, "fresh-%u-%d-%d", p->number, round, i);
      hints_record(p->with->h, fresh, 1, 1);
      if (hints_len(p->with->h) > PIN_CAPACITY) atomic_fetch_add(&p->with->evicted, 1);
    }
    if (hints_dispatch_count(p->with->h, mine) != (uint64_t)round + 1)
      atomic_fetch_add(&p->with->evicted, 1);
    pthread_barrier_wait(&p->with->barrier);
  }
  return NULL;
}

static void threads_never_evict_what_was_just_used(void **state) {
  (void)state;
  pinning with = {.h = with_capacity(PIN_CAPACITY)};
  pthread_barrier_init(&with.barrier, NULL, PINNERS);
  pinner pinners[PINNERS];
  for (unsigned i = 0; i < PINNERS; i++) {
    pinners[i] = (pinner){.with = &with, .number = i};
    assert_int_equal(pthread_create(&pinners[i].thread, NULL, pin, &pinners[i]), 0);
  }
  for (int i = 0; i < PINNERS; i++) pthread_join(pinners[i].thread, NULL);
  assert_int_equal(atomic_load(&with.evicted), 0);
  assert_int_equal(hints_len(with.h), PIN_CAPACITY);
  pthread_barrier_destroy(&with.barrier);
  hints_free(with.h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(empty_hints_returns_defaults),
      cmocka_unit_test(record_accumulates_into_running_mean_and_max),
      cmocka_unit_test(is_hot_uses_recorded_mean),
      cmocka_unit_test(lru_evicts_oldest_when_capacity_reached),
      cmocka_unit_test(lru_recency_promotes_on_repeat_record),
      cmocka_unit_test(capacity_zero_disables_recording),
      cmocka_unit_test(hints_are_send_sync),
      cmocka_unit_test(defaults_are_pinned),
      cmocka_unit_test(total_time_makes_hot_when_asked_for),
      cmocka_unit_test(sums_saturate_and_means_stay_right),
      cmocka_unit_test(long_names_are_kept_apart),
      cmocka_unit_test(recency_is_exactly_that_of_a_model),
      cmocka_unit_test(clone_is_independent_and_keeps_recency),
      cmocka_unit_test(threads_lose_no_sample),
      cmocka_unit_test(threads_account_for_evicted_samples),
      cmocka_unit_test(threads_never_evict_what_was_just_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
