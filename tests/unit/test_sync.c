// SPDX-License-Identifier: MIT
//
// What is written is on the disk before it gets its name, and the name soon after; a disk that
// fails is told, and what was there stays. fsync and rename are this test's own.
#include "base/file.h"
#include "profile/store.h"

#include "../scratch_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char calls[32]; // f: a file is synced, d: a directory, r: a file is renamed
static bool sync_fails, rename_fails;

static void note(char what) {
  size_t count = strlen(calls);
  if (count + 1 < sizeof calls) calls[count] = what;
}

#pragma GCC visibility push(default)
int fsync(int fd) {
  struct stat info;
  bool is_folder = !fstat(fd, &info) && S_ISDIR(info.st_mode);
  note(is_folder ? 'd' : 'f');
  if (!sync_fails || is_folder) return (int)syscall(SYS_fsync, fd);
  errno = EIO;
  return -1;
}

int rename(const char *from, const char *to) {
  note('r');
  if (!rename_fails) return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  errno = EXDEV;
  return -1;
}
#pragma GCC visibility pop

static int entries(void) {
  int count = 0;
  DIR *dir = opendir(scratch_path("there"));
  assert_non_null(dir);
  for (struct dirent *d; (d = readdir(dir));) count += d->d_name[0] != '.';
  closedir(dir);
  return count;
}

static void begin(bool no_sync, bool no_rename) {
  memset(calls, 0, sizeof calls);
  sync_fails = no_sync;
  rename_fails = no_rename;
}

static void files_are_on_the_disk_before_they_are_renamed(void **state) {
  (void)state;
  vyre_status (*const ways[])(const char *, const void *, size_t,
                              vyre_error *) = {file_replace, file_replace_own};
  const char *path = scratch_path("there/file");
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    vyre_error error;
    mkdir(scratch_path("there"), 0700);
    begin(false, false);
    assert_int_equal(ways[i](path, "old", 3, &error), VYRE_OK);
    assert_string_equal(calls, "frd");
    for (int way = 0; way < 2; way++) {
      begin(way == 0, way == 1);
      assert_int_equal(ways[i](path, "new", 3, &error), VYRE_ERROR_IO);
      assert_string_equal(calls, way ? "fr" : "f");
      assert_non_null(strstr(error.message, way ? "cross-device" : "Input/output error"));
      char *text = scratch_read(path);
      assert_string_equal(text, "old");
      free(text);
      assert_int_equal(entries(), 1);
    }
    unlink(path);
  }
}

static void exported_evidence_is_on_the_disk_before_it_is_renamed(void **state) {
  (void)state;
  store *s;
  vyre_error error;
  store_options options = {.path = scratch_path("evidence.db")};
  const char *path = scratch_path("there/exported.db");
  mkdir(scratch_path("there"), 0700);
  begin(false, false);
  if (store_open(&options, NULL, &s, &error) != VYRE_OK) fail_msg("%s", error.message);
  begin(true, false);
  assert_int_equal(store_export(s, path, &error), VYRE_ERROR_IO);
  assert_null(strchr(calls, 'r'));
  assert_int_equal(entries(), 0);
  begin(false, true);
  assert_int_equal(store_export(s, path, &error), VYRE_ERROR_IO);
  assert_non_null(strstr(error.message, "exported.db"));
  assert_int_equal(entries(), 0);
  begin(false, false);
  assert_int_equal(store_export(s, path, &error), VYRE_OK);
  assert_non_null(strstr(calls, "fr"));
  assert_int_equal(entries(), 1);
  store_close(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(files_are_on_the_disk_before_they_are_renamed,
                                      scratch_dir_make, scratch_dir_remove),
      cmocka_unit_test_setup_teardown(exported_evidence_is_on_the_disk_before_it_is_renamed,
                                      scratch_dir_make, scratch_dir_remove),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
