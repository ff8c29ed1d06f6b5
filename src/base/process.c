// SPDX-License-Identifier: MIT
#include "base/process.h"

#include "base/format.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool process_exists(const char *name) {
  const char *path = getenv("PATH");
  char file[4096];
  for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
    format_text(file, sizeof file, "%.*s/%s", (int)strcspn(path, ":"), path, name);
    if (access(file, X_OK) == 0) return true;
  }
  return false;
}

int process_wait(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return PROCESS_UNSEEN; // it has ended, too
  return WIFEXITED(status) ? WEXITSTATUS(status) : PROCESS_KILLED;
}

bool process_run(const char *const argv[]) {
  posix_spawn_file_actions_t files;
  pid_t child;
  int status = PROCESS_KILLED;
  if (posix_spawn_file_actions_init(&files)) return false;
  bool ok = true;
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
    ok &= !posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_RDWR, 0);
  if (ok && !posix_spawnp(&child, argv[0], &files, NULL, (char *const *)argv, environ))
    status = process_wait(child);
  posix_spawn_file_actions_destroy(&files);
  return status == 0 || status == PROCESS_UNSEEN;
}
