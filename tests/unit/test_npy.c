// SPDX-License-Identifier: MIT
//
// .npy files: every type there and back in every version, what other programs write, and hostile
// headers. tests/scripts/numpy.sh compares with NumPy itself.
#include "cli/npy.h"

#include "../scratch_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../memory_sweep.h"

// A file made of its parts; the header's length is filled in. The caller owns the bytes.
static char *file_of(int version, const char *header, const void *data, size_t data_size,
                     size_t *size) {
  size_t length = strlen(header), start = version == 1 ? 10 : 12;
  *size = start + length + data_size;
  char *bytes = malloc(*size + 1);
  memcpy(bytes, "\x93NUMPY", 6);
  bytes[6] = (char)version;
  bytes[7] = 0;
  for (size_t i = 8; i < start; i++) bytes[i] = (char)(length >> 8 * (i - 8));
  memcpy(bytes + start, header, length);
  if (data_size) memcpy(bytes + start + length, data, data_size);
  return bytes;
}

static vyre_status decode(int version, const char *header, const void *data, size_t data_size,
                          npy_array *out, vyre_error *error) {
  size_t size;
  char *bytes = file_of(version, header, data, data_size, &size);
  return npy_decode(bytes, size, "x.npy", out, error);
}

static void every_type_survives_every_version(void **state) {
  (void)state;
  unsigned char data[6 * 8];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37);
  for (int version = 1; version <= 3; version++)
    for (vyre_type type = VYRE_BOOL; type < VYRE_TYPE_COUNT; type++) {
      if (type == VYRE_BOOL)
        for (size_t i = 0; i < 6; i++) data[i] = i & 1;
      char *bytes;
      size_t size;
      vyre_error error;
      npy_array array;
      uint64_t shape[2] = {2, 3};
      assert_int_equal(npy_encode(version, type, 2, shape, data, &bytes, &size, &error), VYRE_OK);
      assert_int_equal((size - 6 * vyre_type_size(type)) % 64, 0); // elements start aligned
      assert_int_equal(bytes[6], version);
      assert_int_equal(npy_decode(bytes, size, "x.npy", &array, &error), VYRE_OK);
      assert_int_equal(array.type, type);
      assert_int_equal(array.rank, 2);
      assert_int_equal(array.shape[0], 2);
      assert_int_equal(array.shape[1], 3);
      assert_int_equal(array.count, 6);
      assert_memory_equal(array.data, data, 6 * vyre_type_size(type));
      npy_free(&array);
    }
}

static void shapes_of_any_rank(void **state) {
  (void)state;
  static const struct {
    const char *shape;
    uint32_t rank;
    uint64_t count;
  } cases[] = {{"()", 0, 1},         {"(3,)", 1, 3},
               {"( 3 , )", 1, 3},    {"(1, 3)", 2, 3},
               {"(1, 3, 1,)", 3, 3}, {"(3L, 1L)", 2, 3},
               {"(0,)", 1, 0},       {"(0, 18446744073709551615, 2)", 3, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char header[200];
    vyre_error error;
    npy_array array;
    snprintf(header, sizeof header, "{'shape': %s, \"fortran_order\": False, 'descr': '<u2'}\n",
             cases[i].shape);
    uint16_t data[3] = {1, 2, 3};
    assert_int_equal(decode(1, header, data, 2 * cases[i].count, &array, &error), VYRE_OK);
    assert_int_equal(array.rank, cases[i].rank);
    assert_int_equal(array.count, cases[i].count);
    assert_int_equal((uintptr_t)array.data % 16, 0);
    assert_memory_equal(array.data, data, 2 * cases[i].count);
    npy_free(&array);
  }
}

static void big_endian_is_converted(void **state) {
  (void)state;
  static const unsigned char data[] = {0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0};
  npy_array array;
  vyre_error error;
  assert_int_equal(decode(2, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", data, 8,
                          &array, &error),
                   VYRE_OK);
  assert_true(((float *)array.data)[0] == 1.0f);
  assert_true(((float *)array.data)[1] == -2.5f);
  npy_free(&array);
}

static void fortran_order_is_converted(void **state) {
  (void)state;
  // The array [[[0 1 2 3] [4 ..]] ...] of shape (2, 3, 4), first axis fastest.
  uint8_t fortran[24];
  for (unsigned i = 0; i < 2; i++)
    for (unsigned j = 0; j < 3; j++)
      for (unsigned k = 0; k < 4; k++) fortran[i + 2 * j + 6 * k] = (uint8_t)(i * 12 + j * 4 + k);
  npy_array array;
  vyre_error error;
  assert_int_equal(decode(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }",
                          fortran, 24, &array, &error),
                   VYRE_OK);
  for (unsigned i = 0; i < 24; i++) assert_int_equal(((uint8_t *)array.data)[i], i);
  npy_free(&array);
}

