// SPDX-License-Identifier: MIT
//
// Arrays in files: what is written is read back, by CSV for every type with the ends of its range,
// and by PNG for every number of channels; what is wrong is refused; counts as people write them.
#include "cli/array_file.h"
#include "cli/csv.h"
#include "cli/number.h"

#include "../scratch_dir.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static const uint64_t patterns[] = {0,
                                    1,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x7fff,
                                    0x8000,
                                    0x7fffffff,
                                    0x80000000,
                                    0x3f800000,
                                    0x00000001,
                                    0xff7fffff,
                                    0x7ff0000000000000,
                                    0xffffffffffffffff,
                                    0x3ff5555555555555,
                                    0x8000000000000000};
enum { COUNT = sizeof patterns / sizeof *patterns };

static void test_csv_gives_every_value_back(void **state) {
  (void)state;
  for (vyre_type type = VYRE_BOOL; type < VYRE_TYPE_COUNT; type++) {
    unsigned char data[COUNT * 8];
    for (int i = 0; i < COUNT; i++)
      number_store(type, data, (uint64_t)i, type == VYRE_BOOL ? patterns[i] & 1 : patterns[i]);
    const uint64_t shapes[2][2] = {{COUNT, 0}, {COUNT / 4, 4}};
    for (uint32_t rank = 1; rank <= 2; rank++) {
      npy_array back;
      vyre_error error;
      const char *path = scratch_path("x.csv");
      assert_int_equal(array_write(path, type, rank, shapes[rank - 1], data, &error), VYRE_OK);
      if (array_read(path, type, &back, &error) != VYRE_OK) fail_msg("%s", error.message);
      assert_int_equal(back.count, COUNT);
      assert_int_equal(back.rank, rank);
      assert_int_equal(back.shape[rank - 1], rank == 2 ? 4 : COUNT);
      for (uint64_t i = 0; i < COUNT; i++) {
        char wanted[NUMBER_TEXT], got[NUMBER_TEXT]; // a NaN has one text
        number_show(type, number_load(type, data, i), wanted);
        number_show(type, number_load(type, back.data, i), got);
        assert_string_equal(got, wanted);
      }
      npy_free(&back);
    }
  }
}

static vyre_status read_csv(const char *text, npy_array *out) {
  vyre_error error;
  vyre_status status = csv_decode(text, strlen(text), "test", VYRE_F32, out, &error);
  if (status != VYRE_OK) assert_non_null(strstr(error.message, "Fix:"));
  return status;
}

static void test_csv_takes_what_people_write(void **state) {
  (void)state;
  static const char *const good[] = {"1,2,3\n4,5,6\n",
                                     ("\xef\xbb\xbf"
                                      "a,b,c\n1;2;3\r\n4;5;6\r\n"),
                                     "1 2\t3\n\n4 5 6", " 1 , 2 , 3 \n4,5,6\n"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    npy_array a;
    assert_int_equal(read_csv(good[i], &a), VYRE_OK);
    assert_int_equal(a.rank, 2);
    assert_int_equal(a.shape[0], 2);
    for (int k = 0; k < 6; k++) assert_true(((float *)a.data)[k] == (float)(k + 1));
    npy_free(&a);
  }
  static const char *const bad[] = {"1,2\n3\n", "1,,2\n", "1,x\n", "1,2\nx,3\n", "0x,1\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    npy_array a;
    if (read_csv(bad[i], &a) == VYRE_OK) fail_msg("taken: %s", bad[i]);
  }
  npy_array none;
  assert_int_equal(read_csv("", &none), VYRE_OK);
  assert_int_equal(none.count, 0);
  npy_free(&none);
}

