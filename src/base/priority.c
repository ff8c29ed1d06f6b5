// SPDX-License-Identifier: MIT
#include "base/priority.h"

#include <sys/resource.h>
#include <unistd.h>

static int niceness_of(pid_t thread) {
  return getpriority(PRIO_PROCESS, (id_t)thread);
}

// To Linux a process is its first thread.
void priority_lower(void) {
  (void)setpriority(PRIO_PROCESS, (id_t)gettid(), niceness_of(gettid()) + PRIORITY_STEP);
}

bool priority_is_lowered(void) {
  return niceness_of(gettid()) > niceness_of(getpid());
}
