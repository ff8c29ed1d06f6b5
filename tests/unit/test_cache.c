// SPDX-License-Identifier: MIT
//
// The code cache gives back what was stored or nothing: never a corrupted, truncated or foreign
// entry, and never more bytes on disk than allowed.
#include "backend/cache.h"
#include "base/file.h"
#include "base/warning.h"

#include <fcntl.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

// Where the entry of a name is, found by itself.
static char *path_of(const char *name) {
  static char path[300];
  uint8_t hash[HASH_BYTES];
  char hex[HASH_HEX];
  cache_key key = key_of(name);
  hash_final(&key.hash, hash);
  hash_hex(hash, hex);
  snprintf(path, sizeof path, "%s/cache/code/%s.code", home, hex);
  return path;
}

static int told;
static char last_told[600];

static void count_warning(void *context, const vyre_error *note) {
  (void)context;
  told++;
  snprintf(last_told, sizeof last_told, "%s", note->message);
}

// How many warnings came since the last call.
static int take_warnings(void) {
  told = 0;
  warning_take(&(note_sink){count_warning, NULL});
  return told;
}

// Calls `change` on the entry's bytes and writes them back.
static void damage(const char *name, void (*change)(char *data, size_t *size)) {
  const char *path = path_of(name);
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
    damage("a", changes[i]);
    assert_false(load_equals("a", "payload"));
    assert_int_equal(cache_usage().entries, 0); // removed, so that it is written anew
  }
  assert_true(take_warnings() > 0);
}

static size_t flipped;

static void flip_one(char *data, size_t *size) {
  data[flipped] ^= 0x10;
  (void)size;
}

// Magic, size, key, checksum and payload.
static void every_byte_counts(void **state) {
  (void)state;
  struct stat info;
  store("a", "payload");
  assert_int_equal(stat(path_of("a"), &info), 0);
  for (flipped = 0; flipped < (size_t)info.st_size; flipped++) {
    store("a", "payload");
    damage("a", flip_one);
    assert_false(load_equals("a", "payload"));
    assert_int_equal(access(path_of("a"), F_OK), -1);
  }
}

// Each is whole, and neither is what it is called.
static void swapped_entries_are_refused(void **state) {
  (void)state;
  char a[300], b[300], aside[300];
  take_warnings();
  store("a", "code of a");
  store("b", "code of b");
  snprintf(a, sizeof a, "%s", path_of("a"));
  snprintf(b, sizeof b, "%s", path_of("b"));
  snprintf(aside, sizeof aside, "%s/aside", home);
  assert_int_equal(rename(a, aside) || rename(b, a) || rename(aside, b), 0);
  void *data;
  size_t size;
  cache_key key = key_of("a");
  assert_false(cache_load(&key, &data, &size));
  key = key_of("b");
  assert_false(cache_load(&key, &data, &size));
  assert_int_equal(cache_usage().entries, 0);
  assert_int_equal(take_warnings(), 2);
  assert_non_null(strstr(last_told, "another program"));
  assert_non_null(strstr(last_told, "Fix: "));
}

// A pipe would be waited for, a folder cannot be read: neither is an entry, and a pipe gives way.
static void what_is_no_file_is_no_entry(void **state) {
  (void)state;
  store("a", "x");
  cache_clear();
  take_warnings();
  assert_int_equal(mkfifo(path_of("a"), 0600), 0);
  assert_int_equal(mkdir(path_of("d"), 0700), 0);
  assert_false(load_equals("a", "x"));
  assert_false(load_equals("d", "x"));
  assert_int_equal(take_warnings(), 2);
  store("a", "x");
  store("d", "x");
  assert_true(load_equals("a", "x"));
  assert_false(load_equals("d", "x"));
  assert_int_equal(rmdir(path_of("d")), 0);
}

static void check_refused(const char *what) {
  take_warnings();
  store("b", "y");
  assert_false(load_equals("a", "x"));
  assert_false(load_equals("b", "y"));
  assert_int_equal(take_warnings(), 1); // once, though both were asked for twice
  assert_non_null(strstr(last_told, what));
  vyre_error error;
  assert_null(cache_folder(&error));
  assert_non_null(strstr(error.message, what));
}

// Whoever can write there can lay down code.
static void folders_that_others_can_write_are_refused(void **state) {
  (void)state;
  char folder[320], base[300];
  snprintf(base, sizeof base, "%s/cache", home);
  snprintf(folder, sizeof folder, "%s/code", base);
  cache_clear();
  store("a", "x");
  assert_true(load_equals("a", "x"));
  const struct {
    const char *path;
    mode_t mode;
  } rows[] = {{folder, 0777}, {folder, 0775}, {base, 0757}, {home, 0720}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(chmod(rows[i].path, rows[i].mode), 0);
    check_refused("other users can write");
    assert_int_equal(chmod(rows[i].path, 0755), 0);
    assert_true(load_equals("a", "x"));
  }
  assert_int_equal(chmod(path_of("a"), 0666), 0);
  assert_false(load_equals("a", "x"));
  assert_int_equal(chmod(path_of("a"), 0644), 0);
  assert_true(load_equals("a", "x"));
}

