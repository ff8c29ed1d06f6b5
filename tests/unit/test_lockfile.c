// SPDX-License-Identifier: MIT
//
// Files that several processes change: nothing is lost, a killed writer leaves a whole file, and a
// damaged one is kept.
#include "base/file.h"
#include "base/lockfile.h"

#include "../scratch_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

enum { MOST = 1 << 22 };

static unsigned notes;
static char last_note[600];

static void count_note(void *context, const vyre_error *note) {
  (void)context;
  notes++;
  strcpy(last_note, note->message);
}

static const note_sink sink = {count_note, NULL};

// The file is a list of lines; merging adds one unless it is there.
static vyre_status add_line(void *context, const char *old, size_t old_size, strbuf *out,
                            bool *set_aside, vyre_error *error) {
  const char *line = context;
  (void)set_aside, (void)error;
  if (old) strbuf_add(out, old, old_size);
  if (!old || !strstr(old, line)) strbuf_printf(out, "%s\n", line);
  return VYRE_OK;
}

static void must_add(const char *path, char *line) {
  vyre_error error;
  if (lockfile_update(path, MOST, add_line, line, NULL, &error) != VYRE_OK)
    fail_msg("%s", error.message);
}

static void creates_directories_and_merges(void **state) {
  (void)state;
  char *path = scratch_path("a/b/list");
  must_add(path, "<one>");
  must_add(path, "<two>");
  struct stat before, after;
  stat(path, &before);
  must_add(path, "<one>"); // changes nothing, so nothing is written
  stat(path, &after);
  assert_int_equal(before.st_ino, after.st_ino);
  char *text = scratch_read(path);
  assert_string_equal(text, "<one>\n<two>\n");
  free(text);
}

static vyre_status refuse(void *context, const char *old, size_t old_size, strbuf *out,
                          bool *set_aside, vyre_error *error) {
  (void)context, (void)old, (void)old_size, (void)set_aside;
  strbuf_puts(out, "half of it");
  error->status = VYRE_ERROR_SYNTAX;
  return VYRE_ERROR_SYNTAX;
}

static void a_failed_merge_changes_nothing(void **state) {
  (void)state;
  char *path = scratch_path("kept");
  scratch_write(path, "old");
  vyre_error error;
  assert_int_equal(lockfile_update(path, MOST, refuse, NULL, &sink, &error), VYRE_ERROR_SYNTAX);
  char *text = scratch_read(path);
  assert_string_equal(text, "old");
  free(text);
  assert_int_equal(lockfile_update(path, 2, add_line, "x", &sink, &error), VYRE_ERROR_LIMIT);
}

static vyre_status start_over(void *context, const char *old, size_t old_size, strbuf *out,
                              bool *set_aside, vyre_error *error) {
  (void)old, (void)old_size, (void)error;
  strbuf_puts(out, context);
  *set_aside = true;
  return VYRE_OK;
}

static void a_damaged_file_is_set_aside_and_told(void **state) {
  (void)state;
  char *path = scratch_path("damaged");
  vyre_error error;
  notes = 0;
  assert_int_equal(lockfile_update(path, MOST, start_over, "first", &sink, &error), VYRE_OK);
  assert_int_equal(notes, 0); // there was nothing to set aside
  assert_int_equal(lockfile_update(path, MOST, start_over, "second", &sink, &error), VYRE_OK);
  assert_int_equal(lockfile_update(path, MOST, start_over, "third", &sink, &error), VYRE_OK);
  assert_int_equal(notes, 2);
  assert_non_null(strstr(last_note, "damaged.corrupt-2"));
  assert_non_null(strstr(last_note, "Fix:"));
  const char *expected[][2] = {
      {"damaged", "third"}, {"damaged.corrupt-1", "first"}, {"damaged.corrupt-2", "second"}};
  for (int i = 0; i < 3; i++) {
    char *text = scratch_read(scratch_path(expected[i][0]));
    assert_string_equal(text, expected[i][1]);
    free(text);
  }
  // Cut short between keeping and replacing: the second attempt makes no second copy.
  assert_int_equal(lockfile_set_aside(path, &sink, &error), VYRE_OK);
  assert_int_equal(lockfile_set_aside(path, &sink, &error), VYRE_OK);
  assert_int_equal(access(scratch_path("damaged.corrupt-3"), F_OK), 0);
  assert_int_not_equal(access(scratch_path("damaged.corrupt-4"), F_OK), 0);
}

static void a_lock_that_is_held_times_out(void **state) {
  (void)state;
  char *path = scratch_path("held");
  int first, second;
  vyre_error error;
  assert_int_equal(lockfile_acquire(path, 0, &first, &error), VYRE_OK);
  assert_int_equal(lockfile_acquire(path, 3000000, &second, &error), VYRE_ERROR_IO);
  assert_non_null(strstr(error.message, "held.lock"));
  assert_non_null(strstr(error.message, "Fix:"));
  lockfile_release(first);
  assert_int_equal(lockfile_acquire(path, 3000000, &second, &error), VYRE_OK);
  lockfile_release(second);
}

