// SPDX-License-Identifier: MIT
//
// Tests whose every run of the runtime is a process of its own, as it is for users: a home in the
// scratch folder, the notices of this process, and a child that fails by its exit status. For unit
// tests; include it behind cmocka.h.
#ifndef VYRE_TESTS_CHILD_PROCESS_H
#define VYRE_TESTS_CHILD_PROCESS_H

#include "scratch_dir.h"

#include <sys/wait.h>

enum { FAILED = 1, CANNOT = 77 }; // exit statuses of a child; CANNOT skips the test

static unsigned notice_count;
static char notices[4000];

static void take_notice(void *context, const char *message) {
  (void)context;
  notice_count++;
  size_t used = strlen(notices);
  snprintf(notices + used, sizeof notices - used, "%s\n", message);
}

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (condition) break;                                                                          \
    fprintf(stderr, "line %d: %s\n%s", __LINE__, #condition, notices);                             \
    _exit(FAILED);                                                                                 \
  } while (0)

// Runs `body` in a process of its own and waits for it.
static void in_child(void (*body)(const void *context), const void *context) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    body(context);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT) skip();
  if (status) fail_msg("the process ended with %d", status);
}

static int fresh_home(void **state) {
  if (scratch_dir_make(state)) return -1;
  unsetenv("VYRE_AUTOTUNER");
  return setenv("VYRE_HOME", scratch_dir, 1);
}

#endif
