// SPDX-License-Identifier: MIT
//
// In front of every source of a build with counters: a process that ends at once, as children of
// tests do, writes its counters first; one that may not write files of any size does not, because
// it would be killed.
#ifndef VYRE_TESTS_COVERAGE_EXIT_H
#define VYRE_TESTS_COVERAGE_EXIT_H

#include <sys/resource.h>
#include <unistd.h>

extern void __gcov_dump(void);

static inline __attribute__((noreturn)) void coverage_exit(int status) {
  if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0) __gcov_dump();
  _exit(status);
}
#define _exit coverage_exit

#endif
