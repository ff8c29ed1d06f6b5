// SPDX-License-Identifier: MIT
//
// Records of printf as text: conversions beside those of the C library, the order of invocations,
// and buffers that no kernel wrote.
#include <vyre/vyre.h>

#include "ir/print_layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROOM = 4096 };

typedef struct page {
  uint32_t words[ROOM];
  uint32_t record; // where the last one begins
} page;

static void add_word(page *p, uint32_t word) {
  p->words[++p->words[0]] = word;
  p->words[p->record]++;
}

static void add_string(page *p, const char *text) {
  size_t size = strlen(text);
  add_word(p, PRINT_STRING | (uint32_t)size << PRINT_COUNT_SHIFT);
  for (size_t at = 0; at < size; at += 4) {
    uint32_t word = 0;
    memcpy(&word, text + at, size - at < 4 ? size - at : 4);
    add_word(p, word);
  }
}

static void begin(page *p, uint32_t x, uint32_t y, uint32_t z, const char *format) {
  p->record = ++p->words[0];
  p->words[p->record] = 1;
  add_word(p, x);
  add_word(p, y);
  add_word(p, z);
  add_string(p, format);
}

static void add_bits(page *p, uint32_t kind, uint64_t bits) {
  add_word(p, kind | 1u << PRINT_COUNT_SHIFT);
  add_word(p, (uint32_t)bits);
  add_word(p, (uint32_t)(bits >> 32));
}

static void expect(const page *p, size_t words, const char *wanted, bool is_lost) {
  char *text;
  uint64_t lost;
  vyre_error error;
  assert_int_equal(vyre_print_text(p->words, words * 4, &text, &lost, &error), VYRE_OK);
  assert_string_equal(text, wanted);
  assert_int_equal(lost != 0, is_lost);
  vyre_free(text);
}

typedef struct visits {
  char text[64];
  uint32_t count, ids[8];
} visits;

static void visit(void *data, const vyre_printed *printed) {
  visits *v = data;
  assert_int_equal(strlen(printed->text), printed->size);
  strcat(v->text, printed->text);
  strcat(v->text, "|");
  assert_true(v->count < 2);
  v->ids[v->count++] = printed->global_id[0] + 10 * printed->global_id[1] + 100 * printed->global_id[2];
}

// Each call is told with its invocation, in their order, whichever came first.
static void calls_are_visited_one_by_one(void **state) {
  (void)state;
  page p = {0};
  visits v = {0};
  uint64_t lost = 7;
  vyre_error error;
  begin(&p, 3, 2, 1, "last\n");
  begin(&p, 5, 0, 0, "a %d");
  add_bits(&p, PRINT_INTEGER, 42);
  assert_int_equal(
      vyre_print_each(p.words, sizeof p.words, visit, &v, &lost, &error), VYRE_OK);
  assert_string_equal(v.text, "a 42|last\n|");
  assert_int_equal(v.count, 2);
  assert_int_equal(v.ids[0], 5);
  assert_int_equal(v.ids[1], 123);
  assert_int_equal(lost, 0);
  assert_int_equal(vyre_print_each(p.words, 8, visit, &v, &lost, NULL), VYRE_OK);
  assert_int_equal(v.count, 2);
  assert_true(lost > 0);
}

static void numbers_print_as_in_c(void **state) {
  (void)state;
  static const char *const wholes[] = {"%d",    "%5i", "%-7dx", "%05d", "%+d", "% d", "%.3d",
                                       "%8.4d", "%o",  "%#o",   "%x",   "%#X", "%u",  "%012u"};
  static const char *const floats[] = {"%f",   "%8.2f", "%-9.1fx", "%e", "%.0e", "%G",
                                       "%.3g", "%a",    "%+08.3f", "%F", "%#.0f"};
  static const int values[] = {0, 1, -1, 255, -32768, 2147483647, -2147483647 - 1};
  static const double numbers[] = {0, -0.0, 1.5, -2.25, 1e300, 1e-300, 123456.789, 1.0 / 3};
  char wanted[400];
  for (size_t f = 0; f < sizeof wholes / sizeof *wholes; f++)
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
      page p = {.record = 0};
      begin(&p, 0, 0, 0, wholes[f]);
      add_bits(&p, PRINT_INTEGER, (uint64_t)(int64_t)values[i]);
      snprintf(wanted, sizeof wanted, wholes[f], values[i]);
      expect(&p, ROOM, wanted, false);
    }
  for (size_t f = 0; f < sizeof floats / sizeof *floats; f++)
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
      page p = {.record = 0};
      uint64_t bits;
      memcpy(&bits, &numbers[i], sizeof bits);
      begin(&p, 0, 0, 0, floats[f]);
      add_bits(&p, PRINT_FLOAT, bits);
      snprintf(wanted, sizeof wanted, floats[f], numbers[i]);
      expect(&p, ROOM, wanted, false);
    }
}

static void invocations_are_in_order(void **state) {
  (void)state;
  page p = {.record = 0};
  begin(&p, 1, 0, 0, "c");
  begin(&p, 0, 0, 0, "a");
  begin(&p, 0, 0, 1, "f");
  begin(&p, 5, 1, 0, "e");
  begin(&p, 0, 0, 0, "b");
  begin(&p, 1, 0, 0, "d");
  expect(&p, ROOM, "abcdef", false);
  expect(&p, p.words[0] + 1, "abcdef", false);
  expect(&p, p.words[0], "abcef", true);
  expect(&p, 1, "", true);
  expect(&p, 0, "", false);
}

static void what_does_not_fit_is_left(void **state) {
  (void)state;
  page p = {.record = 0};
  begin(&p, 0, 0, 0, "100%% %d %s %q %");
  add_string(&p, "text"); // where a number should be
  expect(&p, ROOM, "100% %d %s %q %", false);
}

// Any words: some text, and nothing outside of them is touched.
static void any_words_are_read(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int round = 0; round < 20000; round++) {
    uint32_t count = 1 + (uint32_t)(round % 40), *words = malloc(count * sizeof *words);
    for (uint32_t i = 0; i < count; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      uint32_t bits = (uint32_t)(random >> 33);
      static const char kinds[] = "sifx";
      words[i] = bits % 3 == 0   ? bits % 24
                 : bits % 3 == 1 ? (uint32_t)kinds[bits / 3 % 4] | bits / 12 % 16 << 8
                 : bits / 3 % 2  ? 0x64252e25 + bits % 5
                                 : bits;
    }
    char *text = NULL;
    assert_int_equal(vyre_print_text(words, count * sizeof *words, &text, NULL, NULL), VYRE_OK);
    vyre_free(text);
    free(words);
  }
}

// The text goes on behind it.
static void a_character_that_is_zero_is_left_out(void **state) {
  (void)state;
  page p = {0};
  begin(&p, 0, 0, 0, "a%cb%cc%5cd\n");
  add_bits(&p, PRINT_INTEGER, 0);
  add_bits(&p, PRINT_INTEGER, 'x');
  add_bits(&p, PRINT_INTEGER, 256);
  begin(&p, 1, 0, 0, "next");
  expect(&p, ROOM, "abxcd\nnext", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_are_visited_one_by_one),
      cmocka_unit_test(numbers_print_as_in_c),
      cmocka_unit_test(invocations_are_in_order),
      cmocka_unit_test(what_does_not_fit_is_left),
      cmocka_unit_test(any_words_are_read),
      cmocka_unit_test(a_character_that_is_zero_is_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
