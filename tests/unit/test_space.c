// SPDX-License-Identifier: MIT
//
// Spaces: constraints against literals, enumeration, look-up and features.
#include "base/strbuf.h"
#include "policy/recorded.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int find_ab(const void *context, const char *name, size_t size) {
  (void)context;
  return size == 1 && *name == 'a' ? 0 : size == 1 && *name == 'b' ? 1 : -1;
}

static const double ab[] = {12, 5};

static void expressions_have_their_values(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"a", 12},
      {"a + b * 2", 22},
      {"(a + b) * 2", 34},
      {"a - b - 1", 6},
      {"a / b", 2.4},
      {"a // b", 2},
      {"-a // b", -3},
      {"a % b", 2},
      {"-a % b", 3},
      {"b ** 2", 25},
      {"-b ** 2", -25},
      {"2 ** 3 ** 2", 512},
      {"min(a, b, 7)", 5},
      {"max(a, b, 70)", 70},
      {"a == 12 and b == 5", 1},
      {"a == 12 && b != 5", 0},
      {"a < b or a > b", 1},
      {"a < b || not a > b", 0},
      {"!(a < b)", 1},
      {"not a", 0},
      {"5 <= b <= 12", 1},
      {"5 < b <= 12", 0},
      {"1 < b < a < 13", 1},
      {"a in [3, 12]", 1},
      {"a in (3, 13)", 0},
      {"True and not False", 1},
      {"0x10", 16},
      {"1.5e1", 15},
      {"a >= 12", 1},
      {"a <= 11", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    space_where w;
    vyre_error error;
    if (space_where_parse(cases[i].text, strlen(cases[i].text), find_ab, NULL, &w, &error))
      fail_msg("%s: %s", cases[i].text, error.message);
    double got = space_where_value(&w, ab);
    if (fabs(got - cases[i].value) > 1e-12) fail_msg("%s gives %g", cases[i].text, got);
    space_where_fini(&w);
  }
}

// What is divided by zero compares with nothing, and holds nowhere.
static void division_by_zero_does_not_hold(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool holds;
  } cases[] = {{"a % 0 == 0", false}, {"a / 0", false},          {"not a / 0", true},
               {"a // 0 < 1", false}, {"b == 5 or a % 0", true}, {"a / 0 and b", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    space_where w;
    vyre_error error;
    assert_int_equal(
        space_where_parse(cases[i].text, strlen(cases[i].text), find_ab, NULL, &w, &error),
        VYRE_OK);
    if (space_where_holds(&w, ab) != cases[i].holds) fail_msg("%s", cases[i].text);
    space_where_fini(&w);
  }
}

static void what_is_no_expression_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"",      "a +",  "(a",     "a b",    "c",   "a < < b", "1..2",
                                      "min a", "a in", "a in [", "min(a,", "a =", "a ** ",   "@"};
  vyre_error error;
  space_where w;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (!space_where_parse(texts[i], strlen(texts[i]), find_ab, NULL, &w, &error))
      fail_msg("`%s` was read", texts[i]);
    assert_non_null(strstr(error.message, "Fix: "));
  }
  char deep[400];
  memset(deep, '(', sizeof deep);
  assert_int_not_equal(space_where_parse(deep, sizeof deep, find_ab, NULL, &w, &error), VYRE_OK);
  memset(deep, '-', sizeof deep);
  assert_int_not_equal(space_where_parse(deep, sizeof deep, find_ab, NULL, &w, &error), VYRE_OK);
  static char longest[4000];
  for (size_t i = 0; i < sizeof longest; i += 2) memcpy(longest + i, "a+", 2);
  longest[sizeof longest - 1] = 'a';
  assert_int_not_equal(space_where_parse(longest, sizeof longest - 1, find_ab, NULL, &w, &error),
                       VYRE_OK);
}

static bool can_read(const char *before, int count, const char *middle, const char *after) {
  strbuf text = {0};
  vyre_error error;
  space_where w;
  for (int i = 0; i < count; i++) strbuf_puts(&text, before);
  strbuf_puts(&text, middle);
  for (int i = 0; i < count; i++) strbuf_puts(&text, after);
  bool is_read = space_where_parse(text.at, text.size, find_ab, NULL, &w, &error) == VYRE_OK;
  if (is_read)
    space_where_fini(&w);
  else
    assert_non_null(strstr(error.message, "nested too deeply"));
  strbuf_fini(&text);
  return is_read;
}

