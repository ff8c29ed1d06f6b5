// SPDX-License-Identifier: MIT
//
// A launch that is asked to stop after so many questions, for tests that run lowered programs.
#ifndef VYRE_TESTS_STOP_REQUEST_H
#define VYRE_TESTS_STOP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct request {
  uint64_t after, asked; // questions answered with no, and all
} request;

static bool is_stopped(void *context) {
  request *r = context;
  return r->asked++ >= r->after;
}

#endif
