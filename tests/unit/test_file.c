// SPDX-License-Identifier: MIT
//
// Files are replaced as a whole: a writer that is cut off leaves the old content and nothing beside
// it, links and permissions stay. Files of vyre are regular files that nobody else can write, and
// reading them never waits.
#include "base/file.h"

#include "../scratch_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

static int entries_of(const char *folder) {
  int count = 0;
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent *d; (d = readdir(dir));) count += d->d_name[0] != '.';
  closedir(dir);
  return count;
}

static void check_content(const char *path, const char *wanted) {
  char *text = scratch_read(path);
  assert_string_equal(text, wanted);
  free(text);
}

static mode_t mode_of(const char *path) {
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  return info.st_mode & 07777;
}

static void replacing_keeps_permissions_and_links(void **state) {
  (void)state;
  const char *folder = scratch_path("links"), *file = scratch_path("links/file"),
             *link = scratch_path("links/link");
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(file_replace(file, "one", 3, NULL), VYRE_OK);
  assert_int_equal(mode_of(file), 0644);
  assert_int_equal(chmod(file, 0640) || symlink("file", link), 0);
  assert_int_equal(file_replace(link, "two", 3, NULL), VYRE_OK);
  check_content(file, "two");
  assert_int_equal(mode_of(file), 0640);
  assert_int_equal(entries_of(folder), 2);
  vyre_error error;
  assert_int_equal(file_replace(folder, "x", 1, &error), VYRE_ERROR_IO);
  assert_int_equal(entries_of(folder), 2);
}

static bool has_nameless_files(void) {
  int fd = open(scratch_dir, O_TMPFILE | O_WRONLY, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

// A write ends in its middle where the process comes to its limit: an error, and nothing is left.
static void a_writer_that_is_cut_off_leaves_nothing(void **state) {
  (void)state;
  static char large[100000];
  const char *folder = scratch_path("killed"), *file = scratch_path("killed/file");
  if (!has_nameless_files()) skip();
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(file_replace(file, "old", 3, NULL), VYRE_OK);
  memset(large, 'x', sizeof large);
  vyre_status (*const ways[])(const char *, const void *, size_t,
                              vyre_error *) = {file_replace, file_replace_own};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    int status;
    pid_t child = fork();
    if (!child) {
      setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
      setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, 1000});
      _exit(ways[i](file, large, sizeof large, NULL) == VYRE_ERROR_IO ? 7 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    check_content(file, "old");
    assert_int_equal(entries_of(folder), 1);
  }
}

static void own_files_are_regular_and_nobody_elses(void **state) {
  (void)state;
  const char *folder = scratch_path("own"), *file = scratch_path("own/file"),
             *pipe_path = scratch_path("own/pipe"), *link = scratch_path("own/link");
  char *text;
  size_t size;
  vyre_error error;
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(mkfifo(pipe_path, 0600) || symlink("pipe", link), 0);
  const char *const bad[] = {pipe_path, link, folder, "/dev/null"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(file_read_own(bad[i], 100, &text, &size, &error), VYRE_ERROR_IO);
    assert_non_null(strstr(error.message, "Fix: "));
    assert_int_equal(file_check_own(bad[i], &error), VYRE_ERROR_IO);
  }
  assert_int_equal(file_check_own(file, &error), VYRE_OK); // there is none
  assert_int_equal(file_replace_own(file, "abc", 3, NULL), VYRE_OK);
  assert_int_equal(file_read_own(file, 100, &text, &size, &error), VYRE_OK);
  assert_string_equal(text, "abc");
  free(text);
  const mode_t open_to_others[] = {0664, 0646, 0777};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(chmod(file, open_to_others[i]), 0);
    assert_int_equal(file_read_own(file, 100, &text, &size, &error), VYRE_ERROR_IO);
    assert_non_null(strstr(error.message, "chmod go-w"));
  }
  // What is in the place of a file of vyre gives way to it.
  assert_int_equal(file_replace_own(pipe_path, "abc", 3, NULL), VYRE_OK);
  check_content(pipe_path, "abc");
}

// What a locked writer finds in the place of its temporary file is not written to.
static void a_fixed_name_follows_nothing(void **state) {
  (void)state;
  const char *folder = scratch_path("fixed"), *file = scratch_path("fixed/file"),
             *temporary = scratch_path("fixed/file.tmp"), *victim = scratch_path("fixed/victim");
  assert_int_equal(mkdir(folder, 0700), 0);
  scratch_write(victim, "mine");
  assert_int_equal(symlink("victim", temporary), 0);
  assert_int_equal(file_replace_exclusive(file, "new", 3, NULL), VYRE_OK);
  assert_int_equal(link(victim, temporary), 0);
  assert_int_equal(file_replace_exclusive(file, "new", 3, NULL), VYRE_OK);
  assert_int_equal(mkfifo(temporary, 0600), 0);
  assert_int_equal(file_replace_exclusive(file, "new", 3, NULL), VYRE_OK);
  check_content(victim, "mine");
  check_content(file, "new");
  assert_int_equal(entries_of(folder), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replacing_keeps_permissions_and_links),
      cmocka_unit_test(a_writer_that_is_cut_off_leaves_nothing),
      cmocka_unit_test(own_files_are_regular_and_nobody_elses),
      cmocka_unit_test(a_fixed_name_follows_nothing),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
