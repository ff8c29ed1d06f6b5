// SPDX-License-Identifier: MIT
//
// The calculus of stretches with words of 3 to 8 bits, against its definitions: all pairs of small
// forms, and random ones of every width. `make prove` does more of the same, and 64 bits.
#include "../stretch_check.h"
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static void assert_right(const check_case *t, check_result r) {
  if (!r.wrong) return;
  fail_msg("%s at %u: words of %u, %c%u, row %u..%u, a %u %u %u, b %u %u %u, length %u, knows %d, "
           "seed %u",
           r.wrong, r.x, t->bits, t->type.is_signed ? 'i' : 'u', t->type.bits, t->first, t->end,
           t->a.stride, t->a.base, t->a.spread, t->b.stride, t->b.base, t->b.spread, t->length,
           t->knowledge, t->seed);
}

static void check_case_all(const check_case *t) {
  assert_right(t, check_relations(t));
  assert_right(t, check_within(t));
  assert_right(t, check_forms(t));
}

// Every pair of forms of 2-bit values in words of 4 bits.
static void test_small_forms(void **state) {
  (void)state;
  check_case t = {.bits = 4, .first = 0, .end = 3};
  for (unsigned i = 0; i < 4u * 4 * 3 * 4 * 4 * 3; i++) {
    unsigned n = i;
    t.a.stride = (uint8_t)(n % 4), n /= 4;
    t.a.base = (uint8_t)(n % 4), n /= 4;
    t.a.spread = (uint8_t)(n % 3), n /= 3;
    t.b.stride = (uint8_t)(n % 4), n /= 4;
    t.b.base = (uint8_t)(n % 4), n /= 4;
    t.b.spread = (uint8_t)(n % 3);
    t.length = (uint8_t)(i % 8);
    for (unsigned how = 0; how < 2 * KNOWLEDGE_COUNT; how++) {
      t.type = (int_type){2, how % 2};
      t.knowledge = (check_knowledge)(how / 2);
      check_case_all(&t);
    }
  }
}

static uint8_t small_or_any(random_state *r, unsigned bits) {
  uint32_t mask = (1u << bits) - 1;
  if (random_below(r, 3)) return (uint8_t)((random_below(r, 5) - 2) & mask);
  return (uint8_t)(random_below(r, 256) & mask);
}

static check_form random_form(random_state *r, unsigned bits) {
  check_form f = {.stride = small_or_any(r, bits)};
  f.base = (uint8_t)(random_below(r, 256) & ((1u << bits) - 1));
  if (random_below(r, 2)) f.spread = (uint8_t)(random_below(r, 6) & ((1u << bits) - 1));
  return f;
}

static void random_case(random_state *r, check_case *t) {
  *t = (check_case){.bits = 3 + random_below(r, 6), .seed = random_below(r, UINT32_MAX)};
  t->type.bits = random_below(r, 2) ? t->bits : 1 + random_below(r, t->bits);
  t->type.is_signed = random_below(r, 2);
  uint32_t quarter = 1u << (t->bits - 2);
  t->first = (uint8_t)random_below(r, quarter);
  t->end = (uint8_t)random_below(r, quarter);
  if (t->end > t->first + 12) t->end = (uint8_t)(t->first + 12);
  t->a = random_form(r, t->bits);
  t->b = random_form(r, t->bits);
  t->length = (uint8_t)(random_below(r, 256) & ((1u << t->bits) - 1));
  t->knowledge = (check_knowledge)random_below(r, KNOWLEDGE_COUNT);
}

static void test_random_forms(void **state) {
  (void)state;
  random_state r = {7};
  for (int i = 0; i < 60000; i++) {
    check_case t;
    random_case(&r, &t);
    check_case_all(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small_forms),
      cmocka_unit_test(test_random_forms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
