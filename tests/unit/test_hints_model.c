// SPDX-License-Identifier: MIT
//
// The table of hints beside a plain model of it: after every step of a long random history both
// have the same regions in the same order with the same sums, and have lost the same.
#include "base/random.h"
#include "profile/hints.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NAMES = 24, STEPS = 1500 };

typedef struct model { // least recently recorded first
  size_t capacity, count;
  int names[NAMES];
  region_record records[NAMES];
  uint64_t evicted_regions, evicted_samples;
} model;

static void name_of(int number, char out[160]) {
  // Some fit into a slot, some do not.
  snprintf(out, 160,
           number % 3 ? "region%d"
                      : "region%d with a name that is much longer than "
                        "what is kept beside the sums, to the very end",
           number);
}

static void model_add(model *m, int name, const region_record *r) {
  region_record sum = *r;
  size_t at = 0;
  while (at < m->count && m->names[at] != name) at++;
  if (at < m->count) {
    const region_record *old = &m->records[at];
    sum.dispatch_count += old->dispatch_count;
    sum.kernel_ns_total += old->kernel_ns_total;
    sum.bytes_total += old->bytes_total;
    if (old->kernel_ns_max > sum.kernel_ns_max) sum.kernel_ns_max = old->kernel_ns_max;
  } else if (m->count == m->capacity) {
    at = 0;
    m->evicted_regions++;
    m->evicted_samples += m->records[0].dispatch_count;
  } else {
    at = m->count++;
  }
  memmove(&m->names[at], &m->names[at + 1], (m->count - at - 1) * sizeof *m->names);
  memmove(&m->records[at], &m->records[at + 1], (m->count - at - 1) * sizeof *m->records);
  m->names[m->count - 1] = name;
  m->records[m->count - 1] = sum;
}

static void compare_entries(hints *h, const model *m) {
  size_t count;
  char name[160];
  hints_entry *all = hints_snapshot(h, &count);
  assert_non_null(all);
  assert_int_equal(count, m->count);
  assert_int_equal(hints_len(h), m->count);
  assert_int_equal(hints_is_empty(h), m->count == 0);
  for (size_t i = 0; i < count; i++) {
    name_of(m->names[i], name);
    assert_string_equal(all[i].region, name);
    assert_int_equal(all[i].record.dispatch_count, m->records[i].dispatch_count);
    assert_int_equal(all[i].record.kernel_ns_total, m->records[i].kernel_ns_total);
    assert_int_equal(all[i].record.kernel_ns_max, m->records[i].kernel_ns_max);
    assert_int_equal(all[i].record.bytes_total, m->records[i].bytes_total);
  }
  free(all);
}

static void compare(hints *h, const model *m) {
  compare_entries(h, m);
  hints_losses lost = hints_lost(h);
  assert_int_equal(lost.evicted_regions, m->evicted_regions);
  assert_int_equal(lost.evicted_samples, m->evicted_samples);
  assert_int_equal(lost.dropped_samples, 0);
}

static void history(size_t capacity, uint64_t seed) {
  random_state r = {seed};
  hints *h = hints_new(&(hints_options){.capacity = capacity, .hot_mean_ns = 500});
  model m = {.capacity = capacity};
  char name[160];
  for (int step = 0; step < STEPS; step++) {
    int number =
        (int)random_below(&r, random_below(&r, 2) ? NAMES : (uint32_t)capacity + 2) % NAMES;
    name_of(number, name);
    region_record added = {.dispatch_count = 1,
                           .kernel_ns_total = random_below(&r, 1000),
                           .bytes_total = random_below(&r, 1000)};
    added.kernel_ns_max = added.kernel_ns_total;
    if (random_below(&r, 8)) {
      hints_record(h, name, added.kernel_ns_total, added.bytes_total);
    } else {
      added.dispatch_count = 3;
      hints_merge(h, name, &added);
    }
    model_add(&m, number, &added);
    compare(h, &m);
    size_t last = m.count - 1;
    uint64_t mean = m.records[last].kernel_ns_total / m.records[last].dispatch_count;
    assert_int_equal(hints_mean_kernel_ns(h, name), mean);
    assert_int_equal(hints_is_hot(h, name), mean >= 500);
    assert_int_equal(hints_dispatch_count(h, name), m.records[last].dispatch_count);
  }
  hints *copy = hints_clone(h);
  assert_non_null(copy);
  hints_free(h);
  compare_entries(copy, &m);
  hints_free(copy);
}

static void a_long_history_is_as_the_model_has_it(void **state) {
  (void)state;
  static const size_t capacities[] = {1, 2, 3, 7, 8, 16, 23};
  for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) history(capacities[i], i + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_long_history_is_as_the_model_has_it)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