// How deep it is counts, not how much there is: what was left is not counted any more.
static void only_depth_is_limited(void **state) {
  (void)state;
  assert_true(can_read("(a < 1) and ", 90, "b > 2", ""));
  assert_true(can_read("(a < 1) or ", 90, "b > 2", ""));
  assert_true(can_read("not a and ", 90, "b", ""));
  assert_true(can_read("-a + ", 90, "b", ""));
  assert_true(can_read("(", 20, "a", ")"));
  assert_false(can_read("(", 21, "a", ")"));
  assert_true(can_read("-", 61, "a", ""));
  assert_false(can_read("-", 62, "a", ""));
  assert_true(can_read("not ", 61, "a", ""));
  assert_false(can_read("not ", 62, "a", ""));
}

static void add(space *s, const char *name, const char *const *values) {
  vyre_error error;
  uint32_t index, param = s->param_count;
  assert_int_equal(space_add_param(s, name, strlen(name), &error), VYRE_OK);
  for (; *values; values++)
    assert_int_equal(space_add_value(s, param, *values, strlen(*values), &index, &error), VYRE_OK);
}

static int find_in_space(const void *context, const char *name, size_t size) {
  return space_find_param(context, name, size);
}

static void all_that_satisfies_is_there_once(void **state) {
  (void)state;
  space s = {0};
  space_where w;
  vyre_error error;
  const char *text = "x * y <= 8";
  add(&s, "x", (const char *const[]){"1", "2", "4", NULL});
  add(&s, "kind", (const char *const[]){"plain", "fast", NULL});
  add(&s, "y", (const char *const[]){"2", "4", "8", "2", NULL}); // one of them twice
  assert_int_equal(s.params[2].count, 3);
  assert_true(s.params[0].is_numeric);
  assert_false(s.params[1].is_numeric);
  assert_int_equal(space_where_parse(text, strlen(text), find_in_space, &s, &w, &error), VYRE_OK);
  assert_int_equal(space_enumerate(&s, &w, 1, NULL, NULL, &error), VYRE_OK);
  assert_int_equal(s.count, 2 * (3 + 2 + 1));
  for (uint32_t i = 0; i < s.count; i++) {
    const uint16_t *row = space_row(&s, i);
    assert_true(s.params[0].numbers[row[0]] * s.params[2].numbers[row[2]] <= 8);
    assert_int_equal(space_find(&s, row), i);
  }
  assert_int_equal(space_find(&s, (const uint16_t[]){2, 0, 2}), SPACE_NONE);
  assert_int_not_equal(space_add_param(&s, "x", 1, &error), VYRE_OK);
  space_where_fini(&w);
  space_fini(&s);
}

static void nothing_is_no_space(void **state) {
  (void)state;
  space s = {0};
  space_where w;
  vyre_error error;
  add(&s, "x", (const char *const[]){"1", "2", NULL});
  assert_int_equal(space_where_parse("x > 2", 5, find_in_space, &s, &w, &error), VYRE_OK);
  assert_int_not_equal(space_enumerate(&s, &w, 1, NULL, NULL, &error), VYRE_OK);
  space_where_fini(&w);
  space_fini(&s);
}

// 1, 3, 4, 12: by their logarithm, and by how often they can be halved; 0 and 1 as they are; words
// one by one.
static void features_are_between_0_and_1(void **state) {
  (void)state;
  space s = {0};
  vyre_error error;
  float *rows;
  uint32_t of[8], all[64];
  add(&s, "x", (const char *const[]){"1", "3", "4", "16", NULL});
  add(&s, "flag", (const char *const[]){"0", "1", NULL});
  add(&s, "one", (const char *const[]){"7", NULL});
  add(&s, "kind", (const char *const[]){"a", "b", "c", NULL});
  assert_int_equal(space_enumerate(&s, NULL, 0, NULL, NULL, &error), VYRE_OK);
  for (uint32_t i = 0; i < s.count; i++) all[i] = i;
  uint32_t count = space_features(&s, all, s.count, 8, &rows, of);
  assert_int_equal(count, 2 + 1 + 3);
  static const uint32_t wanted[] = {0, 0, 1, 3, 3, 3};
  assert_memory_equal(of, wanted, sizeof wanted);
  for (uint32_t i = 0; i < s.count; i++) {
    uint16_t x = space_row(&s, i)[0];
    static const float halves[] = {0, 0, 0.5f, 1};
    assert_true(fabsf(rows[i] - (float)(log2(s.params[0].numbers[x]) / 4)) < 1e-6f);
    assert_true(rows[s.count + i] == halves[x]);
    assert_true(rows[2 * s.count + i] == (float)space_row(&s, i)[1]);
    for (uint16_t k = 0; k < 3; k++)
      assert_true(rows[(3 + k) * s.count + i] == (float)(space_row(&s, i)[3] == k));
  }
  free(rows);
  space_fini(&s);
}

