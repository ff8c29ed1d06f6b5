// SPDX-License-Identifier: MIT
//
// What benchmarks share that time whole processes.
#ifndef VYRE_BENCH_PROCESS_H
#define VYRE_BENCH_PROCESS_H

#include "base/clock.h"
#include "base/strbuf.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// Of a whole process, which is silent; negative when it fails.
static inline double process_ms(const char *const *args) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  uint64_t start = clock_now_ns();
  pid_t child;
  int status = 1;
  if (posix_spawnp(&child, args[0], &actions, NULL, (char *const *)args, environ) == 0)
    waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  return status == 0 ? (double)(clock_now_ns() - start) * 1e-6 : -1;
}

// `vyre` of the folder that this bench is in.
static inline char *find_command(const char *self) {
  strbuf s = {0};
  const char *slash = strrchr(self, '/');
  if (slash) strbuf_add(&s, self, (size_t)(slash - self) + 1);
  strbuf_puts(&s, "vyre");
  return strbuf_take(&s, NULL);
}

#endif
