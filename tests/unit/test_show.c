// SPDX-License-Identifier: MIT
//
// Numbers for people at the ends of their units, numbers for programs at the
// ends of their types, and which word somebody meant.
#include "cli/nearest.h"
#include "cli/show.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct shown {
  uint64_t number;
  const char *text;
} shown;

static void check(const char *(*show)(uint64_t, char *), const shown *rows,
                  size_t count) {
  char out[SHOW_TEXT];
  for (size_t i = 0; i < count; i++) {
    assert_ptr_equal(show(rows[i].number, out), out);
    assert_string_equal(out, rows[i].text);
  }
}

static void times_have_three_digits(void **state) {
  (void)state;
  static const shown rows[] = {
      {0, "0 ns"},
      {1, "1 ns"},
      {999, "999 ns"},
      {1000, "1 us"},
      {1234, "1.23 us"},
      {12345, "12.3 us"},
      {999499, "999 us"},
      {999500, "1 ms"},
      {1000000, "1 ms"},
      {1240000, "1.24 ms"},
      {999499999, "999 ms"},
      {999500000, "1.000 s"},
      {1000000000, "1.000 s"},
      {61500000000, "61.500 s"},
  };
  check(show_time, rows, sizeof rows / sizeof *rows);
}

static void sizes_have_units(void **state) {
  (void)state;
  static const shown rows[] = {
      {0, "0 B"},
      {1023, "1023 B"},
      {1024, "1.0 KiB"},
      {1536, "1.5 KiB"},
      {1048524, "1023.9 KiB"},
      {1048575, "1.0 MiB"},
      {1048576, "1.0 MiB"},
      {(uint64_t)5 << 30, "5.0 GiB"},
      {(uint64_t)5 << 40, "5.0 TiB"},
      {(uint64_t)5 << 50, "5.0 PiB"},
      {(uint64_t)5 << 60, "5.0 EiB"},
      {UINT64_MAX, "16.0 EiB"},
  };
  check(show_bytes, rows, sizeof rows / sizeof *rows);
}

static void counts_have_commas(void **state) {
  (void)state;
  static const shown rows[] = {
      {0, "0"},
      {999, "999"},
      {1000, "1,000"},
      {12345, "12,345"},
      {999999, "999,999"},
      {1048576, "1,048,576"},
      {UINT64_MAX, "18,446,744,073,709,551,615"},
  };
  check(show_count, rows, sizeof rows / sizeof *rows);
}

static void json_keeps_every_number(void **state) {
  (void)state;
  const uint64_t large[] = {0, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
  const int8_t small[] = {-128, 127, 0};
  const unsigned char flags[] = {0, 1};
  const double reals[] = {0.1, -2.5, NAN, INFINITY, -INFINITY};
  const struct {
    vyre_type type;
    const void *data;
    uint64_t count;
    const char *text;
  } rows[] = {
      {VYRE_U64, large, 4,
       "[0,9223372036854775807,\"9223372036854775808\","
       "\"18446744073709551615\"]"},
      {VYRE_I8, small, 3, "[-128,127,0]"},
      {VYRE_BOOL, flags, 2, "[false,true]"},
      {VYRE_F64, reals, 5, "[0.1,-2.5,\"nan\",\"inf\",\"-inf\"]"},
      {VYRE_F64, reals, 0, "[]"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    json_t *list = show_json(rows[i].type, rows[i].data, rows[i].count);
    char *text = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(15));
    assert_string_equal(text, rows[i].text);
    free(text);
    json_decref(list);
  }
}

static const char *meant(const char *word) {
  static const char *const words[] = {"run",     "check",   "convert",
                                      "compile", "conform", "certify"};
  nearest n = nearest_begin(word);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    nearest_offer(&n, words[i]);
  return n.best ? n.best : "";
}

static void the_nearest_word_is_meant(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"run", "run"},
      {"rnu", "run"},
      {"ru", "run"},
      {"runn", "run"},
      {"chekc", "check"},
      {"chck", "check"},
      {"covnert", "convert"},
      {"compiel", "compile"},
      {"certfiy", "certify"},
      {"conforms", "conform"},
      {"xyz", ""},
      {"", ""},
      {"r", ""},
      {"zzzzzzzz", ""},
      {"cconvert", "convert"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(meant(rows[i][0]), rows[i][1]))
      fail_msg("%s: %s", rows[i][0], meant(rows[i][0]));
  char longest[80];
  memset(longest, 'c', sizeof longest);
  longest[79] = 0; // longer than any word that is compared
  assert_string_equal(meant(longest), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_have_three_digits),
      cmocka_unit_test(sizes_have_units),
      cmocka_unit_test(counts_have_commas),
      cmocka_unit_test(json_keeps_every_number),
      cmocka_unit_test(the_nearest_word_is_meant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
