// SPDX-License-Identifier: MIT
//
// Sets of intervals beside sets of bits: what operations leave has the same numbers, in order, with
// nothing empty and nothing that touches.
#include "base/intervals.h"
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { NUMBERS = 64, ROUNDS = 20000 };

static uint64_t bits_from(uint64_t lo, uint64_t hi) {
  uint64_t bits = 0;
  for (uint64_t i = lo; i < hi; i++) bits |= (uint64_t)1 << i;
  return bits;
}

// Of one interval more often than of many; sometimes with room for more.
static uint64_t make(random_state *r, intervals *out) {
  uint64_t bits = 0;
  uint32_t count = random_chance(r, 60) ? random_below(r, 2) : random_below(r, 12);
  *out = (intervals){0};
  for (uint32_t i = 0; i < count; i++) {
    uint32_t lo = random_below(r, NUMBERS), size = random_below(r, count < 2 ? NUMBERS : 8);
    uint32_t hi = lo + size < NUMBERS ? lo + size : NUMBERS;
    assert_true(intervals_push(out, lo, hi));
    bits |= bits_from(lo, hi);
  }
  intervals_order(out);
  return bits;
}

static void expect(const intervals *s, uint64_t bits) {
  uint64_t found = 0;
  for (size_t i = 0; i < s->count; i++) {
    assert_true(s->at[i].lo < s->at[i].hi && s->at[i].hi <= NUMBERS);
    if (i) assert_true(s->at[i - 1].hi < s->at[i].lo);
    found |= bits_from(s->at[i].lo, s->at[i].hi);
  }
  assert_int_equal(found, bits);
  assert_int_equal(intervals_size(s), __builtin_popcountll(bits));
  for (uint64_t x = 0; x < NUMBERS; x++) assert_int_equal(intervals_have(s, x), bits >> x & 1);
}

static void operations_are_those_of_sets(void **state) {
  (void)state;
  random_state r = {5};
  for (int n = 0; n < ROUNDS; n++) {
    intervals a, b, both = {0}, copy;
    uint64_t of_a = make(&r, &a), of_b = make(&r, &b);
    expect(&a, of_a);
    assert_true(intervals_common(&a, &b, &both));
    expect(&both, of_a & of_b);
    assert_int_equal(intervals_meet(&a, &b), (of_a & of_b) != 0);
    assert_int_equal(intervals_are_same(&a, &b), of_a == of_b);
    assert_true(intervals_copy(&a, &copy));
    assert_true(intervals_unite(&copy, &b));
    expect(&copy, of_a | of_b);
    assert_true(intervals_subtract(&a, &b));
    expect(&a, of_a & ~of_b);
    expect(&b, of_b);
    intervals_free(&a);
    intervals_free(&b);
    intervals_free(&both);
    intervals_free(&copy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operations_are_those_of_sets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