static void test_png_gives_every_byte_back(void **state) {
  (void)state;
  enum { ROWS = 16, COLUMNS = 16 };
  unsigned char pixels[ROWS * COLUMNS * 4];
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (unsigned char)(i * 7 + i / 256);
  for (uint64_t channels = 1; channels <= 4; channels++) {
    const char *path = scratch_path("x.png");
    const uint64_t shape[3] = {ROWS, COLUMNS, channels};
    uint32_t rank = channels > 1 ? 3 : 2;
    npy_array back;
    vyre_error error;
    vyre_status status = array_write(path, VYRE_U8, rank, shape, pixels, &error);
    if (status == VYRE_ERROR_UNSUPPORTED) skip(); // built without libpng
    assert_int_equal(status, VYRE_OK);
    assert_int_equal(array_read(path, VYRE_U8, &back, &error), VYRE_OK);
    assert_int_equal(back.type, VYRE_U8);
    assert_int_equal(back.rank, rank);
    assert_int_equal(back.count, ROWS * COLUMNS * channels);
    assert_memory_equal(back.data, pixels, back.count);
    npy_free(&back);
    // As floats, and the same bytes from those.
    assert_int_equal(array_read(path, VYRE_F32, &back, &error), VYRE_OK);
    assert_int_equal(back.type, VYRE_F32);
    assert_int_equal(array_write(path, VYRE_F32, rank, shape, back.data, &error), VYRE_OK);
    npy_free(&back);
    assert_int_equal(array_read(path, VYRE_U8, &back, &error), VYRE_OK);
    assert_memory_equal(back.data, pixels, back.count);
    npy_free(&back);
  }
}

static void test_what_is_no_image_is_refused(void **state) {
  (void)state;
  const uint64_t flat[1] = {16}, deep[3] = {2, 2, 5}, empty[2] = {0, 4};
  float data[32] = {0};
  vyre_error error;
  const char *path = scratch_path("x.png");
  assert_int_not_equal(array_write(path, VYRE_F32, 1, flat, data, &error), VYRE_OK);
  assert_non_null(strstr(error.message, "Fix:"));
  assert_int_not_equal(array_write(path, VYRE_F32, 3, deep, data, &error), VYRE_OK);
  assert_int_not_equal(array_write(path, VYRE_F32, 2, empty, data, &error), VYRE_OK);
  const uint64_t square[2] = {4, 4};
  assert_int_not_equal(array_write(path, VYRE_I32, 2, square, data, &error), VYRE_OK);
  FILE *broken = fopen(path, "wb");
  fwrite("\x89PNG\r\n\x1a\nand no more", 1, 20, broken);
  fclose(broken);
  npy_array back;
  assert_int_not_equal(array_read(path, VYRE_U8, &back, &error), VYRE_OK);
  assert_non_null(strstr(error.message, "Fix:"));
}

static void test_counts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint64_t value;
  } good[] = {{"0", 0},
              {"17", 17},
              {"0x10", 16},
              {"1e6", 1000000},
              {"1E+3", 1000},
              {"1.5e3", 1500},
              {"10k", 10000},
              {"10K", 10000},
              {"1M", 1000000},
              {"2.5M", 2500000},
              {"1G", 1000000000},
              {"64Ki", 65536},
              {"1Mi", 1048576},
              {"1Gi", 1073741824},
              {"1.50k", 1500},
              {"0e99", 0},
              {"18446744073709551615", UINT64_MAX}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    uint64_t value;
    const char *end;
    if (!number_read_count(good[i].text, &end, &value) || *end || value != good[i].value)
      fail_msg("%s", good[i].text);
  }
  static const char *const bad[] = {"",      "k",       "1e",    "1.5",
                                    "1e-3",  "1.0001k", "1.5Ki", "1e20",
                                    "20E19", "99G99",   "1.k",   "18446744073709551616",
                                    "-1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    uint64_t value;
    const char *end;
    if (number_read_count(bad[i], &end, &value) && !*end) fail_msg("taken: %s", bad[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_csv_gives_every_value_back),
      cmocka_unit_test(test_csv_takes_what_people_write),
      cmocka_unit_test(test_png_gives_every_byte_back),
      cmocka_unit_test(test_what_is_no_image_is_refused),
      cmocka_unit_test(test_counts),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