static void any_nonzero_byte_is_true(void **state) {
  (void)state;
  npy_array array;
  vyre_error error;
  assert_int_equal(decode(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }",
                          "\0\2\xff", 3, &array, &error),
                   VYRE_OK);
  assert_memory_equal(array.data, "\0\1\1", 3);
  npy_free(&array);
}

// Whole, or not at all.
static void encode_one(void) {
  static const uint64_t shape[3] = {2, 1, 3};
  static const float data[6] = {1, 2, 3, 4, 5, 6};
  static char whole[400];
  static size_t whole_size;
  char *bytes;
  size_t size;
  vyre_error error;
  vyre_status status = npy_encode(1, VYRE_F32, 3, shape, data, &bytes, &size, &error);
  if (status != VYRE_OK) {
    assert_int_equal(status, VYRE_ERROR_MEMORY);
    return;
  }
  if (!whole_size) memcpy(whole, bytes, whole_size = size);
  assert_int_equal(size, whole_size);
  assert_memory_equal(bytes, whole, size);
  free(bytes);
}

static void no_half_a_file_when_memory_runs_out(void **state) {
  (void)state;
  memory_sweep(encode_one, 2);
}

// Which file, then what is wrong with it, then what to do.
static bool names_the_file(const vyre_error *error) {
  return !strncmp(error->message, "`x.npy` ", 8) && strstr(error->message, "Fix:");
}

static void bad_headers_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *header, *message;
  } cases[] = {
      {"", "no dictionary"},
      {"{", "a key is missing"},
      {"{}", "a key is missing"},
      {"{'descr': '<f4', 'shape': (1,)}", "a key is missing"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "do not have"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "follows"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "no end"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "no bool"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "no tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", "no tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "no number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", "no number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "no number"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,)}", "64 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "its shape needs 8"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", "its shape needs 0"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", "type `<f4, `"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", "numpy type `<c8`"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "numpy type `<c8`"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "numpy type `|O`"},
      {"{'descr': '|i4', 'fortran_order': False, 'shape': (1,)}", "numpy type `|i4`"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "holds records"},
      {"{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,)}", "no string"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
       "1,1,1,1,1,1,1,1,1,1,1,1,1)}",
       "more than 32 axes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    npy_array array;
    vyre_error error = {0};
    vyre_status status = decode(1, cases[i].header, "\0\0\0\0", 4, &array, &error);
    if (status != VYRE_ERROR_BINDING || !strstr(error.message, cases[i].message) ||
        !names_the_file(&error))
      fail_msg("%s gave: %s", cases[i].header, error.message);
    assert_null(array.storage);
  }
}

static void every_truncation_is_refused(void **state) {
  (void)state;
  const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  size_t whole;
  char *bytes = file_of(2, header, "\0\0\0\0\0\0\0\0", 8, &whole);
  for (size_t size = 0; size < whole; size++) {
    char *part = malloc(size ? size : 1);
    memcpy(part, bytes, size);
    npy_array array;
    vyre_error error;
    assert_int_equal(npy_decode(part, size, "x.npy", &array, &error), VYRE_ERROR_BINDING);
    assert_true(names_the_file(&error));
  }
  free(bytes);
}

static void strange_beginnings_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *bytes, *message;
    size_t size;
  } cases[] = {
      {"PK\3\4 a zip file", "no .npy file", 15},
      {"\x93NUMPY\4\0\0\0\0\0", "unknown version", 12},
      {"\x93NUMPY\1\1\0\0\0\0", "unknown version", 12},
      {"\x93NUMPY\2\0\xff\xff\xff\xff{}", "longer than 65536", 14},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *bytes = malloc(cases[i].size);
    memcpy(bytes, cases[i].bytes, cases[i].size);
    npy_array array;
    vyre_error error;
    assert_int_equal(npy_decode(bytes, cases[i].size, "x.npy", &array, &error), VYRE_ERROR_BINDING);
    assert_non_null(strstr(error.message, cases[i].message));
    assert_true(names_the_file(&error));
  }
}

static void missing_files_and_folders_are_io_errors(void **state) {
  (void)state;
  npy_array array;
  vyre_error error;
  // Below a file there is no folder, and nobody can make one, root included.
  scratch_write(scratch_path("file"), "");
  const char *path = scratch_path("file/x.npy");
  assert_int_equal(npy_read(path, &array, &error), VYRE_ERROR_IO);
  assert_int_equal(npy_write(path, VYRE_F32, 1, (uint64_t[]){0}, "", &error), VYRE_ERROR_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_type_survives_every_version),
      cmocka_unit_test(shapes_of_any_rank),
      cmocka_unit_test(big_endian_is_converted),
      cmocka_unit_test(fortran_order_is_converted),
      cmocka_unit_test(any_nonzero_byte_is_true),
      cmocka_unit_test(no_half_a_file_when_memory_runs_out),
      cmocka_unit_test(bad_headers_are_refused),
      cmocka_unit_test(every_truncation_is_refused),
      cmocka_unit_test(strange_beginnings_are_refused),
      cmocka_unit_test(missing_files_and_folders_are_io_errors),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