// ---- recorded -----------------------------------------------------------------------------------

static void recorded_texts_are_read(void **state) {
  (void)state;
  static const char text[] = "x,kind,time_ms\n1,a,3.5\r\n2,b,\n2,a,0.5\n";
  recorded r, other;
  vyre_error error;
  double *times;
  assert_int_equal(recorded_parse(text, sizeof text - 1, "t", &r, &error), VYRE_OK);
  assert_int_equal(r.space.count, 3);
  assert_true(r.times[0] == 3.5 && isnan(r.times[1]) && r.times[2] == 0.5);
  assert_true(r.optimum == 0.5);
  static const char more[] = "x,kind,ms\n2,a,9\n3,a,8\n1,a,7";
  assert_int_equal(recorded_parse(more, sizeof more - 1, "m", &other, &error), VYRE_OK);
  assert_int_equal(recorded_times(&other, &r.space, "m", &times, &error), VYRE_OK);
  assert_true(times[0] == 7 && isnan(times[1]) && times[2] == 9);
  free(times);
  recorded_fini(&other);
  static const char another[] = "y,kind,ms\n2,a,9\n";
  assert_int_equal(recorded_parse(another, sizeof another - 1, "m", &other, &error), VYRE_OK);
  assert_int_not_equal(recorded_times(&other, &r.space, "m", &times, &error), VYRE_OK);
  recorded_fini(&other);
  recorded_fini(&r);
}

static void records_of_other_tools_are_read(void **state) {
  (void)state;
  static const char text[] =
      "\xef\xbb\xbf\"x\",\"kind, of\",\"time\"\r\n"
      "\"1\",\"a, \"\"b\"\"\",\"3.5\"\r\n\r\n2,\"c\",inf\n2,c d,NaN\n\n4,c,0.5\n\n";
  recorded r;
  vyre_error error;
  if (recorded_parse(text, sizeof text - 1, "t", &r, &error)) fail_msg("%s", error.message);
  assert_int_equal(r.space.count, 4);
  assert_int_equal(r.space.param_count, 2);
  assert_string_equal(r.space.params[0].name, "x");
  assert_string_equal(r.space.params[1].name, "kind, of");
  assert_string_equal(r.space.params[1].values[space_row(&r.space, 0)[1]], "a, \"\"b\"\"");
  assert_true(r.times[0] == 3.5 && isnan(r.times[1]) && isnan(r.times[2]) && r.optimum == 0.5);
  recorded_fini(&r);
}

static void bad_records_are_refused_with_their_line(void **state) {
  (void)state;
  static const struct {
    const char *text, *where;
  } cases[] = {{"", "t:1:"},
               {"x\n", "t:1:"},
               {"x,t\n1,2,3\n", "t:2:"},
               {"x,t\n1,2\n1\n", "t:3:"},
               {"x,t\n1,two\n", "t:2:"},
               {"x,t\n1,-2\n", "t:2:"},
               {"x,t\n1,nan\n", "every"},
               {"x,t\n1,nanx\n", "t:2:"},
               {"x,t\n1,\"2\"3\n", "t:2:"},
               {"x,t\n\"1,2\n", "t:2:"},
               {"x,t\n1,\n", "every"},
               {"x,t\n1,2\n1,3\n", "twice"},
               {"x,x,t\n1,1,2\n", "twice"},
               {"x,,t\n1,1,2\n", "t:1:"}};
  recorded r;
  vyre_error error;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (!recorded_parse(cases[i].text, strlen(cases[i].text), "t", &r, &error))
      fail_msg("case %zu was read", i);
    if (!strstr(error.message, cases[i].where)) fail_msg("case %zu: %s", i, error.message);
  }
}

static vyre_status add_numbered(space *s, uint32_t param, uint32_t number, vyre_error *error) {
  char text[16];
  uint32_t index;
  snprintf(text, sizeof text, "%u", number);
  return space_add_value(s, param, text, strlen(text), &index, error);
}

