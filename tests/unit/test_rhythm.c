// SPDX-License-Identifier: MIT
//
// The next event is foreseen where those before came in a rhythm, and only there; the span in which
// it is expected has it, and is short beside the gap.
#include "base/rhythm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MS = 1000000, US = 1000 };

// `count` events `gap` apart from `start` on, each late by 0 to `jitter`; the last one's time.
static uint64_t repeat(rhythm *r, uint64_t start, uint64_t gap, uint64_t jitter, int count) {
  uint64_t at = start;
  for (int i = 0; i < count; i++) {
    at = start + (uint64_t)i * gap + (jitter ? (uint64_t)i * 618 * jitter / 1000 % jitter : 0);
    rhythm_event(r, at);
  }
  return at;
}

static void assert_foreseen(const rhythm *r, uint64_t at, uint64_t gap) {
  rhythm_span next;
  assert_true(rhythm_next(r, &next));
  assert_in_range(at, next.from_ns, next.until_ns);
  assert_true(next.until_ns - next.from_ns <= gap / 8 + 10 * US);
}

static void a_rhythm_is_foreseen(void **state) {
  (void)state;
  rhythm r = {0};
  rhythm_span next;
  uint64_t last = repeat(&r, MS, 3 * MS, 0, 3);
  assert_false(rhythm_next(&r, &next)); // two gaps are none
  last = repeat(&r, last + 3 * MS, 3 * MS, 0, 2);
  assert_foreseen(&r, last + 3 * MS, 3 * MS);
}

static void jitter_widens_the_span(void **state) {
  (void)state;
  rhythm r = {0};
  uint64_t last = repeat(&r, MS, 3 * MS, 30 * US, 100);
  assert_foreseen(&r, last + 3 * MS, 3 * MS);
  assert_foreseen(&r, last + 3 * MS + 30 * US, 3 * MS);
}

static void events_of_one_burst_are_one(void **state) {
  (void)state;
  rhythm r = {0};
  uint64_t at = MS;
  for (int i = 0; i < 10; i++, at += 5 * MS) repeat(&r, at, 40 * US, 0, 4);
  assert_foreseen(&r, at, 5 * MS);
}

static void nothing_else_is_foreseen(void **state) {
  (void)state;
  rhythm r = {0}, far = {0}, wide = {0};
  rhythm_span next;
  assert_false(rhythm_next(&r, &next));
  for (uint64_t i = 1, at = MS; i < 100; i++, at += i * 7919 % 97 * 100 * US) rhythm_event(&r, at);
  assert_false(rhythm_next(&r, &next)); // by chance
  repeat(&far, MS, 200 * US, 0, 100);
  assert_false(rhythm_next(&far, &next)); // the span would be most of the gap
  repeat(&wide, MS, 3 * MS, 250 * US, 100);
  assert_false(rhythm_next(&wide, &next));
}

static void another_rhythm_takes_over(void **state) {
  (void)state;
  rhythm r = {0};
  uint64_t last = repeat(&r, MS, 3 * MS, 0, 50);
  rhythm_event(&r, last + 100 * MS); // one pause
  last = repeat(&r, last + 103 * MS, 3 * MS, 0, 2);
  assert_foreseen(&r, last + 3 * MS, 3 * MS);
  last = repeat(&r, last + 20 * MS, 20 * MS, 0, 12);
  assert_foreseen(&r, last + 20 * MS, 20 * MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rhythm_is_foreseen),        cmocka_unit_test(jitter_widens_the_span),
      cmocka_unit_test(events_of_one_burst_are_one), cmocka_unit_test(nothing_else_is_foreseen),
      cmocka_unit_test(another_rhythm_takes_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
