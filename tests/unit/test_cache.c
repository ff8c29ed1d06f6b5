// SPDX-License-Identifier: MIT
//
// The code cache gives back what was stored or nothing: never a corrupted, truncated or foreign
// entry, and never more bytes on disk than allowed.
#include "backend/cache.h"
#include "base/file.h"
#include "base/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <dirent.h>
#include <unistd.h>

#include <cmocka.h>

static char home[] = "/tmp/vyre-test-cache-XXXXXX";

static cache_key key_of(const char *text) {
  cache_key key;
  cache_key_init(&key, "test");
  cache_key_add_string(&key, text);
  return key;
}

static bool load_equals(const char *name, const char *wanted) {
  cache_key key = key_of(name);
  void *data;
  size_t size;
  if (!cache_load(&key, &data, &size)) return false;
  bool same = size == strlen(wanted) && !memcmp(data, wanted, size);
  free(data);
  return same;
}

static void store(const char *name, const char *text) {
  cache_key key = key_of(name);
  cache_store(&key, text, strlen(text));
}

static void gives_back_what_was_stored(void **state) {
  (void)state;
  assert_false(load_equals("a", "hello"));
  store("a", "hello");
  store("b", "");
  assert_true(load_equals("a", "hello"));
  assert_true(load_equals("b", ""));
  assert_false(load_equals("c", ""));
  store("a", "again");
  assert_true(load_equals("a", "again"));
}

static void fields_do_not_run_together(void **state) {
  (void)state;
  cache_key x, y;
  uint8_t hash_x[HASH_BYTES], hash_y[HASH_BYTES];
  cache_key_init(&x, "k");
  cache_key_add_string(&x, "ab");
  cache_key_add_string(&x, "c");
  cache_key_init(&y, "k");
  cache_key_add_string(&y, "a");
  cache_key_add_string(&y, "bc");
  hash_final(&x.hash, hash_x);
  hash_final(&y.hash, hash_y);
  assert_memory_not_equal(hash_x, hash_y, HASH_BYTES);
}

// Calls `change` on the only entry's bytes and writes them back.
static void damage_only_entry(void (*change)(char *data, size_t *size)) {
  char *folder = path_cache("code"), path[600] = "";
  DIR *dir = opendir(folder);
  for (struct dirent *d; (d = readdir(dir));)
    if (d->d_name[0] != '.') snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
  closedir(dir);
  free(folder);
  char *data;
  size_t size;
  assert_int_equal(file_read(path, 1 << 20, &data, &size, NULL), VYRE_OK);
  change(data, &size);
  assert_int_equal(file_replace(path, data, size, NULL), VYRE_OK);
  free(data);
}

static void flip_last(char *data, size_t *size) {
  data[*size - 1] ^= 1;
}
static void flip_first(char *data, size_t *size) {
  data[*size - *size] ^= 1;
}
static void cut(char *data, size_t *size) {
  (void)data;
  *size -= 1;
}
static void cut_to_nothing(char *data, size_t *size) {
  (void)data;
  *size = 0;
}

static void damaged_entries_count_as_absent(void **state) {
  (void)state;
  void (*changes[])(char *, size_t *) = {flip_last, flip_first, cut, cut_to_nothing};
  for (size_t i = 0; i < 4; i++) {
    cache_clear();
    store("a", "payload");
    damage_only_entry(changes[i]);
    assert_false(load_equals("a", "payload"));
    size_t entries;
    uint64_t bytes;
    cache_usage(&entries, &bytes);
    assert_int_equal(entries, 0); // removed, so that it is written anew
  }
}

static void stays_below_its_limit(void **state) {
  (void)state;
  char text[1001], name[16];
  memset(text, 'x', 1000);
  text[1000] = 0;
  cache_clear();
  setenv("VYRE_CACHE_BYTES", "10000", 1);
  for (int i = 0; i < 30; i++) {
    snprintf(name, sizeof name, "n%d", i);
    store(name, text);
    assert_true(load_equals(name, text)); // the newest is never the one removed
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
  size_t entries;
  uint64_t bytes;
  cache_usage(&entries, &bytes);
  assert_true(bytes <= 10000 && entries >= 8);
  assert_false(load_equals("n0", text));
  unsetenv("VYRE_CACHE_BYTES");
}

static void can_be_turned_off(void **state) {
  (void)state;
  store("a", "on");
  setenv("VYRE_CACHE", "off", 1);
  assert_false(load_equals("a", "on"));
  store("z", "off");
  unsetenv("VYRE_CACHE");
  assert_false(load_equals("z", "off"));
  assert_true(load_equals("a", "on"));
}

static void a_folder_that_cannot_be_written_is_no_error(void **state) {
  (void)state;
  setenv("VYRE_HOME", "/proc/nothing", 1);
  store("a", "x");
  assert_false(load_equals("a", "x"));
  assert_int_equal(cache_clear(), 0);
  setenv("VYRE_HOME", home, 1);
}

int main(void) {
  if (!mkdtemp(home)) return 2;
  setenv("VYRE_HOME", home, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_back_what_was_stored),
      cmocka_unit_test(fields_do_not_run_together),
      cmocka_unit_test(damaged_entries_count_as_absent),
      cmocka_unit_test(stays_below_its_limit),
      cmocka_unit_test(can_be_turned_off),
      cmocka_unit_test(a_folder_that_cannot_be_written_is_no_error),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  cache_clear();
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", home);
  return system(command) ? 2 : failed;
}