static void processes_lose_no_line_of_each_other(void **state) {
  (void)state;
  enum { PROCESSES = 8, LINES = 25 };
  char *path = scratch_path("shared");
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      for (int k = 0; k < LINES; k++) {
        char line[32];
        snprintf(line, sizeof line, "<%d-%d>", i, k);
        if (lockfile_update(path, MOST, add_line, line, NULL, NULL) != VYRE_OK) _exit(1);
      }
      _exit(0);
    }
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    waitpid(children[i], &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  char *text = scratch_read(path), line[32];
  for (int i = 0; i < PROCESSES; i++) {
    for (int k = 0; k < LINES; k++) {
      snprintf(line, sizeof line, "<%d-%d>\n", i, k);
      assert_non_null(strstr(text, line));
    }
  }
  assert_int_equal(strlen(text), 8 * (10 * 6 + 15 * 7));
  free(text);
}

// A child adds numbered lines and tells each one through a pipe once it is saved; it is killed at
// any moment. What was told is in the file, in order, and the file ends with a whole line.
static void killed_writers_leave_a_whole_file(void **state) {
  (void)state;
  enum { KILLS = 200 };
  char *path = scratch_path("killed");
  int told[2], saved = 0;
  assert_int_equal(pipe(told), 0);
  fcntl(told[0], F_SETFL, O_NONBLOCK);
  for (int round = 0; round < KILLS; round++) {
    pid_t child = fork();
    assert_true(child >= 0); // killing -1 would kill everything
    if (child == 0) {
      for (int next = saved;; next++) {
        char line[32];
        snprintf(line, sizeof line, "<%d>", next);
        if (lockfile_update(path, MOST, add_line, line, NULL, NULL) != VYRE_OK) _exit(1);
        if (write(told[1], &next, sizeof next) != sizeof next) _exit(1);
      }
    }
    // Every fourth time after a save, however busy the machine is; otherwise at any moment.
    for (int wait = 0, line; round % 4 == 3 && wait < 10000; wait++) {
      if (read(told[0], &line, sizeof line) == sizeof line) {
        saved = line + 1;
        break;
      }
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    nanosleep(&(struct timespec){.tv_nsec = (round * 7919) % 4000 * 1000}, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    for (int line; read(told[0], &line, sizeof line) == sizeof line;) saved = line + 1;
    char *text = scratch_read(path), *p = text;
    int lines = 0, number, size;
    while (p && sscanf(p, "<%d>\n%n", &number, &size) == 1) {
      assert_int_equal(number, lines++);
      p += size;
    }
    assert_true(!p || *p == 0);
    assert_in_range(lines, saved, saved + 1); // at most the one that was not told yet
    saved = lines;
    free(text);
  }
  close(told[0]);
  close(told[1]);
  assert_true(saved > 0);
}

static void a_full_disk_leaves_the_old_file(void **state) {
  (void)state;
  char *path = scratch_path("full");
  must_add(path, "<old>");
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {16, 16};
    setrlimit(RLIMIT_FSIZE, &limit);
    vyre_error error;
    vyre_status status =
        lockfile_update(path, MOST, add_line, "<much more than fits>", NULL, &error);
    _exit(status == VYRE_ERROR_IO && strstr(error.message, "Fix:") ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  char *text = scratch_read(path);
  assert_string_equal(text, "<old>\n");
  free(text);
  assert_int_not_equal(access(scratch_path("full.tmp"), F_OK), 0);
}

static void a_directory_that_cannot_be_written_is_an_error(void **state) {
  (void)state;
  vyre_error error;
  // A file where a directory should be, because permissions do not stop the superuser.
  scratch_write(scratch_path("file"), "x");
  assert_int_equal(lockfile_update(scratch_path("file/x"), MOST, add_line, "x", NULL, &error),
                   VYRE_ERROR_IO);
  assert_non_null(strstr(error.message, "Fix:"));
  assert_int_equal(lockfile_update("/proc/vyre/x", MOST, add_line, "x", NULL, &error),
                   VYRE_ERROR_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(creates_directories_and_merges),
      cmocka_unit_test(a_failed_merge_changes_nothing),
      cmocka_unit_test(a_damaged_file_is_set_aside_and_told),
      cmocka_unit_test(a_lock_that_is_held_times_out),
      cmocka_unit_test(processes_lose_no_line_of_each_other),
      cmocka_unit_test(killed_writers_leave_a_whole_file),
      cmocka_unit_test(a_full_disk_leaves_the_old_file),
      cmocka_unit_test(a_directory_that_cannot_be_written_is_an_error),
  };
  return cmocka_run_group_tests(tests, scratch_dir_make, scratch_dir_remove);
}