// The last that there is room for is taken, and one more is told with its fix.
static void limits_are_kept_to_the_last(void **state) {
  (void)state;
  space s = {0};
  vyre_error error;
  char name[16];
  for (uint32_t i = 0; i < SPACE_PARAMS; i++) {
    snprintf(name, sizeof name, "p%u", i);
    assert_int_equal(space_add_param(&s, name, strlen(name), &error), VYRE_OK);
  }
  assert_int_equal(space_add_param(&s, "p0", 2, &error), VYRE_ERROR_SYNTAX);
  assert_int_equal(space_add_param(&s, "one", 3, &error), VYRE_ERROR_LIMIT);
  assert_non_null(strstr(error.message, "more than 32 parameters. Fix: "));
  for (uint32_t i = 0; i < SPACE_VALUES; i++)
    assert_int_equal(add_numbered(&s, 0, i, &error), VYRE_OK);
  assert_int_equal(add_numbered(&s, 0, 7, &error), VYRE_OK); // it is there
  assert_int_equal(s.params[0].count, SPACE_VALUES);
  assert_int_equal(add_numbered(&s, 0, SPACE_VALUES, &error), VYRE_ERROR_LIMIT);
  assert_non_null(strstr(error.message, "`p0` has more than 4096 values. Fix: "));
  assert_string_equal(s.params[0].values[SPACE_VALUES - 1], "4095");
  assert_true(s.params[0].numbers[SPACE_VALUES - 1] == 4095);
  space_fini(&s);
}

// So many values of three parameters: how many configurations there are, and of which size.
static vyre_status enumerate(uint32_t a, uint32_t b, uint32_t c, const char *where, space *s,
                             vyre_error *error) {
  const uint32_t counts[] = {a, b, c};
  space_where w;
  *s = (space){0};
  for (uint32_t i = 0; i < 3; i++) {
    assert_int_equal(space_add_param(s, &"abc"[i], 1, error), VYRE_OK);
    for (uint32_t k = 0; k < counts[i]; k++)
      assert_int_equal(add_numbered(s, i, k, error), VYRE_OK);
  }
  assert_int_equal(space_where_parse(where, strlen(where), find_in_space, s, &w, error), VYRE_OK);
  vyre_status status = space_enumerate(s, &w, 1, NULL, NULL, error);
  space_where_fini(&w);
  return status;
}

static void as_many_configurations_as_there_is_room_for(void **state) {
  (void)state;
  space s;
  vyre_error error;
  assert_int_equal(enumerate(1024, 1024, 1, "1 > 0", &s, &error), VYRE_OK);
  assert_int_equal(s.count, SPACE_MOST);
  space_fini(&s);
  assert_int_equal(enumerate(1024, 1025, 1, "1 > 0", &s, &error), VYRE_ERROR_LIMIT);
  assert_non_null(strstr(error.message, "more than 1048576 configurations. Fix: "));
  space_fini(&s);
  assert_int_equal(enumerate(4096, 4096, 17, "a < 0", &s, &error), VYRE_ERROR_LIMIT);
  assert_non_null(strstr(error.message, "combinations of values. Fix: "));
  space_fini(&s);
  assert_int_equal(enumerate(3, 2, 2, "a > 5", &s, &error), VYRE_ERROR_SYNTAX);
  assert_non_null(strstr(error.message, "no configuration satisfies all constraints. Fix: "));
  space_fini(&s);
  assert_int_equal(enumerate(3, 0, 2, "a >= 0", &s, &error), VYRE_ERROR_SYNTAX);
  space_fini(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_have_their_values),
      cmocka_unit_test(division_by_zero_does_not_hold),
      cmocka_unit_test(what_is_no_expression_is_refused),
      cmocka_unit_test(only_depth_is_limited),
      cmocka_unit_test(limits_are_kept_to_the_last),
      cmocka_unit_test(as_many_configurations_as_there_is_room_for),
      cmocka_unit_test(all_that_satisfies_is_there_once),
      cmocka_unit_test(nothing_is_no_space),
      cmocka_unit_test(features_are_between_0_and_1),
      cmocka_unit_test(recorded_texts_are_read),
      cmocka_unit_test(records_of_other_tools_are_read),
      cmocka_unit_test(bad_records_are_refused_with_their_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
