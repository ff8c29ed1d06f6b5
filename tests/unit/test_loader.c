// SPDX-License-Identifier: MIT
//
// The ELF loader runs what a compiler made, and refuses every truncation and every flipped bit that
// would make it read or write outside of the object.
#include "backend/cpu/loader.h"
#include "base/file.h"
#include "../scratch_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char source[] =
    "float fmaf(float, float, float);\n"
    "void *memset(void *, int, unsigned long);\n"
    "static int table[4] = {3, 1, 4, 1};\n"
    "static int zeros[100];\n"
    "int *pointer = &table[2];\n"
    "int read_table(int i) { return table[i & 3] + zeros[i] + *pointer; }\n"
    "float call(float x) { return fmaf(x, x, 1.0f); }\n"
    "double constant(double x) { return x * 1.2345678901234567; }\n"
    "void clear(char *p, unsigned long n) { memset(p, 7, n); }\n";

static char *object;
static size_t object_size;

static int compile(const char *text, char **out, size_t *size) {
  char command[1000];
  if (file_replace(scratch_path("a.c"), text, strlen(text), NULL) != VYRE_OK) return 1;
  snprintf(command, sizeof command,
           "cc -O1 -c -fPIE -fno-builtin -fno-asynchronous-unwind-tables -fno-stack-protector "
           "%s/a.c -o %s/a.o",
           scratch_dir, scratch_dir);
  return system(command) || file_read(scratch_path("a.o"), 1 << 20, out, size, NULL) != VYRE_OK;
}

static void *function(const loaded_object *o, const char *name) {
  void *found = loader_find(o, name);
  assert_non_null(found);
  return found;
}

static void runs_code_with_data_and_calls(void **state) {
  (void)state;
  loaded_object *o;
  vyre_error error = {0};
  if (loader_open(object, object_size, &o, &error) != VYRE_OK) fail_msg("%s", error.message);
  int (*read_table)(int);
  float (*call)(float);
  double (*constant)(double);
  void (*clear)(char *, unsigned long);
  *(void **)&read_table = function(o, "read_table");
  *(void **)&call = function(o, "call");
  *(void **)&constant = function(o, "constant");
  *(void **)&clear = function(o, "clear");
  assert_int_equal(read_table(0), 3 + 0 + 4);
  assert_true(call(3.0f) == 10.0f);
  assert_true(constant(2.0) == 2.0 * 1.2345678901234567);
  char bytes[10] = {0};
  clear(bytes, 9);
  assert_int_equal(bytes[8], 7);
  assert_int_equal(bytes[9], 0);
  assert_null(loader_find(o, "absent"));
  loader_close(o);
}

static void refuses_unknown_calls(void **state) {
  (void)state;
  char *other;
  size_t size;
  loaded_object *o;
  vyre_error error;
  assert_int_equal(
      compile("int system(const char *); int f(void) { return system(\"\"); }", &other, &size), 0);
  assert_int_equal(loader_open(other, size, &o, &error), VYRE_ERROR_BACKEND);
  assert_non_null(strstr(error.message, "`system`"));
  free(other);
}

static void truncations_are_refused(void **state) {
  (void)state;
  for (size_t size = 0; size < object_size; size++) {
    loaded_object *o;
    vyre_status status = loader_open(object, size, &o, NULL);
    if (status == VYRE_OK) loader_close(o); // the tail may hold nothing that is needed
  }
}

// The cache has a checksum, so this cannot happen by accident; it must still not corrupt memory.
static void flipped_bits_do_no_harm(void **state) {
  (void)state;
  char *copy = malloc(object_size);
  for (size_t bit = 0; bit < object_size * 8; bit += 3) {
    memcpy(copy, object, object_size);
    copy[bit / 8] ^= (char)(1 << bit % 8);
    loaded_object *o;
    if (loader_open(copy, object_size, &o, NULL) == VYRE_OK) loader_close(o);
  }
  free(copy);
}

int main(void) {
  if (scratch_dir_make(NULL) || compile(source, &object, &object_size)) {
    puts("cannot compile the test's object");
    return 2;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_code_with_data_and_calls),
      cmocka_unit_test(refuses_unknown_calls),
      cmocka_unit_test(truncations_are_refused),
      cmocka_unit_test(flipped_bits_do_no_harm),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(object);
  return scratch_dir_remove(NULL) ? 2 : failed;
}