static void folders_of_others_are_refused(void **state) {
  (void)state;
  enum { SOMEBODY = 12345 };
  char folder[300];
  snprintf(folder, sizeof folder, "%s/cache/code", home);
  if (geteuid()) skip(); // only root can give a folder away
  store("a", "x");
  assert_int_equal(chown(folder, SOMEBODY, SOMEBODY), 0);
  check_refused("belongs to another user");
  assert_int_equal(chown(folder, 0, 0), 0);
  assert_true(load_equals("a", "x"));
  assert_int_equal(chown(path_of("a"), SOMEBODY, SOMEBODY), 0);
  assert_false(load_equals("a", "x"));
  assert_int_equal(chown(path_of("a"), 0, 0), 0);
}

// Without HOME there is no cache, wherever the process is; above all not in the current folder.
static void the_current_folder_is_never_a_cache(void **state) {
  (void)state;
  char here[1000], folder[400];
  const char *saved = getenv("HOME");
  char *kept = saved ? strdup(saved) : NULL;
  assert_non_null(getcwd(here, sizeof here));
  snprintf(folder, sizeof folder,
           "mkdir -p %s/here/.cache/vyre && cp -r %s/cache/code "
           "%s/here/.cache/vyre/code",
           home, home, home);
  store("a", "x");
  assert_int_equal(system(folder), 0);
  snprintf(folder, sizeof folder, "%s/here", home);
  assert_int_equal(chdir(folder), 0);
  unsetenv("VYRE_HOME");
  const char *const homes[] = {NULL, "", ".", "relative"};
  for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
    if (homes[i])
      setenv("HOME", homes[i], 1), setenv("XDG_CACHE_HOME", ".cache", 1);
    else
      unsetenv("HOME"), unsetenv("XDG_CACHE_HOME");
    assert_false(load_equals("a", "x"));
  }
  setenv("HOME", folder, 1); // an absolute one is one
  assert_true(load_equals("a", "x"));
  unsetenv("XDG_CACHE_HOME");
  if (kept) setenv("HOME", kept, 1);
  free(kept);
  setenv("VYRE_HOME", home, 1);
  assert_int_equal(chdir(here), 0);
}

// What a killed writer leaves is counted, and removed when it is old; a writer at work is not
// disturbed.
static void unfinished_files_are_counted_and_removed(void **state) {
  (void)state;
  char old[320], fresh[320];
  cache_clear();
  store("a", "x");
  snprintf(old, sizeof old, "%s.AbC123", path_of("a"));
  snprintf(fresh, sizeof fresh, "%s.9zzzzz", path_of("a"));
  assert_int_equal(file_replace(old, "12345", 5, NULL), VYRE_OK);
  assert_int_equal(file_replace(fresh, "123", 3, NULL), VYRE_OK);
  uint64_t bytes = cache_usage().bytes;
  assert_int_equal(cache_usage().unfinished, 2);
  assert_int_equal(cache_usage().entries, 1);
  struct timespec hour_ago[2] = {{time(NULL) - 3600, 0}, {time(NULL) - 3600, 0}};
  assert_int_equal(utimensat(AT_FDCWD, old, hour_ago, 0), 0);
  store("a", "x");
  assert_int_equal(cache_usage().unfinished, 1);
  assert_int_equal(cache_usage().bytes, bytes - 5);
  assert_int_equal(access(fresh, F_OK), 0);
  cache_contents removed = cache_clear();
  assert_int_equal(removed.entries, 1);
  assert_int_equal(removed.unfinished, 1);
  assert_int_equal(cache_usage().bytes, 0);
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
  cache_contents found = cache_usage();
  assert_true(found.bytes <= 10000 && found.entries >= 8);
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
  assert_int_equal(cache_clear().entries, 0);
  setenv("VYRE_HOME", home, 1);
}

int main(void) {
  if (!mkdtemp(home)) return 2;
  setenv("VYRE_HOME", home, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_back_what_was_stored),
      cmocka_unit_test(fields_do_not_run_together),
      cmocka_unit_test(damaged_entries_count_as_absent),
      cmocka_unit_test(every_byte_counts),
      cmocka_unit_test(swapped_entries_are_refused),
      cmocka_unit_test(what_is_no_file_is_no_entry),
      cmocka_unit_test(folders_that_others_can_write_are_refused),
      cmocka_unit_test(folders_of_others_are_refused),
      cmocka_unit_test(the_current_folder_is_never_a_cache),
      cmocka_unit_test(unfinished_files_are_counted_and_removed),
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
