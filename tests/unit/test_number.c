// SPDX-License-Identifier: MIT
//
// Values and SPECs of the command line.
#include "cli/nearest.h"
#include "cli/number.h"
#include "cli/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void literals_are_read(void **state) {
  (void)state;
  static const struct {
    const char *text;
    vyre_type type;
    uint64_t bits;
  } cases[] = {
      {"0", VYRE_I32, 0},
      {"-1", VYRE_I8, 0xff},
      {"-128", VYRE_I8, 0x80},
      {"127", VYRE_I8, 0x7f},
      {"0xff", VYRE_I8, 0xff},
      {"255", VYRE_U8, 0xff},
      {"010", VYRE_U8, 10},
      {"+7", VYRE_I16, 7},
      {"-2147483648", VYRE_I32, 0x80000000u},
      {"0xFFFFFFFF", VYRE_U32, 0xffffffffu},
      {"-9223372036854775808", VYRE_I64, UINT64_C(1) << 63},
      {"18446744073709551615", VYRE_U64, UINT64_MAX},
      {"2.5", VYRE_F32, 0x40200000u},
      {"-inf", VYRE_F32, 0xff800000u},
      {"0x1.8p1", VYRE_F32, 0x40400000u},
      {"1e-45", VYRE_F32, 1},
      {"16777217", VYRE_F32, 0x4b800000u},
      {"2.5", VYRE_F64, UINT64_C(0x4004000000000000)},
      {"true", VYRE_BOOL, 1},
      {"0", VYRE_BOOL, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t bits = 0;
    vyre_error error;
    if (number_read(cases[i].text, cases[i].type, &bits, &error) != VYRE_OK)
      fail_msg("%s: %s", cases[i].text, error.message);
    if (bits != cases[i].bits) fail_msg("%s gave %llx", cases[i].text, (unsigned long long)bits);
  }
}

static void other_texts_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    vyre_type type;
  } cases[] = {
      {"", VYRE_I32},           {"2.5", VYRE_I32},
      {"1e3", VYRE_I32},        {"12x", VYRE_I32},
      {"0x", VYRE_I32},         {"--1", VYRE_I32},
      {"128", VYRE_I8},         {"-129", VYRE_I8},
      {"256", VYRE_U8},         {"-1", VYRE_U8},
      {"0x100", VYRE_U8},       {"nan", VYRE_U32},
      {"2147483648", VYRE_I32}, {"18446744073709551616", VYRE_U64},
      {"", VYRE_F32},           {"1e40", VYRE_F32},
      {"1.5f", VYRE_F32},       {" 1", VYRE_F32},
      {"yes", VYRE_BOOL},       {"2", VYRE_BOOL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t bits;
    vyre_error error;
    if (number_read(cases[i].text, cases[i].type, &bits, &error) != VYRE_ERROR_BINDING)
      fail_msg("`%s` was read as %s", cases[i].text, vyre_type_name(cases[i].type));
    assert_non_null(strstr(error.message, "Fix:"));
  }
}

static void values_are_shown_shortly(void **state) {
  (void)state;
  static const struct {
    vyre_type type;
    const char *text;
  } cases[] = {{VYRE_F32, "0.1"},
               {VYRE_F32, "1e-45"},
               {VYRE_F32, "3.4028235e+38"},
               {VYRE_F32, "-0"},
               {VYRE_F32, "nan"},
               {VYRE_F32, "-inf"},
               {VYRE_F64, "0.1"},
               {VYRE_F64, "1e+22"},
               {VYRE_F64, "0.30000000000000004"},
               {VYRE_I8, "-128"},
               {VYRE_U64, "18446744073709551615"},
               {VYRE_BOOL, "true"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t bits;
    char text[NUMBER_TEXT];
    assert_int_equal(number_read(cases[i].text, cases[i].type, &bits, NULL), VYRE_OK);
    number_show(cases[i].type, bits, text);
    assert_string_equal(text, cases[i].text);
  }
}

static void specs_are_read(void **state) {
  (void)state;
  spec s;
  assert_int_equal(spec_parse("2.5", &s, NULL), VYRE_OK);
  assert_int_equal(s.kind, SPEC_LITERAL);
  assert_int_equal(spec_parse("@x.npy", &s, NULL), VYRE_OK);
  assert_int_equal(s.kind, SPEC_FILE);
  assert_string_equal(s.text, "x.npy");
  assert_int_equal(spec_parse("rand:8:7", &s, NULL), VYRE_OK);
  assert_int_equal(s.count, 8);
  assert_int_equal(s.seed, 7);
  assert_int_equal(spec_parse("zeros", &s, NULL), VYRE_OK);
  assert_false(s.has_count);
  assert_int_equal(spec_parse("fill:-1", &s, NULL), VYRE_OK);
  assert_false(s.has_count);
  assert_int_equal(spec_parse("fill:-1:3", &s, NULL), VYRE_OK);
  int8_t filled[3];
  assert_int_equal(spec_fill(&s, VYRE_I8, 3, filled, NULL), VYRE_OK);
  assert_memory_equal(filled, "\xff\xff\xff", 3);
  assert_int_equal(spec_parse("1,2,3", &s, NULL), VYRE_OK);
  assert_int_equal(spec_list_count(&s), 3);
  float list[3];
  assert_int_equal(spec_fill(&s, VYRE_F32, 3, list, NULL), VYRE_OK);
  assert_true(list[0] == 1 && list[1] == 2 && list[2] == 3);
  static const char *const bad[] = {
      "zeros:", "zeros:x", "zeros:8:7", "rand:8:", "rand:8:x", "iota:-1",
      "fill",   "fill:",   "local",     "@",       "fill::3",  "ones:99999999999999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    vyre_error error;
    if (spec_parse(bad[i], &s, &error) == VYRE_OK) fail_msg("`%s` was read", bad[i]);
    assert_non_null(strstr(error.message, "Fix:"));
  }
}

// These are part of what users rely on: a run with rand is the same everywhere, for ever.
static void random_elements_never_change(void **state) {
  (void)state;
  spec s = {.kind = SPEC_RAND, .seed = 7};
  float f32[2];
  double f64[1];
  uint64_t u64[2];
  spec_fill(&s, VYRE_U64, 2, u64, NULL);
  spec_fill(&s, VYRE_F32, 2, f32, NULL);
  spec_fill(&s, VYRE_F64, 1, f64, NULL);
  assert_true(u64[0] == UINT64_C(7191089600892374487)); // SplitMix64 from state 7
  assert_true(u64[1] == UINT64_C(309689372594955804));
  assert_true(f32[0] == (float)(u64[0] >> 40) * 0x1p-24f);
  assert_true(f64[0] == (double)(u64[0] >> 11) * 0x1p-53);
  assert_true(f32[1] >= 0 && f32[1] < 1);
}

static void near_words_are_suggested(void **state) {
  (void)state;
  static const struct {
    const char *word, *best;
  } cases[] = {{"chekc", "check"}, {"devcies", "devices"}, {"rnu", "run"}, {"xyzzy", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nearest n = nearest_begin(cases[i].word);
    nearest_offer(&n, "check");
    nearest_offer(&n, "devices");
    nearest_offer(&n, "run");
    if (!cases[i].best)
      assert_null(n.best);
    else
      assert_string_equal(n.best, cases[i].best);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(literals_are_read),
      cmocka_unit_test(other_texts_are_refused),
      cmocka_unit_test(values_are_shown_shortly),
      cmocka_unit_test(specs_are_read),
      cmocka_unit_test(random_elements_never_change),
      cmocka_unit_test(near_words_are_suggested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
